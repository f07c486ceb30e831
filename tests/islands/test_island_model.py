"""The island model holds with every selector, archive, topology and migration that is built in."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from speciate.core.population import Population
from speciate.core.records import Individual, Selection, Usage
from speciate.core.slots import Archive, Migration, Move, Placement, Reset, Topology
from speciate.core.store import Birth
from speciate.core.testing.samples import newcomer
from speciate.islands.archives import Bounded, TopPerParent, Unbounded
from speciate.islands.elites import MapElites
from speciate.islands.fronts import NoveltyArchive, ParetoFront
from speciate.islands.migration import Copying
from speciate.islands.needs import ByDiversity, ByStagnation
from speciate.islands.resets import ResetWorseHalf, Splitting
from speciate.islands.selectors import Novel
from speciate.islands.selectors_classic import FitnessProportional
from speciate.islands.topologies import FullyConnected, RandomRegular, Ring, Star, Torus
from test_selectors import view_of

SMALL: dict[str, Callable[[], Archive]] = {
    "bounded": lambda: Bounded(Bounded.Options(size=8)),
    "unbounded": Unbounded,
    "map-elites": MapElites,
    "top-per-parent": lambda: TopPerParent(TopPerParent.Options(size=12, children=2)),
    "pareto-front": lambda: ParetoFront(ParetoFront.Options(size=8)),
    "novelty-archive": lambda: NoveltyArchive(NoveltyArchive.Options(size=8)),
}
EAGER: dict[str, Callable[[], Migration]] = {
    "copying": lambda: Copying(Copying.Options(interval=5, stagnation=20)),
    "reset-worse-half": lambda: ResetWorseHalf(ResetWorseHalf.Options(interval=12)),
    "splitting": lambda: Splitting(Splitting.Options(interval=12)),
    "by-stagnation": lambda: ByStagnation(ByStagnation.Options(interval=3, stagnation=3)),
    "by-diversity": lambda: ByDiversity(ByDiversity.Options(interval=3, recent=3, floor=1.0)),
}
TOPOLOGIES: list[type[Topology]] = [Ring, Star, Torus, FullyConnected, RandomRegular]
Step = tuple[Population, Birth, tuple[Move | Reset, ...], list[list[int]]]


def birth(population: Population, id: int, island: int, parent: int | None, rng: np.random.Generator) -> Birth:
    """Return a birth; every tenth program has the content of one on another island."""
    others = population.islands[(island + 1) % 3].contents - population.islands[island].contents
    content = b"%d" % id if not others or rng.random() > 0.1 else max(others)
    generation = 0 if parent is None else population.generations[parent] + 1
    fitness, length = float(np.round(rng.normal() + id / 50, 2)), int(rng.integers(10, 900))
    novelty = float(rng.random())
    individual = Individual(
        id, f"p{id}", island, parent, (), None, "toy", generation, f"e{id}", fitness, novelty
    )  # fmt: skip
    selection = Selection(id, island, parent, (), "toy", {})
    return Birth(selection, "toy", None, content, Usage(), (), individual, {"score": fitness}, length, gain=1.0)


def members(population: Population) -> list[list[int]]:
    """Return who is on each island."""
    return [sorted(island.view().ids.tolist()) for island in population.islands]


def simulate(archive: str, migration: str, topology: Topology, births: int = 150) -> Iterator[Step]:
    """Yield each step of a run on three islands, with who was where before."""
    rng = np.random.default_rng(7)
    population = Population(1, [SMALL[archive]() for _ in range(3)], topology, EAGER[migration]())
    chooser = Novel()
    for id in range(births):
        before = members(population)
        island = 0 if id == 0 else population.island_of(id, 1)
        parent = None if id == 0 else chooser.select(population.islands[island].view(), rng)
        one = birth(population, id, island, parent, rng)
        applied = population.apply(one)
        yield population, one, applied.moves, before


PAIRS = [(archive, migration) for archive in SMALL for migration in EAGER]


@pytest.mark.parametrize(("archive", "migration"), PAIRS)
def test_the_rules_of_the_island_model_hold(archive: str, migration: str) -> None:
    acted = 0
    for population, one, moves, before in simulate(archive, migration, Ring()):
        home = one.selection.island
        acted += len(moves)
        for island in population.islands:
            view = island.view()
            number = island.number
            contents = [island.member(int(id)).content for id in view.ids]
            assert len(set(contents)) == len(contents), "property 29: a content twice on an island"
            assert set(view.ids[view.seed].tolist()) >= island.seeds, "property 34: a seed was evicted"
            assert island.best in view.ids, "property 34: the best was evicted"
            assert view.fitness.max() == island.best_fitness, "property 34: who stays is not the best"
            arrived = set(view.ids.tolist()) - set(before[number]) - {one.selection.ticket}
            sent = {m.individual for m in moves if isinstance(m, Move) and m.target == number}
            founded = {f for m in moves if isinstance(m, Reset) and m.island == number for f in m.founders}
            assert arrived <= sent | founded, "property 28: somebody came without a migration"
            if one.selection.ticket in view.ids and number != home and one.selection.parent is not None:
                assert one.selection.ticket in sent | founded, "property 28: an offspring left its parent's island"
        for move in moves:
            if isinstance(move, Move):
                assert population.generations[move.individual] > 0, "property 30: a seed migrated"
    assert acted > 0, "nothing ever happened"


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_property_29_migration_copies_and_a_migrant_goes_no_further(topology: type[Topology]) -> None:
    arrivals: set[tuple[int, int]] = set()
    seen = 0
    for _, _, moves, _ in simulate("unbounded", "copying", topology()):
        for move in (m for m in moves if isinstance(m, Move)):
            assert (move.individual, move.source) not in arrivals, "a migrant migrated again"
            assert move.target in topology().targets(move.source, 3)
            arrivals.add((move.individual, move.target))
            seen += 1
    assert seen > 3


def test_property_29_the_number_of_programs_never_falls_by_migration() -> None:
    for population, _, moves, before in simulate("unbounded", "by-stagnation", FullyConnected()):
        if moves:
            assert {id for ids in before for id in ids} <= {id for ids in members(population) for id in ids}


@pytest.mark.parametrize("migration", EAGER)
def test_property_30_no_seed_ever_migrates(migration: str) -> None:
    moved = 0
    for population, _, moves, _ in simulate("unbounded", migration, FullyConnected()):
        travelled = [move.individual for move in moves if isinstance(move, Move)]
        moved += len(moves)
        assert all(population.generations[id] > 0 for id in travelled)
    assert moved > 0


@pytest.mark.parametrize("archive", SMALL)
def test_property_34_neither_the_best_nor_the_seeds_are_evicted(archive: str) -> None:
    for population, _, _, _ in simulate(archive, "by-stagnation", Ring()):
        for island in population.islands:
            view = island.view()
            assert 0 in view.ids
            assert island.best in view.ids


def test_property_34_no_parent_has_more_than_its_best_children() -> None:
    fullest = 0
    for population, _, _, _ in simulate("top-per-parent", "copying", Ring(), 300):
        for island in population.islands:
            view = island.view()
            parents, counts = np.unique(view.parent[~view.seed], return_counts=True)
            assert not len(parents) or counts.max() <= 2
            fullest = max(fullest, len(view))
    assert fullest >= 12


def test_property_28_islands_have_equal_shares() -> None:
    *_, (population, _, _, _) = simulate("unbounded", "by-diversity", Ring())
    births = [island.births for island in population.islands]
    assert max(births) <= 2 * min(births)


@pytest.mark.parametrize(("archive", "migration"), PAIRS)
def test_property_35_the_population_is_a_fold_over_births(archive: str, migration: str) -> None:
    steps = list(simulate(archive, migration, Ring(), 80))
    again = Population(1, [SMALL[archive]() for _ in range(3)], Ring(), EAGER[migration]())
    for _, one, _, _ in steps:
        again.apply(one)
    assert members(again) == members(steps[-1][0])


def test_fault_4_negative_fitness_is_no_error_and_the_better_is_preferred() -> None:
    p = FitnessProportional().probabilities(view_of([-2.0, -1.0]))
    assert p[1] > p[0] >= 0


def test_fault_10_a_front_keeps_no_one_who_ties_in_one_objective_and_loses_in_the_other() -> None:
    archive, view = ParetoFront(), view_of([])
    archive.place(view, frozenset(), newcomer(10, 1.0, 50))
    view = view_of([1.0])
    assert archive.place(view, frozenset(), newcomer(11, 0.5, 50)) == Placement(False)
    assert archive.place(view, frozenset(), newcomer(12, 2.0, 50)) == Placement(True, (10,))


def sizes(steps: Sequence[Step]) -> list[int]:
    return [len(ids) for ids in members(steps[-1][0])]


def test_a_bounded_archive_keeps_its_size_with_migrants() -> None:
    steps = list(simulate("bounded", "copying", FullyConnected()))
    # The best and the seeds stay beside the size.
    assert max(sizes(steps)) <= 8 + 2
