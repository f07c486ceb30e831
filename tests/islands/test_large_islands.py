"""Selection among many draws as it does among few, and what it remembers never shows."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import median_abs_deviation
from speciate.core.testing.samples import island_view
from speciate.islands.selectors import LARGE, Novel, PowerLaw, Shinka, Uniform, Weighted
from speciate.islands.spread import SortedValues, median, median_deviation, quantile

N = LARGE + 500
VALUES = st.lists(st.floats(-1e6, 1e6, allow_nan=False) | st.sampled_from([0.0, 1.0]), min_size=1, max_size=60)


@settings(max_examples=200, deadline=None)
@given(values=VALUES, q=st.floats(0, 1))
def test_order_statistics_are_those_of_numpy_and_scipy(values: list[float], q: float) -> None:
    ordered = np.sort(np.array(values))
    assert median(ordered) == pytest.approx(np.median(ordered))
    assert quantile(ordered, q) == pytest.approx(np.quantile(ordered, q), rel=1e-9, abs=1e-9)
    expected = median_abs_deviation(ordered)
    assert median_deviation(ordered, float(np.median(ordered))) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_mended_values_are_sorted_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kept, values = SortedValues(), rng.integers(0, 50, 300).astype(float)
    for _ in range(40):
        step = rng.integers(4)
        if step == 0:
            values = np.append(values, rng.normal(size=rng.integers(1, 90)))
        elif step == 1 and len(values) > 10:
            values = values[: len(values) - int(rng.integers(1, 9))]
        elif step == 2:
            values = values.copy()
            values[rng.integers(len(values), size=5)] = rng.normal(size=5)
        else:
            values[rng.integers(len(values))] = 7.0
        assert np.array_equal(kept(values), np.sort(values))


def test_huge_values_have_a_scale() -> None:
    ordered = np.array([-1.5e308, -1e308, 1e308, 1.5e308])
    assert median(ordered) == 0.0
    assert np.isfinite(median_deviation(ordered, 0.0))


@pytest.mark.parametrize("kind", [Novel, Shinka, PowerLaw, Uniform])
def test_draws_among_many_follow_the_probabilities(kind: type[Weighted]) -> None:
    view = island_view(N, 3)
    p = kind().probabilities(view)
    rng, selector, draws = np.random.default_rng(0), kind(), 6000
    row_of = {int(id): row for row, id in enumerate(view.ids)}
    drawn = np.bincount([row_of[selector.select(view, rng)] for _ in range(draws)], minlength=N)
    # Members in the order of probability, in ten groups of about equal shares.
    order = np.argsort(-p, kind="stable")
    groups = np.minimum((np.cumsum(p[order]) * 10).astype(int), 9)
    expected = np.bincount(groups, p[order], minlength=10)
    shares = np.bincount(groups, drawn[order], minlength=10) / draws
    assert shares == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("kind", [Novel, Shinka, PowerLaw])
def test_memory_of_earlier_views_does_not_show(kind: type[Weighted]) -> None:
    view, selector = island_view(N, 4), kind()
    rng = np.random.default_rng(1)
    for step in range(12):
        changed = view.fitness.copy()
        changed[rng.integers(N, size=3)] = rng.normal(size=3)
        view = dataclasses.replace(view, fitness=changed)
        drawn = selector.select(view, np.random.default_rng(step))
        assert drawn == kind().select(view, np.random.default_rng(step))


def test_a_view_whose_columns_change_in_place_is_seen_as_it_is() -> None:
    fitness = np.zeros(N)
    view = dataclasses.replace(island_view(N, 5), fitness=fitness)
    selector = PowerLaw(PowerLaw.Options(alpha=300))
    rng = np.random.default_rng(0)
    for row in (7, 4000, 12):
        fitness[:] = 0.0
        fitness[row] = 1.0
        assert selector.select(view, rng) == view.ids[row]


def test_where_nobody_has_a_weight_to_speak_of_somebody_is_drawn() -> None:
    view = dataclasses.replace(island_view(N, 6), offspring=np.full(N, 10**15))
    assert Shinka().select(view, np.random.default_rng(0)) in view.ids
