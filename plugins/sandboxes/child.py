"""A fork server for candidates: stand-alone, started with an empty environment, it imports nothing of the engine.

It imports the preload, then answers requests on descriptors 3 (in) and 4 (out), JSON behind four bytes of length. Each
candidate is a fork in a session of its own, under rlimits, killed whole at the limit; what it returns is JSON text.
"""

import contextlib
import ctypes
import gc
import importlib
import inspect
import json
import os
import random
import resource
import select
import signal
import struct
import sys
import time
import traceback
import types

PR_SET_PDEATHSIG = 1


def read_exactly(descriptor, count):
    data = bytearray()
    while len(data) < count:
        chunk = os.read(descriptor, count - len(data))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)


def receive(descriptor):
    return json.loads(read_exactly(descriptor, struct.unpack(">I", read_exactly(descriptor, 4))[0]))


def send(descriptor, content):
    raw = json.dumps(content).encode("utf-8", "backslashreplace")
    raw = struct.pack(">I", len(raw)) + raw
    while raw:
        raw = raw[os.write(descriptor, raw) :]


def plain(value):
    """Turn what json does not know into what it knows: arrays, their scalars, sets of numbers and the like."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "_asdict"):
        return value._asdict()
    if hasattr(value, "__float__"):
        return float(value)
    raise TypeError(f"a {type(value).__name__} is not plain data")


def load(request):
    """Make the program's files importable and run the main one; return its module."""
    files, main = request["files"], request["main"]
    names = {path[:-3].replace("/", "."): text for path, text in files.items() if path.endswith(".py")}
    for name, text in names.items():
        if name != main[:-3]:
            module = types.ModuleType(name)
            sys.modules[name] = module
            exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    module = types.ModuleType("program")
    module.__file__ = main
    sys.modules["program"] = module
    exec(compile(files[main], main, "exec"), module.__dict__)
    return module


def arguments_for(function, offered):
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return offered
    return {p.name: offered[p.name] for p in parameters if p.name in offered}


def traceback_of(error, files):
    """Return the candidate's own frames and the error, in a few lines and without a path of this machine."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
    where = "".join(f", {f.filename} line {f.lineno} in {f.name}" for f in frames[-4:])
    return f"{type(error).__name__}: {str(error)[:500]}{where}"


def candidate(request, out):
    """Run one candidate and write b"J" + JSON, or b"E" + status + sentence, to `out`. Never returns."""
    try:
        random.seed(request["seed"])
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(request["seed"] % (1 << 32))
        module = load(request)
        function = next((f for n in request["entries"] if callable(f := getattr(module, n, None))), None)
        if function is None:
            answer = b"Ecrashed\0" + f"program defines no function {request['entries'][-1]!r}".encode()
        else:
            value = function(**arguments_for(function, request["arguments"]))
            try:
                answer = b"J" + json.dumps(value, default=plain).encode()
            except (TypeError, ValueError, RecursionError) as error:
                answer = b"Einvalid\0" + f"the returned value is not plain data: {error}".encode()
    except MemoryError:
        answer = b"Ecrashed\0the memory limit was reached"
    except BaseException as error:
        answer = b"Ecrashed\0" + traceback_of(error, request["files"]).encode("utf-8", "backslashreplace")
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    with contextlib.suppress(BaseException):
        while answer:
            answer = answer[os.write(out, answer) :]
    os._exit(0)


def limit(request):
    limits = request["limits"]
    cpu = int(limits["cpu_s"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    # The limit above counts whole seconds; this one, which a candidate can turn off, ends the ordinary loop on time.
    signal.setitimer(signal.ITIMER_PROF, limits["cpu_s"])
    size = limits["memory_bytes"] + own_size()
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["scratch_bytes"], limits["scratch_bytes"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def own_size():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def start(request):
    """Fork a candidate; return its pid and the descriptors of its result and of what it prints."""
    result_in, result_out = os.pipe()
    print_in, print_out = os.pipe()
    pid = os.fork()
    if pid:
        os.close(result_out)
        os.close(print_out)
        return pid, result_in, print_in
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(print_out, 1)
        os.dup2(print_out, 2)
        os.dup2(result_out, 5)
        os.closerange(3, 5)
        os.closerange(6, 256)
        limit(request)
        candidate(request, 5)
    finally:
        os._exit(1)


def watch(request, pid, result_in, print_in):
    """Read what a candidate writes, within its limits; return (result, printed, reason it was stopped or None)."""
    limits = request["limits"]
    data = {result_in: bytearray(), print_in: bytearray()}
    deadline = time.monotonic() + limits["wall_s"]
    poller = select.poll()
    open_ones = {result_in, print_in}
    for descriptor in open_ones:
        poller.register(descriptor, select.POLLIN)
    while result_in in open_ones:
        left = deadline - time.monotonic()
        if left <= 0:
            return data[result_in], data[print_in], "wall"
        for descriptor, _ in poller.poll(min(left * 1000 + 1, 1000)):
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                poller.unregister(descriptor)
                open_ones.discard(descriptor)
            elif descriptor == result_in:
                data[result_in] += chunk
                if len(data[result_in]) > limits["output_bytes"] + 1:
                    return data[result_in], data[print_in], "output"
            elif len(data[print_in]) < limits["stdout_bytes"]:
                data[print_in] += chunk
    return data[result_in], data[print_in], None


def outcome(request, data, stopped, state, usage):
    """Return (status, value, reason) of a candidate that has ended."""
    limits = request["limits"]
    if stopped == "wall":
        return "timeout", None, f"the wall time limit of {limits['wall_s']:g} s was reached"
    if stopped == "output":
        return "invalid", None, f"the output is larger than {limits['output_bytes']} bytes"
    over = usage.ru_utime + usage.ru_stime > limits["cpu_s"]
    if over or (os.WIFSIGNALED(state) and os.WTERMSIG(state) == signal.SIGPROF):
        return "timeout", None, f"the CPU time limit of {limits['cpu_s']:g} s was reached"
    if os.WIFSIGNALED(state):
        number = os.WTERMSIG(state)
        return "crashed", None, f"the program was ended by signal {signal.Signals(number).name}"
    if data[:1] == b"J":
        try:
            return "ok", bytes(data[1:]).decode("utf-8"), None
        except UnicodeDecodeError:
            return "invalid", None, "the output is not UTF-8"
    if data[:1] == b"E" and b"\0" in data[:32]:
        status, _, reason = bytes(data[1:]).partition(b"\0")
        if status in (b"crashed", b"invalid"):
            return status.decode(), None, reason.decode("utf-8", "replace")[:4096]
    return "crashed", None, f"the program ended with exit code {os.waitstatus_to_exitcode(state)} and no result"


def _wait_a_moment(pid):
    handle = os.pidfd_open(pid)
    try:
        select.select([handle], [], [], 1.0)
    finally:
        os.close(handle)


def serve_one(request):
    began, stopped = time.monotonic(), "failed"
    pid, result_in, print_in = start(request)
    try:
        data, printed, stopped = watch(request, pid, result_in, print_in)
    finally:
        if stopped is None:
            # It has closed its result and is about to exit by itself: its exit status says more than our kill.
            _wait_a_moment(pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        os.close(result_in)
        os.close(print_in)
    _, state, usage = os.wait4(pid, 0)
    status, value, reason = outcome(request, data, stopped, state, usage)
    cost = [time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]
    text = bytes(printed[: request["limits"]["stdout_bytes"]]).decode("utf-8", "replace")
    return {"status": status, "value": value, "reason": reason, "cost": cost, "stdout": text}


def main():
    hello = receive(3)
    sys.path[:] = [entry for entry in sys.path if entry]
    for name in hello["preload"]:
        importlib.import_module(name)
    for name, text in hello["modules"].items():
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    gc.collect()
    gc.freeze()
    send(4, {"ready": True})
    while True:
        try:
            request = receive(3)
        except EOFError:
            return
        send(4, serve_one(request))


main()
