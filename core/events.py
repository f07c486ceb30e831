"""What listeners are told: one frozen record an event, with ids, numbers and records, never the engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .evaluation import Evaluation, Verdict
from .objective import Objective
from .records import Individual, Reason
from .slots import Move, Reset

RunStatus = Literal["budget", "target", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run was started, or taken up again where it stopped.

    `totals` are the limits that were set, by the names of the `[budget]` table (`evaluations`, `seconds`, `proposals`,
    `target` …); a limit that was not set is not in it. `best_known` is the problem's own figure, or None. The last
    four fields say what earlier sessions of the run did: 0 and None in a new run.
    """

    directory: Path
    problem: str
    objective: Objective
    best_known: float | None
    seed: int
    workers: int
    lag: int
    totals: Mapping[str, float]
    evaluations: int = 0
    proposals: int = 0
    seconds: float = 0.0
    best_score: float | None = None


@dataclass(frozen=True, slots=True)
class OffspringProposed:
    """An operator answered with an offspring. `operator` may say more than its name: `genetic/statement-swap`."""

    ticket: int
    island: int
    parent: int | None
    operator: str


@dataclass(frozen=True, slots=True)
class OffspringRefused:
    """An offspring was refused before its evaluation; `detail` is the sentence that its author gets to read."""

    ticket: int
    island: int
    operator: str
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class IndividualAdmitted:
    """An individual was born and is on disk, whatever its status.

    `kept` says whether its island's archive took it. `evaluations` and `proposals` count the run so far, this one
    included; `elapsed_s` is the wall time since the run began, all its sessions together.
    """

    individual: Individual
    evaluation: Evaluation
    kept: bool
    evaluations: int
    proposals: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class RecordBroken:
    """An individual is better than all before it. `previous` is the score it beat, or None when it is the first."""

    individual: Individual
    evaluation: Evaluation
    previous: float | None


@dataclass(frozen=True, slots=True)
class IslandsMigrated:
    """Individuals were copied between islands, or islands were emptied and founded anew, after a ticket."""

    ticket: int
    moves: tuple[Move, ...]
    resets: tuple[Reset, ...] = ()


@dataclass(frozen=True, slots=True)
class CounterexampleFound:
    """The local evaluator accepted an output, with `local_score`, that the oracle rejects."""

    individual: int
    local_score: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class HarnessCommitted:
    """A harness edit passed its gate. `component` is the file's path; the hashes name the harness before and after."""

    ticket: int
    component: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class HarnessDropped:
    """A harness edit did not pass its gate, for `reason`; `harness` is the hash of the harness that was dropped."""

    ticket: int
    component: str
    harness: str
    reason: str


@dataclass(frozen=True, slots=True)
class PolicyUpdated:
    """The learner made a new version of the policy's weights."""

    ticket: int
    policy: str
    previous: str
    version: str


@dataclass(frozen=True, slots=True)
class PhaseEnded:
    """A stretch of search under one harness and one policy version ended after a ticket; phases count from 0."""

    phase: int
    ticket: int
    evaluations: int


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run came to its end or was interrupted; everything it found is on disk.

    `best` is the id of the best individual, or None when no valid program was found. Counts and `seconds` are totals
    over all sessions of the run.
    """

    status: RunStatus
    reason: str
    best: int | None
    evaluations: int
    proposals: int
    refused: Mapping[Reason, int]
    seconds: float


Event = (
    RunStarted
    | OffspringProposed
    | OffspringRefused
    | IndividualAdmitted
    | RecordBroken
    | IslandsMigrated
    | CounterexampleFound
    | HarnessCommitted
    | HarnessDropped
    | PolicyUpdated
    | PhaseEnded
    | RunEnded
)
