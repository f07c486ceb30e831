"""Neighbourhoods of islands."""

import pytest
from speciate.core.slots import Topology
from speciate.core.testing import TopologyContract
from speciate.islands.topologies import NoNeighbours, RandomRegular, Star, Torus


def contract_of(kind: type[Topology]) -> type[TopologyContract]:
    return type(f"Test{kind.__name__}", (TopologyContract,), {"component": lambda self: kind()})


for _kind in (NoNeighbours, Star, Torus, RandomRegular):
    globals()[f"Test{_kind.__name__}"] = contract_of(_kind)


def reached(topology: Topology, count: int) -> set[int]:
    """Return the islands that news from island 0 gets to."""
    found, todo = {0}, [0]
    while todo:
        for target in topology.targets(todo.pop(), count):
            if target not in found:
                found.add(target)
                todo.append(target)
    return found


def test_nobody_lies_next_to_anybody() -> None:
    assert NoNeighbours().targets(0, 5) == ()


def test_a_star_has_a_hub() -> None:
    assert Star().targets(0, 4) == (1, 2, 3)
    assert Star().targets(3, 4) == (0,)
    assert Star().targets(0, 1) == ()


def test_a_torus_has_four_neighbours_around_the_edges() -> None:
    # 0 1 2 / 3 4 5 / 6 7 8
    assert Torus().targets(0, 9) == (1, 2, 3, 6)
    assert Torus().targets(4, 9) == (1, 3, 5, 7)
    assert Torus().targets(0, 7) == (1, 6)


@pytest.mark.parametrize("count", [2, 3, 5, 8, 12, 30])
def test_a_random_regular_graph_is_regular_and_connected(count: int) -> None:
    topology = RandomRegular(RandomRegular.Options(degree=3))
    targets = [topology.targets(island, count) for island in range(count)]
    degree = min(3, count - 1)
    assert {len(t) for t in targets} == {degree}
    assert all(sum(island in t for t in targets) == degree for island in range(count))
    assert len(reached(topology, count)) == count


def test_another_seed_draws_another_graph() -> None:
    graphs = [
        tuple(RandomRegular(RandomRegular.Options(seed=seed)).targets(i, 20) for i in range(20)) for seed in (0, 0, 1)
    ]
    assert graphs[0] == graphs[1]
    assert graphs[0] != graphs[2]


@pytest.mark.parametrize("kind", [Star, Torus, RandomRegular])
def test_news_gets_everywhere(kind: type[Topology]) -> None:
    for count in (2, 3, 6, 7, 16):
        assert len(reached(kind(), count)) == count
