"""The exact judge: reads an output as JSON text and decides in integers, without any tolerance."""

import json
import math
from fractions import Fraction
from typing import Any, NoReturn

LIMIT = 8
REGIONS = ("triangle", "convex", "square")

Points = list[list[int]]


def judge(text: str, n: int = 11, region: str = "triangle") -> dict[str, Any]:
    """Return {"valid", "score", "score_exact", "reason"} for the text of an output.

    Valid: a list of n >= 3 rows [x, y] of JSON numbers, no three points on one line, and all in the region: the
    triangle (0, 0), (1, 0), (0, 1), the unit square, or, for "convex", their own convex hull, wherever that is. The
    score is the area of the smallest triangle of three points over the area of the region, rounded down.
    """
    try:
        if region not in REGIONS:
            raise ValueError(f"the region is triangle, convex or square, not {region!r}")
        points, unit = _integers(_rows(_read(text), n))
        _check_inside(points, unit, region)
        exact = Fraction(_smallest(points), _twice_area(points, unit, region))
    except ValueError as error:
        return {"valid": False, "score": None, "score_exact": None, "reason": str(error)}
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


def _rows(rows: Any, n: int) -> list[list[float]]:
    if type(rows) is not list or len(rows) != n or n < 3:
        found = f"{len(rows)} rows" if type(rows) is list else type(rows).__name__
        raise ValueError(f"the output must be a list of {n} rows, at least three, not {found}")
    for number, row in enumerate(rows):
        if type(row) is not list or len(row) != 2:
            raise ValueError(f"row {number} must be a list of x, y")
        for value in row:
            if type(value) not in (int, float):
                raise ValueError(f"row {number} holds a {type(value).__name__}, not a number")
            if not -LIMIT <= value <= LIMIT:
                raise ValueError(f"row {number} holds a value beyond {LIMIT}, or none that is finite")
    return rows


def _integers(rows: list[list[float]]) -> tuple[Points, int]:
    """Scale all values to integers by one power of two: every double is a dyadic rational."""
    ratios = [[v.as_integer_ratio() for v in row] for row in rows]
    unit = max(denominator for row in ratios for _, denominator in row)
    return [[numerator * (unit // denominator) for numerator, denominator in row] for row in ratios], unit


def _check_inside(points: Points, unit: int, region: str) -> None:
    for number, (x, y) in enumerate(points):
        if region == "triangle" and not (x >= 0 and y >= 0 and x + y <= unit):
            raise ValueError(f"point {number} leaves the triangle (0, 0), (1, 0), (0, 1)")
        if region == "square" and not (0 <= x <= unit and 0 <= y <= unit):
            raise ValueError(f"point {number} leaves the unit square")


def _smallest(points: Points) -> int:
    """Return twice the smallest area of a triangle of three points."""
    least = None
    for i, (x, y) in enumerate(points):
        sides = [(u - x, v - y) for u, v in points[:i]]
        for j, (u, v) in enumerate(sides):
            for k in range(j):
                s, t = sides[k]
                twice = abs(u * t - v * s)
                if twice == 0:
                    raise ValueError(f"points {k}, {j} and {i} lie on one line")
                if least is None or twice < least:
                    least = twice
    assert least is not None, "three points or more were counted before"
    return least


def _twice_area(points: Points, unit: int, region: str) -> int:
    """Return twice the area of the region; of a convex hull by the shoelace formula over its corners."""
    if region != "convex":
        return unit**2 if region == "triangle" else 2 * unit**2
    ordered = sorted(points)
    corners = _chain(ordered) + _chain(ordered[::-1])
    return abs(sum(x * v - y * u for (x, y), (u, v) in zip(corners, corners[1:] + corners[:1], strict=True)))


def _chain(ordered: Points) -> Points:
    """Return one side of the hull of ordered points, without the last (monotone chain, Andrew 1979)."""
    chain: Points = []
    for x, y in ordered:
        while len(chain) > 1:
            (a, b), (c, d) = chain[-2:]
            if (c - a) * (y - b) > (d - b) * (x - a):
                break
            chain.pop()
        chain.append([x, y])
    return chain[:-1]


def _down(exact: Fraction) -> float:
    """Return the largest double that is not above an exact value."""
    near = exact.numerator / exact.denominator
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)
