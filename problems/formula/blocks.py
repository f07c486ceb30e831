"""What formulas are made of, and the points at which they are compared."""

import math

__all__ = ["add", "multiply", "sine", "subtract"]
"""What programs may be built of; the rest serves the seed's frozen text."""


def add(a: float, b: float) -> float:
    """Return a + b."""
    return a + b


def subtract(a: float, b: float) -> float:
    """Return a - b."""
    return a - b


def multiply(a: float, b: float) -> float:
    """Return a * b."""
    return a * b


def sine(a: float) -> float:
    """Return the sine of a."""
    return math.sin(a)


def places(points: int) -> list[tuple[float, float]]:
    """Return points in [-2, 2] x [-2, 2], the first of an additive sequence (Roberts 2018): dense, and none alike."""
    step = 1.324717957244746  # the real root of t^3 = t + 1
    return [(4 * ((0.5 + i / step) % 1) - 2, 4 * ((0.5 + i / step**2) % 1) - 2) for i in range(1, points + 1)]
