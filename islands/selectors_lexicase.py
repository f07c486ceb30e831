"""Lexicase selection: test instances in random order, each of which leaves only the best."""

import numpy as np
from numpy.typing import NDArray

from ..core.slots import Selector
from ..core.view import IslandView
from .scaling import Floats


class Lexicase(Selector):
    """Filters by one instance after the other in random order, and draws among who is left (Spector 2012).

    A problem that scores no instances has one: the fitness.
    """

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Return the id of one of the last ones left."""
        scores = view.fitness[:, None] if view.instances is None else view.instances
        slack = self.slack(scores)
        # By age, so that the draw does not depend on the order of the rows.
        rows: NDArray[np.intp] = np.argsort(view.ids)
        for instance in rng.permutation(scores.shape[1]):
            if len(rows) == 1:
                break
            here = scores[rows, instance]
            rows = rows[here >= here.max() - slack[instance]]
        return int(view.ids[rows[rng.integers(len(rows))]])

    def slack(self, scores: Floats) -> Floats:
        """Return how far below the best an instance's score may lie, shape (m,)."""
        return np.zeros(scores.shape[1])


class EpsilonLexicase(Lexicase):
    """As lexicase, but who is within the median absolute deviation of the best stays, too (La Cava et al. 2016).

    The deviation is that of all members on the instance, the best that of those left (the semi-dynamic form).
    """

    def slack(self, scores: Floats) -> Floats:
        """Return the median absolute deviation of each instance."""
        return np.asarray(np.median(np.abs(scores - np.median(scores, axis=0)), axis=0))
