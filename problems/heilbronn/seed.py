"""Moves points at random and keeps what is better: a plain start that evolution has to improve on."""

import blocks
import numpy as np
from blocks import Points


def main(n: int, region: str, effort: int, seed: int):
    """Return points from scratch."""
    start = blocks.first_points(n, region, np.random.default_rng(seed))
    return improve(start, effort, seed, region)


def improve(previous, effort: int, seed: int, region: str = "triangle"):
    """Return points with a larger smallest triangle than those of `previous`, if there are any within the effort."""
    rng = np.random.default_rng(seed)
    blocks.use_effort(effort)
    best: Points = blocks.points(previous, region)
    current: Points = best
    while blocks.effort_left():
        # EVOLVE-BLOCK-START
        trial = blocks.jitter_one(current, rng, 0.05)
        current = blocks.better(trial, current)
        # EVOLVE-BLOCK-END
        best = blocks.better(current, best)
    return blocks.strict(best).tolist()
