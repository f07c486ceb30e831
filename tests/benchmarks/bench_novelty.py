"""Measures the threshold question: time by size, memory, bulk adding; brute force beside it.

    python tests/benchmarks/bench_novelty.py [SIZE …]

Prints CPU time, and in the last column how often brute force in numpy takes as long, measured in the same run.
"""

import gc
import sys
import time
from collections.abc import Callable

import numpy as np
from speciate.core.slots import Vector
from speciate.islands.novelty import Cosine


def population(count: int, rng: np.random.Generator, features: int = 110, width: int = 1 << 18) -> list[Vector]:
    """Return vectors as programs of 400 bytes have them: most are a parent with a few features changed.

    Parents are drawn from the last 2,000, so that lineages share most of what they have.
    """
    rows = [_fresh(rng, features, width) for _ in range(20)]
    while len(rows) < count:
        parent = rows[int(rng.integers(max(0, len(rows) - 2000), len(rows)))]
        gone = rng.choice(len(parent), int(rng.integers(2, 9)), replace=False)
        new = rng.integers(0, width, len(gone))
        rows.append(np.unique(np.concatenate([np.delete(parent, gone), new])))
    return [Vector(row.astype(np.int32), np.full(len(row), len(row) ** -0.5, np.float32)) for row in rows]


def _fresh(rng: np.random.Generator, features: int, width: int) -> np.ndarray:
    # A tenth of the features are syntax that every program has.
    return np.unique(np.concatenate([np.arange(features // 10), rng.integers(0, width, features)]))


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def brute(vectors: list[Vector], asked: list[Vector], width: int = 1 << 18) -> Callable[[], object]:
    """Return a call that takes the inner products of all with each of `asked`."""
    indices = np.concatenate([v.indices for v in vectors])
    values = np.concatenate([v.values for v in vectors])
    starts = np.cumsum([0, *(len(v.indices) for v in vectors[:-1])])

    def work() -> None:
        for one in asked:
            scatter = np.zeros(width, np.float32)
            scatter[one.indices] = one.values
            np.add.reduceat(scatter[indices] * values, starts).max()

    return work


def measure(size: int) -> None:
    """Print one row."""
    rng = np.random.default_rng(0)
    vectors = population(size + 200, rng)
    held, asked = vectors[:size], vectors[size:]
    novelty = Cosine()

    def add_all() -> None:
        for id, one in enumerate(held):
            novelty.add("island", id, one)
        novelty.nearest("island", asked[0])

    added = cpu(add_all)
    question = cpu(lambda: [novelty.nearest("island", one) for one in asked]) / len(asked)
    old = cpu(lambda: [novelty.nearest("island", one) for one in held[:: size // 200]]) / len(held[:: size // 200])

    def one_by_one() -> None:
        for id, one in enumerate(asked):
            novelty.add("island", size + id, one)
            novelty.nearest("island", one)

    both = cpu(one_by_one) / len(asked)
    index = novelty._index
    assert index is not None
    kilobytes = index.nbytes / len(index) / 1000
    nonzero = np.mean([len(v.indices) for v in held[:1000]])
    by_force = cpu(brute(held, asked[:5])) / 5
    row = f"{size:>9,} {nonzero:>8.0f} {1e3 * question:>9.3f} {1e3 * old:>9.3f} {1e3 * both:>9.3f}"
    print(f"{row} {added:>9.2f} {kilobytes:>8.2f} {1e3 * by_force:>9.1f} {by_force / question:>8.0f}x")


def measure_dense(size: int, threshold: float) -> None:
    """Print one row for 384 dense floats in 200 clusters, whose members have cosines of about 0.9."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, 384)).astype(np.float32)
    rows = centres[rng.integers(200, size=size + 50)] + 0.33 * rng.normal(size=(size + 50, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    places = np.arange(384, dtype=np.int32)
    novelty = Cosine(Cosine.Options(threshold=threshold))
    added = cpu(lambda: [novelty.add("island", id, Vector(places, row)) for id, row in enumerate(rows[:size])])
    asked = [Vector(places, row) for row in rows[size:]]
    question = cpu(lambda: [novelty.nearest("island", one) for one in asked]) / len(asked)
    by_force = cpu(lambda: [(rows[:size] @ one.values).max() for one in asked]) / len(asked)
    print(f"{size:>9,} at {threshold:<6} {1e3 * question:>9.3f} ms   added in {added:.2f} s", end="")
    print(f"   brute force {1e3 * by_force:.1f} ms, {by_force / question:.1f}x")


def main() -> None:
    """Print the table."""
    print(f"{'vectors':>9} {'nonzero':>8} {'new ms':>9} {'known ms':>9} {'add+ms':>9} {'bulk s':>9} ", end="")
    print(f"{'kB each':>7} {'brute ms':>9} {'ratio':>9}")
    for size in map(int, sys.argv[1:] or ["1000", "10000", "100000"]):
        measure(size)
    print("dense, 384 floats")
    for size in (10_000, 100_000):
        for threshold in (0.999, 0.99):
            measure_dense(size, threshold)


if __name__ == "__main__":
    main()
