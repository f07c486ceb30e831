"""Unified diffs: hunks are placed by their text, and by their line numbers only where the text stands several times."""

import re
from collections.abc import Sequence

from ...core.program import Program
from ...core.records import Reason, Refusal
from .matching import Change, changed

_HUNK = re.compile(r"^@@(?:\s*-(\d+)(?:,\d+)?\s+\+\d+(?:,\d+)?\s*@@.*|.*)$")
_NAME = re.compile(r"^\+\+\+[ \t]+(?:b/)?([^\t\n]+?)[ \t]*$")
_HEADER = re.compile(r"^(?:diff --git |index [0-9a-f]+|--- |\+\+\+ |new file|deleted file|similarity |rename )")
MOST_HUNKS = 200
"""Hunks of one reply that are made."""


def has_hunks(text: str) -> bool:
    """Say whether a text is a unified diff: it has a hunk, and a line that is added or removed."""
    lines = text.split("\n")
    return any(_HUNK.match(line) for line in lines) and any(
        line.startswith(("+", "-")) and not line.startswith(("+++", "---")) for line in lines
    )


def hunks(text: str, paths: Sequence[str] = ()) -> tuple[Change, ...]:
    """Return the hunks of a diff in order. A named file counts only where the program has several."""
    found: list[Change] = []
    file: str | None = None
    near: int | None = None
    body: list[str] | None = None
    lines = [*text.split("\n"), "@@"]
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk is None and not _HEADER.match(line):
            if body is not None:
                body.append(line)
            continue
        if body is not None:
            found.extend(_change(body, file, near))
            body = None
        if hunk is not None:
            near = int(hunk.group(1)) - 1 if hunk.group(1) else None
            body = []
        elif (named := _NAME.match(line)) is not None and len(paths) > 1 and named.group(1) != "/dev/null":
            file = named.group(1)
    return tuple(found)


def applied(program: Program, found: Sequence[Change], main: str) -> Program | Refusal:
    """Make the hunks one after the other; one that fails refuses them all, and is named."""
    if not found:
        return Refusal(Reason.NO_PROGRAM, "the diff has no hunk that adds or removes a line")
    if len(found) > MOST_HUNKS:
        return Refusal(Reason.NO_PROGRAM, f"the diff has more than {MOST_HUNKS} hunks; give the few that matter")
    for number, change in enumerate(found, start=1):
        made = changed(program, change, main)
        if isinstance(made, Refusal):
            return Refusal(made.reason, f"hunk {number} of {len(found)} was not applied, so none was: {made.detail}")
        program = made
    return program


def _change(body: list[str], file: str | None, near: int | None) -> list[Change]:
    while body and not body[-1].strip():
        body.pop()
    search: list[str] = []
    replace: list[str] = []
    for line in body:
        if line.startswith("\\"):
            continue
        if line.startswith("-"):
            search.append(line[1:])
        elif line.startswith("+"):
            replace.append(line[1:])
        else:
            context = line[1:] if line.startswith(" ") else line
            search.append(context)
            replace.append(context)
    return [Change(tuple(search), tuple(replace), file, near)] if search != replace else []
