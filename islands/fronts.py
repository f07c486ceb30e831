"""Archives by other measures than fitness alone: a Pareto front, and the most novel."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Archive, Newcomer, Placement
from ..core.view import IslandView
from .features import features_of, forget_leavers


class ParetoFront(Archive):
    """Who is dominated by nobody in several objectives; where the front is too large, the most crowded leaves.

    One dominates another if it is at least as good in every objective and better in one. Of equals the older stays.
    Crowding is that of NSGA-II (Deb et al. 2002): the ends of the front are never crowded.
    """

    class Options(ComponentOptions):
        """Options of `pareto-front`."""

        objectives: Mapping[str, Literal["maximise", "minimise"]] = Field(
            default={"fitness": "maximise", "length": "minimise"},
            min_length=1,
            description="Direction by name: `fitness`, `length`, `novelty` or names of metrics.",
        )
        size: int = Field(default=100, ge=2, description="How many members an island has at most.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._points: dict[int, tuple[float, ...]] = {}

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Keep the newcomer if nobody dominates or equals it; those that it dominates leave."""
        signs = [1.0 if d == "maximise" else -1.0 for d in self.options.objectives.values()]
        raw = features_of(newcomer, list(self.options.objectives), "the archive")
        point = tuple(sign * value for sign, value in zip(signs, raw, strict=True))
        forget_leavers(self._points, view)
        self._points[newcomer.id] = point
        if not len(view):
            return Placement(True)
        points = np.array([self._points[id] for id in view.ids.tolist()])
        mine = np.array(point)
        if (points >= mine).all(axis=1).any():
            return Placement(False)
        free = ~np.isin(view.ids, list(pinned))
        leaving = (points <= mine).all(axis=1) & free
        if len(view) - leaving.sum() < self.options.size:
            return Placement(True, tuple(int(id) for id in view.ids[leaving]))
        # Nobody left by being dominated: the front is full of equals in rank.
        distances = crowding(np.vstack([points, mine]))
        if not free.any():
            return Placement(False)
        rows = np.flatnonzero(free)
        crowded = rows[np.lexsort((-view.ids[rows], distances[rows]))[0]]
        if distances[-1] <= distances[crowded]:
            return Placement(False)
        return Placement(True, (int(view.ids[crowded]),))

    def clear(self) -> None:
        """Forget who was here."""
        self._points.clear()


def crowding(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the crowding distance of each point, shape (n,), of points of shape (n, objectives).

    The sum over objectives of the gap between a point's two neighbours, divided by the range; infinite at the ends.
    """
    distances = np.zeros(len(points))
    for column in points.T:
        order = np.argsort(column, kind="stable")
        spread = column[order[-1]] - column[order[0]]
        distances[order[[0, -1]]] = np.inf
        if spread > 0:
            distances[order[1:-1]] += (column[order[2:]] - column[order[:-2]]) / spread
    return distances


class NoveltyArchive(Archive):
    """The most novel members, whatever their fitness (after Lehman and Stanley 2011); the island's best is pinned.

    While there is room a newcomer stays if its novelty reaches the threshold; then if it is more novel than the least
    novel, which leaves. Of equals the older stays. Novelty is that at birth.
    """

    class Options(ComponentOptions):
        """Options of `novelty-archive`."""

        size: int = Field(default=200, ge=1, description="How many members an island has at most.")
        threshold: float = Field(default=0.0, ge=0, le=1, description="The least novelty that is let in.")

    options: Options

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Keep the newcomer when it is novel enough and there is room or somebody less novel."""
        if len(view) and newcomer.novelty < self.options.threshold:
            return Placement(False)
        if len(view) < self.options.size:
            return Placement(True)
        free = ~np.isin(view.ids, list(pinned))
        least = view.novelty[free].min(initial=np.inf)
        if not newcomer.novelty > least:
            return Placement(False)
        return Placement(True, (int(view.ids[free & (view.novelty == least)].max()),))
