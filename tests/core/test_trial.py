"""Stages, repeats, confirmation of noisy records, suspicion, and programs of several files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from speciate.core.errors import ProblemError
from speciate.core.evaluate import evaluate_once
from speciate.core.evaluation import Status
from speciate.core.folder import RunFolder
from speciate.core.loading import Plugins
from speciate.core.problem import Problem, load_problem
from speciate.core.program import Program, frozen_files
from speciate.core.search import search

TOML = '[problem]\nname = "toy"\neffort = 10\n[objective]\nname = "score"\n'
EVALUATOR = "def evaluate(output):\n    return {'metrics': {'score': output}}\n"


def problem_in(folder: Path, seed: str, extra: str = "", toml: str = TOML) -> Problem:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "problem.toml").write_text(toml + extra)
    (folder / "evaluator.py").write_text(EVALUATOR)
    (folder / "seed.py").write_text(seed)
    return load_problem(folder, {}, {})


def score_of(problem: Problem, text: str) -> dict[str, object]:
    return evaluate_once(problem, Program.of({"seed.py": text}), Plugins.installed())


STAGES = "[[stages]]\neffort = 1\nthreshold = 0.5\n[[stages]]\neffort = 2\nthreshold = 1.5\n"
BY_EFFORT = "def main(effort):\n    return effort * 1.0\n"


def test_a_program_that_passes_its_stages_is_scored_with_full_effort(tmp_path: Path) -> None:
    found = score_of(problem_in(tmp_path / "p", BY_EFFORT, STAGES), BY_EFFORT)
    assert found["status"] == "ok"
    assert found["score"] == 10.0


def test_a_program_that_misses_a_threshold_never_gets_to_the_dear_part(tmp_path: Path) -> None:
    problem = problem_in(tmp_path / "p", BY_EFFORT, STAGES)
    found = score_of(problem, "def main(effort):\n    assert effort < 10\n    return 1.0\n")
    assert found["status"] == "invalid"
    assert "stage 2 of 2" in str(found["reason"])
    assert "1.0" in str(found["reason"])


def test_a_crash_in_a_stage_stays_a_crash(tmp_path: Path) -> None:
    found = score_of(problem_in(tmp_path / "p", BY_EFFORT, STAGES), "def main():\n    raise ValueError('no')\n")
    assert found["status"] == "crashed"
    assert "stage 1" in str(found["reason"])


NOISY = "import random\ndef main(seed):\n    return 5.0 + random.Random(seed).gauss(0, 1)\n"


def test_repeats_give_the_mean_and_its_standard_error(tmp_path: Path) -> None:
    found = score_of(problem_in(tmp_path / "p", NOISY, "[repeats]\nat_most = 6\n"), NOISY)
    metrics = found["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["repeats"] == 6
    assert 0.1 < metrics["standard_error"] < 1
    import random

    values = [5.0 + random.Random(seed).gauss(0, 1) for seed in range(6)]
    assert metrics["score"] == pytest.approx(sum(values) / 6)


def test_repeats_stop_when_the_error_is_small_enough(tmp_path: Path) -> None:
    exact = "def main():\n    return 5.0\n"
    found = score_of(problem_in(tmp_path / "p", exact, "[repeats]\nat_most = 50\nerror = 0.1\n"), exact)
    assert found["metrics"]["repeats"] == 2  # type: ignore[index]


def test_a_noisy_record_is_run_again_before_it_counts(tmp_path: Path) -> None:
    seed = (
        "import random\ndef main(seed):\n    # EVOLVE-BLOCK-START\n    x = 1.0\n    # EVOLVE-BLOCK-END\n"
        "    return min(x, 2.0) + random.Random(seed).gauss(0, 0.5)\n"
    )
    problem = problem_in(tmp_path / "p", seed, "[repeats]\nat_most = 2\n")
    search(problem.folder, evaluations=40, seed=1, out=tmp_path / "run").result()
    store = RunFolder.open(tmp_path / "run", write=False).store
    records = [payload["id"] for _, payload in store.events("record_broken")]
    assert len(records) > 1
    again = [store.material(id).evaluation.name.repeat for id in records]
    assert again[0] == 0
    assert set(again[1:]) == {1}


def test_a_score_beyond_the_declared_bound_is_flagged_and_scored_again(tmp_path: Path) -> None:
    seed = "def main():\n    # EVOLVE-BLOCK-START\n    x = 1.0\n    # EVOLVE-BLOCK-END\n    return x\n"
    toml = TOML + "bound = 3.0\n"
    problem = problem_in(tmp_path / "p", seed, toml=toml)
    search(problem.folder, evaluations=60, seed=1, out=tmp_path / "run").result()
    folder = RunFolder.open(tmp_path / "run", write=False)
    flagged = [payload for _, payload in folder.store.events("suspicious")]
    assert flagged
    for payload in flagged:
        assert payload["score"] > 3.0
        assert payload["again"] == payload["score"]
        assert "beyond the bound" in payload["reason"]
    command = [sys.executable, "-m", "speciate.core.cli.main", "show", str(tmp_path / "run"), "--json"]
    shown = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)
    assert [entry["id"] for entry in shown["suspicious"]] == [payload["id"] for payload in flagged]


# Several files


def several(folder: Path) -> Problem:
    (folder / "program" / "deep").mkdir(parents=True)
    (folder / "program" / "main.py").write_text(
        "from helper import times\nfrom deep.fixed import ONE\n\n\ndef main():\n    # EVOLVE-BLOCK-START\n    x = 2.0\n"
        "    # EVOLVE-BLOCK-END\n    return times(x) * ONE\n"
    )
    (folder / "program" / "helper.py").write_text(
        "def times(x):\n    # EVOLVE-BLOCK-START\n    return x * 3.0\n    # EVOLVE-BLOCK-END\n"
    )
    (folder / "program" / "deep" / "__init__.py").write_text("")
    (folder / "program" / "deep" / "fixed.py").write_text("ONE = 1.0\n")
    (folder / "problem.toml").write_text(
        '[problem]\nname = "files"\nprogram = "program"\n[objective]\nname = "score"\n'
    )
    (folder / "evaluator.py").write_text(EVALUATOR)
    return load_problem(folder, {}, {})


def test_a_program_of_several_files_runs_and_evolves(tmp_path: Path) -> None:
    problem = several(tmp_path / "p")
    found = evaluate_once(problem, problem.seeds[0], Plugins.installed())
    assert found["score"] == 6.0, found
    result = search(problem.folder, evaluations=12, seed=1, out=tmp_path / "run").result()
    assert result.best is not None
    assert dict(result.best.program.files)["deep/fixed.py"] == "ONE = 1.0\n"


def test_a_file_without_evolve_blocks_beside_one_with_is_frozen(tmp_path: Path) -> None:
    program = several(tmp_path / "p").seeds[0]
    frozen = frozen_files(program)
    assert frozen["deep/fixed.py"] == ("ONE = 1.0\n",)
    assert frozen_files(program.with_text("deep/fixed.py", "ONE = 9.0\n")) != frozen
    changed = program.text("helper.py").replace("3.0", "4.0")
    assert frozen_files(program.with_text("helper.py", changed)) == frozen
    assert frozen_files(program.with_text("helper.py", changed.replace("times", "product"))) != frozen


def test_without_any_evolve_block_every_file_may_change() -> None:
    assert frozen_files(Program.of({"a.py": "x = 1\n", "b.py": "y = 2\n"})) == {"a.py": ("", ""), "b.py": ("", "")}


def test_a_folder_without_its_main_file_is_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    several(folder)
    (folder / "program" / "main.py").unlink()
    with pytest.raises(ProblemError, match=r"has no file 'main\.py'"):
        load_problem(folder, {}, {})


def test_status_words_are_those_of_the_design() -> None:
    assert [status.value for status in Status] == ["ok", "invalid", "crashed", "timeout", "infra"]
