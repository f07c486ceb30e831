"""Migration that answers a need: an island that stagnates or has lost its diversity is sent somebody."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import IslandStatus, Migration, Move, Reset, Topology
from ..core.view import IslandView


class Needful(Migration):
    """Base of migrations towards islands in need, from those that have them for a target."""

    class Options(ComponentOptions):
        """Options of all migrations by need."""

        interval: int = Field(default=25, ge=1, description="Births of an island between two migrations.")
        migrants: int = Field(default=2, ge=1, description="How many each neighbour sends.")

    options: Options

    def due(self, statuses: Sequence[IslandStatus]) -> bool:
        """Say whether there are others, and the last migration is long enough ago."""
        return len(statuses) > 1 and min(s.since_migration for s in statuses) >= self.options.interval

    def plan(
        self,
        views: Sequence[IslandView],
        statuses: Sequence[IslandStatus],
        topology: Topology,
        rng: np.random.Generator,
    ) -> tuple[Move | Reset, ...]:
        """Return the moves towards the islands in need, when the last migration is long enough ago."""
        if not self.due(statuses):
            return ()
        needy = {s.island for view, s in zip(views, statuses, strict=True) if self.in_need(view, s)}
        moves: list[Move] = []
        for view in views if needy else ():
            targets = needy.intersection(topology.targets(view.island, len(views)))
            if targets:
                senders = self._senders(view)
                moves += [Move(id, view.island, target) for target in sorted(targets) for id in senders]
        return tuple(moves)

    @abstractmethod
    def in_need(self, view: IslandView, status: IslandStatus) -> bool:
        """Say whether an island needs somebody."""

    @abstractmethod
    def worth(self, view: IslandView) -> NDArray[np.float64]:
        """Return what makes a member worth sending, shape (n,); the larger, the sooner."""

    def _senders(self, view: IslandView) -> list[int]:
        rows = np.lexsort((view.ids, -self.worth(view)))
        eligible = ~(view.seed | view.migrant)
        return [int(view.ids[row]) for row in rows[eligible[rows]]][: self.options.migrants]


class ByStagnation(Needful):
    """Sends the best of its neighbours to an island whose best has not risen for long."""

    class Options(Needful.Options):
        """Options of `by-stagnation`."""

        stagnation: int = Field(default=100, ge=1, description="Births without a new best that count as stagnation.")

    options: Options

    def in_need(self, view: IslandView, status: IslandStatus) -> bool:
        """Say whether the island's best has not risen for long."""
        return status.since_improvement >= self.options.stagnation

    def worth(self, view: IslandView) -> NDArray[np.float64]:
        """Return the fitness."""
        return view.fitness


class ByDiversity(Needful):
    """Sends the most novel of its neighbours to an island whose newest members are near to what it had.

    Diversity is the mean novelty, at birth, of an island's `recent` newest members.
    """

    class Options(Needful.Options):
        """Options of `by-diversity`."""

        floor: float = Field(default=0.05, ge=0, le=1, description="The mean novelty below which an island is in need.")
        recent: int = Field(default=20, ge=1, description="How many of the newest members count; fewer are no sign.")

    options: Options

    def in_need(self, view: IslandView, status: IslandStatus) -> bool:
        """Say whether the newest members are too near to the others."""
        recent = self.options.recent
        if len(view) < recent:
            return False
        newest = np.argpartition(view.ids, len(view) - recent)[len(view) - recent :]
        return bool(view.novelty[newest].mean() < self.options.floor)

    def worth(self, view: IslandView) -> NDArray[np.float64]:
        """Return the novelty."""
        return view.novelty
