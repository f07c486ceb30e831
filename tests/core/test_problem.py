"""A problem's folder: what makes one, what is said of a broken one, what belongs to it and what names it."""

import json
import os
import shutil
from pathlib import Path

import pytest
from speciate.core import database
from speciate.core.errors import ProblemError, SpeciateError, UsageError
from speciate.core.evaluation import EvaluationName
from speciate.core.problem import Problem, job, load_problem, workspace
from speciate.core.problem_file import RUN_MARK, files_of
from speciate.core.slots import EvaluationTask

TOML = """
[problem]
name = "sums"
improve = "better"
effort = 7
preload = ["math"]

[objective]
name = "total"

[options]
n = 3
scale = 1.5
shape = "square"
strict = true

[[best_known]]
when = { n = 4 }
value = 4.5
source = "a book"

[[best_known]]
when = { n = 3, shape = "square" }
value = 3.5
source = "another book"
"""
SEED = "def main(n):\n    # EVOLVE-BLOCK-START\n    return [1.0] * n\n    # EVOLVE-BLOCK-END\n"
EVALUATOR = "def evaluate(output):\n    return {'metrics': {'total': sum(output)}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sums, größer & mehr"
    made.mkdir()
    for name, text in {"problem.toml": TOML, "seed.py": SEED, "evaluator.py": EVALUATOR}.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


def loaded(folder: Path, **options: object) -> Problem:
    return load_problem(folder, {}, options)


# Loading


def test_a_folder_is_loaded_whatever_its_path_is_called(folder: Path) -> None:
    problem = loaded(folder)
    assert (problem.name, problem.entry, problem.improve, problem.effort) == ("sums", "main", "better", 7)
    assert problem.seeds[0].text("seed.py") == SEED
    assert problem.objective.name == "total"
    assert problem.oracle is None
    assert not problem.draws


def test_a_registered_name_comes_before_a_folder(folder: Path) -> None:
    assert load_problem("any name", {"any name": folder}, {}).folder == folder


def test_a_mark_of_byte_order_and_other_line_ends_do_no_harm(folder: Path) -> None:
    for name in ("problem.toml", "seed.py"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode("utf-8"))
    assert loaded(folder).seeds[0].text("seed.py") == SEED


@pytest.mark.parametrize("where", ["circle_packin", "x" * 5000, "~nobody-of-this-name/problem", "a\0b"])
def test_what_is_no_problem_is_told(where: str, folder: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_problem(where, {"circle_packing": folder}, {})
    assert len(str(caught.value)) < 6000


def test_a_file_is_no_problem(folder: Path) -> None:
    with pytest.raises(ProblemError, match="a problem is a folder"):
        load_problem(folder / "seed.py", {}, {})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('name = "sums"', 'name = ""', "cannot name a problem"),
        ('name = "sums"', 'name = "../up"', "cannot name a problem"),
        ('name = "sums"', 'name = "a\\nb"', "cannot name a problem"),
        ("effort = 7", 'program = "../seed.py"', "own folder"),
        ("effort = 7", 'program = "/etc/hostname"', "own folder"),
        ("effort = 7", 'program = "sead.py"', "sead.py"),
        ("effort = 7", 'entry = "main()"', "entry"),
        ("effort = 7", "effort = -1", "effort"),
        ("effort = 7", "efort = 7", "did you mean 'effort'"),
        ('preload = ["math"]', 'preload = ["import math"]', "preload"),
        ('preload = ["math"]', 'preload = "math"', "preload"),
        ("[objective]", "[objectiv]", "did you mean 'objective'"),
        ('name = "total"', 'name = "total"\ndirection = "minimize"', "minimise"),
        ("n = 3\nscale", "seed = 3\nscale", "cannot be called 'seed'"),
        ("n = 3\nscale", "n = 1979-05-27\nscale", "expected a number"),
        ("when = { n = 4 }", "when = { m = 4 }", "no option 'm'|option 'm'"),
        ("[options]", "[limits]\nwall_s = 0\n[options]", "wall_s"),
        ("[options]", "[limits]\nmemory_mb = true\n[options]", "memory_mb"),
        ("[options]", "[limits]\nwall = 3\n[options]", "wall_s"),
    ],
)
def test_each_slip_in_the_description_is_one_sentence(folder: Path, old: str, new: str, says: str) -> None:
    assert old in TOML
    (folder / "problem.toml").write_text(TOML.replace(old, new, 1))
    with pytest.raises(SpeciateError) as caught:
        loaded(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert any(part in message for part in says.split("|")), message


@pytest.mark.parametrize("name", ["problem.toml", "seed.py", "evaluator.py"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ProblemError, match=name):
        loaded(folder)


@pytest.mark.parametrize("name", ["problem.toml", "seed.py", "blocks.py"])
def test_a_file_that_is_no_text_is_named(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProblemError, match=f"{name} cannot be read as UTF-8"):
        loaded(folder)


def test_markers_that_do_not_pair_up_are_told_with_their_line(folder: Path) -> None:
    (folder / "seed.py").write_text(SEED.replace("EVOLVE-BLOCK-END", "the end"))
    with pytest.raises(ProblemError, match="line 2"):
        loaded(folder)


# Options


def test_options_are_overlaid_and_choose_the_best_known_value(folder: Path) -> None:
    assert loaded(folder).best_known == (3.5, "another book")
    other = loaded(folder, n=4, scale=2)
    assert other.options == {"n": 4, "scale": 2.0, "shape": "square", "strict": True}
    assert other.best_known == (4.5, "a book")
    assert loaded(folder, shape="round").best_known is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"m": 3}, "no option 'm'"),
        ({"shap": "round"}, "did you mean 'shape'"),
        ({"n": "3"}, "expected int"),
        ({"n": True}, "expected int"),
        ({"n": 3.0}, "expected int"),
        ({"strict": 1}, "expected bool"),
        ({"shape": 4}, "expected str"),
    ],
)
def test_an_option_of_another_name_or_type_is_refused(folder: Path, options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        loaded(folder, **options)


# What names an evaluation


def versions(folder: Path, **options: object) -> tuple[str, str]:
    problem = loaded(folder, **options)
    return problem.evaluator_version, problem.hash


@pytest.mark.parametrize("name", ["evaluator.py", "oracle.py", "helper.py", "blocks.py", "data/answers.csv"])
def test_whatever_decides_a_score_changes_the_version_of_the_evaluator(folder: Path, name: str) -> None:
    before = versions(folder)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("# another\n")
    after = versions(folder)
    assert after[0] != before[0]
    assert after[1] != before[1]


@pytest.mark.parametrize("name", ["seed.py", "anchors.json", "picture.py"])
def test_what_decides_no_score_changes_the_problem_alone(folder: Path, name: str) -> None:
    before = versions(folder)
    (folder / name).write_text("[]\n")
    after = versions(folder)
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_prose_changes_no_version_and_a_limit_does(folder: Path) -> None:
    before = versions(folder)
    (folder / "problem.toml").write_text(TOML.replace("effort = 7", 'effort = 7\nsummary = "Adds up."'))
    assert versions(folder)[0] == before[0]
    (folder / "problem.toml").write_text(TOML + "\n[limits]\nwall_s = 3\n")
    assert versions(folder)[0] != before[0]


def test_options_are_part_of_both_names(folder: Path) -> None:
    assert not set(versions(folder)) & set(versions(folder, n=4))
    assert versions(folder) == versions(folder, n=3)


# The copy


def test_a_copy_is_the_same_problem_and_stands_by_itself(folder: Path, tmp_path: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "answers.csv").write_text("1,2\n")
    problem = loaded(folder)
    copy = problem.copy_into(tmp_path / "run" / "problem")
    shutil.rmtree(folder)
    assert copy.folder == (tmp_path / "run" / "problem").resolve()
    assert copy.evaluator.is_file()
    assert loaded(copy.folder).hash == problem.hash


def test_what_is_hidden_compiled_or_a_run_is_no_part_of_a_problem(folder: Path, tmp_path: Path) -> None:
    before = loaded(folder)
    for name in (".git/config", "__pycache__/seed.pyc", "lone.pyc", "runs/sums-001/run.db", "runs/sums-001/best.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    assert loaded(folder).hash == before.hash
    copy = loaded(folder).copy_into(folder / "runs" / "sums-001" / "problem")
    assert [name for name, _ in files_of(copy.folder)] == ["evaluator.py", "problem.toml", "seed.py"]


def test_a_run_is_known_by_its_database() -> None:
    assert RUN_MARK == database.DATABASE


def test_links_are_followed_but_not_in_circles(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    (tmp_path / "big" / "data.csv").write_text("1\n")
    (folder / "data").symlink_to(tmp_path / "big")
    (folder / "myself").symlink_to(folder)
    (folder / "nowhere").symlink_to(tmp_path / "not there")
    problem = loaded(folder)
    copy = problem.copy_into(tmp_path / "copy")
    assert (copy.folder / "data" / "data.csv").read_text() == "1\n"
    assert loaded(copy.folder).hash == problem.hash


def test_a_copy_that_cannot_be_made_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ProblemError, match="cannot be copied"):
        loaded(folder).copy_into(tmp_path / "taken")


# Jobs


def task(problem: Problem, input: str | None) -> EvaluationTask:
    name = EvaluationName(problem.seeds[0].hash, None, 5, 11, 0, problem.evaluator_version)
    return EvaluationTask(name, problem.seeds[0], input)


def test_without_an_input_the_entry_is_called(folder: Path) -> None:
    made = job(loaded(folder), task(loaded(folder), None))
    assert made.entries == ("main",)
    assert made.arguments == {"n": 3, "scale": 1.5, "shape": "square", "strict": True, "effort": 5, "seed": 11}
    assert made.seed == 11


def test_with_an_input_the_improver_comes_first(folder: Path) -> None:
    made = job(loaded(folder), task(loaded(folder), "[1.0, NaN]"))
    assert made.entries == ("better", "main")
    assert made.arguments["previous"][0] == 1.0


def test_building_blocks_are_a_module_of_the_workspace(folder: Path) -> None:
    assert workspace(loaded(folder)).modules == {}
    (folder / "blocks.py").write_text("def one() -> int:\n    return 1\n")
    shared = workspace(loaded(folder))
    assert shared.modules == {"blocks": "def one() -> int:\n    return 1\n"}
    assert shared.preload == ("math",)


# Anchors and pictures


@pytest.mark.parametrize("text", ["{", "{}", "[3]", '[{"options": {}}]', "[" * 10_000])
def test_anchors_that_are_none_are_told(folder: Path, text: str) -> None:
    (folder / "anchors.json").write_text(text)
    with pytest.raises(ProblemError, match="anchors"):
        loaded(folder).anchors()


def test_a_picture_is_drawn_with_the_options_it_names(folder: Path) -> None:
    (folder / "picture.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Mark:\n    x: 'float'\n"
        "def picture(output, suffix, n):\n    print('noise')\n    return f'{Mark(output).x} {suffix} {n} ü'\n"
    )
    assert loaded(folder).draw("2.5", ".svg") == "2.5 .svg 3 ü".encode()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def picture(:", "cannot be loaded"),
        ("def draw(output, suffix):\n    return b''\n", "no function 'picture'"),
        ("def picture(output, suffix):\n    raise ValueError('only .svg')\n", "only .svg"),
        ("def picture(output, suffix):\n    return 3\n", "expected bytes"),
        ("import os\ndef picture(output, suffix):\n    os._exit(3)\n", "died"),
    ],
)
def test_a_picture_that_fails_is_one_sentence(folder: Path, text: str, says: str) -> None:
    (folder / "picture.py").write_text(text)
    with pytest.raises(ProblemError, match=says):
        loaded(folder).draw("[1]", ".svg")


def test_a_problem_without_pictures_says_so(folder: Path) -> None:
    with pytest.raises(ProblemError, match="draws no pictures"):
        loaded(folder).draw("[1]", ".svg")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(folder: Path) -> None:
    (folder / "evaluator.py").chmod(0)
    with pytest.raises(ProblemError, match=r"evaluator\.py cannot be read"):
        loaded(folder)


def test_the_problem_that_comes_with_speciate_has_anchors_for_its_options() -> None:
    folder = Path(__file__).resolve().parents[2] / "problems" / "circle_packing"
    problem = load_problem(folder, {}, {})
    options = {json.dumps(anchor["options"], sort_keys=True) for anchor in problem.anchors()}
    assert json.dumps(dict(problem.options), sort_keys=True) in options
