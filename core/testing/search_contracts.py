"""The contracts of what makes, runs and reports offspring: operator, executor, reporter."""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..calls import Calls
from ..evaluation import Evaluation, EvaluationName, Status, Verdict
from ..events import (
    CounterexampleFound,
    Event,
    HarnessCommitted,
    HarnessDropped,
    IndividualAdmitted,
    IslandsMigrated,
    OffspringProposed,
    OffspringRefused,
    PhaseEnded,
    PolicyUpdated,
    RecordBroken,
    RunEnded,
    RunStarted,
)
from ..hooks import HOOKS, hook_of
from ..objective import Objective
from ..problem import Problem, load_problem
from ..program import Program
from ..records import Brief, Individual, Material, Outcome, Proposal, Reason, Selection
from ..sandbox import Sandbox
from ..slots import EvaluationTask, Executor, Move, Operator, Reporter, Reset
from .component_contract import ComponentContract

SEED = '''"""Adds up squares."""

# EVOLVE-BLOCK-START
import math


def term(i, scale=0.5):
    if i % 2 == 0:
        return scale * i * i
    return math.sqrt(i) + 1.25


def main():
    total = 0.0
    for i in range(12):
        total += term(i)
    return [total, 3.0]
# EVOLVE-BLOCK-END
'''

OTHER = SEED.replace("i * i", "i").replace("range(12)", "range(7)").replace("1.25", "-2.0")

EVALUATOR = '''"""Scores the first number of the output."""


def evaluate(output):
    return {"metrics": {"score": float(output[0])}, "feedback": "more"}
'''


def sample_problem(folder: Path) -> Problem:
    """Write a small problem into `folder` and load it: its programs return a list of numbers, the first counts."""
    folder.mkdir(parents=True, exist_ok=True)
    about = '[problem]\nname = "sample"\n[objective]\nname = "score"\n[limits]\nwall_s = 5.0\ncpu_s = 5.0\n'
    for name, text in {"problem.toml": about, "seed.py": SEED, "evaluator.py": EVALUATOR}.items():
        (folder / name).write_text(text, "utf-8")
    return load_problem(folder, {}, {})


def material(problem: Problem, id: int, text: str, score: float) -> Material:
    """Return an individual of the sample problem that was evaluated and is in order."""
    program = Program.of({problem.main: text})
    name = EvaluationName(program.hash, None, 1, 7, 0, problem.evaluator_version)
    individual = Individual(
        id=id,
        program=program.hash,
        island=0,
        parent=None,
        inspirations=(),
        input=None,
        operator="seed",
        generation=0,
        evaluation=name.hash,
        fitness=score,
        novelty=1.0,
    )
    return Material(individual, program, Evaluation(name, Status.OK, {"score": score}, feedback="more"))


class OperatorContract(ComponentContract):
    """What the engine relies on in an operator."""

    proposals: int = 30
    """How many proposals each test asks for."""
    parent: str = SEED
    """The text of the parent that it is given, a program for `problem`."""
    inspiration: str = OTHER
    """The text of another member."""

    def component(self) -> Operator:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def problem(self, folder: Path) -> Problem:
        """Return a problem that the operator can serve; `folder` is empty and lasts for the test."""
        return sample_problem(folder)

    def calls(self) -> Calls | None:
        """Return the way to a policy, for an operator that needs one."""
        return None

    def test_it_answers_with_an_offspring_or_none(self) -> None:
        for answer in self._proposals():
            assert isinstance(answer, Proposal), f"{answer!r}; expected a Proposal"
            assert answer.operator, "a proposal says which operator made it"
            assert answer.program is None or isinstance(answer.program, Program)

    def test_it_makes_offspring(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            parent = Program.of({self.problem(Path(folder)).main: self.parent}).hash
        made = {answer.program.hash for answer in self._proposals() if answer.program is not None}
        assert made - {parent}, f"not one new program in {self.proposals} proposals"

    def test_its_plan_is_plain_data(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            operator = self._opened(Path(folder))
            rng = np.random.default_rng(0)
            for plan in (operator.plan(rng) for _ in range(self.proposals)):
                assert json.loads(json.dumps(plan)) == plan, f"{plan!r} is not plain JSON data"

    def test_equal_generators_make_equal_proposals(self) -> None:
        assert self._proposals() == self._proposals(), "a proposal depends on something beside its arguments"

    def test_a_proposal_depends_on_its_arguments_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            operator = self._opened(Path(folder))
            brief = self._brief(operator, self.problem(Path(folder)))
            plan = operator.plan(np.random.default_rng(1))

            async def propose(seed: int) -> Proposal:
                return await operator.propose(brief, plan, np.random.default_rng(seed))

            async def all_at_once() -> list[Proposal]:
                return await asyncio.gather(*(propose(seed) for seed in range(self.proposals)))

            one_by_one = [asyncio.run(propose(seed)) for seed in reversed(range(self.proposals))][::-1]
            assert asyncio.run(all_at_once()) == one_by_one, "what is proposed depends on what was proposed before"

    def test_equal_outcomes_teach_the_same(self) -> None:
        plans = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                operator = self._opened(Path(folder))
                rng = np.random.default_rng(3)
                taught = []
                for ticket in range(self.proposals):
                    plan = operator.plan(rng)
                    taught.append(plan)
                    operator.observe(self._outcome(ticket, plan))
                plans.append(taught)
        assert plans[0] == plans[1], "what was learned depends on something beside the outcomes"

    def _opened(self, folder: Path) -> Operator:
        operator = self.component()
        operator.open(self.problem(folder), self.calls())
        return operator

    def _brief(self, operator: Operator, problem: Problem) -> Brief:
        selection = Selection(ticket=9, island=0, parent=0, inspirations=(1,), operator="it", plan={})
        inspirations = (material(problem, 1, self.inspiration, 0.5),) if operator.inspirations else ()
        return Brief(selection, material(problem, 0, self.parent, 1.0), inspirations)

    def _proposals(self) -> list[Proposal]:
        with tempfile.TemporaryDirectory() as folder:
            operator = self._opened(Path(folder))
            brief = self._brief(operator, self.problem(Path(folder)))
            answers = []
            for seed in range(self.proposals):
                rng = np.random.default_rng(seed)
                answers.append(asyncio.run(operator.propose(brief, operator.plan(rng), rng)))
            return answers

    def _outcome(self, ticket: int, plan: Mapping[str, Any]) -> Outcome:
        refusal = (None, Reason.NO_PROGRAM, None, Reason.SIMILAR, None)[ticket % 5]
        gain = None if refusal or ticket % 4 == 0 else 0.1 * (ticket % 3 - 1)
        fitness = None if gain is None else 1.0 + gain
        return Outcome(ticket, "it", plan, refusal, fitness, gain, gain is not None and gain > 0)


class ExecutorContract(ComponentContract):
    """What the engine relies on in an executor. `sandbox` returns what contains its candidates."""

    def component(self) -> Executor:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def sandbox(self) -> Sandbox:
        """Return a new sandbox that was not opened."""
        raise NotImplementedError("define `sandbox`")

    def test_it_runs_and_scores(self) -> None:
        (scored,) = self._scored(["def main():\n    return [2.5, 1]\n"])
        assert scored.evaluation.status is Status.OK, scored
        assert scored.evaluation.metrics == {"score": 2.5}
        assert json.loads(scored.output or "null") == [2.5, 1]

    def test_more_tasks_than_workers_are_all_answered_in_their_place(self) -> None:
        scored = self._scored([f"def main():\n    return [{n}]\n" for n in range(9)])
        assert [each.evaluation.metrics.get("score") for each in scored] == list(range(9))

    def test_a_candidates_faults_are_a_status(self) -> None:
        texts = ["def main():\n    raise ValueError\n", "def main():\n    return ['x']\n", "def main(:\n"]
        for text, scored in zip(texts, self._scored(texts), strict=True):
            assert scored.evaluation.status not in (Status.OK, Status.INFRA), f"{text!r} gave {scored}"
            assert scored.evaluation.reason, f"{text!r}: an evaluation that failed says why"

    def test_it_closes_while_a_candidate_runs(self) -> None:
        async def close_early(executor: Executor, problem: Problem) -> None:
            await executor.open(problem, self.sandbox, 1)
            running = asyncio.create_task(
                executor.evaluate(_task(problem, "def main():\n    while True:\n        pass\n"))
            )
            await asyncio.sleep(0.3)
            await asyncio.wait_for(executor.close(), 10.0)
            running.cancel()
            await asyncio.wait([running], timeout=10.0)

        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(close_early(self.component(), sample_problem(Path(folder))))

    def _scored(self, texts: list[str]) -> list[Any]:
        async def evaluate_all(problem: Problem) -> list[Any]:
            executor = self.component()
            await executor.open(problem, self.sandbox, 2)
            try:
                return await asyncio.gather(*(executor.evaluate(_task(problem, text)) for text in texts))
            finally:
                await executor.close()

        with tempfile.TemporaryDirectory() as folder:
            return asyncio.run(evaluate_all(sample_problem(Path(folder))))


class ReporterContract(ComponentContract):
    """What a run relies on in a reporter: it listens and never raises."""

    def component(self) -> Reporter:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_it_listens_to_something(self) -> None:
        reporter = self.component()
        heard = [hook for hook in HOOKS if callable(getattr(reporter, hook, None))]
        reporter.close()
        assert heard, "no method is named like an event"

    def test_it_takes_every_event(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self._tell(sample_events(Path(folder)))

    def test_it_takes_a_run_that_found_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            started, *_, ended = sample_events(Path(folder))
            assert isinstance(ended, RunEnded)
            self._tell([started, RunEnded("failed", "the seed crashed", None, 1, 1, {}, 0.0)])

    def test_it_may_be_closed_before_anything_happened(self) -> None:
        self.component().close()

    def _tell(self, events: list[Event]) -> None:
        reporter = self.component()
        try:
            for event in events:
                listen = getattr(reporter, hook_of(event), None)
                if listen is not None:
                    listen(event)
        finally:
            reporter.close()


def sample_events(folder: Path) -> list[Event]:
    """Return one event of every kind, in an order in which they may come."""
    problem = sample_problem(folder / "problem")
    born = material(problem, 0, SEED, 1.0)
    failed = Evaluation(born.evaluation.name, Status.CRASHED, {}, reason="it crashed")
    totals = {"evaluations": 100, "proposals": 2000}
    return [
        RunStarted(folder, "sample", Objective("score"), 2.0, 1, 2, 4, totals),
        IndividualAdmitted(born.individual, born.evaluation, True, 1, 1, 0.1),
        RecordBroken(born.individual, born.evaluation, None),
        OffspringProposed(1, 0, 0, "genetic/constant"),
        OffspringRefused(1, 0, "genetic/constant", Reason.SIMILAR, "too close to individual 0"),
        IndividualAdmitted(born.individual, failed, False, 2, 3, 0.2),
        RecordBroken(born.individual, born.evaluation, 0.5),
        IslandsMigrated(3, (Move(0, 0, 1),), (Reset(1, (0,)),)),
        CounterexampleFound(0, 1.0, Verdict(False, None, None, "two circles overlap")),
        HarnessCommitted(4, "brief.py", "a" * 32, "b" * 32, "better on validation"),
        HarnessDropped(5, "brief.py", "c" * 32, "no better on validation"),
        PolicyUpdated(6, "toy", "0", "1"),
        PhaseEnded(0, 6, 4),
        RunEnded("budget", "the budget of 4 evaluations is spent", 0, 4, 7, {Reason.SIMILAR: 1}, 1.5),
    ]


def _task(problem: Problem, text: str) -> EvaluationTask:
    program = Program.of({problem.main: text})
    return EvaluationTask(EvaluationName(program.hash, None, 1, 7, 0, problem.evaluator_version), program, None)
