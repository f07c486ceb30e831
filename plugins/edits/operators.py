"""Operators that ask a policy for an offspring: edits, rewrites, crossover, repair, another way, other numbers."""

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from ...core.calls import total
from ...core.component import ComponentOptions
from ...core.errors import ComponentError
from ...core.program import Program
from ...core.records import Brief, Message, Outcome, Proposal, Reason, Refusal
from ...core.slots import Operator, Reply
from .prompt import messages, repair_message
from .reading import Mode, offspring

if TYPE_CHECKING:
    from ...core.calls import Calls
    from ...core.problem import Problem

REMEMBERED = 20
"""Outcomes of an operator that its next prompts tell of."""

_NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w)")


class WriterOptions(ComponentOptions):
    """Options of every operator that asks a policy."""

    repairs: int = Field(
        default=1, ge=0, le=10, description="How often the policy is told why a reply was refused and asked again."
    )
    tokens: int = Field(default=16_000, ge=500, description="About how many tokens a prompt may have.")
    temperature: float | None = Field(default=None, ge=0, description="Sent with the request; none leaves it out.")
    max_tokens: int | None = Field(default=None, ge=1, description="Tokens of a reply; none leaves it out.")


class Writer(Operator):
    """What the operators here share: build messages, ask, read the reply, and ask again where it was refused."""

    Options: ClassVar[type[ComponentOptions]] = WriterOptions
    options: WriterOptions
    name: ClassVar[str]
    mode: ClassVar[Mode] = "edit"

    def open(self, problem: "Problem", calls: "Calls | None") -> None:
        """Take the way to the policy. Raises ComponentError when the run has none."""
        if calls is None:
            raise ComponentError(f"the operator {self.name} asks a policy and the run has none; add --policy NAME")
        self._problem, self._calls = problem, calls
        self._lately: deque[Reason | None] = deque(maxlen=REMEMBERED)

    def plan(self, rng: np.random.Generator) -> Mapping[str, Any]:
        """Say what was refused lately, so that the prompt can tell."""
        refused = Counter(reason.value for reason in self._lately if reason is not None)
        return {"refused": dict(sorted(refused.items()))}

    def observe(self, outcome: Outcome) -> None:
        """Remember whether a ticket was refused, and why."""
        self._lately.append(outcome.refusal)

    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        """Ask the policy for an offspring, at most once more for each of `repairs`."""
        prepared = self.brief(brief)
        if isinstance(prepared, Refusal):
            return Proposal(None, self.name, prepared)
        talk = list(messages(self.name, self._problem, prepared, self.options.tokens, plan))
        replies: list[Reply] = []
        names: list[str] = []
        made: Program | Refusal = Refusal(Reason.NO_PROGRAM, "the policy was not asked")
        for round in range(self.options.repairs + 1):
            drawn, drawn_names = await self._calls.draw(brief.selection.ticket, talk, 1, self._settings())
            replies += drawn
            names += drawn_names
            made = self.read(prepared.parent.program, drawn[0])
            if isinstance(made, Program) or round == self.options.repairs:
                break
            talk = self._told(talk, drawn[0], made)
        wanted = brief.parent.individual.id if self._problem.improve is not None else None
        usage = total(replies)
        if isinstance(made, Refusal):
            return Proposal(None, self.name, made, replies=tuple(names), usage=usage)
        return Proposal(made, self.name, input=wanted, replies=tuple(names), usage=usage)

    def brief(self, brief: Brief) -> Brief | Refusal:
        """Return the brief that the prompt is built of, or why this operator has nothing to do with it."""
        return brief

    def read(self, parent: Program, reply: Reply) -> Program | Refusal:
        """Return what a reply makes of the parent."""
        problem = self._problem
        return offspring(parent, reply.text, problem.main, self.mode, reply.finish_reason, problem.entry)

    def _told(self, talk: Sequence[Message], reply: Reply, refusal: Refusal) -> list[Message]:
        """Return the conversation with the refused reply, shortened, and the reason."""
        said = reply.text if len(reply.text) <= self.options.tokens else reply.text[: self.options.tokens] + "\n[…]"
        again = repair_message(refusal.detail, self._problem, self.options.tokens // 8)
        return [*talk, Message("assistant", said or "(nothing)"), again]

    def _settings(self) -> dict[str, Any]:
        wanted = {"temperature": self.options.temperature, "max_tokens": self.options.max_tokens}
        return {name: value for name, value in wanted.items() if value is not None}


class Diff(Writer):
    """SEARCH/REPLACE edits or a unified diff by the policy: several in a reply, in order, all or none."""

    name = "diff"
    inspirations = 2


class Rewrite(Writer):
    """A full rewrite by the policy; frozen text is put back byte by byte."""

    name = "rewrite"
    mode = "rewrite"
    inspirations = 2


class Crossover(Writer):
    """One program by the policy out of two or more."""

    name = "crossover"
    mode = "rewrite"
    inspirations = 2

    def brief(self, brief: Brief) -> Brief | Refusal:
        """Refuse a brief without a second program."""
        others = tuple(m for m in brief.inspirations if m.program.hash != brief.parent.program.hash)
        if not others:
            return Refusal(Reason.NO_PROGRAM, "crossover needs a second program, and the island has none")
        return replace(brief, inspirations=others)


class Elsewhere(Writer):
    """A program by the policy that goes about the task in another way than those it is shown."""

    name = "elsewhere"
    mode = "rewrite"
    inspirations = 4


class Tune(Writer):
    """Other numbers by the policy; a reply that changes anything else is refused."""

    name = "tune"
    inspirations = 2

    def read(self, parent: Program, reply: Reply) -> Program | Refusal:
        """Return what a reply makes of the parent, if only numbers differ."""
        made = super().read(parent, reply)
        if isinstance(made, Program) and _blanked(made) != _blanked(parent):
            return Refusal(Reason.NO_PROGRAM, "the reply changes more than numbers; change only numbers")
        return made


def _blanked(program: Program) -> list[str]:
    return ["\n".join(line.rstrip() for line in _NUMBER.sub("0", text).splitlines()) for _, text in program.files]
