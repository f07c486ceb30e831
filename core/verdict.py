"""What oracle and local evaluator of a problem say of an output."""

from pathlib import Path
from typing import Any

from .errors import SpeciateError
from .evaluation import Status
from .problem import Problem
from .scorer import Scorer


def verdict(problem: Problem, path: Path) -> dict[str, Any]:
    """Judge the output in a file, which is read as JSON text and may hold anything.

    Without an oracle `valid` and `score` are None and only the local evaluator speaks. Raises SpeciateError when the
    file cannot be read, ProblemError when a judge itself fails.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpeciateError(f"{path} cannot be read as UTF-8 text: {error}") from None
    scorer = Scorer(problem)
    try:
        found = scorer.verdict(text)
        status, reason, answer = scorer.local(text)
    finally:
        scorer.close()
    local = {
        "valid": status is Status.OK,
        "score": answer.get("metrics", {}).get(problem.objective.name) if status is Status.OK else None,
        "reason": reason,
    }
    return {
        "valid": None if found is None else found.valid,
        "score": None if found is None else found.score,
        "score_exact": None if found is None else found.score_exact,
        "reason": None if found is None else found.reason,
        "local": local,
    }
