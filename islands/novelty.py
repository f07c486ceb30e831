"""Novelty: whether a program is too close to what was proposed before, and how far it lies from the others."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Novelty, Vector
from .nearness import NearIndex


class Cosine(Novelty):
    """Refuses a proposal whose cosine with an earlier one of its comparison set reaches the threshold.

    The question is answered exactly. At 1 only programs of equal vectors are refused, over 1 none. The zero vector (a
    program without features) is compared by nothing: whoever wants such programs out refuses them by another rule.
    """

    class Options(ComponentOptions):
        """Options of `cosine`."""

        threshold: float = Field(
            default=0.999, gt=0, le=1.01, description="Refuse at or above this cosine; over 1, never."
        )
        neighbours: int = Field(default=5, ge=1, description="How many nearest members novelty is measured against.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._index = NearIndex(self.options.threshold) if self.options.threshold <= 1 else None
        self._scatter: NDArray[np.float64] = np.zeros(0)

    def nearest(self, scope: str, vector: Vector) -> tuple[int, float] | None:
        """Return the nearest at or above the threshold. Raises ValueError for a vector that is not finite."""
        _must_be_finite(vector)
        return None if self._index is None else self._index.nearest(scope, vector)

    def add(self, scope: str, id: int, vector: Vector) -> None:
        """Remember a program. Raises ValueError for a vector that is not finite."""
        _must_be_finite(vector)
        if self._index is not None:
            self._index.add(scope, id, vector)

    def novelty(self, vector: Vector, others: Sequence[Vector]) -> float:
        """Return the mean of 1 - cosine over the k nearest of `others`; 1 when there are none."""
        others = [other for other in others if len(other.indices)]
        if not others or not len(vector.indices):
            return 1.0
        cosines = np.sort(self._cosines(vector, others))[-self.options.neighbours :]
        return float(np.clip(1.0 - cosines.mean(), 0.0, 1.0))

    def _cosines(self, vector: Vector, others: Sequence[Vector]) -> NDArray[np.float64]:
        """Return the inner products with all others, by one gather over their indices."""
        indices = np.concatenate([other.indices for other in others])
        values = np.concatenate([other.values for other in others])
        sizes = np.array([len(other.indices) for other in others])
        width = max(int(indices.max()), int(vector.indices[-1])) + 1
        if len(self._scatter) < width:
            self._scatter = np.zeros(2 * width)
        self._scatter[vector.indices] = vector.values
        products = self._scatter[indices] * values
        self._scatter[vector.indices] = 0.0
        return np.asarray(np.add.reduceat(products, np.cumsum(sizes) - sizes))


def dot(a: Vector, b: Vector) -> float:
    """Return the inner product of two sparse vectors, clipped to [-1, 1]."""
    _, at_a, at_b = np.intersect1d(a.indices, b.indices, assume_unique=True, return_indices=True)
    return float(np.clip(a.values[at_a].astype(np.float64) @ b.values[at_b].astype(np.float64), -1.0, 1.0))


def _must_be_finite(vector: Vector) -> None:
    # A sum is finite only if its terms are; float32 squares of a unit vector cannot overflow.
    if not math.isfinite(vector.values @ vector.values):
        raise ValueError("the vector of a program is not finite; expected one of unit length without NaN and infinity")
