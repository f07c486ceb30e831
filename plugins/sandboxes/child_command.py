"""Runs one command in a sandbox that has been made around it, and hands back some of the files it left.

Stand-alone: this text is sent into the sandbox, so it imports the standard library only. What it writes could have been
written by the command itself; whoever reads it trusts none of it.
"""

import base64
import contextlib
import glob
import json
import os
import signal
import struct
import sys
import time
from collections.abc import Mapping
from typing import Any

from . import child_basics as basics


def main(hello: Mapping[str, Any], requests: int, answers: int) -> None:
    """Lay out the files, run the command under limits, and answer with its exit code and the files to keep."""
    os.close(requests)
    limits = hello["limits"]
    for path, content in hello["files"].items():
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(content))
        if path in hello["executable"]:
            os.chmod(path, 0o755)
    reading, writing = os.pipe()
    os.write(answers, b"R" + struct.pack(">d", time.process_time()))
    child = os.fork()
    if not child:
        try:
            os.dup2(reading, 0)
            os.dup2(2, 1)
            os.closerange(3, 256)
            basics.limit(limits["cpu_s"], limits["memory_bytes"], limits["scratch_bytes"], hello["processes"])
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            os.execvp(hello["argv"][0], hello["argv"])
        except OSError as error:
            os.write(2, f"{hello['argv'][0]}: {error.strerror}\n".encode())
        finally:
            os._exit(127)
    os.close(reading)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with contextlib.suppress(OSError), os.fdopen(writing, "wb") as pipe:
        pipe.write(base64.b64decode(hello["stdin"]))
    exit_code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    answer = {"exit": exit_code, "files": kept_files(hello["keep"], limits["output_bytes"])}
    data = json.dumps(answer).encode("ascii")
    while data:
        data = data[os.write(answers, data) :]
    sys.stdout.flush()
    os._exit(0)


def kept_files(patterns: list[str], room: int) -> dict[str, str]:
    """Return the files that match, in base 64, as far as there is room; no link is followed out of the folder."""
    found: dict[str, str] = {}
    here = os.path.realpath(".")
    for pattern in patterns:
        for path in sorted(glob.glob(pattern, recursive=True)):
            inside = os.path.realpath(path).startswith(f"{here}/")
            if path in found or not inside or not os.path.isfile(path):
                continue
            with contextlib.suppress(OSError), open(path, "rb") as file:
                content = base64.b64encode(file.read(room)).decode("ascii")
                room -= len(content)
                if room < 0:
                    return found
                found[path] = content
    return found
