"""Ranks and scales of fitness that survive negative, equal and huge values."""

import numpy as np
from numpy.typing import NDArray

from ..core.view import IslandView

Floats = NDArray[np.float64]


def sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + e^-x) without overflow."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -500.0, 500.0))))


def softmax(x: Floats) -> Floats:
    """Return e^x / sum e^x without overflow; an infinite spread leaves the best alone."""
    weights = np.exp(np.maximum(x - x.max(), -700.0))
    return np.asarray(weights / weights.sum())


def unit_scaled(fitness: Floats) -> Floats:
    """Return fitness moved and stretched to [0, 1], shape (n,); equals become ones."""
    low, high = fitness.min(), fitness.max()
    if low == high:
        return np.ones(len(fitness))
    # Halved first: the range of huge values of both signs does not fit a float.
    return np.asarray((fitness / 2 - low / 2) / (high / 2 - low / 2))


def order(view: IslandView) -> NDArray[np.intp]:
    """Return the rows from best to worst; of equals the older comes first."""
    return np.lexsort((view.ids, -view.fitness))


def ranks(view: IslandView) -> NDArray[np.int64]:
    """Return the rank of each row, 0 the best."""
    result = np.empty(len(view), np.int64)
    result[order(view)] = np.arange(len(view))
    return result


def rank_quality(view: IslandView) -> Floats:
    """Return the share of the others that each row is no worse than by rank, in [0, 1]; 1 the best."""
    n = len(view)
    return np.ones(1) if n == 1 else np.asarray(1.0 - ranks(view) / (n - 1))


def draw(weights: Floats, rng: np.random.Generator) -> int:
    """Return a row drawn in proportion to `weights`, which are >= 0 and not all 0."""
    cumulative = np.cumsum(weights)
    row = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
    return min(row, len(weights) - 1)


def newest(view: IslandView) -> int:
    """Return the number of the newest member's ticket, counted from 1: how far the run is, as far as a view tells."""
    return int(view.ids.max()) + 1
