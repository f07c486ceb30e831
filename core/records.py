"""The records that travel: each stage hands the next a frozen one, and nobody asks back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .evaluation import Evaluation, EvaluationName
from .program import Program


class Reason(StrEnum):
    """Why an offspring was refused before anything dear was paid."""

    NO_PROGRAM = "no_program"
    """The operator made nothing: a reply without a program, or a mutation that did not apply."""
    FROZEN = "frozen"
    """Text outside the evolve blocks was touched."""
    SYNTAX = "syntax"
    """It does not parse."""
    NO_CHANGE = "no_change"
    """It is its parent."""
    DUPLICATE = "duplicate"
    """The same program on the same input was proposed before."""
    SIMILAR = "similar"
    """It is too close, in embedding space, to a program proposed before."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an offspring was refused, and the sentence that goes back to whoever wrote it."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What the stage `select` drew for one ticket.

    `parent` (None for a seed) and `inspirations` are ids of individuals of the island; `plan` is what the operator
    decided at that moment (plain data), so that what it learns later cannot change this ticket.
    """

    ticket: int
    island: int
    parent: int | None
    inspirations: tuple[int, ...]
    operator: str
    plan: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Individual:
    """A program in a population. Its id is the ticket it was born with; seeds have no parent.

    `input` is the individual whose output it was started from, or None when it was run from scratch; `fitness` is
    None unless it competes (status ok, finite); `novelty` in [0, 1] was measured at birth.
    """

    id: int
    program: str
    island: int
    parent: int | None
    inspirations: tuple[int, ...]
    input: int | None
    operator: str
    generation: int
    evaluation: str
    fitness: float | None
    novelty: float


@dataclass(frozen=True, slots=True)
class Material:
    """An individual with what an operator reads of it.

    `gain` is its fitness minus its parent's, 0 within the objective's resolution; None when either does not compete.
    """

    individual: Individual
    program: Program
    evaluation: Evaluation
    gain: float | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a policy. `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Brief:
    """All that an operator gets: the selection, the programs behind it, and the messages of the harness.

    `messages` is empty for operators that need none.
    """

    selection: Selection
    parent: Material
    inspirations: tuple[Material, ...] = ()
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What a proposal cost in model calls, tokens and money. A price that is not known is None, never 0."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an operator returns: an offspring or the reason why there is none.

    `operator` may say more than the selection did (`genetic/statement-swap`); `input` is the individual whose output
    the offspring starts from (the engine uses it only for problems with an improver); `replies` are the hashes of the
    model replies that were read.
    """

    program: Program | None
    operator: str
    refusal: Refusal | None = None
    input: int | None = None
    replies: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Screened:
    """A proposal that was refused, or the name of the evaluation it earned.

    `content` names the program up to comments, formatting and local names, together with its input; `input` is the
    individual whose output it starts from and `input_hash` the hash of that output.
    """

    selection: Selection
    proposal: Proposal
    refusal: Refusal | None = None
    name: EvaluationName | None = None
    content: bytes | None = None
    input: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a ticket, for those who learn from it (operators, bandits), in ticket order.

    `gain` is child fitness minus parent fitness, or None when the offspring does not compete or has no parent.
    """

    ticket: int
    operator: str
    plan: Mapping[str, Any]
    refusal: Reason | None
    fitness: float | None
    gain: float | None
    record: bool
