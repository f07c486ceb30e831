"""Embedding a program as text: what evolves of it, in chunks, averaged. The base of embedders that ask a model."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ...core.component import ComponentOptions
from ...core.program import Program, evolve_blocks, has_evolve_blocks
from ...core.slots import Embedder, Vector


class TextEmbedder(Embedder):
    """Base of embedders of text. A model reads names and prose rather than structure: thresholds are its own.

    Long programs are cut into chunks at line ends and the unit vectors of the chunks averaged, for such models read a
    fixed number of tokens and drop the rest without a word.
    """

    class Options(ComponentOptions):
        """Options of every embedder of text."""

        chunk: int = Field(default=800, ge=1, description="Characters that a model is shown at once, about 250 tokens.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._known = lru_cache(maxsize=256)(self._embed)

    def embed(self, program: Program, main: str) -> Vector:
        """Return the unit mean of the vectors of a program's chunks; that of an empty program is the zero vector."""
        return self._known(program)

    @abstractmethod
    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each of `texts` (at least one), shape (n, dimension)."""

    def _embed(self, program: Program) -> Vector:
        texts = chunks(evolving(program), self.options.chunk)
        mean = np.zeros(self.dimension) if not texts else unit_rows(self.vectors(texts)).mean(axis=0)
        length = float(np.linalg.norm(mean))
        indices = np.arange(self.dimension, dtype=np.int32) if length else np.zeros(0, np.int32)
        return Vector(indices, (mean / length if length else mean[:0]).astype(np.float32))


def evolving(program: Program) -> str:
    """Return the text between the markers of a program's files, or all of it where no file has any."""
    marked = [text for _, text in program.files if has_evolve_blocks(text)]
    parts = []
    for text in marked or [text for _, text in program.files]:
        lines = text.splitlines(keepends=True)
        parts += ["".join(lines[block.start : block.stop]) for block in evolve_blocks(text)]
    # A lone surrogate is text here and nowhere else.
    return "\n".join(parts).encode("utf-8", "replace").decode("utf-8")


def chunks(text: str, size: int) -> list[str]:
    """Cut a text at line ends into pieces of at most `size` characters; a longer line is cut where it must be."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), size):
            part = line[start : start + size]
            if pieces and len(pieces[-1]) + len(part) <= size:
                pieces[-1] += part
            else:
                pieces.append(part)
    return [piece for piece in pieces if piece.strip()]


def unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return rows of unit length; a row of zeros stays."""
    wide = np.asarray(rows, np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(lengths > 0, lengths, 1.0)
