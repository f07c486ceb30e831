"""One evaluation on one worker: stages before it, repeats of it, and a second try after an outage."""

import math
import statistics
from dataclasses import replace

from .evaluation import Cost, Evaluation, EvaluationName, RunResult, Status
from .problem import Problem, job
from .sandbox import Sandbox
from .scorer import Scorer
from .slots import EvaluationTask, Scored

SEEDS = 1 << 31


class Trial:
    """Runs and scores programs with one sandbox and one scorer. Every executor's workers do it this way."""

    def __init__(self, problem: Problem, sandbox: Sandbox, scorer: Scorer) -> None:
        self.problem = problem
        self.sandbox = sandbox
        self.scorer = scorer

    def evaluate(self, task: EvaluationTask) -> Scored:
        """Return what a program is worth on its input.

        Stages come first, each with less effort: one that misses its threshold ends the evaluation as `invalid`. Where
        the problem declares repeats, metrics are means over runs with successive seeds, until the standard error of the
        objective is within what was asked; `repeats` and `standard_error` are added to the metrics.
        """
        spent = Cost()
        for number, stage in enumerate(self.problem.stages, 1):
            scored = self._once(task, replace(task.name, effort=stage.effort))
            spent = _sum(spent, scored.evaluation.cost)
            missed = self._missed(scored.evaluation, stage.threshold)
            if missed is not None:
                reason = f"stage {number} of {len(self.problem.stages)}: {missed}"
                status = Status.INVALID if scored.evaluation.status is Status.OK else scored.evaluation.status
                ended = replace(scored.evaluation, name=task.name, status=status, reason=reason, cost=spent)
                return Scored(ended, scored.output)
        scored = self._repeated(task)
        return replace(scored, evaluation=replace(scored.evaluation, cost=_sum(spent, scored.evaluation.cost)))

    def _missed(self, evaluation: Evaluation, threshold: float) -> str | None:
        if evaluation.status is not Status.OK:
            return evaluation.reason or evaluation.status.value
        score = evaluation.metrics[self.problem.objective.name]
        if self.problem.objective.reached(score, threshold):
            return None
        return f"{self.problem.objective.name} is {score!r}, short of {threshold!r}"

    def _repeated(self, task: EvaluationTask) -> Scored:
        first = self._once(task, task.name)
        runs, spent = [first.evaluation], first.evaluation.cost
        objective, repeats = self.problem.objective.name, self.problem.repeats
        if repeats.at_most == 1 or first.evaluation.status is not Status.OK:
            return first
        while len(runs) < repeats.at_most and (len(runs) < 2 or _standard_error(runs, objective) > repeats.error):
            again = self._once(task, replace(task.name, seed=(task.name.seed + len(runs)) % SEEDS)).evaluation
            spent = _sum(spent, again.cost)
            if again.status is not Status.OK:
                reason = f"repeat {len(runs) + 1}: {again.reason}"
                return Scored(replace(again, name=task.name, reason=reason, cost=spent), None)
            runs.append(again)
        shared = sorted(set.intersection(*(set(run.metrics) for run in runs)))
        metrics = {key: statistics.fmean(run.metrics[key] for run in runs) for key in shared}
        metrics |= {"repeats": float(len(runs)), "standard_error": _standard_error(runs, objective)}
        return Scored(replace(first.evaluation, metrics=metrics, cost=spent), first.output)

    def _once(self, task: EvaluationTask, name: EvaluationName) -> Scored:
        """Run and score; an outage is not the program's fault and is tried once more."""
        work = job(self.problem, replace(task, name=name))
        result: RunResult = self.sandbox.run(work)
        if result.status is Status.INFRA:
            result = self.sandbox.run(work)
        evaluation = self.scorer.score(task.name, result)
        return Scored(evaluation, result.value if evaluation.output is not None else None)


def _standard_error(runs: list[Evaluation], objective: str) -> float:
    """Return the standard error of the mean over runs; infinite for a single one."""
    values = [run.metrics[objective] for run in runs]
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _sum(one: Cost, other: Cost) -> Cost:
    return Cost(
        one.wall_s + other.wall_s, one.cpu_s + other.cpu_s, max(one.max_rss_bytes, other.max_rss_bytes)
    )  # fmt: skip
