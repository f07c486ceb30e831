"""What a display knows of a run: counters and the best so far, fed by events."""

import time
from collections import Counter, deque

from ...core.evaluation import Evaluation
from ...core.events import IndividualAdmitted, OffspringRefused, RecordBroken, RunStarted

RATE_WINDOW_S = 30.0


class Tally:
    """Counts events. Clock times serve the display only."""

    def __init__(self, started: RunStarted) -> None:
        self.started = started
        self.evaluations = started.evaluations
        self.proposals = started.proposals
        self.refused: Counter[str] = Counter()
        self.best: float | None = started.best_score
        self.valid: bool | None = None
        self.best_id: int | None = None
        self.best_operator = ""
        self.history: list[float] = [] if started.best_score is None else [started.best_score]
        self.islands: Counter[int] = Counter()
        self._began = time.monotonic() - started.seconds
        self._recent: deque[float] = deque()

    def admitted(self, event: IndividualAdmitted) -> None:
        """Take in an evaluated individual."""
        self.evaluations, self.proposals = event.evaluations, event.proposals
        self.islands[event.individual.island] += 1
        now = time.monotonic()
        self._recent.append(now)
        while self._recent[0] < now - RATE_WINDOW_S:
            self._recent.popleft()
        if self.best is not None:
            self.history.append(self.best)

    def refuse(self, event: OffspringRefused) -> None:
        """Take in a refusal."""
        self.refused[event.reason.value] += 1
        self.proposals += 1

    def record(self, event: RecordBroken) -> None:
        """Take in a new best."""
        self.best = score_of(event.evaluation, self.started.objective.name)
        self.valid = None if event.evaluation.verdict is None else event.evaluation.verdict.valid
        self.best_id, self.best_operator = event.individual.id, event.individual.operator
        if self.best is not None:
            self.history.append(self.best)

    def seconds(self) -> float:
        """Return the wall time of the run, its earlier sessions included."""
        return time.monotonic() - self._began

    def rate(self) -> float:
        """Return evaluations a second over the last half minute."""
        if len(self._recent) < 2:
            return 0.0
        return (len(self._recent) - 1) / max(1e-9, time.monotonic() - self._recent[0])

    def left_s(self) -> float | None:
        """Return the seconds that are left by the tightest limit, or None where nothing tells."""
        left = []
        totals = self.started.totals
        if "seconds" in totals:
            left.append(max(0.0, totals["seconds"] - self.seconds()))
        if "evaluations" in totals and self.rate() > 0:
            left.append(max(0.0, totals["evaluations"] - self.evaluations) / self.rate())
        return min(left, default=None)

    def short_of(self) -> float | None:
        """Return by how much the best falls short of the best known value; negative when it is better."""
        known = self.started.best_known
        if known is None or self.best is None:
            return None
        return known - self.best if self.started.objective.direction == "maximise" else self.best - known


def score_of(evaluation: Evaluation, objective: str) -> float | None:
    """Return the score to show: the oracle's where there is one."""
    if evaluation.verdict is not None and evaluation.verdict.score is not None:
        return evaluation.verdict.score
    return evaluation.metrics.get(objective)
