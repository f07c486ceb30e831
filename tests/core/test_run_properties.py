"""Properties that need a whole run: failure everywhere, retries, what is charged, ids under many workers."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from speciate.core import ledger
from speciate.core.budget import Budget
from speciate.core.engine import Ending, Engine, NamedOperator, Parts
from speciate.core.errors import ProblemError
from speciate.core.evaluation import Evaluation, Status
from speciate.core.folder import RunFolder
from speciate.core.program import Program
from speciate.core.records import Brief, Proposal, Reason
from speciate.core.slots import Archive, EvaluationTask, Newcomer, Placement, Scored, Selector, Vector
from speciate.core.view import IslandView
from test_promises import with_changes
from toy import OneNumber, ToyExecutor, ToyOperator, program_of, toy_parts, toy_problem, value_of


class Unbounded(Archive):
    """Keeps everyone."""

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        return Placement(True)


class OffspringFail(ToyExecutor):
    """Every offspring fails, each in another way."""

    async def evaluate(self, task: EvaluationTask) -> Scored:
        type(self).executed += 1
        bad = list(Status)[1:]
        value = value_of(task.program)
        if value == 0.0:
            return await super().evaluate(task)
        status = bad[round(abs(value) * 10) % len(bad)]
        return Scored(Evaluation(task.name, status, {"score": 1e9}, reason="no"), None)


class AllFail(ToyExecutor):
    """Everything fails."""

    async def evaluate(self, task: EvaluationTask) -> Scored:
        return Scored(Evaluation(task.name, Status.CRASHED, {}, reason="no"), None)


class Turns(Selector):
    """Draws the members in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[int] = []

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        ids = np.sort(view.ids)
        self.drawn.append(int(ids[len(self.drawn) % len(ids)]))
        return self.drawn[-1]


class Stubborn(ToyOperator):
    """Steps until there are a few programs, then proposes copies of them, each marked by what it was made from."""

    def __init__(self) -> None:
        super().__init__()
        self.briefs: list[tuple[int, int]] = []

    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        self.briefs.append((brief.selection.ticket, brief.parent.individual.id))
        if brief.selection.ticket < 6:
            return Proposal(program_of(float(brief.selection.ticket)), "toy/step")
        return Proposal(brief.parent.program, "toy/copy")


class Looking(OneNumber):
    """Notes what it was asked to look at."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []

    def embed(self, program: Program, main: str) -> Vector:
        self.seen.append(value_of(program))
        return super().embed(program, main)


def grown(
    tmp_path: Path, budget: Budget, *, workers: int = 2, archive: Archive | None = None, **changes: Any
) -> tuple[Engine, Ending, RunFolder]:
    """Run the toy problem with other parts; the caller closes the folder."""
    problem = toy_problem(tmp_path / "problem")
    folder = RunFolder.create(tmp_path / f"run-{workers}")
    folder.store.set_meta("told", "{}")
    parts: Parts = with_changes(toy_parts(problem, folder.store, lag=8), **changes)
    if archive is not None:
        parts.population.islands[0].archive = archive

    async def go() -> tuple[Engine, Ending]:
        await parts.executor.open(problem, None, workers)  # type: ignore[arg-type]
        engine = Engine(parts, budget, ledger.start({}), lambda committed: None)
        engine.fold()
        return engine, await engine.run()

    engine, ending = asyncio.run(go())
    return engine, ending, folder


def test_property_17_when_every_offspring_fails_the_run_goes_on_from_what_works(tmp_path: Path) -> None:
    engine, ending, folder = grown(tmp_path, Budget(evaluations=20), executor=OffspringFail())
    folder.close()
    population = engine.parts.population
    assert (ending.status, population.evaluations) == ("budget", 20)
    assert population.best is not None
    assert population.best.id == 0
    assert population.islands[0].view().ids.tolist() == [0]


def test_property_17_when_the_seed_fails_too_it_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match=r"the seed program of toy ended as crashed: no") as caught:
        grown(tmp_path, Budget(evaluations=40), executor=AllFail())
    assert "\n" not in str(caught.value)


def test_property_21_a_ticket_after_a_refusal_has_a_parent_and_a_proposal_of_its_own(tmp_path: Path) -> None:
    selector, operator = Turns(), Stubborn()
    engine, _, folder = grown(
        tmp_path, Budget(evaluations=40, proposals=60), selectors=[selector],
        operators=[[NamedOperator("toy", operator, 1.0)]],
    )  # fmt: skip
    folder.close()
    refused = engine.parts.population.refused
    assert refused == {Reason.NO_CHANGE.value: 60 - 6}
    asked = sorted(operator.briefs)
    assert [ticket for ticket, _ in asked] == list(range(1, len(asked) + 1)), "a ticket was proposed twice or never"
    assert [parent for _, parent in asked] == selector.drawn[: len(asked)]
    assert len({parent for _, parent in asked[-12:]}) >= 5, "retries stay with one parent"


def test_property_21_no_embedding_is_judged_twice(tmp_path: Path) -> None:
    embedder = Looking()
    problem = toy_problem(tmp_path / "p")
    folder = RunFolder.create(tmp_path / "r")
    screen = toy_parts(problem, folder.store).screen
    folder.close()
    screen.embedder = embedder
    _, _, folder = grown(tmp_path, Budget(evaluations=50), screen=screen)
    folder.close()
    # One more may be looked at when the budget is spent.
    assert len(embedder.seen) == len(set(embedder.seen)) >= 50


def test_property_24_refusals_are_charged_to_proposals_and_never_to_evaluations(tmp_path: Path) -> None:
    before = ToyExecutor.executed
    engine, _, folder = grown(tmp_path, Budget(evaluations=60))
    costs = {row["role"]: row["evaluations"] for row in folder.store.costs()}
    folder.close()
    population = engine.parts.population
    refused = sum(population.refused.values())
    assert refused > 5
    assert population.proposals == population.evaluations + refused
    assert ToyExecutor.executed - before == population.evaluations == costs["candidate"] == 60


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_property_36_many_workers_lose_no_id_and_no_count_of_a_child(tmp_path: Path, workers: int) -> None:
    engine, _, folder = grown(tmp_path, Budget(evaluations=80), workers=workers, archive=Unbounded())
    tickets = [birth.selection.ticket for birth in folder.store.births()]
    folder.close()
    population = engine.parts.population
    view = population.islands[0].view()
    assert tickets == list(range(population.proposals))
    assert len(set(view.ids.tolist())) == len(view)
    assert view.offspring.sum() == population.evaluations - 1
    assert view.refused.sum() == sum(population.refused.values())
    assert view.visits[view.seed].sum() == population.proposals - 1
