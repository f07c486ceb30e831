"""What a comparison reads off a finished run: its anytime curve, and what it had and had spent at each budget."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path

from ...core.folder import RunFolder
from ...core.objective import Objective
from ...core.slots import Vector
from ...core.store import Birth, Store
from ..cycles import CycleCount
from ..diversity import mean_distance, unique_share
from .spec import Allowance

OUTCOME = "outcome.json"


@dataclass(frozen=True, slots=True)
class Point:
    """A best so far: who it is, and what had been spent. `fitness` is larger where the score is better."""

    evaluations: int
    proposals: int
    seconds: float
    fitness: float
    individual: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run had at one budget. `fitness` is None when nothing valid was found; money is None when unknown.

    `unique` is the share of different programs among those evaluated, `distance` the mean cosine distance of all pairs
    of them by their stored embeddings, and `cycles` the share of added lines that an ancestor had lost.
    """

    fitness: float | None
    evaluations: int
    proposals: int
    seconds: float
    cpu_s: float
    model_calls: int
    tokens: int
    money: float | None
    refused: Mapping[str, int]
    unique: float
    distance: float | None
    cycles: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run. `at` has what it spent by the text of each budget (`300 evaluations`)."""

    points: tuple[Point, ...]
    at: Mapping[str, Spent]


def read_outcome(folder: Path, budgets: Sequence[Allowance]) -> Outcome | None:
    """Return the outcome of a run that was written down, or None when there is none that serves these budgets."""
    try:
        content = json.loads((folder / OUTCOME).read_text("utf-8"))
        points = tuple(Point(*point) for point in content["points"])
        at = {name: Spent(**spent) for name, spent in content["at"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or of another version: it is read off the run again
    return Outcome(points, at) if all(str(budget) in at for budget in budgets) else None


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write an outcome beside the run, whole or not at all."""
    points = [list(astuple(point)) for point in outcome.points]
    text = json.dumps({"points": points, "at": {name: asdict(spent) for name, spent in outcome.at.items()}})
    beside = folder / f"{OUTCOME}.new"
    beside.write_text(text, "utf-8")
    beside.replace(folder / OUTCOME)


def outcome_of(path: Path, objective: Objective, budgets: Sequence[Allowance]) -> Outcome:
    """Read an outcome off a run folder. A budget that the run did not reach has what there was at its end."""
    folder = RunFolder.open(path, write=False)
    try:
        return _read_off(folder, objective, budgets)
    finally:
        folder.close()


def _read_off(folder: RunFolder, objective: Objective, budgets: Sequence[Allowance]) -> Outcome:
    tally = _Tally()
    points: list[Point] = []
    at: dict[str, Spent] = {}
    waiting = sorted(budgets, key=lambda budget: budget.total)
    for birth, cpu_s, seconds in _timed(folder.store):
        while waiting and waiting[0].counted and getattr(tally, waiting[0].kind) >= waiting[0].total:
            at[str(waiting.pop(0))] = tally.spent()
        found = tally.add(birth, cpu_s, seconds, _fitness(birth, objective))
        if birth.individual is not None:
            files = (text for _, text in folder.store.program(birth.individual.program).files)
            tally.cycles.add(birth.individual.id, birth.individual.parent, files)
        if found is not None:
            points.append(Point(tally.evaluations, tally.proposals, tally.seconds, found, birth.selection.ticket))
    if waiting and not waiting[-1].counted:
        tally.seconds = max(tally.seconds, folder.seconds_spent())
    at.update((str(budget), tally.spent()) for budget in waiting)
    return Outcome(tuple(points), at)


@dataclass(slots=True)
class _Tally:
    """What a run had spent so far."""

    evaluations: int = 0
    proposals: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    model_calls: int = 0
    tokens: int = 0
    money: float | None = 0.0
    fitness: float | None = None
    refused: Counter[str] = field(default_factory=Counter)
    contents: list[bytes] = field(default_factory=list)
    vectors: list[Vector] = field(default_factory=list)
    cycles: CycleCount = field(default_factory=CycleCount)

    def add(self, birth: Birth, cpu_s: float, seconds: float, fitness: float | None) -> float | None:
        """Count a committed ticket; return its fitness when it is the best so far."""
        usage = birth.usage
        self.proposals += 1
        self.seconds = max(self.seconds, seconds)
        self.model_calls += usage.model_calls
        self.tokens += usage.prompt_tokens + usage.completion_tokens
        if usage.model_calls:
            self.money = None if usage.money is None or self.money is None else self.money + usage.money
        if birth.refusal is not None:
            self.refused[birth.refusal.reason.value] += 1
        if birth.individual is None:
            return None
        self.evaluations += 1
        self.cpu_s += cpu_s
        self.contents.append(birth.content or b"")
        if birth.vector is not None:
            self.vectors.append(birth.vector)
        if fitness is None or (self.fitness is not None and fitness <= self.fitness):
            return None
        self.fitness = fitness
        return fitness

    def spent(self) -> Spent:
        """Return what there is now."""
        return Spent(
            self.fitness, self.evaluations, self.proposals, self.seconds, self.cpu_s, self.model_calls, self.tokens,
            self.money, dict(sorted(self.refused.items())), unique_share(self.contents), mean_distance(self.vectors),
            self.cycles.share,
        )  # fmt: skip


def _fitness(birth: Birth, objective: Objective) -> float | None:
    """Return how good an individual is: by the oracle's score where there is one; None for what does not compete."""
    if birth.individual is None or birth.individual.fitness is None or birth.valid is False:
        return None
    if birth.oracle_score is None:
        return birth.individual.fitness
    return objective.fitness({objective.name: birth.oracle_score})


def _timed(store: Store) -> Iterator[tuple[Birth, float, float]]:
    """Yield every committed ticket with the CPU seconds of its candidate and the run's wall time at its end."""
    sessions = [(at, float(payload["seconds"])) for at, payload in store.events("session_started")]
    timings = store.timings()
    for birth in store.births():
        cpu_s, finished = timings.get(birth.selection.ticket, (0.0, None))
        began = [session for session in sessions if finished is not None and session[0] <= finished]
        at, before = began[-1] if began else (0.0, 0.0)
        yield birth, cpu_s, 0.0 if finished is None or not began else before + finished - at
