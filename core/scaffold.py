"""Writes the files of a new problem that runs at once and passes its check."""

import re
from pathlib import Path

from .errors import UsageError

PROBLEM = """[problem]
name = "{name}"
summary = "Place n points in the unit square so that the two nearest lie as far apart as they can."
preload = ["numpy"]

[objective]
name = "distance"
direction = "maximise"

[limits]
wall_s = 10
cpu_s = 5

[options]
n = 9
"""

EVALUATOR = '''"""Scores an output, which comes as plain data: lists, numbers, text."""

import math


def evaluate(output, n):
    """Return the metrics, or why the output is no solution."""
    if not (isinstance(output, list) and len(output) == n):
        return {"metrics": {}, "valid": False, "feedback": f"return a list of {n} points"}
    if not all(isinstance(p, list) and len(p) == 2 and all(map(inside, p)) for p in output):
        return {"metrics": {}, "valid": False, "feedback": "each point is [x, y] with both in 0 … 1"}
    distance = min(math.dist(p, q) for i, p in enumerate(output) for q in output[:i])
    return {"metrics": {"distance": distance}, "feedback": f"the two nearest are {distance:.4f} apart"}


def inside(value):
    return type(value) in (int, float) and 0 <= value <= 1
'''

SEED = '''"""Places points in the unit square."""

import numpy as np


def main(n, seed):
    """Return n points as lists of x and y."""
    rng = np.random.default_rng(seed)
    # EVOLVE-BLOCK-START
    points = rng.random((n, 2))
    for step in range(20):
        moved = np.clip(points + rng.normal(0.0, 0.05, (n, 2)), 0.0, 1.0)
        points = moved if spread(moved) > spread(points) else points
    # EVOLVE-BLOCK-END
    return points.tolist()


def spread(points):
    gaps = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    return gaps[np.triu_indices(len(points), 1)].min()
'''


def new_problem(name: str, parent: Path) -> Path:
    """Write the scaffold of a problem into a new folder `parent`/`name` and return it.

    Raises UsageError when the name cannot be one or the folder is there already.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise UsageError(f"{name!r} cannot name a problem; expected a letter, then letters, digits, '_' or '-'")
    folder = parent / name
    if folder.exists():
        raise UsageError(f"{folder} is there already; give another name, or --in another folder")
    try:
        folder.mkdir(parents=True)
        (folder / "problem.toml").write_text(PROBLEM.format(name=name), encoding="utf-8")
        (folder / "evaluator.py").write_text(EVALUATOR, encoding="utf-8")
        (folder / "seed.py").write_text(SEED, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from None
    return folder
