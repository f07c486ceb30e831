"""Scores a text of bits by concatenated deceptive traps (Deb and Goldberg 1993)."""

import numpy as np


def trap(ones: int, order: int) -> float:
    """Return the value of one block: 1 for all ones, else falling with their number from 1 - 1 / order to 0."""
    return 1.0 if ones == order else (1.0 - 1.0 / order) * (1.0 - ones / (order - 1))


def evaluate(output, n: int, order: int, noise: float, seed: int):
    """Return the mean over blocks, with a normal noise of standard deviation `noise` from the evaluation's seed."""
    if order < 2 or n % order:
        raise ValueError(f"n = {n}, order = {order}: expected blocks of at least 2 bits that fill n")
    text = output.strip() if isinstance(output, str) else ""
    if not 0 < len(text) <= n or set(text) - {"0", "1"}:
        return {"metrics": {}, "valid": False, "feedback": f"write {n} characters, each 0 or 1, and nothing else"}
    text = (text * n)[:n]
    blocks = [text[at : at + order].count("1") for at in range(0, n, order)]
    value = sum(trap(ones, order) for ones in blocks) / len(blocks)
    metrics = {"fitness": value, "solved": float(blocks.count(order))}
    if noise:
        metrics |= {
            "fitness": value + noise * np.random.default_rng((seed, int(text, 2))).normal(),
            "true_fitness": value,
        }
    return {"metrics": metrics}
