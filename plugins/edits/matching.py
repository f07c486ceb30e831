"""Where a stretch of lines stands in a program, and what it looks like when other lines take its place."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...core.program import Program, evolve_blocks, frozen_files, has_evolve_blocks
from ...core.records import Reason, Refusal

_NEAREST_READ = 4000
"""Lines that are looked at for the nearest one."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines that shall take the place of other lines.

    `file` is the path that the reply named, or None; `near` the line (from 0) where it says they stand, or None.
    """

    search: tuple[str, ...]
    replace: tuple[str, ...]
    file: str | None = None
    near: int | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    stop: int
    search: tuple[str, ...]
    replace: tuple[str, ...]
    level: int


_LEVELS: tuple[Callable[[str], str], ...] = (
    lambda line: line,
    lambda line: line.rstrip(),
    lambda line: " ".join(line.split()),
)
"""Lines are the same exactly; but for blanks at their ends; but for any blanks."""


def changed(program: Program, change: Change, main: str) -> Program | Refusal:
    """Return a program with one change made, or the sentence that says why it was not.

    Evolve blocks are searched first and exact places before tolerant ones. Of equal places the first is taken, or the
    one nearest to `near`; tolerant places that differ from each other are refused.
    """
    paths = _paths(program, change, main)
    if isinstance(paths, Refusal):
        return paths
    ambiguous: Refusal | None = None
    for path in paths:
        for editable_only in (True, False):
            made = _in_file(program, path, change, editable_only)
            if isinstance(made, Program):
                return made
            ambiguous = ambiguous or made
    return ambiguous or _not_found(program, change, paths)


def editable(program: Program) -> str:
    """Say in words which lines of which files may change."""
    parts = []
    marked = any(has_evolve_blocks(text) for _, text in program.files)
    for path, text in program.files:
        if marked and not has_evolve_blocks(text):
            continue
        spans = [f"{b.start + 1}-{b.stop}" if b.stop > b.start else f"after {b.start}" for b in evolve_blocks(text)]
        parts.append(f"{path} lines {', '.join(spans)}")
    return "; ".join(parts)


def newline_of(text: str) -> str:
    """Return the line end that a text uses."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def _paths(program: Program, change: Change, main: str) -> Sequence[str] | Refusal:
    known = [path for path, _ in program.files]
    if change.file is None:
        return [main, *(path for path in known if path != main)]
    matching = [path for path in known if path == change.file]
    if not matching:
        return Refusal(
            Reason.FROZEN,
            f"the program has no file {change.file!r} and files cannot be added; it has {', '.join(known)}",
        )
    return matching


def _in_file(program: Program, path: str, change: Change, editable_only: bool) -> Program | Refusal | None:
    text = program.text(path)
    lines = text.splitlines(keepends=True)
    blocks = [(b.start, b.stop) for b in evolve_blocks(text)] if _may_change(program, path) else []
    if not any(line.strip() for line in change.search):
        if not editable_only or not blocks:
            return None
        return _replaced(program, path, lines, _insertion(blocks, change), text)
    spans = blocks if editable_only else [(0, len(lines))]
    places = _places(lines, spans, change)
    allowed = [p for p in places if editable_only or _keeps_frozen(program, path, lines, p, text)]
    if not allowed:
        return None
    if allowed[0].level == 2 and len({"".join(lines[p.start : p.stop]) for p in allowed}) > 1 and change.near is None:
        where = ", ".join(str(p.start + 1) for p in allowed)
        return Refusal(
            Reason.NO_PROGRAM,
            f"{_shown(change.search)} fits in several places of {path} that differ in blanks (lines {where}); copy the "
            "lines exactly, with more lines around them",
        )
    near = change.near
    best = allowed[0] if near is None else min(allowed, key=lambda p: abs(p.start - near))
    return _replaced(program, path, lines, best, text)


def _may_change(program: Program, path: str) -> bool:
    return has_evolve_blocks(program.text(path)) or not any(has_evolve_blocks(text) for _, text in program.files)


def _insertion(blocks: list[tuple[int, int]], change: Change) -> _Place:
    stop = blocks[-1][1]
    return _Place(stop, stop, (), change.replace, 0)


def _places(lines: list[str], spans: Sequence[tuple[int, int]], change: Change) -> list[_Place]:
    """Return all places of the strictest level and the fullest search that has any."""
    bare = [line.rstrip("\r\n") for line in lines]
    for level, same in enumerate(_LEVELS):
        have = [same(line) for line in bare]
        for search, replace in _variants(change):
            want = [same(line) for line in search]
            found = [
                _Place(at, at + len(want), search, replace, level)
                for start, stop in spans
                for at in _occurrences(have, want, start, stop)
            ]
            if found:
                return found
    return []


def _occurrences(have: list[str], want: list[str], start: int, stop: int) -> list[int]:
    found: list[int] = []
    first, count = want[0], len(want)
    at = start
    while at + count <= stop:
        try:
            at = have.index(first, at, stop - count + 1)
        except ValueError:
            break
        if have[at : at + count] == want:
            found.append(at)
        at += 1
    return found


def _variants(change: Change) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the change as it is, and without blank lines at its ends."""
    trimmed = _trimmed(change.search), _trimmed(change.replace)
    whole = change.search, change.replace
    return [whole] if trimmed[0] == change.search else [whole, trimmed]


def _trimmed(lines: tuple[str, ...]) -> tuple[str, ...]:
    start, stop = 0, len(lines)
    while start < stop and not lines[start].strip():
        start += 1
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return lines[start:stop]


def _keeps_frozen(program: Program, path: str, lines: list[str], place: _Place, text: str) -> bool:
    after = _replaced(program, path, lines, place, text)
    try:
        return frozen_files(after) == frozen_files(program)
    except ValueError:
        return False


def _replaced(program: Program, path: str, lines: list[str], place: _Place, text: str) -> Program:
    """Put the new lines in; lines that the change only repeats keep their bytes."""
    old = lines[place.start : place.stop]
    same = _LEVELS[place.level]
    head = 0
    while head < min(len(place.search), len(place.replace)) and same(place.search[head]) == same(place.replace[head]):
        head += 1
    tail = 0
    most = min(len(place.search), len(place.replace)) - head
    while tail < most and same(place.search[-1 - tail]) == same(place.replace[-1 - tail]):
        tail += 1
    new = place.replace[head : len(place.replace) - tail]
    if place.level == 2:
        new = _reindented(new, list(zip(place.search, old, strict=True)))
    end = newline_of(text)
    middle = [line + end for line in new]
    result = [*lines[: place.start], *old[:head], *middle, *old[len(old) - tail :], *lines[place.stop :]]
    for number, line in enumerate(result[:-1]):
        if not line.endswith(("\n", "\r")) and line == lines[-1]:
            result[number] = line + end  # the last line of a file without a line end, now in its midst
    joined = "".join(result)
    if lines and not lines[-1].endswith(("\n", "\r")) and place.stop == len(lines) and joined.endswith(end):
        joined = joined[: -len(end)]
    return program.with_text(path, joined)


def _reindented(new: tuple[str, ...], pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    """Give lines the indentation of the program: `pairs` are lines of the reply with the program's own."""
    known = {_indent(said): _indent(own) for said, own in reversed(pairs) if said.strip()}
    tabs = any("\t" in own for own in known.values())
    unit = next((len(said) // len(own) for said, own in known.items() if own and set(own) == {"\t"} and said), 4) or 4
    return tuple(_mapped(_indent(line), known, tabs, unit) + line.lstrip() if line.strip() else "" for line in new)


def _mapped(indent: str, known: dict[str, str], tabs: bool, unit: int) -> str:
    if indent in known:
        return known[indent]
    below = [said for said in known if indent.startswith(said)]
    if below:
        base = max(below, key=len)
        rest = indent[len(base) :]
        return known[base] + ("\t" * round(len(rest) / unit) if tabs and set(rest) == {" "} else rest)
    base = min(known, key=len, default="")
    own = known.get(base, "")
    missing = max(0, len(base.expandtabs(4)) - len(indent.expandtabs(4)))
    return own[: max(0, len(own) - (round(missing / unit) if tabs else missing))]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _not_found(program: Program, change: Change, paths: Sequence[str]) -> Refusal:
    for path in paths:
        lines = program.text(path).splitlines(keepends=True)
        if any(line.strip() for line in change.search) and _places(lines, [(0, len(lines))], change):
            return Refusal(
                Reason.FROZEN,
                f"{_shown(change.search)} is outside the evolve blocks of {path} or would move their markers; only "
                f"these may change: {editable(program)}",
            )
    return Refusal(
        Reason.NO_PROGRAM,
        f"{_shown(change.search)} is not in the program{_nearest(program, change, paths)}; only these may change: "
        f"{editable(program)}",
    )


def _nearest(program: Program, change: Change, paths: Sequence[str]) -> str:
    wanted = next((line.strip()[:200] for line in change.search if line.strip()), "")
    best: tuple[float, str] = (0.5, "")
    matcher = difflib.SequenceMatcher(autojunk=False, b=wanted)
    for path in paths:
        for number, line in enumerate(program.text(path).splitlines()[:_NEAREST_READ]):
            matcher.set_seq1(line.strip()[:200])
            if matcher.quick_ratio() > best[0] and (ratio := matcher.ratio()) > best[0]:
                best = (ratio, f"; the nearest line is line {number + 1} of {path}: {line.strip()[:200]!r}")
    return best[1]


def _shown(lines: Sequence[str]) -> str:
    first = next((line.strip() for line in lines if line.strip()), "")
    more = sum(bool(line.strip()) for line in lines) - 1
    return f"{first[:120]!r}" + (f" (and {more} more lines)" if more > 0 else "")
