"""The local evaluator: the smallest triangle among the points, and what is wrong with points that have no score."""

import math
from itertools import combinations
from typing import Any

REGIONS = ("triangle", "convex", "square")
ALMOST = 1e-3
"""Points are almost inside when none is farther out than this."""
ALIKE = 10**6
"""Triangles are counted as smallest when they exceed the smallest by no more than its share of one in this many."""

Points = list[list[int]]
Triangle = tuple[int, tuple[int, ...]]


def evaluate(output: Any, n: int = 11, region: str = "triangle") -> dict[str, Any]:
    """Return {"metrics", "feedback", "valid"} for an output that was read from JSON.

    The area is a share of the region's, rounded down. An invalid output has no metrics; its feedback names the worst
    faults first.
    """
    if region not in REGIONS:
        raise ValueError(f"the region is triangle, convex or square, not {region!r}")
    wrong = _form_fault(output, n)
    if wrong:
        return {"metrics": {}, "feedback": wrong, "valid": False}
    points, unit = _scaled(output)
    triangles = sorted(_triangles(points))
    faults = [sentence for _, sentence in sorted(_outside(points, unit, region), key=lambda fault: -fault[0])]
    flat = [f"points {a}, {b} and {c} lie on one line" for twice, (a, b, c) in triangles if twice == 0]
    if faults or flat:
        hint = "" if flat else _pushed(output, region)
        return {"metrics": {}, "feedback": _listed(faults + flat) + hint, "valid": False}
    whole = _twice_area(points, unit, region)
    least, worst = triangles[0]
    alike = sum((twice - least) * ALIKE <= least for twice, _ in triangles)
    return {
        "metrics": {"smallest_area": _down(least, whole), "smallest_triangles": alike},
        "feedback": f"smallest triangle {_decimal(least, whole)} of the region, points {_named(worst)}; "
        f"{alike} of {len(triangles)} triangles are as small",
        "valid": True,
    }


def _form_fault(output: Any, n: int) -> str | None:
    if type(output) is not list:
        return f"return a list of {n} rows [x, y], not a {type(output).__name__}"
    if len(output) != n or n < 3:
        return f"return a list of {n} rows [x, y], at least three, not of {len(output)}"
    for number, row in enumerate(output):
        if type(row) is not list or len(row) != 2:
            return f"row {number} is not [x, y]"
        if not all(type(v) in (int, float) and -8 <= v <= 8 for v in row):
            return f"row {number} holds something that is not a finite number of ordinary size"
    return None


def _scaled(rows: list[list[float]]) -> tuple[Points, int]:
    """Return the rows as integers, and what 1 is among them: every float is an integer over a power of two."""
    ratios = [[v.as_integer_ratio() for v in row] for row in rows]
    unit = max(below for row in ratios for _, below in row)
    return [[above * (unit // below) for above, below in row] for row in ratios], unit


def _triangles(points: Points) -> list[Triangle]:
    """Return twice the area of every triangle of three points, with the points' numbers."""
    found = []
    for (i, (x, y)), (j, (u, v)), (k, (s, t)) in combinations(enumerate(points), 3):
        found.append((abs((u - x) * (t - y) - (v - y) * (s - x)), (i, j, k)))
    return found


def _outside(points: Points, unit: int, region: str) -> list[tuple[float, str]]:
    """Return (distance, sentence) of every point that is not in the region; no point is outside its own hull."""
    faults = []
    for number, (x, y) in enumerate(points):
        if region == "triangle":
            out = max(-x / unit, -y / unit, (x + y - unit) / unit / math.sqrt(2))
        elif region == "square":
            out = max(-x, -y, x - unit, y - unit) / unit
        else:
            continue
        if out > 0:
            faults.append((out, f"point {number} leaves the {region} by {out:.3g}"))
    return faults


def _pushed(rows: list[list[float]], region: str) -> str:
    """Return what points that are almost inside score once they are pushed in, as the end of a sentence."""
    pushed = []
    for x, y in rows:
        u, v = min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)
        if region == "triangle" and u + v > 1:
            # Half the excess off each; the larger is then at least a half, and 1 minus that is exact.
            larger = min(max(u, v) - (u + v - 1) / 2, 1.0)
            u, v = (larger, min(v, 1 - larger)) if u >= v else (min(u, 1 - larger), larger)
        if max(abs(u - x), abs(v - y)) > ALMOST:
            return ""
        pushed.append([u, v])
    points, unit = _scaled(pushed)
    if _outside(points, unit, region):
        return ""
    return f"; pushed inside, the smallest is {_decimal(min(_triangles(points))[0], _twice_area(points, unit, region))}"


def _twice_area(points: Points, unit: int, region: str) -> int:
    """Return twice the area of the region: for "convex" of the points' hull, wrapped from corner to corner."""
    if region != "convex":
        return unit**2 if region == "triangle" else 2 * unit**2
    first = corner = min(points)
    twice = 0
    while True:
        after = next(point for point in points if point != corner)
        for point in points:
            if _turn(corner, after, point) < 0:
                after = point
        # Seen from the first corner, as a fan: no three points are on a line here, so that no corner is met twice.
        twice += _turn(first, corner, after)
        corner = after
        if corner == first:
            return twice


def _turn(a: list[int], b: list[int], c: list[int]) -> int:
    """Return twice the area of a triangle, positive when it turns to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _listed(faults: list[str]) -> str:
    more = f" and {len(faults) - 3} more faults" if len(faults) > 3 else ""
    return "; ".join(faults[:3]) + more


def _named(triple: tuple[int, ...]) -> str:
    return "{}, {} and {}".format(*triple)


def _down(above: int, below: int) -> float:
    """Return the largest float that is not above a fraction."""
    near = above / below
    over, under = near.as_integer_ratio()
    return near if over * below <= above * under else math.nextafter(near, -math.inf)


def _decimal(above: int, below: int) -> str:
    """Return a fraction >= 0 with thirteen decimals, rounded down."""
    whole, part = divmod(above * 10**13 // below, 10**13)
    return f"{whole}.{part:013d}"
