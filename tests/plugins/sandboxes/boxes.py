"""What the tests of the sandboxes share: limits, jobs, and what runs on this machine."""

import os
from pathlib import Path
from typing import Any

from speciate.core.program import Program
from speciate.core.sandbox import Job, Limits, Workspace

LIMITS = Limits(wall_s=5.0, cpu_s=1.0, memory_bytes=512 << 20, output_bytes=1 << 16, stdout_bytes=1 << 12)
WORKSPACE = Workspace(
    preload=("numpy", "scipy.optimize"),
    modules={"blocks": "import numpy as np\n\ndef seven():\n    return int(np.int64(7))\n"},
    limits=LIMITS,
)


def job(text: str, **more: Any) -> Job:
    """Return the execution of a program of one file."""
    return Job(Program.of({"program.py": text}), "program.py", **more)


def children(of: int | None = None) -> set[int]:
    """Return the ids of all processes that live below one, by default this one."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state != "Z":
                parents[int(folder.name)] = int(parent)
    found, fresh = set(), {os.getpid() if of is None else of}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh}
        found |= fresh
    return found


def lives(pid: int) -> bool:
    """Say whether a process is there and no corpse."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
