"""The command line: shapes of its JSON, exit codes, and one clear sentence for bad input."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from speciate.core.cli.main import main
from speciate.core.scaffold import new_problem
from speciate.core.schema import MIGRATIONS


class Outcome:
    """What a command left: exit code, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> dict[str, object]:
        return dict(json.loads(self.out))

    @property
    def sentence(self) -> str:
        """The one line of an error."""
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> object:
    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        try:
            main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_problem("points", tmp_path_factory.mktemp("problem"))


@pytest.fixture(scope="module")
def finished(problem: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "finished"
    subprocess.run(
        [sys.executable, "-m", "speciate.core.cli.main", "run", str(problem), "--evaluations", "15", "--seed", "3",
         "--out", str(folder), "--quiet"],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return folder


# Shapes


def test_a_run_prints_one_json_object_with_the_agreed_keys(call, problem: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = call("run", problem, "--evaluations", 6, "--out", tmp_path / "run", "--quiet", "--json")
    assert done.code == 0
    found = done.json
    assert {"dir", "status", "reason", "best", "evaluations", "proposals", "refused", "seconds"} <= found.keys()
    assert found["status"] == "budget"
    assert found["evaluations"] == 6
    best = found["best"]
    assert isinstance(best, dict)
    keys = {"id", "program_hash", "score", "score_exact", "valid", "verdict", "evaluations", "seconds"}
    assert keys <= best.keys()
    assert best["valid"] is None


def test_a_target_is_a_status_of_its_own(call, problem: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = call("run", problem, "--target", 0.0, "--evaluations", 50, "--out", tmp_path / "run", "--quiet", "--json")
    assert done.json["status"] == "target"
    assert done.json["evaluations"] == 1


def test_best_writes_program_output_and_chain(call, finished: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = call(
        "best", finished, "--json", "--program", tmp_path / "p.py", "--output", tmp_path / "o.json",
        "--chain", tmp_path / "chain",
    )  # fmt: skip
    assert done.code == 0
    assert "def main" in (tmp_path / "p.py").read_text(encoding="utf-8")
    assert len(json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))) == 9
    steps = json.loads((tmp_path / "chain" / "chain.json").read_text(encoding="utf-8"))["steps"]
    assert [step["id"] for step in steps] == [done.json["id"]]


def test_rerun_gives_the_recorded_output(call, finished: Path) -> None:  # type: ignore[no-untyped-def]
    done = call("rerun", finished, "--json")
    assert done.code == 0
    assert done.json["equal"] is True


def test_show_tells_lineage_and_difference(call, finished: Path) -> None:  # type: ignore[no-untyped-def]
    overview = call("show", finished, "--json").json
    shown = call("show", finished, overview["best"], "--json").json
    assert shown["lineage"][-1]["operator"] == "seed"  # type: ignore[index]
    assert {"files", "status", "metrics", "diff", "parent"} <= shown.keys()


def test_the_digest_is_one_word(call, finished: Path) -> None:  # type: ignore[no-untyped-def]
    assert len(call("ledger", finished, "--digest").out.strip()) == 32
    assert call("ledger", finished, "--digest", "--json").json.keys() == {"digest"}


def test_verdict_speaks_for_oracle_and_evaluator(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    output = tmp_path / "output.json"
    output.write_text("[[0.5, 0.5, 0.5]]")
    found = call("verdict", "circle_packing", output, "--set", "problem.n=1", "--json").json
    assert found["valid"] is True
    assert found["score"] == 0.5
    assert found["local"]["valid"] is True  # type: ignore[index]
    output.write_text("[[0.5, 0.5, 0.6]]")
    found = call("verdict", "circle_packing", output, "--set", "problem.n=1", "--json").json
    assert found["valid"] is False
    assert found["reason"]
    assert found["local"]["valid"] is False  # type: ignore[index]


def test_verdict_of_garbage_is_still_one_json_object(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    output = tmp_path / "output.json"
    for text in ("", "{", "NaN", "[[NaN]]", "[" * 100_000, "1" * 10_000, '"\\ud800"'):
        output.write_text(text)
        done = call("verdict", "circle_packing", output, "--json")
        assert done.code == 0
        assert done.json["valid"] is False


def test_sandbox_prints_status_value_and_cost(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    program = tmp_path / "program.py"
    program.write_text("def main():\n    print('hello')\n    return {'a': [1, float('nan')]}\n")
    found = call("sandbox", program, "--json").json
    assert found["status"] == "ok"
    assert found["value"] == {"a": [1, "NaN"]}
    assert found["stdout"] == "hello\n"
    assert {"wall_s", "cpu_s", "max_rss_bytes"} <= found["cost"].keys()  # type: ignore[attr-defined]
    program.write_text("def main():\n    raise ValueError('no')\n")
    assert call("sandbox", program, "--json").json["status"] == "crashed"


def test_evaluate_takes_one_program_all_the_way(call, problem: Path) -> None:  # type: ignore[no-untyped-def]
    found = call("evaluate", problem, problem / "seed.py", "--json").json
    assert found["status"] == "ok"
    assert found["score"] == found["metrics"]["distance"]  # type: ignore[index]


def test_check_passes_on_what_comes_with_speciate(call) -> None:  # type: ignore[no-untyped-def]
    found = call("check", "circle_packing", "--json").json
    assert found["passed"] is True
    assert all({"name", "passed", "detail"} <= check.keys() for check in found["checks"])  # type: ignore[attr-defined]


def test_a_scaffold_runs_and_passes_its_check(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert call("new", "problem", "mine", "--in", tmp_path).code == 0
    assert call("check", tmp_path / "mine").code == 0


def test_the_configuration_is_printed_and_can_be_given_back(call, problem: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    printed = call("run", problem, "--seed", 9, "--evaluations", 3, "--print-config").out
    (tmp_path / "again.toml").write_text(printed)
    assert call("run", problem, "--config", tmp_path / "again.toml", "--print-config").out == printed


def test_help_loads_nothing_heavy() -> None:
    code = "import sys\nfrom speciate.core.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print([m for m in ('numpy', 'scipy', 'sklearn', 'pydantic', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip().endswith("[]")


# Bad input


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "circle_packin"], "did you mean 'circle_packing'"),
        (["run", "no/such/folder"], "no problem and no folder"),
        (["run", "circle_packing", "--set", "selector.use=shinca"], "did you mean 'shinka'"),
        (["run", "circle_packing", "--set", "slector=uniform"], "did you mean 'selector'"),
        (["run", "circle_packing", "--set", "selector.use=shinka", "--set", "selector.steepnes=1"], "steepness"),
        (["run", "circle_packing", "--set", "problem.m=3"], "no option 'm'"),
        (["run", "circle_packing", "--set", "problem.n=many"], "expected int"),
        (["run", "circle_packing", "--config", "nofile.yaml"], "nofile.yaml"),
        (["run", "circle_packing", "--preset", "shinkaa"], "preset"),
        (["run", "circle_packing", "--sandbox", "docker-ish"], "sandbox"),
        (["plugins", "show", "selector:novle"], "did you mean 'novel'"),
        (["plugins", "selectr"], "did you mean 'selector'"),
        (["new", "problem", "two words"], "cannot name a problem"),
    ],
)
def test_wrong_words_are_answered_with_the_nearest_right_ones(call, arguments: list[str], says: str) -> None:  # type: ignore[no-untyped-def]
    done = call(*arguments)
    assert done.code == 2
    assert says in done.sentence


@pytest.mark.parametrize(
    "arguments", [["frobnicate"], ["run"], ["run", "x", "--evaluations", "0"], ["run", "x", "--nope"]]
)
def test_wrong_usage_exits_with_2(call, arguments: list[str]) -> None:  # type: ignore[no-untyped-def]
    assert call(*arguments).code == 2


@pytest.mark.parametrize("command", ["best", "show", "resume", "rerun", "ledger"])
def test_a_folder_that_is_no_run_is_one_sentence(call, command: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = call(command, tmp_path)
    assert done.code == 1
    assert "run.db" in done.sentence
    assert call(command, tmp_path / "missing").code == 1


@pytest.mark.parametrize("command", ["show", "rerun"])
@pytest.mark.parametrize("id", [99, 10**30])
def test_an_individual_that_is_not_there_is_one_sentence(call, finished: Path, command: str, id: int) -> None:  # type: ignore[no-untyped-def]
    outcome = call(command, finished, id)
    assert outcome.code == 1
    assert f"has no individual {id}" in outcome.sentence


@pytest.mark.parametrize("option", ["--program", "--picture", "--output", "--chain"])
def test_a_place_that_cannot_be_written_is_one_sentence(call, finished: Path, tmp_path: Path, option: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "file").write_text("", encoding="utf-8")
    outcome = call("best", finished, option, tmp_path / "file" / "x.svg")
    assert outcome.code == 1
    assert outcome.sentence.startswith("error: ")


def broken(problem: Path, tmp_path: Path, name: str, text: str) -> Path:
    """Copy a problem and put another text into one of its files."""
    folder = tmp_path / "a problem with spaces, größer"
    shutil.copytree(problem, folder)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("evaluator.py", "def evaluate(output:", "cannot be loaded"),
        ("evaluator.py", "import nothing_of_that_name", "nothing_of_that_name"),
        ("evaluator.py", "evaluate = 3", "evaluate"),
        ("evaluator.py", "def evaluate(output, n):\n    raise ValueError('cannot')", "cannot"),
        ("evaluator.py", "def evaluate(output, n):\n    return 3", "expected a dict"),
        ("evaluator.py", "def evaluate(output, n):\n    return {'metrics': {'other': 1.0}}", "declared objective"),
        ("evaluator.py", "def evaluate(output, n):\n    return {'metrics': {'distance': float('nan')}}", "not finite"),
        ("evaluator.py", "def evaluate(output, n):\n    return {'metrics': {'distance': float('-inf')}}", "not finite"),
        ("evaluator.py", "def evaluate(output, n):\n    return {'metrics': {'distance': '3.0'}}", "expected a number"),
        ("evaluator.py", "def evaluate(output, n):\n    return {'metrics': {'distance': True}}", "expected a number"),
        (
            "evaluator.py",
            "def evaluate(output, n):\n    return {'metrics': {}, 'valid': False, 'feedback': 'bad'}",
            "bad",
        ),
        ("seed.py", "def main(:", "does not parse|SyntaxError"),
        ("seed.py", "def other():\n    return 1", "no function 'main'"),
        ("seed.py", "def main():\n    raise RuntimeError('seed is ill')", "seed is ill"),
        ("seed.py", "# EVOLVE-BLOCK-START\ndef main():\n    return 1", "without an end"),
        ("problem.toml", "[problem", "not TOML"),
        ("problem.toml", '[problem]\nname = "x"\n', "objective"),
        ("problem.toml", '[problem]\nname = "x"\nsed = 1\n[objective]\nname = "y"\n', "sed"),
        ("problem.toml", '[problem]\nname = "x"\n[objective]\nname = "y"\ndirection = "up"\n', "direction"),
    ],
)
def test_a_problem_that_is_not_whole_is_one_sentence(  # type: ignore[no-untyped-def]
    call, problem: Path, tmp_path: Path, name: str, text: str, says: str
) -> None:
    done = call("run", broken(problem, tmp_path, name, text), "--evaluations", 3, "--out", tmp_path / "r", "--quiet")
    assert done.code in (1, 2)
    assert any(part in done.sentence for part in says.split("|")), done.err


@pytest.mark.parametrize("missing", ["problem.toml", "seed.py", "evaluator.py"])
def test_a_missing_file_is_named(call, problem: Path, tmp_path: Path, missing: str) -> None:  # type: ignore[no-untyped-def]
    folder = broken(problem, tmp_path, "problem.toml", (problem / "problem.toml").read_text())
    (folder / missing).unlink()
    done = call("run", folder, "--evaluations", 3, "--out", tmp_path / "r", "--quiet")
    assert done.code == 1
    assert missing in done.sentence


def test_a_seed_that_needs_longer_than_its_limit_is_told_with_the_limit(call, problem: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = broken(problem, tmp_path, "seed.py", "import time\ndef main():\n    time.sleep(30)\n")
    toml = (folder / "problem.toml").read_text().replace("wall_s = 10", "wall_s = 0.5")
    (folder / "problem.toml").write_text(toml)
    done = call("run", folder, "--evaluations", 3, "--out", tmp_path / "r", "--quiet")
    assert done.code == 1
    assert "0.5 s" in done.sentence
    assert "timeout" in done.sentence


@pytest.mark.parametrize("value", ["np.float32(0.5)", "np.int64(1)", "Decimal('0.5')", "Fraction(1, 2)", "1"])
def test_numbers_of_every_kind_are_metrics(call, problem: Path, tmp_path: Path, value: str) -> None:  # type: ignore[no-untyped-def]
    text = "import numpy as np\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
    text += f"def evaluate(output, n):\n    return {{'metrics': {{'distance': {value}}}}}\n"
    folder = broken(problem, tmp_path, "evaluator.py", text)
    found = call("evaluate", folder, folder / "seed.py", "--json").json
    assert found["status"] == "ok"
    assert found["score"] in (0.5, 1.0)


def test_an_evaluator_whose_own_world_fails_does_not_blame_the_program(call, problem: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = broken(
        problem, tmp_path, "evaluator.py", "def evaluate(output, n):\n    raise ConnectionError('no answer')\n"
    )
    found = call("evaluate", folder, folder / "seed.py", "--json").json
    assert found["status"] == "infra"
    assert "no answer" in str(found["reason"])


def test_a_non_ascii_program_runs_in_an_ascii_locale(problem: Path, tmp_path: Path) -> None:
    marker = "# EVOLVE-BLOCK-START"
    text = (problem / "seed.py").read_text().replace(marker, f"grüße = '☃ 🦠'\n    {marker}")
    folder = broken(problem, tmp_path, "seed.py", text)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    command = [sys.executable, "-m", "speciate.core.cli.main"]
    for arguments in (["run", folder, "--evaluations", "4", "--out", tmp_path / "r"], ["best", tmp_path / "r"]):
        done = subprocess.run(
            [*command, *map(str, arguments)], env=environment, capture_output=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
    assert "grüße" in done.stdout.decode("utf-8")


# Run folders


def test_a_folder_that_holds_a_run_is_not_written_over(call, problem: Path, finished: Path) -> None:  # type: ignore[no-untyped-def]
    done = call("run", problem, "--evaluations", 3, "--out", finished, "--quiet")
    assert done.code == 1
    assert "already holds a run" in done.sentence


def copy_of(finished: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    return folder


def test_a_run_of_a_newer_version_is_refused(call, finished: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = copy_of(finished, tmp_path)
    with sqlite3.connect(folder / "run.db") as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    done = call("resume", folder)
    assert done.code == 1
    assert "newer speciate" in done.sentence


def test_a_run_that_was_cut_short_is_refused(call, finished: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = copy_of(finished, tmp_path)
    whole = (folder / "run.db").read_bytes()
    for rest in ("run.db-wal", "run.db-shm"):
        (folder / rest).unlink(missing_ok=True)
    for size in (0, 100, 5000, len(whole) // 2):
        (folder / "run.db").write_bytes(whole[:size])
        for command in ("resume", "best"):
            done = call(command, folder)
            assert done.code == 1, (size, command)
            assert done.sentence


def test_a_run_in_use_is_refused_and_stays_readable(call, finished: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = copy_of(finished, tmp_path)
    code = f"from pathlib import Path\nfrom speciate.core.database import lock\nkept = lock(Path({str(folder)!r}))\n"
    code += "print('locked', flush=True)\ninput()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "locked\n"
    try:
        done = call("resume", folder)
        assert done.code == 1
        assert "in use" in done.sentence
        assert call("best", folder, "--json").code == 0
    finally:
        holder.communicate("\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_run_is_refused_and_stays_readable(call, finished: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = copy_of(finished, tmp_path)
    for path in (*folder.iterdir(), folder):
        path.chmod(stat.S_IRUSR | (stat.S_IXUSR if path.is_dir() else 0))
    try:
        done = call("resume", folder)
        assert done.code == 1
        assert "read-only" in done.sentence
        assert call("best", folder, "--json").code == 0
    finally:
        folder.chmod(stat.S_IRWXU)


def test_a_run_whose_problem_was_changed_is_refused(call, finished: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = copy_of(finished, tmp_path)
    (folder / "problem" / "evaluator.py").write_text(
        "def evaluate(output, n):\n    return {'metrics': {'distance': 9}}\n"
    )
    done = call("resume", folder, "--evaluations", 20)
    assert done.code == 1
    assert "were changed" in done.sentence


def test_a_moved_run_goes_on(call, finished: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = copy_of(finished, tmp_path)
    done = call("resume", folder, "--evaluations", 18, "--quiet", "--json")
    assert done.code == 0
    assert done.json["evaluations"] == 18


def test_a_run_without_a_valid_program_exits_with_3(call, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "rejected"
    folder.mkdir()
    (folder / "problem.toml").write_text('[problem]\nname = "rejected"\n[objective]\nname = "score"\n')
    (folder / "seed.py").write_text("def main():\n    return 1\n")
    (folder / "evaluator.py").write_text("def evaluate(output):\n    return {'metrics': {'score': output}}\n")
    (folder / "oracle.py").write_text("def judge(text):\n    return {'valid': False, 'reason': 'never'}\n")
    done = call("run", folder, "--evaluations", 3, "--out", tmp_path / "r", "--quiet", "--json")
    assert done.code == 3
    assert done.json["best"] is None
