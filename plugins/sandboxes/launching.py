"""How processes for candidates are started: what they are told, what they inherit, what they must reach."""

import functools
import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ...core.errors import SpeciateError
from ...core.sandbox import Job, Level

CHILD_PARTS = (
    "child_basics",
    "child_seccomp",
    "child_landlock",
    "child_confine",
    "child_runner",
    "child_watch",
    "child_server",
)
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

APART = ("-s", "-P", "-B")
"""How Python is started: without the current folder, the user's own packages and files of its own.

The environment is clean already, and `-I` would make Python overlook the hash seed that is in it.
"""

_KEPT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT")
_LEVELS: dict[Level, int] = {"none": 0, "basic": 1, "strong": 2}


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


@functools.cache
def shown_folders() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what must be shown of this machine for its Python to work, and the import path among that.

    The path is that of an interpreter by itself: this one's may hold the current folder, and whatever lies there.
    """
    asked = [sys.executable, *APART, "-c", "import json, sys; print(json.dumps(sys.path))"]
    found = json.loads(subprocess.run(asked, capture_output=True, check=True, env=clean_environment()).stdout)
    path = tuple(os.path.realpath(p) for p in found if os.path.isdir(p) and not _holds_the_engine(os.path.realpath(p)))
    shown = {os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix), *path}
    shown |= {folder for folder in ("/usr", "/lib", "/lib64", "/bin") if not os.path.islink(folder)}
    # The interpreter of a virtual environment may be a link to that of another one.
    link = sys.executable
    while os.path.islink(link):
        link = os.path.normpath(os.path.join(os.path.dirname(link), os.readlink(link)))
        shown.add(os.path.dirname(link))
    shown = {folder for folder in shown if os.path.exists(folder)}
    tops = (one for one in shown if not any(one != other and one.startswith(f"{other}/") for other in shown))
    return tuple(sorted(tops)), path


def _holds_the_engine(folder: str) -> bool:
    """Say whether a folder is a clone of the engine, lies in one, or is where a clone lies."""
    own = Path(__file__).resolve().parents[2]
    return own in (Path(folder), *Path(folder).parents) or (Path(folder) == own.parent and own.name != "speciate")
