"""Statistics agree with worked examples, and their intervals cover what they should."""

import numpy as np
import pytest
from scipy.stats import trim_mean
from speciate.islands.statistics import (
    Interval,
    anytime_area,
    anytime_curve,
    caution,
    holm,
    iqm,
    paired_difference,
    paired_p_value,
    performance_profile,
    probability_of_improvement,
    rank_intervals,
    stratified_bootstrap,
    verdict,
)

RNG = np.random.default_rng


def test_the_interquartile_mean_is_the_mean_of_the_middle_half() -> None:
    scores = RNG(0).normal(size=(3, 40))
    assert iqm(scores) == pytest.approx(trim_mean(scores.ravel(), 0.25))
    assert iqm(np.array([[0.0, 1.0, 2.0, 100.0]])) == 1.5
    # Of five, the second and the fourth count three quarters: (0.75 * 1 + 2 + 0.75 * 3) / 2.5
    assert iqm(np.array([[0.0, 1.0, 2.0, 3.0, 99.0]])) == pytest.approx(2.0)
    assert iqm(np.array([[7.0]])) == 7.0


def test_a_bootstrap_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng, covered = RNG(1), 0
    for _ in range(200):
        scores = rng.normal(size=(4, 15)) + np.arange(4)[:, None]
        interval = stratified_bootstrap(scores, lambda x: float(x.mean()), rng, resamples=200)
        covered += interval.covers(1.5)
    assert 0.86 <= covered / 200 <= 0.98


def test_strata_are_kept_apart() -> None:
    scores = np.array([[0.0] * 5, [100.0] * 5])
    assert stratified_bootstrap(scores, iqm, RNG(0), resamples=50) == Interval(50.0, 50.0, 50.0)


def test_pairing_removes_what_seeds_share() -> None:
    rng = RNG(2)
    luck = rng.normal(size=(3, 20)) * 10
    a, b = luck + 1.0 + 0.1 * rng.normal(size=luck.shape), luck
    interval = paired_difference(a, b, rng, resamples=500)
    assert interval.low > 0.9
    assert interval.high < 1.1
    assert paired_p_value(a, b) < 1e-6
    assert paired_p_value(a, a) == 1.0


def test_the_probability_of_improvement_counts_pairs_and_half_of_ties() -> None:
    a, b = np.array([[1.0, 2.0, 3.0]]), np.array([[0.0, 2.0, 4.0]])
    # Above: 1>0, 2>0, 3>0, 3>2; equal: 2=2.
    assert probability_of_improvement(a, b, RNG(0)).estimate == pytest.approx(4.5 / 9)
    same = probability_of_improvement(a, a, RNG(0))
    assert same.estimate == 0.5
    assert same.covers(0.5)


def test_a_profile_is_the_share_of_runs_above() -> None:
    profile = performance_profile(np.array([[0.1, 0.5], [0.7, 0.9]]), np.array([0.0, 0.5, 0.8, 1.0]))
    assert profile.tolist() == [1.0, 0.5, 0.25, 0.0]


def test_the_worked_example_of_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_area_under_an_anytime_curve_is_the_mean_of_the_best_so_far() -> None:
    points = [(2.0, 1.0), (5.0, 0.5), (6.0, 3.0), (20.0, 9.0)]
    # 0 until 2, 1 until 6, 3 until 10.
    assert anytime_area(points, 10.0, 0.0) == pytest.approx((0 * 2 + 1 * 4 + 3 * 4) / 10)
    grid = np.array([0.0, 2.0, 5.5, 6.0, 10.0])
    assert anytime_curve(points, grid, 0.0).tolist() == [0.0, 1.0, 1.0, 3.0, 3.0]
    with pytest.raises(ValueError, match="more than 0"):
        anytime_area(points, 0.0, 0.0)


def test_ranks_of_equal_arms_overlap_and_of_different_ones_do_not() -> None:
    rng = RNG(4)
    base = rng.normal(size=(2, 30))
    best, middle, other = rank_intervals([base + 9, base, base + rng.normal(size=base.shape) * 0.01], rng)
    assert (best.estimate, best.low, best.high) == (1.0, 1.0, 1.0)
    assert middle.low <= 2.5 <= middle.high or other.low <= 2.5 <= other.high


def test_no_winner_is_named_where_the_interval_holds_zero() -> None:
    assert verdict(Interval(0.1, -0.01, 0.2), 0.001) == 0
    assert verdict(Interval(0.1, 0.01, 0.2), 0.2) == 0
    assert verdict(Interval(0.1, 0.01, 0.2), 0.01) == 1
    assert verdict(Interval(-0.1, -0.2, -0.01), 0.01) == -1


def test_small_samples_are_said_to_be_small() -> None:
    assert "only 3 pairs" in str(caution(3))
    assert caution(10) is None


def test_what_cannot_be_compared_is_an_error() -> None:
    with pytest.raises(ValueError, match="two seeds or more"):
        stratified_bootstrap(np.ones((3, 1)), iqm, RNG(0))
    with pytest.raises(ValueError, match="not paired"):
        paired_difference(np.ones((1, 3)), np.ones((1, 4)), RNG(0))
    with pytest.raises(ValueError, match="not finite"):
        stratified_bootstrap(np.array([[1.0, np.nan]]), iqm, RNG(0))
    with pytest.raises(ValueError, match="the same problems"):
        probability_of_improvement(np.ones((1, 3)), np.ones((2, 3)), RNG(0))


def test_equal_generators_give_equal_intervals() -> None:
    scores = RNG(5).normal(size=(3, 8))
    first, second = (stratified_bootstrap(scores, iqm, RNG(6), resamples=100) for _ in range(2))
    assert first == second
