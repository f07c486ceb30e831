"""Promises 4 to 6 of the design and decisions 1 to 6, each broken by a change that this file would notice."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from speciate.core import ledger
from speciate.core.budget import Budget
from speciate.core.calls import Calls
from speciate.core.database import create
from speciate.core.errors import RunFolderError
from speciate.core.evaluation import Cost, Evaluation, EvaluationName, Status, Verdict, output_hash
from speciate.core.folder import RunFolder
from speciate.core.objective import Objective, better
from speciate.core.records import Brief, Message, Proposal, Usage
from speciate.core.run import Totals
from speciate.core.scaffold import new_problem
from speciate.core.search import Prepared, prepare, prepare_resume, search
from speciate.core.slots import EvaluationTask, Policy, Reply, Scored
from speciate.core.store import Store
from toy import ToyExecutor, ToyOperator, program_of, run_toy, toy_parts, toy_problem, value_of

from speciate.core.engine import Engine, NamedOperator, Parts  # isort: skip


@pytest.fixture
def problem(tmp_path: Path) -> Any:
    return toy_problem(tmp_path / "problem")


def run_parts(parts: Parts, budget: Budget) -> Engine:
    async def go() -> Engine:
        await parts.executor.open(parts.problem, None, 2)  # type: ignore[arg-type]
        engine = Engine(parts, budget, ledger.start({}), lambda committed: None)
        engine.fold()
        await engine.run()
        return engine

    return asyncio.run(go())


def with_changes(parts: Parts, **changes: Any) -> Parts:
    return Parts(**{name: changes.get(name, getattr(parts, name)) for name in Parts.__dataclass_fields__})


# Promise 4: failure never wins


class Failing(ToyExecutor):
    """Every second program ends badly, with metrics that would win."""

    async def evaluate(self, task: EvaluationTask) -> Scored:
        value = value_of(task.program)
        bad = list(Status)[1:]
        if value != 0.0 and round(value * 10) % 2:
            status = bad[round(abs(value) * 10) % len(bad)]
            return Scored(Evaluation(task.name, status, {"score": 1e9}), None)
        return Scored(Evaluation(task.name, Status.OK, {"score": -100.0 - (value - 3) ** 2}, output="0"), "0")


def test_promise_4_a_failed_program_never_becomes_the_best(problem: Any, tmp_path: Path) -> None:
    store = Store(create(tmp_path))
    parts = with_changes(toy_parts(problem, store), executor=Failing())
    run_parts(parts, Budget(evaluations=60))
    best = store.best_id()
    assert best is not None
    assert store.material(best).evaluation.status is Status.OK
    assert store.material(best).individual.fitness is not None
    assert store.material(best).individual.fitness < -99
    rows = store.db.execute(
        "SELECT count(*) FROM individuals i JOIN evaluations e ON e.name = i.evaluation "
        "WHERE e.status != 'ok' AND (i.fitness IS NOT NULL OR i.kept)"
    )
    assert rows.fetchone()[0] == 0
    failed = store.db.execute("SELECT count(*) FROM evaluations WHERE status != 'ok'").fetchone()[0]
    assert failed > 5


class OracleSaysNo(ToyExecutor):
    """The oracle rejects what lies above 1."""

    async def evaluate(self, task: EvaluationTask) -> Scored:
        value = value_of(task.program)
        verdict = Verdict(value <= 1, value if value <= 1 else None)
        return Scored(Evaluation(task.name, Status.OK, {"score": value}, verdict=verdict, output="0"), "0")


def test_promise_4_what_the_oracle_rejects_is_never_the_best(problem: Any, tmp_path: Path) -> None:
    store = Store(create(tmp_path))
    parts = with_changes(toy_parts(problem, store), executor=OracleSaysNo())
    engine = run_parts(parts, Budget(evaluations=60))
    assert engine.parts.population.best is not None
    assert engine.parts.population.best.fitness <= 1
    assert store.best_id() == engine.parts.population.best.id
    assert store.db.execute("SELECT max(fitness) FROM individuals").fetchone()[0] > 1


@pytest.mark.parametrize("worse", [None, float("nan"), float("inf"), float("-inf")])
def test_promise_4_only_finite_fitness_beats(worse: float | None) -> None:
    assert not better(worse, -1e300)
    assert better(-1e300, worse)
    assert not better(1.0, 1.0)


def test_promise_4_direction_is_kept_with_the_metric() -> None:
    objective = Objective("loss", "minimise")
    assert better(objective.fitness({"loss": 1.0}), objective.fitness({"loss": 2.0}))
    assert objective.score(objective.fitness({"loss": 2.5})) == 2.5
    assert objective.reached(1.0, 1.5)
    assert not objective.reached(2.0, 1.5)


# Promise 5: nothing paid twice


class Repeating(ToyOperator):
    """Proposes one of three programs, written in different ways, or the parent."""

    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        program = program_of(float(rng.integers(1, 4)))
        text = program.text("seed.py")
        how = int(rng.integers(4))
        if how == 1:
            text = text.replace("return", "return  ")
        if how == 2:
            text = text.replace("    return", "    # a remark\n    return")
        if how == 3:
            return Proposal(brief.parent.program, "toy/copy")
        return Proposal(program.with_text("seed.py", text), "toy/repeat")


def test_promise_5_copies_are_refused_before_they_are_evaluated(problem: Any, tmp_path: Path) -> None:
    store = Store(create(tmp_path))
    before = ToyExecutor.executed
    parts = with_changes(toy_parts(problem, store), operators=[[NamedOperator("toy", Repeating(), 1.0)]])
    engine = run_parts(parts, Budget(evaluations=50, proposals=80))
    assert ToyExecutor.executed - before == engine.parts.population.evaluations == 4
    refused = engine.parts.population.refused
    assert refused["duplicate"] > 20
    assert refused["no_change"] > 5


def test_promise_5_a_finished_evaluation_is_not_executed_again(problem: Any, tmp_path: Path) -> None:
    asyncio.run(run_toy(problem, tmp_path / "run", Budget(evaluations=30)))
    folder = RunFolder.open(tmp_path / "run", write=True)
    # As if it had been killed after the evaluations were written and before their tickets were committed.
    folder.store.db.execute("DELETE FROM tickets WHERE ticket > 5")
    folder.store.db.execute("DELETE FROM individuals WHERE id > 5")
    folder.store.db.execute("DELETE FROM embeddings WHERE individual > 5")
    folder.store.db.execute("DELETE FROM costs WHERE ticket > 5")
    folder.store.db.execute("DELETE FROM events WHERE ticket > 5")
    folder.close()
    before = ToyExecutor.executed
    asyncio.run(run_toy(problem, tmp_path / "run", Budget(evaluations=30)))
    assert ToyExecutor.executed == before


# Promise 6: one budget


@pytest.mark.parametrize(("evaluations", "lag", "workers"), [(1, 4, 2), (7, 16, 7), (40, 1, 1)])
def test_promise_6_never_more_evaluations_than_agreed(
    problem: Any, tmp_path: Path, evaluations: int, lag: int, workers: int
) -> None:
    before = ToyExecutor.executed
    asyncio.run(run_toy(problem, tmp_path / "run", Budget(evaluations=evaluations), lag=lag, workers=workers))
    assert ToyExecutor.executed - before == evaluations


def test_promise_6_a_target_ends_the_run_at_the_ticket_that_reached_it(problem: Any, tmp_path: Path) -> None:
    _, engine = asyncio.run(run_toy(problem, tmp_path / "run", Budget(evaluations=500, target=-1.0)))
    population = engine.parts.population
    assert population.best is not None
    assert population.best.fitness >= -1.0
    assert population.best.evaluations == population.evaluations


def test_promise_6_an_unknown_price_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    store = Store(create(tmp_path))
    store.db.execute("INSERT INTO costs VALUES (0, 'proposer', 0, 1, 10, 5, 0.5, 0, 0)")
    store.db.execute("INSERT INTO costs VALUES (1, 'proposer', 0, 1, 10, 5, NULL, 0, 0)")
    assert store.costs()[0]["money"] is None


# Decision 1: an evaluation's name


@pytest.mark.parametrize("field", ["program", "input", "effort", "seed", "repeat", "evaluator"])
def test_decision_1_everything_that_makes_an_evaluation_is_in_its_name(field: str) -> None:
    fields: dict[str, Any] = {"program": "p", "input": None, "effort": 1, "seed": 2, "repeat": 0, "evaluator": "e"}
    other = {**fields, field: "x" if isinstance(fields[field], str | None) else fields[field] + 1}
    assert EvaluationName(**fields).hash != EvaluationName(**other).hash


# Decision 2: a reply's name


class Counting(Policy):
    """Answers with a running number."""

    asked = 0

    async def sample(self, messages: Sequence[Message], n: int, settings: Mapping[str, Any]) -> tuple[Reply, ...]:
        self.asked += 1
        return tuple(Reply(f"answer {self.asked}.{k}", "stop", Usage(1, 3, 2, 0.01)) for k in range(n))


def test_decision_2_the_record_answers_for_the_same_draw_and_never_for_a_new_one(tmp_path: Path) -> None:
    policy = Counting()
    calls = Calls(policy, "counting", Store(create(tmp_path)))
    said = [Message("user", "grow")]

    first, names = asyncio.run(calls.draw(1, said, 2))
    assert asyncio.run(calls.draw(1, said, 2)) == (first, names)
    assert policy.asked == 1
    second, other_names = asyncio.run(calls.draw(2, said, 2))
    assert policy.asked == 2
    assert second != first
    assert set(names).isdisjoint(other_names)


def test_decision_2_another_policy_version_is_another_request(tmp_path: Path) -> None:
    policy = Counting()
    calls = Calls(policy, "counting", Store(create(tmp_path)))
    before = calls.request_hash([Message("user", "grow")], {})
    policy.version = "1"
    assert calls.request_hash([Message("user", "grow")], {}) != before
    assert calls.request_hash([Message("user", "grow")], {"temperature": 0}) != before


# Decision 3: what the digest covers


def digests(store: Store) -> list[bytes]:
    return [bytes(row[0]) for row in store.db.execute("SELECT digest FROM tickets ORDER BY ticket")]


def history(tmp_path: Path, problem: Any) -> RunFolder:
    asyncio.run(run_toy(problem, tmp_path / "run", Budget(evaluations=20)))
    folder = RunFolder.open(tmp_path / "run", write=True)
    assert folder.verified_digest() == digests(folder.store)[-1]
    return folder


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tickets SET operator = 'toy/other' WHERE ticket = 3",
        "UPDATE tickets SET parent = parent + 1 WHERE ticket = (SELECT max(ticket) FROM tickets)",
        "UPDATE tickets SET detail = 'because' WHERE refusal IS NOT NULL",
        "UPDATE tickets SET plan = '{}' WHERE ticket = 4",
        "UPDATE evaluations SET metrics = '{\"score\": 7}' WHERE status = 'ok'",
        "UPDATE evaluations SET status = 'timeout' WHERE status = 'ok'",
        "UPDATE evaluations SET feedback = 'well done'",
        "UPDATE evaluations SET oracle_score = 1e9",
        "UPDATE evaluations SET valid = 0",
        "UPDATE individuals SET kept = 1 - kept",
        "UPDATE individuals SET novelty = novelty / 2 + 0.1",
        "DELETE FROM tickets WHERE ticket = 2",
    ],
)
def test_decision_3_the_digest_notices_what_decides(problem: Any, tmp_path: Path, statement: str) -> None:
    folder = history(tmp_path, problem)
    assert folder.store.db.execute(statement).rowcount > 0
    with pytest.raises(RunFolderError, match="history was altered"):
        folder.verified_digest()
    folder.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE evaluations SET wall_s = 9, cpu_s = 9, max_rss_bytes = 9, finished_at = 9",
        "UPDATE evaluations SET stdout = 'hello'",
        "UPDATE events SET at = 0",
        "UPDATE costs SET wall_s = 9",
    ],
)
def test_decision_3_the_digest_leaves_out_what_a_clock_or_a_machine_says(
    problem: Any, tmp_path: Path, statement: str
) -> None:
    folder = history(tmp_path, problem)
    assert folder.store.db.execute(statement).rowcount > 0
    assert folder.verified_digest() == digests(folder.store)[-1]
    folder.close()


# Decision 4: lag


def test_decision_4_the_lag_is_no_matter_of_workers(problem: Any, tmp_path: Path) -> None:
    assert (
        asyncio.run(run_toy(problem, tmp_path / "a", Budget(evaluations=30), lag=3, workers=1))[0]
        == asyncio.run(run_toy(problem, tmp_path / "b", Budget(evaluations=30), lag=3, workers=9))[0]
    )


# Decision 5: totals; decision 6: a run always ends


class Barren(ToyOperator):
    """Never makes anything."""

    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        return Proposal(None, "toy/nothing")


def test_decision_6_a_run_that_makes_nothing_new_ends_at_its_proposal_cap(problem: Any, tmp_path: Path) -> None:
    store = Store(create(tmp_path))
    parts = with_changes(toy_parts(problem, store), operators=[[NamedOperator("toy", Barren(), 1.0)]])
    engine = run_parts(parts, Budget(evaluations=5))
    assert engine.parts.population.proposals == 100
    assert engine.parts.population.evaluations == 1


def test_the_same_output_has_one_name() -> None:
    assert output_hash("[1.0, 2.0]") == output_hash("[1.0, 2.0]") != output_hash("[1.0,2.0]")
    assert Cost() == Cost(0.0, 0.0, 0)
    assert json.loads("[1.0, 2.0]") == [1.0, 2.0]


def test_decision_5_a_run_whose_component_reads_the_total_says_so_when_it_is_extended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = new_problem("points", tmp_path)
    plugin = tmp_path / "cooling.py"
    plugin.write_text(READS_TOTAL)
    settings = [f'plugins=["{plugin}"]', "selector.use=cooling"]
    search(folder, evaluations=3, seed=1, settings=settings, out=tmp_path / "run").result()
    with caplog.at_level("WARNING"):
        prepared = prepare_resume(tmp_path / "run", Totals(evaluations=5))
    assert "reads the total budget" in caplog.text
    prepared.run.execute(lambda event: None)
    opened = RunFolder.open(tmp_path / "run", write=False)
    assert len(opened.store.events("total_changed")) == 1
    assert "totals" in opened.told()


def test_decision_5_new_totals_are_recorded(tmp_path: Path) -> None:
    folder = new_problem("points", tmp_path)
    search(folder, evaluations=3, seed=1, out=tmp_path / "run").result()
    prepare_resume(tmp_path / "run", Totals(evaluations=5)).run.execute(lambda event: None)
    opened = RunFolder.open(tmp_path / "run", write=False)
    assert [payload["evaluations"] for _, payload in opened.store.events("budget_set")] == [3, 5]


READS_TOTAL = '''
from speciate.core.hooks import hookimpl
from speciate.core.slots import Selector


class Cooling(Selector):
    """Stands for one that cools down over the budget."""

    reads_total = True

    def select(self, view, rng):
        return int(view.ids[0])


@hookimpl
def register(registry):
    registry.add("selector", "cooling", Cooling)
'''


def test_decision_4_more_workers_than_the_lag_is_said_at_the_start(tmp_path: Path) -> None:
    folder = new_problem("points", tmp_path)
    prepared = prepare(folder, evaluations=3, workers=9, out=tmp_path / "run")
    assert isinstance(prepared, Prepared)
    assert "5 of them will have no work" in prepared.run.remarks()[0]
    prepared.run.folder.close()


def test_decision_7_a_request_is_written_down_before_it_is_sent(tmp_path: Path) -> None:
    store = Store(create(tmp_path))

    class Dying(Counting):
        async def sample(self, messages: Sequence[Message], n: int, settings: Mapping[str, Any]) -> tuple[Reply, ...]:
            assert store.db.execute("SELECT count(*) FROM requests").fetchone()[0] == n
            raise ConnectionError("the line went dead")

    with pytest.raises(ConnectionError):
        asyncio.run(Calls(Dying(), "counting", store).draw(1, [Message("user", "grow")], 2))
    assert store.possibly_paid() == 2
    asyncio.run(Calls(Counting(), "counting", store).draw(1, [Message("user", "grow")], 2))
    assert store.possibly_paid() == 2, "what was sent twice and answered once may have been paid twice"
