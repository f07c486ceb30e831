"""Scores outputs in processes of their own: the local evaluator in one, the oracle in another."""

import math
from collections.abc import Mapping
from typing import Any

from .errors import ProblemError
from .evaluation import Evaluation, EvaluationName, RunResult, Status, Verdict, output_hash
from .judge import Judge, JudgeTimeout
from .problem import Problem


class OracleFault(ProblemError):
    """The oracle gave no verdict: it raised, died or took too long."""


class Scorer:
    """Turns what a candidate returned into an evaluation. One for each worker; not for several threads at once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._evaluator = Judge("evaluate", problem.evaluator, problem.score_wall_s)
        self._oracle = None if problem.oracle is None else Judge("judge", problem.oracle, problem.score_wall_s)

    def score(self, name: EvaluationName, result: RunResult) -> Evaluation:
        """Return the evaluation of a run.

        What an output brings about in a judge is a status: a candidate cannot end a run. Raises ProblemError only when
        a judge cannot be loaded.
        """
        if result.status is not Status.OK or result.value is None:
            return Evaluation(name, result.status, {}, reason=result.reason, cost=result.cost, stdout=result.stdout)
        status, reason, answer = self.local(result.value, name.seed)
        verdict = None
        if status is Status.OK:
            try:
                verdict = self.verdict(result.value)
            except OracleFault as fault:
                status, reason = Status.INFRA, str(fault)
        return Evaluation(
            name=name,
            status=status,
            metrics=answer.get("metrics", {}) if status is not Status.INFRA else {},
            reason=reason,
            feedback=answer.get("feedback"),
            instances=answer.get("instances"),
            verdict=verdict,
            output=output_hash(result.value),
            cost=result.cost,
            stdout=result.stdout,
        )

    def local(self, text: str, seed: int = 0) -> tuple[Status, str | None, dict[str, Any]]:
        """Return what the local evaluator says of an output: status, reason, and its answer.

        `seed` is the evaluation's, for evaluators that name it: a noise that is drawn from it can be repeated.

        Without metrics the answer holds at most what was `printed`. Otherwise its `metrics` and `instances` are finite.
        """
        too_long = self._too_long(text)
        if too_long is not None:
            return Status.INVALID, too_long, {}
        answer = self._ask_twice(self._evaluator, text, seed=seed)
        if "outage" in answer:
            return Status.INFRA, f"the evaluator could not answer: {answer['outage']}", {}
        if "error" in answer:
            return Status.INVALID, f"the evaluator raised {answer['error']}", {"printed": answer["printed"]}
        fault = self._fault(answer)
        metrics, instances = _finite(answer["metrics"]), answer["instances"]
        kept = {**answer, "metrics": metrics, "instances": None if instances is None else _finite(instances)}
        return (Status.OK if fault is None else Status.INVALID), fault, kept

    def verdict(self, text: str) -> Verdict | None:
        """Return what the oracle says of an output, or None without an oracle.

        Raises OracleFault when the oracle raises, dies or takes too long.
        """
        if self._oracle is None:
            return None
        too_long = self._too_long(text)
        if too_long is not None:
            return Verdict(False, None, None, too_long)
        answer = self._ask_twice(self._oracle, text)
        fault = answer.get("error") or answer.get("outage")
        if fault is not None:
            raise OracleFault(f"{self._oracle.path.name} gave no verdict: {fault}")
        return Verdict(answer["valid"], answer["score"], answer["score_exact"], answer["reason"])

    def close(self) -> None:
        """End both processes. May come from any thread; a question that waits is answered with an outage."""
        self._evaluator.close()
        if self._oracle is not None:
            self._oracle.close()

    def _fault(self, answer: Mapping[str, Any]) -> str | None:
        """Say why what the evaluator returned does not compete, if it does not."""
        metrics, objective = answer["metrics"], self.problem.objective.name
        if not answer["valid"]:
            return answer["feedback"] or "the evaluator holds it for invalid"
        for what, numbers in (("metric", metrics), ("instance score", answer["instances"] or {})):
            for name, value in numbers.items():
                if not math.isfinite(value):
                    return f"the evaluator returned {value!r} as {what} {name!r}, which is not finite"
        if objective not in metrics:
            found = ", ".join(sorted(metrics)) or "nothing"
            return (
                f"the evaluator measured {found}, not the declared objective {objective!r}; "
                f"return it in 'metrics', or 'valid': False"
            )
        return None

    def _too_long(self, text: str) -> str | None:
        most = self.problem.limits.output_bytes
        if len(text) <= most:
            return None
        return f"the output has {len(text)} characters; the limit is {most} (output_kb in [limits])"

    def _ask_twice(self, judge: Judge, text: str, **more: Any) -> dict[str, Any]:
        """Ask again once after an outage: the candidate is not to blame for it."""
        answer: dict[str, Any] = {}
        for _ in range(2):
            try:
                answer = judge.ask(text, dict(self.problem.options), **more)
            except JudgeTimeout as error:
                return {"outage": f"{error} (score_wall_s in [limits])", "printed": ""}
            if "outage" not in answer:
                break
        return answer


def _finite(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in numbers.items() if math.isfinite(value)}
