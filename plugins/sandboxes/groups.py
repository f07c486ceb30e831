"""Control groups, where this process may make them, and a watch over a tree of processes, where it may not."""

import contextlib
import itertools
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from ...core.sandbox import Limits

_ROOT = Path("/sys/fs/cgroup")
_COUNTER = itertools.count()
_PERIOD_S = 0.05
_BURIAL_S, _A_MOMENT_S = 5.0, 0.002


class Groups:
    """Limits on the memory and the number of all processes together, kept by the kernel.

    Version 1 has one folder for each kind of limit, version 2 one for both. `paths` is empty where none can be made.
    """

    def __init__(self, memory_bytes: int, processes: int) -> None:
        self.paths: list[Path] = []
        name = f"speciate-{os.getpid()}-{next(_COUNTER)}"
        unified = (_ROOT / "cgroup.controllers").exists()
        try:
            if unified:
                (_ROOT / "cgroup.subtree_control").write_text("+memory +pids")
                self._make(_ROOT / name, {"memory.max": memory_bytes, "memory.swap.max": 0, "pids.max": processes})
            else:
                self._make(_ROOT / "memory" / name, {"memory.limit_in_bytes": memory_bytes})
                self._make(_ROOT / "pids" / name, {"pids.max": processes})
        except OSError:
            self.close()

    def out_of_memory(self) -> bool:
        """Say whether the kernel had to kill one of the processes for the memory that all of them held."""
        for path in self.paths:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    counts = dict(line.split() for line in (path / name).read_text().splitlines())
                    if int(counts.get("oom_kill", 0)):
                        return True
        return False

    def close(self) -> None:
        """Kill what is left in the groups and remove them, once the kernel has buried all of it."""
        deadline = time.monotonic() + _BURIAL_S
        while self.paths and time.monotonic() < deadline:
            self.paths = [path for path in self.paths if not _removed(path)]
            if self.paths:
                time.sleep(_A_MOMENT_S)

    def _make(self, path: Path, limits: dict[str, int]) -> None:
        path.mkdir()
        self.paths.append(path)
        for name, limit in limits.items():
            # There may be no limit on swap where there is no swap.
            with contextlib.suppress(FileNotFoundError):
                (path / name).write_text(str(limit))


def _removed(path: Path) -> bool:
    """Kill what is in a group and try to remove it, which works when nothing is left in it."""
    with contextlib.suppress(OSError):
        for pid in (path / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    with contextlib.suppress(OSError):
        path.rmdir()
    return not path.exists()


class TreeWatch(threading.Thread):
    """Looks, twenty times a second, at what a process and all below it use together, and stops them at a limit.

    `cpu_s` and `memory_bytes` are the most that was seen. Shared memory is not counted: a command has none but what its
    folders of limited size hold. Between two looks a tree can grow past its limit, so for memory and number this is
    the second best; with `groups` the kernel keeps those two.
    """

    def __init__(self, pid: int, limits: Limits, processes: int, groups: Groups, stop: Callable[[str], None]) -> None:
        super().__init__(daemon=True)
        self.cpu_s = 0.0
        self.memory_bytes = 0
        self._pid, self._limits, self._processes, self._groups, self._reached = pid, limits, processes, groups, stop
        self._done = threading.Event()

    def run(self) -> None:
        """Look until told to end, or stop the tree at a limit."""
        while not self._done.wait(_PERIOD_S):
            reached = self._look()
            if reached is not None:
                self._reached(reached)
                return

    def end(self) -> None:
        """End the watch."""
        self._done.set()
        self.join()

    def _look(self) -> str | None:
        used = [about for about in map(usage, family(self._pid)) if about is not None]
        self.cpu_s = max(self.cpu_s, sum(cpu for cpu, _ in used))
        memory = sum(size for _, size in used)
        self.memory_bytes = max(self.memory_bytes, memory)
        if self.cpu_s > self._limits.cpu_s:
            return "cpu"
        if not self._groups.paths and len(used) > self._processes:
            return "processes"
        return "memory" if not self._groups.paths and memory > self._limits.memory_bytes else None


def family(pid: int) -> set[int]:
    """Return the numbers of all processes below one, itself included."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(name)] = int(_fields(int(name))[1])
    found, fresh = {pid}, {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def usage(pid: int) -> tuple[float, int] | None:
    """Return the CPU seconds of a process and of the children it waited for, and the bytes it shares with nobody.

    None when it is gone.
    """
    try:
        fields = _fields(pid)
        with open(f"/proc/{pid}/statm") as file:
            _, resident, shared = map(int, file.read().split()[:3])
    except OSError:
        return None
    ticks = sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK"), (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def _fields(pid: int) -> list[bytes]:
    """Return the fields of a process from its state on; its name, which may hold anything, stands before them."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()
