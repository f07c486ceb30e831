"""Inspirations: the other programs that an operator may read beside the parent."""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Inspirations
from ..core.view import IslandView


class NoInspirations(Inspirations):
    """Nobody: an operator reads the parent alone."""

    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return nobody."""
        return ()


class UniformInspirations(Inspirations):
    """Any members but the parent, alike, without repetition."""

    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return up to `count` ids."""
        others = view.ids[view.ids != parent]
        return tuple(int(id) for id in rng.choice(others, min(count, len(others)), replace=False))


class BestInspirations(Inspirations):
    """The best members but the parent; of equals the older first."""

    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return up to `count` ids, the best first."""
        rows = np.flatnonzero(view.ids != parent)
        return tuple(int(id) for id in view.ids[_best(view, rows, count)])


class DiverseInspirations(Inspirations):
    """Members in proportion to their novelty in embedding space, without repetition.

    Novelty was measured when a member was born; a view does not tell the distance of two members.
    """

    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return up to `count` ids."""
        rows = np.flatnonzero(view.ids != parent)
        # The largest of log(u) / w are a draw in proportion to w without repetition (Efraimidis and Spirakis 2006).
        keys = np.log1p(-rng.random(len(rows))) / np.maximum(view.novelty[rows], 1e-9)
        return tuple(int(id) for id in view.ids[rows[_largest(keys, count)]])


class NearestBetter(Inspirations):
    """The members whose fitness lies next above the parent's, the nearest first, then the next below it.

    A parent that is itself the best is inspired by those just behind it.
    """

    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return up to `count` ids."""
        own = view.fitness[view.ids == parent][0]
        better = np.flatnonzero((view.fitness > own) & (view.ids != parent))
        rest = np.flatnonzero((view.fitness <= own) & (view.ids != parent))
        nearest = better[np.lexsort((view.ids[better], view.fitness[better]))][:count]
        rows = [*nearest, *_best(view, rest, count - len(nearest))]
        return tuple(int(view.ids[row]) for row in rows)


class MixedInspirations(Inspirations):
    """By turns one of the best, one that is novel, and any one, without repetition."""

    class Options(ComponentOptions):
        """Options of `mixed`."""

        elite: float = Field(default=0.1, gt=0, le=1, description="The share of members that counts as the best.")

    options: Options

    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return up to `count` ids; the first is one of the best."""
        free = view.ids != parent
        elite = np.zeros(len(view), np.bool_)
        others = np.flatnonzero(free)
        elite[_best(view, others, max(1, int(np.ceil(self.options.elite * len(others)))))] = True
        chosen: list[int] = []
        for turn in range(min(count, len(others))):
            weights = (elite * 1.0, np.maximum(view.novelty, 1e-9), np.ones(len(view)))[turn % 3] * free
            if not weights.any():
                weights = free * 1.0
            cumulative = np.cumsum(weights)
            row = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
            row = min(row, int(np.flatnonzero(weights)[-1]))
            free[row] = False
            chosen.append(int(view.ids[row]))
        return tuple(chosen)


def _best(view: IslandView, rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return up to `count` of `rows` by falling fitness, the older first, without sorting all of them."""
    if count <= 0 or not len(rows):
        return rows[:0]
    if count < len(rows):
        bar = np.partition(view.fitness[rows], len(rows) - count)[len(rows) - count]
        rows = rows[view.fitness[rows] >= bar]
    return rows[np.lexsort((view.ids[rows], -view.fitness[rows]))][:count]


def _largest(keys: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the places of the `count` largest keys, the largest first."""
    count = min(count, len(keys))
    if count <= 0:
        return np.zeros(0, np.intp)
    places = np.argpartition(keys, len(keys) - count)[len(keys) - count :]
    return np.asarray(places[np.argsort(-keys[places], kind="stable")])
