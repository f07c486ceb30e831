"""Selectors: a parent drawn from a view of one island."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Selector
from ..core.view import IslandView
from .scaling import Floats, draw, ranks, sigmoid
from .spread import Scale, SortedValues, scale_of

LARGE = 4096
"""Above this many members, weights are worked out for those that are looked at only."""


class Weighted(Selector):
    """Base of selectors that draw in proportion to a weight."""

    @abstractmethod
    def weights(self, view: IslandView) -> Floats:
        """Return a weight >= 0 for each member, shape (n,), not all 0."""

    def probabilities(self, view: IslandView) -> Floats:
        """Return the probability of each member, shape (n,)."""
        weights = self.weights(view)
        return np.asarray(weights / weights.sum())

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Draw one member."""
        return int(view.ids[draw(self.weights(view), rng)])


class Uniform(Weighted):
    """Every member alike."""

    def weights(self, view: IslandView) -> Floats:
        """Return ones."""
        return np.ones(len(view))

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Draw one member, in O(1)."""
        return int(view.ids[rng.integers(len(view))])


class Greedy(Selector):
    """The best member, always; of equals the oldest."""

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Return the id of the best."""
        best = view.ids[view.fitness == view.fitness.max()]
        return int(best.min())


class PowerLaw(Weighted):
    """A power of the rank: p ~ rank^-alpha, rank 1 the best (ShinkaEvolve, arXiv 2509.19349)."""

    class Options(ComponentOptions):
        """Options of `power-law`."""

        alpha: float = Field(default=1.0, ge=0, description="0 is uniform; the larger, the greedier.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._sorted = SortedValues()
        self._cumulative: Floats = np.zeros(0)

    def weights(self, view: IslandView) -> Floats:
        """Return rank^-alpha; equals are ranked by age."""
        return np.asarray((1.0 + ranks(view)) ** -self.options.alpha)

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Draw a rank, then find who has it: of equals, as many as stand above it by age."""
        n = len(view)
        if n <= LARGE:
            return super().select(view, rng)
        if len(self._cumulative) < n:
            # The sums up to a rank do not depend on n, so that what is computed ahead serves later calls.
            self._cumulative = np.cumsum(np.arange(1.0, n + n // 8 + 1) ** -self.options.alpha)
        left = rng.random() * self._cumulative[n - 1]
        rank = min(int(np.searchsorted(self._cumulative[:n], left, side="right")), n - 1)
        ordered = self._sorted(view.fitness)
        value = ordered[n - 1 - rank]
        above = n - int(np.searchsorted(ordered, value, side="right"))
        return int(np.sort(view.ids[view.fitness == value])[rank - above])


def scaled_quality(fitness: Floats, steepness: float, pivot: float | None = None) -> Floats:
    """Return sigmoid(steepness * (F - centre) / MAD), shape (n,): invariant to a scale and an offset of F.

    The centre is the median of F or, where `pivot` is given, its quantile of that order.

    MAD is the median absolute deviation, not below 1e-6 (ShinkaEvolve, arXiv 2509.19349 and its code).
    """
    scale = scale_of(np.sort(fitness), pivot)
    return sigmoid(steepness * (fitness - scale.middle) / scale.spread)


class Separable(Weighted):
    """Base of selectors whose weight depends on a member's own columns and on the scale of all fitness.

    Weights are at most 1. Among many members a draw is by rejection: a member drawn alike is taken with the probability
    that is its weight, which is a draw in proportion to weights without working out all of them.
    """

    pivot: float | None = None

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self._sorted = SortedValues()

    @abstractmethod
    def row_weights(self, view: IslandView, rows: NDArray[np.intp] | slice, scale: Scale) -> Floats:
        """Return the weights of some rows, in (0, 1]."""

    def weights(self, view: IslandView) -> Floats:
        """Return the weights of all members."""
        return self.row_weights(view, slice(None), scale_of(np.sort(view.fitness), self.pivot))

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Draw one member."""
        if len(view) <= LARGE:
            return super().select(view, rng)
        scale = scale_of(self._sorted(view.fitness), self.pivot)
        for _ in range(64):
            rows = rng.integers(len(view), size=128)
            taken = np.flatnonzero(rng.random(128) < self.row_weights(view, rows, scale))
            if len(taken):
                return int(view.ids[rows[taken[0]]])
        # Hardly anybody has a weight to speak of.
        return super().select(view, rng)


class Shinka(Separable):
    """Quality scaled by the median absolute deviation, times 1 / (1 + offspring) (ShinkaEvolve, arXiv 2509.19349)."""

    class Options(ComponentOptions):
        """Options of `shinka`."""

        steepness: float = Field(default=10.0, gt=0, description="How sharply quality decides (lambda).")

    options: Options

    def row_weights(self, view: IslandView, rows: NDArray[np.intp] | slice, scale: Scale) -> Floats:
        """Return sigmoid(lambda (F - median) / MAD) / (1 + offspring)."""
        quality = sigmoid(self.options.steepness * (view.fitness[rows] - scale.middle) / scale.spread)
        return np.maximum(quality / (1.0 + view.offspring[rows]), 1e-300)


class Novel(Separable):
    """As `shinka`, where refused offspring count as tries too, times novelty in embedding space; the default."""

    class Options(ComponentOptions):
        """Options of `novel`."""

        steepness: float = Field(default=10.0, gt=0, description="How sharply quality decides.")
        pivot: float = Field(default=0.8, ge=0, le=1, description="The quantile of fitness where quality is one half.")
        floor: float = Field(
            default=0.01, ge=0, le=1, description="The quality of the worst: tried out, the best fade."
        )
        novelty: float = Field(default=0.5, ge=0, le=1, description="The share of the weight that novelty scales.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self.pivot = self.options.pivot

    def row_weights(self, view: IslandView, rows: NDArray[np.intp] | slice, scale: Scale) -> Floats:
        """Return quality / (1 + offspring + refused) * (1 - w + w * novelty).

        Quality is f + (1 - f) sigmoid(lambda (F - pivot) / MAD): once the best have been tried a hundred times for
        nothing, the others have their turn. A parent whose offspring are all refused is as explored as one whose
        offspring are kept: it fades.
        """
        share, floor = self.options.novelty, self.options.floor
        quality = sigmoid(self.options.steepness * (view.fitness[rows] - scale.middle) / scale.spread)
        quality = floor + (1.0 - floor) * quality
        tries = 1.0 + view.offspring[rows] + view.refused[rows]
        return np.maximum(quality / tries * (1.0 - share + share * view.novelty[rows]), 1e-300)
