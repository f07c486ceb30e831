"""What an interruption of any kind leaves behind: nothing lost, and the run that it would have been."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from speciate.core.scaffold import new_problem

EVALUATIONS = 120


def speciate(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "speciate.core.cli.main", *map(str, arguments)]


def finish(*arguments: object) -> dict[str, object]:
    done = subprocess.run(speciate(*arguments, "--quiet", "--json"), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def digest(folder: Path) -> str:
    done = subprocess.run(speciate("ledger", folder, "--digest"), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def evaluations_on_disk(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / 'run.db'}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM evaluations").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_problem("points", tmp_path_factory.mktemp("problem"))


@pytest.fixture(scope="module")
def uninterrupted(problem: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("run") / "whole"
    finish("run", problem, "--seed", 5, "--evaluations", EVALUATIONS, "--workers", 1, "--out", folder)
    return digest(folder)


def test_one_and_two_workers_give_the_same_ledger(problem: Path, uninterrupted: str, tmp_path: Path) -> None:
    finish("run", problem, "--seed", 5, "--evaluations", EVALUATIONS, "--workers", 2, "--out", tmp_path / "two")
    assert digest(tmp_path / "two") == uninterrupted


def test_another_seed_gives_another_ledger(problem: Path, tmp_path: Path) -> None:
    for seed in (5, 6):
        finish("run", problem, "--seed", seed, "--evaluations", 12, "--out", tmp_path / str(seed))
    assert digest(tmp_path / "5") != digest(tmp_path / "6")


@pytest.mark.slow
def test_a_run_killed_twenty_times_is_the_uninterrupted_run(problem: Path, uninterrupted: str, tmp_path: Path) -> None:
    folder, chance = tmp_path / "killed", random.Random(1)
    arguments: tuple[object, ...] = ("run", problem, "--seed", 5, "--evaluations", EVALUATIONS, "--out", folder)
    kills, before = 0, 0
    while kills < 20:
        child = subprocess.Popen(
            speciate(*arguments, "--workers", chance.choice([1, 2]), "--quiet"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        # Long enough, mostly, for a few evaluations, and anywhere within them.
        deadline = time.monotonic() + 20
        wanted = before + chance.randint(0, 5)
        while child.poll() is None and evaluations_on_disk(folder) < wanted and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.05))
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert child.returncode in (0, -signal.SIGKILL), child.stderr.read() if child.stderr else ""
        kills += 1
        after = evaluations_on_disk(folder)
        assert after >= before, "a finished evaluation was lost"
        before = after
        if (folder / "run.db").exists() and started(folder):
            arguments = ("resume", folder)
        else:
            arguments = (*arguments[:-1], tmp_path / f"killed-{kills}")
            folder = tmp_path / f"killed-{kills}"
    finish("resume", folder)
    assert digest(folder) == uninterrupted


def started(folder: Path) -> bool:
    """Say whether the run got as far as writing down what it was told."""
    try:
        with sqlite3.connect(f"file:{folder / 'run.db'}?mode=ro", uri=True) as db:
            return db.execute("SELECT 1 FROM meta WHERE key = 'told'").fetchone() is not None
    except sqlite3.OperationalError:
        return False


def test_an_interrupt_ends_within_two_seconds_with_everything_kept(problem: Path, tmp_path: Path) -> None:
    folder = tmp_path / "interrupted"
    child = subprocess.Popen(
        speciate("run", problem, "--seed", 5, "--evaluations", 100_000, "--out", folder, "--quiet", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while child.poll() is None and evaluations_on_disk(folder) < 10:
        time.sleep(0.01)
    asked = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    assert time.monotonic() - asked < 2
    assert child.returncode == 130
    report = json.loads(out)
    assert report["status"] == "interrupted"
    assert report["evaluations"] >= 5
    more = report["evaluations"] + 5
    finish("resume", folder, "--evaluations", more)
    finish("run", problem, "--seed", 5, "--evaluations", more, "--out", tmp_path / "whole")
    assert digest(folder) == digest(tmp_path / "whole")


def test_a_budget_in_seconds_gives_a_prefix_of_the_longer_run(
    problem: Path, uninterrupted: str, tmp_path: Path
) -> None:
    folder = tmp_path / "seconds"
    finish("run", problem, "--seed", 5, "--seconds", 1.5, "--out", folder)
    whole = finish("resume", folder, "--seconds", 1000, "--evaluations", EVALUATIONS)
    assert whole["evaluations"] == EVALUATIONS
    assert digest(folder) == uninterrupted


def test_resuming_a_run_that_is_done_changes_nothing(problem: Path, tmp_path: Path) -> None:
    folder = tmp_path / "done"
    first = finish("run", problem, "--evaluations", 10, "--out", folder)
    before = digest(folder)
    again = finish("resume", folder)
    assert again["evaluations"] == first["evaluations"] == 10
    assert digest(folder) == before


def test_no_process_of_a_killed_run_stays(problem: Path, tmp_path: Path) -> None:
    folder = tmp_path / "orphans"
    child = subprocess.Popen(
        speciate("run", problem, "--evaluations", 1000, "--out", folder, "--quiet"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while child.poll() is None and evaluations_on_disk(folder) < 5:
        time.sleep(0.01)
    family = descendants(child.pid)
    assert family
    child.send_signal(signal.SIGKILL)
    child.wait()
    deadline = time.monotonic() + 10
    while any(map(alive, family)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in family if alive(pid)] == []


def descendants(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found += [int(entry.name), *descendants(int(entry.name))]
    return found


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")
