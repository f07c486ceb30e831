"""What a contained evaluation costs, and what stays behind: a table, with every ratio taken within one run.

    python tests/benchmarks/bench_sandbox.py [--evaluations 10000] [--rounds 60] [--quick]

Ways of running a candidate take turns, so that whatever else the machine does meets all of them alike.
"""

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import conftest as _conftest  # noqa: F401 it makes the package importable in a bare clone
from speciate.core.errors import SpeciateError
from speciate.core.program import Program
from speciate.core.sandbox import Job, Limits, Sandbox, Workspace
from speciate.plugins.sandboxes.forkserver import ForkServer

PRELOAD = ("numpy", *(f"scipy.{n}" for n in ("optimize", "sparse", "stats", "spatial", "signal", "linalg")))
TRIVIAL = "def main():\n    return 1\n"
WORK = "import time\ndef main(seconds):\n    end = time.process_time() + seconds\n    while time.process_time() < end:\n        sum(range(10000))\n    return 1\n"  # noqa: E501
FAULTS = (
    TRIVIAL,
    "import numpy as np\ndef main():\n    return np.ones(100)\n",
    "def main():\n    raise ValueError\n",
    "import os\ndef main():\n    os._exit(1)\n",
    "def main():\n    return open('a', 'w').write('x' * 1000)\n",
)
CONFINING = (
    "basics.limit(", "confine.drop_privileges(", "basics.die_with_parent(", "confine.hide_memory(",
    "confine.no_new_privileges(", "landlock.restrict(", "self._load(",
)  # fmt: skip


def job(text: str, **arguments: Any) -> Job:
    """Return the execution of a program of one file."""
    return Job(Program.of({"program.py": text}), "program.py", arguments=arguments)


class Unconfined(ForkServer):
    """The same fork server with every step of confinement left out: what is left is fork, run and exit."""

    def _hello(self) -> dict[str, Any]:
        hello = super()._hello()
        parts = dict(hello["parts"])
        text = parts["child_server"]
        start, end = text.index("    def _be_candidate"), text.index("    def _tasks")
        body = text[start:end]
        for call in CONFINING:
            assert body.count(call) == 1, call
            body = body.replace(call, "(lambda *arguments: None)(")
        return {**hello, "parts": list({**parts, "child_server": text[:start] + body + text[end:]}.items())}


def cold(imports: tuple[str, ...]) -> Callable[[], None]:
    """Return a call that starts a Python process, imports, and ends: what an evaluation costs others."""
    script = "".join(f"import {name}\n" for name in imports) + TRIVIAL + "print(main())\n"

    def run() -> None:
        subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)

    return run


def served_by(box: Sandbox, workspace: Workspace, cpu: list[float]) -> Callable[[], None]:
    """Return a call that evaluates the trivial program in a sandbox, which is opened, and notes the CPU time."""
    box.open(workspace)
    trivial = job(TRIVIAL)

    def run() -> None:
        result = box.run(trivial)
        assert result.value == "1"
        cpu.append(1000 * result.cost.cpu_s)

    return run


def ways_to_run(cpu: dict[str, list[float]]) -> tuple[dict[str, Callable[[], None]], list[Sandbox]]:
    """Return every way that this machine has, and the sandboxes that are open for them."""
    boxes: dict[str, Sandbox] = {
        "fork server": ForkServer(),
        "fork server, no namespaces": ForkServer(ForkServer.Options(namespaces=False)),
        "fork server, nothing confined": Unconfined(),
    }
    if importlib.util.find_spec("docker"):
        from speciate.plugins.sandboxes.docker import DockerSandbox

        boxes["fork server in a container"] = DockerSandbox()
    ways: dict[str, Callable[[], None]] = {}
    for name, box in boxes.items():
        try:
            ways[name] = served_by(box, Workspace(preload=PRELOAD), cpu.setdefault(name, []))
        except SpeciateError as error:
            print(f"({name}: left out, {error})")
    ways |= {"python, all imports": cold(PRELOAD), "python with numpy": cold(("numpy",)), "python alone": cold(())}
    return ways, [box for name, box in boxes.items() if name in ways]


def latencies(rounds: int) -> None:
    """Print what one trivial evaluation takes, in every way."""
    cpu: dict[str, list[float]] = {}
    ways, boxes = ways_to_run(cpu)
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name, run in ways.items():
            if name == "python, all imports" and number % 10:
                continue
            began = time.perf_counter()
            run()
            times[name].append(1000 * (time.perf_counter() - began))
    for box in boxes:
        box.close()
    ours = statistics.median(times["fork server"])
    print(f"\n{'one trivial evaluation, numpy and scipy imported':50} {'median':>9} {'least':>9} {'× ours':>8}")
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"  {name:48} {median:7.2f}ms {min(taken):7.2f}ms {median / ours:8.2f}")
    print(f"\n{'CPU time of the candidate, its fork and exit':50} {'median':>9} {'least':>9}")
    for name, taken in cpu.items():
        if taken:
            print(f"  {name:48} {statistics.median(taken):7.2f}ms {min(taken):7.2f}ms")
    full, bare = cpu["fork server"], cpu["fork server, nothing confined"]
    share, least = statistics.median(full) - statistics.median(bare), min(full) - min(bare)
    print(f"  the sandbox's own share: {share:.2f} ms between the medians, {least:.2f} ms between the least")


def share_in_candidates(workers: int, seconds: float) -> None:
    """Print which part of the workers' time candidates of 0.1 to 1 s had."""
    workspace = Workspace(preload=PRELOAD, limits=Limits(wall_s=60, cpu_s=30))
    boxes = [ForkServer() for _ in range(workers)]
    for box in boxes:
        box.open(workspace)
    inside = [0.0] * workers
    elapsed = [0.0] * workers

    def work(number: int) -> None:
        began = time.perf_counter()
        size = 0
        while time.perf_counter() - began < seconds:
            result = boxes[number].run(job(WORK, seconds=(0.1, 0.25, 0.5, 1.0)[size % 4]))
            inside[number] += result.cost.wall_s
            size += 1
        elapsed[number] = time.perf_counter() - began

    threads = [threading.Thread(target=work, args=(number,)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for box in boxes:
        box.close()
    share = 100 * sum(inside) / sum(elapsed)
    print(f"\n{workers} workers, candidates of 0.1 to 1 s: {share:.1f} % of their time in candidates")


def memory_of(pid: int) -> int:
    """Return the resident bytes of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def what_stays(evaluations: int) -> None:
    """Print what many evaluations leave: memory of engine and server, descriptors, processes, folders."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "plugins" / "sandboxes"))
    from boxes import children

    box = ForkServer()
    box.open(Workspace(preload=PRELOAD))
    jobs = [job(text) for text in FAULTS]
    folder = tempfile.gettempdir()

    def state() -> tuple[int, int, int, int, int]:
        below = children()
        held = len(os.listdir("/proc/self/fd"))
        return memory_of(os.getpid()), max(map(memory_of, below)), held, len(below), len(os.listdir(folder))

    print(f"\n{'after':>12} {'engine':>10} {'server':>10} {'descriptors':>12} {'processes':>10} {'in ' + folder:>10}")
    began = time.perf_counter()
    for number in range(evaluations + 1):
        if number in (evaluations // 10, evaluations // 2, evaluations):
            mine, theirs, held, below, left = state()
            print(f"{number:12,} {mine >> 10:8,}KB {theirs >> 10:8,}KB {held:12} {below:10} {left:10}")
        box.run(jobs[number % len(jobs)])
    print(f"  {evaluations / (time.perf_counter() - began):.0f} evaluations a second, one worker")
    box.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--quick", action="store_true", help="fewer of everything")
    given = parser.parse_args()
    if given.quick:
        given.evaluations, given.rounds = 500, 20
    with open("/proc/loadavg") as load:
        print(f"load {load.read().split()[0]} on {os.cpu_count()} cores")
    latencies(given.rounds)
    share_in_candidates(2, 5.0 if given.quick else 20.0)
    what_stays(given.evaluations)


if __name__ == "__main__":
    main()
