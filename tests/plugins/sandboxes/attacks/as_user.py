"""Runs a script as a user who may do nothing, with the Python of whoever starts it; only root needs this.

python as_user.py UID SCRIPT ARGUMENT…
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[2]
sys.path.insert(0, str(TESTS))

import conftest as _conftest  # noqa: E402, F401 it makes the package importable in a bare clone
from speciate.plugins.sandboxes import child_confine as confine  # noqa: E402


def main(user: int, script: str, arguments: list[str]) -> int:
    """Run the script with a home of its own, which is removed; return its exit code."""
    home = tempfile.mkdtemp(prefix="user-")
    os.chown(home, user, user)
    child = os.fork()
    if not child:
        try:
            become(user, home, script, arguments)
        finally:
            os._exit(1)
    state = os.waitpid(child, 0)[1]
    shutil.rmtree(home, ignore_errors=True)
    return os.waitstatus_to_exitcode(state)


def become(user: int, home: str, script: str, arguments: list[str]) -> None:
    """Open the way to Python and to the tests, in a view of the files of this process alone, and become the user."""
    confine.unshare_mounts()
    confine.settle_mounts(show_processes=False)
    places = {sys.prefix, sys.base_prefix, str(TESTS.parent), *filter(os.path.exists, sys.path)}
    confine.open_the_way(sorted(map(os.path.realpath, places)))
    confine.drop_privileges(user, user)
    os.chdir(home)
    kept = {name: os.environ[name] for name in ("SECRET_KEY", "OMP_NUM_THREADS") if name in os.environ}
    environment = {**kept, "HOME": home, "TMPDIR": home, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    os.execve(sys.executable, [sys.executable, script, *arguments], environment)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
