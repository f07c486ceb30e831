"""A full rewrite: the new text goes between the program's own markers, and frozen text comes from the program."""

import ast
import itertools
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from ...core.parsing import parsed
from ...core.program import EvolveBlock, Program, evolve_blocks, has_evolve_blocks
from ...core.records import Reason, Refusal
from .matching import newline_of
from .reply import Answer, Fence

_MARKER = re.compile(r"^\s*(?:#|//|--|/\*|%|<!--|\(\*|;|\")\s*EVOLVE-BLOCK-(START|END)\b")
_CODE = re.compile(r"^(?:def |class |async |import |from |@|#|[A-Za-z_]\w*\s*(?::[^=]+)?=|if |for |with |\"\"\")")
_SHELL = frozenset(("bash", "sh", "shell", "console", "text", "output", "json", "diff", "patch"))
_ENDS_TRIED = 40
_PARSED_AT_MOST = 400_000
"""Characters of a text that is tried as Python more than once."""
_LIKENESS = 0.3
"""Share of lines, in another language, that a bare text must have from the program to be taken for one."""


def parses(text: str) -> bool:
    """Say whether a text is Python."""
    try:
        parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def complete(path: str, text: str) -> bool:
    """Say whether a text could be the whole of a file, as far as its kind shows."""
    return path.endswith(".py") and len(text) <= _PARSED_AT_MOST and parses(text)


def rewritten(program: Program, answer: Answer, main: str, entry: str | None = None) -> Program | Refusal:
    """Return the program that a reply writes anew, one file or several, or the sentence that says why there is none.

    Of several fenced blocks for one file the last is taken of those that define most of what the file must define.
    """
    chosen: dict[str, str] = {}
    best: dict[str, tuple[int, int]] = {}
    cut = False
    for number, (path, text, closed) in enumerate(_candidates(program, answer, main)):
        rank = _rank(program.text(path), text, path, entry if path == main else None)
        if rank is None:
            continue
        cut = cut or not closed
        if path not in best or (rank, number) >= best[path]:
            best[path], chosen[path] = (rank, number), text
            if not closed and answer.cut_off:
                return Refusal(Reason.NO_PROGRAM, _CUT)
    if answer.cut_off and (cut or not chosen):
        return Refusal(Reason.NO_PROGRAM, _CUT)
    if not chosen:
        names = ", ".join(sorted(required(program.text(main), main))[:8])
        wanted = f" that defines {names}" if names else ""
        return Refusal(Reason.NO_PROGRAM, f"the reply has no fenced block with a program{wanted}")
    for path, text in chosen.items():
        spliced = put_back(program.text(path), text, path)
        if isinstance(spliced, Refusal):
            return Refusal(spliced.reason, f"{path}: {spliced.detail}")
        program = program.with_text(path, spliced)
    return program


_CUT = "the reply was cut off before the program ended; write a shorter one"


def required(source: str, path: str) -> frozenset[str]:
    """Return the functions and classes that a Python text defines in its evolve blocks."""
    if not path.endswith(".py"):
        return frozenset()
    inside = "".join(_inside(source))
    return frozenset(re.findall(r"^(?:async\s+def|def|class)\s+(\w+)", inside, re.MULTILINE))


def put_back(source: str, text: str, path: str) -> str | Refusal:
    """Return `source` with what is inside its evolve blocks taken from `text`; 0, 1 or 2 markers give the same.

    Frozen text and markers keep their bytes, whatever `text` says of them.
    """
    end = newline_of(source)
    text = text if text.endswith("\n") or not text else text + "\n"
    if not has_evolve_blocks(source):
        return text.replace("\n", end)
    lines = source.splitlines(keepends=True)
    blocks = evolve_blocks(source)
    bodies = _bodies(text.split("\n")[:-1], lines, blocks, path)
    if isinstance(bodies, Refusal):
        return bodies
    result: list[str] = []
    position = 0
    for block, body in zip(blocks, bodies, strict=True):
        own = lines[block.start : block.stop]
        result += lines[position : block.start]
        result += [line + end for line in _indented(body, own)]
        position = block.stop
    return "".join([*result, *lines[position:]])


def _candidates(program: Program, answer: Answer, main: str) -> list[tuple[str, str, bool]]:
    """Return path, text and whether it was closed of everything in a reply that may be a file."""
    paths = [path for path, _ in program.files]
    named = [(_path_of(fence, paths, main), fence.text, fence.closed) for fence in answer.fences]
    found = [(path, text, closed) for path, text, closed in named if path is not None]
    if found or answer.fences:
        return found
    bare = _bare(answer.text, program.text(main), main)
    return [] if bare is None else [(main, bare, not answer.cut_off)]


def _path_of(fence: Fence, paths: Sequence[str], main: str) -> str | None:
    if not fence.text.strip():
        return None
    first = fence.text.lstrip().split("\n", 1)[0]
    for place in (fence.info, fence.before, first):
        words = re.findall(r"[\w.\-/]+", place)
        named = [path for path in paths if path in words]
        if named and (len(paths) > 1 or named == [main]):
            return named[0]
    if fence.language in _SHELL and not main.endswith((".txt", ".md", ".sh", ".json")):
        return None
    return main


def _bare(text: str, source: str, path: str) -> str | None:
    """Return the program in a reply without fences, with the prose around it cut off, or None."""
    lines = text.strip("\n").split("\n")
    if any(_MARKER.match(line) for line in lines) and not path.endswith(".py"):
        return text.strip("\n") + "\n"
    if path.endswith(".py"):
        return _bare_python(lines, source, path)
    if PurePosixPath(path).suffix in (".txt", ".md", ".rst", ""):
        return None  # prose cannot be told from a refusal
    known = {line.strip() for line in source.splitlines() if line.strip()}
    said = [line.strip() for line in lines if line.strip()]
    alike = sum(line in known for line in said) / max(1, len(said))
    return "\n".join(lines) + "\n" if alike >= _LIKENESS else None


def _bare_python(lines: list[str], source: str, path: str) -> str | None:
    starts = [n for n, line in enumerate(lines) if _CODE.match(line)][:8]
    names = required(source, path)
    for start in starts:
        for stop in range(len(lines), max(start, len(lines) - _ENDS_TRIED), -1):
            text = "\n".join(lines[start:stop]) + "\n"
            if len(text) > _PARSED_AT_MOST:
                break
            if parses(text):
                if not names or names & _defined(text):
                    return text
                break
    joined = "\n".join(lines[starts[0] :]) + "\n" if starts else ""
    return joined if names & _defined(joined) else None


def _defined(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"^[ \t]*(?:async\s+def|def|class)\s+(\w+)", text, re.MULTILINE))


def _rank(source: str, text: str, path: str, entry: str | None) -> int | None:
    """Return how much a text looks like the file, or None when it does not at all."""
    marks = sum(bool(_MARKER.match(line)) for line in text.split("\n"))
    if path.endswith(".py"):
        names = required(source, path)
        have = names & _defined(text)
        if names and not have:
            return None
        return len(have) * 4 + (2 if entry is not None and entry in have else 0) + min(marks, 1)
    known = {line.strip() for line in source.splitlines() if line.strip()}
    return 8 * min(marks, 1) + int(8 * sum(line.strip() in known for line in text.split("\n")) / (len(known) or 1))


def _inside(source: str) -> list[str]:
    lines = source.splitlines(keepends=True)
    try:
        return [line for block in evolve_blocks(source) for line in lines[block.start : block.stop]]
    except ValueError:
        return lines


def _bodies(new: list[str], lines: list[str], blocks: Sequence[EvolveBlock], path: str) -> list[list[str]] | Refusal:
    """Return the lines for each block of the source."""
    marks = [(n, found.group(1)) for n, line in enumerate(new) if (found := _MARKER.match(line)) is not None]
    pairs = [(a[0] + 1, b[0]) for a, b in itertools.pairwise(marks) if (a[1], b[1]) == ("START", "END")]
    if len(pairs) == len(blocks) and len(marks) == 2 * len(pairs):
        return [new[start:stop] for start, stop in pairs]
    if len(blocks) > 1:
        return _between_frozen(new, lines, blocks) or Refusal(
            Reason.FROZEN,
            f"the program has {len(blocks)} evolve blocks and the reply marks {len(pairs)}; give the whole file with "
            "all its EVOLVE-BLOCK-START and EVOLVE-BLOCK-END lines",
        )
    if len(marks) > 2 or [kind for _, kind in marks] == ["END", "START"]:
        return Refusal(Reason.FROZEN, "the markers of the reply do not pair up; the program has one evolve block")
    start = next((n + 1 for n, kind in marks if kind == "START"), None)
    stop = next((n for n, kind in marks if kind == "END"), None)
    body = new[start:stop]
    block = blocks[0]
    head, tail = _texts(lines[: block.start]), _texts(lines[block.stop :])
    if start is None:
        body = _without_prefix(body, head)
    if stop is None:
        body = _without_prefix(body[::-1], tail[::-1])[::-1]
    if (
        path.endswith(".py")
        and _least(lines[block.start : block.stop])
        and _defined("\n".join(body)) & _defined("".join([*lines[: block.start], *lines[block.stop :]]))
    ):
        return Refusal(
            Reason.FROZEN,
            "the evolve block lies within a function, and the reply writes frozen functions anew without both marker "
            "lines; give the whole file with EVOLVE-BLOCK-START and EVOLVE-BLOCK-END, or only what is between them",
        )
    if path.endswith(".py") and (start is None or stop is None):
        body = _without_frozen_names(body, [*head, *tail], _texts(lines[block.start : block.stop]))
    return [body]


def _texts(lines: Sequence[str]) -> list[str]:
    return [line.rstrip("\r\n") for line in lines if not _MARKER.match(line)]


def _without_prefix(body: list[str], frozen: list[str]) -> list[str]:
    """Cut off the frozen lines that a body begins with, blank lines aside, if it has all of them."""
    want = [line.rstrip() for line in frozen if line.strip()]
    at = 0
    for number, line in enumerate(body):
        if at == len(want):
            return body[number:] if want else body
        if line.strip():
            if line.rstrip() != want[at]:
                return body
            at += 1
    return [] if want and at == len(want) else body


def _without_frozen_names(body: list[str], frozen: list[str], own: list[str]) -> list[str]:
    """Leave out the statements that define what frozen text defines: it stands there already, as it was."""
    try:
        tree = ast.parse("\n".join(body))
        theirs = _bound(ast.parse("\n".join(frozen)).body) - _bound(ast.parse("\n".join(own)).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return body
    dropped: set[int] = set()
    for statement in tree.body:
        names = _bound([statement])
        if names and names <= theirs:
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
            dropped.update(range(first - 1, statement.end_lineno or first))
        elif _is_main_guard(statement) and any(line.startswith("if __name__") for line in frozen):
            dropped.update(range(statement.lineno - 1, statement.end_lineno or statement.lineno))
    return [line for number, line in enumerate(body) if number not in dropped]


def _is_main_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test)


def _bound(statements: Sequence[ast.stmt]) -> set[str]:
    names: set[str] = set()
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return names


def _between_frozen(new: list[str], lines: list[str], blocks: Sequence[EvolveBlock]) -> list[list[str]] | None:
    """Divide a text without markers by the frozen lines between the blocks, if each of them stands in it once."""
    body = [line for line in new if not _MARKER.match(line)]
    body = _without_prefix(body, _texts(lines[: blocks[0].start]))
    body = _without_prefix(body[::-1], _texts(lines[blocks[-1].stop :])[::-1])[::-1]
    bodies: list[list[str]] = []
    for before, after in itertools.pairwise(blocks):
        middle = _trimmed(_texts(lines[before.stop : after.start]))
        places = [n for n in range(len(body)) if middle and body[n : n + len(middle)] == middle]
        if len(places) != 1:
            return None
        bodies.append(body[: places[0]])
        body = body[places[0] + len(middle) :]
    return [*bodies, body]


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _indented(body: list[str], own: list[str]) -> list[str]:
    """Give a body at least the indentation that the block has, for blocks within a class or a function."""
    body = _trimmed(body)
    wanted = _least(own)
    have = _least(body)
    if not wanted.startswith(have) or wanted == have:
        return body
    more = wanted[len(have) :]
    return [more + line if line.strip() else line for line in body]


def _least(lines: Sequence[str]) -> str:
    return min((line[: len(line) - len(line.lstrip())] for line in lines if line.strip()), key=len, default="")
