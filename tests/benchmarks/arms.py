"""Arms of a benchmark at equal CPU seconds of candidates: a search as it comes, and loops that a person would write."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from speciate import search
from speciate.core.events import IndividualAdmitted, RecordBroken

PROBLEMS = Path(__file__).resolve().parent.parent.parent / "problems"

RANDOM = ("selector=uniform", "operator.floor=1.0", "operator.mutations=3.0")
"""The settings of the arm `random`: the same operators and outputs, parents drawn alike, and nothing learned."""

Row = dict[str, float]
"""What a run found and what that took: `score`, `cpu` and `wall` seconds, `evaluations`."""

Arm = Callable[[int, Path], Row]
"""Runs one seed in a folder that is not there yet."""


def evolution(problem: str, target: float, cpu: float, settings: Sequence[str] = ()) -> Arm:
    """Return an arm that searches until the target or `cpu` seconds of its candidates."""

    def run(seed: int, folder: Path) -> Row:
        going = search(problem, seed=seed, target=target, seconds=1e6, workers=2, out=folder, settings=settings)
        used, count, best = 0.0, 0, {"score": 0.0, "cpu": 0.0, "wall": 0.0, "evaluations": 0.0}
        began = time.monotonic()
        for event in going:
            if isinstance(event, IndividualAdmitted):
                used, count = used + event.evaluation.cost.cpu_s, count + 1
                if used > cpu:
                    break
            elif isinstance(event, RecordBroken):
                assert event.evaluation.verdict is not None
                score = event.evaluation.verdict.score or 0.0
                best = {"score": score, "cpu": used, "wall": time.monotonic() - began, "evaluations": count}
        going.stop()
        return best

    return run


def loop(problem: str, script: str, *arguments: object) -> Arm:
    """Return an arm that runs a script with the problem's folder, the seed and `arguments`; it prints its row."""

    def run(seed: int, folder: Path) -> Row:
        words = [str(word) for word in (PROBLEMS / problem, seed, *arguments)]
        done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout))

    return run


def report(title: str, arms: dict[str, Arm], chosen: Sequence[str], seeds: Sequence[int], target: float) -> None:
    """Run the chosen arms on all seeds and print a table, with the medians of each."""
    table = Table("arm", "seed", "score", "CPU s", "evaluations", "wall s", title=title)
    with tempfile.TemporaryDirectory() as where:
        for name in chosen:
            rows = []
            for seed in seeds:
                row = arms[name](seed, Path(where) / f"{name}-{seed}")
                rows.append(row)
                print(f"{name} {seed} {row}", file=sys.stderr, flush=True)
                figures = (f"{row[key]:.0f}" for key in ("cpu", "evaluations", "wall"))
                table.add_row(name, str(seed), f"{row['score']:.10f}", *figures)
            hits = [row for row in rows if row["score"] >= target]
            # A run that missed took longer than all that hit, so the median is known when most hit.
            times = sorted(row["cpu"] if row in hits else float("inf") for row in rows)
            median = statistics.median(row["score"] for row in rows)
            table.add_row(name, "median", f"{median:.10f}", f"{statistics.median(times):.0f}", f"{len(hits)} hits", "")
    Console(width=120).print(table)
