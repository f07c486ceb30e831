"""The system calls a candidate may make: a seccomp allow-list, written as BPF by hand for x86-64.

Stand-alone: the server sends this text to the process that holds the candidates, so it imports the standard library
only. Numbers are those of arch/x86/entry/syscalls/syscall_64.tbl in the Linux source.
"""

import ctypes
import errno
import platform
import struct
from collections.abc import Callable, Iterable
from typing import NamedTuple

_ALLOWED = {
    "read": 0, "write": 1, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "access": 21, "pipe": 22, "select": 23,
    "sched_yield": 24, "mremap": 25, "msync": 26, "mincore": 27, "madvise": 28, "dup": 32, "dup2": 33, "pause": 34,
    "nanosleep": 35, "getitimer": 36, "alarm": 37, "setitimer": 38, "getpid": 39, "sendfile": 40, "recvfrom": 45,
    "recvmsg": 47, "shutdown": 48, "getsockname": 51, "getpeername": 52, "setsockopt": 54, "getsockopt": 55,
    "exit": 60, "wait4": 61, "uname": 63, "flock": 73, "fsync": 74, "fdatasync": 75, "ftruncate": 77, "getdents": 78,
    "getcwd": 79, "chdir": 80, "fchdir": 81, "readlink": 89, "umask": 95, "gettimeofday": 96, "getrlimit": 97,
    "getrusage": 98, "sysinfo": 99, "times": 100, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108,
    "getppid": 110, "getpgrp": 111, "getgroups": 115, "getresuid": 118, "getresgid": 120, "rt_sigpending": 127,
    "rt_sigtimedwait": 128, "rt_sigsuspend": 130, "sigaltstack": 131, "statfs": 137, "fstatfs": 138,
    "getpriority": 140, "sched_getparam": 143, "sched_getscheduler": 145, "sched_get_priority_max": 146,
    "sched_get_priority_min": 147, "arch_prctl": 158, "gettid": 186, "time": 201, "futex": 202,
    "sched_getaffinity": 204, "epoll_create": 213, "getdents64": 217, "set_tid_address": 218, "restart_syscall": 219,
    "fadvise64": 221, "timer_create": 222, "timer_settime": 223, "timer_gettime": 224, "timer_getoverrun": 225,
    "timer_delete": 226, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231,
    "epoll_wait": 232, "epoll_ctl": 233, "waitid": 247, "newfstatat": 262, "readlinkat": 267, "faccessat": 269,
    "pselect6": 270, "ppoll": 271, "set_robust_list": 273, "get_robust_list": 274, "epoll_pwait": 281,
    "timerfd_create": 283, "eventfd": 284, "fallocate": 285, "timerfd_settime": 286, "timerfd_gettime": 287,
    "signalfd4": 289, "eventfd2": 290, "epoll_create1": 291, "dup3": 292, "pipe2": 293, "preadv": 295, "pwritev": 296,
    "getcpu": 309, "getrandom": 318, "membarrier": 324, "copy_file_range": 326, "preadv2": 327, "pwritev2": 328,
    "statx": 332, "rseq": 334, "close_range": 436, "faccessat2": 439, "epoll_pwait2": 441, "futex_waitv": 449,
    "futex_wake": 454, "futex_wait": 455, "futex_requeue": 456,
}  # fmt: skip

_CHANGES_NAMES = {
    "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87, "symlink": 88, "mkdirat": 258,
    "unlinkat": 263, "renameat": 264, "linkat": 265, "symlinkat": 266, "renameat2": 316,
}  # fmt: skip
"""Calls that Landlock confines to the scratch folder; without Landlock they are refused."""

# Landlock says nothing of modes, owners, times and attributes, so chmod and its kin are on no list. Neither are
# fork, exec, sockets, ptrace, keys, namespaces, mounts, shared memory, memfd, io_uring, bpf: what is not named is
# refused.
_ABSENT = {"clone3": 435, "openat2": 437}
"""Calls whose flags lie behind a pointer: said to be missing, so that the C library uses the older call."""

_OPEN, _IOCTL, _SENDTO, _SOCKETPAIR, _CLONE, _KILL, _FCNTL = 2, 16, 44, 53, 56, 62, 72
_PRCTL, _TGKILL, _OPENAT, _PRLIMIT = 157, 234, 257, 302

_REFUSED_TO_COMMANDS = {
    "shmget": 29, "pivot_root": 155, "chroot": 161, "acct": 163, "mount": 165, "umount2": 166, "swapon": 167,
    "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
    "create_module": 174, "init_module": 175, "delete_module": 176, "get_kernel_syms": 177, "query_module": 178,
    "quotactl": 179, "nfsservctl": 180, "lookup_dcookie": 212, "kexec_load": 246, "add_key": 248, "request_key": 249,
    "keyctl": 250, "unshare": 272, "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308, "finit_module": 313, "memfd_create": 319,
    "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447,
}  # fmt: skip
"""What commands are refused, which may start programs and talk among themselves."""

_SOCKET = 41
_FAMILIES = (1, 2, 10, 16)
"""Unix, IPv4, IPv6 and netlink, all of them within the command's own network."""
_IOCTLS_REFUSED = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type for the person at the terminal."""

_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX."""
_PRCTLS = (3, 15, 16, 21, 23, 39, 0x53564D41)
"""Get dumpable, set and get the thread's name, get seccomp, read the bounding set, get no-new-privs, name a mapping."""
_FCNTLS_REFUSED = (8, 10, 15, 1024, 1026, 1031)
"""Set owner, signal and owner_ex (they make the kernel signal another process), lease, notify, size of a pipe."""
_O_ACCESS, _O_CREAT, _O_TRUNC = 3, 0o100, 0o1000
_CLONE_VM, _CLONE_THREAD, _CLONE_NEW = 0x100, 0x10000, 0x7E020000

_AUDIT_ARCH_X86_64 = 0xC000003E
_X32 = 0x40000000
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JEQ, _JGE, _JSET = 0x15, 0x35, 0x45
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_PID = -1
"""Stands for the candidate's own process id, which is known only in the candidate."""

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2


class _Step(NamedTuple):
    code: int
    k: int
    if_true: int = 0
    if_false: int = 0


_Code = tuple[_Step, ...]
_YES: _Code = (_Step(_RETURN, _ALLOW),)
_NO: _Code = (_Step(_RETURN, _ERRNO | errno.EPERM),)
_MISSING: _Code = (_Step(_RETURN, _ERRNO | errno.ENOSYS),)


def _argument(index: int, high: bool = False) -> _Step:
    return _Step(_LOAD, 16 + 8 * index + 4 * high)


def _if_in(index: int, values: Iterable[int], then: _Code, otherwise: _Code) -> _Code:
    """Branch on whether the low half of an argument is one of `values`. `then` is a single step."""
    values = tuple(values)
    tests = tuple(_Step(_JEQ, value, len(values) - 1 - i + len(otherwise)) for i, value in enumerate(values))
    return (_argument(index), *tests, *otherwise, *then)


def _if_masked(index: int, mask: int, value: int, then: _Code, otherwise: _Code) -> _Code:
    return (_argument(index), _Step(_AND, mask), _Step(_JEQ, value, 0, len(then)), *then, *otherwise)


def _specials(writes: bool) -> dict[int, _Code]:
    """Return the calls whose arguments decide, with the code that looks at them."""

    def opening(flags: int) -> _Code:
        if writes:
            # Older Landlock knows nothing of truncation, and this is the one way to it without a writing descriptor.
            return _if_masked(flags, _O_ACCESS | _O_TRUNC, _O_TRUNC, _NO, _YES)
        return _if_masked(flags, _O_ACCESS | _O_TRUNC | _O_CREAT, 0, _YES, _NO)

    return {
        _OPEN: opening(1),
        _OPENAT: opening(2),
        _IOCTL: _if_in(1, _IOCTLS, _YES, _NO),
        _PRCTL: _if_in(0, _PRCTLS, _YES, _NO),
        _FCNTL: _if_in(1, _FCNTLS_REFUSED, _NO, _YES),
        _CLONE: _if_masked(
            0, _CLONE_VM | _CLONE_THREAD | _CLONE_NEW, _CLONE_VM | _CLONE_THREAD, _YES, _NO
        ),
        # Only pairs of streams: a datagram socket could be turned to any address.
        _SOCKETPAIR: (
            _argument(0), _Step(_JEQ, 1, 0, 4), _argument(1), _Step(_AND, 0xF), _Step(_JEQ, 1, 0, 1), *_YES, *_NO,
        ),
        _SENDTO: (
            _argument(4), _Step(_JEQ, 0, 0, 3), _argument(4, high=True), _Step(_JEQ, 0, 0, 1), *_YES, *_NO,
        ),
        _KILL: _if_in(0, (_PID,), _YES, _NO),
        _TGKILL: _if_in(0, (_PID,), _YES, _NO),
        _PRLIMIT: _if_in(0, (0, _PID), _YES, _NO),
    }  # fmt: skip


def _search(cuts: list[tuple[int, _Code]]) -> _Code:
    """Return a balanced search: each cut holds from its number up to the next one's."""
    if len(cuts) == 1:
        return cuts[0][1]
    middle = len(cuts) // 2
    low, high = _search(cuts[:middle]), _search(cuts[middle:])
    return (_Step(_JGE, cuts[middle][0], len(low), 0), *low, *high)


def program(writes: bool) -> tuple[bytes, tuple[int, ...]]:
    """Return the filter and the offsets at which the candidate's process id goes, as four bytes.

    Without `writes` nothing may be opened for writing and no name changed, which is how it is without Landlock.
    """
    decided: dict[int, _Code] = dict.fromkeys(_ALLOWED.values(), _YES)
    decided |= dict.fromkeys(_ABSENT.values(), _MISSING)
    decided |= dict.fromkeys(_CHANGES_NAMES.values(), _YES if writes else _NO)
    return _assembled(decided | _specials(writes), otherwise=_NO)


def program_for_commands() -> bytes:
    """Return the filter for commands, which says what is refused and not what is allowed."""
    decided: dict[int, _Code] = dict.fromkeys(_REFUSED_TO_COMMANDS.values(), _NO)
    decided[_ABSENT["clone3"]] = _MISSING
    decided[_CLONE] = _if_masked(0, _CLONE_NEW, 0, _YES, _NO)
    decided[_SOCKET] = _if_in(0, _FAMILIES, _YES, _NO)
    decided[_IOCTL] = _if_in(1, _IOCTLS_REFUSED, _NO, _YES)
    return _assembled(decided, otherwise=_YES)[0]


def _assembled(decided: dict[int, _Code], otherwise: _Code) -> tuple[bytes, tuple[int, ...]]:
    """Return a filter that does as decided by number, and something else with all the other numbers."""
    cuts: list[tuple[int, _Code]] = [(0, decided.get(0, otherwise))]
    for number in range(1, max(decided) + 2):
        code = decided.get(number, otherwise)
        if code is not cuts[-1][1]:
            cuts.append((number, code))
    cuts.append((_X32, _NO))
    steps = (
        _Step(_LOAD, 4),
        _Step(_JEQ, _AUDIT_ARCH_X86_64, 1, 0),
        _Step(_RETURN, _KILL_PROCESS),
        _Step(_LOAD, 0),
        *_search(cuts),
    )
    packed, places = bytearray(), []
    for step in steps:
        if step.k == _PID:
            places.append(len(packed) + 4)
        packed += struct.pack("=HBBI", step.code, step.if_true, step.if_false, step.k & 0xFFFFFFFF)
    return bytes(packed), tuple(places)


def available() -> bool:
    """Say whether this machine's system calls are the ones that are known here."""
    return platform.system() == "Linux" and platform.machine() == "x86_64" and struct.calcsize("P") == 8


def loader(writes: bool) -> Callable[[int], None]:
    """Return a function that puts the calling process, given its id, under the filter; for good."""
    template, places = program(writes)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]

    def load(pid: int) -> None:
        code = bytearray(template)
        for place in places:
            code[place : place + 4] = struct.pack("=I", pid)
        buffer = ctypes.create_string_buffer(bytes(code), len(code))
        header = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer)))
        if prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header), 0, 0):
            raise OSError(ctypes.get_errno(), "seccomp")

    return load
