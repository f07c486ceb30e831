"""Refusal by cosine is exact, fails closed, and keeps its comparison sets apart."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speciate.core.slots import Vector
from speciate.islands.nearness import NearIndex
from speciate.islands.novelty import Cosine, dot


def vector(values: dict[int, float]) -> Vector:
    """Return a unit vector of these entries."""
    indices = np.array(sorted(values), np.int32)
    entries = np.array([values[int(i)] for i in indices], np.float64)
    return Vector(indices, (entries / np.linalg.norm(entries)).astype(np.float32))


def cosine(**options: float) -> Cosine:
    return Cosine(Cosine.Options(**options))  # type: ignore[arg-type]


def answer(found: tuple[int, float] | None) -> tuple[int, float] | None:
    """Return an answer with its cosine rounded."""
    return None if found is None else (found[0], round(found[1], 6))


def related(seed: int, count: int, width: int = 60, nonzero: int = 12) -> list[Vector]:
    """Return vectors of which many are slight changes of others, as offspring are."""
    rng = np.random.default_rng(seed)
    made: list[dict[int, float]] = []
    for _ in range(count):
        if made and rng.random() < 0.8:
            values = dict(made[int(rng.integers(len(made)))])
            changed = int(rng.choice(list(values)))
            values[changed] *= 1 + float(rng.normal()) * float(rng.choice([0.0, 0.01, 0.05, 1.0]))
        else:
            places = rng.choice(width, nonzero, replace=False)
            values = dict(zip(places.tolist(), (rng.random(nonzero) + 0.1).tolist(), strict=True))
        made.append(values)
    return [vector(values) for values in made]


def brute(added: list[tuple[str, int, Vector]], scope: str, asked: Vector, threshold: float) -> float | None:
    """Return the largest cosine of a scope when it reaches the threshold."""
    best = max((dot(asked, other) for where, _, other in added if where == scope), default=-1.0)
    return best if best >= threshold else None


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 10_000), threshold=st.sampled_from([0.3, 0.8, 0.95, 0.99, 0.999, 1.0]))
def test_the_index_answers_as_brute_force_does(seed: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    index = NearIndex(threshold)
    added: list[tuple[str, int, Vector]] = []
    for id, one in enumerate(related(seed, 60)):
        scope = f"scope {int(rng.integers(2))}"
        expected = brute(added, scope, one, threshold)
        found = index.nearest(scope, one)
        if expected is None or expected < threshold + 1e-6:
            # Within rounding of the boundary either answer is right.
            assert found is None or found[1] >= threshold - 1e-6
        else:
            assert found is not None
            assert found[1] == pytest.approx(expected, abs=1e-6)
        if rng.random() < 0.8:
            index.add(scope, id, one)
            added.append((scope, id, one))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_negative_values_are_no_exception(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = [vector(dict(enumerate(rng.normal(size=4).tolist()))) for _ in range(200)]
    index = NearIndex(0.9)
    for id, one in enumerate(vectors[:-1]):
        index.add("s", id, one)
    found = index.nearest("s", vectors[-1])
    cosines = [dot(vectors[-1], other) for other in vectors[:-1]]
    assert (found is None) == (max(cosines) < 0.9)
    assert found is None or found[0] == int(np.argmax(cosines))


def test_property_18_an_equal_program_is_refused() -> None:
    novelty = cosine()
    novelty.add("s", 4, vector({3: 1.0, 9: 2.0}))
    assert answer(novelty.nearest("s", vector({3: 1.0, 9: 2.0}))) == (4, 1.0)


def test_property_19_at_or_above_the_threshold_is_refused_and_below_accepted() -> None:
    novelty = cosine(threshold=0.5)
    novelty.add("s", 1, vector({0: 1.0}))
    # The cosine of (1, 0, 0, 0) and (1, 1, 1, 1) is exactly one half.
    assert novelty.nearest("s", vector({0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0})) == (1, 0.5)
    assert novelty.nearest("s", vector({0: 1.0, 1: 1.0, 2: 1.0, 3: 1.001})) is None


def test_property_19_a_permuted_population_gives_the_same_answers() -> None:
    vectors = related(3, 300)
    order = np.random.default_rng(1).permutation(250)
    first, second = cosine(threshold=0.99), cosine(threshold=0.99)
    for id in range(250):
        first.add("s", id, vectors[id])
        second.add("s", int(order[id]), vectors[int(order[id])])
    asked = vectors[250:]
    answers = [first.nearest("s", one) for one in asked]
    again = [second.nearest("s", one) for one in asked]
    # Which of several equal vectors is named may depend on the order, whether and how near may not.
    cosines = [[one and round(one[1], 6) for one in found] for found in (answers, again)]
    assert cosines[0] == cosines[1]
    assert None in cosines[0]
    assert any(cosines[0])


def test_property_20_refusal_needs_no_model() -> None:
    novelty = Cosine()
    novelty.add("s", 0, vector({0: 1.0}))
    assert novelty.nearest("s", vector({0: 1.0})) is not None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_property_22_a_vector_that_is_not_finite_is_an_error(bad: float) -> None:
    broken = Vector(np.array([0, 1], np.int32), np.array([0.5, bad], np.float32))
    with pytest.raises(ValueError, match="not finite"):
        Cosine().add("s", 0, broken)
    with pytest.raises(ValueError, match="not finite"):
        Cosine().nearest("s", broken)


def test_property_22_the_zero_vector_is_compared_by_nothing() -> None:
    zero = Vector(np.zeros(0, np.int32), np.zeros(0, np.float32))
    novelty = cosine(threshold=0.1)
    novelty.add("s", 0, zero)
    novelty.add("s", 1, vector({0: 1.0}))
    assert novelty.nearest("s", zero) is None
    assert answer(novelty.nearest("s", vector({0: 1.0}))) == (1, 1.0)
    assert novelty.novelty(zero, [vector({0: 1.0})]) == 1.0
    assert novelty.novelty(vector({0: 1.0}), [zero]) == 1.0


def test_property_23_the_comparison_set_is_the_scope() -> None:
    novelty = Cosine()
    novelty.add("island 0", 0, vector({0: 1.0}))
    assert novelty.nearest("island 1", vector({0: 1.0})) is None
    assert novelty.nearest("island 0", vector({0: 1.0})) is not None


def test_property_27_a_threshold_of_one_refuses_equals_only() -> None:
    novelty = cosine(threshold=1.0)
    vectors = related(5, 300)
    for id, one in enumerate(vectors):
        novelty.add("s", id, one)
    for one in vectors:
        found = novelty.nearest("s", one)
        assert found is not None
        assert found[1] == pytest.approx(1.0, abs=1e-12)
    for one in vectors[:50]:
        slightly = Vector(one.indices, one.values * np.linspace(1, 1.01, len(one.values), dtype=np.float32))
        assert novelty.nearest("s", slightly) is None


def test_a_threshold_over_one_refuses_nothing() -> None:
    novelty = cosine(threshold=1.01)
    novelty.add("s", 0, vector({0: 1.0}))
    assert novelty.nearest("s", vector({0: 1.0})) is None


def test_equal_vectors_are_kept_once_with_their_first_id() -> None:
    index = NearIndex(0.999)
    for id in (7, 3, 5):
        index.add("s", id, vector({1: 1.0, 5: 1.0}))
    index.add("another", 1, vector({1: 1.0, 5: 1.0}))
    assert len(index) == 2
    assert answer(index.nearest("s", vector({1: 1.0, 5: 1.0}))) == (7, 1.0)


def test_many_scopes_share_one_index() -> None:
    index = NearIndex(0.999)
    vectors = related(8, 400, width=4000)
    for id, one in enumerate(vectors):
        index.add(f"input {id}", id, one)
    found = [answer(index.nearest(f"input {id}", one)) for id, one in enumerate(vectors)]
    assert found == [(id, 1.0) for id in range(400)]


def test_vectors_added_before_the_first_question_and_after_are_found_alike() -> None:
    vectors = related(9, 3000, width=500)
    lazily, eagerly = NearIndex(0.99), NearIndex(0.99)
    for id, one in enumerate(vectors):
        lazily.add("s", id, one)
        eagerly.add("s", id, one)
        eagerly.nearest("s", one)
    for first in vectors[::50]:
        assert lazily.nearest("s", first) == eagerly.nearest("s", first)


def test_novelty_is_the_mean_distance_to_the_nearest() -> None:
    one = vector({0: 1.0})
    others = [vector({0: 1.0, k: 1.0}) for k in range(1, 4)] + [vector({9: 1.0})]
    half = 1 / np.sqrt(2)
    assert cosine(neighbours=3).novelty(one, others) == pytest.approx(1 - half, abs=1e-6)
    assert cosine(neighbours=4).novelty(one, others) == pytest.approx(1 - 3 * half / 4, abs=1e-6)
    assert cosine(neighbours=9).novelty(one, others) == pytest.approx(1 - 3 * half / 4, abs=1e-6)


def test_with_nobody_there_everything_is_new() -> None:
    assert Cosine().novelty(vector({0: 1.0}), []) == 1.0


def test_novelty_falls_as_neighbours_come_nearer() -> None:
    one = vector({0: 1.0})
    values = [Cosine().novelty(one, [vector({0: 1.0, 1: far})]) for far in (0.0, 0.1, 0.5, 2.0)]
    assert all(a < b for a, b in pairwise(values))
