"""A program: a set of files of one kind, immutable and named by the hash of its content."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Kind = Literal["solution", "harness"]

_START = re.compile(r"^\s*(?:#|//|--|/\*|%|<!--|\(\*|;|\")\s*EVOLVE-BLOCK-START\b")
_END = re.compile(r"^\s*(?:#|//|--|/\*|%|<!--|\(\*|;|\")\s*EVOLVE-BLOCK-END\b")


@dataclass(frozen=True)
class Program:
    """Files by path. Two programs with the same kind and the same files are the same program."""

    files: tuple[tuple[str, str], ...]
    kind: Kind = "solution"

    @classmethod
    def of(cls, files: Mapping[str, str], kind: Kind = "solution") -> "Program":
        """Make a program of a mapping from path to text; the order of the mapping does not matter."""
        return cls(tuple(sorted(files.items())), kind)

    @cached_property
    def hash(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of kind, paths and texts."""
        digest = hashlib.sha256(self.kind.encode())
        for path, text in self.files:
            for part in (path, text):
                raw = part.encode("utf-8", "surrogatepass")
                digest.update(len(raw).to_bytes(8, "big"))
                digest.update(raw)
        return digest.hexdigest()[:32]

    def text(self, path: str) -> str:
        """Return the text of one file. Raises KeyError when the program has no such file."""
        for name, text in self.files:
            if name == path:
                return text
        raise KeyError(path)

    def with_text(self, path: str, text: str) -> "Program":
        """Return a copy in which the file at `path` holds `text`."""
        return Program.of({**dict(self.files), path: text}, self.kind)


@dataclass(frozen=True, slots=True)
class EvolveBlock:
    """A stretch that may change: lines `start` (inclusive) to `stop` (exclusive), counted from 0, markers outside."""

    start: int
    stop: int


def evolve_blocks(text: str) -> tuple[EvolveBlock, ...]:
    """Find the evolve blocks of a text, whatever the comment style of its markers.

    A text without any marker may change as a whole: one block over all its lines. Raises ValueError when markers do
    not pair up.
    """
    lines = text.splitlines()
    blocks: list[EvolveBlock] = []
    opened: int | None = None
    for number, line in enumerate(lines):
        if _START.match(line):
            if opened is not None:
                raise ValueError(f"line {number + 1}: EVOLVE-BLOCK-START inside an open block")
            opened = number + 1
        elif _END.match(line):
            if opened is None:
                raise ValueError(f"line {number + 1}: EVOLVE-BLOCK-END without a start")
            blocks.append(EvolveBlock(opened, number))
            opened = None
    if opened is not None:
        raise ValueError(f"line {opened}: EVOLVE-BLOCK-START without an end")
    return tuple(blocks) or (EvolveBlock(0, len(lines)),)


def frozen_text(text: str) -> tuple[str, ...]:
    """Return what must stay byte-identical: the stretches before, between and after the evolve blocks."""
    lines = text.splitlines(keepends=True)
    parts: list[str] = []
    position = 0
    for block in evolve_blocks(text):
        parts.append("".join(lines[position : block.start]))
        position = block.stop
    parts.append("".join(lines[position:]))
    return tuple(parts)


def has_evolve_blocks(text: str) -> bool:
    """Say whether a text has evolve markers at all."""
    return any(_START.match(line) for line in text.splitlines())


def frozen_files(program: Program) -> dict[str, tuple[str, ...]]:
    """Return what must stay byte-identical of each file.

    As soon as one file of a program has evolve blocks, the files that have none are frozen as a whole. Raises
    ValueError, which names the file, when markers do not pair up.
    """
    marked = any(has_evolve_blocks(text) for _, text in program.files)
    frozen: dict[str, tuple[str, ...]] = {}
    for path, text in program.files:
        if marked and not has_evolve_blocks(text):
            frozen[path] = (text,)
            continue
        try:
            frozen[path] = frozen_text(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    return frozen
