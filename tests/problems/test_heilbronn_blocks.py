"""What Heilbronn programs are built of: points stay in their region, the effort is counted, and seeds repeat."""

import json
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from problem_modules import load

FOLDER = Path(__file__).resolve().parent.parent.parent / "problems" / "heilbronn"
REGIONS = ("triangle", "square", "convex")

Points = NDArray[np.float64]


ORACLE, BLOCKS = load("heilbronn", "oracle"), load("heilbronn", "blocks")
NAMES = [name for name in BLOCKS.__all__ if name != "score"]
COSTLY = [name for name in NAMES if name not in ("better", "metropolis")]


@pytest.fixture
def blocks() -> ModuleType:
    """The blocks, with more effort than a test uses up: how much is left is theirs to remember."""
    module = load("heilbronn", "blocks")
    module.use_effort(100_000)
    return module


def judged(points: Points, region: str) -> dict[str, Any]:
    verdict: dict[str, Any] = ORACLE.judge(json.dumps(points.tolist()), len(points), region)
    return verdict


def start(blocks: ModuleType, n: int, region: str, seed: int) -> Points:
    made: Points = blocks.first_points(n, region, np.random.default_rng(seed))
    return made


def applied(blocks: ModuleType, name: str, points: Points, seed: int) -> Points:
    """Apply a block to points, with what its parameters ask for."""
    rng = np.random.default_rng(seed)
    arguments: dict[str, tuple[Any, ...]] = {
        "better": (points, points[::-1].copy()),
        "metropolis": (points[::-1].copy(), points, rng),
        "polish": (points,),
    }
    made: Points = getattr(blocks, name)(*arguments.get(name, (points, rng)))
    return made


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_block_gives_the_same_for_the_same_seed_and_leaves_its_argument(
    blocks: ModuleType, name: str, region: str
) -> None:
    points = start(blocks, 9, region, 1)
    before = points.copy()
    first, second = applied(blocks, name, points, 7), applied(blocks, name, points, 7)
    assert first.tolist() == second.tolist()
    assert first.shape == (9, 2)
    assert points.tolist() == before.tolist()


@pytest.mark.parametrize("name", ["jitter_all", "jitter_one", "random_start", "relocate_some", "relocate_worst"])
def test_a_move_with_another_seed_goes_elsewhere(blocks: ModuleType, name: str) -> None:
    points = start(blocks, 9, "triangle", 1)
    assert applied(blocks, name, points, 7).tolist() != applied(blocks, name, points, 8).tolist()


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("name", NAMES)
def test_a_block_can_do_with_few_points(blocks: ModuleType, name: str, n: int, region: str) -> None:
    assert np.isfinite(applied(blocks, name, start(blocks, n, region, 2), 3)).all()


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("name", NAMES)
def test_what_a_block_makes_of_points_is_valid_and_worth_what_it_says(
    blocks: ModuleType, name: str, region: str
) -> None:
    for seed in range(8):
        made = applied(blocks, name, start(blocks, 10, region, seed), seed)
        verdict = judged(blocks.strict(made), region)
        assert verdict["valid"], verdict["reason"]
        assert verdict["score"] == pytest.approx(blocks.score(made), abs=1e-12)


@pytest.mark.parametrize("region", ["triangle", "square"])
@pytest.mark.parametrize("name", ["jitter_all", "jitter_one"])
def test_a_wild_jitter_comes_back_into_the_region(blocks: ModuleType, name: str, region: str) -> None:
    points = start(blocks, 8, region, 0)
    for scale in (0.5, 5.0, 1e6, -1.0):
        moved = getattr(blocks, name)(points, np.random.default_rng(1), scale)
        assert moved.min() >= 0
        assert moved.sum(axis=1).max() <= 1 + 1e-12 if region == "triangle" else moved.max() <= 1


def test_jitter_one_moves_one_point_and_relocate_some_as_many_as_it_is_told(blocks: ModuleType) -> None:
    points = start(blocks, 9, "square", 4)
    rng = np.random.default_rng(5)
    assert (blocks.jitter_one(points, rng) != points).any(axis=1).sum() == 1
    assert (blocks.relocate_worst(points, rng) != points).any(axis=1).sum() == 1
    assert (blocks.relocate_some(points, rng, 3) != points).any(axis=1).sum() == 3


@pytest.mark.parametrize("region", REGIONS)
def test_relocating_moves_a_point_of_the_smallest_triangle(blocks: ModuleType, region: str) -> None:
    for seed in range(6):
        points = start(blocks, 8, region, seed)
        triples = np.array(blocks._triples(8)).T
        areas = np.abs(blocks._twice_areas(points, *triples.T))
        moved = (blocks.relocate_worst(points, np.random.default_rng(seed)) != points).any(axis=1)
        assert np.flatnonzero(moved)[0] in triples[areas.argmin()]


COORDINATES = st.one_of(st.sampled_from((0.0, 0.5, 1.0, 5e-324, 0.1, 0.9)), st.floats(-20.0, 20.0))


@given(rows=st.lists(st.tuples(COORDINATES, COORDINATES).map(list), min_size=1, max_size=6))
@example(rows=[[0.1, 0.9], [0.9, 0.1], [0.7, 0.3]])
@settings(max_examples=400, deadline=None, derandomize=True)
def test_strict_leaves_no_point_outside(rows: list[list[float]]) -> None:
    for region in ("triangle", "square"):
        for x, y in BLOCKS.strict(BLOCKS.points(rows, region)).tolist():
            assert x >= 0
            assert y >= 0
            assert Fraction(x) + Fraction(y) <= 1 if region == "triangle" else x <= 1 and y <= 1
    assert np.abs(BLOCKS.strict(BLOCKS.points(rows, "convex"))).max() <= 8


def test_strict_moves_points_that_are_inside_not_at_all(blocks: ModuleType) -> None:
    points = blocks.points([[0.0, 1.0], [0.25, 0.75], [0.125, 0.25], [0.0, 0.0]], "triangle")
    assert blocks.strict(points).tolist() == points.tolist()


# --- the climb ---


@pytest.mark.parametrize("region", REGIONS)
def test_a_climb_enlarges_the_smallest_triangle_and_a_second_one_loses_nothing(blocks: ModuleType, region: str) -> None:
    for seed in range(6):
        points = start(blocks, 7 + seed, region, seed)
        climbed = blocks.polish(points)
        assert blocks.score(climbed) > 2 * blocks.score(points)
        assert blocks.score(blocks.polish(climbed)) >= blocks.score(climbed)


@pytest.mark.parametrize(
    ("n", "region", "best"),
    [(5, "square", 3**0.5 / 9), (6, "square", 1 / 8), (7, "square", 0.0838590090), (5, "convex", 0.5 - 0.1 * 5**0.5)],
)
def test_climbs_from_random_points_find_what_is_best_for_few(
    blocks: ModuleType, n: int, region: str, best: float
) -> None:
    rng = np.random.default_rng(1)
    points = blocks.first_points(n, region, rng)
    found = 0.0
    for _ in range(60):
        points = blocks.polish(blocks.random_start(points, rng))
        found = max(found, judged(blocks.strict(points), region)["score"])
    assert found == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("region", REGIONS)
def test_the_slopes_of_a_climb_agree_with_differences(blocks: ModuleType, region: str) -> None:
    points = blocks._centred(start(blocks, 6, region, 3))
    triples, ring = blocks._triples(6), blocks._hull(points)
    sign = np.ones(len(triples[0]))

    def values(z: Points) -> Points:
        place = z.reshape(2, 6).T
        return np.concatenate([blocks._twice_areas(place, *triples), blocks._border(place, ring)])

    z = points.T.ravel()
    slopes = np.concatenate([blocks._area_slopes(points, triples, sign), blocks._border_slopes(points, ring)])[:, :-1]
    differences = np.array([(values(z + step) - values(z - step)) / 2e-6 for step in np.eye(12) * 1e-6]).T
    assert np.abs(slopes - differences).max() < 1e-8


# --- effort ---


@pytest.fixture
def steps(blocks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note the steps of every climb; the solver still does its work."""
    noted: list[int] = []
    solve = blocks.minimize  # type: ignore[attr-defined]

    def noting(*given: Any, **options: Any) -> Any:
        solved = solve(*given, **options)
        noted.append(int(solved.nit))
        return solved

    monkeypatch.setattr(blocks, "minimize", noting)
    return noted


@pytest.mark.parametrize("arguments", [(), (10**9,), (-3,)], ids=["usual steps", "endless steps", "negative steps"])
def test_the_effort_bounds_the_steps_of_all_climbs(
    blocks: ModuleType, steps: list[int], arguments: tuple[int, ...]
) -> None:
    points, rng = start(blocks, 8, "triangle", 2), np.random.default_rng(0)
    blocks.use_effort(50)
    for _ in range(60):
        blocks.polish(blocks.jitter_all(points, rng), *arguments)
    assert 20 < sum(steps) <= 50
    assert not blocks.effort_left()


@pytest.mark.parametrize("name", COSTLY)
def test_a_block_without_effort_returns_its_argument(blocks: ModuleType, steps: list[int], name: str) -> None:
    points = start(blocks, 7, "triangle", 2)
    blocks.use_effort(0)
    assert applied(blocks, name, points, 1) is points
    assert not steps


@pytest.mark.parametrize("name", NAMES)
def test_a_loop_that_only_calls_a_block_uses_the_effort_up(blocks: ModuleType, name: str) -> None:
    points = start(blocks, 5, "square", 2)
    blocks.use_effort(3)
    turns = 0
    while blocks._left > 0:
        applied(blocks, name, points, turns)
        turns += 1
        assert turns < 1000


def test_a_loop_over_the_effort_ends_even_when_its_body_does_nothing(blocks: ModuleType) -> None:
    blocks.use_effort(3)
    turns = 0
    while blocks.effort_left():
        turns += 1
        assert turns < 100
    assert turns > 1


def test_the_better_one_is_chosen_without_effort_too(blocks: ModuleType) -> None:
    small = blocks.points([[0, 0], [0.5, 0], [0, 0.5]], "triangle")
    large = blocks.points([[0, 0], [1, 0], [0, 1]], "triangle")
    blocks.use_effort(0)
    assert blocks.better(small, large) is large
    assert blocks.better(large, small) is large
    assert blocks.metropolis(small, large, np.random.default_rng(0), 1e-6) is large


def test_metropolis_keeps_a_gain_and_refuses_a_loss_at_low_temperature(blocks: ModuleType) -> None:
    small = blocks.points([[0, 0], [0.5, 0], [0, 0.5]], "triangle")
    large = blocks.points([[0, 0], [1, 0], [0, 1]], "triangle")
    rng = np.random.default_rng(0)
    assert blocks.metropolis(large, small, rng) is large
    assert blocks.metropolis(small, large, rng, 1e-6) is large
    assert blocks.metropolis(small, large, rng, 1e6) is small


# --- the seed program ---


@pytest.fixture
def seed(blocks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setitem(sys.modules, "blocks", blocks)
    return load("heilbronn", "seed")


@pytest.mark.parametrize("region", REGIONS)
def test_the_seed_program_places_points_validly_and_repeats_itself(seed: ModuleType, region: str) -> None:
    rows = seed.main(8, region, 40, 5)
    assert judged(np.array(rows), region)["score"] > 0
    assert seed.main(8, region, 40, 5) == rows
    assert seed.main(8, region, 40, 6) != rows


def test_the_seed_program_never_returns_less_than_it_was_given(seed: ModuleType) -> None:
    anchors = json.loads((FOLDER / "anchors.json").read_text("utf-8"))
    for anchor in anchors:
        region = anchor["options"]["region"]
        # The effort may run out at any block of the loop, so several amounts are tried.
        for step in range(12):
            rows = seed.improve(anchor["output"], 0.05 + 0.35 * step, step, region)
            assert judged(np.array(rows), region)["score"] > anchor["score"] - 1e-12
