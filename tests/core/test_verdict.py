"""`speciate verdict` and `speciate evaluate`: outputs and programs of any kind, judged outside a run."""

from pathlib import Path

import pytest
from speciate.core.errors import ProblemError, SpeciateError
from speciate.core.evaluate import evaluate_once, read_program
from speciate.core.loading import Plugins
from speciate.core.problem import Problem, load_problem
from speciate.core.program import Program
from speciate.core.verdict import verdict

ORACLE = (
    "import json\ndef judge(text):\n    n = json.loads(text)\n    return {'valid': n < 3, 'score': n, 'reason': 'no'}\n"
)
EVALUATOR = "def evaluate(output):\n    return {'metrics': {'score': output}, 'feedback': 'shrunk, it is worth 2'}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "eine Größe"
    made.mkdir()
    (made / "problem.toml").write_text(
        '[problem]\nname = "size"\n[objective]\nname = "score"\n[limits]\noutput_kb = 1\n'
    )
    (made / "seed.py").write_text("def main():\n    return 1\n")
    (made / "evaluator.py").write_text(EVALUATOR)
    (made / "oracle.py").write_text(ORACLE)
    return made


@pytest.fixture
def problem(folder: Path) -> Problem:
    return load_problem(folder, {}, {})


def output(folder: Path, raw: bytes) -> Path:
    path = folder / "an output.json"
    path.write_bytes(raw)
    return path


def test_oracle_and_evaluator_may_disagree(problem: Problem, folder: Path) -> None:
    found = verdict(problem, output(folder, b"5"))
    assert (found["valid"], found["score"], found["reason"]) == (False, 5.0, "no")
    assert found["local"] == {"valid": True, "score": 5.0, "reason": None, "feedback": "shrunk, it is worth 2"}


def test_without_an_oracle_the_evaluator_speaks_alone(folder: Path) -> None:
    (folder / "oracle.py").unlink()
    found = verdict(load_problem(folder, {}, {}), output(folder, b"5"))
    assert (found["valid"], found["score"]) == (None, None)
    assert found["local"]["score"] == 5.0


@pytest.mark.parametrize("size", [1025, 5000, 10_000_000])
def test_an_output_of_any_length_is_answered(problem: Problem, folder: Path, size: int) -> None:
    found = verdict(problem, output(folder, "ü".encode() * size))
    assert found["valid"] is False
    assert "limit" in found["reason"]
    assert found["local"]["valid"] is False


def test_a_file_that_is_no_text_is_told(problem: Problem, folder: Path) -> None:
    with pytest.raises(SpeciateError, match="UTF-8"):
        verdict(problem, output(folder, b"\xff\xfe"))


def test_an_oracle_that_fails_is_told_and_gives_no_verdict(problem: Problem, folder: Path) -> None:
    with pytest.raises(ProblemError, match="gave no verdict"):
        verdict(problem, output(folder, b'"text"'))


def test_an_evaluator_that_cannot_answer_leaves_the_word_to_the_oracle(problem: Problem, folder: Path) -> None:
    (folder / "evaluator.py").write_text("def evaluate(output):\n    raise ConnectionError('no line')\n")
    found = verdict(problem, output(folder, b"1"))
    assert found["valid"] is True
    assert found["local"]["valid"] is None
    assert "no line" in found["local"]["reason"]
    (folder / "oracle.py").unlink()
    with pytest.raises(SpeciateError, match="no line"):
        verdict(problem, output(folder, b"1"))


@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        ("def main():\n    return 2\n", "ok", "None"),
        ("def main():\n    return 4\n", "ok", "None"),
        ("def main(:\n", "refused", "syntax"),
        ("def main():\n    raise ValueError('größer')\n", "crashed", "größer"),
        ("def main():\n    return 'text'\n", "invalid", "expected a number"),
        ("def main():\n    return float('inf')\n", "invalid", "not finite"),
        ("def main():\n    return 'x' * 3000\n", "invalid", "limit"),
    ],
)
def test_one_program_is_taken_all_the_way(problem: Problem, text: str, status: str, says: str) -> None:
    found = evaluate_once(problem, Program.of({"seed.py": text}), Plugins.installed())
    assert found["status"] == status, found
    assert says in str(found["reason"])


def test_a_program_is_read_from_a_file_or_a_folder(problem: Problem, folder: Path, tmp_path: Path) -> None:
    assert read_program(problem, folder / "seed.py").text("seed.py") == "def main():\n    return 1\n"
    many = tmp_path / "many files"
    (many / "lib").mkdir(parents=True)
    (many / "seed.py").write_text("from lib.ü import x\n", encoding="utf-8")
    (many / "lib" / "ü.py").write_text("x = 1\n")
    assert [path for path, _ in read_program(problem, many).files] == ["lib/ü.py", "seed.py"]
    with pytest.raises(SpeciateError, match="there is no program"):
        read_program(problem, tmp_path / "nothing.py")
    (tmp_path / "bytes.py").write_bytes(b"\xff")
    with pytest.raises(SpeciateError, match=r"bytes\.py"):
        read_program(problem, tmp_path / "bytes.py")
