"""Becomes another user, within control groups if there are any, and then another program.

Stand-alone: this text is given to an interpreter of its own, which only root needs.
"""

import os
from collections.abc import Mapping
from typing import Any

from . import child_confine as confine


def main(hello: Mapping[str, Any], requests: int, answers: int) -> None:
    """Enter the groups, open the way to what is needed, become the user, and run the program."""
    os.dup2(requests, 0)
    os.dup2(answers, 1)
    for group in hello["groups"]:
        with open(f"{group}/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))
    confine.unshare_mounts()
    confine.settle_mounts(show_processes=False)
    confine.open_the_way(hello["needed"])
    confine.drop_privileges(hello["user"], hello["user"])
    os.execve(hello["argv"][0], hello["argv"], dict(os.environ))
