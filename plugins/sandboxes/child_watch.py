"""Stays with one candidate: reads what it writes, and says when it has ended or is to be killed.

Stand-alone: this text is sent to the process that holds the candidates, so it imports the standard library only.
"""

import os
import select
import time
from collections.abc import Mapping
from typing import Any

_CHUNK = 1 << 16
_HEADER_BYTES = 1 << 10
_ROUGHLY_NOW_S = 0.005


class Watch:
    """Reads what a candidate writes until it ends or reaches a limit.

    `stopped` is None, `wall`, `cpu`, `output` (it wrote too much) or `closed` (the engine is gone).
    """

    def __init__(self, pid: int, result: int, printed: int, requests: int, limits: Mapping[str, Any]) -> None:
        self.stopped: str | None = None
        self.result = bytearray()
        self.printed = bytearray()
        self.printed_more = False
        self._began = time.monotonic()
        self._limits = limits
        self._result, self._printed, self._requests = result, printed, requests
        self._clock = (~pid << 3) | 2
        self._handle = os.pidfd_open(pid)
        self._poll = select.poll()
        for descriptor in (result, printed):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        self._poll.register(self._handle, select.POLLIN)
        self._poll.register(requests, 0)

    def until_it_ends(self) -> None:
        """Return when the candidate has ended or is to be killed."""
        while self.stopped is None:
            left = self._left()
            if left is None:
                return
            for descriptor, _ in self._poll.poll(left * 1000 + 1):
                if descriptor == self._handle:
                    return
                if descriptor == self._requests:
                    self.stopped = "closed"
                elif not self._read(descriptor):
                    self._poll.unregister(descriptor)

    def read_the_rest(self) -> None:
        """Read what still lies in the pipes of a candidate that has ended."""
        for descriptor in (self._result, self._printed):
            while self.stopped is None and self._read(descriptor) is True:
                pass

    def close(self) -> None:
        """Give the descriptors back."""
        for descriptor in (self._handle, self._result, self._printed):
            os.close(descriptor)

    def elapsed(self) -> float:
        """Return the seconds since the candidate was started."""
        return time.monotonic() - self._began

    def _left(self) -> float | None:
        """Return for how long no limit can be reached, in seconds; None, and say which, when one is."""
        wall = self._limits["wall_s"] - self.elapsed()
        try:
            cpu = self._limits["cpu_s"] - time.clock_gettime(self._clock)
        except OSError:
            cpu = self._limits["cpu_s"]
        if wall <= 0 or cpu <= 0:
            self.stopped = "wall" if wall <= 0 else "cpu"
            return None
        return float(min(wall, max(cpu / (os.cpu_count() or 1), _ROUGHLY_NOW_S)))

    def _read(self, descriptor: int) -> bool | None:
        """Read once; return False at the end and None when there is nothing now."""
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return None
        if not chunk:
            return False
        if descriptor == self._result:
            self.result += chunk
            if len(self.result) > self._limits["output_bytes"] + _HEADER_BYTES:
                self.stopped = "output"
        else:
            room = self._limits["stdout_bytes"] - len(self.printed)
            self.printed += chunk[:room]
            self.printed_more = self.printed_more or len(chunk) > room
        return True
