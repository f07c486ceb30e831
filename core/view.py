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

    `parent` is the id of a member's parent, -1 for a seed of the run (int64; a parent may have left the archive);
    `best_child` the best fitness among its admitted children, kept or not, NaN when it has none (float64); `visits`
    counts the committed tickets whose parent was the member or a descendant of it, gone or not; `in_flight` counts
    tickets that were selected with the member as their parent and are not committed yet (int64 both). Tickets are
    selected at fixed points of the run, so that all of these are the same for any number of workers. `best_child` and
    `visits` know what happened on this island since the member came here.
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
    parent: NDArray[np.int64]
    best_child: NDArray[np.float64]
    visits: NDArray[np.int64]
    in_flight: NDArray[np.int64]
    instances: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.ids)
