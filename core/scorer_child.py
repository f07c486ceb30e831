"""Runs in a process of its own: loads one file of a problem and answers over a pipe.

The file is an evaluator, an oracle or what draws pictures. Stand-alone: started with an empty environment, this imports
nothing of the engine. Requests and answers are JSON texts behind four bytes of length, on descriptors that were
standard input and output; what the file prints goes elsewhere. When the other end of the pipe is gone, so is this.
"""

import base64
import contextlib
import importlib.util
import inspect
import io
import json
import os
import re
import select
import shutil
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any

MOST_FEEDBACK, MOST_REASON, MOST_PRINTED = 16384, 4096, 4096
DEEPEST = 100
"""How many levels an output may have: a parser or a writer further on must not meet the end of its stack."""

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{4,}")


class Printed(io.RawIOBase):
    """Keeps the beginning of what is printed and forgets the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.kept += bytes(data)[: MOST_PRINTED - len(self.kept)]
        return len(data)

    def taken(self) -> str:
        """Return what was kept, and start anew."""
        text = self.kept.decode("utf-8", "backslashreplace")
        self.kept.clear()
        return _clean(text, MOST_PRINTED)


def _clean(text: str, most: int) -> str:
    """Return text that every database takes, that equal runs share, and that is not too long."""
    whole = text.encode("utf-8", "backslashreplace").decode("utf-8")
    short = whole if len(whole) <= most else f"{whole[:most]} … ({len(whole) - most} more characters)"
    return _ADDRESS.sub("at 0x…", short)


def _shown(value: Any) -> str:
    """Return what a value looks like, whatever its own idea of that does."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 an object of the judge's may fail at this, too
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def _told(error: BaseException, path: str) -> str:
    """Return an error as a sentence, with the line of the file where it came from."""
    said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f" ({os.path.basename(path)}, line {lines[-1]})" if lines else ""
    return _clean(said, MOST_REASON) + where


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _too_deep(output: Any) -> bool:
    level = [output]
    for _ in range(DEEPEST + 1):
        children = [child for one in level for child in (one.values() if isinstance(one, dict) else one)]
        level = [child for child in children if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


def _parsed(text: str) -> Any:
    """Return the output. Raises ValueError when it cannot be read as JSON, or holds what no evaluator should meet."""
    try:
        output = json.loads(text, object_pairs_hook=_no_duplicates)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if isinstance(output, (dict, list)) and _too_deep(output):
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    return output


def _number(value: Any, what: str) -> float:
    """Return a number of any kind as a float. Raises TypeError for everything else."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    scalar = not isinstance(value, (bool, str, bytes)) and kind != "b" and getattr(value, "shape", ()) == ()
    if scalar and hasattr(value, "__float__"):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return float(value)
    raise TypeError(f"{what} is {_shown(value)}, expected a number")


def _numbers(mapping: Any, what: str) -> dict[str, float]:
    if not isinstance(mapping, Mapping):
        raise TypeError(f"{what}s must be a mapping from name to number, not {_shown(mapping)}")
    return {_clean(str(name), 200): _number(value, f"{what} {name!r}") for name, value in mapping.items()}


def _truth(value: Any, what: str) -> bool:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, bool) or (kind == "b" and value.shape == ()) or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{what} is {_shown(value)}, expected True or False")


def _text(value: Any, most: int) -> str | None:
    return None if value is None else _clean(str(value), most)


def _accepted(function: Callable[..., Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return those of the options that a function names; its first argument is not one of them."""
    parameters = list(inspect.signature(function).parameters.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return options
    names = {p.name for p in parameters[1:]}
    return {name: value for name, value in options.items() if name in names}


def _evaluate(module: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        output = _parsed(request["text"])
    except ValueError as error:
        wrong = _clean(f"the output cannot be read as JSON: {error}", MOST_REASON)
        return {"metrics": {}, "instances": None, "feedback": wrong, "valid": False}
    given = dict(_accepted(module.evaluate, request["options"]))
    if "seed" in list(inspect.signature(module.evaluate).parameters)[1:]:
        given["seed"] = request.get("seed", 0)
    answer = module.evaluate(output, **given)
    if not isinstance(answer, Mapping) or "metrics" not in answer:
        raise TypeError(f"evaluate returned {_shown(answer)}, expected a dict with 'metrics'")
    instances = answer.get("instances")
    return {
        "metrics": _numbers(answer["metrics"], "metric"),
        "instances": None if instances is None else _numbers(instances, "instance score"),
        "feedback": _text(answer.get("feedback"), MOST_FEEDBACK),
        "valid": _truth(answer.get("valid", True), "'valid'"),
    }


def _judge(module: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    answer = module.judge(request["text"], **_accepted(module.judge, request["options"]))
    if not isinstance(answer, Mapping) or "valid" not in answer:
        raise TypeError(f"judge returned {_shown(answer)}, expected a dict with a bool 'valid'")
    score = None if answer.get("score") is None else _number(answer["score"], "the score")
    if score is not None and not -sys.float_info.max <= score <= sys.float_info.max:
        raise ValueError(f"the score is {score!r}, expected a finite number or None")
    return {
        "valid": _truth(answer["valid"], "'valid'"),
        "score": score,
        "score_exact": None if answer.get("score_exact") is None else str(answer["score_exact"]),
        "reason": _text(answer.get("reason"), MOST_REASON),
    }


def _picture(module: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    options = _accepted(module.picture, request["options"])
    drawn = module.picture(_parsed(request["text"]), request["suffix"], **options)
    if isinstance(drawn, str):
        drawn = drawn.encode("utf-8", "backslashreplace")
    if not isinstance(drawn, bytes):
        raise TypeError(f"picture returned {_shown(drawn)}, expected bytes")
    return {"drawn": base64.b64encode(drawn).decode("ascii")}


_KINDS = {"evaluate": _evaluate, "judge": _judge, "picture": _picture}


def _answer(module: Any, kind: str, path: str, request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        answer = _KINDS[kind](module, request)
    except (OSError, EOFError) as error:
        answer = {"outage": _told(error, path)}
    except BaseException as error:  # noqa: BLE001 the file's own fault becomes data, whatever it is
        answer = {"error": _told(error, path)}
    return answer


def _loaded(kind: str, path: str) -> Any:
    """Import the file as a module of its own name, which may import its neighbours."""
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses, pickles and neighbours look for a module where modules are.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, kind, None)):
        raise AttributeError(f"it defines no function {kind!r}")
    return module


def _end_with(requests: int, scratch: str) -> None:
    """End this process and what it started as soon as nobody can ask any more, whatever it is doing."""
    waiting = select.poll()
    waiting.register(requests, 0)
    waiting.poll()
    shutil.rmtree(scratch, ignore_errors=True)
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def main() -> None:
    """Load what the arguments name, say whether that worked, and answer until nobody asks."""
    kind, path, scratch = sys.argv[1:4]
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    if hasattr(select, "poll"):
        threading.Thread(target=_end_with, args=(requests.fileno(), scratch), daemon=True).start()

    def send(content: Mapping[str, Any]) -> None:
        raw = json.dumps(content).encode("ascii")
        answers.write(struct.pack(">I", len(raw)) + raw)
        answers.flush()

    # One stream for good: whoever logs keeps the one that was there at first.
    printed = Printed()
    sys.stdout = sys.stderr = io.TextIOWrapper(printed, "utf-8", "backslashreplace", write_through=True)
    try:
        module = _loaded(kind, path)
    except BaseException as error:  # noqa: BLE001 whatever the file does when loaded is told as data
        send({"error": _told(error, path)})
        return
    printed.taken()
    send({"ready": True})
    while header := requests.read(4):
        size = struct.unpack(">I", header)[0]
        answer = _answer(module, kind, path, json.loads(requests.read(size)))
        send({**answer, "printed": printed.taken()})


if __name__ == "__main__":
    main()
