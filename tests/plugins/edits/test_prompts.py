"""The prompts: the direction in words, shares of tokens, large programs cut by their evolve blocks, numbers only."""

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from speciate.core.evaluation import Evaluation, EvaluationName, Status
from speciate.core.objective import Objective
from speciate.core.problem import Problem, load_problem
from speciate.core.program import Program
from speciate.core.records import Brief, Individual, Material, Reason, Refusal, Selection
from speciate.core.scaffold import new_problem
from speciate.core.slots import Reply
from speciate.plugins.edits.operators import Crossover, Tune
from speciate.plugins.edits.prompt import goal, messages, tokens

TEMPLATES = ["diff", "rewrite", "crossover", "elsewhere", "tune"]


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    return load_problem(new_problem("points", tmp_path_factory.mktemp("problem")), {}, {})


def material(program: Program, problem: Problem, id: int = 0, status: Status = Status.OK) -> Material:
    fitness = 1.0 if status is Status.OK else None
    individual = Individual(id, program.hash, 0, None, (), None, "seed", 0, "e", fitness, 0.5)
    name = EvaluationName(program.hash, None, 0, 0, 0, "v")
    metrics = {problem.objective.name: 1.25} if status is Status.OK else {}
    reason = None if status is Status.OK else "ZeroDivisionError in line 7"
    return Material(individual, program, Evaluation(name, status, metrics, reason, "the corner is empty"))


def brief(problem: Problem, *others: Material) -> Brief:
    return Brief(Selection(5, 0, 0, (), "diff", {}), material(problem.seeds[0], problem), others)


def text_of(template: str, problem: Problem, its: Brief, budget: int = 4000, **extra: object) -> str:
    return "\n".join(m.content for m in messages(template, problem, its, budget, extra))


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_prompt_has_task_score_feedback_program_and_others(template: str, problem: Problem) -> None:
    other = material(Program.of({problem.main: "OTHER = 1\n"}), problem, 3)
    text = text_of(template, problem, brief(problem, other), refused={"duplicate": 3})
    assert problem.task.strip().split("\n")[0] in text
    assert "score 1.25" in text
    assert "the corner is empty" in text
    assert problem.seeds[0].text(problem.main).strip() in text
    assert "OTHER = 1" in text
    assert "3 × duplicate" in text


def test_the_direction_and_ties_are_said_in_words() -> None:
    assert goal(Objective("loss", "minimise")) == "minimise the metric loss (smaller is better)"
    assert "larger is better; differences of at most 0.1 count as ties" in goal(Objective("score", "maximise", 0.1))


@pytest.mark.parametrize("template", TEMPLATES)
def test_report_145_and_151_a_prompt_keeps_to_its_tokens_and_shows_the_evolve_block(
    template: str, problem: Problem
) -> None:
    filler = "".join(f"FROZEN_{n} = {n}\n" for n in range(100_000))
    block = "# EVOLVE-BLOCK-START\nkept = 1\n# EVOLVE-BLOCK-END\n"
    big = Program.of({problem.main: filler + block + filler})
    long = replace(problem, task="word " * 100_000)
    others = [material(big, problem, n) for n in range(1, 6)]
    its = Brief(Selection(5, 0, 0, (), "diff", {}), material(big, problem), tuple(others))
    text = text_of(template, long, its, 3000)
    assert "kept = 1" in text
    assert "frozen lines left out" in text
    assert tokens(text) < 3000 + 600  # the words of the templates themselves


def test_report_144_what_failed_lately_reaches_the_prompt(problem: Problem) -> None:
    assert "2 × syntax" in text_of("elsewhere", problem, brief(problem), refused={"syntax": 2})


def test_tune_refuses_what_changes_more_than_numbers(problem: Problem) -> None:
    tune = Tune(Tune.Options())
    tune._problem = replace(problem, main="p.py")
    parent = Program.of({"p.py": "x = 1\ny = x - 2\n"})
    edit = "<<<<<<< SEARCH\ny = x - 2\n=======\n{}\n>>>>>>> REPLACE"
    assert isinstance(tune.read(parent, Reply(edit.format("y = x - 3.5e-2"))), Program)
    other = tune.read(parent, Reply(edit.format("y = x + 2")))
    assert isinstance(other, Refusal)
    assert "only numbers" in other.detail


def test_crossover_needs_a_second_program(problem: Problem) -> None:
    same = material(problem.seeds[0], problem, 2)
    proposal = asyncio.run(Crossover(Crossover.Options()).propose(brief(problem, same), {}, np.random.default_rng(0)))
    assert proposal.refusal is not None
    assert proposal.refusal.reason is Reason.NO_PROGRAM


def test_a_template_cannot_reach_python(problem: Problem, tmp_path: Path) -> None:
    (tmp_path / "system.jinja").write_text("{{ ''.__class__.__mro__ }}")
    with pytest.raises(Exception, match="unsafe"):
        messages("diff", problem, brief(problem), 1000, folder=tmp_path)
