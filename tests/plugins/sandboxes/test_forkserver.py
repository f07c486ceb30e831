"""What the fork server promises beyond the contract of a sandbox."""

# ruff: noqa: E501

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from boxes import LIMITS, WORKSPACE, children, job, lives
from speciate.core.errors import SpeciateError
from speciate.core.evaluation import RunResult, Status
from speciate.core.program import Program
from speciate.core.sandbox import Job, Limits, Sandbox, Workspace
from speciate.plugins.sandboxes.forkserver import ForkServer

HONEST = "import numpy as np\ndef main():\n    return np.linspace(0, 1, 3)\n"


def value(result: RunResult) -> object:
    assert result.status is Status.OK, result
    assert result.value is not None
    return json.loads(result.value)


def reason(result: RunResult, status: Status = Status.CRASHED) -> str:
    assert result.status is status, result
    assert result.reason is not None
    return result.reason


# What honest programs rely on


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import numpy as np\ndef main():\n    return {'a': np.float32(0.5), 'b': (np.int64(3), np.bool_(True))}\n", {"a": 0.5, "b": [3, True]}),
        ("import numpy as np\ndef main():\n    return {np.int64(3): np.ones(2)}\n", {"3": [1.0, 1.0]}),
        ("import numpy as np\ndef main():\n    return np.array([[1, 2], [3, 4]], dtype='>i4')\n", [[1, 2], [3, 4]]),
        ("import numpy as np\ndef main():\n    return np.zeros((0, 3))\n", []),
        ("import numpy as np\ndef main():\n    return np.array([1, 2], dtype=np.longdouble)\n", [1.0, 2.0]),
        ("import numpy as np\ndef main():\n    return np.array(['a', None], dtype=object)\n", ["a", None]),
        ("from fractions import Fraction\ndef main():\n    return [Fraction(1, 4), {2, 1}]\n", [0.25, [1, 2]]),
        ("from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef main():\n    return P(1, 2)\n", [1, 2]),
        ("import blocks\ndef main():\n    return blocks.seven()\n", 7),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(0.001)\n    return 5\ndef main():\n    return asyncio.run(f())\n", 5),
        ("from concurrent.futures import ThreadPoolExecutor\ndef main():\n    with ThreadPoolExecutor(4) as p:\n        return list(p.map(abs, [-1, -2, -3]))\n", [1, 2, 3]),
        ("from scipy.optimize import linprog\ndef main():\n    return round(linprog([1, 2], A_ub=[[-1, -1]], b_ub=[-1]).fun, 6)\n", 1.0),
        ("import numpy as np\nfrom scipy.optimize import milp, LinearConstraint\ndef main():\n    r = milp([-1, -1], integrality=[1, 1], constraints=LinearConstraint([[2, 1]], ub=3.5))\n    return round(-r.fun)\n", 3),
        ("import statistics, sqlite3, zoneinfo\ndef main():\n    return sqlite3.connect(':memory:').execute('select 41 + 1').fetchone()[0]\n", 42),
        ("def main():\n    größe = 'höhe – 高さ'\n    return größe\n", "höhe – 高さ"),
        ("import os\ndef main():\n    return sorted(os.environ.keys() - {'OPENBLAS_CORETYPE', 'OPENBLAS_L2_SIZE'})\n",
         ["HOME", "LC_ALL", "LC_CTYPE", "MALLOC_ARENA_MAX", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED", "TMPDIR"]),
    ],
)  # fmt: skip
def test_an_honest_program_runs(sandbox: ForkServer, text: str, expected: object) -> None:
    found = value(sandbox.run(job(text)))
    if isinstance(found, list) and "LC_CTYPE" in expected:  # type: ignore[operator]
        found = sorted({*found, "LC_CTYPE"})
    assert found == expected


def test_an_improver_gets_what_came_before(sandbox: ForkServer) -> None:
    text = "def improve(previous, effort, seed):\n    return [previous, effort, seed]\n\ndef main(n):\n    return n\n"
    given = {"previous": [[0.1, 2e-300]], "effort": 16, "seed": 3, "n": 26}
    result = sandbox.run(job(text, entries=("improve", "main"), arguments=given))
    assert value(result) == [[[0.1, 2e-300]], 16, 3]


def test_a_missing_entry_is_named(sandbox: ForkServer) -> None:
    assert reason(sandbox.run(job("x = 1\n"))) == "program defines no function 'main'"


def test_what_a_candidate_raises_is_told_with_its_own_lines_and_no_path_of_this_machine(sandbox: ForkServer) -> None:
    text = "import numpy as np\ndef f(x):\n    return np.linalg.inv(x)\n\ndef main():\n    return f(np.zeros((2, 2)))\n"
    said = reason(sandbox.run(job(text)))
    assert said.startswith(
        "LinAlgError: Singular matrix (program.py line 3 in f, called from program.py line 6 in main"
    )
    assert "return np.linalg.inv(x)" in said
    assert sys.prefix not in said
    said = reason(sandbox.run(job("def main():\n    raise ValueError(__import__('numpy').__file__)\n")))
    assert sys.prefix not in said
    assert "numpy/__init__.py" in said


def test_addresses_in_memory_are_not_told(sandbox: ForkServer) -> None:
    text = "def main():\n    raise ValueError(object())\n"
    first, second = sandbox.run(job(text)), sandbox.run(job(text))
    assert first.reason == second.reason
    assert "at 0x…" in reason(first)


def test_files_of_a_program_are_importable_and_readable(sandbox: ForkServer) -> None:
    files = {
        "main.py": "import pkg.deep as d\nfrom pkg import top\n\ndef main():\n    return [d.x, top, open('data/t.txt').read()]\n",
        "pkg/__init__.py": "top = 'ü'\n",
        "pkg/deep.py": "from . import top\nx = top * 2\n",
        "data/t.txt": "text",
    }
    if not sandbox.layers["scratch"]:
        pytest.skip("this machine gives no scratch folder")
    assert value(sandbox.run(Job(Program.of(files), "main.py"))) == ["üü", "ü", "text"]


def test_files_of_a_program_do_not_reach_the_next_one(sandbox: ForkServer) -> None:
    first = Job(
        Program.of({"program.py": "import other\ndef main():\n    return 1\n", "other.py": "x = 1\n"}), "program.py"
    )
    assert value(sandbox.run(first)) == 1
    look = "import os\ndef main():\n    try:\n        import other\n    except ImportError:\n        return [n for n in os.listdir('.') if n == 'other.py']\n    return 'found'\n"
    assert sandbox.run(job(look)).value in ("[]", None)


def test_a_program_cannot_replace_a_module_of_the_workspace(sandbox: ForkServer) -> None:
    files = {
        "program.py": "import blocks\ndef main():\n    return blocks.seven()\n",
        "blocks.py": "def seven():\n    return 8\n",
    }
    assert value(sandbox.run(Job(Program.of(files), "program.py"))) == 7


def test_a_patched_numpy_does_not_reach_the_next_candidate(sandbox: ForkServer) -> None:
    patch = "import numpy as np\nnp.linspace = np.sum = lambda *a, **k: 42\ndef main():\n    return int(np.sum([1]))\n"
    assert value(sandbox.run(job(patch))) == 42
    assert value(sandbox.run(job(HONEST))) == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_equal_seeds_give_equal_numbers_after_any_history(sandbox: ForkServer, seed: int) -> None:
    text = "import random, numpy as np\nx = random.random()\ndef main():\n    return [x, random.random(), float(np.random.rand())]\n"
    first = value(sandbox.run(job(text, seed=seed)))
    sandbox.run(job("import numpy as np\ndef main():\n    return float(np.random.rand())\n", seed=9))
    assert value(sandbox.run(job(text, seed=seed))) == first


def test_numpy_is_seeded_when_only_the_candidate_imports_it() -> None:
    box = ForkServer()
    box.open(Workspace(limits=LIMITS))
    try:
        text = "import numpy as np\nx = float(np.random.rand())\ndef main():\n    return x\n"
        assert value(box.run(job(text, seed=4))) == value(box.run(job(text, seed=4)))
        assert value(box.run(job(text, seed=4))) != value(box.run(job(text, seed=5)))
    finally:
        box.close()


def test_texts_hash_alike_in_every_server(sandbox: ForkServer) -> None:
    text = "def main():\n    return [hash('text'), list({'a', 'b', 'c', 'd', 'e'})]\n"
    other = ForkServer()
    other.open(Workspace(limits=LIMITS))
    try:
        assert value(other.run(job(text))) == value(sandbox.run(job(text)))
    finally:
        other.close()


def test_a_program_whose_files_cannot_be_written_is_no_outage(sandbox: ForkServer) -> None:
    files = {"program.py": "def main():\n    return 1\n", "a": "x", "a/b": "y", "n\0l": "z", "../out": "w", "/abs": "v"}
    assert value(sandbox.run(Job(Program.of(files), "program.py"))) == 1


def test_a_candidate_that_cannot_be_confined_is_not_run() -> None:
    class Broken(ForkServer):
        """A server whose filter cannot be loaded, as on a kernel that refuses it."""

        def _hello(self) -> dict[str, Any]:
            hello = super()._hello()
            parts = dict(hello["parts"])
            parts["child_server"] = parts["child_server"].replace("confine.no_new_privileges()", "1 / 0")
            return {**hello, "parts": list(parts.items())}

    box = Broken()
    box.open(Workspace(limits=LIMITS))
    try:
        said = reason(box.run(job("def main():\n    return 1\n")), Status.INFRA)
        assert "it could not be confined: ZeroDivisionError" in said
    finally:
        box.close()


def test_the_engine_cannot_be_imported(sandbox: ForkServer) -> None:
    assert "No module named 'speciate'" in reason(sandbox.run(job("import speciate\ndef main():\n    return 1\n")))
    seen = (
        "import sys\ndef main():\n    return [m for m in sys.modules if m.startswith('speciate') or 'contained' in m]\n"
    )
    assert not any("speciate" in name for name in value(sandbox.run(job(seen))))  # type: ignore[attr-defined]


# What limits do


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("def main():\n    while True:\n        pass\n", Status.TIMEOUT, "limit of 1 s of CPU time"),
        ("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\ndef main():\n    while True:\n        pass\n", Status.TIMEOUT, "limit of 1 s of CPU time"),
        ("import time\ndef main():\n    time.sleep(60)\n", Status.TIMEOUT, "limit of 5 s of wall time"),
        ("def main():\n    return sum(len(bytes(1 << 26)) for _ in [x for x in [bytearray(1 << 26) for _ in range(64)]])\n", Status.CRASHED, "the memory limit of 512 MiB"),
        ("def main():\n    return 'x' * 100_000_000\n", Status.INVALID, "the output is larger than the limit of 65536 bytes"),
        ("import numpy as np\ndef main():\n    return np.zeros(10_000_000)\n", Status.INVALID, "the output is larger than the limit"),
        ("import numpy as np\ndef main():\n    return np.random.rand(8000)\n", Status.INVALID, "the output is larger than the limit"),
        ("def main():\n    return {1j}\n", Status.INVALID, "a complex is not plain data"),
        ("def main():\n    return b'bytes'\n", Status.INVALID, "a bytes is not plain data"),
        ("import os\ndef main():\n    os._exit(0)\n", Status.CRASHED, "exit code 0 before it returned anything"),
        ("import sys\ndef main():\n    sys.exit('bye')\n", Status.CRASHED, "SystemExit: bye"),
        ("import ctypes\ndef main():\n    ctypes.string_at(0)\n", Status.CRASHED, "segmentation fault"),
        ("import os\ndef main():\n    os.abort()\n", Status.CRASHED, "signal 6"),
        ("def main():\n    return (\n", Status.CRASHED, "SyntaxError: '(' was never closed (program.py, line 2)"),
        ("import os\ndef main():\n    return os.fork()\n", Status.CRASHED, "PermissionError"),
        ("import subprocess\ndef main():\n    return subprocess.run(['/bin/true']).returncode\n", Status.CRASHED, "PermissionError"),
        ("import multiprocessing\ndef main():\n    with multiprocessing.Pool(2) as p:\n        return p.map(abs, [1])\n", Status.CRASHED, "Error"),
    ],
)  # fmt: skip
def test_a_limit_ends_a_program_with_a_sentence(sandbox: ForkServer, text: str, status: Status, said: str) -> None:
    result = sandbox.run(job(text))
    assert said in reason(result, status)
    assert result.value is None
    assert value(sandbox.run(job(HONEST))) == [0.0, 0.5, 1.0], "the next honest program is not touched by it"


def test_a_limit_below_a_second_is_kept() -> None:
    box = ForkServer()
    box.open(Workspace(limits=Limits(wall_s=30.0, cpu_s=0.2)))
    try:
        result = box.run(job("def main():\n    while True:\n        pass\n"))
        assert reason(result, Status.TIMEOUT) == "the limit of 0.2 s of CPU time was reached"
        assert 0.2 <= result.cost.cpu_s < 1.0
    finally:
        box.close()


def test_a_flood_of_text_is_cut_and_the_value_kept(sandbox: ForkServer) -> None:
    result = sandbox.run(job("def main():\n    for i in range(200_000):\n        print('x' * 99)\n    return 1\n"))
    assert value(result) == 1
    assert len(result.stdout) < LIMITS.stdout_bytes + 200
    assert "the rest is left out" in result.stdout


def test_what_was_printed_before_a_crash_is_kept(sandbox: ForkServer) -> None:
    result = sandbox.run(job("import os\ndef main():\n    print('ü here')\n    os.kill(os.getpid(), 9)\n"))
    assert result.stdout == "ü here\n"
    assert "killed" in reason(result)


def test_two_runs_differ_in_cost_alone(sandbox: ForkServer) -> None:
    text = "import os, sys\ndef main():\n    print(os.getcwd(), file=sys.stderr)\n    return [0.1, os.getcwd()]\n"
    first, second = sandbox.run(job(text)), sandbox.run(job(text))
    assert (first.status, first.value, first.reason, first.stdout) == (
        second.status,
        second.value,
        second.reason,
        second.stdout,
    )


def test_cost_counts_the_threads_of_a_program(sandbox: ForkServer) -> None:
    text = "import threading\ndef f():\n    sum(range(3_000_000))\ndef main():\n    t = threading.Thread(target=f)\n    t.start()\n    t.join()\n    return 1\n"
    result = sandbox.run(job(text))
    assert value(result) == 1
    assert result.cost.cpu_s > 0.01
    assert result.cost.max_rss_bytes > 1 << 20


# What stays behind


def descriptors_of(pids: set[int]) -> dict[int, int]:
    """Return how many descriptors processes hold, of those that let themselves be looked into: for root, all."""
    found = {}
    for pid in pids:
        with contextlib.suppress(PermissionError):
            found[pid] = len(os.listdir(f"/proc/{pid}/fd"))
    return found


def test_nothing_grows_over_two_hundred_runs() -> None:
    others = children()
    box = ForkServer()
    box.open(WORKSPACE)
    try:
        texts = [HONEST, "def main():\n    raise ValueError\n", "import os\ndef main():\n    os._exit(1)\n"]
        box.run(job(HONEST))
        server = children() - others
        before = len(os.listdir("/proc/self/fd"))
        theirs = descriptors_of(server)
        for number in range(200):
            box.run(job(texts[number % 3]))
        assert len(os.listdir("/proc/self/fd")) == before
        assert children() - others == server, "no process is left"
        assert descriptors_of(server) == theirs
    finally:
        box.close()
    assert children() == others


@pytest.mark.parametrize(
    "text", ["while True:\n        pass", "import time; time.sleep(600)", "import threading; threading.Event().wait()"]
)
@pytest.mark.parametrize("namespaces", [True, False])
def test_closing_from_another_thread_kills_at_once(text: str, namespaces: bool) -> None:
    others = children()
    box = ForkServer(ForkServer.Options(namespaces=namespaces))
    box.open(Workspace(limits=Limits(wall_s=600.0, cpu_s=600.0)))
    server = children()
    results: list[RunResult] = []
    thread = threading.Thread(target=lambda: results.append(box.run(job(f"def main():\n    {text}\n"))))
    thread.start()
    while children() <= server:
        time.sleep(0.01)
    began = time.monotonic()
    box.close()
    thread.join(10)
    assert time.monotonic() - began < 1.5
    assert results[0].status is Status.INFRA
    assert children() == others
    assert box.run(job(HONEST)).status is Status.INFRA, "a closed sandbox runs nothing"


def test_a_server_that_dies_is_replaced_and_the_job_is_run(sandbox: ForkServer) -> None:
    sandbox.run(job(HONEST))
    for pid in children():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert value(sandbox.run(job(HONEST))) == [0.0, 0.5, 1.0]


def test_a_server_that_dies_twice_is_an_outage_and_the_next_job_runs() -> None:
    box = ForkServer()
    others = children()
    box.open(Workspace(limits=LIMITS))
    stop = threading.Event()

    def murder() -> None:
        while not stop.is_set():
            for pid in children() - others:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)

    thread = threading.Thread(target=murder)
    thread.start()
    try:
        try:
            result = box.run(job("import time\ndef main():\n    time.sleep(1)\n"))
        finally:
            stop.set()
            thread.join()
        assert result.status is Status.INFRA
        assert "its server died" in reason(result, Status.INFRA)
        assert value(box.run(job(HONEST))) == [0.0, 0.5, 1.0]
    finally:
        box.close()


def test_an_engine_that_is_killed_takes_its_servers_and_candidates_with_it(tmp_path: Path) -> None:
    script = (
        "import sys\nsys.path[:0] = [p for p in sys.argv[1:] if p]\n"
        "from speciate.core.program import Program\nfrom speciate.core.sandbox import Job, Limits, Workspace\n"
        "from speciate.plugins.sandboxes.forkserver import ForkServer\n"
        "box = ForkServer()\nbox.open(Workspace(limits=Limits(wall_s=600, cpu_s=600)))\nprint('open', flush=True)\n"
        "box.run(Job(Program.of({'p.py': 'def main():\\n    while True:\\n        pass\\n'}), 'p.py'))\n"
    )
    engine = subprocess.Popen([sys.executable, "-c", script, *sys.path], stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None
    assert engine.stdout.readline() == "open\n"
    time.sleep(0.3)
    theirs = children(engine.pid)
    assert theirs
    engine.kill()
    engine.wait()
    engine.stdout.close()
    deadline = time.monotonic() + 5
    while (left := {pid for pid in theirs if lives(pid)}) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left


# How it starts


@pytest.mark.parametrize(
    ("workspace", "said"),
    [
        (Workspace(preload=("no_such_module",)), "No module named 'no_such_module'"),
        (Workspace(modules={"blocks": "1 / 0\n"}), "ZeroDivisionError"),
        (Workspace(preload=("speciate.core",)), "No module named 'speciate'"),
    ],
)
def test_what_cannot_be_imported_is_said_at_the_start(workspace: Workspace, said: str) -> None:
    box = ForkServer()
    before = children()
    with pytest.raises(SpeciateError, match="the sandbox cannot start") as caught:
        box.open(workspace)
    assert said in str(caught.value)
    assert children() == before


def test_it_starts_in_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "read only"
    folder.mkdir(mode=0o555)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    box: Sandbox = ForkServer()
    box.open(WORKSPACE)
    try:
        assert value(box.run(job("def main():\n    print('ß')\n    return 'ß'\n"))) == "ß"
        assert list(folder.iterdir()) == []
    finally:
        box.close()


def test_the_level_is_strong_with_landlock_and_seccomp(sandbox: ForkServer) -> None:
    assert sandbox.level == ("strong" if sandbox.layers["landlock"] and sandbox.layers["seccomp"] else "basic")


def test_without_namespaces_it_says_so_and_still_works() -> None:
    box = ForkServer(ForkServer.Options(namespaces=False))
    box.open(WORKSPACE)
    try:
        assert not box.layers["namespaces"]
        assert value(box.run(job(HONEST))) == [0.0, 0.5, 1.0]
    finally:
        box.close()
