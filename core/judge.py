"""A judge: one file of a problem, loaded in a process of its own that is asked over a pipe."""

import contextlib
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Literal

from .errors import ProblemError

Kind = Literal["evaluate", "judge", "picture"]

_CHILD = Path(__file__).with_name("scorer_child.py")
_KEPT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT")
_LOADING_S = 60.0
_CHUNK = 1 << 20


class JudgeTimeout(Exception):
    """A judge did not answer within its limit; its process was killed."""


class _Process:
    """A judge's process with both ends of its pipes, and a scratch folder that goes with it."""

    def __init__(self, kind: Kind, path: Path) -> None:
        self.scratch = tempfile.mkdtemp(prefix="speciate-judge-")
        try:
            # Not `-I`: that would ignore PYTHONHASHSEED, and with it the order of sets would differ from run to run.
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-s", "-B", str(_CHILD), kind, str(path), self.scratch],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(self.scratch),
                cwd=self.scratch,
                start_new_session=True,
                bufsize=0,
            )
        except OSError:
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._pipes = (self._popen.stdin, self._popen.stdout)
        os.set_blocking(self._pipes[0].fileno(), False)
        self._reaping = threading.Lock()

    @property
    def lives(self) -> bool:
        # A corpse is left where it is: as long as it lies there, its number is nobody else's.
        return os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def write(self, message: bytes, deadline: float) -> None:
        """Send one message. Raises EOFError when the process is gone, TimeoutError after the deadline."""
        rest = memoryview(struct.pack(">I", len(message)) + message)
        descriptor = self._pipes[0].fileno()
        while rest:
            _wait(descriptor, select.POLLOUT, deadline)
            try:
                rest = rest[os.write(descriptor, rest[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise EOFError from None

    def read(self, deadline: float) -> dict[str, Any]:
        """Return one answer. Raises EOFError when the process is gone, TimeoutError after the deadline."""
        size = struct.unpack(">I", self._bytes(4, deadline))[0]
        try:
            answer = json.loads(self._bytes(size, deadline))
        except ValueError:
            raise EOFError from None
        assert isinstance(answer, dict)
        return answer

    def _bytes(self, count: int, deadline: float) -> bytes:
        found = bytearray()
        descriptor = self._pipes[1].fileno()
        while len(found) < count:
            _wait(descriptor, select.POLLIN, deadline)
            chunk = os.read(descriptor, min(count - len(found), _CHUNK))
            if not chunk:
                raise EOFError
            found += chunk
        return bytes(found)

    def kill(self) -> None:
        """Kill the process and everything in its session; may come from any thread."""
        with self._reaping, contextlib.suppress(ProcessLookupError, PermissionError):
            if self._popen.returncode is None:
                os.killpg(self._popen.pid, signal.SIGKILL)

    def discard(self) -> None:
        """Give back what is left of a process, by whoever was the last to read from it."""
        self.kill()
        with self._reaping:
            self._popen.wait()
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


class Judge:
    """Asks one file of a problem: an evaluator (`evaluate`), an oracle (`judge`) or what draws (`picture`).

    Its process is started by the first question. Not for several threads at once, except for `close`.
    """

    def __init__(self, kind: Kind, path: Path, limit_s: float) -> None:
        self.kind: Kind = kind
        self.path = path
        self.limit_s = limit_s
        self._process: _Process | None = None
        self._closed = False
        self._starting = threading.Lock()
        self._busy = threading.Lock()

    def ask(self, text: str, options: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Return the judge's answer to an output.

        It has a key `error` when the judge raised, `outage` when something failed that is not to blame on the output;
        `printed` is the beginning of what was printed. A judge that died is started again by the next question.
        Raises ProblemError when the judge cannot be loaded, JudgeTimeout when it takes too long.
        """
        raw = json.dumps({"text": text, "options": options, **more}).encode("ascii")
        with self._busy:
            try:
                process = self._running()
                deadline = time.monotonic() + self.limit_s
                process.write(raw, deadline)
                return process.read(deadline)
            except TimeoutError:
                self._discard()
                raise JudgeTimeout(f"{self.path.name} took longer than {self.limit_s:g} s") from None
            except (EOFError, OSError) as error:
                self._discard()
                fault = f"the process of {self.path.name} died" if isinstance(error, EOFError) else str(error)
                return {"outage": "the scorer was closed" if self._closed else fault, "printed": ""}

    def close(self) -> None:
        """Kill the process and everything it started. May come from any thread, and twice; then nothing is answered."""
        with self._starting:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        # Whoever waits for an answer meets the end of the pipe now, and gives it back.
        if self._busy.acquire(timeout=1.0):
            try:
                self._discard()
            finally:
                self._busy.release()

    def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.discard()

    def _running(self) -> _Process:
        """Return the process, started if need be. Raises EOFError after `close`, ProblemError when it does not load."""
        if self._process is not None and self._process.lives:
            return self._process
        self._discard()
        with self._starting:
            if self._closed:
                raise EOFError
            self._process = process = _Process(self.kind, self.path)
        try:
            hello = process.read(time.monotonic() + max(_LOADING_S, self.limit_s))
        except TimeoutError:
            hello = {"error": f"it takes more than {max(_LOADING_S, self.limit_s):g} s"}
        except EOFError:
            hello = {"error": "its process ended at once"}
        if self._closed:
            raise EOFError
        if "error" in hello:
            self._discard()
            raise ProblemError(f"{self.path} cannot be loaded: {hello['error']}")
        return process


def _wait(descriptor: int, event: int, deadline: float) -> None:
    """Wait until a pipe is ready or its other end is gone. Raises TimeoutError after the deadline."""
    waiting = select.poll()
    waiting.register(descriptor, event)
    if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError


def _environment(scratch: str) -> dict[str, str]:
    """Return the environment of judges: nothing of the engine's but what decides numbers."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    python = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}
    return {**kept, **one, **python, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), scratch)}
