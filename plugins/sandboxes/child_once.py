"""Runs one program in a fresh interpreter, which is what every system can do.

Stand-alone: this text is sent to the process that runs the candidate, so it imports the standard library only. The
first nine bytes of what it writes are `R` and the CPU seconds spent until the program began.
"""

import importlib
import os
import struct
import sys
import time
from collections.abc import Mapping
from typing import Any

from . import child_basics as basics
from . import child_runner as runner


def main(hello: Mapping[str, Any], requests: int, answers: int) -> None:
    """Import what is to be imported, put limits on this process, and run the program."""
    limits = hello["limits"]
    basics.die_with_parent()
    os.close(requests)
    os.environ.update(HOME=hello["scratch"], TMPDIR=hello["scratch"], TEMP=hello["scratch"], TMP=hello["scratch"])
    os.chdir(hello["scratch"])
    # What is printed goes where errors go; the former standard output carries the result and nothing else.
    os.dup2(2, 1)
    runner.settle()
    runner.show_lines_at_once()
    for name in hello["preload"]:
        importlib.import_module(name)
    runner.add_modules(hello["modules"])
    spent = time.process_time()
    basics.limit(
        spent + limits["cpu_s"], basics.own_size() + limits["memory_bytes"], limits["scratch_bytes"], tasks=None
    )
    os.write(answers, b"R" + struct.pack(">d", spent))
    sys.stdin = open(os.devnull)  # noqa: SIM115 it stays open as long as the process
    runner.run_and_leave(hello["job"], answers)
