"""Statistics that compare strategies: intervals rather than points, paired where seeds are paired.

Scores come as arrays of shape (problems, seeds), larger is better. The practice is that of rliable (Agarwal et al.
2021, "Deep reinforcement learning at the edge of the statistical precipice"). All resampling takes a generator.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

Floats = NDArray[np.float64]

SMALL = 10
"""Below so many pairs a sample is said to be small."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate with a confidence interval."""

    estimate: float
    low: float
    high: float

    def covers(self, value: float) -> bool:
        """Say whether the interval holds a value, its ends included."""
        return self.low <= value <= self.high


def iqm(scores: Floats) -> float:
    """Return the interquartile mean of all scores: the mean of the middle half, its outer values by their part.

    A quarter of the total weight is cut at each end, exactly, also where n is no multiple of 4.
    """
    return float(_iqms(np.ravel(scores)[None, :])[0])


def stratified_bootstrap(
    scores: Floats,
    statistic: Callable[[Floats], float],
    rng: np.random.Generator,
    *,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Return a percentile interval of a statistic, seeds being resampled within each problem (Agarwal et al. 2021).

    `scores` has shape (problems, seeds). Raises ValueError below two seeds: one seed has no spread.
    """
    _must_have_seeds(scores)
    problems, seeds = scores.shape
    rows = np.arange(problems)[:, None]
    drawn = [statistic(scores[rows, rng.integers(seeds, size=scores.shape)]) for _ in range(resamples)]
    return _percentile(statistic(scores), drawn, confidence)


def paired_difference(
    a: Floats,
    b: Floats,
    rng: np.random.Generator,
    *,
    resamples: int = 5000,
    confidence: float = 0.95,
) -> Interval:
    """Return the mean of a - b with a paired percentile bootstrap: the same seed stands in the same place of both.

    Pairs are resampled within each problem. Shapes (problems, seeds), equal; ValueError otherwise.
    """
    _must_pair(a, b)
    difference = np.asarray(a - b)
    _must_have_seeds(difference)
    drawn = np.concatenate([block.mean(axis=(1, 2)) for (block,) in _resampled([difference], rng, resamples)])
    return _percentile(float(difference.mean()), drawn, confidence)


def iqm_interval(
    scores: Floats, rng: np.random.Generator, *, resamples: int = 2000, confidence: float = 0.95
) -> Interval:
    """Return the interquartile mean with the interval of `stratified_bootstrap`, made at once for all resamples."""
    _must_have_seeds(scores)
    blocks = _resampled([scores], rng, resamples)
    drawn = np.concatenate([_iqms(block.reshape(len(block), -1)) for (block,) in blocks])
    return _percentile(iqm(scores), drawn, confidence)


def probability_of_improvement(
    a: Floats, b: Floats, rng: np.random.Generator, *, resamples: int = 500, confidence: float = 0.95
) -> Interval:
    """Return P(a > b), ties counted half, averaged over problems, seeds of both resampled (Agarwal et al. 2021).

    For each problem this is the Mann-Whitney statistic divided by the number of pairs. Shapes (problems, seeds); the
    numbers of seeds may differ.
    """
    _must_have_seeds(a)
    _must_have_seeds(b)
    if len(a) != len(b):
        raise ValueError(f"scores of {len(a)} and of {len(b)} problems; expected the same problems in both")
    better = (a[:, :, None] > b[:, None, :]) + 0.5 * (a[:, :, None] == b[:, None, :])
    drawn = np.zeros(resamples)
    for wins in better:
        # How often each seed was drawn says all: no table of wins is made for a resample.
        ours, theirs = (_draw_counts(n, rng, resamples) for n in wins.shape)
        drawn += ((ours @ wins) * theirs).sum(axis=1) / (wins.size * len(better))
    return _percentile(float(better.mean()), drawn, confidence)


def performance_profile(scores: Floats, thresholds: Floats) -> Floats:
    """Return the share of all runs that score above each threshold, shape (thresholds,) (Dolan and Moré 2002)."""
    flat = np.ravel(scores)
    return np.asarray((flat[None, :] > thresholds[:, None]).mean(axis=1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for many comparisons (Holm 1979): p_(k) times n - k + 1, made monotone, at most 1."""
    order = np.argsort(p_values, kind="stable")
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for k, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - k) * p_values[int(place)]))
        corrected[int(place)] = largest
    return corrected


def paired_p_value(a: Floats, b: Floats) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test over all pairs; 1 where no pair differs."""
    _must_pair(a, b)
    difference = np.ravel(a - b)
    if not difference.any():
        return 1.0
    return float(wilcoxon(difference, zero_method="wilcox").pvalue)


def anytime_area(points: Sequence[tuple[float, float]], budget: float, start: float) -> float:
    """Return the mean over the budget of the best score so far: the area under the anytime curve, divided by its width.

    `points` are (cost, score) of a run in the order of cost; before the first the curve has the value `start`, and
    after each it has the best so far. What lies beyond the budget does not count.
    """
    if not budget > 0:
        raise ValueError(f"the budget is {budget}; expected more than 0")
    area, at, best = 0.0, 0.0, start
    for cost, score in points:
        if cost > budget:
            break
        if score > best:
            area += best * (cost - at)
            at, best = cost, score
    return (area + best * (budget - at)) / budget


def anytime_curve(points: Sequence[tuple[float, float]], grid: Floats, start: float) -> Floats:
    """Return the best score so far at each cost of an ascending grid, shape (grid,)."""
    costs = np.array([cost for cost, _ in points])
    best = np.maximum.accumulate(np.array([start, *(score for _, score in points)], np.float64))
    return np.asarray(best[np.searchsorted(costs, grid, side="right")])


def rank_intervals(
    scores: Sequence[Floats], rng: np.random.Generator, *, resamples: int = 1000, confidence: float = 0.95
) -> list[Interval]:
    """Return the rank of each arm by interquartile mean, 1 the best, with what resampling seeds makes of it.

    The same seeds are drawn for all arms: they are paired. Arrays of one shape (problems, seeds).
    """
    for other in scores:
        _must_pair(scores[0], other)
    drawn = []
    for blocks in _resampled(scores, rng, resamples):
        centres = np.array([_iqms(block.reshape(len(block), -1)) for block in blocks])
        drawn.append(_ranks(centres))
    every = np.concatenate(drawn, axis=1)
    estimates = _ranks(np.array([[iqm(arm)] for arm in scores]))[:, 0]
    return [_percentile(float(e), row, confidence) for e, row in zip(estimates, every, strict=True)]


def verdict(difference: Interval, p_holm: float, level: float = 0.05) -> int:
    """Return 1 when the first arm wins, -1 when the second does, and 0 when nobody may be named.

    A winner needs an interval of the paired difference that does not hold 0 and a corrected p-value below the level.
    """
    if difference.covers(0.0) or p_holm >= level:
        return 0
    return 1 if difference.low > 0 else -1


def caution(pairs: int) -> str | None:
    """Return what must be said of a small sample, or None."""
    if pairs >= SMALL:
        return None
    return f"only {pairs} pairs: intervals of so few are too narrow, and no test of them is to be trusted"


def pairs_needed(a: Floats, b: Floats) -> int | None:
    """Return how many pairs would show a difference of the size seen, at the 5 % level with a power of 80 %.

    The usual n = ((1.96 + 0.84) sd / mean)² of paired differences, without the correction for many comparisons; None
    where the mean difference is 0.
    """
    _must_pair(a, b)
    difference = np.ravel(a - b)
    mean = float(difference.mean())
    if mean == 0.0:
        return None
    return max(2, ceil((2.8 * float(difference.std(ddof=1)) / mean) ** 2))


def smallest_p_value(pairs: int) -> float:
    """Return the smallest p-value that Wilcoxon's signed-rank test can give so many pairs: 2 / 2ⁿ."""
    return min(1.0, 2.0 / 2.0**pairs)


def _iqms(rows: Floats) -> Floats:
    """Return the interquartile mean of every row."""
    n = rows.shape[1]
    edges = np.arange(n + 1) / n
    weights = np.clip(np.minimum(edges[1:], 0.75) - np.maximum(edges[:-1], 0.25), 0.0, None)
    return np.asarray(np.sort(rows, axis=1) @ (weights / weights.sum()))


BLOCK = 1 << 18
"""Resampled numbers that are held at once."""


def _resampled(tables: Sequence[Floats], rng: np.random.Generator, resamples: int) -> Iterator[list[Floats]]:
    """Yield blocks of the tables with seeds drawn anew within each problem, the same ones in all of them.

    Tables have one shape (problems, seeds), the blocks of each (block, problems, seeds).
    """
    problems, seeds = tables[0].shape
    size = max(1, BLOCK // (problems * seeds))
    for start in range(0, resamples, size):
        places = rng.integers(seeds, size=(min(size, resamples - start), problems, seeds))
        yield [np.take_along_axis(table[None, :, :], places, axis=2) for table in tables]


def _draw_counts(seeds: int, rng: np.random.Generator, resamples: int) -> Floats:
    """Return how often each seed is drawn in each resample, shape (resamples, seeds)."""
    return rng.multinomial(seeds, np.full(seeds, 1.0 / seeds), size=resamples).astype(np.float64)


def _ranks(centres: Floats) -> Floats:
    """Return ranks from 1 in each column, the largest first; equals share the mean of their places."""
    larger = (centres[None, :, :] > centres[:, None, :]).sum(axis=1)
    equal = (centres[None, :, :] == centres[:, None, :]).sum(axis=1)
    return np.asarray(larger + (equal + 1) / 2)


def _percentile(estimate: float, drawn: Sequence[float] | Floats, confidence: float) -> Interval:
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(np.array(drawn), [tail, 100.0 - tail])
    return Interval(float(estimate), float(low), float(high))


def _must_have_seeds(scores: Floats) -> None:
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ValueError(f"scores have shape {scores.shape}; expected (problems, seeds) with two seeds or more")
    if not np.isfinite(scores).all():
        raise ValueError("some scores are not finite; a run that found nothing needs the score of the seed program")


def _must_pair(a: Floats, b: Floats) -> None:
    if a.shape != b.shape:
        raise ValueError(f"scores of shape {a.shape} and {b.shape} are not paired; expected the same seeds in both")
