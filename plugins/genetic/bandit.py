"""Which operator next: a bandit that forgets, so that what works now counts."""

from collections.abc import Mapping, Sequence

import numpy as np


class OperatorBandit:
    """Discounted Thompson sampling over Bernoulli rewards, with an exploration floor.

    Each arm keeps a success count s and a failure count f. An update multiplies both counts of every arm by
    `discount`, then adds the reward r in [0, 1] to s and 1 - r to f of the arm that was played. A draw takes theta ~
    Beta(s + 1, f + `pessimism`) for each arm and plays the largest; with probability `floor` it plays any arm alike
    (Raj and Kalyani, "Taming Non-stationary Bandits: A Bayesian Approach", arXiv 1707.09727). With no reward ever, all
    arms stay alike.
    """

    def __init__(
        self, arms: Sequence[str], *, discount: float = 0.995, floor: float = 0.2, pessimism: float = 4.0
    ) -> None:
        self.arms = tuple(arms)
        self.discount = discount
        self.floor = floor
        self.pessimism = pessimism
        self._successes = np.zeros(len(arms))
        self._failures = np.zeros(len(arms))
        self._index = {arm: number for number, arm in enumerate(arms)}

    def choose(self, rng: np.random.Generator) -> str:
        """Return the arm to play."""
        if rng.random() < self.floor:
            return self.arms[int(rng.integers(len(self.arms)))]
        return self.arms[int(np.argmax(rng.beta(self._successes + 1.0, self._failures + self.pessimism)))]

    def learn(self, arm: str, reward: float) -> None:
        """Take in what an arm earned, in [0, 1]; an arm that is not known is passed over."""
        number = self._index.get(arm)
        if number is None:
            return
        self._successes *= self.discount
        self._failures *= self.discount
        self._successes[number] += reward
        self._failures[number] += 1.0 - reward

    def state(self) -> Mapping[str, tuple[float, float]]:
        """Return (successes, failures) by arm, discounted."""
        return {a: (float(self._successes[n]), float(self._failures[n])) for a, n in self._index.items()}
