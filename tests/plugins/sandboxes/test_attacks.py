"""Every attack and every cheat works where nothing contains it, and none of them does here."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent / "attacks"
sys.path.insert(0, str(HERE))

from cheats import CHEATS  # noqa: E402
from table import ATTACKS  # noqa: E402

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
USER = str(61000 + os.getpid() % 3000)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the attacks are aimed at Linux"),
]

as_root = pytest.param("root", marks=pytest.mark.skipif(not ROOT, reason="this user is not root"))


def lines_of(script: str, way: str, user: str = "ordinary") -> list[dict[str, object]]:
    """Run a driver, as root or as a user who may do nothing, and return what it says."""
    command = [sys.executable, "-B"]
    if ROOT and user == "ordinary":
        command += [str(HERE / "as_user.py"), USER]
    environment = {**os.environ, "SECRET_KEY": f"SECRET-{secrets.token_hex(8)}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(HERE / script), way], env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def told(lines: list[dict[str, object]], **wanted: object) -> list[str]:
    """Return the lines that have these values, to read."""
    return [json.dumps(line) for line in lines if all(line[key] == value for key, value in wanted.items())]


def test_there_are_about_a_hundred_attacks_and_cheats_with_names_of_their_own() -> None:
    names = [a.name for a in ATTACKS] + [c.name for c in CHEATS]
    assert len(names) == len(set(names)) >= 100


def test_uncontained_every_attack_works() -> None:
    lines = lines_of("driver.py", "plain")
    assert len(lines) == len(ATTACKS)
    excused = {attack.name for attack in ATTACKS if attack.control is not None}
    assert [line for line in told(lines, worked=False) if json.loads(line)["name"] not in excused] == []


def test_a_careless_harness_falls_for_every_cheat() -> None:
    lines = lines_of("cheat_driver.py", "naive")
    assert len(lines) == len(CHEATS)
    excused = {cheat.name for cheat in CHEATS if cheat.control is not None}
    assert [line for line in told(lines, worked=False) if json.loads(line)["name"] not in excused] == []
    assert told(lines, honest=False) == []


@pytest.mark.parametrize("user", [as_root, "ordinary"])
@pytest.mark.parametrize("way", ["forkserver", "forkserver-alone"])
def test_contained_no_attack_works_and_the_next_candidate_scores_as_before(way: str, user: str) -> None:
    lines = lines_of("driver.py", way, user)
    assert len(lines) == len(ATTACKS)
    assert told(lines, worked=True) == []
    assert told(lines, honest=False) == []


@pytest.mark.parametrize("user", [as_root, "ordinary"])
def test_contained_no_cheat_pays_and_the_honest_program_scores_as_before(user: str) -> None:
    lines = lines_of("cheat_driver.py", "forkserver", user)
    assert len(lines) == len(CHEATS)
    assert told(lines, worked=True) == []
    assert told(lines, honest=False) == []
