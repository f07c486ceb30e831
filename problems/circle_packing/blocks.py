"""Building blocks for packing circles: starts, local optimisers, moves and acceptance, each an ordinary function.

A packing is a float array (n, 3) of x, y, r. It lies in the unit square or, for the shape "rectangle", in a box of
width w and height 2 - w with a corner at the origin, where w is the packing's own. No block writes into its arguments.
Solving is what costs: each block draws on the effort, and with none left it returns what it was given.
"""

from collections.abc import Callable
from functools import wraps
from typing import NewType, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp, minimize
from scipy.sparse import csc_array

__all__ = [
    "better",
    "fitted",
    "hexagonal_start",
    "jitter_all",
    "jitter_one",
    "metropolis",
    "polish_slp",
    "polish_slsqp",
    "radii_by_lp",
    "random_start",
    "relocate_small",
    "shift_row",
    "swap_two",
    "total",
]
"""What programs may be built of; the rest serves the seed's frozen text."""

Packing = NewType("Packing", np.ndarray)
Scale = NewType("Scale", float)
Count = NewType("Count", int)
F = TypeVar("F", bound=Callable)

_left = 0.0
"""What is left of the effort of this program, counted in linear programs (about 2.5 ms of CPU time each at n = 26)."""


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
        def call(packing: Packing, *arguments: object, **named: object) -> Packing:
            return block(packing, *arguments, **named) if _take(amount) else packing

        return call  # type: ignore[return-value]

    return counted


_rectangle = False


def packing(rows: list, shape: str) -> Packing:
    """Return rows of x, y, r as a packing, and remember whether it lies in the square or in a rectangle."""
    global _rectangle
    _rectangle = shape == "rectangle"
    return np.array(rows, dtype=float)


def frame(packing: Packing) -> tuple[float, float]:
    """Return width and height of the region."""
    if not _rectangle:
        return 1.0, 1.0
    width = float(np.clip((packing[:, 0] + packing[:, 2]).max(), 0.2, 1.8))
    return width, 2.0 - width


def total(packing: Packing) -> float:
    """Return the sum of the radii."""
    return float(packing[:, 2].sum())


@_costs(0.05)
def random_start(like: Packing, rng: np.random.Generator) -> Packing:
    """Return as many points at random, with radius 0."""
    n = len(like)
    return np.column_stack([rng.random((n, 2)) * frame(like), np.zeros(n)])


def grid_start(n: int) -> Packing:
    """Return n points of the smallest square grid that holds them."""
    side = int(np.ceil(np.sqrt(n)))
    axis = (np.arange(side) + 0.5) / side
    x, y = np.meshgrid(axis, axis)
    return np.column_stack([x.ravel()[:n], y.ravel()[:n], np.zeros(n)])


@_costs(0.05)
def hexagonal_start(like: Packing, rng: np.random.Generator) -> Packing:
    """Return as many points in rows shifted by half a step, with a random number of rows and a little noise."""
    n = len(like)
    rows = max(2, int(np.sqrt(n)) + int(rng.integers(0, 2)))
    columns = int(np.ceil(n / rows))
    x, y = np.meshgrid(np.arange(columns), np.arange(rows))
    x = (x + 0.25 + 0.5 * (y % 2)) / (columns + 0.5)
    points = np.column_stack([x.ravel(), ((y + 0.5) / rows).ravel()])
    points = points[rng.permutation(len(points))[:n]] + rng.normal(0, 0.01, (n, 2))
    return np.column_stack([np.clip(points, 0, 1) * frame(like), np.zeros(n)])


def _walls(packing: Packing) -> NDArray[np.float64]:
    centres = packing[:, :2]
    return np.minimum(centres, np.array(frame(packing)) - centres).min(axis=1)


Rows = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]
"""Rows of a linear program: values (m, k) in columns (m, k), and their upper bounds (m,)."""


def _solved(
    cost: NDArray[np.float64], rows: list[Rows], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Minimise cost.v under the rows and low <= v <= high; None without a solution.

    `milp` without integers hands the program to the same solver as `linprog`, with less ado. Programs this small take
    longer to be simplified first than to be solved.
    """
    number = np.repeat(
        np.arange(sum(len(bound) for _, _, bound in rows)),
        np.concatenate([np.full(len(values), values.shape[1]) for values, _, _ in rows]),
    )
    table = np.concatenate([values.ravel() for values, _, _ in rows])
    place = number, np.concatenate([columns.ravel() for _, columns, _ in rows])
    bound = np.concatenate([bound for _, _, bound in rows])
    matrix = csc_array((table, place), shape=(len(bound), len(cost)))
    constraint = LinearConstraint(matrix, -np.inf, bound)
    solved = milp(cost, bounds=Bounds(low, high), constraints=constraint, options={"presolve": False})
    return None if solved.x is None else np.asarray(solved.x)


@_costs(0.5)
def radii_by_lp(packing: Packing) -> Packing:
    """Return the packing with the radii of largest sum at its centres: one linear program."""
    return _largest_radii(packing)


def _largest_radii(packing: Packing) -> Packing:
    n = len(packing)
    centres = packing[:, :2]
    between = np.hypot(*(centres[:, None] - centres[None]).transpose(2, 0, 1))
    np.fill_diagonal(between, np.inf)
    # No radius exceeds the distance to the wall or to the nearest centre: pairs farther apart than that need no row.
    most = np.minimum(np.maximum(_walls(packing), 0.0), between.min(axis=1))
    i, j = np.triu_indices(n, 1)
    near = between[i, j] < most[i] + most[j]
    pairs = np.column_stack([i[near], j[near]])
    radii = _solved(-np.ones(n), [(np.ones(pairs.shape), pairs, between[i, j][near])], np.zeros(n), most)
    return np.column_stack([centres, np.zeros(n) if radii is None else np.maximum(radii, 0.0)])


def _linear_step(packing: Packing, step: float, margin: float) -> Packing | None:
    """Solve the linear program in a box of half-width `step`; None when that gave no packing.

    Variables: x (n), y (n), r (n) and the width. Pairs with a gap beyond `margin` have no row; when two of them collide
    all the same, there is no answer.
    """
    n = len(packing)
    centres, radii = packing[:, :2], packing[:, 2]
    growth = 0.5 * step + 0.01
    i, j = np.triu_indices(n, 1)
    difference = centres[i] - centres[j]
    distance = np.hypot(*difference.T)
    near = distance < radii[i] + radii[j] + margin
    u = difference[near] / np.maximum(distance[near], 1e-12)[:, None]
    width, _ = frame(packing)
    stretch = step if _rectangle else 0.0
    solution = _solved(
        np.concatenate([np.zeros(2 * n), -np.ones(n), [0.0]]),
        [_pair_rows(n, i[near], j[near], u), *_wall_rows(packing, step + growth + stretch)],
        np.concatenate([centres[:, 0] - step, centres[:, 1] - step, np.zeros(n), [width - stretch]]),
        np.concatenate([centres[:, 0] + step, centres[:, 1] + step, radii + growth, [width + stretch]]),
    )
    if solution is None:
        return None
    moved = solution[:-1].reshape(3, n).T.copy()
    collided = np.hypot(*(moved[i, :2] - moved[j, :2]).T) < moved[i, 2] + moved[j, 2] - 1e-9
    return None if (collided & ~near).any() else moved


def _pair_rows(n: int, i: NDArray[np.int64], j: NDArray[np.int64], u: NDArray[np.float64]) -> Rows:
    """Keep circles apart: r_i + r_j - u.(c_i - c_j) <= 0 with u the present direction from j to i.

    That distance along u never exceeds the true one (Cauchy-Schwarz), so that every solution is a packing.
    """
    one = np.ones(len(i))
    values = np.column_stack([-u[:, 0], u[:, 0], -u[:, 1], u[:, 1], one, one])
    return values, np.column_stack([i, j, n + i, n + j, 2 * n + i, 2 * n + j]), np.zeros(len(i))


def _wall_rows(packing: Packing, reach: float) -> list[Rows]:
    """Keep circles inside, those with a wall within `reach`: r - c <= 0 and r + c <= far on either axis.

    The far wall of a rectangle is its width, the last variable, or 2 minus that.
    """
    n = len(packing)
    rows: list[Rows] = []
    for axis, far in enumerate(frame(packing)):
        place, radius = packing[:, axis], packing[:, 2]
        k = np.flatnonzero(place - radius < reach)
        one = np.ones(len(k))
        rows.append((np.column_stack([-one, one]), np.column_stack([axis * n + k, 2 * n + k]), 0.0 * one))
        k = np.flatnonzero(far - place - radius < reach)
        one = np.ones(len(k))
        values = [one, one, (-1.0, 1.0)[axis] * one]
        columns = [axis * n + k, 2 * n + k, np.full(len(k), 3 * n)]
        used, bound = (3, 2.0 * axis) if _rectangle else (2, 1.0)
        rows.append((np.column_stack(values[:used]), np.column_stack(columns[:used]), bound * one))
    return rows


def polish_slp(packing: Packing, steps: Count = 30) -> Packing:
    """Climb to a local optimum by sequential linear programs.

    The box in which a step may move is as wide as about one circle and stays so: since no step loses, whatever its
    size, a smaller box has no gain where a larger one has none.
    """
    step = 0.5 / np.sqrt(len(packing))
    margin = 2.0 * step
    best = packing
    for _ in range(int(steps)):
        if not _take(1.0):
            break
        moved = _linear_step(best, step, margin)
        if moved is None:
            # Two centres approach by less than 3 steps and both radii grow by less: then no pair is beyond the margin.
            step, margin = 0.5 * step, 2.0 * margin + 0.02
            continue
        gain = total(moved) - total(best)
        if gain > 0:
            best = moved
        if gain < 1e-9:
            break
    return best


@_costs(1.0)
def polish_slsqp(packing: Packing, steps: Count = 40) -> Packing:
    """Climb to a local optimum by sequential quadratic programming with exact derivatives.

    Slower than `polish_slp` by 3 to 5 times, and sometimes better. It bounds distances, not their squares: it then
    starts with the very rows of the linear programs, and does not run away.
    """
    n = len(packing)
    width, height = frame(packing)
    i, j = np.triu_indices(n, 1)
    m, k = len(i), np.arange(n)
    row = np.arange(m)
    far = np.zeros((4 * n, 3 * n))
    for part, (column, sign) in enumerate(((k, 1), (k, -1), (n + k, 1), (n + k, -1))):
        far[part * n + k, column] = sign
        far[part * n + k, 2 * n + k] = -1
    edge = np.repeat([0.0, width, 0.0, height], n)

    def constraints(z: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y, r = z.reshape(3, n)
        return np.concatenate([np.hypot(x[i] - x[j], y[i] - y[j]) - r[i] - r[j], far @ z + edge])

    def jacobian(z: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y, _ = z.reshape(3, n)
        difference = np.array([x[i] - x[j], y[i] - y[j]])
        u, v = difference / np.maximum(np.hypot(*difference), 1e-12)
        near = np.zeros((m, 3 * n))
        near[row, i], near[row, j], near[row, n + i], near[row, n + j] = u, -u, v, -v
        near[row, 2 * n + i] = near[row, 2 * n + j] = -1
        return np.concatenate([near, far])

    slope = np.concatenate([np.zeros(2 * n), -np.ones(n)])
    solved = minimize(
        lambda z: -z[2 * n :].sum(),
        packing.T.ravel(),
        jac=lambda z: slope,
        bounds=[(0, width)] * n + [(0, height)] * n + [(0, 1)] * n,
        constraints={"type": "ineq", "fun": constraints, "jac": jacobian},
        method="SLSQP",
        options={"maxiter": max(1, min(int(steps), int(_left / 2))), "ftol": 1e-10},
    )
    _take(2.0 * solved.nit)
    # The price of the block includes this: without it, what is left of violations would pass for a gain.
    tried = _largest_radii(np.asarray(solved.x).reshape(3, n).T)
    return tried if total(tried) > total(packing) else packing


@_costs(0.05)
def jitter_all(packing: Packing, rng: np.random.Generator, scale: Scale = 0.05) -> Packing:
    """Move every centre by Gaussian noise and shrink the radii to what then fits."""
    moved = packing.copy()
    moved[:, :2] = np.clip(moved[:, :2] + rng.normal(0, abs(scale), (len(moved), 2)), 0, frame(packing))
    return _fitted(moved)


@_costs(0.05)
def jitter_one(packing: Packing, rng: np.random.Generator, scale: Scale = 0.1) -> Packing:
    """Move one centre by Gaussian noise and shrink the radii to what then fits."""
    moved = packing.copy()
    one = int(rng.integers(len(moved)))
    moved[one, :2] = np.clip(moved[one, :2] + rng.normal(0, abs(scale), 2), 0, frame(packing))
    return _fitted(moved)


@_costs(0.3)
def relocate_small(packing: Packing, rng: np.random.Generator, count: Count = 2) -> Packing:
    """Take out `count` of the smaller circles and put them into the largest of some random holes."""
    n = len(packing)
    moved = packing.copy()
    order = np.argsort(moved[:, 2])
    out = rng.choice(order[: max(2, n // 3)], size=max(1, min(int(count), n // 3)), replace=False)
    moved[out, 2] = 0.0
    size = np.array(frame(packing))
    for one in out:
        spots = rng.random((200, 2)) * size
        others = np.delete(np.arange(n), one)
        gap = np.hypot(*(spots[:, None, :] - moved[None, others, :2]).transpose(2, 0, 1)) - moved[others, 2]
        room = np.minimum(gap.min(axis=1, initial=np.inf), np.minimum(spots, size - spots).min(axis=1))
        chosen = int(rng.choice(np.argsort(room)[-5:]))
        moved[one] = [*spots[chosen], max(0.0, float(room[chosen]))]
    return moved


@_costs(0.05)
def swap_two(packing: Packing, rng: np.random.Generator) -> Packing:
    """Let two circles change places and shrink the radii to what then fits."""
    moved = packing.copy()
    if len(moved) < 2:
        return moved
    i, j = rng.choice(len(moved), 2, replace=False)
    moved[[i, j], :2] = moved[[j, i], :2]
    return _fitted(moved)


@_costs(0.05)
def shift_row(packing: Packing, rng: np.random.Generator, scale: Scale = 0.1) -> Packing:
    """Shift the circles of a horizontal or vertical strip along it and shrink the radii to what then fits."""
    moved = packing.copy()
    axis = int(rng.integers(2))
    at = rng.random()
    strip = np.abs(moved[:, 1 - axis] - at) < 0.1
    moved[strip, axis] = np.clip(moved[strip, axis] + rng.normal(0, abs(scale)), 0, frame(packing)[axis])
    return _fitted(moved)


@_costs(0.05)
def fitted(packing: Packing) -> Packing:
    """Return the packing with every radius cut to its wall and to its share of the distance to each neighbour."""
    return _fitted(packing)


def _fitted(packing: Packing) -> Packing:
    moved = packing.copy()
    wall = np.minimum(moved[:, :2], np.array(frame(packing)) - moved[:, :2]).min(axis=1)
    moved[:, 2] = np.minimum(moved[:, 2], np.maximum(wall, 0.0))
    distance = np.hypot(*(moved[:, None, :2] - moved[None, :, :2]).transpose(2, 0, 1))
    np.fill_diagonal(distance, np.inf)
    sums = moved[:, None, 2] + moved[None, :, 2]
    share = np.where(sums > distance, distance / np.maximum(sums, 1e-300), 1.0).min(axis=1)
    moved[:, 2] *= share
    return moved


def better(packing: Packing, other: Packing) -> Packing:
    """Return the one whose sum of radii is larger; without effort too, lest the best be lost at the end."""
    _take(0.01)
    return packing if total(packing) >= total(other) else other


def metropolis(trial: Packing, current: Packing, rng: np.random.Generator, temperature: Scale = 0.002) -> Packing:
    """Return `trial` when it is better, and otherwise with probability exp(-loss / temperature)."""
    _take(0.01)
    loss = total(current) - total(trial)
    accept = loss <= 0 or rng.random() < np.exp(-loss / max(abs(temperature), 1e-12))
    return trial if accept else current


def strict(packing: Packing) -> Packing:
    """Shrink the radii until the packing is valid without any tolerance, by about the size of the violations."""
    moved = packing.copy()
    # One frame throughout: a rectangle's would follow the radii as they shrink. A height rounded up would stick out.
    width, height = frame(packing)
    size = np.array([width, np.nextafter(height, 0.0) if _rectangle else height])
    moved[:, :2] = np.clip(moved[:, :2], 0.0, size)
    wall = np.minimum(moved[:, :2], size - moved[:, :2]).min(axis=1)
    moved[:, 2] = np.maximum(np.minimum(moved[:, 2], wall * (1 - 4e-16) - 1e-16), 0.0)
    i, j = np.triu_indices(len(moved), 1)
    # Distances and sums are rounded: by less than 1e-15 of the distance, or by 1e-300 where numbers lose digits.
    distance = np.maximum(np.hypot(*(moved[i, :2] - moved[j, :2]).T) * (1 - 1e-15) - 1e-300, 0.0)
    for pair in np.flatnonzero(moved[i, 2] + moved[j, 2] > distance):
        a, b, apart = int(i[pair]), int(j[pair]), float(distance[pair])
        over = moved[a, 2] + moved[b, 2] - apart
        if over > 0:
            # Both give half; where one has less than that, the other gives the rest.
            moved[a, 2] = max(0.0, moved[a, 2] - over / 2)
            moved[b, 2] = max(0.0, min(moved[b, 2] - over / 2, apart - moved[a, 2]))
            moved[a, 2] = min(moved[a, 2], apart - moved[b, 2])
    return moved
