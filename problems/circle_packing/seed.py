"""Packs circles by moving their centres at random: a plain start that evolution has to improve on."""

import blocks
import numpy as np
from blocks import Packing


def main(n: int, shape: str, effort: int, seed: int):
    """Return a packing from scratch."""
    return improve(blocks.grid_start(n), effort, seed, shape)


def improve(previous, effort: int, seed: int, shape: str = "square"):
    """Return a packing with a larger sum of radii than `previous`, if there is one within the effort."""
    rng = np.random.default_rng(seed)
    blocks.use_effort(effort)
    best: Packing = blocks.packing(previous, shape)
    current: Packing = best
    while blocks.effort_left():
        # EVOLVE-BLOCK-START
        trial = blocks.jitter_one(current, rng, 0.05)
        trial = blocks.radii_by_lp(trial)
        current = blocks.better(trial, current)
        # EVOLVE-BLOCK-END
        best = blocks.better(current, best)
    return blocks.strict(best).tolist()
