"""What a report says in sentences, in the terminal and on the page alike."""

from collections.abc import Mapping, Sequence
from typing import Any


def conclusions(budget: Mapping[str, Any]) -> list[str]:
    """Return in sentences what a budget's figures say, and what they do not."""
    lines = [*budget["reasons"], *budget["cautions"]]
    if not budget["ranked"]:
        return lines
    winners = [pair for pair in budget["pairs"] if pair["winner"]]
    for pair in winners:
        loser = pair["b"] if pair["winner"] == pair["a"] else pair["a"]
        lines.append(f"{pair['winner']} is better than {loser}: {difference_words(pair)}")
    open_pairs = [pair for pair in budget["pairs"] if not pair["winner"]]
    if open_pairs:
        nearest = min(open_pairs, key=lambda pair: pair["p_holm"])
        needed = (
            "" if nearest["needed"] is None else f"; a difference of that size takes about {nearest['needed']} pairs"
        )
        none = "no winner is named" if not winners else f"{len(open_pairs)} pairs have no winner"
        lines.append(
            f"{none}; the nearest to one is {nearest['a']} − {nearest['b']}: {difference_words(nearest)}{needed}"
        )
    return lines


def difference_words(pair: Mapping[str, Any]) -> str:
    """Return a paired difference with its interval and corrected p-value."""
    low, high = pair["interval"]
    return f"{pair['difference']:+.4g} [{low:+.4g}, {high:+.4g}], p = {pair['p_holm']:.3g} by Holm"


def flip_words(flips: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say where the order of two arms changes with the budget; all that are shown, and how many are not."""
    lines = [
        f"the ranking flips with the budget: {flip['ahead_first']} is ahead of {flip['ahead_later']} at {flip['from']} "
        f"and behind it at {flip['to']}, both shown"
        for flip in flips
        if flip["shown"]
    ]
    if guesses := sum(not flip["shown"] for flip in flips):
        lines.append(f"in {guesses} more cases the order of two arms changes with the budget, which may be chance")
    return lines


def ranked_arms(budget: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the arms of a budget, the best rank first; in the order of the file where there is no ranking."""
    arms = list(budget["arms"].items())
    return sorted(arms, key=lambda item: item[1]["rank"]["estimate"]) if budget["ranked"] else arms
