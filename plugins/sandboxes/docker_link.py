"""The line to a server in a container: the engine mixes its outputs, and removes it when nobody listens."""

import contextlib
import os
import select
import socket
import struct
import time
from typing import Any

from .link import Link, Outage

_HEADER = struct.Struct(">BxxxI")
_OUTPUT = 1


class DockerLink(Link):
    """A container with this process at its standard input and output. `api` is the low-level client of the SDK."""

    def __init__(self, api: Any, container: dict[str, Any]) -> None:
        self._api = api
        self._left = 0
        # Not detached: the engine then closes the standard input when this process is gone, and the server ends.
        self._id = api.create_container(**container, detach=False)["Id"]
        try:
            self._stream = api.attach_socket(self._id, params={"stdin": 1, "stdout": 1, "stream": 1})
            self._socket: socket.socket = getattr(self._stream, "_sock", self._stream)
            self._socket.settimeout(None)
            api.start(self._id)
        except BaseException:
            self._remove()
            raise
        super().__init__(self._socket.fileno(), self._socket.fileno())

    def read(self, count: int) -> bytes:
        """Return up to so many bytes of the server's output."""
        while not self._left:
            head = b""
            while len(head) < _HEADER.size:
                chunk = os.read(self._reading, _HEADER.size - len(head))
                if not chunk:
                    return b""
                head += chunk
            kind, length = _HEADER.unpack(head)
            if kind == _OUTPUT:
                self._left = length
            else:
                while length:
                    length -= len(os.read(self._reading, min(length, 1 << 16))) or length
        data = os.read(self._reading, min(count, self._left))
        self._left -= len(data)
        return data

    def read_to_end(self, patience_s: float) -> bytes:
        """Return all that the container writes until it ends. Raises Outage when that takes too long."""
        deadline, data = time.monotonic() + patience_s, b""
        while select.select([self._reading], [], [], max(0.0, deadline - time.monotonic()))[0]:
            chunk = self.read(1 << 16)
            if not chunk:
                return data
            data += chunk
        raise Outage("a container did not end in time")

    def close(self) -> None:
        """Remove the container, with all that runs in it."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        self._remove()
        with self._busy:
            self._stream.close()

    def _remove(self) -> None:
        errors = __import__("docker.errors", fromlist=["APIError"])
        # It may be gone already, or be on its way: the engine removes what has ended.
        with contextlib.suppress(errors.APIError, OSError):
            self._api.remove_container(self._id, force=True)
