"""Archives: who of an island stays in reach of selection."""

import numpy as np
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
        free = np.ones(len(view), np.bool_)
        for id in pinned:
            free &= view.ids != id
        if self.resolution:
            alike = np.abs(view.fitness - newcomer.fitness) <= self.resolution
            if alike.sum() >= self.options.alike:
                leaving = view.ids[alike & free]
                return Placement(True, (int(leaving.min()),)) if len(leaving) else Placement(False)
        if len(view) < self.options.size:
            return Placement(True)
        worst = view.fitness[free].min(initial=np.inf)
        if not newcomer.fitness > worst:
            return Placement(False)
        return Placement(True, (int(view.ids[free & (view.fitness == worst)].max()),))


class Unbounded(Archive):
    """Everyone stays."""

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Keep the newcomer."""
        return Placement(True)
