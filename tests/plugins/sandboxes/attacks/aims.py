"""What the attacks are aimed at, made afresh for each: files with a secret, a process with a secret, listeners."""

import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any


class Aims:
    """A home, hidden answers, a neighbour and a few services. `where` is what an attack is told of them."""

    def __init__(self, package: Path, secret: str) -> None:
        self.secret = secret
        abstract = secrets.token_hex(8)
        self.folder = Path(tempfile.mkdtemp(prefix="aims-"))
        self.folder.chmod(0o755)
        for name in ("home/.ssh", "site", "tmp"):
            (self.folder / name).mkdir(parents=True)
        for name in ("home/.ssh/id_ed25519", "home/.bashrc", "answers.json", "evaluator.py"):
            (self.folder / name).write_text(f"# {self.secret}\n")
        self.answers = os.open(self.folder / "answers.json", os.O_RDONLY)
        self.victim = subprocess.Popen(["sleep", "1000"], env={"TOKEN": self.secret, "PATH": os.environ["PATH"]})
        self._listeners = [
            self._listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            self._listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            self._listen(socket.AF_UNIX, socket.SOCK_STREAM, str(self.folder / "service")),
            self._listen(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{abstract}"),
            self._listen(socket.AF_UNIX, socket.SOCK_DGRAM, str(self.folder / "log")),
        ]
        tcp, udp = (listener.getsockname()[1] for listener in self._listeners[:2])
        tcp6 = tcp
        if socket.has_ipv6:
            try:
                self._listeners.append(self._listen(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)))
                tcp6 = self._listeners[-1].getsockname()[1]
            except OSError:
                # No IPv6 here: the attack then meets a closed port.
                tcp6 = 9
        self.where: dict[str, Any] = {
            "home": str(self.folder / "home"),
            "answers": str(self.folder / "answers.json"),
            "evaluator": str(self.folder / "evaluator.py"),
            "site": str(self.folder / "site"),
            "tmp": str(self.folder / "tmp"),
            "package": str(package),
            "package_parent": str(package.parent),
            "engine": os.getpid(),
            "victim": self.victim.pid,
            "tcp": tcp,
            "tcp6": tcp6,
            "udp": udp,
            "service": str(self.folder / "service"),
            "log": str(self.folder / "log"),
            "abstract": abstract,
        }
        self._before = self._state()

    def intact(self) -> bool:
        """Say whether everything is as it was."""
        called = select.select(self._listeners, [], [], 0)[0]
        return self._state() == self._before and self.victim.poll() is None and not called

    def close(self) -> None:
        """Take it all away, whatever is left of it."""
        self.victim.send_signal(signal.SIGKILL)
        self.victim.wait()
        for listener in self._listeners:
            listener.close()
        os.close(self.answers)
        for folder in (".", "/tmp", "/var/tmp", "/dev/shm"):
            Path(folder, f"message-{self.where['abstract']}").unlink(missing_ok=True)
        for path in self.folder.rglob("*"):
            if not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(self.folder)

    def _listen(self, family: int, kind: int, where: Any) -> socket.socket:
        listener = socket.socket(family, kind)
        listener.bind(where)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        return listener

    def _state(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path in sorted(self.folder.rglob("*")):
            about = path.lstat()
            text = path.read_text() if path.is_file() and os.access(path, os.R_OK) else None
            marks = os.listxattr(path, follow_symlinks=False) if not path.is_socket() else []
            found[str(path)] = (about.st_mode, about.st_mtime_ns if path.is_file() else 0, text, marks)
        return found
