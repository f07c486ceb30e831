"""Selectors that treat parents as the arms of a bandit: the more often tried, the better known."""

import numpy as np
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.slots import Selector
from ..core.view import IslandView
from .scaling import rank_quality


class Ucb(Selector):
    """The largest upper confidence bound over parents (after UCB1, Auer et al. 2002).

    score = q + c sqrt(2 ln(1 + T) / (1 + n)); q in [0, 1] is the rank of the fitness, n the parent's tries (offspring
    and refused ones) and T those of all. Of equals the oldest.
    """

    class Options(ComponentOptions):
        """Options of `ucb`."""

        c: float = Field(default=0.5, ge=0, description="The weight of exploration; 0 is greedy.")

    options: Options

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Return the id with the largest bound."""
        tries = view.offspring + view.refused
        bonus = np.sqrt(2.0 * np.log(1.0 + tries.sum()) / (1.0 + tries))
        scores = rank_quality(view) + self.options.c * bonus
        return int(view.ids[scores == scores.max()].min())


class Thompson(Selector):
    """The largest of one draw for each parent (Thompson 1933, with normal posteriors).

    theta ~ Normal(q, sigma^2 / (1 + n)); q in [0, 1] is the rank of the fitness and n the parent's tries.
    """

    class Options(ComponentOptions):
        """Options of `thompson`."""

        sigma: float = Field(default=0.5, ge=0, description="The spread of what is not known; 0 is greedy.")

    options: Options

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Return the id with the largest draw."""
        tries = view.offspring + view.refused
        drawn = rank_quality(view) + self.options.sigma / np.sqrt(1.0 + tries) * rng.standard_normal(len(view))
        return int(view.ids[drawn.argmax()])
