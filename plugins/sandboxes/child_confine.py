"""What surrounds a candidate besides its filters: namespaces, a scratch folder of limited size, limits, no privilege.

Stand-alone: the server sends this text to the process that holds the candidates, so it imports the standard library
only.
"""

import contextlib
import ctypes
import os
import struct

from .child_basics import empty_folder

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 36, 38
_CLOSE_RANGE = 436
_CAPABILITY_VERSION_3 = 0x20080522

_INODES = 10_000

_libc = ctypes.CDLL(None, use_errno=True)


class CannotSeparate(Exception):
    """The kernel gave namespaces and then refused what belongs to them: start again without."""


def _check(result: int, what: str) -> None:
    if result:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def separate() -> bool:
    """Give this process and its children network, IPC, process ids and mounts of their own; say whether it worked.

    Root needs nothing else; anyone else becomes the owner of a new user namespace. The next child is the first process
    of the new process ids, and when it dies the kernel kills all the others.
    """
    kinds = _NEWNS | _NEWIPC | _NEWPID | _NEWNET
    user, group = os.geteuid(), os.getegid()
    if user == 0 and not _libc.unshare(kinds):
        return True
    if _libc.unshare(kinds | _NEWUSER):
        return False
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    return True


def unshare_mounts() -> None:
    """Give this process mounts of its own. Raises OSError."""
    _check(_libc.unshare(_NEWNS), "unshare")


def settle_mounts(show_processes: bool = True) -> None:
    """Cut the mounts of this namespace off from those outside, and show the processes of this one only."""
    _check(_libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "mount")
    if not show_processes:
        return
    # A fresh view of the processes; where the outer one is partly covered the kernel refuses it, and Landlock hides it.
    _libc.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC), None)


def make_mounts_read_only() -> bool:
    """Make everything that is mounted read-only, for this namespace; say whether it worked."""
    attributes = struct.pack("=QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    length = ctypes.c_size_t(len(attributes))
    number = ctypes.c_long(_MOUNT_SETATTR)
    return not _libc.syscall(number, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, length)


def open_the_way(needed: list[str]) -> None:
    """Let another user reach the `needed` paths, where a folder above them is closed to others (as root's home is).

    The closed folder is covered by an empty one that shows the needed paths alone.
    """
    closed: dict[str, dict[str, int]] = {}
    for path in needed:
        above = os.path.dirname(path)
        parts = above.split("/")
        for depth in range(2, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if os.path.isdir(folder) and not os.stat(folder).st_mode & 1:
                closed.setdefault(folder, {})[path] = os.open(path, os.O_PATH)
                break
    for folder, paths in closed.items():
        _check(_libc.mount(b"tmpfs", folder.encode(), b"tmpfs", ctypes.c_ulong(_MS_NODEV), b"mode=0755"), "mount")
        for path, descriptor in sorted(paths.items()):
            if not os.path.exists(path):
                if os.path.isdir(f"/proc/self/fd/{descriptor}"):
                    os.makedirs(path, mode=0o755)
                else:
                    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
                    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
                source = f"/proc/self/fd/{descriptor}".encode()
                _check(_libc.mount(source, path.encode(), None, ctypes.c_ulong(_MS_BIND | _MS_REC), None), "mount")
            os.close(descriptor)


def can_read_as(user: int, needed: list[str]) -> bool:
    """Say whether another user could read what lies at the `needed` paths."""
    pid = os.fork()
    if not pid:
        try:
            drop_privileges(user, user)
            for path in needed:
                os.stat(path) if not os.path.isdir(path) else os.listdir(path)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


class Scratch:
    """A folder for one candidate at a time, in memory, of limited size, at the same place on every run."""

    def __init__(self, path: str, size: int, user: int, group: int) -> None:
        self.path = path
        self._options = f"size={size},nr_inodes={_INODES},mode=0700,uid={user},gid={group}".encode()
        self._mount()

    def renew(self) -> bool:
        """Throw away what is in it; say whether it was replaced by another folder."""
        if not os.listdir(self.path):
            return False
        _check(_libc.umount2(self.path.encode(), _MNT_DETACH), "umount")
        self._mount()
        return True

    def _mount(self) -> None:
        kind = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
        _check(_libc.mount(b"tmpfs", self.path.encode(), b"tmpfs", kind, self._options), "mount")


class GivenScratch:
    """A folder that someone else limits; it is emptied between two candidates."""

    def __init__(self, path: str) -> None:
        self.path = path

    def renew(self) -> bool:
        """Throw away what is in it; it stays the same folder."""
        empty_folder(self.path)
        return False


def scratch_place(needed: list[str]) -> str | None:
    """Return the first usual folder that hides none of the `needed` paths when something is mounted over it."""
    for place in ("/tmp", "/var/tmp", "/mnt", "/srv", "/media"):
        if os.path.isdir(place) and not any(f"{path}/".startswith(f"{os.path.realpath(place)}/") for path in needed):
            return place
    return None


def close_all_but(kept: set[int]) -> None:
    """Close every descriptor above standard error, those `kept` excepted."""
    low = 3
    for high in (*sorted(kept), 1 << 31):
        if low < high and _libc.syscall(ctypes.c_long(_CLOSE_RANGE), low, high - 1, 0):
            os.closerange(low, min(high, 4096))
        low = high + 1


def adopt_orphans() -> None:
    """Become the parent of what candidates leave behind, so that it can be found and killed."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def hide_memory() -> None:
    """Forbid other processes of the same user to look into this one."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def no_new_privileges() -> None:
    """Make it impossible to gain privileges by running a program."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def drop_privileges(user: int | None, group: int | None) -> None:
    """Become `user` and `group` when given, and give up every capability, of whatever namespace."""
    if user is not None and group is not None:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0)), "capset")


def first_to_die() -> None:
    """Offer this process to the kernel when memory runs out, before all others."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
