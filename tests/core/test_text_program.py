"""Programs that are not run, and what a problem says suits a search for it."""

from pathlib import Path

import pytest
from speciate import search
from speciate.core.errors import ProblemError, UsageError
from speciate.core.evaluate import evaluate_once
from speciate.core.folder import RunFolder
from speciate.core.loading import Plugins
from speciate.core.problem import load_problem
from speciate.core.program import Program
from speciate.core.search import prepare

ABOUT = """[problem]
name = "haiku"
program = "poem.md"
entry = "none"
[objective]
name = "lines"
[limits]
output_kb = 1
"""
EVALUATOR = """def evaluate(output, seed):
    return {"metrics": {"lines": len(output.splitlines()), "seed": seed}}
"""


@pytest.fixture
def haiku(tmp_path: Path) -> Path:
    folder = tmp_path / "haiku"
    folder.mkdir()
    (folder / "problem.toml").write_text(ABOUT)
    (folder / "evaluator.py").write_text(EVALUATOR)
    (folder / "poem.md").write_text("über\nden Wipfeln\n", encoding="utf-8")
    return folder


def test_the_text_is_the_output_and_costs_nothing(haiku: Path) -> None:
    problem, program = load_problem(haiku, {}, {}), Program.of({"poem.md": "a\nb\nc\n"})
    found = evaluate_once(problem, program, Plugins.installed(), seed=5)
    assert found["status"] == "ok"
    assert found["metrics"] == {"lines": 3.0, "seed": 5.0}
    assert found["cost"]["cpu_s"] == 0


def test_a_text_that_is_too_long_is_invalid(haiku: Path) -> None:
    found = evaluate_once(load_problem(haiku, {}, {}), Program.of({"poem.md": "a" * 2000}), Plugins.installed())
    assert found["status"] == "invalid"
    assert "the limit is 1024" in found["reason"]


def test_an_improver_of_what_is_not_run_is_refused(haiku: Path) -> None:
    about = haiku / "problem.toml"
    about.write_text(about.read_text().replace('entry = "none"', 'entry = "none"\nimprove = "better"'))
    with pytest.raises(ProblemError, match="programs are not run"):
        load_problem(haiku, {}, {})


def test_what_suits_a_problem_lies_below_what_the_user_chooses(haiku: Path, tmp_path: Path) -> None:
    about = haiku / "problem.toml"
    about.write_text(about.read_text() + '[search]\nselector = "greedy"\n')
    suited = prepare(haiku, dry=True)
    assert isinstance(suited, str)
    assert 'use = "greedy"' in suited
    chosen = prepare(haiku, dry=True, settings=["selector=uniform"])
    assert isinstance(chosen, str)
    assert 'use = "greedy"' not in chosen


@pytest.mark.parametrize(
    ("line", "said"),
    [('selecter = "greedy"', "selecter.*selector"), ('sandbox = "process"', "has no key 'sandbox'")],
)
def test_what_a_problem_may_not_choose_is_said(haiku: Path, line: str, said: str) -> None:
    about = haiku / "problem.toml"
    about.write_text(f"{about.read_text()}[search]\n{line}\n")
    with pytest.raises(ProblemError, match=said):
        load_problem(haiku, {}, {})


def test_a_component_that_a_problem_names_and_that_is_not_there_is_said_with_the_place(haiku: Path) -> None:
    about = haiku / "problem.toml"
    about.write_text(about.read_text() + '[search]\nselector = "greedi"\n')
    with pytest.raises(UsageError, match=r"\[search\] of the problem haiku.*greedy"):
        prepare(haiku, dry=True)


def test_a_run_of_texts_is_equal_for_any_number_of_workers(tmp_path: Path) -> None:
    digests = []
    for workers in (1, 3):
        search("nk", evaluations=60, seed=4, workers=workers, out=tmp_path / str(workers)).result()
        folder = RunFolder.open(tmp_path / str(workers), write=False)
        digests.append(folder.verified_digest())
        folder.close()
    assert digests[0] == digests[1]
