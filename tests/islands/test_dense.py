"""Dense vectors are compared as exactly as sparse ones, and with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speciate.core.slots import Vector
from speciate.islands.dense import is_dense
from speciate.islands.nearness import NearIndex
from speciate.islands.novelty import dot


def dense(values: np.ndarray) -> Vector:
    unit = values / np.linalg.norm(values)
    return Vector(np.arange(len(unit), dtype=np.int32), unit.astype(np.float32))


def sparse(values: dict[int, float]) -> Vector:
    entries = np.array(list(values.values()))
    return Vector(np.array(list(values), np.int32), (entries / np.linalg.norm(entries)).astype(np.float32))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), threshold=st.sampled_from([0.5, 0.9, 0.99, 0.999]))
def test_the_index_answers_as_brute_force_does(seed: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    index, added = NearIndex(threshold), list[Vector]()
    for id in range(60):
        base = added[int(rng.integers(len(added)))].values if added and rng.random() < 0.8 else rng.normal(size=96)
        one = dense(base + rng.normal(size=96) * float(rng.choice([0.0, 1e-3, 4e-3, 0.02, 0.1])))
        best = max((dot(one, other) for other in added), default=-1.0)
        found = index.nearest("s", one)
        if best < threshold + 1e-6:
            # Within rounding of the boundary either answer is right.
            assert found is None or found[1] >= threshold - 1e-6
        else:
            assert found is not None
            assert found[1] == pytest.approx(best, abs=1e-6)
        index.add("s", id, one)
        added.append(one)


def test_sparse_and_dense_vectors_of_one_scope_are_compared() -> None:
    index = NearIndex(0.9)
    spike = np.full(80, 1e-3)
    spike[5] = 1.0
    index.add("s", 1, dense(spike))
    index.add("s", 2, sparse({7: 1.0}))
    assert index.nearest("s", sparse({5: 1.0})) == (1, pytest.approx(1.0, abs=1e-3))
    assert index.nearest("s", sparse({5: 1.0, 500: 1.0})) is None
    spike = np.full(80, 1e-3)
    spike[7] = 1.0
    found = index.nearest("s", dense(spike))
    assert found is not None
    assert found[0] == 2
    assert index.nearest("another", dense(spike)) is None


def test_what_is_dense() -> None:
    assert is_dense(dense(np.ones(64)))
    assert not is_dense(dense(np.ones(63)))
    assert not is_dense(sparse(dict.fromkeys(range(1, 90), 1.0)))
    assert not is_dense(Vector(np.zeros(0, np.int32), np.zeros(0, np.float32)))


def test_many_dense_vectors_are_held_beyond_the_first_room() -> None:
    rng = np.random.default_rng(0)
    index, made = NearIndex(0.999), [dense(rng.normal(size=64)) for _ in range(500)]
    for id, one in enumerate(made):
        index.add("s", id, one)
    assert len(index) == 500
    assert [index.nearest("s", one)[0] for one in made] == list(range(500))  # type: ignore[index]
