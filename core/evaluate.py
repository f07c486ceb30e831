"""Takes one program through screen, run, score and oracle, outside any run."""

from pathlib import Path
from typing import Any

from .assemble import sandbox_factory
from .config import resolve
from .errors import SpeciateError
from .evaluation import EvaluationName
from .loading import Plugins
from .problem import Problem, workspace
from .program import Program
from .scorer import Scorer
from .screen import does_not_parse
from .slots import EvaluationTask
from .trial import Trial


def read_program(problem: Problem, path: Path) -> Program:
    """Read a program from a file, or from a folder when it has several. Raises SpeciateError."""
    try:
        if path.is_dir():
            files = {
                p.relative_to(path).as_posix(): p.read_text(encoding="utf-8-sig")
                for p in sorted(path.rglob("*"))
                if p.is_file() and "__pycache__" not in p.parts
            }
        else:
            files = {problem.main: path.read_text(encoding="utf-8-sig")}
    except FileNotFoundError:
        raise SpeciateError(f"there is no program {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpeciateError(f"{path} cannot be read as UTF-8 text: {error}") from None
    if problem.main not in files:
        raise SpeciateError(f"the folder {path} has no {problem.main}, the main file of a program for {problem.name}")
    return Program.of(files)


def evaluate_once(
    problem: Problem, program: Program, plugins: Plugins, *, sandbox: str | None = None, seed: int = 0
) -> dict[str, Any]:
    """Run and score one program from scratch; return what came of it as plain data.

    Raises SpeciateError when the sandbox or a judge fails, not when the program does.
    """
    name = EvaluationName(program.hash, None, problem.effort, seed, 0, problem.evaluator_version)
    refusal = does_not_parse(program)
    if refusal is not None:
        return {"status": "refused", "reason": f"{refusal.reason.value}: {refusal.detail}", "metrics": {}}
    config = resolve(plugins, flags={"sandbox": sandbox})
    box, scorer = sandbox_factory(config, plugins.registry, problem)(), Scorer(problem)
    try:
        box.open(workspace(problem))
        evaluation = Trial(problem, box, scorer).evaluate(EvaluationTask(name, program, None)).evaluation
    finally:
        box.close()
        scorer.close()
    verdict = evaluation.verdict
    return {
        "status": evaluation.status.value,
        "reason": evaluation.reason,
        "metrics": dict(evaluation.metrics),
        "score": evaluation.metrics.get(problem.objective.name),
        "feedback": evaluation.feedback,
        "valid": None if verdict is None else verdict.valid,
        "score_exact": None if verdict is None else verdict.score_exact,
        "verdict": None if verdict is None else verdict.reason or "valid",
        "cost": {
            "wall_s": evaluation.cost.wall_s,
            "cpu_s": evaluation.cost.cpu_s,
            "max_rss_bytes": evaluation.cost.max_rss_bytes,
        },
        "stdout": evaluation.stdout,
    }
