"""Inspirations: the other programs that an operator may read beside the parent."""

import numpy as np

from ..core.slots import Inspirations
from ..core.view import IslandView


class UniformInspirations(Inspirations):
    """Any members but the parent, alike, without repetition."""

    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return up to `count` ids."""
        others = view.ids[view.ids != parent]
        return tuple(int(id) for id in rng.permutation(others)[:count])
