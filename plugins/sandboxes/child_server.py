"""The fork server: holds an interpreter with the imports done and forks one candidate after another from it.

Stand-alone: this text and its neighbours are sent to a process with an empty environment, which imports nothing of the
engine. Requests come on standard input and answers go to standard output, both behind four bytes of length.

An answer is a line of JSON and two stretches of bytes: the result as the candidate wrote it, and what it printed.
"""

import contextlib
import gc
import glob
import importlib
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from . import child_basics as basics
from . import child_confine as confine
from . import child_landlock as landlock
from . import child_runner as runner
from . import child_seccomp as seccomp
from .child_watch import Watch

LAYERS = ("namespaces", "read-only mounts", "scratch", "own user", "landlock", "seccomp")


def read_exactly(descriptor: int, count: int) -> bytes:
    """Read so many bytes. Raises EOFError when the other side is gone."""
    data = bytearray()
    while len(data) < count:
        chunk = os.read(descriptor, min(count - len(data), 1 << 20))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)


def receive(descriptor: int) -> bytes:
    """Read one message."""
    return read_exactly(descriptor, struct.unpack(">I", read_exactly(descriptor, 4))[0])


def send(descriptor: int, about: Mapping[str, Any], *stretches: bytes) -> None:
    """Write one message: a line of JSON and the stretches."""
    body = b"".join((json.dumps(about).encode("ascii"), b"\n", *stretches))
    rest = memoryview(struct.pack(">I", len(body)) + body)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Server:
    """Confines and runs candidates, as far as this machine can. `layers` says what of it holds."""

    def __init__(self, hello: Mapping[str, Any], requests: int, answers: int, separated: bool) -> None:
        self._limits: Mapping[str, Any] = hello["limits"]
        self._requests, self._answers = requests, answers
        self._separated = separated
        self._user: int | None = hello["user"]
        self._scratch: confine.Scratch | confine.GivenScratch | None = None
        self._withheld = frozenset(hello["withheld"])
        self.layers = dict.fromkeys(
            ("namespaces", "read-only mounts", "scratch", "own user", "landlock", "seccomp"), False
        )
        self.layers["namespaces"] = separated
        self._surround(hello)
        runner.settle()
        for name in hello["preload"]:
            importlib.import_module(name)
        runner.add_modules(hello["modules"])
        runner.show_lines_at_once()
        self._rules: int | None = None
        self._renew_rules()
        self.layers["landlock"] = self._rules is not None
        self._load: Callable[[int], None] | None = None
        if seccomp.available():
            self._load = seccomp.loader(writes=self._rules is not None)
            self.layers["seccomp"] = True
        gc.collect()
        gc.freeze()
        confine.first_to_die()
        confine.hide_memory()
        self._size = basics.own_size()

    def _surround(self, hello: Mapping[str, Any]) -> None:
        """Set up mounts, scratch and user, as far as this machine lets us."""
        needed = sorted({os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, *sys.path) if os.path.exists(p)})
        if self._separated:
            try:
                confine.settle_mounts()
                if self._user is not None:
                    confine.open_the_way(needed)
            except OSError as error:
                raise confine.CannotSeparate(str(error)) from error
            self.layers["read-only mounts"] = confine.make_mounts_read_only()
            place = confine.scratch_place(needed)
            owner = (self._user, self._user) if self._user is not None else (os.geteuid(), os.getegid())
            if place is not None and self._limits["scratch_bytes"]:
                with contextlib.suppress(OSError):
                    self._scratch = confine.Scratch(place, self._limits["scratch_bytes"], *owner)
        elif hello["scratch"] is not None:
            self._scratch = confine.GivenScratch(hello["scratch"])
        if self._user is not None and not confine.can_read_as(self._user, needed):
            self._user = None
        if hello["user"] is None:
            del self.layers["own user"]
        else:
            self.layers["own user"] = self._user is not None
        self.layers["scratch"] = self._scratch is not None
        confine.adopt_orphans()
        home = "/nonexistent" if self._scratch is None else self._scratch.path
        os.environ.update(HOME=home, TMPDIR=home)
        os.chdir("/")

    def _renew_rules(self) -> None:
        if self._rules is not None:
            os.close(self._rules)
            self._rules = None
        readable, listable = readable_paths(self._withheld)
        with contextlib.suppress(OSError):
            self._rules = landlock.ruleset(readable, listable, None if self._scratch is None else self._scratch.path)

    def serve(self) -> None:
        """Answer requests until the engine is gone."""
        while True:
            try:
                request = receive(self._requests)
            except EOFError:
                return
            self._run(request)

    def _run(self, request: bytes) -> None:
        result_in, result_out = os.pipe()
        printed_in, printed_out = os.pipe()
        fault_in, fault_out = os.pipe()
        pid = os.fork()
        if not pid:
            self._be_candidate(request, result_out, printed_out, fault_out)
        for descriptor in (result_out, printed_out, fault_out):
            os.close(descriptor)
        watch = Watch(pid, result_in, printed_in, self._requests, self._limits)
        try:
            watch.until_it_ends()
        finally:
            state, usage = self._end(pid)
        watch.read_the_rest()
        wall = watch.elapsed()
        watch.close()
        # Everyone who could write to it is gone, so this ends; the candidate never had it.
        fault = os.read(fault_in, 1000)
        os.close(fault_in)
        if watch.stopped == "closed":
            sys.exit(0)
        if self._scratch is not None and self._scratch.renew():
            self._renew_rules()
        about = {
            "fault": fault.decode("utf-8", "replace"),
            "stopped": watch.stopped,
            "exit": os.waitstatus_to_exitcode(state),
            "cost": [wall, usage[0], usage[1]],
            "result": len(watch.result),
            "printed_more": watch.printed_more,
        }
        send(self._answers, about, bytes(watch.result), bytes(watch.printed))

    def _be_candidate(self, request: bytes, result: int, printed: int, fault: int) -> NoReturn:
        """Turn the forked process into a confined candidate and run it; say on `fault` when that cannot be done."""
        try:
            content = self._confine(request, result, printed, fault)
        except BaseException as error:  # noqa: BLE001 no candidate may run when this went wrong
            os.write(fault, f"{type(error).__name__}: {error}".encode("utf-8", "replace"))
            os._exit(1)
        os.close(fault)
        runner.run_and_leave(content, result)

    def _confine(self, request: bytes, result: int, printed: int, fault: int) -> dict[str, Any]:
        """Give up everything that a candidate may not have; return what is to be run."""
        content: dict[str, Any] = json.loads(request)
        os.setsid()
        for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (printed, 1), (printed, 2)):
            os.dup2(source, target)
        if self._scratch is not None:
            os.chdir(self._scratch.path)
        confine.close_all_but({result, fault, *(() if self._rules is None else (self._rules,))})
        limits = self._limits
        basics.limit(limits["cpu_s"], self._size + limits["memory_bytes"], limits["scratch_bytes"], self._tasks)
        confine.drop_privileges(self._user, self._user)
        basics.die_with_parent()
        confine.hide_memory()
        confine.no_new_privileges()
        if self._rules is not None:
            landlock.restrict(self._rules)
            os.close(self._rules)
        if self._load is not None:
            self._load(os.getpid())
        if self._scratch is not None and len(content["files"]) > 1:
            materialise(content["files"])
        return content

    @property
    def _tasks(self) -> int | None:
        """How many threads there may be, where a limit on them counts those of this sandbox alone."""
        return basics.THREADS if self._separated or self._user is not None else None

    def _end(self, pid: int) -> tuple[int, tuple[float, int]]:
        """Kill the candidate and everything it left behind; return its wait status, CPU seconds and largest size."""
        alone = self._separated and os.getpid() == 1
        if alone:
            # The first process of its own process ids: this reaches every other of them, and nothing outside.
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _, state, usage = os.wait4(pid, 0)
        cpu = usage.ru_utime + usage.ru_stime
        while True:
            if not alone:
                kill_children()
            try:
                _, _, other = os.wait4(-1, 0)
            except ChildProcessError:
                return state, (cpu, usage.ru_maxrss * 1024)
            cpu += other.ru_utime + other.ru_stime


def kill_children() -> None:
    """Kill the children of this process: what a candidate left behind was given to it."""
    for path in glob.glob("/proc/self/task/*/children"):
        with contextlib.suppress(OSError), open(path) as file:
            for child in file.read().split():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(int(child), signal.SIGKILL)


def materialise(files: Mapping[str, str]) -> None:
    """Write the files of a program into the current folder, which is the scratch; the program may read them there."""
    for path, text in files.items():
        target = os.path.normpath(path)
        if os.path.isabs(target) or target.startswith(".."):
            continue
        # What cannot be a path, or does not fit, is not there; whoever made the program may have meant it so.
        with contextlib.suppress(OSError, ValueError):
            os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
            with open(target, "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))


_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64")
_DATA = ("/usr/share/zoneinfo", "/etc/localtime", "/etc/ld.so.cache", "/dev/urandom", "/dev/random", "/dev/zero",
         "/sys/devices/system/cpu/online")  # fmt: skip


def readable_paths(withheld: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return the paths a candidate may read, and the folders whose names it may list.

    Rules cannot subtract, so what lies on the import path is allowed entry by entry, without the packages `withheld`.
    """
    readable = list(_DATA)
    for folder in (*_LIBRARIES, f"{sys.prefix}/lib", f"{sys.base_prefix}/lib"):
        readable += glob.glob(f"{folder}/*.so*") + glob.glob(f"{folder}/*-linux-*")
    listable = [entry for entry in sys.path if os.path.isdir(entry)]
    readable += [entry for entry in sys.path if os.path.isfile(entry)]
    for folder in listable:
        for name in os.listdir(folder):
            top = name.partition(".")[0].partition("-")[0].lower()
            private = name.endswith(".pth") or name.startswith("__editable__") or top in withheld
            if not private and name not in ("site-packages", "dist-packages", "__pycache__"):
                readable.append(os.path.join(folder, name))
    return readable, listable


def main(hello: Mapping[str, Any], requests: int, answers: int) -> None:
    """Start, say so, and serve. What goes wrong before is the last line on standard error."""
    separated = bool(hello["namespaces"]) and confine.separate()
    if separated:
        inner = os.fork()
        if inner:
            # This one stays outside; it only passes on how the inner one ended.
            os.close(requests)
            os.close(answers)
            os._exit(0 if os.waitpid(inner, 0)[1] == 0 else 1)
        basics.die_with_parent()
    try:
        server = Server(hello, requests, answers, separated)
    except confine.CannotSeparate as error:
        send(answers, {"without": "namespaces", "failed": str(error)})
        sys.exit(1)
    except BaseException as error:  # noqa: BLE001 whatever a preloaded module raises is told to the engine
        send(answers, {"failed": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    send(answers, {"ready": True, "layers": server.layers, "user": os.geteuid()})
    with contextlib.suppress(BrokenPipeError):
        server.serve()
