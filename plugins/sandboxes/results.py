"""Reads what a candidate wrote, which is never trusted: turns it into a status, JSON text and a reason."""

import json
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...core.evaluation import Cost, RunResult, Status
from ...core.sandbox import Limits

_DTYPES = frozenset({"<f2", "<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "|b1"})
_MAX_DIMENSIONS = 16
_MAX_REASON = 2000
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{4,}")

Decoded = tuple[Status, str | None, str | None]


class Unreadable(ValueError):
    """What a candidate wrote is no result; the message says why."""


def run_result(
    limits: Limits,
    *,
    stopped: str | None,
    exit_code: int,
    result: bytes,
    printed: bytes,
    printed_more: bool,
    cost: Cost,
    hidden: Mapping[str, str] | None = None,
) -> RunResult:
    """Return what came of a run.

    `stopped` says which limit ended it (`wall`, `cpu`, `output`) or is None; `exit_code` is negative for a signal.
    `hidden` are paths that neither a reason nor what was printed shows, with what stands there instead. A run that
    reached its memory limit has `crashed`: the program asked for what it cannot have, as with any error of its own.
    """
    status, value, reason = _decide(limits, stopped, exit_code, result, cost)
    text = printed.decode("utf-8", "replace")
    if printed_more:
        text += f"\n[the rest is left out: more than {limits.stdout_bytes} bytes were printed]\n"
    words = {**(hidden or {}), **_OWN_PATHS}
    return RunResult(status, value, None if reason is None else _tidy(reason, words), cost, _without(text, words))


def _decide(limits: Limits, stopped: str | None, exit_code: int, result: bytes, cost: Cost) -> Decoded:
    if stopped == "wall":
        return Status.TIMEOUT, None, f"the limit of {limits.wall_s:g} s of wall time was reached"
    if stopped == "cpu" or cost.cpu_s > limits.cpu_s:
        return Status.TIMEOUT, None, f"the limit of {limits.cpu_s:g} s of CPU time was reached"
    if stopped == "output":
        return Status.INVALID, None, f"the output is larger than the limit of {limits.output_bytes} bytes"
    if exit_code < 0:
        return Status.CRASHED, None, _killed(-exit_code)
    if exit_code == 0 and result:
        return decode(result, limits)
    return Status.CRASHED, None, f"the program ended with exit code {exit_code} before it returned anything"


def _killed(number: int) -> str:
    if number == 9:
        return "the program was killed, by itself or for want of memory"
    if number == 11:
        return "the program crashed with a segmentation fault (SIGSEGV)"
    return f"the program was ended by signal {number}"


def decode(result: bytes, limits: Limits) -> Decoded:
    """Return status, JSON text and reason of what a candidate wrote before it ended with exit code 0."""
    kind, body = result[:1], result[1:]
    if kind == b"M":
        return Status.CRASHED, None, f"the memory limit of {limits.memory_bytes >> 20} MiB was reached"
    if kind == b"E":
        status, _, reason = body.partition(b"\n")
        if status in (b"crashed", b"invalid") and reason:
            return Status(status.decode()), None, reason.decode("utf-8", "replace")
    try:
        if kind == b"J":
            return Status.OK, _checked_json(body, limits), None
        if kind == b"N":
            return Status.OK, _array_as_json(body, limits), None
    except Unreadable as error:
        return Status.INVALID, None, str(error)
    return Status.INVALID, None, "the program wrote something else to the result pipe"


def _checked_json(body: bytes, limits: Limits) -> str:
    if len(body) > limits.output_bytes:
        raise Unreadable(f"the output is larger than the limit of {limits.output_bytes} bytes")
    try:
        text = body.decode("utf-8")
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the output is not JSON: {error}") from None
    return text


def _array_as_json(body: bytes, limits: Limits) -> str:
    head, _, data = body.partition(b"\n")
    try:
        about = json.loads(head)
        dtype, shape = about["dtype"], about["shape"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise Unreadable("the header of the array cannot be read") from None
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise Unreadable("the array is of a type that is not allowed")
    # No size of nought: its other sizes could then be anything, and each row of nothing still costs memory.
    if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS or not all(type(n) is int and n > 0 for n in shape):
        raise Unreadable("the array has sizes that are not allowed")
    if math.prod(shape) * np.dtype(dtype).itemsize != len(data):
        raise Unreadable(f"the array has {len(data)} bytes, and its header claims another number")
    text = json.dumps(np.frombuffer(data, dtype).reshape(shape).tolist())
    if len(text) > limits.output_bytes:
        raise Unreadable(f"the output is larger than the limit of {limits.output_bytes} bytes")
    return text


def _tidy(reason: str, words: Mapping[str, str]) -> str:
    """Make one line of a reason, without paths of this machine and without addresses in memory."""
    line = " ".join(reason.split())[:_MAX_REASON] or "the program failed and said nothing"
    return _ADDRESS.sub("at 0x…", _without(line, words))


def _without(text: str, words: Mapping[str, str]) -> str:
    """Replace paths of this machine by words."""
    for path, word in words.items():
        text = text.replace(path, word)
    return text


_PREFIXES = (sys.prefix, sys.base_prefix, sys.exec_prefix)
_LONGEST_FIRST = sorted({*_PREFIXES, *(str(Path(p).resolve()) for p in _PREFIXES)}, key=len, reverse=True)
_OWN_PATHS = dict.fromkeys([path for path in _LONGEST_FIRST if path not in ("/", "/usr")], "<python>")
