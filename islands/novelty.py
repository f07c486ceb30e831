"""Novelty: whether a program is too close to what was proposed before, and how far it lies from the others."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Novelty, Vector

_GROUPS = 32
_FEW = 64
"""Rows for which one look at all groups is cheaper than another at the next."""


class _Scope:
    """The vectors of one comparison set, with a sketch of each that prunes exactly.

    The sketch of v holds the norms of v over 32 groups of indices. For unit vectors of cosine >= c the distance is at
    most sqrt(2 - 2c), and by the reverse triangle inequality in each group so is the distance of the sketches.
    """

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.vectors: list[Vector] = []
        self._sketches: NDArray[np.float32] = np.zeros((_GROUPS, 16), np.float32)

    def add(self, id: int, vector: Vector) -> None:
        row = len(self.ids)
        if row == self._sketches.shape[1]:
            self._sketches = np.concatenate([self._sketches, np.zeros_like(self._sketches)], axis=1)
        self._sketches[:, row] = _sketch(vector)
        self.ids.append(id)
        self.vectors.append(vector)

    def nearest(self, vector: Vector, threshold: float) -> tuple[int, float] | None:
        found: tuple[int, float] | None = None
        for row in self._close(_sketch(vector), 2.0 - 2.0 * threshold + 1e-6):
            cosine = dot(vector, self.vectors[int(row)])
            if cosine >= threshold and (found is None or cosine > found[1]):
                found = self.ids[int(row)], cosine
        return found

    def _close(self, sketch: NDArray[np.float32], radius2: float) -> NDArray[np.intp]:
        """Return the rows whose sketch lies within a squared distance; one group after the other, over who is left."""
        if radius2 <= 0:
            return np.zeros(0, np.intp)
        radius = np.float32(np.sqrt(radius2))
        rows = np.flatnonzero(np.abs(self._sketches[0, : len(self.ids)] - sketch[0]) <= radius)
        for group in range(1, _GROUPS):
            if len(rows) < _FEW:
                break
            rows = rows[np.abs(self._sketches[group, rows] - sketch[group]) <= radius]
        difference = self._sketches[:, rows] - sketch[:, None]
        return rows[np.einsum("ij,ij->j", difference, difference) <= radius2]


class Cosine(Novelty):
    """Refuses a proposal whose cosine with an earlier one of its comparison set reaches the threshold."""

    class Options(ComponentOptions):
        """Options of `cosine`."""

        threshold: float = Field(
            default=0.999, gt=0, le=1.01, description="Refuse at or above this cosine; over 1, never."
        )
        neighbours: int = Field(default=5, ge=1, description="How many nearest members novelty is measured against.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._scopes: dict[str, _Scope] = {}
        self._scatter: NDArray[np.float64] = np.zeros(0)

    def nearest(self, scope: str, vector: Vector) -> tuple[int, float] | None:
        """Return the nearest at or above the threshold; the zero vector is near to nothing."""
        found = self._scopes.get(scope)
        if found is None or not len(vector.indices):
            return None
        return found.nearest(vector, self.options.threshold)

    def add(self, scope: str, id: int, vector: Vector) -> None:
        """Remember a program. Raises ValueError for a vector that is not finite."""
        if not np.isfinite(vector.values).all():
            raise ValueError(f"the vector of program {id} is not finite")
        self._scopes.setdefault(scope, _Scope()).add(id, vector)

    def novelty(self, vector: Vector, others: Sequence[Vector]) -> float:
        """Return the mean of 1 - cosine over the k nearest of `others`; 1 when there are none."""
        if not others:
            return 1.0
        # Scattered once, so that each inner product is one gather: the entries of both, in the order of the other.
        width = max((int(v.indices[-1]) + 1 for v in (vector, *others) if len(v.indices)), default=0)
        if len(self._scatter) < width:
            self._scatter = np.zeros(2 * width)
        self._scatter[vector.indices] = vector.values
        cosines = np.sort([float(self._scatter[o.indices] @ o.values) for o in others])[-self.options.neighbours :]
        self._scatter[vector.indices] = 0.0
        return float(np.clip(1.0 - cosines.mean(), 0.0, 1.0))


def dot(a: Vector, b: Vector) -> float:
    """Return the inner product of two sparse vectors, clipped to [-1, 1]."""
    _, at_a, at_b = np.intersect1d(a.indices, b.indices, assume_unique=True, return_indices=True)
    return float(np.clip(a.values[at_a].astype(np.float64) @ b.values[at_b].astype(np.float64), -1.0, 1.0))


def _sketch(vector: Vector) -> NDArray[np.float32]:
    squares = np.bincount(vector.indices % _GROUPS, vector.values.astype(np.float64) ** 2, minlength=_GROUPS)
    return np.sqrt(squares).astype(np.float32)
