"""Heilbronn's problem: two judges that count in integers, outputs of known worth, and pictures of them."""

import json
import math
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problem_modules import load
from speciate.core.check import check
from speciate.core.loading import Plugins
from speciate.core.problem import load_problem

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "problems" / "heilbronn"
COPIED = Path(__file__).parent / "data" / "heilbronn_outputs.json"
HANDED = ROOT.parent / "shared" / "cases" / "geometry"
REGIONS = ("triangle", "square", "convex")

Case = dict[str, Any]
Rows = list[list[Any]]


ORACLE, EVALUATOR, PICTURE = load("heilbronn", "oracle"), load("heilbronn", "evaluator"), load("heilbronn", "picture")


def cases(path: Path) -> list[Case]:
    return [case for case in json.loads(path.read_text("utf-8")) if case["problem"] == "heilbronn"]


def handed(name: str) -> list[Any]:
    if (HANDED / name).is_file():
        found = cases(HANDED / name)
        return [pytest.param(case, id=f"handed-{case.get('name', case['region'] + str(case['n']))}") for case in found]
    reason = f"the handed cases do not lie beside the repository, at shared/cases/geometry/{name}"
    return [pytest.param({}, id="handed", marks=pytest.mark.skip(reason=reason))]


ALL_CASES = [pytest.param(case, id=case["name"]) for case in cases(COPIED)] + handed("outputs.json")


def anchors() -> list[Case]:
    found: list[Case] = json.loads((FOLDER / "anchors.json").read_text("utf-8"))
    return found


def judged(rows: Any, region: str = "triangle", n: int | None = None) -> Case:
    verdict: Case = ORACLE.judge(json.dumps(rows), len(rows) if n is None else n, region)
    return verdict


def accepted(rows: Rows, region: str = "triangle") -> bool:
    """Return whether the oracle accepts; the evaluator must say the same, and the same score."""
    verdict = judged(rows, region)
    result = EVALUATOR.evaluate(rows, len(rows), region)
    assert result["valid"] is verdict["valid"]
    if verdict["valid"]:
        assert result["metrics"]["smallest_area"] == verdict["score"]
    return verdict["valid"] is True


def turn(a: Any, b: Any, c: Any) -> Fraction:
    return Fraction((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def naive(rows: Rows, region: str) -> Fraction | None:
    """Return the exact share of the smallest triangle, None for invalid points: the definition, in fractions.

    The hull is what lies left of every pair that has no point to its right: those pairs are its sides.
    """
    points = [(Fraction(x), Fraction(y)) for x, y in rows]
    least = min(abs(turn(*three)) for three in combinations(points, 3))
    if least == 0:
        return None
    if region == "convex":
        sides = [(a, b) for a in points for b in points if a != b and all(turn(a, b, c) >= 0 for c in points)]
        return least / sum((a[0] * b[1] - a[1] * b[0] for a, b in sides), Fraction(0))
    if any(x < 0 or y < 0 for x, y in points):
        return None
    if any(x + y > 1 if region == "triangle" else x > 1 or y > 1 for x, y in points):
        return None
    return least if region == "triangle" else least / 2


# --- outputs of known worth ---


@pytest.mark.parametrize("case", ALL_CASES)
def test_the_oracle_judges_a_text_as_its_case_says(case: Case) -> None:
    verdict = ORACLE.judge(case["output"], case["n"], case["region"])
    assert verdict["valid"] is (case["verdict"] == "valid"), case["why"]
    assert (verdict["reason"] is None) is verdict["valid"]
    if verdict["valid"]:
        assert abs(verdict["score"] - case["score"]) <= math.ulp(case["score"])


@pytest.mark.parametrize("case", ALL_CASES)
def test_the_evaluator_judges_what_parses_as_its_case_says(case: Case) -> None:
    result = EVALUATOR.evaluate(json.loads(case["output"]), case["n"], case["region"])
    assert result["valid"] is (case["verdict"] == "valid"), case["why"]
    assert result["feedback"]
    if result["valid"]:
        score = ORACLE.judge(case["output"], case["n"], case["region"])["score"]
        assert result["metrics"]["smallest_area"] == score


@pytest.mark.parametrize("case", handed("anchors.json"))
def test_a_handed_configuration_has_its_score(case: Case) -> None:
    output = case["output"] if isinstance(case["output"], str) else json.dumps(case["output"])
    verdict = ORACLE.judge(output, case["n"], case["region"])
    assert verdict["valid"]
    assert verdict["score"] == pytest.approx(case["score"], abs=1e-15)


@pytest.mark.parametrize("anchor", anchors(), ids=lambda anchor: anchor["about"])
def test_an_anchor_is_valid_with_its_score(anchor: Case) -> None:
    assert judged(anchor["output"], **anchor["options"])["score"] == anchor["score"]
    assert accepted(anchor["output"], anchor["options"]["region"])


@pytest.mark.parametrize("region", REGIONS)
def test_there_are_anchors_for_every_region(region: str) -> None:
    assert any(anchor["options"]["region"] == region for anchor in anchors())


@pytest.mark.parametrize("anchor", anchors(), ids=lambda anchor: anchor["about"])
def test_no_anchor_beats_what_is_said_to_be_best_known(anchor: Case) -> None:
    best, source = load_problem(FOLDER, {}, anchor["options"]).best_known or (1.0, "the whole region")
    assert anchor["score"] < best + 1e-12, source


def test_the_record_for_eleven_points_in_a_triangle_is_reached_by_an_anchor() -> None:
    found = [a["score"] for a in anchors() if a["options"] == {"n": 11, "region": "triangle"}]
    assert max(found) > 0.03652988988


# --- what is exact ---


@pytest.mark.parametrize(
    ("rows", "region", "share"),
    [
        ([[0, 0], [1, 0], [0, 1]], "triangle", Fraction(1)),
        ([[0, 0], [1, 0], [0, 1], [1, 1]], "square", Fraction(1, 2)),
        ([[-8, -8], [8, -8], [-8, 8]], "convex", Fraction(1)),
        ([[0, 0], [3, 0], [3, 2], [0, 2], [1, 0.5]], "convex", Fraction(1, 24)),
    ],
)
def test_the_share_of_the_region_is_exact(rows: Rows, region: str, share: Fraction) -> None:
    assert accepted(rows, region)
    assert Fraction(judged(rows, region)["score_exact"]) == share == naive(rows, region)


def test_the_score_is_rounded_down() -> None:
    rows = [[0, 0], [3, 0], [3, 2], [0, 2], [1, 0.5]]
    verdict = judged(rows, "convex")
    assert Fraction(verdict["score"]) <= Fraction(1, 24) < Fraction(math.nextafter(verdict["score"], math.inf))


def test_points_on_one_line_are_refused_by_name() -> None:
    rows = [[0, 0], [0.25, 0.5], [0.25, 0.25], [0.5, 0.5]]
    assert judged(rows, "square")["reason"] == "points 0, 2 and 3 lie on one line"
    assert "points 0, 2 and 3 lie on one line" in EVALUATOR.evaluate(rows, 4, "square")["feedback"]


def test_one_ulp_beside_a_line_is_enough() -> None:
    rows = [[0, 0], [0.25, 0.25], [0.5, 0.5], [0.0, 1.0]]
    assert not accepted(rows, "square")
    rows[1][0] = math.nextafter(0.25, 1.0)
    assert accepted(rows, "square")
    assert 0 < judged(rows, "square")["score"] < 1e-16


@pytest.mark.parametrize("region", REGIONS)
def test_duplicate_points_are_refused(region: str) -> None:
    assert not accepted([[0, 0], [0.5, 0.25], [0.25, 0.5], [0.5, 0.25]], region)


@pytest.mark.parametrize("region", REGIONS)
def test_points_that_are_all_alike_or_on_one_line_have_no_share(region: str) -> None:
    assert not accepted([[0.25, 0.25]] * 4, region)
    assert not accepted([[k / 8, k / 8] for k in range(4)], region)


INNER = [[0.125, 0.25], [0.5, 0.125]]


@pytest.mark.parametrize(
    ("point", "outside", "region"),
    [
        ([0.0, 0.5], [-5e-324, 0.5], "triangle"),
        ([0.5, 0.0], [0.5, -5e-324], "triangle"),
        ([0.25, 0.75], [0.25, math.nextafter(0.75, 1)], "triangle"),
        ([0.0, 1.0], [5e-324, 1.0], "triangle"),
        ([0.0, 0.5], [-5e-324, 0.5], "square"),
        ([0.25, 1.0], [0.25, math.nextafter(1, 2)], "square"),
        ([1.0, 0.75], [math.nextafter(1, 2), 0.75], "square"),
    ],
)
def test_a_point_may_lie_on_the_border_and_not_beyond_it_by_one_ulp(point: Rows, outside: Rows, region: str) -> None:
    assert accepted([*INNER, point], region)
    assert not accepted([*INNER, outside], region)
    assert "point 2 leaves the" in judged([*INNER, outside], region)["reason"]


def test_a_sum_that_floats_round_to_one_is_seen_to_exceed_it() -> None:
    x, y = 0.1, math.nextafter(0.9, 1)
    rows = [[0, 0], [0.5, 0.25], [x, 0.9 + 2**-54]]
    assert 0.1 + 0.9 == 1.0
    assert Fraction(0.1) + Fraction(0.9) > 1
    assert not accepted([[0, 0], [0.5, 0.25], [0.1, 0.9]])
    assert not accepted([[0, 0], [0.5, 0.25], [x, y]])
    rows[2][1] = math.nextafter(0.9, 0)
    assert accepted(rows)


def test_a_convex_region_may_lie_anywhere_and_a_shift_or_stretch_changes_no_share() -> None:
    rows = [[0, 0], [3, 0], [3, 2], [0, 2], [1, 0.5]]
    moved = [[-8 + 2 * x, 8 - y / 4] for x, y in rows]
    assert accepted(moved, "convex")
    assert judged(moved, "convex")["score_exact"] == judged(rows, "convex")["score_exact"]
    assert not accepted(moved, "square")


def test_the_order_of_the_points_does_not_matter() -> None:
    for anchor in anchors():
        region = anchor["options"]["region"]
        backwards = judged(anchor["output"][::-1], region)
        assert backwards["score_exact"] == judged(anchor["output"], region)["score_exact"]


def test_subnormal_and_huge_ratios_are_compared_exactly() -> None:
    tiny = [[0, 0], [5e-324, 0], [0, 5e-324]]
    assert accepted(tiny, "convex")
    assert judged(tiny, "convex")["score"] == 1.0
    assert accepted(tiny, "triangle")
    assert judged(tiny, "triangle")["score"] == 0.0
    assert Fraction(judged(tiny, "triangle")["score_exact"]) == Fraction(5e-324) ** 2
    mixed = [[5e-324, 1e-300], [1 / 3, 1e-17], [0.1, 2 / 3], [0.2, 1e-9]]
    assert Fraction(judged(mixed)["score_exact"]) == naive(mixed, "triangle")


EIGHTHS = st.integers(-1, 9).map(lambda k: k / 8)
PLACES = st.one_of(
    EIGHTHS,
    st.builds(math.nextafter, EIGHTHS, st.sampled_from((-9.0, 9.0))),
    st.integers(0, 1),
    st.floats(0.0, 0.5),
    st.floats(-0.1, 1.1),
)


@given(rows=st.lists(st.tuples(PLACES, PLACES).map(list), min_size=3, max_size=6), region=st.sampled_from(REGIONS))
@settings(max_examples=600, deadline=None, derandomize=True)
def test_both_judges_agree_with_plain_fractions(rows: Rows, region: str) -> None:
    exact = naive(rows, region)
    assert accepted(rows, region) is (exact is not None)
    if exact is not None:
        assert Fraction(judged(rows, region)["score_exact"]) == exact


# --- what is no output ---

GOOD = "[[0, 0], [1, 0], [0, 1]]"


@pytest.mark.parametrize(
    "text",
    [
        "[[0, 0], [1, 0]]",
        "[[0, 0], [1, 0], [0, 1], [0.3, 0.3]]",
        "[[0, 0], [1, 0], [0, 1, 0]]",
        "[[0, 0], [1, 0], [0]]",
        "[[0, 0], [1, 0], [0, true]]",
        '[[0, 0], [1, 0], [0, "1"]]',
        "[[0, 0], [1, 0], [0, null]]",
        "[[0, 0], [1, 0], [0, [1]]]",
        "[[0, 0], [1, 0], [0, NaN]]",
        "[[0, 0], [1, 0], [0, Infinity]]",
        "[[0, 0], [1, 0], [0, -Infinity]]",
        "[[0, 0], [1, 0], [0, 1e400]]",
        f"[[0, 0], [1, 0], [0, {10**400}]]",
        f"[[0, 0], [1, 0], [0, {'1' * 5000}]]",
        "[[0, 0], [1, 0], [0, 8.5]]",
        '{"points": [[0, 0], [1, 0], [0, 1]]}',
        '[[0, 0], [1, 0], {"0": 0, "1": 1}]',
        f"{GOOD} {GOOD}",
        "[" * 100_000,
        "",
        "null",
        "3",
    ],
    ids=lambda text: text[:40] or "empty",
)
@pytest.mark.parametrize("region", REGIONS)
def test_a_text_that_is_no_list_of_points_is_refused_with_a_reason(text: str, region: str) -> None:
    assert ORACLE.judge(GOOD, 3, region)["valid"]
    verdict = ORACLE.judge(text, 3, region)
    assert verdict["valid"] is False
    assert verdict["score"] is None
    assert verdict["reason"]


@pytest.mark.parametrize(
    "output",
    [
        None,
        3,
        {},
        [[0, 0], [1, 0]],
        [[0, 0], [1, 0], [0, 1, 0]],
        [[0, 0], [1, 0], [0, True]],
        [[0, 0], [1, 0], [0, math.nan]],
        [[0, 0], [1, 0], [0, math.inf]],
        [[0, 0], [1, 0], [0, 10**400]],
        [[0, 0], [1, 0], [0, "1"]],
    ],
    ids=str,
)
def test_the_evaluator_says_what_is_wrong_with_what_is_no_list_of_points(output: Any) -> None:
    result = EVALUATOR.evaluate(output, 3, "convex")
    assert result["valid"] is False
    assert result["metrics"] == {}
    assert "row" in result["feedback"]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_points_have_no_triangle(n: int) -> None:
    assert not accepted([[0.25 * k, 0.1] for k in range(n)], "convex")


def test_an_unknown_region_is_refused_by_both_judges() -> None:
    assert "triangle, convex or square" in judged([[0, 0], [1, 0], [0, 1]], "circle")["reason"]
    with pytest.raises(ValueError, match="triangle, convex or square"):
        EVALUATOR.evaluate([[0, 0], [1, 0], [0, 1]], 3, "circle")


# --- feedback ---


def test_the_feedback_names_the_worst_fault_first() -> None:
    feedback = EVALUATOR.evaluate([[0.25, 0.25], [-0.01, 0.5], [0.5, -0.2]], 3, "square")["feedback"]
    assert feedback.index("point 2 leaves the square by 0.2") < feedback.index("point 1 leaves the square by 0.01")


def test_the_feedback_names_the_smallest_triangle() -> None:
    rows = [[0, 0], [1, 0], [0, 1], [0.25, 0.125]]
    assert "points 0, 1 and 3" in EVALUATOR.evaluate(rows, 4, "triangle")["feedback"]


@pytest.mark.parametrize("amount", [1e-6, 1e-10, 1e-15])
def test_the_feedback_tells_what_points_that_are_almost_inside_are_worth(amount: float) -> None:
    best = next(a for a in anchors() if a["options"] == {"n": 11, "region": "triangle"})
    pushed = [[x if x > 0 else -amount, y if y > 0 else -amount] for x, y in best["output"]]
    feedback = EVALUATOR.evaluate(pushed, 11, "triangle")["feedback"]
    told = Fraction(feedback.partition("pushed inside, the smallest is ")[2])
    assert told == pytest.approx(best["score"], abs=1e-12)


def test_points_far_outside_are_not_said_to_be_worth_anything() -> None:
    assert "pushed" not in EVALUATOR.evaluate([[0, 0], [1.1, 0], [0, 1]], 3, "triangle")["feedback"]


# --- the problem as a whole ---


@pytest.mark.parametrize(
    "options",
    [{}, {"n": 13, "region": "convex"}, {"n": 6, "region": "square"}],
    ids=["as it comes", "convex", "square"],
)
def test_the_problem_keeps_every_promise_of_a_problem(options: Case) -> None:
    results = check(load_problem(FOLDER, {}, options), Plugins.installed())
    assert {result.name: result.detail for result in results if not result.passed} == {}


# --- pictures ---

SVG = "{http://www.w3.org/2000/svg}"


def drawn(rows: Rows, region: str) -> ElementTree.Element:
    return ElementTree.fromstring(PICTURE.picture(rows, ".svg", n=len(rows), region=region))


@pytest.mark.parametrize("anchor", anchors(), ids=lambda anchor: anchor["about"])
def test_a_picture_shows_all_points_and_says_number_and_area(anchor: Case) -> None:
    root = drawn(anchor["output"], anchor["options"]["region"])
    dots = list(root.iter(f"{SVG}circle"))
    assert len(dots) == anchor["options"]["n"]
    assert all(0 < float(dot.attrib["cx"]) < float(root.attrib["width"]) for dot in dots)
    assert all(0 < float(dot.attrib["cy"]) < float(root.attrib["height"]) for dot in dots)
    texts = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    assert f"{anchor['options']['n']} points in" in texts
    assert f"smallest area {math.floor(anchor['score'] * 1e9) / 1e9:.9f}" in texts


def test_a_picture_draws_the_region_and_each_smallest_triangle() -> None:
    rows = [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert len(list(drawn(rows, "square").iter(f"{SVG}polygon"))) == 1 + 4
    assert len(list(drawn([*rows, [0.5, 0.125]], "convex").iter(f"{SVG}polygon"))) == 1 + 1


def test_points_outside_and_points_on_one_line_are_drawn_too() -> None:
    assert len(list(drawn([[0, 0], [2, 0], [0, 1.5]], "triangle").iter(f"{SVG}circle"))) == 3
    assert len(list(drawn([[0, 0], [1, 1], [2, 2]], "convex").iter(f"{SVG}circle"))) == 3
    assert len(list(drawn([[1, 1], [1, 1], [1, 1]], "convex").iter(f"{SVG}circle"))) == 3


def test_another_suffix_is_refused_with_the_one_that_is_drawn() -> None:
    with pytest.raises(ValueError, match=r"\.svg, not in '\.png'"):
        PICTURE.picture([[0, 0], [1, 0], [0, 1]], ".png", n=3, region="triangle")


@pytest.mark.parametrize("output", [None, [], [[0, 0], [1, 0]], [[0, 0, 0]] * 3, [["0", 0]] * 3, [[math.nan, 0]] * 3])
def test_what_are_no_points_cannot_be_drawn(output: Any) -> None:
    with pytest.raises(ValueError, match=r"points are a list|row 0"):
        PICTURE.picture(output, ".svg", n=3, region="triangle")
