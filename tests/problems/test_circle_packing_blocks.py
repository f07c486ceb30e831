"""What circle packings are built of: blocks that keep their promises, whatever they are given."""

import sys
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from circle_cases import BEST, BLOCKS, SHAPES, Packing, Rows, accepted, judged
from hypothesis import example, given, settings
from hypothesis import strategies as st
from problem_modules import load


@pytest.fixture
def blocks() -> ModuleType:
    """The blocks, with more effort than a test uses up: how much is left is theirs to remember."""
    module = load("circle_packing", "blocks")
    module.use_effort(10_000)
    return module


def start(blocks: ModuleType, n: int, shape: str, seed: int) -> tuple[Packing, np.random.Generator]:
    rng = np.random.default_rng(seed)
    grid = blocks.packing(blocks.grid_start(n).tolist(), shape)
    return blocks.radii_by_lp(blocks.hexagonal_start(grid, rng)), rng


def applied(blocks: ModuleType, name: str, packing: Packing, seed: int) -> Packing:
    """Apply a block to a packing, with what its parameters ask for."""
    rng = np.random.default_rng(seed)
    arguments: dict[str, tuple[Any, ...]] = {
        "better": (packing, packing * 0.5),
        "fitted": (packing,),
        "metropolis": (packing * 0.999, packing, rng),
        "polish_slp": (packing,),
        "polish_slsqp": (packing,),
        "radii_by_lp": (packing,),
    }
    result: Packing = getattr(blocks, name)(*arguments.get(name, (packing, rng)))
    return result


NAMES = [name for name in BLOCKS.__all__ if name != "total"]
SOLVERS = ("radii_by_lp", "polish_slp", "polish_slsqp")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_a_block_gives_the_same_for_the_same_seed_and_leaves_its_argument(
    blocks: ModuleType, name: str, shape: str
) -> None:
    packing, _ = start(blocks, 9, shape, 1)
    before = packing.copy()
    first, second = applied(blocks, name, packing, 7), applied(blocks, name, packing, 7)
    assert first.tolist() == second.tolist()
    assert first.shape == (9, 3)
    assert packing.tolist() == before.tolist()


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_a_block_can_do_with_few_circles(blocks: ModuleType, name: str, n: int) -> None:
    packing = blocks.fitted(blocks.packing([[0.2 + 0.3 * k, 0.5, 0.1] for k in range(n)], "square"))
    assert np.isfinite(applied(blocks, name, packing, 3)).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_what_a_block_makes_of_a_packing_is_one_but_for_rounding(blocks: ModuleType, name: str, shape: str) -> None:
    for seed in range(5):
        packing, _ = start(blocks, 12, shape, seed)
        made = applied(blocks, name, packing, seed)
        # Moves may strand a centre outside a rectangle that has shrunk; `strict` and every solver bring it back.
        strict = blocks.strict(made)
        assert accepted(strict.tolist(), shape)
        assert blocks.total(made) - blocks.total(strict) < 1e-5


COORDINATES = st.one_of(st.sampled_from((0.0, 0.5, 1.0, 5e-324)), st.floats(-2.5, 2.5))


@given(
    rows=st.lists(st.tuples(COORDINATES, COORDINATES, COORDINATES).map(list), min_size=1, max_size=6),
    shape=st.sampled_from(SHAPES),
)
@example(rows=[[0.5, 0.5, 0.0], [0.5, 0.5, 5e-324]], shape="square")
@settings(max_examples=300, deadline=None, derandomize=True)
def test_strict_makes_anything_valid(rows: Rows, shape: str) -> None:
    assert accepted(BLOCKS.strict(BLOCKS.packing(rows, shape)).tolist(), shape)


def test_strict_does_not_let_a_rounded_height_stick_out(blocks: ModuleType) -> None:
    widths = [0.3 + k / 97 for k in range(60)]
    assert any(Fraction(w) + Fraction(2.0 - w) > 2 for w in widths)
    for w in widths:
        made = blocks.strict(blocks.packing([[w, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]], "rectangle"))
        assert accepted(made.tolist(), "rectangle")


def test_strict_keeps_a_zero_radius_from_holding_an_overlap(blocks: ModuleType) -> None:
    rows = [[0.5, 0.5, 0.0], [0.5, 0.75, 0.25 + 1e-9], [0.5, 0.25, 0.25 + 1e-9]]
    made = blocks.strict(blocks.packing(rows, "square"))
    assert accepted(made.tolist())
    assert blocks.total(made) == pytest.approx(0.5, abs=1e-12)


def test_strict_gives_up_next_to_nothing_of_a_tight_packing(blocks: ModuleType) -> None:
    assert judged(blocks.strict(blocks.packing(BEST, "square")).tolist())["score"] > judged(BEST)["score"] - 1e-13


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_polish_slp_never_lowers_the_sum(blocks: ModuleType, shape: str, seed: int) -> None:
    packing, _ = start(blocks, 5 + 3 * seed, shape, seed)
    polished = blocks.polish_slp(packing)
    assert blocks.total(polished) > blocks.total(packing)
    assert blocks.total(blocks.polish_slp(polished)) >= blocks.total(polished)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("name", ["polish_slp", "polish_slsqp"])
def test_a_climb_from_points_does_not_gain_by_overlaps(blocks: ModuleType, name: str, n: int, shape: str) -> None:
    for seed in range(4):
        grid = blocks.packing(blocks.grid_start(n).tolist(), shape)
        points = blocks.random_start(grid, np.random.default_rng(seed))
        made = getattr(blocks, name)(points, 8)
        assert blocks.total(made) - blocks.total(blocks.strict(made)) < 1e-5


@pytest.mark.parametrize("shape", SHAPES)
def test_quadratic_programming_does_not_run_away_from_a_disturbed_packing(blocks: ModuleType, shape: str) -> None:
    for seed in range(3):
        packing, rng = start(blocks, 14, shape, seed)
        disturbed = blocks.jitter_all(blocks.polish_slp(packing), rng, 0.05)
        least = blocks.total(blocks.polish_slp(disturbed)) - 0.1
        assert blocks.total(blocks.polish_slsqp(disturbed)) > least


@pytest.mark.parametrize("shape", SHAPES)
def test_a_smaller_step_gains_nothing_where_polish_slp_ended(blocks: ModuleType, shape: str) -> None:
    packing, _ = start(blocks, 12, shape, 3)
    polished = blocks.polish_slp(packing, 100)
    for step in (0.1, 0.01, 0.001):
        assert blocks.total(blocks._linear_step(polished, step, 2.0)) < blocks.total(polished) + 1e-8


def test_polish_slp_reaches_a_good_rectangle_from_a_few_starts(blocks: ModuleType) -> None:
    found = []
    for seed in range(6):
        packing, _ = start(blocks, 21, "rectangle", seed)
        made = blocks.strict(blocks.polish_slp(packing))
        found.append(judged(made.tolist(), "rectangle")["score"])
    assert max(found) > 2.3


@pytest.fixture
def solves(blocks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note every call of a solver; the solver still does its work."""
    noted: list[str] = []

    def watched(name: str) -> Any:
        solve = getattr(blocks, name)

        def noting(*given: Any, **options: Any) -> Any:
            noted.append(name)
            return solve(*given, **options)

        return noting

    for name in ("milp", "minimize"):
        monkeypatch.setattr(blocks, name, watched(name))
    return noted


@pytest.mark.parametrize("arguments", [(), (10**9,)], ids=["usual steps", "endless steps"])
def test_the_meter_bounds_the_programs_of_a_climb(
    blocks: ModuleType, solves: list[str], arguments: tuple[int, ...]
) -> None:
    packing, rng = start(blocks, 7, "square", 2)
    solves.clear()
    blocks.use_effort(40)
    for _ in range(60):
        blocks.polish_slp(blocks.jitter_all(packing, rng), *arguments)
    assert 5 < len(solves) <= 40
    assert not blocks.effort_left()


@pytest.mark.parametrize(("name", "most"), [("radii_by_lp", 20), ("polish_slsqp", 4)])
def test_the_meter_bounds_the_number_of_solves(blocks: ModuleType, solves: list[str], name: str, most: int) -> None:
    packing, rng = start(blocks, 7, "square", 2)
    solves.clear()
    blocks.use_effort(12)
    for _ in range(60):
        getattr(blocks, name)(blocks.jitter_all(packing, rng))
    # A climb by quadratic programming ends with one linear program: two solves each.
    assert 1 < len(solves) <= most + 2
    assert not blocks.effort_left()


def test_a_loop_over_the_effort_ends_even_when_its_body_does_nothing(blocks: ModuleType) -> None:
    blocks.use_effort(3)
    turns = 0
    while blocks.effort_left():
        turns += 1
        assert turns < 100
    assert turns > 1


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_with_an_empty_meter_returns_its_argument(blocks: ModuleType, solves: list[str], name: str) -> None:
    packing, _ = start(blocks, 7, "square", 2)
    solves.clear()
    blocks.use_effort(0)
    assert getattr(blocks, name)(packing) is packing
    assert not solves


def test_the_better_one_is_chosen_without_effort_too(blocks: ModuleType) -> None:
    small, large = blocks.packing([[0.5, 0.5, 0.1]], "square"), blocks.packing([[0.5, 0.5, 0.2]], "square")
    blocks.use_effort(0)
    assert blocks.better(small, large) is large
    assert blocks.metropolis(small, large, np.random.default_rng(0), 1e-6) is large


def test_metropolis_keeps_a_gain_and_refuses_a_loss_at_low_temperature(blocks: ModuleType) -> None:
    small, large = blocks.packing([[0.5, 0.5, 0.1]], "square"), blocks.packing([[0.5, 0.5, 0.2]], "square")
    rng = np.random.default_rng(0)
    assert blocks.metropolis(large, small, rng) is large
    assert blocks.metropolis(small, large, rng, 1e-6) is large
    assert blocks.metropolis(small, large, rng, 1e6) is small


@pytest.mark.parametrize("shape", SHAPES)
def test_the_seed_program_packs_validly_and_repeats_itself(
    blocks: ModuleType, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    monkeypatch.setitem(sys.modules, "blocks", blocks)
    seed = load("circle_packing", "seed")
    rows = seed.main(8, shape, 2, 5)
    assert accepted(rows, shape)
    assert judged(rows, shape)["score"] > 0.5
    assert seed.main(8, shape, 2, 5) == rows


def test_the_seed_program_never_returns_less_than_it_was_given(
    blocks: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "blocks", blocks)
    seed = load("circle_packing", "seed")
    # The effort may run out at any block of the loop, so many amounts are tried.
    for step in range(60):
        assert judged(seed.improve(BEST, 0.05 + 0.07 * step, step))["score"] > judged(BEST)["score"] - 1e-12


@pytest.mark.parametrize("name", ["jitter_all", "jitter_one", "shift_row", "swap_two"])
def test_a_move_on_the_last_bit_of_effort_leaves_no_overlap(blocks: ModuleType, name: str) -> None:
    for seed in range(10):
        blocks.use_effort(0.01)
        moved = getattr(blocks, name)(np.array(BEST), np.random.default_rng(seed))
        assert moved.tolist() != BEST or name == "shift_row"
        assert blocks.total(moved) - blocks.total(blocks.strict(moved)) < 1e-9
