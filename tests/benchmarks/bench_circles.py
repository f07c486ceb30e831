"""Evolution against random search and multi-start on 26 circles, at equal CPU seconds of candidates.

    python tests/benchmarks/bench_circles.py [--cpu 340] [--seeds 1,2,3,4,5] [--arms evolution,random,multi-start]

`evolution` is `speciate run circle_packing` as it comes. `random` draws its programs by the same operators over the
same building blocks and starts them from the same outputs, but draws parents alike and learns nothing. `multi-start`
is a loop a person would write: a hexagonal start, the sequential linear program, again. Each arm ends at the target
or when its candidates have used `cpu` seconds of CPU time, which holds on a shared machine too; three minutes of two
quiet cores are about 340. The number of evaluations to the target is the same on any machine and any number of workers.
"""

import argparse

from arms import RANDOM, evolution, loop, report

TARGET = 2.63598

MULTI_START = """
import json, sys, time
import numpy as np
sys.path.insert(0, sys.argv[1])
import blocks, oracle
rng, seconds = np.random.default_rng(int(sys.argv[2])), float(sys.argv[3])
best, found, tries, began = 0.0, 0.0, 0, time.process_time()
while time.process_time() - began < seconds and best < float(sys.argv[4]):
    tries += 1
    blocks.use_effort(1e9)
    start = blocks.hexagonal_start(blocks.packing(blocks.grid_start(26), "square"), rng)
    packing = blocks.strict(blocks.polish_slp(blocks.radii_by_lp(start)))
    if blocks.total(packing) > best:
        verdict = oracle.judge(json.dumps(packing.tolist()))
        if verdict["valid"]:
            best, found = verdict["score"], time.process_time() - began
print(json.dumps({"score": best, "cpu": found, "evaluations": tries, "wall": time.process_time() - began}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", type=float, default=340, help="CPU seconds of candidates for each run")
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--arms", default="evolution,random,multi-start")
    given = parser.parse_args()
    arms = {
        "evolution": evolution("circle_packing", TARGET, given.cpu),
        "random": evolution("circle_packing", TARGET, given.cpu, RANDOM),
        "multi-start": loop("circle_packing", MULTI_START, given.cpu, TARGET),
    }
    seeds = [int(seed) for seed in given.seeds.split(",")]
    report("26 circles, sum of radii, exact oracle", arms, given.arms.split(","), seeds, TARGET)


if __name__ == "__main__":
    main()
