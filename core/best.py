"""The best program of a run, and the chain of programs and inputs that makes its result."""

from dataclasses import dataclass
from typing import Any

from .evaluation import Evaluation, Verdict
from .objective import Objective
from .program import Program
from .records import Material
from .store import Store


@dataclass(frozen=True, slots=True)
class BestProgram:
    """The best individual that no oracle rejected. `valid` and `verdict` are None without an oracle.

    `evaluations` and `seconds` say when it was found.
    """

    id: int
    program: Program
    evaluation: Evaluation
    output: str | None
    """The text of its output."""
    score: float
    evaluations: int | None
    seconds: float | None

    @property
    def verdict(self) -> Verdict | None:
        """What the oracle said of it."""
        return self.evaluation.verdict

    @property
    def valid(self) -> bool | None:
        """Whether the oracle holds it for a solution."""
        return None if self.verdict is None else self.verdict.valid

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `speciate best --json`."""
        verdict = self.verdict
        return {
            "id": self.id,
            "program_hash": self.program.hash,
            "score": self.score,
            "score_exact": None if verdict is None else verdict.score_exact,
            "valid": self.valid,
            "verdict": None
            if verdict is None
            else {
                "valid": verdict.valid,
                "score": verdict.score,
                "score_exact": verdict.score_exact,
                "reason": verdict.reason,
            },
            "evaluations": self.evaluations,
            "seconds": self.seconds,
        }


def best_of(store: Store, objective: Objective) -> BestProgram | None:
    """Return the best program of a run, or None when there is no valid one; of equals, the oldest."""
    id = store.best_id()
    if id is None:
        return None
    material = store.material(id)
    found = next((payload for _, payload in store.events("record_broken") if payload["id"] == id), {})
    verdict = material.evaluation.verdict
    score = objective.score(material.individual.fitness or 0.0)
    if verdict is not None and verdict.score is not None:
        score = verdict.score
    evaluation = material.evaluation
    output = None if evaluation.output is None else store.output(evaluation.output)
    found_at = found.get("evaluations"), found.get("seconds")
    return BestProgram(id, material.program, evaluation, output, score, *found_at)


def input_chain(store: Store, id: int) -> list[Material]:
    """Return the individuals that make a result, the one run from scratch first and `id` last."""
    chain = [store.material(id)]
    while (source := chain[-1].individual.input) is not None:
        chain.append(store.material(source))
    return chain[::-1]
