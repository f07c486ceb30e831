"""A process and the threads that read from it and wait for it, on every system."""

import contextlib
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from ...core.evaluation import Cost
from ...core.sandbox import Limits
from .launching import clean_environment

_START_S = 120.0
_READY = struct.Struct(">cd")
_HEADER_BYTES = 1 << 10


class CannotStart(Exception):
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


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. `stopped` is what it was stopped for (`wall`, `output` or a reason given), or None."""

    stopped: str | None
    exit_code: int
    result: bytes
    printed: bytes
    printed_more: bool
    cost: Cost


class Watched:
    """One process in a session of its own, whose standard output is a result and whose standard error is text.

    It reads a request, says with nine bytes that it is ready (`R` and the CPU seconds spent so far), and goes on.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits,
        folder: str,
        *,
        environment: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._limits = limits
        self._abandoned = False
        self._stopped: str | None = None
        self._reaping = threading.Lock()
        self._ended: tuple[int, float, int] | None = None
        self._wake = threading.Event()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment() if environment is None else environment,
            pass_fds=pass_fds,
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

    @property
    def pid(self) -> int:
        """The number of the process, on this machine."""
        return self._process.pid

    def run(self, *requests: bytes) -> Ended:
        """Let it run to its end or to a limit. Raises CannotStart when it did not get so far as to be ready."""
        assert self._process.stdin is not None
        try:
            # A child that died at once is reported below, with what it said.
            with contextlib.suppress(OSError), self._process.stdin as pipe:
                for request in requests:
                    rest = memoryview(struct.pack(">I", len(request)) + request)
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
            raise CannotStart("the sandbox was closed")
        code, cpu, size = self._ended
        return Ended(
            "output" if self._result.more else stopped,
            code,
            bytes(self._result.data[_READY.size :]),
            bytes(self._printed.data),
            self._printed.more,
            Cost(wall, max(0.0, cpu - spent), size),
        )

    def stop(self, reason: str) -> None:
        """Kill the process and say why. May come from any thread."""
        self._stopped = reason
        self._wake.set()

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
            raise CannotStart(said[-1] if said else "its process ended at once or did not answer")
        return float(_READY.unpack(bytes(self._result.data[: _READY.size]))[1])

    def _until_it_ends(self, deadline: float) -> str | None:
        """Wait for the end; return which limit was reached before, or None."""
        while self._ended is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return "wall"
            self._wake.wait(left)
            self._wake.clear()
            if self._result.more or self._stopped is not None:
                return self._stopped or "output"
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
