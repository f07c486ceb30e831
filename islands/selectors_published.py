"""Selectors of published systems: DGM, Hyperagents, AFlow, GEPA, FunSearch, OpenEvolve, AI Scientist-v2."""

import numpy as np
from pydantic import Field, model_validator

from ..core.component import ComponentOptions
from ..core.slots import Selector
from ..core.view import IslandView
from .scaling import Floats, draw, newest, order, sigmoid, softmax, unit_scaled
from .selectors import Weighted


class Dgm(Weighted):
    """Quality by a fixed sigmoid, times 1 / (1 + offspring) (Darwin Gödel Machine, arXiv 2505.22954 and its code).

    p ~ sigmoid(10 (F - 0.5)) / (1 + offspring). The fitness is taken to be an accuracy in [0, 1]: the sigmoid is not
    scaled, and a fitness on another scale makes it a step or a constant.
    """

    class Options(ComponentOptions):
        """Options of `dgm`."""

        steepness: float = Field(default=10.0, gt=0, description="How sharply quality decides.")
        centre: float = Field(default=0.5, description="The fitness where quality is one half.")

    options: Options

    def weights(self, view: IslandView) -> Floats:
        """Return sigmoid(steepness (F - centre)) / (1 + offspring)."""
        quality = sigmoid(self.options.steepness * (view.fitness - self.options.centre))
        return np.maximum(quality / (1.0 + view.offspring), 1e-300)


class Hyperagents(Weighted):
    """Quality against the mean of the best, times a penalty for many offspring (Hyperagents, arXiv 2603.19461).

    p ~ sigmoid(10 (F - mean of the top 3)) exp(-(offspring / 8)^3), as its code has it; the code's default form
    `score_prop` has no penalty: here `offspring = "none"`.
    """

    class Options(ComponentOptions):
        """Options of `hyperagents`."""

        steepness: float = Field(default=10.0, gt=0, description="How sharply quality decides.")
        top: int = Field(default=3, ge=1, description="How many of the best make the centre of the sigmoid.")
        offspring: float | None = Field(
            default=8.0, gt=0, description="Offspring at which the penalty is 1/e; none is no penalty."
        )

    options: Options

    def weights(self, view: IslandView) -> Floats:
        """Return quality times penalty."""
        top = np.sort(view.fitness)[-self.options.top :]
        # Divided first: the sum of huge values does not fit a float.
        weights = sigmoid(self.options.steepness * (view.fitness - (top / len(top)).sum()))
        if self.options.offspring is not None:
            weights = weights * np.exp(-np.minimum((view.offspring / self.options.offspring) ** 3, 600.0))
        return np.maximum(weights, 1e-300)


class Aflow(Weighted):
    """A soft mix of uniform and softmax over the best and the first (AFlow, arXiv 2410.10762 and its code).

    Among n candidates, the `top` best and the oldest member: p = 0.3 / n + 0.7 softmax(0.2 (100 F - max 100 F)). How
    many are candidates is an option here; 100 F takes the fitness to be an accuracy.
    """

    class Options(ComponentOptions):
        """Options of `aflow`."""

        top: int = Field(default=4, ge=1, description="How many of the best are candidates, beside the oldest.")
        uniform: float = Field(default=0.3, ge=0, le=1, description="The share that is drawn alike.")
        alpha: float = Field(default=0.2, ge=0, description="How sharply the softmax decides.")
        scale: float = Field(default=100.0, gt=0, description="What fitness is multiplied by; AFlow counts in percent.")

    options: Options

    def weights(self, view: IslandView) -> Floats:
        """Return the probabilities; who is no candidate has none."""
        rows = np.union1d(order(view)[: self.options.top], [int(view.ids.argmin())])
        fitness = view.fitness[rows]
        soft = softmax(self.options.alpha * self.options.scale * (fitness - fitness.max()))
        weights = np.zeros(len(view))
        weights[rows] = self.options.uniform / len(rows) + (1.0 - self.options.uniform) * soft
        return weights


class Gepa(Weighted):
    """In proportion to the instances on which a program is best, dominated ones removed (GEPA, arXiv 2507.19457).

    A program is on the front of an instance if nobody scores more there. A program is dominated if each of its fronts
    holds another that stays; the worst by mean are looked at first. p ~ the number of fronts of those that stay. A
    problem that scores no instances has one: the fitness.
    """

    def weights(self, view: IslandView) -> Floats:
        """Return the number of fronts of each member; 0 for the dominated."""
        scores = view.fitness[:, None] if view.instances is None else view.instances
        front = scores == scores.max(axis=0)
        holders = front.sum(axis=0)
        means = (scores / scores.shape[1]).sum(axis=1)
        for row in np.lexsort((-view.ids, means)):
            mine = front[row]
            if mine.any() and (holders[mine] > 1).all():
                holders[mine] -= 1
                front[row] = False
        return np.asarray(front.sum(axis=1), np.float64)


class FunSearch(Selector):
    """A cluster of equal behaviour by Boltzmann, in it a short program (FunSearch, Nature 2023 and its code).

    The signature of a program is its scores by instance, or its fitness where there are none; a cluster's score is the
    mean of its signature. Clusters: softmax(score / T), T = T0 (1 - (N mod period) / period), N the newest ticket.
    Within one: softmax(-(length - shortest) / (longest + 1e-6)).
    """

    class Options(ComponentOptions):
        """Options of `funsearch`."""

        temperature: float = Field(default=0.1, gt=0, description="T0, in units of the score.")
        period: int = Field(default=30_000, ge=1, description="After how many programs the temperature starts anew.")

    options: Options

    def temperature(self, count: int) -> float:
        """Return the temperature after `count` programs: a sawtooth."""
        return self.options.temperature * (1.0 - (count % self.options.period) / self.options.period)

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Draw a cluster, then one of its programs."""
        signatures = view.fitness[:, None] if view.instances is None else view.instances
        clusters, member_of = np.unique(signatures, axis=0, return_inverse=True)
        member_of = member_of.reshape(-1)
        scores = (clusters / clusters.shape[1]).sum(axis=1)
        cluster = draw(softmax((scores - scores.max()) / self.temperature(newest(view))), rng)
        # By age, so that the draw does not depend on the order of the rows.
        rows = np.flatnonzero(member_of == cluster)
        rows = rows[np.argsort(view.ids[rows])]
        length = view.length[rows].astype(np.float64)
        row = draw(softmax(-(length - length.min()) / (length.max() + 1e-6)), rng)
        return int(view.ids[rows[row]])


class OpenEvolve(Weighted):
    """Any member, one of the best, or one by fitness, each with its share (OpenEvolve's code).

    p = exploration / n + exploitation / e for the e = min(elite, n) best + the rest in proportion to fitness. That is
    counted from the worst, so that it may be negative: an assumption.
    """

    class Options(ComponentOptions):
        """Options of `openevolve`."""

        exploration: float = Field(default=0.2, ge=0, le=1, description="The share that is drawn from all alike.")
        exploitation: float = Field(default=0.7, ge=0, le=1, description="The share that is drawn from the best alike.")
        elite: int = Field(default=100, ge=1, description="How many of an island count as the best.")

        @model_validator(mode="after")
        def _shares(self) -> "OpenEvolve.Options":
            if self.exploration + self.exploitation > 1.0 + 1e-12:
                raise ValueError(
                    f"exploration and exploitation are {self.exploration} and {self.exploitation}; "
                    "expected shares that add up to 1 at most"
                )
            return self

    options: Options

    def weights(self, view: IslandView) -> Floats:
        """Return the probabilities."""
        options, n = self.options, len(view)
        rest = max(0.0, 1.0 - options.exploration - options.exploitation)
        by_fitness = unit_scaled(view.fitness)
        weights = options.exploration / n + rest * by_fitness / by_fitness.sum()
        best = order(view)[: options.elite]
        weights[best] += options.exploitation / len(best)
        return np.asarray(weights)


class BestFirst(Selector):
    """The seed until it has its drafts, then the best member that is no seed (AI Scientist-v2's best-first tree).

    A draft counts from its selection on. Of equals the oldest. Failed nodes are not members, so that none is debugged.
    """

    class Options(ComponentOptions):
        """Options of `best-first`."""

        drafts: int = Field(default=3, ge=1, description="How many offspring each seed has before others are parents.")

    options: Options

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Return the id of a seed that lacks drafts, else that of the best node."""
        drafts = view.offspring + view.refused + view.in_flight
        lacking = view.ids[view.seed & (drafts < self.options.drafts)]
        nodes = ~view.seed
        if len(lacking) or not nodes.any():
            return int(lacking.min() if len(lacking) else view.ids[order(view)[0]])
        best = view.fitness[nodes].max()
        return int(view.ids[nodes & (view.fitness == best)].min())
