"""Runs every attack in one way of running candidates and says, a line of JSON each, what came of it.

    SECRET_KEY=SECRET-123 python driver.py plain|process|forkserver|forkserver-alone|docker|command

The key stands for whatever an engine has in its environment.
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[2]
sys.path[:0] = [str(TESTS), str(HERE), str(HERE.parent)]

import conftest as _conftest  # noqa: E402, F401 it makes the package importable in a bare clone
from aims import Aims  # noqa: E402
from boxes import children  # noqa: E402
from speciate.core.evaluation import RunResult, Status  # noqa: E402
from speciate.core.program import Program  # noqa: E402
from speciate.core.sandbox import Job, Limits, Sandbox, Workspace  # noqa: E402
from speciate.plugins.sandboxes.command import Command, CommandSandbox  # noqa: E402
from table import ATTACKS, Attack, Outcome  # noqa: E402

LIMITS = Limits(
    wall_s=1.5, cpu_s=0.5, memory_bytes=512 << 20, output_bytes=1 << 20, stdout_bytes=1 << 16, scratch_bytes=16 << 20
)
GENEROUS = Limits(
    wall_s=20.0, cpu_s=10.0, memory_bytes=512 << 20, output_bytes=1 << 20, stdout_bytes=1 << 16, scratch_bytes=16 << 20
)
"""For attacks that are not about time: those take as long as they need on a busy machine."""
PATIENCE_S = 3.0
HONEST = """
import random
import numpy as np
def main(aim=None):
    random.seed(3)
    return [np.linspace(0, 1, 3).tolist(), sum([1, 2]), random.random()]
"""
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "process": ("process:ProcessSandbox", {}),
    "forkserver": ("forkserver:ForkServer", {}),
    "forkserver-alone": ("forkserver:ForkServer", {"namespaces": False}),
    "docker": ("docker:DockerSandbox", {}),
}


def plain(attack: Attack, aims: Aims) -> tuple[str, object, str]:
    """Run an attack uncontained; return a status, what it returned and what was printed."""
    patient = "_held_up" not in attack.worked.__qualname__
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "attack.py"
        file.write_text(attack.text)
        writing = os.open(Path(folder) / "result", os.O_CREAT | os.O_RDWR)
        process = subprocess.Popen(
            [sys.executable, "-B", str(HERE / "plain.py"), str(file), json.dumps(aims.where), str(writing)],
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            pass_fds=(writing, aims.answers),
            start_new_session=True,
            cwd=folder,
        )
        try:
            printed, _ = process.communicate(timeout=30 if patient else PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
        said = os.pread(writing, 1 << 26, 0).decode("utf-8", "replace")
        os.close(writing)
    try:
        return "ok", json.loads(said), printed.decode("utf-8", "replace")
    except ValueError:
        return "crashed", None, printed.decode("utf-8", "replace")


class Commands(Sandbox):
    """Runs each program as a command, as a harness within the sandbox would."""

    def open(self, workspace: Workspace) -> None:
        """Open command mode."""
        self._box = CommandSandbox(CommandSandbox.Options(processes=32))
        self._box.open(workspace.limits)

    def run(self, job: Job) -> RunResult:
        """Run the program by `plain.py`, and read what it left."""
        files = {**dict(job.program.files), "plain.py": (HERE / "plain.py").read_text(), "result": ""}
        script = f'exec 3<>result; exec "{sys.executable}" plain.py {job.main} "$0" 3'
        aim = json.dumps(job.arguments.get("aim"))
        done = self._box.run(Command(("sh", "-c", script, aim), files=files, keep=("result",)))
        value = done.files.get("result", b"").decode("utf-8", "replace") or None
        status = done.status if done.status is not Status.OK or value is not None else Status.CRASHED
        return RunResult(status, value if status is Status.OK else None, done.reason, done.cost, done.printed)

    def close(self) -> None:
        """Close command mode."""
        self._box.close()


def contained(sandbox: Sandbox, attack: Attack, aims: Aims) -> RunResult:
    """Run an attack in a sandbox."""
    return sandbox.run(Job(Program.of({"attack.py": attack.text}), "attack.py", arguments={"aim": aims.where}))


def outcome_of(sandbox: Sandbox | None, attack: Attack, package: Path) -> tuple[Outcome, str]:
    """Run one attack and look at what it left; return that and a detail to read."""
    aims = Aims(package, os.environ["SECRET_KEY"])
    before = children()
    try:
        for _ in range(2 if attack.twice else 1):
            began = time.monotonic()
            if sandbox is None:
                status, value, printed = plain(attack, aims)
                detail = printed[-300:]
            else:
                result = contained(sandbox, attack, aims)
                status, printed, detail = result.status.value, result.stdout, result.reason or ""
                value = json.loads(result.value) if result.value is not None else None
            seconds = time.monotonic() - began
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        orphans = children() - before
        outcome = Outcome(
            status=status,
            value=value,
            secret=aims.secret in json.dumps(value) or aims.secret in printed,
            intact=aims.intact(),
            orphans=len(orphans),
            seconds=seconds,
            kept_text=len(printed),
        )
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    finally:
        aims.close()
    return outcome, detail


def opened(way: str, limits: Limits) -> Sandbox | None:
    """Return the sandbox of that name, open; None for none."""
    if way == "plain":
        return None
    if way == "command":
        commands = Commands()
        commands.open(Workspace(limits=limits))
        return commands
    target, options = SETTINGS[way]
    module_name, _, name = target.partition(":")
    module = __import__(f"speciate.plugins.sandboxes.{module_name}", fromlist=[name])
    kind = getattr(module, name)
    sandbox: Sandbox = kind(kind.Options(**options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sandbox.open(Workspace(preload=("numpy",), limits=limits))
    return sandbox


def main(way: str) -> None:
    """Run them all; after each the honest program must give what it gave at first."""
    if way == "plain" and os.geteuid() == 0:
        sys.exit("no attack is run uncontained as root")
    # What a plain process leaves behind comes to the driver, which counts it and ends it.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    package = TESTS.parent
    honest = Job(Program.of({"honest.py": HONEST}), "honest.py", seed=3)
    boxes = {limits: opened(way, limits) for limits in (LIMITS, GENEROUS)}
    expected = [None if box is None else opened_honest(box, honest) for box in boxes.values()][1]
    for attack in ATTACKS:
        if way == "command" and attack.fine_for_commands:
            continue
        sandbox = boxes[LIMITS if "_held_up" in attack.worked.__qualname__ else GENEROUS]
        outcome, detail = outcome_of(sandbox, attack, package)
        after = None if sandbox is None else opened_honest(sandbox, honest)
        print(
            json.dumps(
                {
                    "name": attack.name,
                    "worked": attack.worked(outcome),
                    "honest": expected == after and (sandbox is None or expected is not None),
                    "status": outcome.status,
                    "seconds": outcome.seconds,
                    "detail": detail[:300],
                    "value": repr(outcome.value)[:100],
                }
            ),
            flush=True,
        )
    for sandbox in boxes.values():
        if sandbox is not None:
            sandbox.close()


def opened_honest(sandbox: Sandbox, honest: Job) -> str | None:
    """Return what the honest program gives, None when it does not give anything."""
    result = sandbox.run(honest)
    return result.value if result.status is Status.OK else None


if __name__ == "__main__":
    main(sys.argv[1])
