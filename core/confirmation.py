"""Confirmation: a second look at what would be a record where scores are noisy, and at what is too good to be true."""

from dataclasses import replace

from .evaluation import Evaluation, Status
from .objective import Objective, better
from .population import Best
from .problem import Problem
from .records import Screened
from .slots import EvaluationTask, Executor
from .store import Store

CONFIRMING_SEED = 1_000_003
"""How far the seed of a confirming evaluation lies from the first one's: beyond those of its repeats."""

ORACLE_SLACK = 1e-9
"""By how much, relatively, a local score may exceed the oracle's, which is rounded down."""


class Confirmation:
    """Evaluates anew where one evaluation is not enough to believe."""

    def __init__(self, problem: Problem, store: Store, executor: Executor) -> None:
        self.problem = problem
        self.store = store
        self.executor = executor

    async def confirmed(self, screened: Screened, evaluation: Evaluation, best: Best | None) -> Evaluation:
        """Evaluate anew what would be a record where scores are noisy, and what is too good to be true anywhere.

        The second evaluation has a name of its own (repeat 1) and other seeds, and runs on whichever worker is free. A
        noisy record counts with the mean of both; what is suspicious is written down with both.
        """
        objective = self.problem.objective
        if evaluation.status is not Status.OK or screened.name is None or screened.proposal.program is None:
            return evaluation
        fitness = objective.fitness(evaluation.metrics)
        suspicious = _suspicion(objective, evaluation)
        noisy = self.problem.repeats.at_most > 1
        if suspicious is None and not (noisy and best is not None and better(fitness, best.fitness)):
            return evaluation
        again = await self._again(screened, evaluation)
        if suspicious is not None:
            self.store.event(
                "suspicious",
                {
                    "id": screened.selection.ticket,
                    "reason": suspicious,
                    "score": evaluation.metrics[objective.name],
                    "again": again.metrics.get(objective.name),
                    "status_again": again.status.value,
                },
                screened.selection.ticket,
            )
        return again if noisy else evaluation

    async def _again(self, screened: Screened, first: Evaluation) -> Evaluation:
        """Return the evaluation under the name with repeat 1: the mean of the first and a second one."""
        assert screened.name is not None
        assert screened.proposal.program is not None
        name = replace(screened.name, repeat=1, seed=(screened.name.seed + CONFIRMING_SEED) % (1 << 31))
        recorded = self.store.evaluation(name.hash)
        if recorded is not None:
            return recorded
        text = None if name.input is None else self.store.output(name.input)
        scored = await self.executor.evaluate(EvaluationTask(name, screened.proposal.program, text))
        second = scored.evaluation
        if second.status is Status.OK:
            shared = sorted(first.metrics.keys() & second.metrics.keys())
            second = replace(second, metrics={k: (first.metrics[k] + second.metrics[k]) / 2 for k in shared})
        self.store.record_evaluation(screened.proposal.program, second, scored.output)
        return second


def _suspicion(objective: Objective, evaluation: Evaluation) -> str | None:
    """Return why a score is too good to be true, or None: it beats the declared bound, or what the oracle says."""
    score, verdict = evaluation.metrics[objective.name], evaluation.verdict
    if objective.beyond_bound(score):
        return f"{objective.name} is {score!r}, beyond the bound of {objective.bound!r}"
    if (
        verdict is not None
        and verdict.score is not None
        and objective.gain(
            objective.fitness({objective.name: score}), objective.fitness({objective.name: verdict.score})
        )
        > ORACLE_SLACK * max(1.0, abs(score))
    ):
        return f"{objective.name} is {score!r}, and the oracle's score {verdict.score!r}"
    return None
