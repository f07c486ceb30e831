"""SEARCH/REPLACE blocks: several in a reply, made in order on the running text, all or none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.program import Program
from ...core.records import Reason, Refusal
from .matching import Change, changed

_START = re.compile(r"^([ \t]*)<{5,}[ \t]*(?:SEARCH|ORIGINAL)\b[ \t:]*(.*?)[ \t]*$")
_MIDDLE = re.compile(r"^([ \t]*)={5,}[ \t]*$")
_END = re.compile(r"^([ \t]*)>{5,}[ \t]*(?:REPLACE|UPDATED)\b.*$")
MOST_BLOCKS = 200
"""Blocks of one reply that are read."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block: all ways to divide it into what is searched and what replaces it, the likeliest first."""

    ways: tuple[Change, ...]


def has_blocks(text: str) -> bool:
    """Say whether a text has the first line of a block."""
    return any(_START.match(line) for line in text.split("\n"))


def blocks(text: str, paths: Sequence[str] = ()) -> tuple[Block, ...] | Refusal:
    """Find the blocks of a reply, or say which of them is malformed.

    A block names its file behind SEARCH or on the line before it (before the fence, if it is in one). The separator
    is not indented further than the first line; an indented one belongs to the text.
    """
    lines = text.split("\n")
    found: list[Block] = []
    at = 0
    while at < len(lines):
        start = _START.match(lines[at])
        if start is None:
            at += 1
            continue
        number = len(found) + 1
        stop = _end_of(lines, at, len(start.group(1)))
        if stop is None:
            return Refusal(
                Reason.NO_PROGRAM,
                f"block {number} has no line `>>>>>>> REPLACE` of its own; the reply is cut or malformed",
            )
        file = _file(start.group(2), lines, at, paths)
        ways = _ways(lines[at + 1 : stop], len(start.group(1)), file)
        if not ways:
            return Refusal(Reason.NO_PROGRAM, f"block {number} has no line `=======` between SEARCH and REPLACE")
        found.append(Block(ways))
        if len(found) > MOST_BLOCKS:
            return Refusal(Reason.NO_PROGRAM, f"the reply has more than {MOST_BLOCKS} blocks; give the few that matter")
        at = stop + 1
    return tuple(found)


def applied(program: Program, found: Sequence[Block], main: str) -> Program | Refusal:
    """Make the blocks one after the other; one that fails refuses them all, and is named."""
    for number, block in enumerate(found, start=1):
        first: Refusal | None = None
        for change in block.ways:
            made = changed(program, change, main)
            if isinstance(made, Program):
                program = made
                break
            first = first or made
        else:
            assert first is not None
            return Refusal(first.reason, f"block {number} of {len(found)} was not applied, so none was: {first.detail}")
    return program


def _end_of(lines: list[str], start: int, indent: int) -> int | None:
    for number in range(start + 1, len(lines)):
        end = _END.match(lines[number])
        if end is not None and len(end.group(1)) <= indent:
            return number
        again = _START.match(lines[number])
        if again is not None and len(again.group(1)) <= indent:
            return None
    return None


def _ways(body: list[str], indent: int, file: str | None) -> tuple[Change, ...]:
    lines = [line[indent:] if not line[:indent].strip() else line for line in body]
    middles = [n for n, line in enumerate(body) if (m := _MIDDLE.match(line)) is not None and len(m.group(1)) <= indent]
    return tuple(Change(tuple(lines[:n]), tuple(lines[n + 1 :]), file) for n in middles[:8])


def _file(named: str, lines: list[str], at: int, paths: Sequence[str]) -> str | None:
    """Return the path that a block names, or None; a word that only looks like a path counts, to be refused."""
    word = named.strip("`*: ")
    if word and (word in paths or _looks_like_path(word)):
        return word
    for line in reversed(lines[max(0, at - 2) : at]):
        bare = re.sub(r"^(?:#+|//|--|file(?:name)?:)\s*", "", line.strip().strip("`*: "), flags=re.IGNORECASE).strip(
            "`*: "
        )
        if bare in paths or (bare and _looks_like_path(bare) and len(paths) > 1):
            return bare
    return None


def _looks_like_path(word: str) -> bool:
    return re.fullmatch(r"[\w.\-/]+\.\w{1,8}", word) is not None
