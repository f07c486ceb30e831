"""Topologies: which islands lie next to which."""

from functools import lru_cache

import numpy as np
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Topology


class NoNeighbours(Topology):
    """No island lies next to another: islands never exchange anybody."""

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return nobody."""
        return ()


class Ring(Topology):
    """Each island sends to the next one, the last to the first."""

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return the next island."""
        return ((island + 1) % count,) if count > 1 else ()


class Star(Topology):
    """The first island sends to all others, and they send to it."""

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return the hub or, for the hub, the others."""
        return tuple(range(1, count)) if island == 0 else (0,)


class Torus(Topology):
    """Islands on a grid that is as square as their number allows, each sending to its four neighbours around the edges.

    A prime number of islands makes a grid of one row: a ring in both directions.
    """

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return up to four other islands, in ascending order."""
        rows = max(d for d in range(1, int(count**0.5) + 1) if count % d == 0)
        columns = count // rows
        row, column = divmod(island, columns)
        around = {
            row * columns + (column + 1) % columns,
            row * columns + (column - 1) % columns,
            (row + 1) % rows * columns + column,
            (row - 1) % rows * columns + column,
        }
        return tuple(sorted(around - {island}))


class FullyConnected(Topology):
    """Each island sends to every other."""

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return all other islands."""
        return tuple(other for other in range(count) if other != island)


class RandomRegular(Topology):
    """Each island sends to, and is sent to by, equally many others, drawn once from a seed."""

    class Options(ComponentOptions):
        """Options of `random-regular`."""

        degree: int = Field(
            default=2, ge=1, description="How many others each island sends to, where there are enough."
        )
        seed: int = Field(default=0, ge=0, description="Another seed draws another graph.")

    options: Options

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return the neighbours, in ascending order."""
        return _regular(count, min(self.options.degree, count - 1), self.options.seed)[island]


@lru_cache(maxsize=64)
def _regular(count: int, degree: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Return targets by island: on a random circle, everyone sends a few random distances ahead."""
    rng = np.random.default_rng((seed, count, degree))
    circle = rng.permutation(count)
    place = np.argsort(circle)
    steps = 1 + rng.choice(max(1, count - 1), degree, replace=False)
    # A step that shares a divisor with the number of islands may split the graph: one step of 1 keeps it whole.
    if degree and 1 not in steps:
        steps[0] = 1
    return tuple(tuple(sorted(int(circle[(place[i] + step) % count]) for step in steps)) for i in range(count))
