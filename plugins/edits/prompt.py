"""Builds the messages of the operators that write: sections within their shares of tokens, put into templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ...core.evaluation import Status
from ...core.objective import Objective
from ...core.problem import Problem
from ...core.program import Program, evolve_blocks, has_evolve_blocks
from ...core.records import Brief, Material, Message
from .matching import editable

TEMPLATES = Path(__file__).parent / "templates"
CHARACTERS_PER_TOKEN = 4
"""A token is counted as so many characters: near enough for a limit, and the same for every model."""

SHARES = {"task": 0.1, "parent": 0.45, "feedback": 0.1, "others": 0.3, "failures": 0.05}
"""What of a prompt's tokens a section may take."""

_CONTEXT = 12
"""Frozen lines that are shown before and after an evolve block of a program that is cut."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A program as a template sees it. `score` is in the objective's own direction, as text, or None."""

    id: int
    files: tuple[tuple[str, str], ...]
    score: str | None
    metrics: Mapping[str, float]
    status: str
    reason: str | None
    feedback: str | None
    gain: float | None


def tokens(text: str) -> int:
    """Return how many tokens a text counts."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def messages(
    template: str, problem: Problem, brief: Brief, budget: int, extra: Mapping[str, Any] | None = None,
    folder: Path = TEMPLATES,
) -> tuple[Message, ...]:  # fmt: skip
    """Return the system and the user message of a template for a brief, of about `budget` tokens at most.

    Raises jinja2.TemplateError when a template is broken.
    """
    share = {name: int(budget * part) for name, part in SHARES.items()}
    others = sorted(brief.inspirations, key=lambda m: (_rank(m), -m.individual.id), reverse=True)
    each = share["others"] // max(1, len(others))
    parent_program = brief.parent.program
    values: dict[str, Any] = {
        "task": cut(problem.task.strip() or problem.summary, share["task"]),
        "goal": goal(problem.objective),
        "main": problem.main,
        "entry": problem.entry,
        "parent": shown(brief.parent, problem, share["parent"], share["feedback"]),
        "others": [shown(m, problem, each * 4 // 5, each // 5) for m in others],
        "editable": cut(editable(parent_program), share["failures"]),
        "marked": any(has_evolve_blocks(text) for _, text in parent_program.files),
        "several": len(parent_program.files) > 1,
        "refused": {},
        **(extra or {}),
    }
    environment = _environment(folder)
    return (
        Message("system", environment.get_template("system.jinja").render(values).strip()),
        Message("user", environment.get_template(f"{template}.jinja").render(values).strip()),
    )


def repair_message(refusal: str, problem: Problem, budget: int, folder: Path = TEMPLATES) -> Message:
    """Return the message that says why a reply was refused and asks for another."""
    values = {"refusal": cut(refusal, budget), "main": problem.main}
    return Message("user", _environment(folder).get_template("again.jinja").render(values).strip())


def goal(objective: Objective) -> str:
    """Say in words what is optimised, in which direction, and what counts as a tie."""
    better = "larger is better" if objective.direction == "maximise" else "smaller is better"
    tie = f"; differences of at most {objective.resolution:g} count as ties" if objective.resolution else ""
    return f"{objective.direction} the metric {objective.name} ({better}{tie})"


def shown(material: Material, problem: Problem, program_tokens: int, feedback_tokens: int) -> Shown:
    """Return what a template shows of an individual, cut to its share."""
    evaluation = material.evaluation
    value = evaluation.metrics.get(problem.objective.name)
    files = dict(material.program.files)
    order = [problem.main, *(path for path in files if path != problem.main)]
    return Shown(
        material.individual.id,
        tuple(zip(order, cut_program(material.program, order, program_tokens), strict=True)),
        None if value is None or evaluation.status is not Status.OK else f"{value:.10g}",
        evaluation.metrics,
        evaluation.status.value,
        None if evaluation.reason is None else cut(evaluation.reason, feedback_tokens),
        None if evaluation.feedback is None else cut(evaluation.feedback, feedback_tokens),
        material.gain,
    )


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` tokens: its beginning and its end, with a note between, if it is longer."""
    limit = most * CHARACTERS_PER_TOKEN
    if len(text) <= limit:
        return text
    half = max(0, limit - 60) // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out} characters left out …]\n{text[len(text) - half :]}"


def cut_program(program: Program, order: Sequence[str], most: int) -> list[str]:
    """Return the texts of the files in `order`, together within `most` tokens.

    A program that is too long is cut by its evolve blocks: these are kept, of the frozen text only what is near.
    """
    texts = [program.text(path) for path in order]
    if sum(map(tokens, texts)) <= most:
        return texts
    texts = [_near_blocks(text) if has_evolve_blocks(text) or len(order) == 1 else cut(text, 100) for text in texts]
    left = most
    result = []
    for text in texts:
        result.append(cut(text, max(left, 40)))
        left -= tokens(result[-1])
    return result


def _near_blocks(text: str) -> str:
    if not has_evolve_blocks(text):
        return text
    lines = text.splitlines(keepends=True)
    keep = [False] * len(lines)
    for block in evolve_blocks(text):
        for number in range(max(0, block.start - _CONTEXT), min(len(lines), block.stop + _CONTEXT)):
            keep[number] = True
    result: list[str] = []
    hidden = 0
    for line, kept in zip([*lines, ""], [*keep, True], strict=True):
        if kept and hidden:
            result.append(f"[… {hidden} frozen lines left out …]\n")
            hidden = 0
        if kept:
            result.append(line)
        else:
            hidden += 1
    return "".join(result)


def _rank(material: Material) -> float:
    fitness = material.individual.fitness
    return float("-inf") if fitness is None else fitness


@lru_cache(maxsize=8)
def _environment(folder: Path) -> ImmutableSandboxedEnvironment:
    # Sandboxed, since templates are parts of a harness that a model may write.
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
