"""What problems are tested with: outputs that no judge should accept, outputs near a right one, changed programs."""

import ast
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from .program import evolve_blocks

KINDS = (
    "null",
    "true",
    "0",
    "1e308",
    "NaN",
    "-Infinity",
    '"text"',
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "[NaN]",
    '[["a", "b"]]',
)
"""Outputs of every kind; an evaluator may meet each and raises on none."""

Path = tuple[int | str, ...]


def of_another_kind(output: Any) -> list[str]:
    """Return the texts among `KINDS` that are of another kind than an output, so that they cannot be right."""
    different = {"[]": list, "{}": dict, '"text"': str, "0": int, "true": bool}
    kind = type(output)
    numbers = (int, float, bool)
    wrong = [
        text for text, other in different.items() if other is not kind and not (kind in numbers and other in numbers)
    ]
    return [*wrong, "null", "NaN", "-Infinity"]


class BadLeaf(NamedTuple):
    """A text of an output in which one number is something else; `wrong` says that it can never be right."""

    text: str
    wrong: bool
    told: str


def with_bad_leaves(output: Any) -> Iterator[BadLeaf]:
    """Yield outputs in which one number is something else, at three places.

    What is no number or not finite can never be right; what is huge, or true for one, depends on the problem.
    """
    paths = numbers_in(output)
    never: tuple[Any, ...] = (float("nan"), float("inf"), None, "text", [], {})
    perhaps: tuple[Any, ...] = (1e308, 10**400, True, 5e-324, -0.0)
    for path in dict.fromkeys(paths[index] for index in (0, len(paths) // 2, -1)) if paths else ():
        place = "".join(f"[{step!r}]" for step in path)
        for value in (*never, *perhaps):
            told = f"an output with {json.dumps(value):.20} in the place of a number, at output{place}"
            yield BadLeaf(json.dumps(replaced(output, path, value)), value in never or value != value, told)


def near(output: Any) -> Iterator[str]:
    """Yield texts of outputs near one: single numbers and all of them a little larger and smaller."""
    paths = numbers_in(output)
    if not paths:
        return
    for step in (1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3):
        for path in dict.fromkeys(paths[index % len(paths)] for index in (0, 1, 2, len(paths) // 2, -1)):
            yield json.dumps(replaced(output, path, _moved(found(output, path), step)))
        whole = output
        for path in paths:
            whole = replaced(whole, path, _moved(found(output, path), step), copy=whole is output)
        yield json.dumps(whole)


def numbers_in(output: Any, most: int = 2000) -> list[Path]:
    """Return the places of the numbers in an output, the first `most` of them."""
    places: list[Path] = []
    waiting: list[tuple[Path, Any]] = [((), output)]
    while waiting and len(places) < most:
        path, value = waiting.pop()
        if type(value) in (int, float):
            places.append(path)
        elif isinstance(value, list):
            waiting += [((*path, index), value[index]) for index in reversed(range(len(value)))]
        elif isinstance(value, dict):
            waiting += [((*path, key), value[key]) for key in reversed(list(value))]
    return places


def found(output: Any, path: Path) -> Any:
    """Return what stands at a place of an output."""
    for step in path:
        output = output[step]
    return output


def replaced(output: Any, path: Path, value: Any, *, copy: bool = True) -> Any:
    """Return an output with something else at one place; by default a copy."""
    if not path:
        return value
    result = json.loads(json.dumps(output)) if copy else output
    found(result, path[:-1])[path[-1]] = value
    return result


def _moved(number: float, step: float) -> float:
    if type(number) is int:
        return number + (1 if step > 0 else -1)
    return number * (1 + step) if number else step


def mutants(text: str) -> list[tuple[int, str, str, str]]:
    """Return programs in which one number of an evolve block is another: line, old number, new number, text."""
    blocks, lines = evolve_blocks(text), text.splitlines(keepends=True)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    made = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or type(node.value) not in (int, float) or node.end_lineno != node.lineno:
            continue
        row = node.lineno - 1
        if any(block.start <= row < block.stop for block in blocks) and lines[row].isascii():
            new = repr(node.value + 1 if type(node.value) is int else node.value * 1.5 + 0.5)  # type: ignore[operator]
            line = lines[row][: node.col_offset] + new + lines[row][node.end_col_offset :]
            old = lines[row][node.col_offset : node.end_col_offset]
            made.append((row + 1, old, new, "".join([*lines[:row], line, *lines[row + 1 :]])))
    return made
