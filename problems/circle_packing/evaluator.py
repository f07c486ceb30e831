"""The local evaluator: the sum of the radii of a valid packing, and what is wrong with one that is not."""

import math
from fractions import Fraction


def evaluate(output, n=26, shape="square"):
    """Return {"metrics", "feedback", "valid"} for an output that was read from JSON."""
    if shape not in ("square", "rectangle"):
        raise ValueError(f"the shape is square or rectangle, not {shape!r}")
    wrong = _shape_fault(output, n)
    if wrong:
        return {"metrics": {}, "feedback": wrong, "valid": False}
    circles = [tuple(map(Fraction, row)) for row in output]
    faults = _faults(circles, shape)
    total = math.fsum(row[2] for row in output)
    if faults:
        shown = "; ".join(sentence for _, sentence in faults[:3])
        more = f" and {len(faults) - 3} more faults" if len(faults) > 3 else ""
        shrunk = _shrunk(circles, shape)
        hint = "" if shrunk is None else f"; every radius cut by the least common amount, the sum is {shrunk:.10f}"
        return {"metrics": {}, "feedback": f"{shown}{more}{hint}", "valid": False}
    touching = sum(_gap(a, b) < 1e-9 for i, a in enumerate(output) for b in output[:i])
    small = min(row[2] for row in output)
    return {
        "metrics": {"sum_radii": total, "smallest": small, "contacts": touching},
        "feedback": f"sum of radii {total:.10f}, {touching} contacts, smallest radius {small:.4f}",
        "valid": True,
    }


def _shape_fault(output, n):
    if type(output) is not list or len(output) != n:
        return f"return a list of {n} rows [x, y, r]"
    for number, row in enumerate(output):
        if type(row) is not list or len(row) != 3:
            return f"row {number} is not [x, y, r]"
        if not all(type(v) in (int, float) and -8 <= v <= 8 for v in row):
            return f"row {number} holds something that is not a finite number of ordinary size"
    return None


def _faults(circles, shape):
    """Return (size, sentence) of every violated constraint, in exact arithmetic, the worst first."""
    faults = []
    for i, (x, y, r) in enumerate(circles):
        if r < 0:
            faults.append((-r, f"circle {i} has radius {float(r):.3g}"))
        if shape == "square":
            out = max(r - x, r - y, x + r - 1, y + r - 1)
            if out > 0:
                faults.append((out, f"circle {i} leaves the square by {float(out):.3g}"))
        for j in range(i):
            u, v, s = circles[j]
            if (x - u) ** 2 + (y - v) ** 2 < (r + s) ** 2:
                by = float(r + s) - math.hypot(float(x - u), float(y - v))
                faults.append((max(by, 1e-17), f"circles {j} and {i} overlap by {by:.3g}"))
    if shape == "rectangle":
        width = max(x + r for x, _, r in circles) - min(x - r for x, _, r in circles)
        height = max(y + r for _, y, r in circles) - min(y - r for _, y, r in circles)
        if width + height > 2:
            faults.append((width + height - 2, f"width + height is 2 + {float(width + height - 2):.3g}"))
    return sorted(faults, key=lambda fault: -fault[0])


def _shrunk(circles, shape):
    """Return the sum after cutting every radius by the least common amount, or None where that is no small repair."""
    if shape != "square" or any(r < 0 for _, _, r in circles):
        return None
    rows = [tuple(map(float, row)) for row in circles]
    cut = max(max(r - x, r - y, x + r - 1, y + r - 1) for x, y, r in rows)
    cut = max([cut, *(-_gap(a, b) / 2 for i, a in enumerate(rows) for b in rows[:i])])
    if not 0 <= cut < 1e-3:
        return None
    return math.fsum(max(0.0, r - cut) for _, _, r in rows)


def _gap(a, b):
    return math.hypot(a[0] - b[0], a[1] - b[1]) - a[2] - b[2]
