"""The statistics of a comparison: what each arm reached and spent, which differences are shown, and which are not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..fairness import unequal_budgets
from ..statistics import (
    Floats,
    Interval,
    caution,
    holm,
    iqm,
    iqm_interval,
    paired_difference,
    paired_p_value,
    pairs_needed,
    performance_profile,
    probability_of_improvement,
    rank_intervals,
    smallest_p_value,
    verdict,
)
from .execute import Executed
from .outcome import Spent
from .plan import Plan
from .spec import Allowance
from .tables import Tables, curve_tables

LEVEL = 0.05
RESAMPLES = 2000
PROFILE = 41
"""Thresholds of a performance profile."""


def analyse(plan: Plan, executed: Executed) -> dict[str, Any]:
    """Return the whole report as plain data: no figure in it depends on how often the comparison was interrupted.

    `arms` and `pairs` are those of the largest budget of the first kind; `budgets` has every budget.
    """
    tables = Tables(plan, executed)
    void = _void(executed)
    budgets = [_budget(tables, budget, void) for budget in plan.design.budgets]
    first = plan.design.budgets[0].kind
    main = max((b for b in budgets if b["kind"] == first), key=lambda b: float(b["total"]))
    return {
        "problems": list(tables.problems),
        "seeds": list(tables.seeds),
        "scale": _scale_words(tables),
        "budget": main["budget"],
        "ranked": main["ranked"],
        "reasons": main["reasons"],
        "arms": main["arms"],
        "pairs": main["pairs"],
        "cautions": main["cautions"],
        "failures": [
            {"arm": cell.arm, "problem": cell.problem, "seed": cell.seed, "reason": reason}
            for cell, reason in void.values()
        ],
        "budgets": budgets,
        "runs": _runs(plan, executed, tables),
        "flips": _flips(budgets),
    }


def _runs(plan: Plan, executed: Executed, tables: Tables) -> list[dict[str, Any]]:
    """Return every run with its score at every budget, its folder and the individual that has the score."""
    found = []
    for cell in plan.cells:
        outcome = executed.outcomes.get(cell)
        for budget in cell.budgets if outcome is not None else ():
            assert outcome is not None
            spent = outcome.at[str(budget)]
            holders = [point.individual for point in outcome.points if point.fitness == spent.fitness]
            found.append(
                {
                    "arm": cell.arm,
                    "problem": cell.problem,
                    "seed": cell.seed,
                    "budget": str(budget),
                    "score": None if spent.fitness is None else tables.shown(cell.problem, spent.fitness),
                    "individual": holders[0] if holders else None,
                    "folder": f"runs/{cell.folder.name}",
                }
            )
    return found


def _void(executed: Executed) -> dict[str, tuple[Any, str]]:
    """Return for each arm that failed the first cell that did, in the order of seeds, and why."""
    found: dict[str, tuple[Any, str]] = {}
    for cell in sorted(executed.failures, key=lambda cell: (cell.seed, cell.problem)):
        found.setdefault(cell.arm, (cell, executed.failures[cell]))
    return found


def _budget(tables: Tables, budget: Allowance, void: Mapping[str, object]) -> dict[str, Any]:
    names = [arm.name for arm in tables.plan.design.arms]
    whole = [name for name in names if name not in void and tables.whole(name, budget)]
    reasons = [f"{name} is not ranked: a run of it failed" for name in names if name not in whole]
    for name in list(whole):
        if nothing := tables.empty(name, budget):
            reasons.append(f"{name} is not ranked: it found nothing valid in {len(nothing)} runs ({nothing[0]})")
            whole.remove(name)
    unequal = unequal_budgets({budget.kind: budget.total}, {name: _charged(tables, name, budget) for name in whole})
    few = "1 seed has no spread: no interval can be made; ask for 10 seeds or more" if len(tables.seeds) == 1 else None
    alone = "there is no second arm to compare with" if len(whole) < 2 else None
    refusals = [reason for reason in (unequal and f"no ranking is made: {unequal}", few, alone) if reason]
    ranked = bool(whole) and not refusals
    rng = np.random.default_rng(0)
    scores = {name: tables.scores(name, budget) for name in whole}
    pairs = _pairs(scores, rng) if ranked else []
    return {
        "budget": str(budget),
        "kind": budget.kind,
        "total": budget.total,
        "ranked": ranked,
        "reasons": [*refusals, *reasons],
        "arms": _arms(tables, budget, scores, rng, ranked),
        "pairs": pairs,
        "cautions": _cautions(scores, pairs) if ranked else [],
        "by_problem": _by_problem(tables, scores),
        "profile": _profile(tables, scores),
        "curves": curve_tables(tables, whole, budget),
    }


def _charged(tables: Tables, arm: str, budget: Allowance) -> list[dict[str, float]]:
    return [{budget.kind: getattr(run, budget.kind)} for run in tables.spent(arm, budget)]


def _arms(
    tables: Tables, budget: Allowance, scores: Mapping[str, Floats], rng: np.random.Generator, ranked: bool
) -> dict[str, Any]:
    ranks = rank_intervals(list(scores.values()), rng, resamples=RESAMPLES // 2) if ranked else [None] * len(scores)
    centres = {name: iqm(table) for name, table in scores.items()}
    best = max(centres, key=lambda name: centres[name]) if ranked else None
    arms = {}
    for (name, table), rank in zip(scores.items(), ranks, strict=True):
        spread = None
        if table.shape[1] > 1:
            spread = iqm_interval(table, rng, resamples=RESAMPLES)
        behind = None
        if best is not None and name != best:
            behind = _interval(paired_difference(table, scores[best], rng, resamples=RESAMPLES))
        arms[name] = {
            "n": int(table.size),
            "median": tables.shown(None, float(np.median(table))),
            "iqm": tables.shown(None, centres[name]),
            "interval": None
            if spread is None
            else sorted((tables.shown(None, spread.low), tables.shown(None, spread.high))),
            "auc": tables.shown(None, float(tables.areas(name, budget).mean())),
            "rank": None if rank is None else _interval(rank),
            "behind_best": behind,
            **_costs(tables.spent(name, budget)),
        }
    return arms


def _costs(runs: Sequence[Spent]) -> dict[str, Any]:
    """Return means over the runs of an arm; refusals are added up. One unknown price makes the mean unknown."""
    refused: Counter[str] = Counter()
    for run in runs:
        refused.update(run.refused)
    money = [run.money for run in runs if run.money is not None]
    distances = [run.distance for run in runs if run.distance is not None]
    cycles = [run.cycles for run in runs if run.cycles is not None]
    kinds = ("evaluations", "proposals", "model_calls", "tokens", "seconds", "cpu_s")
    cost = {kind: float(np.mean([getattr(run, kind) for run in runs])) for kind in kinds}
    return {
        "cost": {**cost, "money": float(np.mean(money)) if len(money) == len(runs) else None},
        "refused": dict(sorted(refused.items())),
        "diversity": {
            "unique": float(np.mean([run.unique for run in runs])),
            "distance": float(np.mean(distances)) if distances else None,
            "cycles": float(np.mean(cycles)) if cycles else None,
        },
    }


def _pairs(scores: Mapping[str, Floats], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Compare every two arms; p-values are corrected over all of them."""
    couples = list(combinations(scores, 2))
    p_values = [paired_p_value(scores[a], scores[b]) for a, b in couples]
    found = []
    for (a, b), p, corrected in zip(couples, p_values, holm(p_values), strict=True):
        difference = paired_difference(scores[a], scores[b], rng, resamples=RESAMPLES)
        who = verdict(difference, corrected, LEVEL)
        found.append(
            {
                "a": a,
                "b": b,
                "difference": difference.estimate,
                "interval": [difference.low, difference.high],
                "p": p,
                "p_holm": corrected,
                "improvement": _interval(probability_of_improvement(scores[a], scores[b], rng)),
                "wins": int((scores[a] > scores[b]).sum()),
                "losses": int((scores[a] < scores[b]).sum()),
                "needed": pairs_needed(scores[a], scores[b]),
                "winner": a if who > 0 else b if who < 0 else None,
            }
        )
    return found


def _cautions(scores: Mapping[str, Floats], pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    n = next(iter(scores.values())).size
    said = [sentence] if (sentence := caution(n)) else []
    if smallest_p_value(n) * len(pairs) >= LEVEL:
        enough = next(k for k in range(n, 200) if smallest_p_value(k) * len(pairs) < LEVEL)
        said.append(
            f"{n} pairs are too few for the statistics asked: with {len(pairs)} comparison{'s' * (len(pairs) > 1)}, "
            f"corrected by Holm, no winner can be named below {enough} pairs"
        )
    return said


def _by_problem(tables: Tables, scores: Mapping[str, Floats]) -> dict[str, Any]:
    """Return median and quartiles of each arm on each problem, in the problem's own scores."""
    found: dict[str, Any] = {}
    for row, problem in enumerate(tables.problems):
        scale = tables.scales[problem]
        found[problem] = {}
        for name, table in scores.items():
            own = table[row] * (scale.high - scale.low) + scale.low
            low, median, high = (tables.shown(problem, float(v)) for v in np.percentile(own, [25, 50, 75]))
            found[problem][name] = {"median": median, "low": min(low, high), "high": max(low, high)}
    return found


def _profile(tables: Tables, scores: Mapping[str, Floats]) -> dict[str, Any]:
    if not scores:
        return {"thresholds": [], "arms": {}}
    low = min(float(table.min()) for table in scores.values())
    high = max(float(table.max()) for table in scores.values())
    thresholds = np.linspace(low, high, PROFILE)
    return {
        "thresholds": [tables.shown(None, float(t)) for t in thresholds],
        "arms": {name: [float(x) for x in performance_profile(table, thresholds)] for name, table in scores.items()},
    }


def _flips(budgets: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the pairs whose order changes between two budgets of one kind; `shown` when both orders are shown."""
    found = []
    for smaller, larger in combinations(sorted(budgets, key=lambda b: (b["kind"], b["total"])), 2):
        if smaller["kind"] != larger["kind"]:
            continue
        after = {(pair["a"], pair["b"]): pair for pair in larger["pairs"]}
        for pair in smaller["pairs"]:
            other = after.get((pair["a"], pair["b"]))
            if other is None or pair["difference"] * other["difference"] >= 0:
                continue
            ahead, behind = (pair["a"], pair["b"]) if pair["difference"] > 0 else (pair["b"], pair["a"])
            found.append(
                {
                    "ahead_first": ahead,
                    "ahead_later": behind,
                    "from": smaller["budget"],
                    "to": larger["budget"],
                    "shown": pair["winner"] == ahead and other["winner"] == behind,
                }
            )
    return found


def _scale_words(tables: Tables) -> str:
    if len(tables.problems) == 1:
        aim = tables.objective(tables.problems[0])
        return f"scores are {aim.name}, to be {aim.direction}d; a difference is positive where the first is better"
    return (
        "scores of several problems are pooled on one scale: for each problem 0 is the worst best-so-far that any run "
        "of this comparison had, and 1 the best"
    )


def _interval(found: Interval) -> dict[str, float]:
    return {"estimate": found.estimate, "low": found.low, "high": found.high}
