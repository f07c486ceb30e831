"""Archives: who of an island stays in reach of selection."""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.objective import Objective
from ..core.slots import Archive, Newcomer, Placement
from ..core.view import IslandView


class Bounded(Archive):
    """The best `size` members, and no more than `alike` of one fitness where the problem says what is alike.

    Of equals at the end of the ranking the older stay. Among members that are alike, within the objective's resolution,
    the newest takes the place of the oldest, so that one good result does not fill the archive with copies of itself.
    """

    class Options(ComponentOptions):
        """Options of `bounded`."""

        size: int = Field(default=60, ge=1, description="How many members an island has at most.")
        alike: int = Field(default=2, ge=1, description="How many of them may have one fitness within the resolution.")

    options: Options
    resolution = 0.0

    def open(self, objective: Objective) -> None:
        """Learn which differences are noise; with a resolution of 0 nothing is alike."""
        self.resolution = objective.resolution

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Keep the newcomer when there is room, or when it beats the worst member that may leave."""
        if self.resolution:
            alike = np.abs(view.fitness - newcomer.fitness) <= self.resolution
            if alike.sum() >= self.options.alike:
                leaving = view.ids[alike & _free(view, pinned)]
                return Placement(True, (int(leaving.min()),)) if len(leaving) else Placement(False)
        if len(view) < self.options.size:
            return Placement(True)
        if newcomer.fitness <= view.fitness.min():
            return Placement(False)  # most are no better than anybody, and it need not be asked who may leave
        return _in_place_of_the_worst(view, _free(view, pinned), newcomer)


class TopPerParent(Archive):
    """The best `size` members, and of each parent no more than its best `children` (TTT-Discover, arXiv 2601.16175).

    Of equals the older stay. Seeds never leave and are nobody's children. TTT-Discover also drops children whose
    outputs are equal; here programs that are equal on an equal input are refused before they are evaluated.
    """

    class Options(ComponentOptions):
        """Options of `top-per-parent`."""

        size: int = Field(default=1000, ge=1, description="How many members an island has at most.")
        children: int = Field(default=2, ge=1, description="How many children of one parent stay at most.")

    options: Options

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Keep the newcomer when it is among the best of its parent's children, and there is room or it is better."""
        free = _free(view, pinned)
        if newcomer.parent is not None:
            siblings = view.parent == newcomer.parent
            if siblings.sum() >= self.options.children:
                return _in_place_of_the_worst(view, free & siblings, newcomer)
        if len(view) < self.options.size:
            return Placement(True)
        return _in_place_of_the_worst(view, free, newcomer)


class Unbounded(Archive):
    """Everyone stays."""

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Keep the newcomer."""
        return Placement(True)


def _free(view: IslandView, pinned: frozenset[int]) -> NDArray[np.bool_]:
    """Say of each member whether it may leave."""
    free = np.ones(len(view), np.bool_)
    for id in pinned:
        free &= view.ids != id
    return free


def _in_place_of_the_worst(view: IslandView, rivals: NDArray[np.bool_], newcomer: Newcomer) -> Placement:
    """Keep the newcomer if it beats the worst of its rivals, which leaves; of equals the newest."""
    worst = view.fitness[rivals].min(initial=np.inf)
    if not newcomer.fitness > worst:
        return Placement(False)
    return Placement(True, (int(view.ids[rivals & (view.fitness == worst)].max()),))
