"""What the genetic operator learns: which operators pay, and how long their steps should be."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from speciate.core.problem import Problem
from speciate.core.program import Program
from speciate.core.records import Brief, Outcome, Selection
from speciate.core.testing.search_contracts import material, sample_problem
from speciate.plugins.genetic.bandit import OperatorBandit
from speciate.plugins.genetic.operator import Genetic

ARMS = ("a", "b", "c", "d")


def shares(bandit: OperatorBandit, draws: int = 2000) -> dict[str, float]:
    rng = np.random.default_rng(0)
    drawn = [bandit.choose(rng) for _ in range(draws)]
    return {arm: drawn.count(arm) / draws for arm in bandit.arms}


def taught(*lessons: tuple[str, float, int], discount: float = 0.98, floor: float = 0.0) -> OperatorBandit:
    bandit = OperatorBandit(ARMS, discount=discount, floor=floor)
    for arm, reward, times in lessons:
        for _ in range(times):
            bandit.learn(arm, reward)
    return bandit


def test_an_arm_that_pays_is_preferred() -> None:
    assert shares(taught(("b", 1.0, 40)))["b"] > 0.9


def test_what_paid_once_is_forgotten() -> None:
    bandit = taught(("b", 1.0, 40), ("c", 1.0, 200))
    assert shares(bandit)["c"] > 0.8
    assert bandit.state()["b"][0] < 1.0


def test_the_floor_keeps_every_arm_in_play() -> None:
    assert min(shares(taught(("b", 1.0, 200), discount=1.0, floor=0.4)).values()) > 0.06


def test_an_unknown_arm_teaches_nothing() -> None:
    assert taught(("nobody", 1.0, 5)).state() == taught().state()


def test_without_any_reward_all_arms_stay_alike() -> None:
    idle = taught(*[(arm, 0.0, 1) for _ in range(50) for arm in ARMS])
    assert all(abs(share - 0.25) < 0.05 for share in shares(idle).values())


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return sample_problem(tmp_path / "p")


@pytest.fixture
def genetic(problem: Problem) -> Genetic:
    operator = Genetic()
    operator.open(problem, None)
    return operator


def step_after(operator: Genetic, gain: float, times: int) -> float:
    plan = {"kinds": ["constant-perturb"], "steps": [0.3]}
    for ticket in range(times):
        operator.observe(Outcome(ticket, "genetic", plan, None, 1.0, gain, False))
    return operator._steps["constant-perturb"]


def test_a_success_lengthens_the_step_and_four_failures_undo_it(genetic: Genetic) -> None:
    first = genetic._steps["constant-perturb"]
    assert step_after(genetic, 1.0, 1) == pytest.approx(first * 1.3)
    assert step_after(genetic, -1.0, 4) == pytest.approx(first)


def test_steps_stay_within_their_bounds(genetic: Genetic) -> None:
    assert step_after(genetic, 1.0, 100) == 2.0
    assert step_after(genetic, -1.0, 1000) == 0.01


def test_no_file_of_a_program_of_several_is_lost(genetic: Genetic, problem: Problem) -> None:
    text = "# EVOLVE-BLOCK-START\nx = 2.0\n# EVOLVE-BLOCK-END\n"
    parent = material(problem, 1, text, 1.0)
    files = {problem.main: text, "helper.py": "y = 1\r\n", "data/näme.txt": "as it is"}
    object.__setattr__(parent, "program", Program.of(files, parent.program.kind))
    brief = Brief(Selection(9, 0, 1, (), "genetic", {}), parent, ())
    plan = {"kinds": ["constant-redraw"], "steps": [0.3]}
    child = asyncio.run(genetic.propose(brief, plan, np.random.default_rng(0))).program
    assert child is not None
    assert {**dict(child.files), problem.main: text} == files
    assert child.text(problem.main) != text
