"""The exact judge: reads an output as JSON text and decides in integers, without any tolerance."""

import json
import math
from fractions import Fraction
from typing import Any, NoReturn

LIMIT = 8

Circles = list[list[int]]


def judge(text: str, n: int = 26, shape: str = "square") -> dict[str, Any]:
    """Return {"valid", "score", "score_exact", "reason"} for the text of an output.

    Valid: a list of n rows [x, y, r] of JSON numbers with r >= 0, no two circles overlapping, all inside the unit
    square, or in a bounding box with width + height <= 2. The score is the sum of the radii, rounded down.
    """
    try:
        if shape not in ("square", "rectangle"):
            raise ValueError(f"the shape is square or rectangle, not {shape!r}")
        rows = _read(text)
        circles = _circles(rows, n)
        scaled, unit = _integers(circles)
        _check(scaled, unit, shape)
    except ValueError as error:
        return {"valid": False, "score": None, "score_exact": None, "reason": str(error)}
    exact = Fraction(sum(r for _, _, r in scaled), unit)
    return {
        "valid": True,
        "score": _down(exact),
        "score_exact": f"{exact.numerator}/{exact.denominator}",
        "reason": None,
    }


def _read(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_object)
    except RecursionError:
        raise ValueError("the output is nested too deeply") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _refuse_object(pairs: object) -> NoReturn:
    raise ValueError("the output must be a list of rows, not an object")


def _circles(rows: Any, n: int) -> list[list[float]]:
    if type(rows) is not list or len(rows) != n or not rows:
        found = f"{len(rows)} rows" if type(rows) is list else type(rows).__name__
        raise ValueError(f"the output must be a list of {n} rows, at least one, not {found}")
    for number, row in enumerate(rows):
        if type(row) is not list or len(row) != 3:
            raise ValueError(f"row {number} must be a list of x, y, r")
        for value in row:
            if type(value) not in (int, float):
                raise ValueError(f"row {number} holds a {type(value).__name__}, not a number")
            if not -LIMIT <= value <= LIMIT:
                raise ValueError(f"row {number} holds a value beyond {LIMIT}, or none that is finite")
    return rows


def _integers(circles: list[list[float]]) -> tuple[Circles, int]:
    """Scale all values to integers by one power of two: every double is a dyadic rational."""
    ratios = [[v.as_integer_ratio() for v in row] for row in circles]
    unit = max(denominator for row in ratios for _, denominator in row)
    return [[numerator * (unit // denominator) for numerator, denominator in row] for row in ratios], unit


def _check(circles: Circles, unit: int, shape: str) -> None:
    for number, (x, y, r) in enumerate(circles):
        if r < 0:
            raise ValueError(f"circle {number} has a negative radius")
        if shape == "square" and not (r <= x <= unit - r and r <= y <= unit - r):
            raise ValueError(f"circle {number} leaves the unit square")
    if shape == "rectangle":
        width = max(x + r for x, _, r in circles) - min(x - r for x, _, r in circles)
        height = max(y + r for _, y, r in circles) - min(y - r for _, y, r in circles)
        if width + height > 2 * unit:
            raise ValueError("width and height of the bounding box exceed 2 together")
    for i, (x, y, r) in enumerate(circles):
        for j in range(i):
            u, v, s = circles[j]
            if (x - u) ** 2 + (y - v) ** 2 < (r + s) ** 2:
                raise ValueError(f"circles {j} and {i} overlap")


def _down(exact: Fraction) -> float:
    """Return the largest double that is not above an exact value."""
    near = exact.numerator / exact.denominator
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)
