"""Attacks a sandbox from inside, a dozen ways, and says what held."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.evaluation import RunResult, Status
from ...core.program import Program
from ...core.sandbox import Job, Level, Limits, MissingLayer, Sandbox, SelfTest


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer: whether it holds, what it stops, and what the attack on it said."""

    name: str
    holds: bool
    stops: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Attack:
    """A program that returns something that is true when it got through; an error means that it was stopped."""

    layer: str
    stops: str
    text: str
    basic: bool = False
    """Whether even the weakest useful containment must hold here."""


_ATTACKS = (
    _Attack(
        "private environment",
        "a candidate from reading keys and tokens in environment variables",
        "import os\ndef main(token):\n    return token in os.environ.values()\n",
        basic=True,
    ),
    _Attack(
        "private files",
        "a candidate from reading your files: keys, the evaluator, hidden answers",
        "def main(file, token):\n    return token in open(file).read()\n",
    ),
    _Attack(
        "private engine",
        "a candidate from reading the engine's code and the problems that come with it",
        "def main(engine):\n    return len(open(engine).read())\n",
    ),
    _Attack(
        "read-only files",
        "a candidate from changing or deleting your files",
        "import os\ndef main(file):\n    with open(file, 'a') as f:\n        f.write('x')\n    return True\n",
    ),
    _Attack(
        "fixed file modes",
        "a candidate from locking you out of your own files",
        "import os\ndef main(file):\n    os.chmod(file, 0o600)\n    return True\n",
    ),
    _Attack(
        "closed network",
        "a candidate from sending what it knows to anyone, over TCP or UDP",
        "import socket\ndef main(port, datagrams):\n    through = []\n"
        "    for kind, where in ((socket.SOCK_STREAM, port), (socket.SOCK_DGRAM, datagrams)):\n"
        "        try:\n            s = socket.socket(socket.AF_INET, kind)\n            s.settimeout(1)\n"
        "            s.connect(('127.0.0.1', where))\n            s.send(b'x')\n            through.append(where)\n"
        "        except OSError:\n            pass\n    return through\n",
    ),
    _Attack(
        "closed local services",
        "a candidate from giving orders to services of this machine, such as a container engine",
        "import socket\ndef main(service, abstract):\n    through = []\n    for where in (service, '\\0' + abstract):\n"
        "        try:\n            s = socket.socket(socket.AF_UNIX)\n            s.settimeout(1)\n"
        "            s.connect(where)\n            through.append(where)\n"
        "        except OSError:\n            pass\n    return through\n",
    ),
    _Attack(
        "signal barrier",
        "a candidate from killing the engine, its neighbours or anything else of yours",
        "import os\ndef main(victim):\n    os.kill(victim, 18)\n    return True\n",
    ),
    _Attack(
        "private processes",
        "a candidate from reading the memory and the environment of other processes",
        "def main(victim, token):\n    return token in open(f'/proc/{victim}/environ').read()\n",
    ),
    _Attack(
        "process limit",
        "fork bombs, programs that are started, and processes that outlive the candidate",
        "import os\ndef main():\n    if os.fork() == 0:\n        os._exit(0)\n    return os.wait()[0] > 0\n",
    ),
    _Attack(
        "memory limit",
        "a candidate from taking all the memory of this machine",
        "def main(memory):\n    return len(bytearray(memory + (64 << 20)))\n",
        basic=True,
    ),
    _Attack(
        "disk limit",
        "a candidate from filling the disk",
        "import tempfile\ndef main(scratch):\n    size = scratch // 4 + (1 << 20)\n    folder = tempfile.mkdtemp()\n"
        "    for i in range(4):\n        with open(f'{folder}/{i}', 'wb') as f:\n            f.write(bytes(size))\n"
        "    return True\n",
    ),
    _Attack(
        "output limit",
        "a candidate from filling the engine's memory with its output",
        "def main(output):\n    return 'x' * (output + 4096)\n",
        basic=True,
    ),
)


def self_test(sandbox: Sandbox, limits: Limits) -> SelfTest:
    """Return the level that the attacks found, which layers hold and what each missing one would stop.

    The sandbox must be open, with these limits. What a server says of itself (`layers`) is told as well, but only
    attacks decide.
    """
    reports = run_attacks(sandbox, limits)
    missing = [MissingLayer(r.name, r.stops) for r in reports if not r.holds]
    layers = {r.name: r.holds for r in reports}
    for name, held in getattr(sandbox, "layers", {}).items():
        layers[name] = held
        if not held:
            missing.append(MissingLayer(name, _MECHANISMS[name]))
    return SelfTest(level_of(reports), layers, tuple(missing))


_MECHANISMS = {
    "landlock": "a candidate from reading and writing your files",
    "seccomp": "system calls that no honest program needs, from fork to io_uring",
    "namespaces": "a fault of the filters from showing other processes, the network and shared memory",
    "read-only mounts": "a fault of Landlock from letting files be changed",
    "scratch": "programs from failing that need a folder to write to",
    "own user": "a fault of the filters from letting a candidate act as root",
    "container: process limit": "a container from being filled with processes",
    "container: memory limit": "a container from taking all the memory of this machine",
    "container: read-only": "a container from being changed by a candidate for the next one",
    "container: no network": "a container from reaching others",
    "container: no privileges": "a candidate from using the rights of root in its container",
}


def level_of(reports: list[LayerReport]) -> Level:
    """Return how strong the containment is that these attacks met."""
    failed = {r.name for r in reports if not r.holds}
    if not failed:
        return "strong"
    return "none" if any(a.basic and a.layer in failed for a in _ATTACKS) else "basic"


def run_attacks(sandbox: Sandbox, limits: Limits) -> list[LayerReport]:
    """Run each attack in the open sandbox. Nothing is run outside of it."""
    with _bait() as aims:
        aims.update(memory=limits.memory_bytes, scratch=limits.scratch_bytes, output=limits.output_bytes)
        return [_report(attack, sandbox, aims) for attack in _ATTACKS]


def _report(attack: _Attack, sandbox: Sandbox, aims: dict[str, Any]) -> LayerReport:
    result = sandbox.run(Job(Program.of({"attack.py": attack.text}), "attack.py", arguments=aims))
    return LayerReport(attack.layer, not _got_through(result), attack.stops, result.reason or result.value or "")


def _got_through(result: RunResult) -> bool:
    return result.status is Status.OK and bool(json.loads(result.value or "null"))


@contextlib.contextmanager
def _bait() -> Iterator[dict[str, Any]]:
    """Lay out what is attacked: a file, a process with a secret, and listeners on this machine's own addresses."""
    token = secrets.token_hex(8)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bait-")))
        file = folder / "answers.txt"
        file.write_text(token)
        folder.chmod(0o755)
        file.chmod(0o666)
        victim = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"],
            stdin=subprocess.PIPE,
            env={"TOKEN": token},
        )
        stack.callback(_end, victim)
        ports = {
            name: _listener(stack, socket.AF_INET, kind, ("127.0.0.1", 0))
            for name, kind in (("port", socket.SOCK_STREAM), ("datagrams", socket.SOCK_DGRAM))
        }
        service, abstract = str(folder / "service"), f"bait-{token}"
        if hasattr(socket, "AF_UNIX"):
            _listener(stack, socket.AF_UNIX, socket.SOCK_STREAM, service)
            Path(service).chmod(0o777)
            if sys.platform == "linux":
                _listener(stack, socket.AF_UNIX, socket.SOCK_STREAM, f"\0{abstract}")
        os.environ["SPECIATE_SELF_TEST"] = token
        stack.callback(os.environ.pop, "SPECIATE_SELF_TEST", None)
        arguments = {
            "token": token,
            "file": str(file),
            "engine": __file__,
            "victim": victim.pid,
            "service": service,
            "abstract": abstract,
            **{name: listener.getsockname()[1] for name, listener in ports.items()},
        }
        yield arguments


def _listener(stack: contextlib.ExitStack, family: int, kind: int, where: Any) -> socket.socket:
    listener = stack.enter_context(socket.socket(family, kind))
    listener.bind(where)
    if kind == socket.SOCK_STREAM:
        listener.listen()
    return listener


def _end(victim: subprocess.Popen[bytes]) -> None:
    victim.send_signal(signal.SIGTERM if os.name != "posix" else signal.SIGKILL)
    victim.wait()
    if victim.stdin is not None:
        victim.stdin.close()
