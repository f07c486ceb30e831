"""The population: a fold over committed tickets, live and on resume by the same code."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .errors import ComponentError
from .island import Island, Member
from .objective import better
from .records import Outcome
from .slots import Archive, IslandStatus, Migration, Move, Newcomer, Reset, Topology
from .store import Birth
from .streams import stream

DRIFT = 2
"""Steps in a row without a gain that an improver's lineage may take."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What a birth changed: whether its individual stays in reach, whether it is a record, who travelled."""

    kept: bool = False
    record: bool = False
    moves: tuple[Move | Reset, ...] = ()


@dataclass(slots=True)
class Best:
    """The best individual so far that competes and that no oracle rejected; ties keep the older."""

    id: int
    fitness: float
    oracle_score: float | None
    evaluations: int


@dataclass(frozen=True, slots=True)
class _Passport:
    """What travels of an individual, and from where; a seed or a migrant does not migrate."""

    newcomer: Newcomer
    member: Member
    generation: int
    island: int
    seed: bool
    migrant: bool


class Population:
    """All islands of a run. Equal sequences of births give equal populations."""

    def __init__(
        self,
        seed: int,
        archives: Sequence[Archive],
        topology: Topology,
        migration: Migration | None,
        drift: int = DRIFT,
        resolution: float = 0.0,
    ) -> None:
        self.seed = seed
        self.drift = drift
        self.parents: dict[int, int | None] = {}
        self.islands = [Island(number, archive, self.parents, resolution) for number, archive in enumerate(archives)]
        self.topology = topology
        self.migration = migration
        self.best: Best | None = None
        self.evaluations = 0
        self.proposals = 0
        self.refused: dict[str, int] = {}
        self.generations: dict[int, int] = {}

    def island_of(self, ticket: int, seeds: int) -> int:
        """Say whose turn a ticket is: islands take turns."""
        return (ticket - seeds) % len(self.islands)

    def select(self, island: int, parent: int | None) -> None:
        """Note that a ticket was selected: until it is committed it is in flight on its parent."""
        if parent is not None:
            self.islands[island].select(parent)

    def apply(self, birth: Birth) -> Applied:
        """Fold a committed ticket into the population."""
        self.proposals += 1
        parent = birth.selection.parent
        home = self.islands[birth.selection.island]
        if birth.refusal is not None:
            reason = birth.refusal.reason.value
            self.refused[reason] = self.refused.get(reason, 0) + 1
        individual = birth.individual
        if parent is not None:
            fitness = None if individual is None else individual.fitness
            home.count(parent, refused=individual is None, fitness=fitness)
        if individual is None:
            return Applied()
        self.evaluations += 1
        self.parents[individual.id] = individual.parent
        self.generations[individual.id] = individual.generation
        home.births += 1
        if individual.fitness is None:
            return Applied()
        record = self._note_best(birth)
        kept = self._place(birth, home)
        return Applied(kept, record, self._migrate(individual.id))

    def outcome(self, birth: Birth, record: bool) -> Outcome:
        """Return what those who learn are told of a ticket."""
        return Outcome(
            birth.selection.ticket,
            birth.operator,
            birth.selection.plan,
            None if birth.refusal is None else birth.refusal.reason,
            None if birth.individual is None else birth.individual.fitness,
            birth.gain,
            record,
        )

    def _note_best(self, birth: Birth) -> bool:
        individual = birth.individual
        assert individual is not None
        if birth.valid is False or not better(individual.fitness, None if self.best is None else self.best.fitness):
            return False
        assert individual.fitness is not None
        self.best = Best(individual.id, individual.fitness, birth.oracle_score, self.evaluations)
        return True

    def _place(self, birth: Birth, home: Island) -> bool:
        individual = birth.individual
        assert individual is not None
        assert individual.fitness is not None
        assert birth.content is not None
        newcomer = Newcomer(
            individual.id, individual.fitness, birth.length, individual.novelty, birth.metrics or {}, individual.parent
        )
        drift = self._drift(birth, home)
        member = Member(birth.content, birth.vector, birth.metrics or {}, birth.instances, drift or 0)
        if individual.parent is not None:
            settles = drift is not None and not home.is_orphan(individual.parent)
            return settles and home.add(newcomer, member, individual.generation)
        # A seed belongs to every island: evolution starts from the same place everywhere.
        kept = [island.add(newcomer, member, 0, seed=True) for island in self.islands]
        return all(kept)

    def _drift(self, birth: Birth, home: Island) -> int | None:
        """Count the steps since an improver's lineage last gained; None when it has gone on for too long.

        A program that was run from its parent's output and ended where it began has shown nothing. Were all of them
        kept, programs would drift into ones that do nothing while the outputs they inherit hold up their fitness.
        """
        individual = birth.individual
        assert individual is not None
        if individual.input is None or individual.input != individual.parent or birth.gain != 0.0:
            return 0
        if individual.parent not in home:
            return None
        drift = home.member(individual.parent).drift + 1
        return drift if drift <= self.drift else None

    def _migrate(self, ticket: int) -> tuple[Move | Reset, ...]:
        if self.migration is None:
            return ()
        statuses = [
            IslandStatus(
                i.number, i.births, i.births - i.births_at_migration, i.births - i.births_at_best,
                i.best if i.best is not None else 0, i.best_fitness,
            )
            for i in self.islands
        ]  # fmt: skip
        if not self.migration.due(statuses):
            return ()
        views = [island.view() for island in self.islands]
        plan = self.migration.plan(views, statuses, self.topology, stream(self.seed, ticket, "migration"))
        if not plan:
            return ()
        for island in self.islands:
            island.births_at_migration = island.births
        # Taken before anybody travels: an arrival may push somebody out who was to leave.
        papers = [self._passports(wish) for wish in plan]
        return tuple(wish for wish, ready in zip(plan, papers, strict=True) if self._carry_out(ticket, wish, ready))

    def _carry_out(self, ticket: int, wish: Move | Reset, passports: Sequence[_Passport]) -> bool:
        if isinstance(wish, Move):
            (passport,) = passports
            abroad = self.islands[wish.target]
            if passport.seed or passport.migrant or passport.member.content in abroad.contents:
                return False
            return abroad.add(passport.newcomer, passport.member, passport.generation, migrant=True)
        island = self.islands[wish.island]
        island.clear(ticket)
        for passport in passports:
            if passport.member.content not in island.contents:
                foreign = passport.island != island.number
                island.add(
                    passport.newcomer, passport.member, passport.generation,
                    seed=passport.seed or foreign, migrant=passport.migrant and not foreign,
                )  # fmt: skip
        return True

    def _passports(self, wish: Move | Reset) -> list[_Passport]:
        if isinstance(wish, Move):
            home = self.islands[wish.source]
            if wish.individual not in home:
                raise ComponentError(
                    f"the migration named individual {wish.individual}, which is not on island {wish.source}"
                )
            return [self._passport(home, wish.individual)]
        passports = []
        for founder in wish.founders:
            abroad_first = sorted(self.islands, key=lambda i: i.number == wish.island)
            found = next((i for i in abroad_first if founder in i), None)
            if found is None:
                raise ComponentError(f"the migration named individual {founder}, which is on no island")
            passports.append(self._passport(found, founder))
        return passports

    def _passport(self, home: Island, id: int) -> _Passport:
        view = home.view()
        row = int(np.flatnonzero(view.ids == id)[0])
        member = home.member(id)
        newcomer = Newcomer(
            id, float(view.fitness[row]), int(view.length[row]), float(view.novelty[row]), member.metrics,
            self.parents.get(id),
        )  # fmt: skip
        return _Passport(
            newcomer, member, int(view.generation[row]), home.number, bool(view.seed[row]), bool(view.migrant[row])
        )
