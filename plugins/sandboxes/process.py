"""The plain process as a sandbox: what every system can do, and no more than that."""

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import asdict
from typing import IO

from ...core.component import ComponentOptions
from ...core.errors import SpeciateError
from ...core.evaluation import Cost, RunResult, Status
from ...core.program import Program
from ...core.sandbox import Job, Level, Limits, Sandbox, SelfTest, Workspace
from .child_basics import empty_folder
from .launching import BOOTSTRAP, child_parts, clean_environment, insist, request_of
from .results import run_result

_PARTS = ("child_basics", "child_runner", "child_once")
_START_S = 120.0
_READY = struct.Struct(">cd")
_HEADER_BYTES = 1 << 10
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
        self._running: _Candidate | None = None
        warnings.warn(self.warning, RuntimeWarning, stacklevel=2)
        try:
            self._run(_NOTHING)
        except _CannotStart as error:
            raise SpeciateError(f"the sandbox cannot start: {error}") from None

    def run(self, job: Job) -> RunResult:
        """Run one candidate in a folder of its own, which is removed."""
        try:
            return self._run(job)
        except _CannotStart as error:
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
                    raise _CannotStart("the sandbox is closed")
                candidate = self._running = _Candidate(self._workspace.limits, folder)
            try:
                return candidate.run(json.dumps(hello).encode("ascii"))
            finally:
                with self._lock:
                    self._running = None
        finally:
            with contextlib.suppress(OSError):
                empty_folder(folder)
                os.rmdir(folder)


class _CannotStart(Exception):
    """No candidate can be run; the message says why."""


class _Reader(threading.Thread):
    """Reads a pipe to its end, keeping no more than `room` bytes, and says when there is something to know."""

    def __init__(self, pipe: IO[bytes], room: int, wake: threading.Event) -> None:
        super().__init__(daemon=True)
        self.data = bytearray()
        self.more = False
        self._pipe, self._room, self._wake = pipe, room, wake
        self.start()

    def run(self) -> None:
        """Read until nobody writes any more."""
        while chunk := os.read(self._pipe.fileno(), 1 << 16):
            room = self._room - len(self.data)
            self.data += chunk[:room]
            self.more = self.more or len(chunk) > room
            self._wake.set()
        self._pipe.close()


class _Candidate:
    """One process and the threads that read from it and wait for it."""

    def __init__(self, limits: Limits, folder: str) -> None:
        self._limits, self._folder = limits, folder
        self._abandoned = False
        self._reaping = threading.Lock()
        self._ended: tuple[int, float, int] | None = None
        self._wake = threading.Event()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", BOOTSTRAP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
            cwd=folder,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._result = _Reader(self._process.stdout, limits.output_bytes + _HEADER_BYTES, self._wake)
        self._printed = _Reader(self._process.stderr, limits.stdout_bytes, self._wake)
        self._waiter = threading.Thread(target=self._wait, daemon=True)
        self._waiter.start()

    def run(self, hello: bytes) -> RunResult:
        """Run the program to its end or to a limit. Raises _CannotStart when it did not get so far."""
        assert self._process.stdin is not None
        try:
            # A child that died at once is reported below, with what it said.
            with contextlib.suppress(OSError), self._process.stdin as pipe:
                rest = memoryview(struct.pack(">I", len(hello)) + hello)
                while rest:
                    rest = rest[pipe.write(rest) :]
            spent = self._until_ready()
            began = time.monotonic()
            stopped = self._until_it_ends(began + self._limits.wall_s)
        finally:
            self._kill()
            self._waiter.join()
        wall = time.monotonic() - began
        # Whoever escaped from the group may still hold a pipe; it is not waited for.
        for reader in (self._result, self._printed):
            reader.join(1.0)
        if self._ended is None or self._abandoned:
            raise _CannotStart("the sandbox was closed")
        code, cpu, size = self._ended
        if self._result.more:
            stopped = "output"
        return run_result(
            self._limits,
            stopped=stopped,
            exit_code=code,
            result=bytes(self._result.data[_READY.size :]),
            printed=bytes(self._printed.data),
            printed_more=self._printed.more,
            cost=Cost(wall, max(0.0, cpu - spent), size),
            hidden={self._folder: "<scratch>"},
        )

    def abandon(self) -> None:
        """Kill the process because the sandbox is closed. May come from any thread."""
        self._abandoned = True
        self._kill()

    def _kill(self) -> None:
        """Kill the process and its group, unless it is gone: its number may be another's by then."""
        with self._reaping:
            if self._ended is None:
                self._kill_group()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _until_ready(self) -> float:
        """Wait until the program begins; return the CPU seconds spent before."""
        deadline = time.monotonic() + _START_S
        while len(self._result.data) < _READY.size and self._ended is None and time.monotonic() < deadline:
            self._wake.wait(deadline - time.monotonic())
            self._wake.clear()
        if self._ended is not None:
            self._result.join(1.0)
        if len(self._result.data) < _READY.size:
            self._kill()
            self._printed.join(1.0)
            said = bytes(self._printed.data).decode("utf-8", "replace").strip().splitlines()
            raise _CannotStart(said[-1] if said else "its process ended at once or did not answer")
        return float(_READY.unpack(bytes(self._result.data[: _READY.size]))[1])

    def _until_it_ends(self, deadline: float) -> str | None:
        """Wait for the end; return which limit was reached before, or None."""
        while self._ended is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return "wall"
            self._wake.wait(left)
            self._wake.clear()
            if self._result.more:
                return "output"
        return None

    def _wait(self) -> None:
        """Wait for the process; note how it ended and what it used, where the system tells that."""
        if not hasattr(os, "wait4"):
            self._ended = self._process.wait(), 0.0, 0
        elif not hasattr(os, "waitid"):
            self._reap()
        else:
            # The number stays taken until it is reaped, so whoever is left in the group can still be named.
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
            with self._reaping:
                self._kill_group()
                self._reap()
        self._wake.set()

    def _reap(self) -> None:
        _, state, usage = os.wait4(self._process.pid, 0)
        scale = 1 if sys.platform == "darwin" else 1024
        self._process.returncode = os.waitstatus_to_exitcode(state)
        self._ended = self._process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * scale
