"""Novelty: the threshold question is exact, whatever the pruning."""

import numpy as np
import pytest
from speciate.core.slots import Vector
from speciate.islands.novelty import Cosine, dot


def vector(rng: np.random.Generator, near: Vector | None = None) -> Vector:
    indices = np.unique(rng.integers(0, 1 << 18, 40)).astype(np.int32)
    values = rng.random(len(indices)) + 0.1
    if near is not None:
        indices = near.indices
        values = near.values + rng.normal(0, rng.choice([1e-3, 5e-3, 2e-2]), len(indices))
    return Vector(indices, (values / np.linalg.norm(values)).astype(np.float32))


def test_property_19_the_answer_is_that_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    index, seen = Cosine(), list[Vector]()
    asked = found = 0
    for id in range(400):
        new = vector(rng, seen[int(rng.integers(len(seen)))] if seen and rng.random() < 0.7 else None)
        best = max((dot(new, old) for old in seen), default=0.0)
        answer = index.nearest("island", new)
        asked += 1
        if best >= 0.999:
            assert answer is not None
            assert answer[1] == pytest.approx(best)
            found += 1
        else:
            assert answer is None
        index.add("island", id, new)
        seen.append(new)
    assert 50 < found < asked


def test_the_boundary_belongs_to_the_refused() -> None:
    index = Cosine(Cosine.Options(threshold=1.0))
    same = Vector(np.array([3], np.int32), np.array([1.0], np.float32))
    index.add("s", 1, same)
    assert index.nearest("s", same) == (1, 1.0)


def test_property_27_a_threshold_over_1_refuses_nothing() -> None:
    index = Cosine(Cosine.Options(threshold=1.01))
    same = Vector(np.array([3], np.int32), np.array([1.0], np.float32))
    index.add("s", 1, same)
    assert index.nearest("s", same) is None


def test_property_22_a_vector_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(ValueError, match="not finite"):
        Cosine().add("s", 1, Vector(np.array([1], np.int32), np.array([np.nan], np.float32)))


def test_novelty_is_the_mean_distance_to_the_nearest() -> None:
    x = Vector(np.array([0], np.int32), np.array([1.0], np.float32))
    y = Vector(np.array([1], np.int32), np.array([1.0], np.float32))
    half = Vector(np.array([0, 1], np.int32), np.array([0.6, 0.8], np.float32))
    measure = Cosine(Cosine.Options(neighbours=2))
    assert measure.novelty(x, []) == 1.0
    assert measure.novelty(x, [x, x, y]) == 0.0
    assert measure.novelty(x, [half, y, y]) == pytest.approx(1 - 0.3, abs=1e-6)
