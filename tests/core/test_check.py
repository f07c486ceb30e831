"""`speciate check`: each promise of a problem is seen to be broken when it is."""

import json
from pathlib import Path

import pytest
from speciate.core.check import CheckResult, check
from speciate.core.garbage import KINDS, mutants, near, numbers_in, of_another_kind, replaced, with_bad_leaves
from speciate.core.loading import Plugins
from speciate.core.problem import load_problem
from speciate.core.scaffold import EVALUATOR, PROBLEM, SEED, new_problem

ORACLE = """
import json, math
def judge(text, n):
    try:
        points = json.loads(text)
        if len(points) != n or not all(type(v) in (int, float) and 0 <= v <= 1 for p in points for v in p):
            raise ValueError("no n points in the square")
        score = min(math.dist(p, q) for i, p in enumerate(points) for q in points[:i])
    except (TypeError, ValueError, RecursionError) as error:
        return {"valid": False, "reason": str(error)}
    return {"valid": True, "score": score}
"""
CORNERS = [[x / 2, y / 2] for x in range(3) for y in range(3)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return new_problem("points", tmp_path)


def checked(folder: Path) -> dict[str, CheckResult]:
    results = check(load_problem(folder, {}, {}), Plugins.installed())
    return {result.name: result for result in results}


def write(folder: Path, **files: str) -> None:
    for stem, text in files.items():
        (folder / f"{stem}.py").write_text(text, encoding="utf-8")


def failed(folder: Path) -> dict[str, str]:
    return {name: result.detail for name, result in checked(folder).items() if not result.passed}


def test_a_scaffold_keeps_every_promise(folder: Path) -> None:
    results = checked(folder)
    assert all(result.passed for result in results.values()), results
    assert "makes it 0." in results["a change reaches the evaluator"].detail


def test_a_scaffold_is_short() -> None:
    lines = [line.strip() for text in (EVALUATOR, SEED) for line in text.splitlines()]
    code = [line for line in lines if line and not line.startswith(("#", '"""'))]
    assert len(code) <= 30
    assert "{name}" in PROBLEM


def test_a_problem_with_all_its_parts_keeps_every_promise(folder: Path) -> None:
    toml = (folder / "problem.toml").read_text()
    (folder / "problem.toml").write_text(toml.replace("preload", 'improve = "improve"\npreload'))
    write(
        folder,
        seed=SEED + "\n\ndef improve(previous, seed):\n    return previous\n",
        oracle=ORACLE,
        blocks="def centre() -> list[float]:\n    return [0.5, 0.5]\n",
        picture="def picture(output, suffix):\n    return f'<svg>{len(output)}</svg>'\n",
    )
    (folder / "anchors.json").write_text(
        json.dumps(
            [
                {"options": {"n": 9}, "output": CORNERS, "score": 0.5},
                {"options": {"n": 4}, "output": [[0, 0], [0, 1], [1, 0], [1, 1]], "score": 1.0},
            ]
        )
    )
    results = checked(folder)
    assert [name for name, result in results.items() if not result.passed] == [], results
    assert {"improver takes the seed's output", "oracle agrees", "anchors hold", "picture is drawn"} <= results.keys()
    assert results["anchors hold"].detail == "2, 1 of them for the options in force"


@pytest.mark.parametrize(
    ("seed", "says"),
    [
        ("def main():\n    raise RuntimeError('ill')\n", "ill"),
        ("def main(:\n", "SyntaxError"),
        ("def other():\n    return 1\n", "main"),
        ("import no_module_of_this_name\ndef main():\n    return 1\n", "no_module_of_this_name"),
        ("import os\ndef main():\n    os._exit(1)\n", "exit code 1"),
        ("def main():\n    return object()\n", "invalid"),
    ],
)
def test_a_seed_that_fails_is_all_there_is_to_say(folder: Path, seed: str, says: str) -> None:
    write(folder, seed=seed)
    results = checked(folder)
    assert list(results) == ["seed runs"]
    assert not results["seed runs"].passed
    assert says in results["seed runs"].detail


@pytest.mark.parametrize(
    ("limits", "seed", "says"),
    [
        ("wall_s = 0.5\n", "import time\ndef main():\n    time.sleep(3)\n", "0.5 s of wall time"),
        ("wall_s = 9\ncpu_s = 0.3\n", "def main():\n    while True:\n        pass\n", "0.3 s of CPU time"),
    ],
)
def test_a_seed_that_needs_longer_is_told_which_limit_and_what_it_took(
    folder: Path, limits: str, seed: str, says: str
) -> None:
    (folder / "problem.toml").write_text(PROBLEM.format(name="points").replace("wall_s = 10\ncpu_s = 5\n", limits))
    write(folder, seed=seed)
    detail = failed(folder)["seed runs"]
    assert says in detail
    assert "it took" in detail
    assert "wall_s and cpu_s in [limits]" in detail


def test_limits_without_room_are_told(folder: Path) -> None:
    (folder / "problem.toml").write_text(PROBLEM.format(name="points").replace("wall_s = 10", "wall_s = 1"))
    write(folder, seed=SEED.replace("    rng = ", "    import time\n    time.sleep(0.6)\n    rng = "))
    detail = failed(folder)["limits are enough"]
    assert "wall_s = 1 in [limits]" in detail
    assert "at least" in detail


@pytest.mark.parametrize(
    ("evaluator", "says"),
    [
        ("def evaluate(output:\n", "cannot be loaded"),
        ("def evaluate(output):\n    raise ValueError('cannot')\n", "cannot"),
        ("def evaluate(output):\n    return {'metrics': {'distanse': 1.0}}\n", "declared objective"),
        ("def evaluate(output):\n    return {'metrics': {'distance': float('inf')}}\n", "not finite"),
        ("def evaluate(output):\n    print('look here')\n    return 3\n", "look here"),
    ],
)
def test_an_evaluator_that_does_not_score_the_seed_is_told(folder: Path, evaluator: str, says: str) -> None:
    write(folder, evaluator=evaluator)
    results = checked(folder)
    assert list(results) == ["seed runs", "seed scores"]
    assert says in results["seed scores"].detail


def test_a_seed_that_a_clock_decides_is_found(folder: Path) -> None:
    write(folder, seed=SEED.replace("default_rng(seed)", "default_rng()"))
    assert "argument `seed`" in failed(folder)["seed repeats"]


def test_an_evaluator_that_does_not_look_is_found(folder: Path) -> None:
    write(folder, evaluator="def evaluate(output, n):\n    return {'metrics': {'distance': 1.0}}\n")
    found = failed(folder)
    assert "planted" in found["a change reaches the evaluator"]
    assert "accepts the output" in found["evaluator refuses garbage"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("isinstance(output, list) and ", "", "evaluator raised TypeError"),
        ("0 <= value <= 1", "not (value < 0 or value > 1)", "NaN"),
    ],
)
def test_an_evaluator_that_takes_garbage_is_found(folder: Path, old: str, new: str, says: str) -> None:
    assert old in EVALUATOR
    write(folder, evaluator=EVALUATOR.replace(old, new).replace("len(output) == n", "len(output) >= n"))
    assert says in failed(folder)["evaluator refuses garbage"]


def test_a_raise_on_a_single_odd_leaf_is_told_and_forgiven(folder: Path) -> None:
    write(folder, evaluator=EVALUATOR.replace("type(value) in (int, float) and ", ""))
    result = checked(folder)["evaluator refuses garbage"]
    assert result.passed
    assert "it raised" in result.detail


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("0 <= v <= 1", "0 <= v <= 0.5", "rejects the seed's output"),
        ('return {"valid": False, "reason": str(error)}', 'return {"valid": True, "score": 0.0}', "accepts the output"),
        ('"score": score}', '"score": score * 1.01}', "the oracle 0."),
        ("raise ValueError", "print", "gave no verdict|accepts the output"),
    ],
)
def test_an_oracle_that_disagrees_is_found(folder: Path, old: str, new: str, says: str) -> None:
    assert old in ORACLE
    write(folder, oracle=ORACLE.replace(old, new))
    detail = failed(folder)["oracle agrees"]
    assert any(part in detail for part in says.split("|")), detail


def test_an_evaluator_more_content_than_the_oracle_is_found_on_an_output_near_an_anchor(folder: Path) -> None:
    write(folder, oracle=ORACLE, evaluator=EVALUATOR.replace("0 <= value <= 1", "0 <= value <= 1 + 1e-7"))
    (folder / "anchors.json").write_text(json.dumps([{"output": CORNERS}]))
    assert "no n points in the square" in failed(folder)["oracle agrees"]


@pytest.mark.parametrize(
    ("anchors", "says"),
    [
        ([{"output": [[2, 2]] * 9}], "anchor 0"),
        ([{"output": CORNERS}, {"output": CORNERS, "score": 0.6}], "anchors.json says 0.6"),
        ([{"options": {"n": 4}, "output": CORNERS}], "rejects anchor 0"),
        ([CORNERS], "must be a list of"),
    ],
)
def test_anchors_that_do_not_hold_are_found(folder: Path, anchors: list[object], says: str) -> None:
    (folder / "anchors.json").write_text(json.dumps(anchors))
    assert says in failed(folder)["anchors hold"]


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        ("def one():\n    return 1\n", "one"),
        ("def one(x) -> int:\n    return 1\n", "one"),
    ],
)
def test_building_blocks_without_types_are_found(folder: Path, blocks: str, says: str) -> None:
    write(folder, blocks=blocks)
    assert says in failed(folder)["building blocks say their types"]


@pytest.mark.parametrize("blocks", ["def one(:\n", "import no_module_of_this_name\n", "x = 1 / 0\n"])
def test_building_blocks_that_cannot_be_imported_are_found(folder: Path, blocks: str) -> None:
    write(folder, blocks=blocks)
    assert list(checked(folder)) == ["the sandbox opens"]
    assert failed(folder)["the sandbox opens"]


def test_a_picture_that_fails_is_found(folder: Path) -> None:
    write(folder, picture="def picture(output, suffix):\n    raise ValueError('no ink')\n")
    assert "no ink" in failed(folder)["picture is drawn"]


def test_an_improver_that_fails_is_found(folder: Path) -> None:
    toml = (folder / "problem.toml").read_text()
    (folder / "problem.toml").write_text(toml.replace("preload", 'improve = "improve"\npreload'))
    write(folder, seed=SEED + "\n\ndef improve(previous):\n    return previous[1:]\n")
    assert "improve" in failed(folder)["improver takes the seed's output"]


def test_a_module_to_preload_that_is_not_there_is_found(folder: Path) -> None:
    toml = (folder / "problem.toml").read_text()
    (folder / "problem.toml").write_text(toml.replace('"numpy"', '"no_module_of_this_name"'))
    results = checked(folder)
    assert not all(result.passed for result in results.values())
    assert "no_module_of_this_name" in str(results)


# What it is made of


@pytest.mark.parametrize(
    ("output", "could_be_right"),
    [
        ([1.0], {"[]", "[[]]", "[null]", "[NaN]", '[["a", "b"]]', "1e308"}),
        (1.5, {"0", "true", "1e308"}),
        ("x", {'"text"'}),
        ({}, {"{}"}),
    ],
)
def test_outputs_of_another_kind_are_never_of_the_same(output: object, could_be_right: set[str]) -> None:
    assert not set(of_another_kind(output)) & could_be_right
    assert {"null", "NaN"} <= set(of_another_kind(output))
    assert set(of_another_kind(output)) <= set(KINDS)


def test_numbers_are_found_and_replaced_wherever_they_are() -> None:
    output = {"a": [1, [2.5, "x", True]], "b": None, "c": {"d": 3}}
    assert numbers_in(output) == [("a", 0), ("a", 1, 0), ("c", "d")]
    assert replaced(output, ("a", 1, 0), 9)["a"] == [1, [9, "x", True]]
    assert output["a"] == [1, [2.5, "x", True]]
    assert replaced(4, (), 5) == 5


def test_outputs_near_one_differ_from_it_and_are_many() -> None:
    texts = list(near([[0.5, 0.0], [1, 0.25]]))
    assert len(set(texts)) > 20
    assert json.dumps([[0.5, 0.0], [1, 0.25]]) not in texts
    assert list(near("no number")) == []


def test_bad_leaves_say_which_can_never_be_right() -> None:
    never = {text for text, wrong, _ in with_bad_leaves([[0.5, 1.0]]) if wrong}
    assert "[[NaN, 1.0]]" in never
    assert "[[0.5, null]]" in never
    assert "[[true, 1.0]]" not in never


def test_mutants_change_one_number_in_a_block() -> None:
    text = "a = 1\n# EVOLVE-BLOCK-START\nb = 2\nc = f(0.5, 3)\n# EVOLVE-BLOCK-END\nd = 4\n"
    assert sorted((line, old, new) for line, old, new, _ in mutants(text)) == [
        (3, "2", "3"),
        (4, "0.5", "1.25"),
        (4, "3", "4"),
    ]
    assert all(mutant.count("\n") == text.count("\n") for *_, mutant in mutants(text))
    assert mutants("def main(:\n") == []
