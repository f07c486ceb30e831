"""Selectors: worked examples, and the properties every one of them must have."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from speciate.core.view import IslandView
from speciate.islands.selectors import Greedy, Novel, PowerLaw, Shinka, Uniform, Weighted


def view_of(
    fitness: list[float],
    offspring: list[int] | None = None,
    refused: list[int] | None = None,
    novelty: list[float] | None = None,
) -> IslandView:
    n = len(fitness)
    zeros = np.zeros(n, np.int64)
    columns: dict[str, NDArray[np.generic]] = {
        "ids": np.arange(10, 10 + n),
        "fitness": np.array(fitness, float),
        "offspring": np.array(offspring or zeros),
        "refused": np.array(refused or zeros),
        "generation": zeros,
        "novelty": np.array(novelty or np.ones(n), float),
        "length": zeros,
        "seed": np.zeros(n, bool),
        "migrant": np.zeros(n, bool),
        "parent": np.full(n, -1),
        "best_child": np.full(n, np.nan),
        "visits": np.array(offspring or zeros) + np.array(refused or zeros),
        "in_flight": zeros,
    }
    for column in columns.values():
        column.flags.writeable = False
    return IslandView(0, **columns)  # type: ignore[arg-type]


WEIGHTED = [Uniform, PowerLaw, Shinka, Novel]
UGLY = [[-10.0, -5.0, 3.0, 14.0], [0.0] * 5, [7.0], [1e300, -1e300, 0.0], [-1e-300, 1e-300], [1.0, 1.0, 1.0, 2.0]]


@pytest.mark.parametrize("kind", WEIGHTED)
@pytest.mark.parametrize("fitness", UGLY, ids=str)
def test_property_03_probabilities_are_probabilities(kind: type[Weighted], fitness: list[float]) -> None:
    p = kind().probabilities(view_of(fitness))
    assert p.shape == (len(fitness),)
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [PowerLaw, Shinka, Novel])
def test_property_02_probability_does_not_fall_with_fitness(kind: type[Weighted]) -> None:
    p = kind().probabilities(view_of([1.0, 2.0, 3.0, 4.0, 10.0]))
    assert (np.diff(p) >= 0).all()
    assert p[-1] > p[0]


@pytest.mark.parametrize("kind", [Shinka, Novel])
def test_property_01_probability_falls_with_offspring(kind: type[Weighted]) -> None:
    p = kind().probabilities(view_of([1.0] * 4, offspring=[0, 1, 2, 9]))
    assert (np.diff(p) < 0).all()


def test_refused_offspring_are_tries_too() -> None:
    p = Novel().probabilities(view_of([1.0] * 3, refused=[0, 1, 50]))
    assert (np.diff(p) < 0).all()
    q = Shinka().probabilities(view_of([1.0] * 3, refused=[0, 1, 50]))
    assert q == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("kind", [Shinka, Novel])
@pytest.mark.parametrize(("scale", "offset"), [(100.0, -7.0), (0.01, 3.0)])
def test_property_04_weighted_is_invariant_to_affine_scores(kind: type[Weighted], scale: float, offset: float) -> None:
    fitness = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    plain = kind().probabilities(view_of(list(fitness)))
    assert kind().probabilities(view_of(list(scale * fitness + offset))) == pytest.approx(plain)


def test_property_05_the_worked_example_of_shinka() -> None:
    # F = 1, 2, 4; median 2, deviations 1, 0, 2, MAD 1; children 0, 1, 3; lambda 10.
    weights = [
        1 / (1 + math.exp(10.0)) / 1,
        1 / (1 + math.exp(0.0)) / 2,
        1 / (1 + math.exp(-20.0)) / 4,
    ]
    p = Shinka().probabilities(view_of([1.0, 2.0, 4.0], offspring=[0, 1, 3]))
    assert p == pytest.approx(np.array(weights) / sum(weights), abs=1e-12)


def test_novel_weighs_shinka_by_novelty() -> None:
    p = Novel(Novel.Options(pivot=0.5, floor=0.0, novelty=1.0)).probabilities(
        view_of([1.0] * 3, novelty=[0.1, 0.2, 0.7])
    )
    assert p == pytest.approx([0.1, 0.2, 0.7])
    same = Novel(Novel.Options(pivot=0.5, floor=0.0, novelty=0.0)).probabilities(
        view_of([1.0, 2.0, 4.0], offspring=[0, 1, 3])
    )
    assert same == pytest.approx(Shinka().probabilities(view_of([1.0, 2.0, 4.0], offspring=[0, 1, 3])))


def test_property_06_a_power_of_0_is_uniform_and_a_large_one_is_greedy() -> None:
    view = view_of([3.0, 9.0, 1.0])
    assert PowerLaw(PowerLaw.Options(alpha=0)).probabilities(view) == pytest.approx([1 / 3] * 3)
    assert PowerLaw(PowerLaw.Options(alpha=200)).probabilities(view) == pytest.approx([0, 1, 0], abs=1e-12)


def test_the_worked_example_of_the_power_law() -> None:
    p = PowerLaw().probabilities(view_of([3.0, 9.0, 1.0]))
    assert p == pytest.approx(np.array([1 / 2, 1.0, 1 / 3]) / (11 / 6))


def test_property_09_greedy_returns_the_best_and_of_equals_the_oldest() -> None:
    assert Greedy().select(view_of([0.2, 0.5, 0.35]), np.random.default_rng(0)) == 11
    assert Greedy().select(view_of([0.5, 0.1, 0.5]), np.random.default_rng(0)) == 10


@pytest.mark.parametrize("kind", WEIGHTED)
def test_draws_follow_the_probabilities(kind: type[Weighted]) -> None:
    view = view_of([1.0, 2.0, 2.5, 4.0], offspring=[0, 1, 0, 5], novelty=[0.5, 1.0, 0.2, 0.9])
    rng = np.random.default_rng(0)
    draws = np.array([kind().select(view, rng) for _ in range(4000)])
    shares = np.array([(draws == id).mean() for id in view.ids])
    assert shares == pytest.approx(kind().probabilities(view), abs=0.03)


@pytest.mark.parametrize("kind", [*WEIGHTED, Greedy])
@pytest.mark.parametrize("fitness", UGLY, ids=str)
def test_property_16_only_members_are_drawn(kind: type[Weighted], fitness: list[float]) -> None:
    view = view_of(fitness)
    rng = np.random.default_rng(1)
    assert {kind().select(view, rng) for _ in range(50)} <= set(view.ids.tolist())
