"""A formula of two variables, which evolution has to find."""

import blocks


def formula(x: float, y: float) -> float:
    """Return the value at one point."""
    # EVOLVE-BLOCK-START
    value = blocks.add(x, y)
    # EVOLVE-BLOCK-END
    return value


def main(points: int):
    """Return the values at all points."""
    return [formula(x, y) for x, y in blocks.places(points)]
