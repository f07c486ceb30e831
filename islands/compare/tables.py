"""The scores of a comparison as arrays: one for each arm, problems by seeds, larger is better."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.objective import Objective
from ..statistics import Floats, anytime_area, anytime_curve
from .execute import Executed
from .outcome import Outcome, Spent
from .plan import Plan
from .spec import Allowance

GRID = 80
"""Points of an anytime curve."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How fitness of one problem is put on one scale with that of others: 0 the worst seen, 1 the best seen.

    A comparison of one problem keeps the problem's own scores: there `low` is 0 and `high` is 1, and a metric that is
    minimised is turned round where it is shown.
    """

    low: float
    high: float

    def __call__(self, fitness: float) -> float:
        """Return the scaled value of a fitness."""
        return (fitness - self.low) / (self.high - self.low)


class Tables:
    """What the cells came to, by arm, problem, seed and kind of budget."""

    def __init__(self, plan: Plan, executed: Executed) -> None:
        self.plan = plan
        self.problems = tuple(str(table.name) for table in plan.design.problems)
        self.seeds = plan.design.seeds
        self._found: dict[tuple[str, str, int, str], Outcome] = {}
        for cell, outcome in executed.outcomes.items():
            for budget in cell.budgets:
                self._found[cell.arm, cell.problem, cell.seed, str(budget)] = outcome
        self.floors = {problem: self._seen(problem)[0] for problem in self.problems}
        self.scales = {problem: self._scale(problem) for problem in self.problems}

    def whole(self, arm: str, budget: Allowance) -> bool:
        """Say whether every run of an arm ended."""
        return all((arm, problem, seed, str(budget)) in self._found for problem in self.problems for seed in self.seeds)

    def outcome(self, arm: str, problem: str, seed: int, budget: Allowance) -> Outcome:
        """Return the outcome of one run."""
        return self._found[arm, problem, seed, str(budget)]

    def spent(self, arm: str, budget: Allowance) -> list[Spent]:
        """Return what every run of an arm had at a budget, by problem and then by seed."""
        return [
            self.outcome(arm, problem, seed, budget).at[str(budget)] for problem in self.problems for seed in self.seeds
        ]

    def empty(self, arm: str, budget: Allowance) -> list[str]:
        """Say in which runs an arm found nothing valid."""
        places = [f"{problem}, seed {seed}" for problem in self.problems for seed in self.seeds]
        return [place for place, run in zip(places, self.spent(arm, budget), strict=True) if run.fitness is None]

    def scores(self, arm: str, budget: Allowance) -> Floats:
        """Return the scaled final scores of an arm, shape (problems, seeds). Every run must have found something."""
        return self._table(arm, budget, lambda problem, outcome: float(outcome.at[str(budget)].fitness or 0.0))

    def areas(self, arm: str, budget: Allowance) -> Floats:
        """Return the scaled areas under the anytime curves of an arm, shape (problems, seeds)."""

        def area(problem: str, outcome: Outcome) -> float:
            points = [(getattr(point, budget.kind), point.fitness) for point in outcome.points]
            return anytime_area(points, budget.total, self._start(problem, outcome))

        return self._table(arm, budget, area)

    def curves(self, arm: str, problem: str, budget: Allowance, grid: Floats) -> Floats:
        """Return the best fitness so far of each seed at each cost, shape (seeds, grid)."""
        rows = []
        for seed in self.seeds:
            outcome = self.outcome(arm, problem, seed, budget)
            points = [(getattr(point, budget.kind), point.fitness) for point in outcome.points]
            rows.append(anytime_curve(points, grid, self._start(problem, outcome)))
        return np.array(rows)

    def shown(self, problem: str | None, value: float) -> float:
        """Return a fitness as it is shown: the metric's own score, or the scaled value where problems are pooled."""
        if problem is None and len(self.problems) > 1:
            return value
        return self.objective(problem or self.problems[0]).score(value)

    def objective(self, problem: str) -> Objective:
        """Return what a problem optimises."""
        return self.plan.objectives[problem]

    def _start(self, problem: str, outcome: Outcome) -> float:
        """Return what a curve is before its first point: the seed's own score, or the worst that was seen."""
        first = outcome.points[0] if outcome.points else None
        return first.fitness if first is not None and first.evaluations == 1 else self.floors[problem]

    def _table(self, arm: str, budget: Allowance, value: Callable[[str, Outcome], float]) -> Floats:
        rows = []
        for problem in self.problems:
            scale = self.scales[problem]
            rows.append([scale(value(problem, self.outcome(arm, problem, seed, budget))) for seed in self.seeds])
        return np.array(rows)

    def _seen(self, problem: str) -> tuple[float, float]:
        seen = [p.fitness for key, found in self._found.items() if key[1] == problem for p in found.points]
        return (min(seen), max(seen)) if seen else (0.0, 1.0)

    def _scale(self, problem: str) -> Scale:
        if len(self.problems) == 1:
            return Scale(0.0, 1.0)
        low, high = self._seen(problem)
        return Scale(low, high if high > low else low + 1.0)


def curve_tables(tables: Tables, arms: Sequence[str], budget: Allowance) -> dict[str, Any]:
    """Return by problem the anytime curves of arms in the metric's own scores: median and quartiles over seeds."""
    grid = np.linspace(0.0, budget.total, GRID + 1)[1:] if budget.total >= GRID else np.arange(1.0, budget.total + 1)
    found: dict[str, Any] = {}
    for problem in tables.problems:
        curves: dict[str, Mapping[str, list[float]]] = {}
        for arm in arms:
            quartiles = np.percentile(tables.curves(arm, problem, budget, grid), [25, 50, 75], axis=0)
            low, median, high = ([tables.shown(problem, float(v)) for v in row] for row in quartiles)
            curves[arm] = {"median": median, "low": low, "high": high}
        found[problem] = {"cost": [float(x) for x in grid], "arms": curves}
    return found
