"""Packing circles: two judges without tolerance, blocks that keep their promises, and pictures that can be read."""

import importlib.util
import json
import math
import struct
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "problems" / "circle_packing"
COPIED = Path(__file__).parent / "data" / "circle_outputs.json"
HANDED = ROOT.parent / "shared" / "cases" / "geometry" / "outputs.json"
SHAPES = ("square", "rectangle")

Case = dict[str, Any]
Rows = list[list[Any]]
Packing = NDArray[np.float64]


def load(name: str) -> ModuleType:
    """Load a module of the problem's folder afresh, by its path."""
    spec = importlib.util.spec_from_file_location(f"circle_packing_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE, EVALUATOR, PICTURE, BLOCKS = load("oracle"), load("evaluator"), load("picture"), load("blocks")


@pytest.fixture
def blocks() -> ModuleType:
    """The blocks, with more effort than a test uses up: how much is left is theirs to remember."""
    module = load("blocks")
    module.use_effort(10_000)
    return module


def cases(path: Path) -> list[Case]:
    return [case for case in json.loads(path.read_text("utf-8")) if case["problem"] == "circle_packing"]


def handed() -> list[Any]:
    if HANDED.is_file():
        return [pytest.param(case, id=f"handed-{case['name']}") for case in cases(HANDED)]
    reason = "the handed cases do not lie beside the repository, at shared/cases/geometry/outputs.json"
    return [pytest.param({}, id="handed", marks=pytest.mark.skip(reason=reason))]


ALL_CASES = [pytest.param(case, id=case["name"]) for case in cases(COPIED)] + handed()


def anchors() -> list[Case]:
    found: list[Case] = json.loads((FOLDER / "anchors.json").read_text("utf-8"))
    return found


BEST: Rows = anchors()[0]["output"]


def judged(rows: Rows, shape: str = "square") -> Case:
    verdict: Case = ORACLE.judge(json.dumps(rows), len(rows), shape)
    return verdict


def accepted(rows: Rows, shape: str = "square") -> bool:
    """Return whether the oracle accepts; the evaluator must say the same."""
    valid = judged(rows, shape)["valid"]
    assert EVALUATOR.evaluate(rows, len(rows), shape)["valid"] is valid
    return valid is True


def naive(rows: Rows, shape: str) -> Fraction | None:
    """Return the exact sum of the radii of a valid packing, None for another: the definition, in fractions."""
    circles = [tuple(Fraction(value) for value in row) for row in rows]
    if any(r < 0 for _, _, r in circles):
        return None
    if shape == "square":
        inside = all(x - r >= 0 and x + r <= 1 and y - r >= 0 and y + r <= 1 for x, y, r in circles)
    else:
        width = max(x + r for x, _, r in circles) - min(x - r for x, _, r in circles)
        height = max(y + r for _, y, r in circles) - min(y - r for _, y, r in circles)
        inside = width + height <= 2
    pairs = [(a, b) for k, a in enumerate(circles) for b in circles[:k]]
    apart = all((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 >= (a[2] + b[2]) ** 2 for a, b in pairs)
    return sum((r for _, _, r in circles), Fraction(0)) if inside and apart else None


# --- judges ---


@pytest.mark.parametrize("case", ALL_CASES)
def test_the_oracle_judges_a_text_as_its_case_says(case: Case) -> None:
    verdict = ORACLE.judge(case["output"], case["n"])
    assert verdict["valid"] is (case["verdict"] == "valid"), case["why"]
    assert (verdict["reason"] is None) is verdict["valid"]
    if verdict["valid"]:
        assert abs(verdict["score"] - case["score"]) <= math.ulp(case["score"])


@pytest.mark.parametrize("case", ALL_CASES)
def test_the_evaluator_judges_what_parses_as_its_case_says(case: Case) -> None:
    try:
        output = json.loads(case["output"])
    except json.JSONDecodeError:
        assert case["verdict"] == "invalid"
        return
    result = EVALUATOR.evaluate(output, case["n"])
    assert result["valid"] is (case["verdict"] == "valid"), case["why"]
    assert result["feedback"]
    if result["valid"]:
        assert result["metrics"]["sum_radii"] == ORACLE.judge(case["output"], case["n"])["score"]


@pytest.mark.parametrize("anchor", anchors(), ids=lambda anchor: anchor["about"])
def test_an_anchor_is_valid_with_its_score(anchor: Case) -> None:
    verdict = ORACLE.judge(json.dumps(anchor["output"]), **anchor["options"])
    assert verdict["score"] == anchor["score"]
    assert EVALUATOR.evaluate(anchor["output"], **anchor["options"])["valid"]


def test_the_score_is_rounded_down() -> None:
    verdict = judged(BEST)
    exact = Fraction(verdict["score_exact"])
    assert Fraction(verdict["score"]) <= exact < Fraction(math.nextafter(verdict["score"], math.inf))


def test_the_order_of_the_rows_does_not_matter() -> None:
    assert judged(BEST[::-1])["score_exact"] == judged(BEST)["score_exact"]


SIXTEENTHS = st.integers(-2, 18).map(lambda k: k / 16)
NEARLY = st.builds(math.nextafter, SIXTEENTHS, st.sampled_from((-9.0, 9.0)))
PLACES = st.one_of(SIXTEENTHS, NEARLY, st.integers(-1, 2), st.floats(-0.1, 1.1))
RADII = st.one_of(st.integers(-1, 4).map(lambda k: k / 16), NEARLY, st.integers(0, 1), st.floats(0.0, 0.3))
ROWS = st.lists(st.tuples(PLACES, PLACES, RADII).map(list), min_size=1, max_size=4)


@given(rows=ROWS, shape=st.sampled_from(SHAPES))
@settings(max_examples=600, deadline=None, derandomize=True)
def test_both_judges_agree_with_plain_fractions(rows: Rows, shape: str) -> None:
    exact = naive(rows, shape)
    assert accepted(rows, shape) is (exact is not None)
    if exact is not None:
        assert judged(rows, shape)["score_exact"] == f"{exact.numerator}/{exact.denominator}"
        assert judged(rows, shape)["score"] == EVALUATOR.evaluate(rows, len(rows), shape)["metrics"]["sum_radii"]


def up(value: float) -> float:
    return math.nextafter(value, math.inf)


def down(value: float) -> float:
    return math.nextafter(value, -math.inf)


# Exact contacts: two side by side, and two along the hypotenuse of a 3-4-5 triangle in sixteenths.
CONTACTS = (
    [[0.25, 0.5, 0.125], [0.5, 0.5, 0.125]],
    [[0.25, 0.25, 5 / 32], [0.4375, 0.5, 5 / 32]],
)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", CONTACTS)
def test_contact_is_allowed_and_one_ulp_more_is_not(rows: Rows, shape: str) -> None:
    first, (x, y, r) = rows
    assert accepted(rows, shape)
    assert not accepted([first, [x, y, up(r)]], shape)
    assert not accepted([first, [down(x), y, r]], shape)
    assert accepted([first, [x, y, down(r)]], shape)
    assert accepted([first, [up(x), y, r]], shape)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_circle_may_touch_a_wall_and_not_cross_it_by_one_ulp(axis: int) -> None:
    for at, outward, inward in ((0.125, down, up), (0.875, up, down)):
        row = [0.5, 0.5, 0.125]
        row[axis] = at
        assert accepted([row])
        row[axis] = outward(at)
        assert not accepted([row])
        row[axis] = inward(at)
        assert accepted([row])


def test_a_rectangle_may_lie_anywhere_with_width_and_height_two() -> None:
    rows = [[-3.0, 5.0, 0.25], [-2.0, 5.25, 0.0]]
    corner = [-3.25 + 1.25, 4.75 + 0.75, 0.0]
    assert accepted([*rows, corner], "rectangle")
    assert not accepted([*rows, [corner[0], up(corner[1]), 0.0]], "rectangle")
    assert not accepted([*rows, corner], "square")


def test_an_unknown_shape_is_refused_by_both_judges() -> None:
    assert "square or rectangle" in judged([[5.0, 5.0, 3.0]], "circle")["reason"]
    with pytest.raises(ValueError, match="square or rectangle"):
        EVALUATOR.evaluate([[5.0, 5.0, 3.0]], 1, "circle")


def test_the_feedback_names_the_worst_fault_first() -> None:
    feedback = EVALUATOR.evaluate([[0.5, 0.5, 0.1], [0.5, 0.65, 0.1], [0.1, 0.1, 0.3]], 3)["feedback"]
    assert feedback.index("circle 2 leaves the square by 0.2") < feedback.index("circles 0 and 1 overlap by 0.05")


def mended(rows: Rows, shape: str = "square") -> Fraction | None:
    """Return the sum after the least cut that the feedback tells, or None when it tells none."""
    result = EVALUATOR.evaluate(rows, len(rows), shape)
    assert not result["valid"]
    told = result["feedback"].partition("mends it, the sum is ")[2]
    return Fraction(told) if told else None


@pytest.mark.parametrize("amount", [1e-6, 1e-9, 1e-12, 1e-15])
def test_the_feedback_tells_what_an_almost_valid_packing_is_worth(amount: float) -> None:
    grown = [[x, y, r + amount] for x, y, r in BEST]
    worth = mended(grown)
    assert worth is not None
    assert 0 <= Fraction(judged(BEST)["score_exact"]) - worth < Fraction(1, 10**11)


@pytest.mark.parametrize(
    ("rows", "shape", "worth"),
    [
        ([[0.5, 0.5, 0.0], [0.5, 0.75, 0.25 + 2**-20]], "square", 0.25),
        ([[0.125, 0.5, 0.125 + 2**-20], [0.75, 0.5, 0.25]], "square", 0.375 - 2**-20),
        ([[5.0, 5.0, 0.5 + 2**-20]], "rectangle", 0.5),
    ],
    ids=["a point in a circle", "through a wall", "all round a rectangle"],
)
def test_the_least_cut_of_the_radii_is_found(rows: Rows, shape: str, worth: float) -> None:
    told = mended(rows, shape)
    assert told is not None
    assert 0 <= Fraction(worth) - told < Fraction(1, 10**11)


def test_a_far_from_valid_packing_is_not_said_to_be_worth_anything() -> None:
    assert mended([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]) is None
    assert mended([[0.5, 0.5, -0.1], [0.5, 0.5, 0.1]]) is None


def test_the_feedback_tells_overlaps_smaller_than_floats_resolve() -> None:
    result = EVALUATOR.evaluate([[0.25, 0.5, 0.125], [0.5, 0.5, up(0.125)]], 2)
    assert "circles 0 and 1 overlap by 2.78e-17" in result["feedback"]


# --- blocks ---


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
    seed = load("seed")
    rows = seed.main(8, shape, 2, 5)
    assert accepted(rows, shape)
    assert judged(rows, shape)["score"] > 0.5
    assert seed.main(8, shape, 2, 5) == rows


def test_the_seed_program_never_returns_less_than_it_was_given(
    blocks: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "blocks", blocks)
    seed = load("seed")
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


# --- pictures ---

SVG = "{http://www.w3.org/2000/svg}"


def pixels(png: bytes) -> NDArray[np.uint8]:
    """Read a PNG of 8-bit colours without filters, checking signature and checksums on the way."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, content = 8, {}
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack(">I", png[at + 8 + length : at + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        content[kind] = body
        at += 12 + length
    width, height, depth, colours = struct.unpack(">IIBB", content[b"IHDR"][:10])
    assert (depth, colours, list(content)) == (8, 2, [b"IHDR", b"IDAT", b"IEND"])
    raw = np.frombuffer(zlib.decompress(content[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not raw[:, 0].any()
    return raw[:, 1:].reshape(height, width, 3)


@pytest.mark.parametrize("anchor", anchors(), ids=lambda anchor: anchor["about"])
def test_an_svg_parses_and_says_number_shape_and_sum(anchor: Case) -> None:
    root = ElementTree.fromstring(PICTURE.picture(anchor["output"], ".svg", **anchor["options"]))
    assert root.tag == f"{SVG}svg"
    assert len(list(root.iter(f"{SVG}circle"))) >= anchor["options"]["n"]
    texts = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    assert f"{anchor['options']['n']} circle" in texts
    assert anchor["options"]["shape"] in texts
    assert f"sum of radii {math.floor(anchor['score'] * 1e9) / 1e9:.9f}" in texts


@pytest.mark.parametrize("shape", SHAPES)
def test_a_png_has_its_signature_and_the_size_of_the_svg(shape: str) -> None:
    anchor = next(anchor for anchor in anchors() if anchor["options"]["shape"] == shape)
    root = ElementTree.fromstring(PICTURE.picture(anchor["output"], ".svg", **anchor["options"]))
    image = pixels(PICTURE.picture(anchor["output"], ".png", **anchor["options"]))
    assert image.shape == (int(root.attrib["height"]), int(root.attrib["width"]), 3)


def test_a_png_shows_circles_where_they_lie_with_smooth_edges() -> None:
    image = pixels(PICTURE.picture([[0.25, 0.75, 0.2], [0.7, 0.3, 0.1]], ".png", n=2, shape="square"))
    # The frame begins 40 pixels in and is 800 wide; y points down.
    upper, lower, floor = (tuple(image[y, x].tolist()) for y, x in ((280, 240), (620, 600), (780, 100)))
    assert floor == (255, 255, 255)
    assert len({upper, lower, floor}) == 3
    along_the_edge = image[200, 60:260].reshape(-1, 3)
    assert len({tuple(pixel) for pixel in along_the_edge.tolist()}) > 3


def test_every_character_of_a_caption_has_a_glyph() -> None:
    drawn = set()
    for anchor in anchors():
        root = ElementTree.fromstring(PICTURE.picture(anchor["output"], ".svg", **anchor["options"]))
        drawn |= {character for text in root.iter(f"{SVG}text") for character in text.text or ""}
    assert drawn <= set(PICTURE.GLYPHS)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_an_invalid_packing_is_drawn_too(suffix: str) -> None:
    rows = [[1.4, 0.5, 0.3], [1.5, 0.5, 0.3], [0.5, 0.5, -0.1]]
    assert PICTURE.picture(rows, suffix, n=3, shape="square")


def test_another_suffix_is_refused_with_the_two_that_are_drawn() -> None:
    with pytest.raises(ValueError, match=r"\.svg or \.png, not in '\.jpg'"):
        PICTURE.picture(BEST, ".jpg", n=26, shape="square")


@pytest.mark.parametrize("output", [None, [], [[0.5, 0.5]], [["0", 0, 0]], [[math.nan, 0.5, 0.1]], {"rows": []}])
def test_what_is_no_packing_cannot_be_drawn(output: Any) -> None:
    with pytest.raises(ValueError, match=r"packing is a list|row 0"):
        PICTURE.picture(output, ".svg", n=1, shape="square")
