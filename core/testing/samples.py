"""Views, newcomers and vectors for tests, each drawn from a seed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..slots import Newcomer, Vector
from ..view import IslandView


def island_view(
    n: int, seed: int = 0, *, island: int = 0, first: int = 0, fitness: float | None = None, scale: float = 1.0
) -> IslandView:
    """Return a view of `n` members with ids from `first` on, drawn from `seed`; a given `fitness` is everyone's."""
    rng = np.random.default_rng(seed)
    generation = rng.integers(0, 9, n)
    columns: dict[str, Any] = {
        "ids": first + rng.permutation(3 * n)[:n],
        "fitness": rng.normal(size=n) * scale if fitness is None else np.full(n, fitness),
        "offspring": rng.integers(0, 20, n),
        "refused": rng.integers(0, 20, n),
        "generation": generation,
        "novelty": rng.random(n),
        "length": rng.integers(1, 4000, n),
        "seed": generation == 0,
        "migrant": (generation > 0) & (rng.random(n) < 0.1),
    }
    columns |= _family(columns, first, rng)
    for column in columns.values():
        column.flags.writeable = False
    return IslandView(island, **columns)


def _family(columns: Mapping[str, Any], first: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return who descends from whom, drawn so that a parent is older than its child and may have left."""
    ids, tries = columns["ids"], columns["offspring"] + columns["refused"]
    n = len(ids)
    by_age = np.sort(ids)
    older = by_age[(rng.random(n) * np.searchsorted(by_age, ids)).astype(np.int64)]
    older = np.where(rng.random(n) < 0.2, np.maximum(first, older - 1), older)
    grown = columns["fitness"] + 0.1 * np.abs(columns["fitness"]) * rng.normal(size=n)
    return {
        "parent": np.where((columns["generation"] == 0) | (older == ids), -1, older),
        "best_child": np.where(columns["offspring"] > 0, grown, np.nan),
        "visits": tries + rng.integers(0, 20, n) * (tries > 0),
        "in_flight": rng.integers(0, 2, n) * (rng.random(n) < 0.1),
    }


VIEWS: Mapping[str, IslandView] = {
    "one member": island_view(1),
    "two members": island_view(2),
    "forty members": island_view(40),
    "a thousand members": island_view(1000, first=5000),
    "equal fitness": island_view(30, fitness=1.0),
    "huge fitness": island_view(30, scale=1e300),
    "tiny fitness": island_view(30, scale=1e-300),
    "negative fitness": island_view(30, fitness=-7.5),
}
"""Views that a selector meets sooner or later."""


def newcomer(id: int, fitness: float, length: int = 100, novelty: float = 0.5, parent: int | None = None) -> Newcomer:
    """Return an individual that asks for a place."""
    return Newcomer(id, fitness, length, novelty, {"score": fitness}, parent)


def view_of(members: Sequence[Newcomer]) -> IslandView:
    """Return the view of an island with these members, the first of them a seed."""
    n = len(members)
    columns: dict[str, Any] = {
        "ids": np.array([m.id for m in members], np.int64),
        "fitness": np.array([m.fitness for m in members], np.float64),
        "offspring": np.zeros(n, np.int64),
        "refused": np.zeros(n, np.int64),
        "generation": np.minimum(np.arange(n), 1),
        "novelty": np.array([m.novelty for m in members], np.float64),
        "length": np.array([m.length for m in members], np.int64),
        "seed": np.arange(n) == 0,
        "migrant": np.zeros(n, np.bool_),
        "parent": np.array([-1 if m.parent is None else m.parent for m in members], np.int64),
        "best_child": np.full(n, np.nan),
        "visits": np.zeros(n, np.int64),
        "in_flight": np.zeros(n, np.int64),
    }
    for column in columns.values():
        column.flags.writeable = False
    return IslandView(0, **columns)


def unit_vector(seed: int, dimension: int = 1024, nonzero: int = 40) -> Vector:
    """Return a random sparse vector of unit length."""
    rng = np.random.default_rng(seed)
    values = rng.random(nonzero) + 0.1
    indices = np.sort(rng.permutation(dimension)[:nonzero]).astype(np.int32)
    return Vector(indices, (values / np.linalg.norm(values)).astype(np.float32))
