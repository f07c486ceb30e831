"""The fork server in a container: the contract, the limits, and what is left of it. Needs an engine that answers."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from boxes import LIMITS, WORKSPACE, job
from speciate.core.errors import SpeciateError
from speciate.core.evaluation import RunResult, Status
from speciate.core.sandbox import Limits, Workspace
from speciate.core.testing import SandboxContract
from test_attacks import ATTACKS, CHEATS, lines_of, told

docker: Any = pytest.importorskip("docker", reason="the extra `docker` is not installed")

from speciate.plugins.sandboxes.docker import DockerSandbox  # noqa: E402
from speciate.plugins.sandboxes.docker_probe import read_probe  # noqa: E402

try:
    CLIENT = docker.from_env()
    WHY_NOT = ""
except docker.errors.DockerException as error:
    WHY_NOT = f"no container engine answers: {error}"

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it answers")]


def containers(engine: int | None = None) -> list[str]:
    """Return the containers that this process started, or another: several may use one container engine."""
    label = f"speciate.engine={os.getpid() if engine is None else engine}"
    return [c.id for c in CLIENT.containers.list(all=True, filters={"label": label})]


@pytest.fixture(scope="module")
def box() -> Iterator[DockerSandbox]:
    made = DockerSandbox()
    made.open(WORKSPACE)
    yield made
    made.close()


class TestContract(SandboxContract):
    def component(self) -> DockerSandbox:
        return DockerSandbox()


def test_every_limit_of_the_container_was_seen_to_hold(box: DockerSandbox) -> None:
    assert {name: held for name, held in box.layers.items() if name.startswith("container")} == {
        "container: process limit": True,
        "container: memory limit": True,
        "container: read-only": True,
        "container: no network": True,
        "container: no privileges": True,
    }
    assert box.level == "strong"


def test_it_holds_against_its_own_attacks(box: DockerSandbox) -> None:
    assert box.self_test().missing == ()


def test_a_limit_that_an_engine_ignores_is_seen() -> None:
    lax = {"forks": 256, "wrote": True, "interfaces": ["eth0"], "rights": 1, "new": "0", "user": 0}
    written = json.dumps(lax) + "\n" + json.dumps({"hoarded": True}) + "\n"
    assert set(read_probe(written.encode(), 32).values()) == {False}
    assert set(read_probe(b"", 32).values()) == {False}


def test_weak_containment_is_refused_when_strong_is_required(box: DockerSandbox) -> None:
    weak = DockerSandbox(DockerSandbox.Options(require="strong"))
    weak._probed = {**box._probed, "container: memory limit": False}
    with pytest.raises(SpeciateError, match="does not enforce: container: memory limit"):
        weak.open(Workspace(limits=LIMITS))


def test_closing_from_another_thread_removes_the_container() -> None:
    made = DockerSandbox()
    before = containers()
    made.open(Workspace(limits=Limits(wall_s=600.0, cpu_s=600.0)))
    results: list[RunResult] = []
    loop = job("def main():\n    while True:\n        pass\n")
    thread = threading.Thread(target=lambda: results.append(made.run(loop)))
    thread.start()
    time.sleep(0.5)
    made.close()
    thread.join(10)
    assert results[0].status is Status.INFRA
    assert containers() == before


def test_an_engine_that_is_killed_leaves_no_container() -> None:
    script = (
        "import sys\nsys.path[:0] = [p for p in sys.argv[1:] if p]\nimport time\n"
        "from speciate.core.sandbox import Workspace\nfrom speciate.plugins.sandboxes.docker import DockerSandbox\n"
        "box = DockerSandbox()\nbox.open(Workspace())\nprint('open', flush=True)\ntime.sleep(600)\n"
    )
    engine = subprocess.Popen([sys.executable, "-c", script, *sys.path], stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None
    assert engine.stdout.readline() == "open\n"
    assert len(containers(engine.pid)) == 1
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    engine.stdout.close()
    deadline = time.monotonic() + 20
    while containers(engine.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert containers(engine.pid) == []


def test_a_container_that_is_killed_is_replaced_and_the_job_is_run(box: DockerSandbox) -> None:
    CLIENT.containers.get(containers()[0]).kill()
    result = box.run(job("def main():\n    return 1\n"))
    assert result.value == "1", result


def test_an_image_that_is_not_there_is_said_in_one_sentence() -> None:
    with pytest.raises(SpeciateError, match="no container can be started"):
        DockerSandbox(DockerSandbox.Options(image="no-such-image:0")).open(Workspace())


def test_no_attack_works_and_the_next_candidate_scores_as_before() -> None:
    lines = lines_of("driver.py", "docker", "root")
    assert len(lines) == len(ATTACKS)
    assert told(lines, worked=True) == []
    assert told(lines, honest=False) == []


def test_no_cheat_pays_and_the_honest_program_scores_as_before() -> None:
    lines = lines_of("cheat_driver.py", "docker", "root")
    assert len(lines) == len(CHEATS)
    assert told(lines, worked=True) == []
    assert told(lines, honest=False) == []
