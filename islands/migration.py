"""Migration: when individuals travel, and when an island starts anew."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import IslandStatus, Migration, Move, Reset, Topology
from ..core.view import IslandView


class Copying(Migration):
    """Copies the best of each island to its neighbours at intervals, and founds stagnant islands anew."""

    class Options(ComponentOptions):
        """Options of `copying`."""

        interval: int = Field(default=50, ge=1, description="Births of an island between two migrations.")
        migrants: int = Field(default=2, ge=0, description="How many of its best an island sends to each neighbour.")
        share: float | None = Field(
            default=None, gt=0, le=1, description="Instead of a number, the share of its members, one at least."
        )
        stagnation: int | None = Field(
            default=400, ge=1, description="Births without a new best after which an island is founded anew."
        )
        retirement: int | None = Field(
            default=300,
            ge=1,
            description="Births without a new best after which the better half of a lone island's members retires.",
        )

    options: Options

    def due(self, statuses: Sequence[IslandStatus]) -> bool:
        """Say whether the interval is over, or a lone island stagnates."""
        if len(statuses) == 1:
            limit = self.options.retirement
            return limit is not None and statuses[0].since_improvement >= limit
        return min(status.since_migration for status in statuses) >= self.options.interval

    def plan(
        self,
        views: Sequence[IslandView],
        statuses: Sequence[IslandStatus],
        topology: Topology,
        rng: np.random.Generator,
    ) -> tuple[Move | Reset, ...]:
        """Return the moves and resets that are due."""
        if not self.due(statuses):
            return ()
        if len(statuses) == 1:
            return self._retire(views[0], statuses[0])
        moves: list[Move | Reset] = []
        for view in views:
            eligible = ~(view.seed | view.migrant)
            order = np.lexsort((view.ids, -view.fitness))
            best = [int(view.ids[row]) for row in order if eligible[row]][: self._count(view)]
            for target in topology.targets(view.island, len(views)):
                moves += [Move(id, view.island, target) for id in best]
        return (*moves, *self._resets(statuses))

    def _count(self, view: IslandView) -> int:
        share = self.options.share
        return self.options.migrants if share is None else max(1, round(share * len(view)))

    def _retire(self, view: IslandView, status: IslandStatus) -> tuple[Reset, ...]:
        """Let a lone island that stagnates go on from its worse half and its seeds: there is no other to learn from.

        What retires is not forgotten: the run's best stays its best. But the members that stood higher drew all
        attention to the optimum that they are stuck in.
        """
        stay = view.seed | (view.fitness < np.median(view.fitness))
        return (Reset(status.island, tuple(int(id) for id in np.sort(view.ids[stay]))),)

    def _resets(self, statuses: Sequence[IslandStatus]) -> list[Reset]:
        """Found an island anew from the best of a better one when its own best has not risen for long."""
        limit = self.options.stagnation
        if limit is None:
            return []
        best = max(statuses, key=lambda status: (status.best_fitness, -status.island))
        return [
            Reset(status.island, (best.best,))
            for status in statuses
            if status.since_improvement >= limit and status.best_fitness < best.best_fitness
        ]
