"""What a selector sees of an island: read-only numpy columns, one row for each member of its archive."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class IslandView:
    """Columns of equal length n over the members that compete. Every array is read-only and valid during the call.

    `ids` are the individuals' ids (int64, unique, in no promised order); `fitness` (float64, finite, larger is
    better); `offspring` counts admitted children and `refused` children that were refused (int64); `generation` is the
    depth of lineage (int64, 0 for seeds); `novelty` in [0, 1] (float64); `length` of the main file in characters
    (int64); `seed` and `migrant` (bool) say how a member came here; `instances` is a float64 array (n, m) of scores
    by test instance, or None when the problem has none.
    """

    island: int
    ids: NDArray[np.int64]
    fitness: NDArray[np.float64]
    offspring: NDArray[np.int64]
    refused: NDArray[np.int64]
    generation: NDArray[np.int64]
    novelty: NDArray[np.float64]
    length: NDArray[np.int64]
    seed: NDArray[np.bool_]
    migrant: NDArray[np.bool_]
    instances: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.ids)
