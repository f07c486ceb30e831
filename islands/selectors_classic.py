"""Selectors of the textbooks: tournament, truncation, fitness-proportional, Boltzmann, seeds or novelty only."""

import numpy as np
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Selector
from ..core.view import IslandView
from .scaling import Floats, newest, order, softmax, unit_scaled
from .selectors import Weighted
from .spread import MAD_FLOOR


class Tournament(Selector):
    """The best of a few drawn alike, with replacement; of equals the oldest (Goldberg and Deb 1991)."""

    class Options(ComponentOptions):
        """Options of `tournament`."""

        size: int = Field(default=3, ge=1, description="How many are drawn; 1 is uniform.")

    options: Options

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Return the id of the winner, in O(size)."""
        rows = rng.integers(len(view), size=self.options.size)
        fitness = view.fitness[rows]
        return int(view.ids[rows[fitness == fitness.max()]].min())


class Truncation(Weighted):
    """The best share of the members, alike (Mühlenbein and Schlierkamp-Voosen 1993)."""

    class Options(ComponentOptions):
        """Options of `truncation`."""

        share: float = Field(default=0.2, gt=0, le=1, description="The share that is drawn from; at least one member.")

    options: Options

    def weights(self, view: IslandView) -> Floats:
        """Return 1 for the first ceil(share n) by fitness, the older first among equals, and 0 for the others."""
        weights = np.zeros(len(view))
        weights[order(view)[: max(1, int(np.ceil(self.options.share * len(view))))]] = 1.0
        return weights


class FitnessProportional(Weighted):
    """In proportion to fitness above the worst (Holland 1975), safe for negative and equal fitness.

    p ~ floor + (F - min F) / (max F - min F): the worst keeps a chance, and neither an offset nor a scale matters.
    """

    class Options(ComponentOptions):
        """Options of `fitness-proportional`."""

        floor: float = Field(default=0.02, gt=0, description="The weight of the worst, where the best has this plus 1.")

    options: Options

    def weights(self, view: IslandView) -> Floats:
        """Return fitness scaled to [0, 1], plus the floor."""
        return unit_scaled(view.fitness) + self.options.floor


class Boltzmann(Weighted):
    """p ~ exp((F - max F) / (T MAD)) with a temperature that falls (de la Maza and Tidor 1993).

    MAD is the median absolute deviation of F, not below 1e-6. T = end + (start - end) 2^(-t / half_life), where t is
    the number of the newest member's ticket. The schedule knows no total, so that a longer run begins as a shorter one.
    """

    class Options(ComponentOptions):
        """Options of `boltzmann`."""

        start: float = Field(default=2.0, gt=0, description="The temperature at first, in units of the spread.")
        end: float = Field(default=0.2, gt=0, description="The temperature that it falls towards.")
        half_life: float = Field(default=200.0, gt=0, description="Tickets in which half of the way is done.")

    options: Options

    def temperature(self, ticket: int) -> float:
        """Return the temperature after `ticket` tickets."""
        options = self.options
        return float(options.end + (options.start - options.end) * 2.0 ** (-ticket / options.half_life))

    def weights(self, view: IslandView) -> Floats:
        """Return the Boltzmann factors."""
        deviations = np.abs(view.fitness - np.median(view.fitness))
        spread = max(float(np.median(deviations)), MAD_FLOOR)
        return softmax((view.fitness - view.fitness.max()) / (spread * self.temperature(newest(view))))


class Seeds(Weighted):
    """The seeds, alike: every offspring is a first step, as in random search and in best of n.

    On an island without a seed it is the oldest member.
    """

    def weights(self, view: IslandView) -> Floats:
        """Return 1 for the seeds and 0 for the others."""
        chosen = view.seed if view.seed.any() else view.ids == view.ids.min()
        return np.asarray(chosen, np.float64)


class NoveltyOnly(Weighted):
    """In proportion to novelty in embedding space, whatever the fitness (after Lehman and Stanley 2011)."""

    def weights(self, view: IslandView) -> Floats:
        """Return novelty, not below 1e-9, so that equals are drawn alike."""
        return np.maximum(view.novelty, 1e-9)
