"""Scores a formula by how far its values are from those of a hidden one, drawn from `instance`."""

import math
from functools import lru_cache

import blocks
import numpy as np

MOST_SIZE, MOST_POINTS, ROUNDING = 20, 1000, 1e-9
ARITIES = {"add": 2, "subtract": 2, "multiply": 2, "sine": 1}


@lru_cache(maxsize=8)
def hidden(instance: int, size: int, points: int):
    """Return (formula, values): the hidden expression as a text of `size` calls, and its values at the points.

    Drawn anew until its values are finite and spread (standard deviation at least 0.1), no part of it is constant, and
    no smaller part, x and y among them, has the same values.
    """
    if not 1 <= size <= MOST_SIZE or not 2 <= points <= MOST_POINTS:
        raise ValueError(
            f"size = {size}, points = {points}: expected 1 <= size <= {MOST_SIZE} and 2 <= points <= {MOST_POINTS}"
        )
    rng = np.random.default_rng((instance, size))
    columns = np.array(blocks.places(points)).T
    while True:
        parts = []
        text, values = _draw(size, rng, columns, parts)
        spread = np.isfinite(values).all() and values.std() >= 0.1 and min(part.std() for part in parts) > 1e-6
        if spread and not any(np.allclose(values, part, rtol=0, atol=1e-6) for part in (*columns, *parts[:-1])):
            return text, values


def _draw(size, rng, columns, parts):
    if size == 0:
        at = int(rng.integers(2))
        return "xy"[at], columns[at]
    name = list(ARITIES)[int(rng.integers(len(ARITIES)))]
    left = int(rng.integers(size)) if ARITIES[name] == 2 else size - 1
    sizes = (left, size - 1 - left)[: ARITIES[name]]
    drawn = [_draw(below, rng, columns, parts) for below in sizes]
    function = getattr(blocks, name)
    values = np.array([function(*map(float, row)) for row in zip(*(v for _, v in drawn), strict=True)])
    parts.append(values)
    return f"{name}({', '.join(t for t, _ in drawn)})", values


def evaluate(output, instance: int, size: int, points: int):
    """Return the agreement 1 / (1 + e) of the values with the hidden ones; rounding is forgiven."""
    _, wanted = hidden(instance, size, points)
    found = _numbers(output, points)
    if found is None:
        return {"metrics": {}, "valid": False, "feedback": f"return a list of {points} finite numbers, one a point"}
    error = math.sqrt(_mean_square(found - wanted)) / float(wanted.std())
    agreement = 1.0 if error < ROUNDING else 1.0 / (1.0 + error)
    return {"metrics": {"agreement": agreement, "points_right": float((abs(found - wanted) < 1e-6).sum())}}


def _mean_square(errors) -> float:
    with np.errstate(over="ignore"):
        return float((errors**2).mean())


def _numbers(output, points: int):
    if not isinstance(output, (list, np.ndarray)) or len(output) != points:
        return None
    if not all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in output):
        return None
    try:
        found = np.array([float(value) for value in output])
    except OverflowError:
        return None
    return found if np.isfinite(found).all() else None
