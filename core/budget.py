"""What a run may spend, as totals over all its sessions."""

import time
from dataclasses import dataclass, field
from typing import Literal

from .objective import Objective

PROPOSALS_PER_EVALUATION = 20


@dataclass(slots=True)
class Budget:
    """Totals; None means no limit of that kind. `spent_s` is the wall time of earlier sessions of the run."""

    evaluations: int | None = None
    seconds: float | None = None
    proposals: int | None = None
    target: float | None = None
    spent_s: float = 0.0
    _started: float = field(default_factory=time.monotonic)

    def seconds_spent(self) -> float:
        """Return the wall time of all sessions, this one included."""
        return self.spent_s + time.monotonic() - self._started

    def seconds_left(self) -> float:
        """Return the wall time that is left; infinite without such a limit."""
        return float("inf") if self.seconds is None else self.seconds - self.seconds_spent()

    def proposal_cap(self) -> int | None:
        """Return the number of proposals at which a run ends in any case, or None when nothing bounds it."""
        if self.proposals is not None:
            return self.proposals
        return None if self.evaluations is None else PROPOSALS_PER_EVALUATION * self.evaluations

    def ending(
        self, *, evaluations: int, proposals: int, score: float | None, objective: Objective
    ) -> tuple[Literal["budget", "target"], str] | None:
        """Say whether what was committed so far ends the run, and why."""
        if self.target is not None and score is not None and objective.reached(score, self.target):
            return "target", f"the target of {self.target!r} is reached"
        if self.evaluations is not None and evaluations >= self.evaluations:
            return "budget", f"the budget of {self.evaluations} evaluations is spent"
        cap = self.proposal_cap()
        if cap is not None and proposals >= cap:
            return "budget", f"the cap of {cap} proposals is reached with {evaluations} evaluations"
        if self.seconds is not None and self.seconds_left() <= 0:
            return "budget", f"the budget of {self.seconds:g} seconds is spent"
        return None
