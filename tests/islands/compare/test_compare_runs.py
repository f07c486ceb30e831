"""Comparisons that are run: workers, faults of plugins, killing and going on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from speciate.core.config_sources import file_layer
from speciate.core.database import lock
from speciate.core.errors import RunFolderError
from speciate.core.folder import RunFolder
from speciate.islands.compare.paired import Paired

PLUGIN = '''
import os, sys, time
import numpy as np
from speciate.core.hooks import hookimpl
from speciate.core.slots import Selector


class First(Selector):
    """Always the oldest member."""

    def select(self, view, rng):
        self.trouble(view)
        return int(view.ids[0])

    def trouble(self, view):
        pass


class Printing(First):
    """The oldest member, with noise on every stream."""

    def trouble(self, view):
        print('{"failed": "garbage"}', flush=True)
        os.write(1, b"\\xff\\x00 garbage\\n")


class Raising(First):
    """Raises."""

    def trouble(self, view):
        raise ValueError("no idea")


class Foreign(First):
    """Names somebody who is not there."""

    def select(self, view, rng):
        return 10_000


class Mutating(First):
    """Writes into the view."""

    def trouble(self, view):
        view.fitness[:] = 1.0


class Slow(First):
    """Never comes back."""

    def trouble(self, view):
        time.sleep(600)


class Leaving(First):
    """Ends the process."""

    def trouble(self, view):
        os._exit(7)


class Forking(First):
    """Makes a second process that goes on with the same run."""

    def trouble(self, view):
        os.fork()


@hookimpl
def register(registry):
    for made in (First, Printing, Raising, Foreign, Mutating, Slow, Leaving, Forking):
        registry.add("selector", made.__name__.lower(), made)
'''

FAULTY = ("raising", "foreign", "mutating", "slow", "leaving")


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a problem whose programs are a sum of three numbers, the nearer to `aim` the better."""
    folder = tmp_path_factory.mktemp("problems") / "nearby"
    folder.mkdir()
    (folder / "problem.toml").write_text(
        '[problem]\nname = "nearby"\n[objective]\nname = "score"\n[options]\naim = 7\n', "utf-8"
    )
    (folder / "evaluator.py").write_text(
        'def evaluate(output, aim):\n    return {"metrics": {"score": -abs(float(output) - aim - 0.25)}}\n', "utf-8"
    )
    (folder / "seed.py").write_text(
        "def main(aim, effort, seed):\n    # EVOLVE-BLOCK-START\n    a = 1.0\n    b = 2.0\n    c = a * b + 0.5\n"
        "    return c\n    # EVOLVE-BLOCK-END\n",
        "utf-8",
    )
    return folder


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugins") / "troubled_selectors.py"
    path.write_text(PLUGIN, "utf-8")
    return path


def write_file(folder: Path, problem: Path, plugin: Path, arms: tuple[str, ...], **changes: Any) -> Path:
    """Write the file of a comparison of selectors."""
    path = folder / "arms.toml"
    content = {
        "problems": [{"use": str(problem), "options": {"aim": "{seed}"}}],
        "seeds": [3, 4],
        "budget": {"evaluations": [4, 6]},
        "patience": 15.0,
        "common": {"plugins": [str(plugin)], "sandbox": "process"},
        "arms": [{"name": name, "selector": name} for name in arms],
        **changes,
    }
    path.write_text(tomli_w.dumps(content), "utf-8")
    return path


def compare(file: Path, out: Path, told: list[tuple[int, int]] | None = None) -> dict[str, Any]:
    def tell(done: int, total: int, last: str) -> None:
        if told is not None:
            told.append((done, total))

    return Paired().compare(file_layer(file), file.parent, out, 2, tell)


def unmeasured(report: dict[str, Any]) -> Any:
    """Return a report without what a clock measured and where it lies."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k not in ("seconds", "cpu_s", "report")}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return strip(report)


@pytest.fixture(scope="module")
def troubled(problem: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Return the report on honest arms and arms with every kind of fault, and where it lies."""
    folder = tmp_path_factory.mktemp("troubled")
    file = write_file(folder, problem, plugin, ("first", *FAULTY, "printing", "uniform"))
    return compare(file, folder / "out"), folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "says"),
    [
        ("raising", "raised ValueError: no idea"),
        ("foreign", "10000"),
        ("mutating", "read-only"),
        ("slow", "nothing was committed for 15 s, so the run was given up"),
        ("leaving", "ended with code 7"),
    ],
)
def test_a_strategy_with_a_fault_fails_with_its_sentence_and_is_not_ranked(
    troubled: tuple[dict[str, Any], Path], arm: str, says: str
) -> None:
    report, _ = troubled
    (reason,) = [failure["reason"] for failure in report["failures"] if failure["arm"] == arm]
    assert says in reason
    assert "\n" not in reason
    assert arm not in report["arms"]
    assert f"{arm} is not ranked: a run of it failed" in report["reasons"]


@pytest.mark.slow
def test_the_arms_without_a_fault_are_ranked_beside_those_with_one(troubled: tuple[dict[str, Any], Path]) -> None:
    report, _ = troubled
    assert report["ranked"]
    assert list(report["arms"]) == ["first", "printing", "uniform"]
    assert [arm["n"] for arm in report["arms"].values()] == [2, 2, 2]


@pytest.mark.slow
def test_property_79_a_plugin_that_throws_hangs_exits_or_prints_garbage_changes_no_other_record(
    troubled: tuple[dict[str, Any], Path], problem: Path, plugin: Path, tmp_path: Path
) -> None:
    report, out = troubled
    alone = compare(write_file(tmp_path, problem, plugin, ("first", "uniform")), tmp_path / "out")
    for name in ("first", "uniform"):
        digests = [
            [digest(place / run["folder"]) for run in found["runs"] if run["arm"] == name]
            for found, place in ((report, out), (alone, tmp_path / "out"))
        ]
        assert digests[0] == digests[1]
    # Whoever only prints does what it would have done in silence.
    first, printing = (unmeasured(report["arms"][name]) for name in ("first", "printing"))
    assert first["iqm"] == printing["iqm"]
    assert first["refused"] == printing["refused"]


def digest(folder: Path) -> str:
    opened = RunFolder.open(folder, write=False)
    try:
        return opened.verified_digest().hex()
    finally:
        opened.close()


@pytest.mark.slow
def test_property_79_a_plugin_that_forks_ends_nobody_elses_run(problem: Path, plugin: Path, tmp_path: Path) -> None:
    file = write_file(tmp_path, problem, plugin, ("forking", "first", "uniform"), seeds=[3, 4], patience=10.0)
    report = compare(file, tmp_path / "out")
    assert {"first", "uniform"} <= set(report["arms"])
    assert report["ranked"]


@pytest.mark.slow
def test_property_77_a_claimed_score_is_the_score_of_running_its_stored_program_again(
    troubled: tuple[dict[str, Any], Path],
) -> None:
    report, out = troubled
    for run in report["runs"]:
        opened = RunFolder.open(out / run["folder"], write=False)
        material = opened.store.material(run["individual"])
        value: dict[str, Any] = {}
        exec(material.program.text("seed.py"), value)
        opened.close()
        assert run["score"] == -abs(float(value["main"](run["seed"], 1, 0)) - run["seed"] - 0.25)


@pytest.mark.slow
def test_property_77_every_figure_leads_to_the_runs_it_is_made_of(troubled: tuple[dict[str, Any], Path]) -> None:
    report, out = troubled
    for name, arm in report["arms"].items():
        runs = [r for r in report["runs"] if r["arm"] == name and r["budget"] == report["budget"]]
        assert arm["median"] == pytest.approx(sum(run["score"] for run in runs) / 2)
        assert all((out / run["folder"] / "run.db").is_file() for run in runs)


@pytest.mark.slow
def test_a_smaller_budget_is_the_beginning_of_the_same_run(problem: Path, plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "short").mkdir()
    both = compare(write_file(tmp_path, problem, plugin, ("first", "uniform")), tmp_path / "out")
    changed = write_file(tmp_path / "short", problem, plugin, ("first", "uniform"), budget={"evaluations": 4})
    short = compare(changed, tmp_path / "short" / "out")
    read_off = next(budget for budget in both["budgets"] if budget["budget"] == "4 evaluations")
    assert unmeasured(read_off) == unmeasured(short["budgets"][0])
    # A longer budget in the same folder goes on with the runs that are there.
    longer = write_file(tmp_path / "short", problem, plugin, ("first", "uniform"), budget={"evaluations": [4, 6]})
    before = {path.name for path in (tmp_path / "short" / "out" / "runs").iterdir()}
    assert unmeasured(compare(longer, tmp_path / "short" / "out")) == unmeasured(both)
    assert {path.name for path in (tmp_path / "short" / "out" / "runs").iterdir()} == before


@pytest.mark.slow
def test_a_comparison_that_was_killed_half_way_goes_on_and_reports_the_same(
    problem: Path, plugin: Path, tmp_path: Path
) -> None:
    file = write_file(tmp_path, problem, plugin, ("first", "uniform", "greedy"), seeds=3)
    whole = compare(file, tmp_path / "whole")
    cut = tmp_path / "cut"
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
import conftest
from speciate.core.cli.main import main
main(['compare', {str(file)!r}, '--out', {str(cut)!r}, '--workers', '2'])
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list(cut.glob("runs/*/outcome.json"))) < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (cut / "report.json").exists()
    kept = {path: path.stat().st_mtime_ns for path in cut.glob("runs/*/outcome.json")}
    assert 3 <= len(kept) < 9
    told: list[tuple[int, int]] = []
    resumed = _patiently(lambda: compare(file, cut, told))
    assert unmeasured(resumed) == unmeasured(whole)
    assert told[0] == (len(kept), 9) or told[0][0] > len(kept)
    assert all(path.stat().st_mtime_ns == at for path, at in kept.items()), "what was finished was run again"


def _patiently(call: Any) -> Any:
    """Call again while workers of the killed process have not yet noticed that nobody waits for them."""
    report = call()
    for _ in range(5):
        if not any("in use by another process" in failure["reason"] for failure in report["failures"]):
            break
        time.sleep(2)
        report = call()
    return report


@pytest.mark.slow
def test_what_is_finished_is_not_run_again(problem: Path, plugin: Path, tmp_path: Path) -> None:
    file = write_file(tmp_path, problem, plugin, ("first", "uniform"))
    once = compare(file, tmp_path / "out")
    told: list[tuple[int, int]] = []
    again = compare(file, tmp_path / "out", told)
    assert told == [(4, 4)]
    assert again == once


def test_two_comparisons_do_not_write_into_one_folder(problem: Path, plugin: Path, tmp_path: Path) -> None:
    file = write_file(tmp_path, problem, plugin, ("first",))
    (tmp_path / "out").mkdir()
    with lock(tmp_path / "out"), pytest.raises(RunFolderError, match="in use by another process"):
        compare(file, tmp_path / "out")


@pytest.mark.slow
def test_the_command_prints_json_and_takes_strategies_by_name(problem: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from speciate.core.cli.main import main; main()"]
    options = ["--strategies", "random,greedy", "--seeds", "2", "--evaluations", "4", "--set", "sandbox=process"]
    options += ["--set", "problem.aim=3", "--json", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [*command, "compare", str(problem), *options], capture_output=True, text=True, timeout=120, check=True
    )
    report = json.loads(done.stdout)
    assert list(report["arms"]) == ["random", "greedy"]
    assert {"n", "median", "iqm", "interval", "auc", "cost"} <= set(report["arms"]["random"])
    assert {"a", "b", "difference", "interval", "p_holm", "winner"} <= set(report["pairs"][0])
    assert Path(report["report"]).is_file()
