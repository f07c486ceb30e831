"""What oracle and local evaluator of a problem say of an output."""

from pathlib import Path
from typing import Any

from .errors import SpeciateError
from .evaluation import Status
from .problem import Problem
from .scorer import Scorer


def verdict(problem: Problem, path: Path) -> dict[str, Any]:
    """Judge the output in a file, which is read as JSON text and may hold anything.

    Without an oracle `valid` and `score` are None and only the local evaluator speaks; where that cannot answer, its
    `valid` is None. Raises SpeciateError when the file cannot be read or nobody answers, ProblemError when a judge
    cannot be loaded or the oracle fails.
    """
    text = _read(problem, path)
    scorer = Scorer(problem)
    try:
        found = scorer.verdict(text)
        status, reason, answer = scorer.local(text)
    finally:
        scorer.close()
    unanswered = status is Status.INFRA
    if unanswered and found is None:
        raise SpeciateError(str(reason))
    local = {
        "valid": None if unanswered else status is Status.OK,
        "score": answer.get("metrics", {}).get(problem.objective.name) if status is Status.OK else None,
        "reason": reason,
        "feedback": answer.get("feedback"),
    }
    return {
        "valid": None if found is None else found.valid,
        "score": None if found is None else found.score,
        "score_exact": None if found is None else found.score_exact,
        "reason": None if found is None else found.reason,
        "local": local,
    }


def _read(problem: Problem, path: Path) -> str:
    """Return the text of an output; of one that is too long to be judged, only so much as shows that."""
    most = 4 * problem.limits.output_bytes + 4
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
        # What is cut in the middle of a character is longer than any limit, whatever its end was.
        return raw.decode("utf-8", "strict" if len(raw) <= most else "ignore")
    except (OSError, UnicodeDecodeError) as error:
        raise SpeciateError(f"{path} cannot be read as UTF-8 text: {error}") from None
