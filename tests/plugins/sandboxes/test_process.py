"""What the plain process promises beyond the contract of a sandbox."""

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from boxes import LIMITS, WORKSPACE, children, job
from speciate.core.errors import SpeciateError
from speciate.core.evaluation import RunResult, Status
from speciate.core.program import Program
from speciate.core.sandbox import Job, Limits, Workspace
from speciate.plugins.sandboxes.process import ProcessSandbox

pytestmark = pytest.mark.filterwarnings("ignore:candidates are contained by a process alone:RuntimeWarning")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ProcessSandbox]:
    made = ProcessSandbox()
    made.open(WORKSPACE)
    yield made
    made.close()


def test_it_warns_that_it_is_weak() -> None:
    box = ProcessSandbox()
    with pytest.warns(RuntimeWarning, match="run no program you do not trust"):
        box.open(Workspace(limits=LIMITS))
    box.close()


def test_it_refuses_to_start_when_more_is_required() -> None:
    box = ProcessSandbox(ProcessSandbox.Options(require="strong"))
    with pytest.raises(SpeciateError, match="is to be 'strong' and this machine gives 'basic'"):
        box.open(Workspace())


def test_nothing_of_the_engines_environment_is_seen(sandbox: ProcessSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    result = sandbox.run(job("import os\ndef main():\n    return 'OPENAI_API_KEY' in os.environ\n"))
    assert result.value == "false"


def test_a_run_leaves_no_folder_and_no_process(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    before, theirs = set(os.listdir(tempfile.gettempdir())), children()
    deep = "import os\ndef main():\n    for i in range(1500):\n        os.mkdir('d')\n        os.chdir('d')\n"
    forks = "import os, time\ndef main():\n    if os.fork() == 0:\n        time.sleep(600)\n    return 1\n"
    assert sandbox.run(job(deep)).value == "null"
    assert sandbox.run(job(forks)).value == "1"
    left = {name for name in set(os.listdir(tempfile.gettempdir())) - before if name.startswith("candidate-")}
    assert left == set()
    assert children() == theirs


def test_the_imports_of_the_workspace_are_not_charged(sandbox: ProcessSandbox) -> None:
    result = sandbox.run(job("def main():\n    return 1\n"))
    assert result.value == "1"
    assert result.cost.cpu_s < LIMITS.cpu_s / 2


def test_its_folder_has_the_files_and_no_name_of_its_own_in_what_is_told(sandbox: ProcessSandbox) -> None:
    text = "import os\ndef main():\n    print(os.getcwd())\n    raise ValueError(os.getcwd())\n"
    first, second = sandbox.run(job(text)), sandbox.run(job(text))
    assert first.stdout == "<scratch>\n"
    assert (first.reason, first.stdout) == (second.reason, second.stdout)


def test_closing_from_another_thread_ends_a_run() -> None:
    box = ProcessSandbox()
    box.open(Workspace(limits=Limits(wall_s=600.0, cpu_s=600.0)))
    before = children()
    results: list[RunResult] = []
    thread = threading.Thread(
        target=lambda: results.append(box.run(job("import time\ndef main():\n    time.sleep(600)\n")))
    )
    thread.start()
    while children() <= before:
        time.sleep(0.01)
    box.close()
    thread.join(5)
    assert results[0].status is Status.INFRA
    assert children() == before


def test_files_of_a_program_can_be_imported(sandbox: ProcessSandbox) -> None:
    files = {"main.py": "import other\ndef main():\n    return other.x\n", "other.py": "x = 'ß'\n"}
    assert json.loads(sandbox.run(Job(Program.of(files), "main.py")).value or "null") == "ß"


def test_what_cannot_be_imported_is_said_at_the_start() -> None:
    with pytest.raises(SpeciateError, match="No module named 'no_such_module'"):
        ProcessSandbox().open(Workspace(preload=("no_such_module",)))
