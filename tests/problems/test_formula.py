"""The landscape of formulas: its hidden formula is its optimum, and a search finds an easy one."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import speciate.problems.formula
from speciate import search
from speciate.core.errors import SpeciateError
from speciate.core.evaluate import evaluate_once
from speciate.core.loading import Plugins
from speciate.core.problem import Problem, load_problem

FOLDER = Path(next(iter(speciate.problems.formula.__path__)))


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The evaluator as its own process loads it: beside its building blocks."""
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.delitem(sys.modules, "blocks", raising=False)
    spec = importlib.util.spec_from_file_location("formula_evaluator", FOLDER / "evaluator.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    del sys.modules["blocks"]
    return module


def evaluated(problem: Problem, body: str) -> dict[str, Any]:
    lines = problem.seeds[0].text("seed.py").replace("value = blocks.add(x, y)", body)
    return evaluate_once(problem, problem.seeds[0].with_text("seed.py", lines), Plugins.installed())


def test_a_program_that_is_the_hidden_formula_reaches_the_known_optimum(judge: ModuleType) -> None:
    problem = load_problem(FOLDER, {}, {"instance": 4, "size": 5})
    text, _ = judge.hidden(4, 5, 20)
    calls = text
    for name in judge.ARITIES:
        calls = calls.replace(f"{name}(", f"blocks.{name}(")
    assert sum(calls.count(f"blocks.{name}") for name in judge.ARITIES) == 5
    found = evaluated(problem, f"value = {calls}")
    assert problem.best_known is not None
    assert found["metrics"]["agreement"] == problem.best_known[0] == 1.0
    assert found["metrics"]["points_right"] == 20


def test_no_program_gets_more_than_one_and_another_formula_less(judge: ModuleType) -> None:
    problem = load_problem(FOLDER, {}, {})
    assert 0 < evaluated(problem, "value = 0.0")["metrics"]["agreement"] < 1
    _, values = judge.hidden(1, 3, 20)
    near = judge.evaluate([float(value) + 1e-5 for value in values], 1, 3, 20)["metrics"]["agreement"]
    assert 0.99 < near < 1


def test_the_mean_of_the_hidden_values_scores_one_half(judge: ModuleType) -> None:
    _, values = judge.hidden(1, 3, 20)
    mean = [float(values.mean())] * 20
    assert judge.evaluate(mean, 1, 3, 20)["metrics"]["agreement"] == pytest.approx(0.5)


def test_instances_are_distinct_repeatable_and_never_flat(judge: ModuleType) -> None:
    formulas = [judge.hidden(instance, 4, 20) for instance in range(30)]
    assert len({text for text, _ in formulas}) > 25
    assert all(values.std() >= 0.1 for _, values in formulas)
    judge.hidden.cache_clear()
    again = judge.hidden(7, 4, 20)
    assert again[0] == formulas[7][0]
    assert np.array_equal(again[1], formulas[7][1])


@pytest.mark.parametrize("output", [5, "y", [1.0] * 19, [True] * 20, ["1"] * 20, [10**400] * 20, [[1.0]] * 20, None])
def test_what_is_no_list_of_values_is_refused_in_a_sentence(judge: ModuleType, output: object) -> None:
    answer = judge.evaluate(output, 1, 3, 20)
    assert answer["valid"] is False
    assert answer["feedback"] == "return a list of 20 finite numbers, one a point"


def test_values_that_are_huge_score_nothing_and_stay_finite(judge: ModuleType) -> None:
    assert judge.evaluate([1e300] * 20, 1, 3, 20)["metrics"]["agreement"] == 0.0


def test_an_option_that_makes_no_formula_is_said(tmp_path: Path) -> None:
    with pytest.raises(SpeciateError, match="expected 1 <= size <= 20"):
        search("formula", evaluations=5, workers=1, out=tmp_path / "run", settings=["problem.size=0"]).result()


def test_a_search_finds_a_formula_of_one_operator(tmp_path: Path) -> None:
    settings = ["problem.size=1", "problem.instance=2"]
    run = search("formula", evaluations=300, target=1.0, seed=1, workers=1, out=tmp_path / "run", settings=settings)
    assert run.result().status == "target"
    assert run.best is not None
    assert run.best.score == 1.0
