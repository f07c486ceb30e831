"""Scores a text of bits on an NK landscape (Kauffman and Weinberger 1989), drawn from `instance`."""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=8)
def landscape(n: int, k: int, instance: int):
    """Return (partners, values): shapes (n, k) and (n, 2^(k + 1)); the partners of a bit are k others, drawn alike."""
    if not 0 <= k < n <= 1000 or k > 16:
        raise ValueError(f"n = {n}, k = {k}: expected 0 <= k < n <= 1000 and k <= 16")
    rng = np.random.default_rng((instance, n, k))
    partners = np.array([rng.choice(np.delete(np.arange(n), i), k, replace=False) for i in range(n)], np.int64)
    return partners.reshape(n, k), rng.random((n, 1 << (k + 1)))


def fitness(bits, n: int, k: int, instance: int) -> float:
    """Return the mean value of an array of n bits."""
    partners, values = landscape(n, k, instance)
    row = np.array(bits, np.int64)
    index = row.copy()
    for column in range(k):
        index = 2 * index + row[partners[:, column]]
    return float(values[np.arange(n), index].mean())


def evaluate(output, n: int, k: int, instance: int, noise: float, seed: int):
    """Return the fitness, with a normal noise of standard deviation `noise` drawn from the evaluation's seed."""
    text = output.strip() if isinstance(output, str) else ""
    if not 0 < len(text) <= n or set(text) - {"0", "1"}:
        return {"metrics": {}, "valid": False, "feedback": f"write {n} characters, each 0 or 1, and nothing else"}
    text = (text * n)[:n]
    value = fitness([int(bit) for bit in text], n, k, instance)
    metrics = {"fitness": value, "ones": text.count("1")}
    if noise:
        rng = np.random.default_rng((seed, int(text, 2)))
        metrics = {"fitness": value + noise * rng.normal(), "true_fitness": value, "ones": text.count("1")}
    return {"metrics": metrics}
