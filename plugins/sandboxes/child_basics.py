"""What every system can do for a candidate: limits of its process, and a folder that is emptied.

Stand-alone: this text is sent to the process that holds the candidates, so it imports the standard library only.
"""

import contextlib
import ctypes
import os
import signal
import sys

THREADS = 128
_DESCRIPTORS = 256
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def empty_folder(folder: str) -> None:
    """Remove what is in a folder. Folders are lifted out of one another first, so that no depth is too deep."""
    lifted = 0
    while names := os.listdir(folder):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isdir(path):
                os.unlink(path)
                continue
            os.chmod(path, 0o700)
            for inner in os.listdir(path):
                lifted += 1
                source = os.path.join(path, inner)
                if os.path.isdir(source) and not os.path.islink(source):
                    # To move a folder is to change its entry for the folder above.
                    os.chmod(source, 0o700)
                os.rename(source, os.path.join(folder, f"{lifted}.lifted"))
            os.rmdir(path)


def die_with_parent() -> None:
    """Ask the kernel, where it is Linux, to kill this process when the thread that started it ends."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def own_size() -> int:
    """Return the size of this process's address space in bytes, 0 where that cannot be read."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def limit(cpu_s: float, address_space: int, file_size: int, tasks: int | None) -> None:
    """Set the resource limits of this process, on a system that has any.

    `tasks` is how many processes and threads there may be, which is right only where no others are counted, or None.
    """
    try:
        import resource
    except ImportError:
        return
    cpu = int(cpu_s) + 1
    limits = [
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_FSIZE, file_size, file_size),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, _DESCRIPTORS, _DESCRIPTORS),
        (resource.RLIMIT_AS, address_space, address_space),
    ]
    if tasks is not None:
        limits.append((resource.RLIMIT_NPROC, tasks, tasks))
    for kind, soft, hard in limits:
        # A value above the present hard limit is an error even where nothing needs it; macOS refuses some altogether.
        present = resource.getrlimit(kind)[1]
        if present != resource.RLIM_INFINITY:
            soft, hard = min(soft, present), min(hard, present)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, hard))
