"""The fork server as a sandbox: one long-lived parent with the imports done, one fork a candidate."""

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...core.errors import SpeciateError
from ...core.evaluation import Cost, RunResult, Status
from ...core.sandbox import Job, Sandbox, Workspace

_CHILD = Path(__file__).with_name("child.py")
_KEPT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class ForkServer(Sandbox):
    """Forks each candidate from a parent that has done the imports."""

    level = "basic"

    def open(self, workspace: Workspace) -> None:
        """Start the server."""
        self._workspace = workspace
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._start()

    def run(self, job: Job) -> RunResult:
        """Run one candidate; when the server itself dies, that is an outage and the next one starts a new server."""
        request = {
            "files": dict(job.program.files),
            "main": job.main,
            "entries": job.entries,
            "arguments": dict(job.arguments),
            "seed": job.seed,
            "limits": asdict(self._workspace.limits),
        }
        try:
            if self._process is None:
                self._start()
            self._send(request)
            answer = self._receive()
        except (EOFError, OSError):
            self._kill()
            return RunResult(Status.INFRA, None, "the sandbox's server died")
        return RunResult(
            Status(answer["status"]), answer["value"], answer["reason"], Cost(*answer["cost"]), answer["stdout"]
        )

    def close(self) -> None:
        """Kill the server; its candidate dies with it."""
        self._closed = True
        self._kill()

    def _start(self) -> None:
        if self._closed:
            raise EOFError
        requests_in, self._requests = os.pipe()
        self._answers, answers_out = os.pipe()
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        environment |= {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
        code = (
            f"import os; os.dup2({requests_in}, 103); os.dup2({answers_out}, 104); os.closerange(3, 103);"
            "os.dup2(103, 3); os.dup2(104, 4); os.closerange(5, 256);"
            f"exec(compile(open({str(_CHILD)!r}, encoding='utf-8').read(), 'sandbox', 'exec'))"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=tempfile.gettempdir(),
            pass_fds=(requests_in, answers_out),
            start_new_session=True,
        )
        os.close(requests_in)
        os.close(answers_out)
        workspace = self._workspace
        try:
            self._send({"preload": workspace.preload, "modules": dict(workspace.modules)})
            self._receive()
        except (EOFError, OSError):
            assert self._process.stderr is not None
            said = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
            self._kill()
            raise SpeciateError(f"the sandbox cannot start: {said[-1] if said else 'its server died'}") from None

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
        for descriptor in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _send(self, content: Any) -> None:
        raw = json.dumps(content).encode("utf-8", "backslashreplace")
        raw = struct.pack(">I", len(raw)) + raw
        while raw:
            raw = raw[os.write(self._requests, raw) :]

    def _receive(self) -> dict[str, Any]:
        size = struct.unpack(">I", self._exactly(4))[0]
        answer = json.loads(self._exactly(size))
        assert isinstance(answer, dict)
        return answer

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            chunk = os.read(self._answers, count - len(data))
            if not chunk:
                raise EOFError
            data += chunk
        return bytes(data)
