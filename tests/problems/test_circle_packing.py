"""Packing circles: two judges without tolerance."""

import json
import math
from fractions import Fraction

import pytest
from circle_cases import ALL_CASES, BEST, EVALUATOR, ORACLE, SHAPES, Case, Rows, accepted, anchors, judged, naive
from hypothesis import given, settings
from hypothesis import strategies as st


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
