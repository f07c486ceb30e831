"""The one way from a policy's reply to a program: whatever format it has, it is read, made and checked here."""

from typing import Any, Literal

from ...core.program import Program
from ...core.records import Reason, Refusal
from ...core.screen import does_not_parse, touches_frozen
from . import search_replace, unified
from .reply import LONGEST, Answer, content_text, read
from .rewrite import complete, rewritten

Mode = Literal["edit", "rewrite"]


def offspring(
    program: Program,
    content: Any,
    main: str,
    mode: Mode = "edit",
    finish_reason: str | None = None,
    entry: str | None = None,
) -> Program | Refusal:
    """Return the program that a reply makes of `program`, or the reason and the sentence that go back to the writer.

    `content` is a text, None or a list of blocks. Both modes take SEARCH/REPLACE blocks, unified diffs and whole
    programs; the mode says what is tried first. What comes back differs from `program`, has its frozen text byte by
    byte and, in Python files, parses.
    """
    if len(content_text(content)) > LONGEST:
        return Refusal(Reason.NO_PROGRAM, f"the reply is longer than {LONGEST} characters; write a short one")
    answer = read(content, finish_reason, lambda text: complete(main, text))
    if answer.withheld:
        return Refusal(Reason.NO_PROGRAM, "the provider held the reply back")
    if not answer.text.strip():
        reasoned = "nothing but reasoning" if answer.had_reasoning else "empty"
        return Refusal(Reason.NO_PROGRAM, f"the reply is {reasoned}; the program must stand in the answer")
    try:
        made = _made(program, answer, main, mode, entry)
        return made if isinstance(made, Refusal) else checked(program, made)
    except ValueError as error:
        return Refusal(Reason.FROZEN, f"the evolve markers were damaged: {error}")
    except RecursionError:
        return Refusal(Reason.SYNTAX, "the reply is nested too deeply to be read")


def checked(parent: Program, made: Program) -> Program | Refusal:
    """Return `made` if it is a proper offspring of `parent`: other text, the same frozen text, readable, it parses."""
    if made.hash == parent.hash:
        return Refusal(Reason.NO_CHANGE, "the reply changes nothing: the offspring is its parent")
    touched = touches_frozen(parent, made)
    if touched is not None:
        return touched
    for path, text in made.files:
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            return Refusal(Reason.SYNTAX, f"{path}: it has NUL bytes or half characters in it")
    return does_not_parse(made) or made


def _made(program: Program, answer: Answer, main: str, mode: Mode, entry: str | None) -> Program | Refusal:
    paths = [path for path, _ in program.files]
    whole = _has_whole(answer)
    if search_replace.has_blocks(answer.text) and not (mode == "rewrite" and whole):
        if answer.cut_off:
            return Refusal(Reason.NO_PROGRAM, "the reply was cut off, so some edits may be missing; give fewer")
        found = search_replace.blocks(answer.text, paths)
        return found if isinstance(found, Refusal) else search_replace.applied(program, found, main)
    diffs = [f.text for f in answer.fences if unified.has_hunks(f.text)]
    if not diffs and not answer.fences and unified.has_hunks(answer.text):
        diffs = [answer.text]
    if diffs and not (mode == "rewrite" and whole):
        if answer.cut_off:
            return Refusal(Reason.NO_PROGRAM, "the reply was cut off, so some edits may be missing; give fewer")
        changes = [change for text in diffs for change in unified.hunks(text, paths)]
        return unified.applied(program, changes, main)
    return rewritten(program, answer, main, entry)


def _has_whole(answer: Answer) -> bool:
    """Say whether a reply has a fenced block that is a program rather than an edit."""
    return any(
        fence.text.strip() and not search_replace.has_blocks(fence.text) and not unified.has_hunks(fence.text)
        for fence in answer.fences
    )
