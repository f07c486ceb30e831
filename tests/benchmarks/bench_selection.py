"""Measures a selection with its context among ever more members: weighted forms, sum tree, a plain cumulative sum.

    python tests/benchmarks/bench_selection.py [SIZE …]

A selection is a parent and two inspirations. Between two selections one member is born and one parent is counted, as in
a run with an unbounded archive. Prints CPU milliseconds, and in brackets the multiple of the first size's time.
"""

import sys
import time

import numpy as np
from speciate.core.slots import Inspirations, Selector
from speciate.core.view import IslandView
from speciate.islands.inspirations import UniformInspirations
from speciate.islands.scaling import draw
from speciate.islands.selectors import Novel, PowerLaw, Shinka, Uniform
from speciate.islands.selectors_classic import Tournament
from speciate.islands.sumtree import SumTree

COLUMNS = tuple(name for name in IslandView.__slots__ if name not in ("island", "instances"))


class Plain(Novel):
    """`novel` as it would be without its short cut: all weights, one cumulative sum."""

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Draw one member."""
        return int(view.ids[draw(self.weights(view), rng)])


def columns_of(n: int) -> dict[str, np.ndarray]:
    """Return columns as a run makes them: few tries for most members, many for a few."""
    rng = np.random.default_rng(0)
    return {
        "ids": np.arange(n),
        "fitness": np.cumsum(rng.random(n)) / n + rng.normal(size=n),
        "offspring": rng.geometric(0.5, n) - 1,
        "refused": rng.geometric(0.6, n) - 1,
        "generation": np.sort(rng.integers(0, 50, n)),
        "novelty": rng.random(n),
        "length": rng.integers(100, 900, n),
        "seed": np.arange(n) == 0,
        "migrant": np.zeros(n, bool),
        "parent": np.arange(n) // 2 - (np.arange(n) == 0),
        "best_child": np.full(n, np.nan),
        "visits": np.zeros(n, np.int64),
        "in_flight": np.zeros(n, np.int64),
    }


def selection(selector: Selector, context: Inspirations, n: int, steps: int) -> float:
    """Return CPU milliseconds of a selection, amortised over an island that grows by one member each time."""
    columns, rng = columns_of(n + steps + 1), np.random.default_rng(1)
    spent = 0.0
    for step in range(steps + 1):
        view = IslandView(0, **{name: columns[name][: n + step] for name in COLUMNS})
        start = time.process_time()
        parent = selector.select(view, rng)
        context.choose(view, parent, 2, rng)
        # The first call meets an island that it has never seen.
        spent += time.process_time() - start if step else 0.0
        columns["offspring"][parent] += 1
    return 1e3 * spent / steps


def tree(n: int, steps: int) -> float:
    """Return CPU milliseconds of a draw, a change and a birth in a sum tree."""
    columns, rng = columns_of(n), np.random.default_rng(1)
    sums = SumTree(1.0 / (1.0 + columns["offspring"]))
    start = time.process_time()
    for _ in range(steps):
        place = sums.draw(rng)
        sums[place] = sums[place] / (1.0 + sums[place])
        sums.append(1.0)
    return 1e3 * (time.process_time() - start) / steps


def main() -> None:
    """Print the curve."""
    sizes = list(map(int, sys.argv[1:] or ["1000", "10000", "100000", "1000000"]))
    print(f"{'ms a selection':24}" + "".join(f"{size:>20,}" for size in sizes))
    arms = (Novel(), Plain(), Shinka(), PowerLaw(), Tournament(), Uniform())
    for arm in arms:
        row = [selection(arm, UniformInspirations(), size, 40 if size > 200_000 else 200) for size in sizes]
        name = "novel, all weights" if isinstance(arm, Plain) else type(arm).__name__
        print(f"{name:24}" + "".join(f"{ms:>11.3f} ({ms / row[0]:5.1f}x)" for ms in row))
    row = [tree(size, 2000) for size in sizes]
    print(f"{'sum tree':24}" + "".join(f"{ms:>11.3f} ({ms / row[0]:5.1f}x)" for ms in row))


if __name__ == "__main__":
    main()
