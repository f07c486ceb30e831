"""Evolution against random search and a basin hopping on Heilbronn's problem, at equal CPU seconds of candidates.

    python tests/benchmarks/bench_heilbronn.py [--cpu 500] [--seeds 1,2,3,4,5] [--arms evolution,random,hopping]
        [--region triangle --n 11 --target 0.036529]

`evolution` is `speciate run heilbronn` as it comes. `random` draws its programs by the same operators over the same
building blocks and starts them from the same outputs, but draws parents alike and learns nothing. `hopping` is a loop a
person would write: relocate a point of the smallest triangle, or some, climb, accept as in annealing. Each arm ends at
the target or when its candidates have used `cpu` seconds of CPU time, which holds on a shared machine too. The number
of evaluations to the target is the same on any machine and any number of workers; a hopping counts its climbs.
"""

import argparse

from arms import RANDOM, evolution, loop, report

HOPPING = """
import json, sys, time
import numpy as np
sys.path.insert(0, sys.argv[1])
import blocks, oracle
rng, seconds, target = np.random.default_rng(int(sys.argv[2])), float(sys.argv[3]), float(sys.argv[4])
n, region = int(sys.argv[5]), sys.argv[6]
best, found, tries, began = 0.0, 0.0, 0, time.process_time()
current = blocks.first_points(n, region, rng)
while time.process_time() - began < seconds and best < target:
    tries += 1
    blocks.use_effort(1e9)
    few = rng.random() < 0.5
    trial = blocks.polish(blocks.relocate_some(current, rng) if few else blocks.relocate_worst(current, rng))
    current = blocks.metropolis(trial, current, rng)
    if blocks.score(current) > best:
        verdict = oracle.judge(json.dumps(blocks.strict(current).tolist()), n, region)
        if verdict["valid"] and verdict["score"] > best:
            best, found = verdict["score"], time.process_time() - began
print(json.dumps({"score": best, "cpu": found, "evaluations": tries, "wall": time.process_time() - began}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", type=float, default=500, help="CPU seconds of candidates for each run")
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--arms", default="evolution,random,hopping")
    parser.add_argument("--region", default="triangle")
    parser.add_argument("--n", type=int, default=11)
    parser.add_argument("--target", type=float, default=0.036529)
    given = parser.parse_args()
    points = (f"problem.n={given.n}", f"problem.region={given.region}")
    arms = {
        "evolution": evolution("heilbronn", given.target, given.cpu, points),
        "random": evolution("heilbronn", given.target, given.cpu, (*RANDOM, *points)),
        "hopping": loop("heilbronn", HOPPING, given.cpu, given.target, given.n, given.region),
    }
    seeds = [int(seed) for seed in given.seeds.split(",")]
    title = f"{given.n} points, {given.region}, smallest area, exact oracle"
    report(title, arms, given.arms.split(","), seeds, given.target)


if __name__ == "__main__":
    main()
