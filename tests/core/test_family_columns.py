"""The view's columns on families and on tickets in flight: what they count, with any workers and after a stop."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from speciate.core.budget import Budget
from speciate.core.population import Population
from speciate.core.slots import Move, Reset, Selector
from speciate.core.view import IslandView
from test_population import Wishes, birth, population, refusal
from toy import run_toy, toy_problem

COLUMNS = ("ids", "fitness", "parent", "best_child", "visits", "in_flight")


class Watching(Selector):
    """Prefers whose children are good and who is not busy, and writes down what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, ...]] = []

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        order = np.argsort(view.ids)
        self.seen.append((view.island, *(getattr(view, name)[order].tobytes() for name in COLUMNS)))
        worth = np.fmax(view.fitness, view.best_child) + 1.0 / (1 + view.visits) - view.in_flight
        weights = np.exp(worth - worth.max()) + 1e-6
        return int(rng.choice(view.ids, p=weights / weights.sum()))


class Flying(Selector):
    """Draws alike and writes down how many tickets are in flight."""

    def __init__(self) -> None:
        super().__init__()
        self.flying: list[int] = []

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        self.flying.append(int(view.in_flight.sum()))
        return int(rng.choice(view.ids))


def seen(folder: Path, evaluations: int, **options: int) -> tuple[str, list[tuple[int, ...]]]:
    """Return the digest of a toy run and what its selectors saw, island by island."""
    made: list[Watching] = []

    def selector() -> Watching:
        made.append(Watching())
        return made[-1]

    problem = toy_problem(folder.parent / "problem")
    digest, _ = asyncio.run(run_toy(problem, folder, Budget(evaluations=evaluations), selector=selector, **options))
    return digest, [row for watching in made for row in watching.seen]


def row(grown: Population, id: int, column: str, island: int = 0) -> float:
    view = grown.islands[island].view()
    return float(getattr(view, column)[view.ids == id][0])


@pytest.mark.parametrize("islands", [1, 3])
def test_selectors_see_the_same_with_any_number_of_workers(tmp_path: Path, islands: int) -> None:
    first, *others = (seen(tmp_path / f"run-{workers}", 60, workers=workers, islands=islands) for workers in (1, 2, 7))
    assert len(first[1]) >= 60
    assert all(other == first for other in others)


@pytest.mark.parametrize("evaluations", [1, 2, 9, 30, 59])
def test_a_resumed_run_sees_what_the_uninterrupted_one_saw(tmp_path: Path, evaluations: int) -> None:
    whole = seen(tmp_path / "whole", 60)
    seen(tmp_path / "parts", evaluations)
    resumed = seen(tmp_path / "parts", 60)
    assert resumed[0] == whole[0]
    assert resumed[1] == whole[1][-len(resumed[1]) :]
    assert len(resumed[1]) < len(whole[1]) or evaluations == 1


def test_no_more_than_the_lag_is_in_flight(tmp_path: Path) -> None:
    made = Flying()
    problem = toy_problem(tmp_path / "problem")
    asyncio.run(run_toy(problem, tmp_path / "run", Budget(evaluations=40), lag=5, selector=lambda: made))
    assert made.flying[:5] == [0, 1, 2, 3, 4]
    assert max(made.flying) == 4


def test_a_ticket_is_in_flight_from_its_selection_to_its_commit() -> None:
    grown = population()
    grown.select(0, 0)
    grown.select(0, 0)
    assert row(grown, 0, "in_flight") == 2
    grown.apply(birth(1, 1.0))
    grown.apply(refusal(2, 0))
    assert row(grown, 0, "in_flight") == 0


def test_the_parent_of_a_seed_is_minus_one() -> None:
    grown = population()
    grown.apply(birth(1, 1.0))
    assert row(grown, 0, "parent") == -1
    assert row(grown, 1, "parent") == 0


def test_the_best_child_counts_whether_or_not_it_is_kept() -> None:
    grown = population()
    assert np.isnan(row(grown, 0, "best_child"))
    for id, fitness in enumerate((None, -5.0, -2.0, -9.0), 1):
        grown.apply(birth(id, fitness))
    assert row(grown, 0, "best_child") == -2.0
    for id in range(10, 30):
        grown.apply(birth(id, float(id)))
    assert 2 not in grown.islands[0]
    assert row(grown, 0, "best_child") == 29.0


def test_a_failed_child_is_no_best_child() -> None:
    grown = population()
    grown.apply(birth(1, None))
    assert np.isnan(row(grown, 0, "best_child"))


def test_visits_count_for_all_ancestors_through_those_that_left() -> None:
    grown = population()
    for id in (1, 2, 3):
        grown.apply(birth(id, float(id), parent=id - 1))
    assert [row(grown, id, "visits") for id in (0, 1, 2, 3)] == [3, 2, 1, 0]
    for id in range(10, 30):
        grown.apply(birth(id, float(id)))
    assert 2 not in grown.islands[0]
    before = row(grown, 0, "visits")
    grown.apply(birth(30, 50.0, parent=3))
    grown.apply(refusal(31, 30))
    assert row(grown, 0, "visits") == before + 2


def test_a_founder_that_comes_to_its_descendants_is_counted_from_then_on() -> None:
    migration = Wishes()
    grown = population(2, migration)
    for id in (1, 2):
        grown.apply(birth(id, float(id), parent=id - 1))
    migration.wanted = (Move(2, 0, 1),)
    grown.apply(birth(3, 0.5, parent=2))
    grown.apply(birth(4, 3.0, parent=2, island=1))
    assert row(grown, 0, "visits", 1) == 1
    migration.wanted = (Move(1, 0, 1),)
    grown.apply(birth(5, 4.0, parent=4, island=1))
    grown.apply(birth(6, 5.0, parent=5, island=1))
    assert row(grown, 1, "visits", 1) == 1
    assert row(grown, 0, "visits", 1) == 3


def test_a_reset_forgets_families_and_keeps_what_is_in_flight() -> None:
    migration = Wishes()
    grown = population(2, migration)
    grown.apply(birth(1, 2.0))
    grown.select(1, 0)
    grown.select(1, 0)
    migration.wanted = (Reset(1, (0, 1)),)
    grown.apply(birth(2, 1.0))
    assert row(grown, 0, "visits", 1) == 0
    assert row(grown, 0, "in_flight", 1) == 2
    grown.apply(birth(3, 1.0, island=1))
    assert row(grown, 0, "in_flight", 1) == 1
