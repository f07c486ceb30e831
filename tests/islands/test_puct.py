"""PUCT as in TTT-Discover: worked examples, lineages, and a batch of tickets in flight."""

import dataclasses
import math

import numpy as np
import pytest
from speciate.core.testing.samples import island_view
from speciate.core.view import IslandView
from speciate.islands.selectors_puct import Puct, busy_lineages, linear_prior, puct_scores
from test_selectors import view_of


def family(fitness: list[float], parents: list[int], **columns: list[float]) -> IslandView:
    """Return a view with ids from 10 on; `parents` are -1 for seeds."""
    given = {
        name: np.array(values, np.float64 if name == "best_child" else np.int64) for name, values in columns.items()
    }
    parent = np.array(parents)
    return dataclasses.replace(view_of(fitness), parent=parent, seed=parent == -1, **given)


def drawn(view: IslandView) -> int:
    return Puct().select(view, np.random.default_rng(0))


def test_property_12_puct_counts_the_best_child_once_visited() -> None:
    own, prior = np.array([1.0, 2.0]), np.array([0.5, 0.5])
    unvisited = puct_scores(own, np.array([np.nan, np.nan]), np.array([0, 0]), 0, prior, 1.0)
    assert unvisited == pytest.approx([1.0 + 0.5, 2.0 + 0.5])
    visited = puct_scores(own, np.array([3.0, np.nan]), np.array([1, 0]), 1, prior, 1.0)
    assert visited == pytest.approx([3.0 + 0.5 * math.sqrt(2) / 2, 2.0 + 0.5 * math.sqrt(2)])


def test_property_12_a_failed_rollout_lowers_the_score() -> None:
    own, prior = np.array([1.0, 2.0, 0.0]), linear_prior(np.array([1, 0, 2]))
    nan = np.full(3, np.nan)
    before = puct_scores(own, nan, np.array([1, 4, 2]), 7, prior, 1.0)
    after = puct_scores(own, nan, np.array([2, 4, 2]), 8, prior, 1.0)
    assert after[0] < before[0]


def test_property_12_a_parent_whose_children_are_good_is_drawn_before_a_better_one() -> None:
    barren = family([1.0, 0.9], [-1, -1], visits=[3, 3], best_child=[0.2, np.nan])
    assert drawn(barren) == 11
    fruitful = family([1.0, 0.9], [-1, -1], visits=[3, 3], best_child=[np.nan, 2.0])
    assert drawn(fruitful) == 11


def test_puct_equals_the_value_worked_out_by_hand() -> None:
    # Ranks 1, 0, 2 of three: P = 2/6, 3/6, 1/6; R spans 1; T is the seed's visits, 8.
    view = family([0.5, 1.0, 0.0], [-1, 10, 10], visits=[8, 5, 2], best_child=[1.0, 0.4, 0.3])
    by_hand = [1.0 + 2 / 6 * 3 / 9, 0.4 + 3 / 6 * 3 / 6, 0.3 + 1 / 6 * 3 / 3]
    scores = puct_scores(view.fitness, view.best_child, view.visits, 8, linear_prior(np.array([1, 0, 2])), 1.0)
    assert scores == pytest.approx(by_hand, abs=1e-12)
    assert drawn(view) == 10


def test_the_prior_falls_linearly_with_the_rank() -> None:
    assert linear_prior(np.array([1, 0, 2])) == pytest.approx([2 / 6, 3 / 6, 1 / 6])


def test_ancestors_and_descendants_of_a_ticket_in_flight_are_busy() -> None:
    #      10          15
    #    11  13
    #    12  14
    parents = [-1, 10, 11, 10, 13, -1]
    view = family([0.0] * 6, parents, in_flight=[0, 1, 0, 0, 0, 0])
    assert busy_lineages(view).tolist() == [True, True, True, False, False, False]
    assert busy_lineages(family([0.0] * 6, parents, in_flight=[0, 0, 0, 0, 1, 0])).tolist() == [
        True, False, False, True, True, False,
    ]  # fmt: skip
    assert busy_lineages(family([0.0] * 6, parents, in_flight=[1, 0, 0, 0, 0, 0])).sum() == 5


def test_a_lineage_is_followed_to_any_depth_and_whatever_the_order_of_the_rows() -> None:
    parents = [-1, *range(10, 10 + 299)]
    view = family([0.0] * 300, parents, in_flight=[1] + [0] * 299)
    assert busy_lineages(view).all()
    turn = np.random.default_rng(0).permutation(300)
    flags = {name: getattr(view, name)[turn] for name in ("ids", "parent", "in_flight")}
    turned = dataclasses.replace(view, **flags)
    assert busy_lineages(turned).all()


def test_property_13_a_batch_holds_no_two_of_one_lineage() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        parents = [-1] * 6 + [10 + int(rng.integers(0, child)) for child in range(6, 40)]
        view = family(list(rng.normal(size=40)), parents, visits=list(rng.integers(0, 9, 40)))
        flying = np.zeros(40, np.int64)
        batch: list[int] = []
        for _ in range(6):
            now = dataclasses.replace(view, in_flight=flying.copy())
            if busy_lineages(now).all():
                break
            batch.append(drawn(now))
            flying[batch[-1] - 10] += 1
        lines = {id: line_of(id, parents) for id in batch}
        assert len(batch) > 1
        assert len(set(batch)) == len(batch)
        assert not any(a != b and a in lines[b] for a in batch for b in batch)


def line_of(id: int, parents: list[int]) -> set[int]:
    line = {id}
    while (id := parents[id - 10]) != -1:
        line.add(id)
    return line


def test_with_no_lineage_free_the_least_busy_are_drawn() -> None:
    view = family([1.0, 2.0, 3.0], [-1, 10, 11], in_flight=[1, 1, 2])
    assert drawn(view) in (10, 11)


def test_a_large_view_is_searched_in_the_order_of_scores() -> None:
    view = island_view(1000, 3)
    free = ~busy_lineages(view)
    assert free[view.ids == drawn(view)].all()
    assert 0 < free.sum() < 1000
