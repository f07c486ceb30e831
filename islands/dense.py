"""An index that answers the threshold question on dense unit vectors exactly, by a projection that prunes."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.slots import Vector

LEAST = 64
"""A vector with so many entries and no gap between them is dense."""

_AXES = 24
_GUARD = 1e-5
"""Rounding that the pruning allows for: sums in float32."""


def is_dense(vector: Vector) -> bool:
    """Say whether a vector has all entries up to its last, and many."""
    n = len(vector.indices)
    return n >= LEAST and int(vector.indices[-1]) == n - 1


class DenseIndex:
    """Dense vectors of one scope and one dimension.

    Each vector v is kept with its coordinates p on a few random orthogonal axes and the length r of what they leave. By
    Cauchy and Schwarz q.v <= p_q.p_v + r_q r_v: one product with a narrow matrix rules out whoever stays below the
    threshold by this bound; whoever does not is judged exactly.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._size = 0
        # Little room at first: a run may have a scope for every input.
        self._ids = np.zeros(1, np.int64)
        self._vectors = np.zeros((1, dimension), np.float32)
        self._sketches = np.zeros((1, min(_AXES, dimension) + 1), np.float32)

    def __len__(self) -> int:
        return self._size

    def add(self, id: int, vector: Vector) -> None:
        """Remember a dense vector of this dimension."""
        if self._size == len(self._ids):
            room = self._size // 4 + 2
            self._ids = np.concatenate([self._ids, np.zeros(room, np.int64)])
            self._vectors = np.concatenate([self._vectors, np.zeros((room, self.dimension), np.float32)])
            self._sketches = np.concatenate([self._sketches, np.zeros((room, self._sketches.shape[1]), np.float32)])
        values = vector.values / np.float32(np.linalg.norm(vector.values))
        self._ids[self._size] = id
        self._vectors[self._size] = values
        self._sketches[self._size] = self._sketch(values)
        self._size += 1

    def nearest(self, vector: Vector, threshold: float, slack: float) -> tuple[int, float] | None:
        """Return (id, cosine) of the nearest at or above the threshold, of equals the one with the least id."""
        asked = np.zeros(self.dimension, np.float32)
        inside = vector.indices < self.dimension
        asked[vector.indices[inside]] = vector.values[inside]
        asked /= np.float32(np.linalg.norm(vector.values))
        bounds = self._sketches[: self._size] @ self._sketch(asked)
        rows = np.flatnonzero(bounds >= threshold - _GUARD)
        if not len(rows):
            return None
        near = self._vectors[rows].astype(np.float64)
        wide = asked.astype(np.float64)
        # What lies beyond this dimension belongs to the length of the question, too.
        length = float(np.sqrt(wide @ wide)) if inside.all() else 1.0
        cosines = near @ wide / (np.sqrt(np.einsum("ij,ij->i", near, near)) * max(length, 1e-300))
        best = float(cosines.max())
        if best < threshold - slack:
            return None
        return int(self._ids[rows[cosines >= best - slack]].min()), min(best, 1.0)

    def _sketch(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        on_axes = axes(self.dimension) @ values
        rest = max(0.0, float(values @ values) - float(on_axes @ on_axes))
        return np.append(on_axes, np.float32(np.sqrt(rest)))


@lru_cache(maxsize=8)
def axes(dimension: int) -> NDArray[np.float32]:
    """Return orthogonal unit vectors, shape (at most 24, dimension), the same in every process."""
    drawn = np.random.default_rng(dimension).normal(size=(dimension, min(_AXES, dimension)))
    return np.ascontiguousarray(np.linalg.qr(drawn)[0].T.astype(np.float32))
