"""Named features of individuals that archives compare: length, novelty, fitness and the metrics of a problem."""

from collections.abc import Sequence
from typing import TypeVar

from ..core.errors import ComponentError
from ..core.slots import Newcomer
from ..core.view import IslandView

T = TypeVar("T")

OWN = ("length", "novelty", "fitness")
"""Features that every individual has; all others are metrics."""


def features_of(newcomer: Newcomer, names: Sequence[str], owner: str) -> tuple[float, ...]:
    """Return raw values in the order of `names`. Raises ComponentError for a feature that does not exist."""
    values = []
    for name in names:
        if name in OWN:
            values.append(float(getattr(newcomer, name)))
        elif name in newcomer.metrics:
            values.append(float(newcomer.metrics[name]))
        else:
            known = ", ".join([*OWN, *sorted(set(newcomer.metrics) - set(OWN))])
            raise ComponentError(f"{owner} asks for the feature {name!r}, which does not exist; there are {known}")
    return tuple(values)


def forget_leavers(table: dict[int, T], view: IslandView) -> bool:
    """Drop from a table by id whoever is no member, once in a while, so that it does not grow with history.

    Returns whether it did.
    """
    if len(table) <= 2 * len(view) + 64:
        return False
    members = set(view.ids.tolist())
    for id in [id for id in table if id not in members]:
        del table[id]
    return True
