"""The population: births, archives, migration, drift."""

from collections.abc import Sequence

import numpy as np
import pytest
from speciate.core.errors import ComponentError
from speciate.core.population import Population
from speciate.core.records import Individual, Reason, Refusal, Selection, Usage
from speciate.core.slots import Archive, IslandStatus, Migration, Move, Newcomer, Placement, Reset, Topology
from speciate.core.store import Birth
from speciate.core.view import IslandView
from toy import KeepBest, Line


class Wishes(Migration):
    """Asks for what a test put into `wanted`, once."""

    wanted: tuple[Move | Reset, ...] = ()

    def plan(
        self,
        views: Sequence[IslandView],
        statuses: Sequence[IslandStatus],
        topology: Topology,
        rng: np.random.Generator,
    ) -> tuple[Move | Reset, ...]:
        asked, self.wanted = self.wanted, ()
        return asked


class Grudging(Archive):
    """Keeps nobody and wants everybody out."""

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        return Placement(False, tuple(int(id) for id in view.ids))


def birth(
    id: int,
    fitness: float | None,
    *,
    parent: int | None = 0,
    island: int = 0,
    content: bytes | None = None,
    input: int | None = None,
    gain: float | None = 1.0,
    valid: bool | None = None,
) -> Birth:
    selection = Selection(id, island, parent, (), "toy", {})
    individual = Individual(
        id, f"p{id}", island, parent, (), input, "toy", 0 if parent is None else 1, f"e{id}", fitness, 0.5
    )
    return Birth(
        selection, "toy", None, content or b"%d" % id, Usage(), (), individual, {"score": fitness or 0.0}, 10, valid,
        None, gain,
    )  # fmt: skip


def refusal(id: int, parent: int) -> Birth:
    return Birth(Selection(id, 0, parent, (), "toy", {}), "toy", Refusal(Reason.SYNTAX, "no"), None, Usage())


def population(islands: int = 1, migration: Migration | None = None, archive: type[Archive] = KeepBest) -> Population:
    grown = Population(1, [archive() for _ in range(islands)], Line(), migration or Wishes())
    grown.apply(birth(0, 0.0, parent=None, gain=None))
    return grown


def test_a_seed_lives_on_every_island() -> None:
    assert [0 in island for island in population(3).islands] == [True, True, True]


def test_offspring_stay_on_the_island_of_their_parent() -> None:
    grown = population(3)
    grown.apply(birth(1, 1.0, island=2))
    assert [1 in island for island in grown.islands] == [False, False, True]


def test_islands_take_turns() -> None:
    grown = population(3)
    assert [grown.island_of(ticket, 1) for ticket in range(1, 7)] == [0, 1, 2, 0, 1, 2]


def test_children_are_counted_and_refused_ones_apart() -> None:
    grown = population()
    for id in (1, 2, 3):
        grown.apply(birth(id, -1.0))
    grown.apply(refusal(4, 0))
    view = grown.islands[0].view()
    row = list(view.ids).index(0)
    assert view.offspring[row] == 3
    assert view.refused[row] == 1


def test_what_does_not_compete_is_counted_and_not_kept() -> None:
    grown = population()
    assert not grown.apply(birth(1, None)).kept
    assert grown.evaluations == 2
    assert 1 not in grown.islands[0]


def test_the_best_and_the_seeds_stay_whatever_the_archive_wants() -> None:
    grown = population(archive=Grudging)
    for id, fitness in ((1, 1.0), (2, 5.0), (3, 2.0), (4, 3.0)):
        grown.apply(birth(id, fitness))
    assert 0 in grown.islands[0]
    assert 2 in grown.islands[0]
    assert 3 not in grown.islands[0]


def test_the_best_is_pinned_in_a_small_archive() -> None:
    grown = population()
    grown.apply(birth(1, 100.0))
    for id in range(2, 60):
        grown.apply(birth(id, float(id)))
    assert 1 in grown.islands[0]
    assert len(grown.islands[0]) <= 12


def test_a_migrant_is_a_copy_and_the_original_stays() -> None:
    wishes = Wishes()
    grown = population(2, wishes)
    grown.apply(birth(1, 1.0))
    wishes.wanted = (Move(1, 0, 1),)
    assert grown.apply(birth(2, 0.5)).moves == (Move(1, 0, 1),)
    assert [1 in island for island in grown.islands] == [True, True]


def test_a_migrant_does_not_migrate_again() -> None:
    wishes = Wishes()
    grown = population(3, wishes)
    grown.apply(birth(1, 1.0))
    wishes.wanted = (Move(1, 0, 1),)
    grown.apply(birth(2, 0.5))
    wishes.wanted = (Move(1, 1, 2),)
    assert grown.apply(birth(3, 0.5)).moves == ()
    assert 1 not in grown.islands[2]


def test_a_seed_never_migrates() -> None:
    wishes = Wishes()
    grown = population(2, wishes)
    wishes.wanted = (Move(0, 0, 1),)
    assert grown.apply(birth(1, 0.5)).moves == ()


def test_no_content_is_twice_on_an_island() -> None:
    wishes = Wishes()
    grown = population(2, wishes)
    grown.apply(birth(1, 1.0, content=b"same"))
    grown.apply(birth(2, 1.0, content=b"same", island=1))
    wishes.wanted = (Move(1, 0, 1),)
    assert grown.apply(birth(3, 0.5)).moves == ()


def test_a_reset_island_starts_from_its_founders_alone() -> None:
    wishes = Wishes()
    grown = population(2, wishes)
    grown.apply(birth(1, 9.0))
    grown.apply(birth(2, 1.0, island=1))
    wishes.wanted = (Reset(1, (1,)),)
    grown.apply(birth(3, 0.5))
    assert list(grown.islands[1].view().ids) == [1]
    assert 1 in grown.islands[0]


def test_a_lone_island_can_go_on_from_some_of_its_own() -> None:
    wishes = Wishes()
    grown = population(1, wishes)
    for id, fitness in ((1, 9.0), (2, 3.0)):
        grown.apply(birth(id, fitness))
    wishes.wanted = (Reset(0, (0, 2)),)
    grown.apply(birth(3, 0.5))
    view = grown.islands[0].view()
    assert dict(zip(view.ids.tolist(), view.seed.tolist(), strict=True)) == {0: True, 2: False}
    assert grown.best is not None
    assert grown.best.id == 1


def test_a_migrant_that_goes_on_at_a_reset_of_its_island_is_still_a_migrant() -> None:
    wishes = Wishes()
    grown = population(3, wishes)
    grown.apply(birth(1, 1.0))
    for wanted in ((Move(1, 0, 1),), (Reset(1, (0, 1)),), (Move(1, 1, 2),)):
        wishes.wanted = wanted
        moves = grown.apply(birth(grown.proposals + 1, 0.1)).moves
    assert moves == ()
    assert [1 in island for island in grown.islands] == [True, True, False]


def test_a_child_that_was_under_way_at_a_reset_does_not_settle() -> None:
    wishes = Wishes()
    grown = population(1, wishes)
    grown.apply(birth(1, 9.0))
    wishes.wanted = (Reset(0, (0,)),)
    grown.apply(birth(2, 0.5))
    assert not grown.apply(birth(3, 8.0, parent=1)).kept
    assert grown.apply(birth(4, 0.7, parent=0)).kept
    assert grown.apply(birth(5, 0.8, parent=4)).kept


def test_a_best_that_rises_by_no_more_than_the_resolution_has_not_risen() -> None:
    grown = Population(1, [KeepBest()], Line(), Wishes(), resolution=0.1)
    grown.apply(birth(0, 0.0, parent=None, gain=None))
    for id, fitness in ((1, 1.0), (2, 1.06), (3, 1.09)):
        grown.apply(birth(id, fitness))
    assert grown.islands[0].births_at_best == 2
    grown.apply(birth(4, 1.12))
    assert grown.islands[0].births_at_best == 5


@pytest.mark.parametrize("wish", [Move(7, 0, 1), Move(2, 0, 1), Reset(1, (7,)), Reset(0, (0, 7))])
def test_a_migration_that_names_who_is_not_there_is_blamed(wish: Move | Reset) -> None:
    wishes = Wishes()
    grown = population(2, wishes)
    grown.apply(birth(1, 1.0))
    grown.apply(birth(2, 1.0, island=1))
    wishes.wanted = (wish,)
    with pytest.raises(ComponentError, match="migration named individual"):
        grown.apply(birth(3, 0.5))


def test_an_improver_that_gains_nothing_is_kept_twice_in_a_row_and_no_longer() -> None:
    grown = population()
    grown.apply(birth(1, 1.0, input=0))
    for id in (2, 3, 4):
        grown.apply(birth(id, 1.0, parent=id - 1, input=id - 1, gain=0.0))
    assert [id in grown.islands[0] for id in (1, 2, 3, 4)] == [True, True, True, False]


def test_a_gain_ends_the_drift() -> None:
    grown = population()
    grown.apply(birth(1, 1.0, input=0))
    grown.apply(birth(2, 1.0, parent=1, input=1, gain=0.0))
    grown.apply(birth(3, 2.0, parent=2, input=2, gain=1.0))
    grown.apply(birth(4, 2.0, parent=3, input=3, gain=0.0))
    grown.apply(birth(5, 2.0, parent=4, input=4, gain=0.0))
    assert [id in grown.islands[0] for id in (3, 4, 5)] == [True, True, True]


def test_without_an_improver_equal_fitness_is_no_drift() -> None:
    grown = population()
    for id in range(1, 6):
        grown.apply(birth(id, 0.0, parent=id - 1, gain=0.0))
    assert all(id in grown.islands[0] for id in range(6))


def test_of_equals_the_oldest_is_the_best() -> None:
    grown = population()
    grown.apply(birth(1, 3.0))
    grown.apply(birth(2, 3.0))
    assert grown.best is not None
    assert grown.best.id == 1


def test_what_an_oracle_rejected_is_not_the_best() -> None:
    grown = population()
    grown.apply(birth(1, 3.0, valid=False))
    grown.apply(birth(2, 2.0, valid=True))
    assert grown.best is not None
    assert grown.best.id == 2


def test_the_view_cannot_be_written_to() -> None:
    view = population().islands[0].view()
    for column in (view.ids, view.fitness, view.offspring, view.novelty):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 7


def test_equal_births_give_equal_populations() -> None:
    def grown() -> list[tuple[list[int], list[float]]]:
        made = population(2)
        for id in range(1, 80):
            made.apply(birth(id, float((id * 37) % 23), parent=0, island=id % 2))
        return [(list(i.view().ids), list(i.view().fitness)) for i in made.islands]

    assert grown() == grown()
