"""Migration that founds islands anew: the worse half at intervals, or the worst from a half of the best."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import IslandStatus, Migration, Move, Reset, Topology
from ..core.view import IslandView


class ResetWorseHalf(Migration):
    """Founds the worse half of the islands anew from the best of a better one, at intervals (FunSearch, Nature 2023).

    Of n islands floor(n / 2) are reset, each with the best program of a survivor drawn alike. FunSearch counts hours;
    here births of an island are counted, so that a run is repeatable.
    """

    class Options(ComponentOptions):
        """Options of `reset-worse-half`."""

        interval: int = Field(default=1000, ge=1, description="Births of an island between two resets.")

    options: Options

    def due(self, statuses: Sequence[IslandStatus]) -> bool:
        """Say whether there are others, and the interval is over."""
        return len(statuses) > 1 and min(s.since_migration for s in statuses) >= self.options.interval

    def plan(
        self,
        views: Sequence[IslandView],
        statuses: Sequence[IslandStatus],
        topology: Topology,
        rng: np.random.Generator,
    ) -> tuple[Move | Reset, ...]:
        """Return the resets that are due."""
        if not self.due(statuses):
            return ()
        ordered = sorted(statuses, key=lambda status: (status.best_fitness, -status.island))
        worse, survivors = ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :]
        return tuple(Reset(status.island, (survivors[int(rng.integers(len(survivors)))].best,)) for status in worse)


class Splitting(Migration):
    """At intervals the worst island makes room: a half of the best one's members settle there.

    The members that settle are drawn alike, the best always among them. So the number of islands stays, and the search
    spreads where it does well.
    """

    class Options(ComponentOptions):
        """Options of `splitting`."""

        interval: int = Field(default=500, ge=1, description="Births of an island between two splits.")
        settlers: int = Field(default=10, ge=1, description="How many settle at most.")

    options: Options

    def due(self, statuses: Sequence[IslandStatus]) -> bool:
        """Say whether there are others, and the interval is over."""
        return len(statuses) > 1 and min(s.since_migration for s in statuses) >= self.options.interval

    def plan(
        self,
        views: Sequence[IslandView],
        statuses: Sequence[IslandStatus],
        topology: Topology,
        rng: np.random.Generator,
    ) -> tuple[Move | Reset, ...]:
        """Return the reset that is due."""
        if not self.due(statuses):
            return ()
        ordered = sorted(statuses, key=lambda status: (status.best_fitness, -status.island))
        worst, best = ordered[0], ordered[-1]
        view = next(view for view in views if view.island == best.island)
        others = view.ids[view.ids != best.best]
        count = min(self.options.settlers, (len(view) + 1) // 2) - 1
        settlers = sorted(int(id) for id in rng.choice(others, min(max(0, count), len(others)), replace=False))
        return (Reset(worst.island, (best.best, *settlers)),)
