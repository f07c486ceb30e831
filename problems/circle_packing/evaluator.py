"""The local evaluator: the sum of the radii of a valid packing, and what is wrong with one that is not."""

import math
from typing import Any

SHAPES = ("square", "rectangle")
ALMOST = 1e-3
"""An output is almost valid when cutting every radius by at most this much makes it so."""

Circles = list[list[int]]


def evaluate(output: Any, n: int = 26, shape: str = "square") -> dict[str, Any]:
    """Return {"metrics", "feedback", "valid"} for an output that was read from JSON.

    The sum is rounded down. An invalid output has no metrics; its feedback names the worst faults first.
    """
    if shape not in SHAPES:
        raise ValueError(f"the shape is square or rectangle, not {shape!r}")
    wrong = _form_fault(output, n)
    if wrong:
        return {"metrics": {}, "feedback": wrong, "valid": False}
    circles, unit = _scaled(output)
    faults = sorted(_faults(circles, unit, shape), key=lambda fault: -fault[0])
    if faults:
        shown = "; ".join(sentence for _, sentence in faults[:3])
        more = f" and {len(faults) - 3} more faults" if len(faults) > 3 else ""
        shrunk = _shrunk(output, circles, unit, shape)
        hint = "" if shrunk is None else f"; with every radius cut by the least that mends it, the sum is {shrunk}"
        return {"metrics": {}, "feedback": f"{shown}{more}{hint}", "valid": False}
    total = sum(r for _, _, r in circles)
    contacts = sum(_gap(a, b, unit) < 1e-9 for i, a in enumerate(circles) for b in circles[:i])
    smallest = float(min(row[2] for row in output))
    return {
        "metrics": {"sum_radii": _down(total, unit), "smallest": smallest, "contacts": contacts},
        "feedback": f"sum of radii {_decimal(total, unit)}, {contacts} contacts, smallest radius {smallest:.4f}",
        "valid": True,
    }


def _form_fault(output: Any, n: int) -> str | None:
    if type(output) is not list:
        return f"return a list of {n} rows [x, y, r], not a {type(output).__name__}"
    if len(output) != n or not output:
        return f"return a list of {n} rows [x, y, r], at least one, not of {len(output)}"
    for number, row in enumerate(output):
        if type(row) is not list or len(row) != 3:
            return f"row {number} is not [x, y, r]"
        if not all(type(v) in (int, float) and -8 <= v <= 8 for v in row):
            return f"row {number} holds something that is not a finite number of ordinary size"
    return None


def _scaled(rows: list[list[float]]) -> tuple[Circles, int]:
    """Return the rows as integers, and what 1 is among them: every float is an integer over a power of two."""
    ratios = [[v.as_integer_ratio() for v in row] for row in rows]
    unit = max(below for row in ratios for _, below in row)
    return [[above * (unit // below) for above, below in row] for row in ratios], unit


def _faults(circles: Circles, unit: int, shape: str) -> list[tuple[float, str]]:
    """Return (size, sentence) of every violated constraint; whether one is violated is decided exactly."""
    faults = []
    for i, (x, y, r) in enumerate(circles):
        if r < 0:
            faults.append((-r / unit, f"circle {i} has radius {r / unit:.3g}"))
        if shape == "square":
            out = max(r - x, r - y, x + r - unit, y + r - unit)
            if out > 0:
                faults.append((out / unit, f"circle {i} leaves the square by {out / unit:.3g}"))
        for j in range(i):
            u, v, s = circles[j]
            if r + s > 0 and (x - u) ** 2 + (y - v) ** 2 < (r + s) ** 2:
                by = abs(_gap(circles[i], circles[j], unit))
                faults.append((by, f"circles {j} and {i} overlap by {by:.3g}"))
    if shape == "rectangle":
        over = _perimeter(circles) - 2 * unit
        if over > 0:
            faults.append((over / unit, f"width + height is 2 + {over / unit:.3g}"))
    return faults


def _gap(one: list[int], other: list[int], unit: int) -> float:
    """Return the distance between two circles, exact to about 16 digits of itself where it is tiny too."""
    (x, y, r), (u, v, s) = one, other
    square, sums = (x - u) ** 2 + (y - v) ** 2, r + s
    apart = math.sqrt(square / unit**2) + abs(sums) / unit
    return (square - sums**2) / unit**2 / apart if apart > 0 and sums >= 0 else apart


def _perimeter(circles: Circles) -> int:
    """Return width + height of the bounding box."""
    right, left = max(x + r for x, _, r in circles), min(x - r for x, _, r in circles)
    top, low = max(y + r for _, y, r in circles), min(y - r for _, y, r in circles)
    return right - left + top - low


def _shrunk(rows: list[list[float]], circles: Circles, unit: int, shape: str) -> str | None:
    """Return the sum, rounded down, after the least common cut of the radii; None where that is no small repair."""
    if any(r < 0 for _, _, r in rows):
        return None
    cuts = [0.0]
    if shape == "square":
        cuts += [max(r - x, r - y, x + r - unit, y + r - unit) / unit for x, y, r in circles]
    else:
        cuts.append((_perimeter(circles) - 2 * unit) / unit / 4)
    for i, one in enumerate(circles):
        for other in circles[:i]:
            # Both give half, or the larger gives all but what the smaller has.
            over, less = -_gap(one, other, unit), min(one[2], other[2]) / unit
            cuts.append(over / 2 if over <= 2 * less else over - less)
    # What floats lose in the subtraction is made good in steps of about one unit in the last place.
    for extra in (0.0, 2e-17, 6e-17, 2e-16, 1e-15, 1e-14):
        cut = max(cuts) + extra
        mended = [[x, y, max(0.0, r - cut)] for x, y, r in rows]
        if cut < ALMOST and not _faults(*_scaled(mended), shape):
            scaled, unit = _scaled(mended)
            return _decimal(sum(r for _, _, r in scaled), unit)
    return None


def _down(above: int, below: int) -> float:
    """Return the largest float that is not above a fraction."""
    near = above / below
    over, under = near.as_integer_ratio()
    return near if over * below <= above * under else math.nextafter(near, -math.inf)


def _decimal(above: int, below: int) -> str:
    """Return a fraction >= 0 with twelve decimals, rounded down."""
    whole, part = divmod(above * 10**12 // below, 10**12)
    return f"{whole}.{part:012d}"
