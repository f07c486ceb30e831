"""PUCT over states as TTT-Discover has it: the best child's value, a rank prior, and lineages that are kept apart."""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Selector
from ..core.view import IslandView
from .scaling import Floats, ranks


def puct_scores(
    own: Floats, best_child: Floats, visits: NDArray[np.int64], total: int, prior: Floats, c: float
) -> Floats:
    """Return Q + c (max R - min R) P sqrt(1 + T) / (1 + n) for each state, shape (n,).

    R is a state's `own` value; Q is the value of its best child where it was visited and has one (`best_child` is not
    NaN), else its own; n are the `visits` of a state and its descendants, T is the `total` of expansions; P is the
    `prior`. TTT-Discover, arXiv 2601.16175 and its code.
    """
    q = np.where((visits > 0) & ~np.isnan(best_child), best_child, own)
    spread = own.max() - own.min()
    return np.asarray(q + c * spread * prior * np.sqrt(1.0 + total) / (1.0 + visits))


def linear_prior(rank: NDArray[np.int64]) -> Floats:
    """Return (n - rank) / sum, shape (n,), for ranks from 0: a prior that falls linearly with the rank."""
    weights = (len(rank) - rank).astype(np.float64)
    return np.asarray(weights / weights.sum())


def busy_lineages(view: IslandView) -> NDArray[np.bool_]:
    """Say of each member whether a ticket is in flight on it, on an ancestor or on a descendant, shape (n,).

    A lineage is followed through members: beyond an ancestor that has left the archive it is not seen.
    """
    n = len(view)
    up = _parent_rows(view)
    busy = np.append(view.in_flight > 0, False)
    above = np.zeros(n + 1, np.bool_)
    front = np.flatnonzero(busy)
    while len(front):
        front = np.unique(up[front])
        front = front[~above[front]]
        above[front] = True
    # After k rounds each member has looked 2^k - 1 ancestors up.
    for _ in range(n.bit_length()):
        busy |= busy[up]
        up = up[up]
    above[n] = False
    return np.asarray((busy | above)[:n])


def _parent_rows(view: IslandView) -> NDArray[np.intp]:
    """Return the row of each member's parent, shape (n + 1,); n stands for one that is no member, also for itself."""
    n = len(view)
    by_id = np.argsort(view.ids)
    rows = by_id[np.minimum(np.searchsorted(view.ids[by_id], view.parent), n - 1)]
    return np.append(np.where(view.ids[rows] == view.parent, rows, n), n)


class Puct(Selector):
    """The largest upper bound of value and exploration, one ticket a lineage (TTT-Discover, arXiv 2601.16175).

    Formula: `puct_scores` with the linear rank prior; T counts the visits of the seeds, from whom all descend. While a
    ticket is in flight, its parent's ancestors and descendants are not drawn, as in a batch of TTT-Discover. Where no
    lineage is free, which one seed and a lag make common, the members with the fewest tickets in flight are: an
    assumption. So is that each ticket, with one offspring, is an expansion; TTT-Discover counts one for each parent of
    a batch, with a group of offspring.
    """

    class Options(ComponentOptions):
        """Options of `puct`."""

        c: float = Field(default=1.0, ge=0, description="The weight of exploration.")

    options: Options

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Return the id with the largest score; of equals the oldest."""
        # Scaled down together, so that the range of huge values fits a float.
        largest = np.fmax(np.abs(view.fitness), np.abs(view.best_child)).max()
        scale = 4.0 * max(1.0, float(largest))
        total = int(view.visits[view.seed].sum())
        prior = linear_prior(ranks(view))
        scores = puct_scores(view.fitness / scale, view.best_child / scale, view.visits, total, prior, self.options.c)
        free = ~busy_lineages(view)
        if not free.any():
            free = view.in_flight == view.in_flight.min()
        return int(view.ids[free & (scores == scores[free].max())].min())
