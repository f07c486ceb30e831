"""Runs a result again from its stored programs and compares: a claimed score is a score that comes again."""

from dataclasses import dataclass
from typing import Any

from .assemble import sandbox_factory
from .best import input_chain
from .evaluation import output_hash
from .folder import RunFolder
from .loading import Plugins
from .problem import Problem, job, workspace
from .slots import EvaluationTask


@dataclass(frozen=True, slots=True)
class Step:
    """One program of a chain, run again. `equal` says whether its output is the recorded one, bit for bit."""

    id: int
    status: str
    equal: bool
    score: float | None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"id": self.id, "status": self.status, "equal": self.equal, "score": self.score}


def rerun(folder: RunFolder, problem: Problem, plugins: Plugins, id: int) -> list[Step]:
    """Run every program of the chain that makes an individual's output, each on the output of the one before."""
    steps = []
    sandbox = sandbox_factory(folder.config(plugins), plugins.registry, problem)()
    sandbox.open(workspace(problem))
    try:
        text: str | None = None
        for material in input_chain(folder.store, id):
            recorded = material.evaluation
            result = sandbox.run(job(problem, EvaluationTask(recorded.name, material.program, text)))
            text = result.value
            again = None if text is None else output_hash(text)
            score = recorded.metrics.get(problem.objective.name)
            steps.append(Step(material.individual.id, result.status.value, again == recorded.output, score))
    finally:
        sandbox.close()
    return steps
