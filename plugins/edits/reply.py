"""What a reply of a policy holds: its text without reasoning, and the fenced blocks in it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

LONGEST = 2_000_000
"""Characters of a reply that are read; a longer one is refused, since nothing good was ever that long."""

CUT_OFF = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "incomplete"))
"""Finish reasons that say that the reply was cut off."""

WITHHELD = frozenset(("content_filter", "refusal", "safety"))
"""Finish reasons that say that a provider held the reply back."""

_TAG = re.compile(
    r"<(/?)((?:\w+:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis))\s*>"
    r"|\[(/?)(think)\]"
    r"|◁(/?)(think)▷"
    r"|<\|(begin|end)_of_(thought)\|>"
    r"|<\|(start|end)_(thinking)\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*<\|message\|>")
_CONTROL = re.compile(r"<\|(?:start|end|return|call|im_end|im_start|eot_id|endoftext)\|>(?:assistant)?")
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_CLOSINGS_TRIED = 12
_CLOSINGS_SEEN = 400
MOST_FENCES = 200
"""Fenced blocks of one reply that are read."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: its text, what follows the opening fence, the line before it, and whether it was closed."""

    text: str
    info: str
    before: str
    closed: bool

    @property
    def language(self) -> str:
        """The first word of the info string in lower case, or the empty string."""
        words = self.info.replace("{", " ").replace("}", " ").replace(":", " ").split()
        return words[0].lower().lstrip(".") if words else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply as the readers of edits take it: text with `\\n` line ends, fences in order, and how it ended."""

    text: str
    fences: tuple[Fence, ...]
    cut_off: bool
    withheld: bool
    had_reasoning: bool


def content_text(content: Any) -> str:
    """Return the text of a message's content: a string, None, or a list of blocks that are told apart by type.

    Blocks of type `thinking`, `redacted_thinking`, `reasoning`, `tool_use` and whatever else has no answer in it are
    left out, wherever they stand.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        if content.get("type", "text") not in ("text", "output_text", "message"):
            return ""
        inner = content.get("text", content.get("content"))
        return content_text(inner.get("value") if isinstance(inner, dict) and "value" in inner else inner)
    if isinstance(content, Iterable) and not isinstance(content, (bytes, bytearray)):
        return "".join(content_text(block) for block in content)
    return ""


def read(content: Any, finish_reason: str | None = None, complete: Callable[[str], bool] | None = None) -> Answer:
    """Read a reply. `complete` says of a text whether it is a whole program, where a fence could end in two places."""
    raw = content_text(content).replace("\r\n", "\n").replace("\r", "\n")
    text = without_reasoning(raw)
    ended = (finish_reason or "").lower()
    return Answer(text, fences(text, complete), ended in CUT_OFF, ended in WITHHELD, text.strip() != raw.strip())


def without_reasoning(text: str) -> str:
    """Return a reply without its reasoning, in any of the known forms.

    A span that was opened and never closed goes to the end; one that was closed and never opened (the opening tag
    stands in the prompt of some models) began at the start. Tags within a fenced program are its own.
    """
    text = _final_channel(text)
    kept: list[str] = []
    depth = position = 0
    for tag in _TAG.finditer(text):
        sign, closes = _reading(tag)
        if sign:
            if depth == 0:
                if not _own_line(text, tag) or _inside_fence(text[position : tag.start()]):
                    continue
                kept.append(text[position : tag.start()])
            depth += 1
        elif closes and depth:
            depth -= 1
            position = tag.end()
        elif closes and _ends_line(text, tag) and not _inside_fence(text[position : tag.start()], whole=True):
            kept.clear()
            position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept)


def _reading(tag: re.Match[str]) -> tuple[bool, bool]:
    """Return whether a tag opens and whether it closes."""
    slash = tag.group(1) or tag.group(3) or tag.group(5)
    word = (tag.group(7) or tag.group(9) or "").lower()
    closes = bool(slash) or word == "end"
    return not closes, closes


def _own_line(text: str, tag: re.Match[str]) -> bool:
    start = text.rfind("\n", 0, tag.start()) + 1
    return not text[start : tag.start()].strip()


def _ends_line(text: str, tag: re.Match[str]) -> bool:
    stop = text.find("\n", tag.end())
    return not text[tag.end() : len(text) if stop < 0 else stop].strip() or _own_line(text, tag)


def _inside_fence(text: str, whole: bool = False) -> bool:
    """Say whether a fence is open at the end of `text`.

    With `whole`, reasoning whose opening tag is missing may itself have left a fence open, so that only a text that
    begins with its fence counts.
    """
    if whole and not text.lstrip().startswith(("```", "~~~")):
        return False
    opened: str | None = None
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        if opened is None:
            opened = found.group(2)
        elif found.group(2).startswith(opened) and not found.group(3).strip():
            opened = None
    return opened is not None


def _final_channel(text: str) -> str:
    """Return the final channel of a reply in channels, or the text without control marks."""
    marks = list(_CHANNEL.finditer(text))
    if not marks:
        return text
    parts = []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        if mark.group(1) == "final":
            parts.append(text[mark.end() : following.start() if following else len(text)])
    return _CONTROL.sub("", "".join(parts))


def fences(text: str, complete: Callable[[str], bool] | None = None) -> tuple[Fence, ...]:
    """Return the fenced blocks of a text in order: back-ticks or tildes, of any length, indented or not, nested or not.

    A closing fence has the kind and at least the length of the opening one and is not indented further; a line with
    an info string inside opens a nested block. Where several lines could close, the first that leaves a `complete`
    text wins.
    """
    lines = text.split("\n")
    marks = {n: found for n, line in enumerate(lines) if (found := _FENCE.match(line)) is not None}
    numbers = sorted(marks)
    blocks: list[Fence] = []
    at = 0
    while at < len(numbers) and len(blocks) < MOST_FENCES:
        first = numbers[at]
        opening = marks[first]
        closings = _closings(numbers[at + 1 : at + 2000], marks, opening)
        closings = closings[:_CLOSINGS_TRIED]
        last = max(closings, default=len(lines))
        body = [_dedented(line, len(opening.group(1))) for line in lines[first + 1 : last]]
        stop = _closing(closings, body, first, complete)
        before = next((line.strip() for line in reversed(lines[max(0, first - 2) : first]) if line.strip()), "")
        inside = body[: (len(lines) if stop is None else stop) - first - 1]
        joined = "\n".join(inside)
        blocks.append(
            Fence(
                joined + "\n" if inside and stop is not None else joined,
                opening.group(3).strip(),
                before,
                stop is not None,
            )
        )
        if stop is None:
            break
        while at < len(numbers) and numbers[at] <= stop:
            at += 1
    return tuple(blocks)


def _closings(numbers: list[int], marks: dict[int, re.Match[str]], opening: re.Match[str]) -> list[int]:
    """Return the lines that may close a fence, the one that the nesting suggests first."""
    plain: list[int] = []
    nested: int | None = None
    depth = 1
    for number in numbers:
        mark = marks[number]
        same = mark.group(2)[0] == opening.group(2)[0] and len(mark.group(2)) >= len(opening.group(2))
        if not same or len(mark.group(1).expandtabs(4)) > len(opening.group(1).expandtabs(4)):
            continue
        if mark.group(3).strip():
            depth += 1
            continue
        depth -= 1
        plain.append(number)
        if depth == 0 and nested is None:
            nested = number
        if len(plain) >= (_CLOSINGS_SEEN if nested is None else _CLOSINGS_TRIED):
            break
    return [nested, *(n for n in plain if n != nested)] if nested is not None else plain


def _closing(closings: list[int], body: list[str], first: int, complete: Callable[[str], bool] | None) -> int | None:
    if not closings:
        return None
    if complete is not None and len(closings) > 1:
        for stop in closings:
            if complete("\n".join(body[: stop - first - 1]) + "\n"):
                return stop
    return closings[0]


def _dedented(line: str, width: int) -> str:
    taken = 0
    while taken < width and taken < len(line) and line[taken] in " \t":
        taken += 1
    return line[taken:]
