"""An evaluation: what running and scoring one program on one input gave, and what it cost."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """How an evaluation ended. Only `ok` competes; status and score are separate things."""

    OK = "ok"
    INVALID = "invalid"
    """It ran, and what it returned is not a solution."""
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    """A limit of wall time or CPU time ended it."""
    INFRA = "infra"
    """Our fault or the machine's: the candidate is not to blame."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured from outside the candidate's process: seconds, seconds, bytes."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    max_rss_bytes: int = 0


@dataclass(frozen=True, slots=True)
class RunResult:
    """What the sandbox returns: a status and plain data, never an object of the candidate's.

    `value` is the output as JSON text (arrays as nested lists; `NaN` and `Infinity` may occur, the scorer judges
    them), or None unless `status` is ok. `reason` is one sentence, or None when all went well.
    """

    status: Status
    value: str | None
    reason: str | None = None
    cost: Cost = field(default_factory=Cost)
    stdout: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the oracle says of an output. `score` is rounded down from `score_exact` where that exists."""

    valid: bool
    score: float | None
    score_exact: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class EvaluationName:
    """What makes two evaluations the same one: deduplication and caching use exactly this."""

    program: str
    input: str | None
    effort: int
    seed: int
    repeat: int
    evaluator: str

    @property
    def hash(self) -> str:
        """32 hexadecimal digits over all the fields."""
        fields = [self.program, self.input, self.effort, self.seed, self.repeat, self.evaluator]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The record of one evaluation.

    `metrics` are finite numbers by name; `instances` are scores by test instance; `output` is the hash of the output
    text, or None when there was none.
    """

    name: EvaluationName
    status: Status
    metrics: Mapping[str, float]
    reason: str | None = None
    feedback: str | None = None
    instances: Mapping[str, float] | None = None
    verdict: Verdict | None = None
    output: str | None = None
    cost: Cost = field(default_factory=Cost)
    stdout: str = ""

    def digest_fields(self) -> list[Any]:
        """What must be equal between equal runs: no times, no memory, no stdout."""
        verdict = self.verdict
        return [
            self.name.hash,
            self.status.value,
            sorted(self.metrics.items()),
            self.feedback,
            sorted(self.instances.items()) if self.instances is not None else None,
            None if verdict is None else [verdict.valid, verdict.score, verdict.score_exact, verdict.reason],
            self.output,
        ]


def output_hash(text: str) -> str:
    """Name an output by its content: 32 hexadecimal digits of the SHA-256 of its JSON text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
