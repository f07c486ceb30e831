"""Measures of how diverse a population is, and the likely cause when it collapses."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.slots import Vector


@dataclass(frozen=True, slots=True)
class Diversity:
    """What is logged of a population over time.

    `distance` is the mean pairwise cosine distance (None below two members), `unique` the share of different contents,
    `lineages` the effective number of lineages.
    """

    members: int
    distance: float | None
    unique: float
    lineages: float


def measure(vectors: Sequence[Vector], contents: Sequence[Hashable], founders: Sequence[int]) -> Diversity:
    """Return the diversity of a population, given by one vector, content and founder for each member."""
    return Diversity(len(contents), mean_distance(vectors), unique_share(contents), effective_number(founders))


def mean_distance(vectors: Sequence[Vector]) -> float | None:
    """Return the mean of 1 - cosine over all pairs, exactly and in one pass; None below two vectors.

    For unit vectors the sum of all cosines is |sum v|^2, of which n are those of a vector with itself. A zero vector
    has the distance 1 to every other.
    """
    n = len(vectors)
    if n < 2:
        return None
    indices = np.concatenate([vector.indices for vector in vectors])
    values = np.concatenate([vector.values for vector in vectors]).astype(np.float64)
    _, place = np.unique(indices, return_inverse=True)
    total = np.bincount(place.reshape(-1), values) if len(indices) else np.zeros(1)
    cosines = float(total @ total) - float(values @ values)
    return float(np.clip(1.0 - cosines / (n * (n - 1)), 0.0, 2.0))


def unique_share(contents: Sequence[Hashable]) -> float:
    """Return the number of different contents divided by that of members; 1 when there are none."""
    return len(set(contents)) / len(contents) if contents else 1.0


def effective_number(labels: Sequence[Hashable]) -> float:
    """Return exp of the Shannon entropy of how often each label occurs: the Hill number of order 1 (Hill 1973).

    Ten lineages of equal size count 10; one that holds all but nine members of a thousand counts little more than 1.
    """
    if not labels:
        return 0.0
    shares = np.array(list(Counter(labels).values()), np.float64) / len(labels)
    return float(np.exp(-(shares * np.log(shares)).sum()))


def founder_of(id: int, parents: Mapping[int, int | None], depth: int) -> int:
    """Return the ancestor that stands `depth` generations above the seeds in an individual's lineage.

    `parents` maps an id to its parent, None for seeds. At depth 0 it is the seed; at 1 the seed's child, which tells
    lineages apart in a run of one seed. An individual that is no deeper is its own founder.
    """
    line = [id]
    while (parent := parents.get(line[-1])) is not None:
        line.append(parent)
    return line[max(0, len(line) - 1 - depth)]


def coverage(cells: Sequence[Hashable], possible: int) -> float:
    """Return the share of `possible` cells that are in use. Raises ValueError when more are than can be."""
    used = len(set(cells))
    if used > possible:
        raise ValueError(f"{used} cells are in use; expected at most the {possible} that are possible")
    return used / possible


def collapse(history: Sequence[Diversity], refused: Mapping[str, int], proposals: int) -> str | None:
    """Return a sentence on a population that has collapsed, with the likely cause, or None when it has not.

    `history` is what was measured so far, the newest last; `refused` counts refusals by reason among `proposals`.
    """
    if not history or history[-1].members < 10:
        return None
    now = history[-1]
    widest = max((past.distance for past in history if past.distance is not None), default=0.0)
    narrow = now.distance is not None and now.distance < 0.2 * widest
    # Sooner or later everyone descends from one: that is a collapse where they have also come close to one another.
    overtaken = now.lineages < 1.5 and now.distance is not None and now.distance < 0.5 * widest
    if not (narrow or now.unique < 0.5 or overtaken):
        return None
    signs = f"distance {now.distance or 0.0:.3f} of {widest:.3f}, unique {now.unique:.0%}, lineages {now.lineages:.1f}"
    repeated = refused.get("duplicate", 0) + refused.get("similar", 0) + refused.get("no_change", 0)
    if now.unique < 0.5:
        cause = "copies are let in: is refusal by novelty off?"
    elif proposals and repeated > 0.5 * proposals:
        cause = "most proposals repeat what there is: raise the temperature, or add operators"
    elif overtaken:
        cause = "one lineage has taken over: select less greedily, or use more islands"
    else:
        cause = "members have come close to one another: weigh novelty more, or keep more of them"
    return f"the population has collapsed ({signs}); likely cause: {cause}"


def crowded(vectors: Sequence[Vector], radius: float) -> NDArray[np.int64]:
    """Return for each vector how many others lie within a cosine distance, shape (n,)."""
    width = max((int(v.indices[-1]) + 1 for v in vectors if len(v.indices)), default=1)
    scatter = np.zeros(width)
    sizes = np.array([len(v.indices) for v in vectors])
    indices = np.concatenate([v.indices for v in vectors]) if len(vectors) else np.zeros(0, np.int32)
    values = np.concatenate([v.values for v in vectors]) if len(vectors) else np.zeros(0, np.float32)
    owner = np.repeat(np.arange(len(vectors)), sizes)
    counts = np.zeros(len(vectors), np.int64)
    for row, vector in enumerate(vectors):
        scatter[vector.indices] = vector.values
        cosines = np.bincount(owner, scatter[indices] * values, minlength=len(vectors))
        scatter[vector.indices] = 0.0
        near = 1.0 - cosines <= radius
        near[row] = False
        counts[row] = near.sum()
    return counts
