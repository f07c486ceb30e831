"""Each choice of inspirations does what it says."""

import numpy as np
import pytest
from speciate.core.slots import Inspirations
from speciate.core.testing import InspirationsContract
from speciate.islands.inspirations import (
    BestInspirations,
    DiverseInspirations,
    MixedInspirations,
    NearestBetter,
    UniformInspirations,
)
from test_selectors import view_of

RNG = np.random.default_rng


def contract_of(kind: type[Inspirations]) -> type[InspirationsContract]:
    return type(f"Test{kind.__name__}", (InspirationsContract,), {"component": lambda self: kind()})


for _kind in (UniformInspirations, BestInspirations, DiverseInspirations, NearestBetter, MixedInspirations):
    globals()[f"Test{_kind.__name__}"] = contract_of(_kind)


def test_the_best_come_first_and_the_older_of_equals_before_the_younger() -> None:
    view = view_of([1.0, 5.0, 3.0, 5.0, 4.0])
    assert BestInspirations().choose(view, 14, 3, RNG(0)) == (11, 13, 12)


def test_nearest_better_climbs_from_the_parent() -> None:
    view = view_of([1.0, 5.0, 3.0, 2.0, 4.0])
    assert NearestBetter().choose(view, 13, 2, RNG(0)) == (12, 14)
    assert NearestBetter().choose(view, 11, 2, RNG(0)) == (14, 12)
    assert NearestBetter().choose(view, 14, 3, RNG(0)) == (11, 12, 13)


def test_uniform_inspirations_are_drawn_alike() -> None:
    rng, view = RNG(0), view_of([1.0, 2.0, 3.0, 4.0])
    drawn = [UniformInspirations().choose(view, 10, 1, rng)[0] for _ in range(3000)]
    assert [drawn.count(id) / 3000 for id in (11, 12, 13)] == pytest.approx([1 / 3] * 3, abs=0.03)


def test_diverse_inspirations_follow_novelty() -> None:
    rng, view = RNG(0), view_of([1.0] * 4, novelty=[0.9, 0.1, 0.2, 0.7])
    drawn = [DiverseInspirations().choose(view, 10, 1, rng)[0] for _ in range(3000)]
    assert [drawn.count(id) / 3000 for id in (11, 12, 13)] == pytest.approx([0.1, 0.2, 0.7], abs=0.03)


def test_mixed_inspirations_begin_with_one_of_the_best_and_are_not_always_the_same() -> None:
    view = view_of([float(k) for k in range(40)], novelty=[0.5] * 40)
    chosen = [MixedInspirations().choose(view, 10, 3, RNG(seed)) for seed in range(50)]
    assert all(first >= 46 for first, *_ in chosen)
    assert len({second for _, second, _ in chosen}) > 10
    assert len(set(chosen)) > 25


@pytest.mark.parametrize("kind", [BestInspirations, DiverseInspirations, MixedInspirations, NearestBetter])
def test_an_island_of_one_inspires_nobody(kind: type[Inspirations]) -> None:
    assert kind().choose(view_of([1.0]), 10, 3, RNG(0)) == ()


def test_no_inspiration_occurs_twice_in_a_thousand_draws() -> None:
    view = view_of([-10.0, -5.0, 3.0, 14.0])
    for kind in (UniformInspirations, DiverseInspirations, MixedInspirations):
        for seed in range(250):
            chosen = kind().choose(view, 12, 3, RNG(seed))
            assert sorted(chosen) == [10, 11, 13]
