"""Packings with the verdict that each must get, the judges, and what a valid packing is by definition."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from problem_modules import load

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "problems" / "circle_packing"
COPIED = Path(__file__).parent / "data" / "circle_outputs.json"
HANDED = ROOT.parent / "shared" / "cases" / "geometry" / "outputs.json"
SHAPES = ("square", "rectangle")

Case = dict[str, Any]
Rows = list[list[Any]]
Packing = NDArray[np.float64]


ORACLE, EVALUATOR, PICTURE, BLOCKS = (
    load("circle_packing", name) for name in ("oracle", "evaluator", "picture", "blocks")
)


def cases(path: Path) -> list[Case]:
    return [case for case in json.loads(path.read_text("utf-8")) if case["problem"] == "circle_packing"]


def handed() -> list[Any]:
    if HANDED.is_file():
        return [pytest.param(case, id=f"handed-{case['name']}") for case in cases(HANDED)]
    reason = "the handed cases do not lie beside the repository, at shared/cases/geometry/outputs.json"
    return [pytest.param({}, id="handed", marks=pytest.mark.skip(reason=reason))]


ALL_CASES = [pytest.param(case, id=case["name"]) for case in cases(COPIED)] + handed()


def anchors() -> list[Case]:
    found: list[Case] = json.loads((FOLDER / "anchors.json").read_text("utf-8"))
    return found


BEST: Rows = anchors()[0]["output"]


def judged(rows: Rows, shape: str = "square") -> Case:
    verdict: Case = ORACLE.judge(json.dumps(rows), len(rows), shape)
    return verdict


def accepted(rows: Rows, shape: str = "square") -> bool:
    """Return whether the oracle accepts; the evaluator must say the same."""
    valid = judged(rows, shape)["valid"]
    assert EVALUATOR.evaluate(rows, len(rows), shape)["valid"] is valid
    return valid is True


def naive(rows: Rows, shape: str) -> Fraction | None:
    """Return the exact sum of the radii of a valid packing, None for another: the definition, in fractions."""
    circles = [tuple(Fraction(value) for value in row) for row in rows]
    if any(r < 0 for _, _, r in circles):
        return None
    if shape == "square":
        inside = all(x - r >= 0 and x + r <= 1 and y - r >= 0 and y + r <= 1 for x, y, r in circles)
    else:
        width = max(x + r for x, _, r in circles) - min(x - r for x, _, r in circles)
        height = max(y + r for _, y, r in circles) - min(y - r for _, y, r in circles)
        inside = width + height <= 2
    pairs = [(a, b) for k, a in enumerate(circles) for b in circles[:k]]
    apart = all((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 >= (a[2] + b[2]) ** 2 for a, b in pairs)
    return sum((r for _, _, r in circles), Fraction(0)) if inside and apart else None
