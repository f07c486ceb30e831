"""The files a candidate may touch: Landlock, by three system calls, with as much as the kernel knows.

Stand-alone: the server sends this text to the process that holds the candidates, so it imports the standard library
only. Rights and versions are those of Documentation/userspace-api/landlock.rst in the Linux source.
"""

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH, _VERSION = 1, 1

READ_FILE, READ_DIR = 1 << 2, 1 << 3
_EXECUTE, _WRITE_FILE, _TRUNCATE = 1 << 0, 1 << 1, 1 << 14
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | READ_FILE | _TRUNCATE
_RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE, 5: 1 << 15}
_TCP = 0b11
_SCOPES = 0b11
READ = READ_FILE | READ_DIR
# Everything but running programs, devices and sockets: directories, files, links, removal, moves, truncation.
_SCRATCH = READ | _WRITE_FILE | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13 | _TRUNCATE

_libc = ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: int | bytes | None) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *map(_as_argument, arguments)))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _as_argument(value: int | bytes | None) -> ctypes.c_long | ctypes.c_char_p:
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)


def version() -> int:
    """Return the version of Landlock that the kernel speaks, 0 for none."""
    try:
        return _call(_CREATE, None, 0, _VERSION)
    except OSError:
        return 0


def ruleset(readable: Iterable[str], listable: Iterable[str], scratch: str | None) -> int:
    """Return the descriptor of a set of rules that allows just this.

    `readable` are files and folders read with all that is below, `listable` folders whose names may be read, and
    `scratch` the folder to write in. Paths that do not exist are left out. Raises OSError without Landlock.
    """
    known = version()
    if not known:
        raise OSError("this kernel has no Landlock")
    rights = sum(bits for since, bits in _RIGHTS_BY_VERSION.items() if since <= known)
    attributes = struct.pack("=Q", rights)
    if known >= 4:
        attributes += struct.pack("=Q", _TCP)
    if known >= 6:
        attributes += struct.pack("=Q", _SCOPES)
    rules = _call(_CREATE, attributes, len(attributes), 0)
    for path in readable:
        _allow(rules, path, READ & rights)
    for path in listable:
        _allow(rules, path, READ_DIR & rights)
    _allow(rules, os.devnull, (READ_FILE | _WRITE_FILE) & rights)
    if scratch is not None:
        _allow(rules, scratch, _SCRATCH & rights)
    return rules


def _allow(rules: int, path: str, rights: int) -> None:
    with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(beneath).st_mode):
                rights &= _FILE_RIGHTS
            _call(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", rights, beneath), 0)
        finally:
            os.close(beneath)


def restrict(rules: int) -> None:
    """Put the calling process under the rules, for good. It must have given up new privileges before."""
    _call(_RESTRICT, rules, 0)
