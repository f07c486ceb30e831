"""A tree of sums draws and changes as a plain list of weights would."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speciate.islands.sumtree import SumTree

WEIGHTS = st.floats(0, 1e6, allow_nan=False)
STEPS = st.lists(st.tuples(st.sampled_from(["set", "append", "pop"]), st.integers(0, 99), WEIGHTS), max_size=60)


@settings(max_examples=150, deadline=None)
@given(start=st.lists(WEIGHTS, max_size=20), steps=STEPS)
def test_it_holds_what_a_list_would(start: list[float], steps: list[tuple[str, int, float]]) -> None:
    tree, plain = SumTree(np.array(start)), list(start)
    for kind, place, weight in steps:
        if kind == "append":
            tree.append(weight)
            plain.append(weight)
        elif plain and kind == "set":
            tree[place % len(plain)] = weight
            plain[place % len(plain)] = weight
        elif plain:
            place %= len(plain)
            tree.pop(place)
            plain[place] = plain[-1]
            plain.pop()
    assert [tree[k] for k in range(len(tree))] == plain
    assert tree.total == pytest.approx(sum(plain))


def test_draws_follow_the_weights() -> None:
    tree = SumTree(np.array([1.0, 0.0, 2.0, 5.0]))
    tree.append(2.0)
    rng = np.random.default_rng(0)
    drawn = [tree.draw(rng) for _ in range(5000)]
    assert [drawn.count(k) / 5000 for k in range(5)] == pytest.approx([0.1, 0.0, 0.2, 0.5, 0.2], abs=0.025)


def test_nobody_of_weight_zero_is_drawn() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 3, 7, 64):
        weights = np.zeros(size)
        weights[size // 2] = 1e-300
        assert {SumTree(weights).draw(rng) for _ in range(50)} == {size // 2}


def test_what_cannot_be_a_weight_is_an_error() -> None:
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="negative or not finite"):
            SumTree(np.array([1.0, bad]))
        with pytest.raises(ValueError, match="negative or not finite"):
            SumTree(np.ones(2))[0] = bad
    with pytest.raises(ValueError, match="all weights are 0"):
        SumTree(np.zeros(3)).draw(np.random.default_rng(0))
    with pytest.raises(IndexError, match="no place 3"):
        SumTree(np.ones(3))[3]
