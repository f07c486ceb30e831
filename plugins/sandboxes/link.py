"""The line to a fork server: messages there and back, and an end that may come from any thread."""

import contextlib
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
from abc import ABC, abstractmethod
from typing import Any

from .launching import APART, BOOTSTRAP, clean_environment

_FAREWELL_S = 0.5
_CHUNK = 1 << 20


class Outage(Exception):
    """The server died or does not answer."""


class Link(ABC):
    """A server that is running. Messages are bytes behind four bytes of length."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._busy = threading.Lock()

    def send(self, message: bytes) -> None:
        """Write one message. Raises Outage when the server is gone."""
        rest = memoryview(struct.pack(">I", len(message)) + message)
        try:
            while rest:
                rest = rest[os.write(self._writing, rest[:_CHUNK]) :]
        except OSError:
            raise Outage("its server died") from None

    def receive(self, patience_s: float) -> tuple[dict[str, Any], bytes]:
        """Read one answer: what it says, and the bytes that follow. Raises Outage when none comes in time."""
        deadline = time.monotonic() + patience_s
        with self._busy:
            size = struct.unpack(">I", self._exactly(4, deadline))[0]
            head, _, body = self._exactly(size, deadline).partition(b"\n")
        about = json.loads(head)
        assert isinstance(about, dict)
        return about, body

    @abstractmethod
    def close(self) -> None:
        """End the server and its candidate, within a second. Called once, from any thread."""

    def read(self, count: int) -> bytes:
        """Return up to so many bytes of the server's, nothing at the end. Called when there is something to read."""
        return os.read(self._reading, count)

    def _exactly(self, count: int, deadline: float) -> bytes:
        data = bytearray()
        try:
            while len(data) < count:
                left = max(0.0, deadline - time.monotonic())
                if not select.select([self._reading], [], [], left)[0]:
                    raise Outage("its server does not answer")
                chunk = self.read(min(count - len(data), _CHUNK))
                if not chunk:
                    raise Outage("its server died")
                data += chunk
        except (OSError, ValueError):
            raise Outage("its server died") from None
        return bytes(data)


class LocalLink(Link):
    """A server that is a process of this machine, with an empty environment."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *APART, "-c", BOOTSTRAP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
            cwd="/" if os.name == "posix" else tempfile.gettempdir(),
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._pipes = (self._process.stdin, self._process.stdout)
        super().__init__(self._process.stdout.fileno(), self._process.stdin.fileno())

    def close(self) -> None:
        """Say that the engine is gone, so that the server ends its candidate; then kill what is still there."""
        with contextlib.suppress(OSError):
            self._pipes[0].close()
        try:
            self._process.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        # Whoever was waiting for an answer has met the end of the pipe by now, and lets go of it.
        with self._busy:
            self._pipes[1].close()
