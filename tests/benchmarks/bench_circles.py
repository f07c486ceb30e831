"""Evolution against random search and multi-start on 26 circles, at equal CPU seconds of candidates.

    python tests/benchmarks/bench_circles.py [--seconds 180] [--seeds 5] [--arms evolution,random,multi-start]

`evolution` is `speciate run circle_packing` as it comes. `random` draws its programs by the same operators over the
same building blocks and starts them from the same outputs, but draws parents alike and learns nothing. `multi-start`
is a loop a person would write: a hexagonal start, the sequential linear program, again. Each arm gets `seconds` of
wall time on two workers; the CPU time that was really used is printed, since machines are shared.
"""

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = 2.63598

RANDOM = ("selector=uniform", "operator.floor=1.0", "operator.mutations=3.0")

MULTI_START = """
import json, sys, time
import numpy as np
sys.path.insert(0, sys.argv[1])
import blocks, oracle
rng, seconds = np.random.default_rng(int(sys.argv[2])), float(sys.argv[3])
best, found, began = 0.0, None, time.process_time()
while time.process_time() - began < seconds and best < float(sys.argv[4]):
    blocks.use_effort(1e9)
    start = blocks.hexagonal_start(blocks.packing(blocks.grid_start(26), "square"), rng)
    packing = blocks.strict(blocks.polish_slp(blocks.radii_by_lp(start)))
    if blocks.total(packing) > best:
        verdict = oracle.judge(json.dumps(packing.tolist()))
        if verdict["valid"]:
            best, found = verdict["score"], time.process_time() - began
print(json.dumps({"score": best, "seconds": found, "cpu": time.process_time() - began}))
"""


def evolve(folder: Path, seed: int, seconds: float, settings: tuple[str, ...]) -> dict[str, float]:
    """Run a search; return the best oracle-verified score, when it was found, and the CPU time until the end."""
    command = [sys.executable, "-m", "speciate.core.cli.main", "run", "circle_packing", "--seed", str(seed)]
    command += ["--seconds", str(seconds), "--target", str(TARGET), "--workers", "2", "--out", str(folder), "--quiet"]
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    best = json.loads(done.stdout)["best"]
    with sqlite3.connect(f"file:{folder / 'run.db'}?mode=ro", uri=True) as db:
        cpu = db.execute("SELECT sum(cpu_s) FROM costs").fetchone()[0]
    return {"score": best["score"], "seconds": best["seconds"], "cpu": cpu}


def multi_start(seed: int, seconds: float) -> dict[str, float]:
    """Run the loop in one process for as many CPU seconds as two workers have."""
    folder = ROOT / "problems" / "circle_packing"
    arguments = [str(folder), str(seed), str(2 * seconds), str(TARGET)]
    done = subprocess.run([sys.executable, "-c", MULTI_START, *arguments], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--arms", default="evolution,random,multi-start")
    given = parser.parse_args()
    table = Table(
        "arm", "seed", "score", "found after, s", "CPU s used", title="26 circles, sum of radii, exact oracle"
    )
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as where:
        for arm in given.arms.split(","):
            rows = []
            for seed in range(1, given.seeds + 1):
                if arm == "multi-start":
                    row = multi_start(seed, given.seconds)
                else:
                    settings = RANDOM if arm == "random" else ()
                    row = evolve(Path(where) / f"{arm}-{seed}", seed, given.seconds, settings)
                rows.append(row)
                print(f"{arm} {seed} {row} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)
                table.add_row(arm, str(seed), f"{row['score']:.10f}", f"{row['seconds']:.1f}", f"{row['cpu']:.0f}")
            scores = [row["score"] for row in rows]
            hits = [row["seconds"] for row in rows if row["score"] >= TARGET]
            found = f"{statistics.median(hits):.1f}" if hits else "-"
            table.add_row(arm, "median", f"{statistics.median(scores):.10f}", found, f"{len(hits)}/{len(rows)} hits")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
