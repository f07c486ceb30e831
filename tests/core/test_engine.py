"""The engine: order, repeatability, resumption, budgets."""

import asyncio
import gc
from pathlib import Path

import pytest
from speciate.core.budget import Budget
from speciate.core.program import Program
from speciate.core.slots import Vector
from toy import OneNumber, ToyExecutor, run_toy, toy_problem


def digest(problem: object, folder: Path, **options: object) -> str:
    evaluations = options.pop("evaluations", 60)
    return asyncio.run(run_toy(problem, folder, Budget(evaluations=evaluations), **options))[0]  # type: ignore[arg-type]


@pytest.fixture
def problem(tmp_path: Path) -> object:
    return toy_problem(tmp_path / "problem")


@pytest.mark.parametrize("islands", [1, 3])
def test_the_ledger_does_not_depend_on_the_number_of_workers(problem: object, tmp_path: Path, islands: int) -> None:
    digests = {
        digest(problem, tmp_path / f"run-{workers}-{again}", workers=workers, islands=islands)
        for workers in (1, 2, 7)
        for again in (0, 1)
    }
    assert len(digests) == 1


def test_another_lag_is_another_run(problem: object, tmp_path: Path) -> None:
    assert digest(problem, tmp_path / "a", lag=2) != digest(problem, tmp_path / "b", lag=5)


@pytest.mark.parametrize("islands", [1, 3])
def test_a_run_taken_up_again_many_times_is_the_uninterrupted_run(
    problem: object, tmp_path: Path, islands: int
) -> None:
    whole = digest(problem, tmp_path / "whole", islands=islands)
    for evaluations in (1, 2, 3, 9, 10, 31, 59):
        part = digest(problem, tmp_path / "parts", islands=islands, evaluations=evaluations)
        assert part != whole
    assert digest(problem, tmp_path / "parts", islands=islands) == whole


def test_exactly_the_budget_of_evaluations_is_executed(problem: object, tmp_path: Path) -> None:
    before = ToyExecutor.executed
    digest(problem, tmp_path / "run", evaluations=40, workers=7, lag=16)
    assert ToyExecutor.executed - before == 40


def test_an_embedder_may_wait_before_a_ticket_is_screened_and_others_go_on(
    problem: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready: set[str] = set()
    waiting, most, unprepared = 0, 0, 0

    async def prepare(self: OneNumber, program: Program, main: str) -> None:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        await asyncio.sleep(0.005)
        waiting -= 1
        ready.add(program.hash)

    def embed(self: OneNumber, program: Program, main: str) -> Vector:
        nonlocal unprepared
        unprepared += program.hash not in ready
        return plain(self, program, main)

    plain = OneNumber.embed
    monkeypatch.setattr(OneNumber, "prepare", prepare)
    monkeypatch.setattr(OneNumber, "embed", embed)
    digest(problem, tmp_path / "run")
    assert unprepared == 1  # the seed, which nobody proposed
    assert most > 1


def test_garbage_is_collected_again_after_a_run_was_read_back(problem: object, tmp_path: Path) -> None:
    digest(problem, tmp_path / "run")
    assert gc.isenabled()
