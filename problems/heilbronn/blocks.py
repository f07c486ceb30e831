"""Building blocks for Heilbronn's problem: starts, a local optimiser, moves and acceptance, ordinary functions all.

Points are a float array (n, 2) of x, y in the triangle (0, 0), (1, 0), (0, 1), in the unit square or, for the region
"convex", anywhere: then the region is their own hull. No block writes into its arguments. Solving is what costs: each
block draws on the effort, and with none left it returns what it was given.
"""

from collections.abc import Callable
from functools import wraps
from typing import NewType, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = [
    "better",
    "jitter_all",
    "jitter_one",
    "metropolis",
    "polish",
    "random_start",
    "relocate_some",
    "relocate_worst",
    "score",
]
"""What programs may be built of; the rest serves the seed's frozen text."""

Points = NewType("Points", np.ndarray)
Scale = NewType("Scale", float)
Count = NewType("Count", int)
F = TypeVar("F", bound=Callable)
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

STRETCH = 10.0
"""The climb counts the smallest area in tenths: a variable of about the size of the others halves its steps."""

_left = 0.0
"""What is left of the effort of this program, counted in steps of a climb (about 0.8 ms of CPU time each at n = 11)."""


def use_effort(effort: float) -> None:
    """Set what the program may spend."""
    global _left
    _left = float(effort)


def effort_left() -> bool:
    """Say whether there is effort left; asking costs a little too, so that every loop over it ends."""
    return _take(0.2)


def _take(amount: float) -> bool:
    global _left
    if _left <= 0:
        return False
    _left -= amount
    return True


def _costs(amount: float) -> Callable[[F], F]:
    """Make a block draw on the effort; with none left it returns its first argument."""

    def counted(block: F) -> F:
        @wraps(block)
        def call(points: Points, *arguments: object, **named: object) -> Points:
            return block(points, *arguments, **named) if _take(amount) else points

        return call  # type: ignore[return-value]

    return counted


_region = "triangle"


def points(rows: list, region: str) -> Points:
    """Return rows of x, y as points, and remember in which region they lie."""
    global _region
    _region = region
    return np.array(rows, dtype=float)


def first_points(n: int, region: str, rng: np.random.Generator) -> Points:
    """Return n points at random in a region, and remember the region."""
    return points(_spots(rng, n, region).tolist(), region)


def score(points: Points) -> float:
    """Return the smallest area of a triangle of three points as a share of the region's; 0 for fewer than three."""
    if len(points) < 3:
        return 0.0
    return float(np.abs(_twice_areas(points, *_triples(len(points)))).min()) / max(_twice_region(points), 1e-300)


def _triples(n: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the numbers of all triples of n points, i < j < k."""
    numbers = np.arange(n)
    i, j, k = np.nonzero((numbers[:, None, None] < numbers[:, None]) & (numbers[:, None] < numbers))
    return i, j, k


def _twice_areas(points: Points, i: Numbers, j: Numbers, k: Numbers) -> Floats:
    """Return twice the signed areas of triangles, positive when they turn to the left."""
    x, y = points.T
    return np.asarray((x[j] - x[i]) * (y[k] - y[i]) - (y[j] - y[i]) * (x[k] - x[i]))


def _twice_region(points: Points) -> float:
    """Return twice the area of the region."""
    if _region != "convex":
        return {"triangle": 1.0, "square": 2.0}[_region]
    a, b = points[_hull(points)].T
    return float(a @ np.roll(b, -1) - b @ np.roll(a, -1))


def _hull(points: Points) -> Numbers:
    """Return the numbers of the corners of the convex hull, anticlockwise (monotone chain, Andrew 1979)."""
    order = np.lexsort((points[:, 1], points[:, 0])).tolist()
    place = points.tolist()
    corners: list[int] = []
    for side in (order, order[::-1]):
        chain: list[int] = []
        for one in side:
            while len(chain) > 1:
                (a, b), (c, d), (x, y) = place[chain[-2]], place[chain[-1]], place[one]
                if (c - a) * (y - b) > (d - b) * (x - a):
                    break
                chain.pop()
            chain.append(one)
        corners += chain[:-1]
    return np.array(corners, dtype=np.int64)


@_costs(0.05)
def random_start(like: Points, rng: np.random.Generator) -> Points:
    """Return as many points at random in the region."""
    return _spots(rng, len(like), _region)


def _spots(rng: np.random.Generator, n: int, region: str) -> Points:
    """Return n points evenly spread over the triangle or the square; a convex region begins as a square."""
    spots = rng.random((n, 2))
    if region == "triangle":
        beyond = spots.sum(axis=1) > 1
        spots[beyond] = 1 - spots[beyond]
    return spots


def _inside(points: Points) -> Points:
    """Return points with those outside moved into the region, but for rounding."""
    if _region == "convex":
        return points
    moved = np.clip(points, 0.0, 1.0)
    if _region == "triangle":
        moved = np.maximum(moved - np.maximum(moved.sum(axis=1) - 1, 0.0)[:, None] / 2, 0.0)
        moved = moved / np.maximum(moved.sum(axis=1), 1.0)[:, None]
    return moved


def _centred(points: Points) -> Points:
    """Return points of a convex region in a round frame: areas keep their shares under linear maps."""
    if _region != "convex":
        return points
    middle = points - points.mean(axis=0)
    values, axes = np.linalg.eigh(middle.T @ middle / len(points))
    round_ = middle @ axes / np.sqrt(np.maximum(values, 1e-12 * max(values.max(), 1e-12)))
    return round_ / np.sqrt(max(_twice_region(round_), 1e-12))


@_costs(1.0)
def polish(points: Points, steps: Count = 60) -> Points:
    """Climb to a local optimum by sequential quadratic programming with exact derivatives.

    Variables: x (n), y (n) and twice the area t of the smallest triangle, which is maximised; every triangle keeps the
    direction in which it turns and is to be at least as large. A convex region has a hull of area 1/2: as no triangle
    turns over, its corners stay what they are.
    """
    n = len(points)
    if n < 3:
        return points
    start = _centred(points)
    triples = _triples(n)
    sign = np.where(_twice_areas(start, *triples) < 0, -1.0, 1.0)
    ring = _hull(start)

    def constraints(z: Floats) -> Floats:
        place = z[:-1].reshape(2, n).T
        return np.concatenate([sign * _twice_areas(place, *triples) - z[-1] / STRETCH, _border(place, ring)])

    def jacobian(z: Floats) -> Floats:
        place = z[:-1].reshape(2, n).T
        return np.concatenate([_area_slopes(place, triples, sign), _border_slopes(place, ring)])

    slope = np.append(np.zeros(2 * n), -1.0)
    limits = (-4.0, 4.0) if _region == "convex" else (0.0, 1.0)
    solved = minimize(
        lambda z: -z[-1],
        np.append(start.T.ravel(), STRETCH * np.abs(_twice_areas(start, *triples)).min()),
        jac=lambda z: slope,
        bounds=[limits] * (2 * n) + [(0.0, STRETCH)],
        constraints={"type": "ineq", "fun": constraints, "jac": jacobian},
        method="SLSQP",
        options={"maxiter": max(1, min(int(steps), int(_left) + 1)), "ftol": 1e-12},
    )
    _take(float(solved.nit))
    tried = _inside(np.asarray(solved.x)[:-1].reshape(2, n).T.copy())
    return tried if np.isfinite(tried).all() and score(tried) > score(points) else points


def _area_slopes(place: Points, triples: tuple[Numbers, Numbers, Numbers], sign: Floats) -> Floats:
    """Return the derivatives of twice the areas less t, a row a triangle."""
    n, row = len(place), np.arange(len(sign))
    x, y = place.T
    slopes = np.zeros((len(row), 2 * n + 1))
    i, j, k = triples
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        slopes[row, a] = sign * (y[b] - y[c])
        slopes[row, n + a] = sign * (x[c] - x[b])
    slopes[:, -1] = -1.0 / STRETCH
    return slopes


def _border(place: Points, ring: Numbers) -> Floats:
    """Return what keeps points in their region besides bounds on x and y: to be at least 0."""
    if _region == "triangle":
        return np.asarray(1.0 - place.sum(axis=1))
    if _region == "square":
        return np.zeros(0)
    x, y = place[ring].T
    return np.array([1.0 - (x @ np.roll(y, -1) - y @ np.roll(x, -1))])


def _border_slopes(place: Points, ring: Numbers) -> Floats:
    n = len(place)
    if _region == "triangle":
        return np.concatenate([-np.eye(n), -np.eye(n), np.zeros((n, 1))], axis=1)
    if _region == "square":
        return np.zeros((0, 2 * n + 1))
    x, y = place[ring].T
    slopes = np.zeros((1, 2 * n + 1))
    slopes[0, ring] = np.roll(y, 1) - np.roll(y, -1)
    slopes[0, n + ring] = np.roll(x, -1) - np.roll(x, 1)
    return slopes


@_costs(0.05)
def jitter_all(points: Points, rng: np.random.Generator, scale: Scale = 0.05) -> Points:
    """Move every point by Gaussian noise, and back into the region."""
    return _inside(points + rng.normal(0, abs(scale), points.shape))


@_costs(0.05)
def jitter_one(points: Points, rng: np.random.Generator, scale: Scale = 0.1) -> Points:
    """Move one point by Gaussian noise, and back into the region."""
    moved = points.copy()
    moved[int(rng.integers(len(moved)))] += rng.normal(0, abs(scale), 2)
    return _inside(moved)


@_costs(0.5)
def relocate_worst(points: Points, rng: np.random.Generator) -> Points:
    """Move a point of the smallest triangle to one of the best of some random spots, many of them on the border."""
    if len(points) < 3:
        return points
    triples = _triples(len(points))
    worst = int(np.abs(_twice_areas(points, *triples)).argmin())
    return _relocated(points, int(rng.choice([corner[worst] for corner in triples])), rng)


@_costs(0.5)
def relocate_some(points: Points, rng: np.random.Generator, count: Count = 2) -> Points:
    """Move `count` points, one after the other, to one of the best of some random spots, many of them on the border."""
    n = len(points)
    moved = points
    for one in rng.choice(n, size=max(1, min(int(count), n // 2)), replace=False):
        moved = _relocated(moved, int(one), rng)
    return moved


def _relocated(points: Points, one: int, rng: np.random.Generator) -> Points:
    """Move a point to one of the 8 spots of 300 that make the largest smallest triangle with the other points."""
    others = np.delete(points, one, axis=0)
    spots = np.concatenate([_interior_spots(others, rng, 200), _border_spots(others, rng, 100)])
    i, j = np.triu_indices(len(others), 1)
    (x, y), (u, v) = others[i].T, (others[j] - others[i]).T
    room = np.abs((spots[:, :1] - x) * v - (spots[:, 1:] - y) * u).min(axis=1, initial=np.inf)
    moved = points.copy()
    moved[one] = spots[int(rng.choice(np.argsort(room / _hull_with(others, spots))[-8:]))]
    return moved


def _interior_spots(others: Points, rng: np.random.Generator, count: int) -> Points:
    """Return random spots in the region; for a convex one in a box that leaves room for the hull to grow."""
    if _region != "convex":
        return _spots(rng, count, _region)
    low, size = others.min(axis=0), np.ptp(others, axis=0)
    return low + (rng.random((count, 2)) * 1.4 - 0.2) * size


def _border_spots(others: Points, rng: np.random.Generator, count: int) -> Points:
    """Return random spots on the border of the region; of a convex one they are on the sides of the hull."""
    corners = {"triangle": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], "square": [[0, 0], [1.0, 0], [1, 1], [0, 1]]}
    ring = np.array(corners[_region], dtype=float) if _region != "convex" else others[_hull(others)]
    side = rng.integers(len(ring), size=count)
    along = rng.random((count, 1))
    return np.asarray(ring[side] * (1 - along) + np.roll(ring, -1, axis=0)[side] * along)


def _hull_with(others: Points, spots: Points) -> Floats | float:
    """Return twice the area of the region with each of the spots added to the others."""
    if _region != "convex":
        return 1.0
    ring = others[_hull(others)]
    side = np.roll(ring, -1, axis=0) - ring
    away = spots[:, None] - ring
    # A spot outside sees some sides from beyond, and the hull grows by the triangles over these.
    seen = np.maximum(side[:, 1] * away[..., 0] - side[:, 0] * away[..., 1], 0.0).sum(axis=1)
    return np.asarray(np.maximum(_twice_region(others) + seen, 1e-300))


def better(points: Points, other: Points) -> Points:
    """Return the one whose smallest triangle is larger; without effort too, lest the best be lost at the end."""
    _take(0.01)
    return points if score(points) >= score(other) else other


def metropolis(trial: Points, current: Points, rng: np.random.Generator, temperature: Scale = 0.0006) -> Points:
    """Return `trial` when it is better, and otherwise with probability exp(-loss / temperature)."""
    _take(0.01)
    loss = score(current) - score(trial)
    accept = loss <= 0 or rng.random() < np.exp(-loss / max(abs(temperature), 1e-12))
    return trial if accept else current


def strict(points: Points) -> Points:
    """Return points inside the region without any tolerance, moved by no more than rounding needs."""
    moved = _inside(points).copy()
    if _region == "convex":
        # The frame is free, and judges bound numbers. An eighth of a float is exact, and so is the largest quotient.
        return moved / max(1.0, float(np.abs(moved).max()) / 8)
    if _region == "triangle":
        for row, larger in enumerate(moved.argmax(axis=1)):
            # With a coordinate of at least a half, 1 minus it is exact; with none the sum is no more than 1.
            moved[row, 1 - larger] = min(moved[row, 1 - larger], 1.0 - moved[row, larger])
    return moved
