"""The landscapes: their values, their optima, and that they are what a seed says."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from speciate import search
from speciate.core.errors import UsageError
from speciate.core.evaluation import Status
from speciate.core.loading import Plugins
from speciate.core.problem import Problem, load_problem
from speciate.core.scorer import Scorer
from speciate.problems.nk.evaluator import fitness, landscape
from speciate.problems.trap.evaluator import evaluate as trap
from speciate.problems.trap.evaluator import trap as block


def problem(name: str, **options: Any) -> Problem:
    registry = Plugins.installed().registry
    return load_problem(name, {name: registry.path("problem", name)}, options)


def metrics(name: str, text: str, seed: int = 0, **options: Any) -> Mapping[str, float]:
    scorer = Scorer(problem(name, **options))
    try:
        status, reason, answer = scorer.local(f'"{text}"', seed)
    finally:
        scorer.close()
    assert status is Status.OK, reason
    return dict(answer["metrics"])


def test_each_bit_of_nk_has_k_other_partners_and_a_table_of_its_own() -> None:
    partners, values = landscape(12, 3, 5)
    assert partners.shape == (12, 3)
    assert values.shape == (12, 16)
    for bit, others in enumerate(partners):
        assert len({bit, *others.tolist()}) == 4
    assert ((values >= 0) & (values < 1)).all()


def test_nk_is_the_mean_of_the_values_that_bit_and_partners_pick() -> None:
    bits = [1, 0, 1, 1, 0, 0]
    partners, values = landscape(6, 2, 9)
    by_hand = [values[i, 4 * bits[i] + 2 * bits[partners[i, 0]] + bits[partners[i, 1]]] for i in range(6)]
    assert metrics("nk", "101100", n=6, k=2, instance=9)["fitness"] == pytest.approx(math.fsum(by_hand) / 6)


def test_without_partners_the_optimum_of_nk_takes_the_better_value_of_each_bit() -> None:
    best = max(fitness(bits, 10, 0, 3) for bits in itertools.product((0, 1), repeat=10))
    assert best == pytest.approx(landscape(10, 0, 3)[1].max(axis=1).mean())


def test_a_search_reaches_the_best_of_all_texts_of_a_small_landscape_and_nothing_better(tmp_path: Any) -> None:
    best = max(fitness(bits, 10, 2, 3) for bits in itertools.product((0, 1), repeat=10))
    settings = ["problem.n=10", "problem.k=2", "problem.instance=3"]
    found = search("nk", evaluations=250, seed=1, workers=1, out=tmp_path / "run", settings=settings).best
    assert found is not None
    assert found.score == best


def test_partners_make_a_landscape_rugged() -> None:
    def optima(k: int) -> int:
        table = {bits: fitness(bits, 10, k, 1) for bits in itertools.product((0, 1), repeat=10)}
        flips = [tuple(int(i == j) for i in range(10)) for j in range(10)]
        near = {bits: [tuple(a ^ b for a, b in zip(bits, flip, strict=True)) for flip in flips] for bits in table}
        return sum(all(table[bits] > table[other] for other in near[bits]) for bits in table)

    assert optima(0) == 1
    assert optima(6) > 10


def test_another_instance_is_another_landscape_and_the_same_one_is_the_same() -> None:
    text = "01" * 15
    first, second = (metrics("nk", text, instance=i)["fitness"] for i in (1, 2))
    assert first != second
    assert metrics("nk", text, instance=1)["fitness"] == first


def test_noise_is_drawn_from_the_seed_of_the_evaluation() -> None:
    noisy = [metrics("nk", "01" * 15, seed, noise=0.1) for seed in (1, 1, *range(2, 40))]
    assert noisy[0] == noisy[1]
    errors = [found["fitness"] - found["true_fitness"] for found in noisy[1:]]
    assert 0.05 < float(np.std(errors)) < 0.2
    assert len({found["true_fitness"] for found in noisy}) == 1


@pytest.mark.parametrize("order", [3, 5])
def test_a_trap_leads_away_from_its_best(order: int) -> None:
    values = [block(ones, order) for ones in range(order + 1)]
    assert values[order] == 1.0 == max(values)
    assert values[:order] == sorted(values[:order], reverse=True)
    assert values[order - 1] == 0.0


def test_all_ones_is_the_known_optimum_of_the_traps() -> None:
    known = problem("trap").best_known
    assert known is not None
    assert metrics("trap", "1" * 30)["fitness"] == known[0] == 1.0
    assert trap("0" * 30, 30, 5, 0.0, 0)["metrics"]["fitness"] == pytest.approx(0.8)


@pytest.mark.parametrize("text", ["", "012", "1" * 31, "hello"])
@pytest.mark.parametrize("name", ["nk", "trap"])
def test_what_is_no_text_of_n_bits_is_refused_in_a_sentence(name: str, text: str) -> None:
    scorer = Scorer(problem(name))
    status, reason, _ = scorer.local(f'"{text}"')
    scorer.close()
    assert status is Status.INVALID
    assert reason == "write 30 characters, each 0 or 1, and nothing else"


def test_a_search_climbs_and_its_texts_have_n_bits(tmp_path: Any) -> None:
    run = search("trap", evaluations=80, seed=1, workers=1, out=tmp_path / "run", settings=["problem.n=20"])
    best = run.best
    assert best is not None
    assert best.score is not None
    assert best.score > 0.3
    assert len(best.program.text("bits.txt").strip()) == 20


def test_an_option_that_makes_no_landscape_is_said(tmp_path: Any) -> None:
    from speciate.core.errors import SpeciateError

    with pytest.raises(SpeciateError, match="expected 0 <= k < n"):
        search("nk", evaluations=5, workers=1, out=tmp_path / "run", settings=["problem.k=30"]).result()
    with pytest.raises(UsageError, match="expected int"):
        problem("nk", n="many")
