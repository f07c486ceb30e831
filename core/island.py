"""An island: the members that selection can reach, as numpy columns that grow by doubling."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .slots import Archive, Newcomer, Vector
from .view import IslandView

_DTYPES: dict[str, type[np.generic]] = {
    "ids": np.int64,
    "fitness": np.float64,
    "offspring": np.int64,
    "refused": np.int64,
    "generation": np.int64,
    "novelty": np.float64,
    "length": np.int64,
    "seed": np.bool_,
    "migrant": np.bool_,
    "parent": np.int64,
    "best_child": np.float64,
    "visits": np.int64,
    "in_flight": np.int64,
}

NO_PARENT = -1
"""What stands in the column `parent` of a seed of the run."""


@dataclass(frozen=True, slots=True)
class Member:
    """What an island keeps of an individual beside its columns."""

    content: bytes
    vector: Vector | None
    metrics: Mapping[str, float]
    instances: tuple[float, ...] | None = None
    drift: int = 0
    """Steps since its lineage last gained."""


class Island:
    """The archive of one island. Its history is kept elsewhere and never shrinks."""

    def __init__(
        self, number: int, archive: Archive, parents: Mapping[int, int | None], resolution: float = 0.0
    ) -> None:
        self.number = number
        self.archive = archive
        self.resolution = resolution
        """A best that rises by no more than this has not risen."""
        self._parents = parents
        self._skips: dict[int, int | None] = {}
        self.births = 0
        self.births_at_migration = 0
        self.births_at_best = 0
        self.best: int | None = None
        self.best_fitness = -np.inf
        self.risen_to = -np.inf
        self.founded = -1
        """The ticket after which the island was emptied last."""
        self.contents: set[bytes] = set()
        self.seeds: set[int] = set()
        self._in_flight: dict[int, int] = {}
        self._rows: dict[int, int] = {}
        self._members: dict[int, Member] = {}
        self._columns: dict[str, NDArray[np.generic]] = {k: np.zeros(64, dtype) for k, dtype in _DTYPES.items()}
        self._view: IslandView | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: int) -> bool:
        return id in self._rows

    def view(self) -> IslandView:
        """Return the read-only columns; they follow later counts, and a birth or an eviction makes a new view."""
        if self._view is None:
            n = len(self._rows)
            columns = {}
            for name, column in self._columns.items():
                columns[name] = column[:n]
                columns[name].flags.writeable = False
            self._view = IslandView(self.number, **columns, instances=self._instances())  # type: ignore[arg-type]
        return self._view

    def vectors(self, limit: int) -> list[Vector]:
        """Return the vectors of the `limit` members that came last."""
        recent = list(self._members)[-limit:]
        return [vector for id in recent if (vector := self._members[id].vector) is not None]

    def member(self, id: int) -> Member:
        """Return what is kept of a member. Raises KeyError when it is not one."""
        return self._members[id]

    def add(
        self, newcomer: Newcomer, member: Member, generation: int, *, seed: bool = False, migrant: bool = False
    ) -> bool:
        """Offer an individual to the archive; return whether it stays.

        The best ever and the seeds stay whatever the archive answers.
        """
        record = newcomer.fitness > self.best_fitness
        if record:
            if newcomer.fitness - self.risen_to > self.resolution:
                self.births_at_best, self.risen_to = self.births, newcomer.fitness
            self.best, self.best_fitness = newcomer.id, newcomer.fitness
        if seed:
            self.seeds.add(newcomer.id)
        placement = self.archive.place(self.view(), self.pinned(), newcomer)
        if not (placement.kept or record or seed):
            return False
        for id in placement.evicted:
            if id not in self.pinned():
                self._remove(id)
        self._append(newcomer, member, generation, seed, migrant)
        return True

    def select(self, parent: int) -> None:
        """Note that a ticket was selected with this parent: it is in flight until `count` hears of it."""
        self._fly(parent, 1)

    def count(self, parent: int, *, refused: bool, fitness: float | None = None) -> None:
        """Note that a ticket with this parent was committed; who has left the archive is not counted.

        `fitness` is the child's, or None when it does not compete.
        """
        self._fly(parent, -1)
        row = self._rows.get(parent)
        if row is not None:
            self._columns["refused" if refused else "offspring"][row] += 1
            # Not `<`: no best child is NaN.
            if fitness is not None and not self._columns["best_child"][row] >= fitness:
                self._columns["best_child"][row] = fitness
        visited: int | None = parent if row is not None else self._member_above(parent)
        while visited is not None:
            self._columns["visits"][self._rows[visited]] += 1
            visited = self._member_above(visited)

    def is_orphan(self, parent: int) -> bool:
        """Say whether a child's parent went with a reset: the child was under way and belongs to what is gone."""
        return parent <= self.founded and parent not in self._rows

    def pinned(self) -> frozenset[int]:
        """Return the members that never leave: the seeds and the best."""
        return frozenset(self.seeds) if self.best is None else frozenset(self.seeds | {self.best})

    def clear(self, ticket: int) -> None:
        """Empty the island for a reset after a ticket; what was ever on it may come back."""
        self.founded = ticket
        self.archive.clear()
        self.contents.clear()
        self.seeds.clear()
        self._rows.clear()
        self._members.clear()
        self.best, self.best_fitness, self.risen_to = None, -np.inf, -np.inf
        self.births_at_best = self.births
        self._view = None

    def _fly(self, parent: int, change: int) -> None:
        """Count the tickets in flight by id, so that a parent that leaves and comes back has its own again."""
        now = max(0, self._in_flight.get(parent, 0) + change)
        self._in_flight[parent] = now
        if not now:
            del self._in_flight[parent]
        row = self._rows.get(parent)
        if row is not None:
            self._columns["in_flight"][row] = now

    def _member_above(self, id: int) -> int | None:
        """Return the nearest ancestor that is a member. Long ways over those that have left are walked once."""
        passed = [id]
        while True:
            last = passed[-1]
            above = self._skips[last] if last in self._skips else self._parents.get(last)
            if above is None or above in self._rows:
                break
            passed.append(above)
        if len(passed) > 1:
            self._skips.update(dict.fromkeys(passed, above))
        return above

    def _append(self, newcomer: Newcomer, member: Member, generation: int, seed: bool, migrant: bool) -> None:
        if seed or migrant:
            # It may be the ancestor of somebody here.
            self._skips.clear()
        row = len(self._rows)
        if row == len(self._columns["ids"]):
            self._columns = {k: np.concatenate([c, np.zeros_like(c)]) for k, c in self._columns.items()}
        values = (
            newcomer.id, newcomer.fitness, 0, 0, generation, newcomer.novelty, newcomer.length, seed, migrant,
            NO_PARENT if newcomer.parent is None else newcomer.parent, np.nan, 0, self._in_flight.get(newcomer.id, 0),
        )  # fmt: skip
        for name, value in zip(_DTYPES, values, strict=True):
            self._columns[name][row] = value
        self._rows[newcomer.id] = row
        self._members[newcomer.id] = member
        self.contents.add(member.content)
        self._view = None

    def _remove(self, id: int) -> None:
        """Take a member out; the last row moves into its place."""
        row, last = self._rows.pop(id), len(self._rows)
        self.contents.discard(self._members.pop(id).content)
        if row != last:
            moved = int(self._columns["ids"][last])
            for column in self._columns.values():
                column[row] = column[last]
            self._rows[moved] = row
        self._view = None

    def _instances(self) -> NDArray[np.float64] | None:
        """Return scores by instance in row order, or None when some member has none."""
        if not self._members or any(member.instances is None for member in self._members.values()):
            return None
        by_row = sorted(self._rows, key=self._rows.__getitem__)
        table = np.array([self._members[id].instances for id in by_row], dtype=np.float64)
        table.flags.writeable = False
        return table
