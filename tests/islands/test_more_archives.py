"""Archives of elites, of a Pareto front and of the most novel."""

import numpy as np
import pytest
from speciate.core.errors import ComponentError
from speciate.core.slots import Archive, Newcomer, Placement
from speciate.core.testing import ArchiveContract
from speciate.core.testing.samples import view_of as view_of_members
from speciate.islands.archives import Unbounded
from speciate.islands.elites import CvtMapElites, Elites, MapElites
from speciate.islands.fronts import NoveltyArchive, ParetoFront, crowding


def contract_of(kind: type[Archive]) -> type[ArchiveContract]:
    bound = getattr(kind().options, "size", None)
    return type(f"Test{kind.__name__}", (ArchiveContract,), {"component": lambda self: kind(), "bound": bound})


for _kind in (Unbounded, MapElites, CvtMapElites, NoveltyArchive):
    globals()[f"Test{_kind.__name__}"] = contract_of(_kind)
_pareto = contract_of(ParetoFront)
# Pinned members may stand beside a full front.
_pareto.bound = 102
globals()["TestParetoFront"] = _pareto


def newcomer(id: int, fitness: float, length: int = 10, novelty: float = 0.5, **metrics: float) -> Newcomer:
    return Newcomer(id, fitness, length, novelty, metrics)


class Island:
    """An island that does what its archive says, with the best and the first pinned."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.members: list[Newcomer] = []

    def offer(self, new: Newcomer) -> Placement:
        best = max(self.members, key=lambda m: m.fitness, default=None)
        pinned = frozenset() if best is None else frozenset({best.id})
        placement = self.archive.place(view_of_members(self.members), pinned, new)
        assert not set(placement.evicted) & pinned
        if placement.kept:
            self.members = [m for m in self.members if m.id not in placement.evicted] + [new]
        elif best is None or new.fitness > best.fitness:
            self.members.append(new)
        return placement

    @property
    def ids(self) -> list[int]:
        return [member.id for member in self.members]


def grid(**options: object) -> MapElites:
    return MapElites(MapElites.Options(**options))  # type: ignore[arg-type]


def test_property_31_an_elite_is_replaced_by_a_strictly_better_one_only() -> None:
    island = Island(grid(features=("length",), widths={"length": 10}))
    assert island.offer(newcomer(0, 5.0, 11)) == Placement(True)
    assert island.offer(newcomer(1, 1.0, 25)) == Placement(True)
    assert island.offer(newcomer(2, 1.0, 29)) == Placement(False)
    assert island.offer(newcomer(3, 1.5, 29)) == Placement(True, (1,))
    assert island.ids == [0, 3]


def test_property_31_one_elite_a_cell_and_coverage_never_falls() -> None:
    archive = grid(features=("length", "novelty"), widths={"length": 50, "novelty": 0.1})
    island, rng, before = Island(archive), np.random.default_rng(0), 0
    for id in range(500):
        island.offer(newcomer(id, float(rng.normal()), int(rng.integers(1, 400)), float(rng.random())))
        cells = archive.cells(view_of_members(island.members))
        assert cells == len(island.members)
        assert cells >= before
        before = cells
    assert before > 50


def test_property_32_an_outlier_moves_nobody() -> None:
    island = Island(grid(features=("length",)))
    for k in range(50):
        island.offer(newcomer(k, 1.0 + k % 7, 100 + k))
    before = set(island.ids)
    island.offer(newcomer(99, 0.5, 100_000))
    assert set(island.ids) == before | {99}
    assert len(before) >= 10


def test_property_32_a_change_of_scale_loses_nobody() -> None:
    archive = grid(features=("length",))
    island, rng = Island(archive), np.random.default_rng(1)
    widths = set()
    for id in range(400):
        # The spread of lengths shrinks: cells must become narrower.
        length = int(1000 + rng.normal() * (500 if id < 20 else 20))
        before = set(island.ids)
        placement = island.offer(newcomer(id, float(rng.normal()), length))
        lost = before - set(island.ids)
        assert lost == set(placement.evicted)
        widths.add(archive._widths[0])
    numbers = sorted(w for w in widths if w is not None)
    assert len(numbers) > 1


def test_cells_are_split_and_never_merged() -> None:
    archive = grid(features=("length",), warmup=4)
    rng = np.random.default_rng(2)
    values = [float(v) for v in rng.normal(0, 100, 300)]
    apart: set[tuple[float, float]] = set()
    for k, value in enumerate(values):
        archive.learn((value if k < 50 else value / 50,))
        if archive._widths[0] is None:
            continue
        pairs = [(a, b) for a in values[:20] for b in values[:20]]
        assert all(archive.cell((a,)) != archive.cell((b,)) for a, b in apart)
        apart = {(a, b) for a, b in pairs if archive.cell((a,)) != archive.cell((b,))}
    assert apart


@pytest.mark.parametrize("kind", [MapElites, ParetoFront])
def test_a_feature_that_does_not_exist_is_named_with_those_that_do(kind: type[Archive]) -> None:
    options = {"features": ("depth",)} if issubclass(kind, Elites) else {"objectives": {"depth": "maximise"}}
    archive = kind(kind.Options(**options))
    with pytest.raises(ComponentError, match=r"'depth', which does not exist; there are length, .*, area"):
        archive.place(view_of_members([]), frozenset(), newcomer(0, 1.0, area=2.0))


def test_metrics_are_features_by_their_raw_values() -> None:
    island = Island(grid(features=("area",), widths={"area": 1.0}))
    for id, area in enumerate([0.0, 1.0, 2.0, 3.0, -1.0]):
        assert island.offer(newcomer(id, 1.0, area=area)).kept
    assert not island.offer(newcomer(9, 1.0, area=2.5)).kept


def test_a_voronoi_cell_outside_the_box_is_that_of_its_edge() -> None:
    archive = CvtMapElites(CvtMapElites.Options(features=("length",), bounds={"length": (0, 100)}, centroids=10))
    assert archive.cell((1e9,)) == archive.cell((100.0,))
    assert archive.cell((-5.0,)) == archive.cell((0.0,))
    assert len({archive.cell((float(v),)) for v in range(101)}) == 10


def test_a_voronoi_archive_wants_bounds_for_its_features() -> None:
    with pytest.raises(ValueError, match=r"bounds\.area = \[low, high\]"):
        CvtMapElites(CvtMapElites.Options(features=("area",)))


def test_a_front_keeps_both_ends_of_a_conflict() -> None:
    island = Island(ParetoFront())
    for id, (fitness, length) in enumerate([(1.0, 10), (2.0, 20), (3.0, 30), (2.0, 25), (2.0, 20), (3.0, 15)]):
        island.offer(newcomer(id, fitness, length))
    # 2 is dominated by 5, and stays as the island's best: 5 is no better by fitness, and younger.
    assert island.ids == [0, 2, 5]


def test_a_full_front_lets_the_most_crowded_go() -> None:
    island = Island(ParetoFront(ParetoFront.Options(size=3)))
    for id, (fitness, length) in enumerate([(0.0, 0), (10.0, 10), (5.0, 5)]):
        island.offer(newcomer(id, fitness, length))
    assert island.offer(newcomer(3, 5.5, 6)) == Placement(False)
    assert island.offer(newcomer(4, 20.0, 20)).kept
    assert {0, 4} <= set(island.ids)


def test_the_worked_example_of_crowding() -> None:
    points = np.array([[0.0, 4.0], [1.0, 3.0], [3.0, 1.0], [4.0, 0.0]])
    assert crowding(points).tolist() == [np.inf, 3 / 4 + 3 / 4, 3 / 4 + 3 / 4, np.inf]


def test_the_novelty_archive_replaces_the_least_novel() -> None:
    island = Island(NoveltyArchive(NoveltyArchive.Options(size=3, threshold=0.2)))
    for id, novelty in enumerate([0.1, 0.3, 0.15, 0.6]):
        island.offer(newcomer(id, 9.0 - id, novelty=novelty))
    assert island.ids == [0, 1, 3]
    assert island.offer(newcomer(4, 0.0, novelty=0.5)) == Placement(True, (1,))
    assert island.offer(newcomer(5, 0.0, novelty=0.5)) == Placement(False)


def test_the_unbounded_archive_keeps_everyone() -> None:
    island = Island(Unbounded())
    assert all(island.offer(newcomer(id, -float(id))) == Placement(True) for id in range(300))
