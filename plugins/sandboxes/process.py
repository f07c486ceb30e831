"""The plain process as a sandbox: what every system can do, and no more than that."""

import contextlib
import json
import os
import sys
import tempfile
import threading
import warnings
from dataclasses import asdict

from ...core.component import ComponentOptions
from ...core.errors import SpeciateError
from ...core.evaluation import RunResult, Status
from ...core.program import Program
from ...core.sandbox import Job, Level, Sandbox, SelfTest, Workspace
from .child_basics import empty_folder
from .launching import APART, BOOTSTRAP, child_parts, insist, request_of
from .results import run_result
from .watched import CannotStart, Watched

_PARTS = ("child_basics", "child_runner", "child_once")
_NOTHING = Job(Program.of({"program.py": "def main():\n    pass\n"}), "program.py")


class ProcessSandbox(Sandbox):
    """Runs each candidate in a new process with a clean environment and limits; it can read and write your files."""

    class Options(ComponentOptions, use_attribute_docstrings=True):
        """How strongly candidates are to be contained."""

        require: Level = "none"
        """Refuse to start when the containment that this machine gives is weaker than this."""

    options: Options
    level: Level = "basic" if os.name == "posix" else "none"
    warning = (
        "candidates are contained by a process alone: they can read and write your files, use the network and leave "
        "processes behind; run no program you do not trust"
    )

    def open(self, workspace: Workspace) -> None:
        """Check that candidates can be started. Raises SpeciateError when not, or when more is required."""
        insist(self.options.require, self.level, "a process alone keeps nobody from files and network")
        self._workspace = workspace
        self._closed = False
        self._lock = threading.Lock()
        self._running: Watched | None = None
        warnings.warn(self.warning, RuntimeWarning, stacklevel=2)
        try:
            self._run(_NOTHING)
        except CannotStart as error:
            raise SpeciateError(f"the sandbox cannot start: {error}") from None

    def run(self, job: Job) -> RunResult:
        """Run one candidate in a folder of its own, which is removed."""
        try:
            return self._run(job)
        except CannotStart as error:
            return RunResult(Status.INFRA, None, f"the program could not be run: {error}")

    def self_test(self) -> SelfTest:
        """Attack this sandbox from inside, and say what held."""
        from .self_test import self_test

        return self_test(self, self._workspace.limits)

    def close(self) -> None:
        """Kill the candidate that runs, if any."""
        with self._lock:
            self._closed = True
            if self._running is not None:
                self._running.abandon()

    def _run(self, job: Job) -> RunResult:
        folder = tempfile.mkdtemp(prefix="candidate-")
        try:
            hello = {
                "parts": child_parts(*_PARTS),
                "preload": self._workspace.preload,
                "modules": dict(self._workspace.modules),
                "limits": asdict(self._workspace.limits),
                "job": request_of(job),
                "scratch": folder,
            }
            with self._lock:
                if self._closed:
                    raise CannotStart("the sandbox is closed")
                candidate = self._running = Watched(
                    [sys.executable, *APART, "-c", BOOTSTRAP], self._workspace.limits, folder
                )
            try:
                ended = candidate.run(json.dumps(hello).encode("ascii"))
            finally:
                with self._lock:
                    self._running = None
            return run_result(
                self._workspace.limits,
                stopped=ended.stopped,
                exit_code=ended.exit_code,
                result=ended.result,
                printed=ended.printed,
                printed_more=ended.printed_more,
                cost=ended.cost,
                hidden={folder: "<scratch>"},
            )
        finally:
            with contextlib.suppress(OSError):
                empty_folder(folder)
                os.rmdir(folder)
