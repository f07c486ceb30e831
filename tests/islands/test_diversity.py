"""Diversity measures agree with their definitions, and a collapse is told with its cause."""

import numpy as np
import pytest
from speciate.core.slots import Vector
from speciate.islands.diversity import (
    Diversity,
    collapse,
    coverage,
    crowded,
    effective_number,
    founder_of,
    mean_distance,
    measure,
    unique_share,
)
from speciate.islands.novelty import dot


def vectors(count: int, seed: int = 0) -> list[Vector]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        indices = np.unique(rng.integers(0, 40, 10)).astype(np.int32)
        values = rng.random(len(indices)) + 0.1
        made.append(Vector(indices, (values / np.linalg.norm(values)).astype(np.float32)))
    return made


def test_the_mean_distance_is_that_over_all_pairs() -> None:
    made = vectors(30)
    pairs = [1 - dot(a, b) for k, a in enumerate(made) for b in made[k + 1 :]]
    assert mean_distance(made) == pytest.approx(np.mean(pairs), abs=1e-6)
    assert mean_distance(made[:1]) is None
    assert mean_distance([made[0], made[0]]) == pytest.approx(0.0, abs=1e-6)
    zero = Vector(np.zeros(0, np.int32), np.zeros(0, np.float32))
    assert mean_distance([zero, zero]) == 1.0


def test_the_effective_number_counts_equal_lineages_fully_and_rare_ones_little() -> None:
    assert effective_number(list(range(10))) == pytest.approx(10.0)
    entropy = -0.991 * np.log(0.991) - 9 * 0.001 * np.log(0.001)
    assert effective_number([1] * 991 + list(range(2, 11))) == pytest.approx(np.exp(entropy))
    assert np.exp(entropy) < 1.1
    assert effective_number([]) == 0.0


def test_a_founder_stands_at_a_depth_of_the_lineage() -> None:
    parents = {0: None, 1: 0, 2: 1, 3: 2, 4: 0}
    assert [founder_of(id, parents, 0) for id in range(5)] == [0] * 5
    assert [founder_of(id, parents, 1) for id in range(5)] == [0, 1, 1, 1, 4]


def test_shares_and_coverage() -> None:
    assert unique_share(["a", "b", "a", "c"]) == 0.75
    assert unique_share([]) == 1.0
    assert coverage([(0, 1), (0, 1), (2, 2)], 8) == 0.25
    with pytest.raises(ValueError, match="at most the 1"):
        coverage([1, 2], 1)


def test_crowds_are_counted_within_a_radius() -> None:
    made = vectors(20, 3)
    expected = [sum(1 - dot(a, b) <= 0.6 for b in made if b is not a) for a in made]
    assert crowded(made, 0.6).tolist() == expected


def test_all_measures_together() -> None:
    made = vectors(4)
    assert measure(made, ["a", "a", "b", "c"], [0, 0, 1, 1]) == Diversity(4, mean_distance(made), 0.75, 2.0)


@pytest.mark.parametrize(
    ("now", "refused", "words"),
    [
        (Diversity(50, 0.3, 0.2, 5.0), {}, "copies are let in"),
        (Diversity(50, 0.01, 1.0, 5.0), {"similar": 60}, "repeat what there is"),
        (Diversity(50, 0.15, 1.0, 1.1), {}, "one lineage"),
        (Diversity(50, 0.01, 1.0, 5.0), {}, "close to one another"),
    ],
)
def test_a_collapse_is_told_with_its_cause(now: Diversity, refused: dict[str, int], words: str) -> None:
    sentence = collapse([Diversity(20, 0.4, 1.0, 8.0), now], refused, 100)
    assert sentence is not None
    assert words in sentence


def test_a_healthy_or_a_small_population_has_not_collapsed() -> None:
    assert collapse([Diversity(50, 0.3, 0.9, 4.0)], {}, 100) is None
    assert collapse([Diversity(3, 0.0, 0.1, 1.0)], {}, 100) is None
    assert collapse([], {}, 0) is None


def test_common_descent_alone_is_no_collapse() -> None:
    assert collapse([Diversity(50, 0.3, 1.0, 5.0), Diversity(100, 0.25, 1.0, 1.0)], {}, 100) is None
