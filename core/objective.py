"""An objective: a named metric with a direction, and the one function that compares."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Direction = Literal["maximise", "minimise"]


@dataclass(frozen=True, slots=True)
class Objective:
    """The metric that decides. Fitness is derived from it and from nothing else; larger fitness is always better."""

    name: str
    direction: Direction = "maximise"
    resolution: float = 0.0
    """Differences of no more than this are noise: they are no gain, and states this close are held for the same."""
    bound: float | None = None
    """What no honest score can beat; one that does is suspicious."""

    def fitness(self, metrics: Mapping[str, float]) -> float:
        """Return the metric, negated when it is minimised. Raises KeyError when it was not measured."""
        value = metrics[self.name]
        # A database gives -0.0 back as 0.0, and a run that is resumed must see what it saw.
        return 0.0 + (value if self.direction == "maximise" else -value)

    def score(self, fitness: float) -> float:
        """Return the metric's own value of a fitness: the inverse of `fitness`."""
        return fitness if self.direction == "maximise" else -fitness

    def gain(self, child: float, parent: float) -> float:
        """Return child fitness minus parent fitness, or 0 where the difference is within the resolution."""
        difference = child - parent
        return difference if abs(difference) > self.resolution else 0.0

    def beyond_bound(self, score: float) -> bool:
        """Say whether a score is better than can be."""
        return self.bound is not None and score != self.bound and self.reached(score, self.bound)

    def reached(self, score: float, target: float) -> bool:
        """Say whether `score` is at least as good as `target`."""
        return score >= target if self.direction == "maximise" else score <= target


def better(a: float | None, b: float | None) -> bool:
    """Say whether fitness `a` beats fitness `b` strictly; what is None or not finite never beats anything."""
    if a is None or not math.isfinite(a):
        return False
    return b is None or not math.isfinite(b) or a > b
