"""The fork server as a sandbox: one long-lived process with the imports done, one confined fork a candidate."""

import contextlib
import itertools
import json
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import asdict
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, BinaryIO, Literal

from ...core.component import ComponentOptions
from ...core.errors import SpeciateError
from ...core.evaluation import Cost, RunResult, Status
from ...core.sandbox import Job, Level, Sandbox, Workspace
from .results import run_result

CHILD_PARTS = ("child_seccomp", "child_landlock", "child_confine", "child_runner", "child_server")
"""The modules that are sent to the server as text, in the order in which they need one another."""

BOOTSTRAP = """
import json, os, struct, sys, types
def exactly(count):
    data = b""
    while len(data) < count:
        chunk = os.read(requests, min(count - len(data), 1 << 20))
        if not chunk:
            sys.exit(0)
        data += chunk
    return data
requests, answers, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
for standard in (0, 1):
    os.dup2(nothing, standard)
hello = json.loads(exactly(struct.unpack(">I", exactly(4))[0]))
package = types.ModuleType("contained")
package.__path__ = []
sys.modules["contained"] = package
for name, text in hello.pop("parts"):
    module = types.ModuleType("contained." + name)
    module.__package__ = "contained"
    sys.modules[module.__name__] = module
    setattr(package, name, module)
    exec(compile(text, "<" + name + ">", "exec"), module.__dict__)
module.main(hello, requests, answers)
"""

_KEPT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT", "LD_LIBRARY_PATH")
_FIRST_USER, _USERS = 60001, 4096
_START_S, _SLACK_S, _FAREWELL_S = 120.0, 10.0, 0.5
_SLOTS = itertools.count()
_LEVELS: dict[Level, int] = {"none": 0, "basic": 1, "strong": 2}


class Outage(Exception):
    """The server died or does not answer."""


def clean_environment() -> dict[str, str]:
    """Return the environment of whatever runs candidates: nothing of the engine's but what decides numbers."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **one, "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "2"}


def child_parts(*names: str) -> list[tuple[str, str]]:
    """Return the named modules of this folder with their texts."""
    here = Path(__file__).parent
    return [(name, (here / f"{name}.py").read_text(encoding="utf-8")) for name in names]


def withheld_packages() -> list[str]:
    """Return the top-level names, in small letters, of the engine and of every package that plugs into it.

    Such a package may hold a problem with its answers, so candidates cannot read it.
    """
    names = {"speciate"}
    for entry in entry_points(group="speciate"):
        names.add(entry.module.partition(".")[0].lower())
        if entry.dist is not None:
            names.add(entry.dist.name.replace("-", "_").lower())
    return sorted(names)


def request_of(job: Job) -> dict[str, Any]:
    """Return a job as plain data, for whatever runs it."""
    return {
        "files": dict(job.program.files),
        "main": job.main,
        "entries": list(job.entries),
        "arguments": dict(job.arguments),
        "seed": job.seed,
    }


def insist(required: Level, reached: Level, why: str) -> None:
    """Raise SpeciateError when the containment is weaker than what was required."""
    if _LEVELS[reached] < _LEVELS[required]:
        raise SpeciateError(
            f"the sandbox is to be {required!r} and this machine gives {reached!r}: {why}; "
            f"`speciate doctor` says more, and require = {reached!r} accepts it"
        )


class ForkServer(Sandbox):
    """Forks each candidate from a process that has done the imports, and confines it by Landlock, seccomp and more."""

    class Options(ComponentOptions, use_attribute_docstrings=True):
        """How strongly candidates are to be contained."""

        require: Level = "none"
        """Refuse to start when the containment that this machine gives is weaker than this."""
        namespaces: bool = True
        """Use private network, process, IPC and mount namespaces with a scratch folder, where the kernel gives them."""

    options: Options

    def open(self, workspace: Workspace) -> None:
        """Start the server. Raises SpeciateError when it cannot start or is weaker than required."""
        self._workspace = workspace
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._slot = next(_SLOTS)
        self.layers: dict[str, bool] = {}
        try:
            self._start()
        except Outage as error:
            self.close()
            raise SpeciateError(f"the sandbox cannot start: {error}") from None
        missing = ", ".join(name for name in ("landlock", "seccomp") if not self.layers.get(name))
        self.level = "basic" if missing else "strong"
        self.warning = (
            f"this machine has no {missing}: candidates are contained weakly; run no program you do not trust"
            if missing
            else None
        )
        if missing:
            try:
                insist(self.options.require, self.level, f"it has no {missing}")
            except SpeciateError:
                self.close()
                raise
            warnings.warn(str(self.warning), RuntimeWarning, stacklevel=2)

    def run(self, job: Job) -> RunResult:
        """Run one candidate. When the server itself dies a new one is started and the job is tried once more."""
        limits = self._workspace.limits
        request = json.dumps(request_of(job)).encode("ascii")
        fault = "the sandbox is closed"
        for _ in range(2):
            if self._closed:
                break
            try:
                if self._process is None:
                    self._start()
                self._send(request)
                about, body = self._receive(limits.wall_s + _SLACK_S)
            except Outage as error:
                fault = str(error)
                self._kill()
                continue
            size = about["result"]
            return run_result(
                limits,
                stopped=about["stopped"],
                exit_code=about["exit"],
                result=body[:size],
                printed=body[size:],
                printed_more=about["printed_more"],
                cost=Cost(*about["cost"]),
            )
        return RunResult(Status.INFRA, None, f"the program could not be run: {fault}")

    def close(self) -> None:
        """End the server and its candidate."""
        self._closed = True
        self._kill()

    def _start(self) -> None:
        """Start a server, with namespaces if they are wanted and can be had."""
        for namespaces in (True, False) if self.options.namespaces else (False,):
            self._launch()
            self._send(json.dumps(self._hello(namespaces)).encode("ascii"))
            about, _ = self._receive(_START_S)
            if "ready" in about:
                self.layers = about["layers"]
                return
            self._kill()
            if "without" not in about:
                raise SpeciateError(f"the sandbox cannot start: {about['failed']}")
        raise Outage(about["failed"])

    def _hello(self, namespaces: bool) -> dict[str, Any]:
        """Return what a server is told before it serves."""
        workspace = self._workspace
        # Every slot of every engine has a user of its own, as far as there are enough of them.
        user = _FIRST_USER + (os.getpid() * 16 + self._slot) % _USERS
        return {
            "parts": child_parts(*CHILD_PARTS),
            "preload": workspace.preload,
            "modules": dict(workspace.modules),
            "limits": asdict(workspace.limits),
            "withheld": withheld_packages(),
            "namespaces": namespaces,
            "user": user if hasattr(os, "geteuid") and os.geteuid() == 0 else None,
            "scratch": None,
        }

    def _launch(self) -> None:
        with self._lock:
            if self._closed:
                raise Outage("the sandbox was closed")
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", BOOTSTRAP],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=clean_environment(),
                cwd="/" if os.name == "posix" else tempfile.gettempdir(),
                start_new_session=True,
                bufsize=0,
            )

    def _kill(self) -> None:
        """End the server: politely, so that it can end its candidate, then by force. May come from any thread."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()

    def _pipe(self, name: Literal["stdin", "stdout"]) -> BinaryIO:
        process = self._process
        if process is None:
            raise Outage("the sandbox was closed")
        pipe = getattr(process, name)
        assert pipe is not None
        return pipe  # type: ignore[no-any-return]

    def _send(self, message: bytes) -> None:
        try:
            rest = memoryview(struct.pack(">I", len(message)) + message)
            pipe = self._pipe("stdin")
            while rest:
                rest = rest[pipe.write(rest) :]
        except (OSError, ValueError):
            raise Outage("its server died") from None

    def _receive(self, patience_s: float) -> tuple[dict[str, Any], bytes]:
        deadline = time.monotonic() + patience_s
        size = struct.unpack(">I", self._exactly(4, deadline))[0]
        head, _, body = self._exactly(size, deadline).partition(b"\n")
        about = json.loads(head)
        assert isinstance(about, dict)
        return about, body

    def _exactly(self, count: int, deadline: float) -> bytes:
        data = bytearray()
        try:
            descriptor = self._pipe("stdout").fileno()
            while len(data) < count:
                if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                    raise Outage("its server does not answer")
                chunk = os.read(descriptor, min(count - len(data), 1 << 20))
                if not chunk:
                    raise Outage("its server died")
                data += chunk
        except (OSError, ValueError):
            raise Outage("its server died") from None
        return bytes(data)
