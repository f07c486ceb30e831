"""Selectors: a parent drawn from a view of one island."""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Selector
from ..core.view import IslandView

MAD_FLOOR = 1e-6


class Weighted(Selector):
    """Base of selectors that draw in proportion to a weight."""

    def weights(self, view: IslandView) -> NDArray[np.float64]:
        """Return a weight >= 0 for each member, shape (n,), not all 0."""
        raise NotImplementedError

    def probabilities(self, view: IslandView) -> NDArray[np.float64]:
        """Return the probability of each member, shape (n,)."""
        weights = self.weights(view)
        return np.asarray(weights / weights.sum())

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Draw one member."""
        cumulative = np.cumsum(self.weights(view))
        row = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        return int(view.ids[min(row, len(view) - 1)])


class Uniform(Weighted):
    """Every member alike."""

    def weights(self, view: IslandView) -> NDArray[np.float64]:
        """Return ones."""
        return np.ones(len(view))


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

    def weights(self, view: IslandView) -> NDArray[np.float64]:
        """Return rank^-alpha; equals are ranked by age."""
        order = np.lexsort((view.ids, -view.fitness))
        ranks = np.empty(len(view))
        ranks[order] = np.arange(1, len(view) + 1)
        return np.asarray(ranks**-self.options.alpha)


def scaled_quality(fitness: NDArray[np.float64], steepness: float, pivot: float | None = None) -> NDArray[np.float64]:
    """Return sigmoid(steepness * (F - centre) / MAD), shape (n,): invariant to a scale and an offset of F.

    The centre is the median of F or, where `pivot` is given, its quantile of that order.

    MAD is the median absolute deviation, not below 1e-6 (ShinkaEvolve, arXiv 2509.19349 and its code).
    """
    centre = np.median(fitness)
    spread = max(float(np.median(np.abs(fitness - centre))), MAD_FLOOR)
    middle = centre if pivot is None else np.quantile(fitness, pivot)
    z = np.clip(steepness * (fitness - middle) / spread, -500.0, 500.0)
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


class Shinka(Weighted):
    """Quality scaled by the median absolute deviation, times 1 / (1 + offspring) (ShinkaEvolve, arXiv 2509.19349)."""

    class Options(ComponentOptions):
        """Options of `shinka`."""

        steepness: float = Field(default=10.0, gt=0, description="How sharply quality decides (lambda).")

    options: Options

    def weights(self, view: IslandView) -> NDArray[np.float64]:
        """Return sigmoid(lambda (F - median) / MAD) / (1 + offspring)."""
        return np.maximum(scaled_quality(view.fitness, self.options.steepness) / (1.0 + view.offspring), 1e-300)


class Novel(Weighted):
    """As `shinka`, where refused offspring count as tries too, times novelty in embedding space; the default."""

    class Options(ComponentOptions):
        """Options of `novel`."""

        steepness: float = Field(default=10.0, gt=0, description="How sharply quality decides.")
        pivot: float = Field(default=0.8, ge=0, le=1, description="The quantile of fitness where quality is one half.")
        novelty: float = Field(default=0.5, ge=0, le=1, description="The share of the weight that novelty scales.")

    options: Options

    def weights(self, view: IslandView) -> NDArray[np.float64]:
        """Return quality / (1 + offspring + refused) * (1 - w + w * novelty)."""
        share = self.options.novelty
        tries = 1.0 + view.offspring + view.refused
        novelty = 1.0 - share + share * view.novelty
        return np.maximum(
            scaled_quality(view.fitness, self.options.steepness, self.options.pivot) / tries * novelty, 1e-300
        )
