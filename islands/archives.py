"""Archives: who of an island stays in reach of selection."""

import numpy as np
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Archive, Newcomer, Placement
from ..core.view import IslandView


class Bounded(Archive):
    """The best `size` members; of equals the older stay."""

    class Options(ComponentOptions):
        """Options of `bounded`."""

        size: int = Field(default=100, ge=1, description="How many members an island has at most.")

    options: Options

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Keep the newcomer when there is room, or when it beats the worst member that may leave."""
        if len(view) < self.options.size:
            return Placement(True)
        fitness = view.fitness.copy()
        for id in pinned:
            fitness[view.ids == id] = np.inf
        worst = fitness.min()
        if not newcomer.fitness > worst:
            return Placement(False)
        youngest = int(view.ids[fitness == worst].max())
        return Placement(True, (youngest,))
