"""The embedded default proposer: genetic programming on the evolve blocks of a Python program."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from ...core.component import ComponentOptions
from ...core.errors import ComponentError
from ...core.program import Program
from ...core.records import Brief, Material, Outcome, Proposal, Reason, Refusal
from ...core.slots import Operator
from .bandit import OperatorBandit
from .catalogue import Catalogue
from .variation import LARGEST, OPERATORS, vary

if TYPE_CHECKING:
    from ...core.calls import Calls
    from ...core.problem import Problem

CONTINUE, TRANSFER = "continue", "transfer"
"""For problems with an improver: run the parent's program, or another's, unchanged on the parent's output."""

STEP_GROWTH = 1.3
"""A success lengthens an operator's step by this factor, four failures undo it (the 1/5th success rule)."""


CONTINUE_SHARE = 0.25
"""Of those, the share that goes on from its own output; the others take over another member's program."""

FOREIGN_SHARE = 0.5
"""Where a program and the output that it starts from are two things, the share of variations of another's program."""

GAIN_MEMORY = 0.1
"""The weight of the newest gain in the moving mean."""


class Genetic(Operator):
    """Genetic programming on Python source: constants, expressions, statements, building blocks and crossover."""

    class Options(ComponentOptions):
        """Options of `genetic`."""

        mutations: float = Field(
            default=1.6, ge=1, description="Mean number of operators applied to one offspring (geometric)."
        )
        step: float = Field(default=0.3, gt=0, description="First step size of changes of constants (log scale).")
        discount: float = Field(default=0.995, gt=0, le=1, description="How fast the bandit forgets, a ticket.")
        reuse: float = Field(
            default=0.4,
            ge=0,
            le=1,
            description="With an improver, the share of offspring that are a proven program on another output.",
        )
        floor: float = Field(default=0.25, ge=0, le=1, description="Share of draws in which every operator is alike.")
        largest: int = Field(
            default=LARGEST, ge=1, description="Statements an evolve block may grow to; one with more does not grow."
        )

    options: Options
    inspirations = 8

    def open(self, problem: "Problem", calls: "Calls | None") -> None:
        """Read the problem's building blocks. Raises ComponentError when the program is not Python."""
        if not problem.main.endswith(".py"):
            raise ComponentError(f"the operator genetic changes Python programs; the program here is {problem.main}")
        self._main = problem.main
        self._catalogue = Catalogue.of(problem.blocks)
        self._improves = problem.improve is not None
        self._bandit = OperatorBandit(list(OPERATORS), discount=self.options.discount, floor=self.options.floor)
        self._typical_gain: float | None = None
        self._steps = dict.fromkeys(OPERATORS, self.options.step)

    def plan(self, rng: np.random.Generator) -> Mapping[str, Any]:
        """Choose the operators of one offspring, with the step sizes learned so far."""
        if self._improves and rng.random() < self.options.reuse:
            kinds = [CONTINUE if rng.random() < CONTINUE_SHARE else TRANSFER]
        else:
            kinds = [self._bandit.choose(rng) for _ in range(int(rng.geometric(1.0 / self.options.mutations)))]
        return {"kinds": kinds, "steps": [round(self._steps.get(kind, 0.0), 6) for kind in kinds]}

    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        """Apply the planned operators one after the other; those that do not apply are left out."""
        kinds: list[str] = plan["kinds"]
        name = f"genetic/{kinds[0]}"
        base = self._base(brief, kinds[0], rng)
        text = base.program.text(self._main)
        donors = [m.program.text(self._main) for m in (*brief.inspirations, brief.parent) if m is not base]
        changed = kinds[0] in (CONTINUE, TRANSFER)
        for kind, step in zip(kinds, plan["steps"], strict=True):
            if kind in OPERATORS:
                offspring = vary(text, donors, self._catalogue, rng, kind, step, self.options.largest)
                if offspring is not None:
                    text, changed = offspring, True
        if not changed:
            return Proposal(None, name, Refusal(Reason.NO_PROGRAM, f"{', '.join(kinds)} did not apply"))
        program: Program = base.program.with_text(self._main, text)
        return Proposal(program, name, input=brief.parent.individual.id if self._improves else None)

    def observe(self, outcome: Outcome) -> None:
        """Let the bandit and the step sizes learn from one ticket."""
        kinds = outcome.plan.get("kinds") or []
        success = outcome.gain is not None and outcome.gain > 0
        reward = self._reward(outcome.gain if outcome.gain is not None else 0.0)
        for kind in kinds:
            self._bandit.learn(kind, reward)
        if len(kinds) == 1 and kinds[0] in self._steps and outcome.fitness is not None:
            factor = STEP_GROWTH if success else STEP_GROWTH**-0.25
            self._steps[kinds[0]] = float(np.clip(self._steps[kinds[0]] * factor, 0.01, 2.0))

    def _reward(self, gain: float) -> float:
        """Return g / (g + g0) for a gain g, where g0 is a moving mean of gains; 0 without one.

        Many tiny steps then teach less than one that counts, whatever the scale of the fitness.
        """
        if gain <= 0:
            return 0.0
        known = self._typical_gain
        self._typical_gain = gain if known is None else known + (gain - known) * GAIN_MEMORY
        return gain / (gain + self._typical_gain)

    def _base(self, brief: Brief, kind: str, rng: np.random.Generator) -> Material:
        """Return whose program is taken: with an improver, that of the parent or of the proven one among the others.

        The parent was selected for what it reached, and its program may have had no part in that.
        """
        others = [m for m in brief.inspirations if m.program.hash != brief.parent.program.hash]
        if not others or not self._improves or kind == CONTINUE:
            return brief.parent
        if kind != TRANSFER and rng.random() >= FOREIGN_SHARE:
            return brief.parent
        top = max(_fitness(m) for m in (brief.parent, *brief.inspirations))
        return max(others, key=lambda m: (_proof(m, top), _fitness(m), -m.individual.id))


def _fitness(material: Material) -> float:
    return -math.inf if material.individual.fitness is None else material.individual.fitness


def _proof(material: Material, top: float) -> float:
    """Return the share of the way to `top` that a program went at once: g / (g + top - f) for its gain g, fitness f."""
    gain = material.gain or 0.0
    return gain / (gain + top - _fitness(material)) if gain > 0 else 0.0
