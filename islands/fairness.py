"""What must hold before arms are ranked: equal budgets, and success rates that say how they were counted."""

from collections.abc import Mapping, Sequence
from math import comb

MEASURED = {"seconds": 0.05, "money": 0.05}
"""Kinds of budget that are measured and not counted, with the relative difference that is no difference."""


def unequal_budgets(declared: Mapping[str, float], spent: Mapping[str, Sequence[Mapping[str, float]]]) -> str | None:
    """Return the sentence that says why arms may not be ranked, or None when each spent what was declared.

    `declared` are totals of one run by kind (`evaluations`, `model_calls`, `tokens`, `seconds` …); `spent` has what
    each run of each arm spent of every kind. Counts must be met exactly; what is measured by 5 percent.
    """
    if not declared:
        return "no budget was declared; say how much every arm may spend, and of what"
    for arm, runs in spent.items():
        for number, run in enumerate(runs):
            for kind, total in declared.items():
                used = run.get(kind)
                if used is None:
                    return f"{arm}, run {number}: {kind} were not counted, and the budget is {total:g} {kind}"
                if abs(used - total) > MEASURED.get(kind, 0.0) * total:
                    return f"{arm}, run {number}: {used:g} {kind} were spent, and the budget is {total:g}"
    counts = {arm: len(runs) for arm, runs in spent.items()}
    if len(set(counts.values())) > 1:
        return f"the arms have {', '.join(f'{n} ({arm})' for arm, n in counts.items())} runs; expected as many in each"
    return None


def average_at(outcomes: Sequence[bool]) -> float:
    """Return avg@k of k attempts at one task: the share that succeeded. Raises ValueError without an attempt."""
    if not outcomes:
        raise ValueError("there are no attempts; expected one at least")
    return sum(outcomes) / len(outcomes)


def pass_at(k: int, attempts: int, successes: int) -> float:
    """Return pass@k = 1 - C(n - c, k) / C(n, k): the chance that one of k attempts out of n succeeded in c of them.

    The unbiased estimate of Chen et al. 2021 (arXiv 2107.03374). Raises ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    if not (1 <= k <= attempts and 0 <= successes <= attempts):
        found = f"k is {k} of n = {attempts} attempts with c = {successes} successes"
        raise ValueError(f"{found}; expected 1 <= k <= n and 0 <= c <= n")
    return 1.0 - comb(attempts - successes, k) / comb(attempts, k)
