"""What a hostile candidate tries. Each attack is an ordinary program whose `main(aim)` says what it got.

`aim` leads to what the driver laid out: files with a secret, processes, listeners. Destructive attacks stop by
themselves at a cap, so that they can be shown to work where nothing contains them.
"""

# ruff: noqa: E501

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Outcome:
    """What the driver saw of one attack. `value` is what the program returned, or None."""

    status: str
    value: object
    secret: bool
    """Whether the secret is in what came back."""
    intact: bool
    """Whether every file, process and listener that was aimed at is as before."""
    orphans: int
    """How many processes were left behind."""
    seconds: float
    kept_text: int
    """How many characters of what was printed were kept."""


@dataclass(frozen=True)
class Attack:
    """One attack; `worked` decides from outside whether it did."""

    name: str
    text: str
    worked: Callable[[Outcome], bool]
    twice: bool = False
    """Run it twice, and look at the second time."""
    control: str | None = None
    """Why it cannot be shown to work in a plain process, if so."""

    @property
    def fine_for_commands(self) -> bool:
        """Whether command mode is there to let programs do this, within what is their own."""
        return self.name in FINE_FOR_COMMANDS


FINE_FOR_COMMANDS = {
    # To start programs, to speak among themselves, and to trace and limit their own: nobody else is in sight.
    "fork by the bare system call",
    "clone by the bare system call",
    "start a program",
    "spawn a program",
    "become another program",
    "leave a daemon behind",
    "listen for others",
    "open a netlink socket",
    "signal the parent",
    "signal everyone",
    "read the environment of whoever is the parent",
    "outlive the parent",
    "change how this process is run",
    # The folders of the system are shown, without anything of the user's.
    "memory in /dev/shm",
    "memory in the buffers of pipes",
    "many empty files",
    "flood as a result",
    # What a plain harness within the command knows, the command may know.
    "walk the frames up to who called",
    "search every object in memory",
    "nested without end",
}


def _read(outcome: Outcome) -> bool:
    return outcome.secret


def _harmed(outcome: Outcome) -> bool:
    return not outcome.intact


def _got(outcome: Outcome) -> bool:
    return outcome.status == "ok" and bool(outcome.value)


def _more_than(limit: float) -> Callable[[Outcome], bool]:
    return lambda outcome: outcome.status == "ok" and isinstance(outcome.value, int | float) and outcome.value > limit


def _held_up(outcome: Outcome) -> bool:
    return outcome.seconds > 2.5


def _printed(outcome: Outcome) -> bool:
    return outcome.kept_text > 1 << 20


def _left(outcome: Outcome) -> bool:
    return outcome.orphans > 0


CALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""

_ATTACKS: list[Attack] = []


def _add(
    name: str, text: str, worked: Callable[[Outcome], bool], *, twice: bool = False, control: str | None = None
) -> None:
    text = dedent(text).strip()
    if not text.startswith(("import", "from", "def")) or "def main" not in text:
        text = "import os\ndef main(aim):\n" + "\n".join(f"    {line}" for line in text.splitlines())
    if "call(" in text:
        text = CALL + text
    _ATTACKS.append(Attack(name, text + "\n", worked, twice, control))


# Reading

_add("read an ssh key", "return open(aim['home'] + '/.ssh/id_ed25519').read()", _read)
_add("read hidden answers", "return open(aim['answers']).read()", _read)
_add("read the evaluator", "return open(aim['evaluator']).read()", _read)
_add(
    "read by the C library",
    """
import ctypes
def main(aim):
    libc = ctypes.CDLL(None)
    buffer = ctypes.create_string_buffer(4096)
    got = libc.read(libc.open(aim['answers'].encode(), 0), buffer, 4096)
    return buffer.value.decode()
""",
    _read,
)
_add(
    "read by openat2",
    """
import struct
def main(aim):
    how = struct.pack('=QQQ', 0, 0, 0)
    fd = call(437, -100, aim['answers'].encode(), how, len(how))
    return os.read(fd, 4096).decode()
""",
    _read,
)
_add(
    "read through a symbolic link",
    """
import os, tempfile
def main(aim):
    link = os.path.join(tempfile.mkdtemp(), 'x')
    os.symlink(aim['answers'], link)
    return open(link).read()
""",
    _read,
)
_add(
    "read through a hard link",
    """
import os
def main(aim):
    link = os.path.join(os.environ.get('TMPDIR', '.'), 'hard')
    os.link(aim['answers'], link)
    return open(link).read()
""",
    _read,
)
_add("read through /proc/self/root", "return open('/proc/self/root' + aim['answers']).read()", _read)
_add("read the environment", "return dict(os.environ)", _read)
_add("read the parent's environment", "return open(f\"/proc/{aim['engine']}/environ\").read()", _read)
_add("read the environment of whoever is the parent", "return open(f'/proc/{os.getppid()}/environ').read()", _read)
_add(
    "read another process's memory",
    """
import re
def main(aim):
    found = []
    with open(f"/proc/{aim['victim']}/maps") as maps, open(f"/proc/{aim['victim']}/mem", 'rb') as memory:
        for line in maps:
            low, high = (int(x, 16) for x in line.split()[0].split('-'))
            if '[heap]' in line or '[stack]' in line:
                memory.seek(low)
                found += re.findall(rb'SECRET-[0-9a-f]+', memory.read(min(high - low, 1 << 24)))
    return [x.decode() for x in found[:3]]
""",
    _read,
)
_add(
    "read another process's memory by process_vm_readv",
    """
import struct
def main(aim):
    for line in open(f"/proc/{aim['victim']}/maps"):
        if '[stack]' in line:
            low, high = (int(x, 16) for x in line.split()[0].split('-'))
    size = min(high - low, 1 << 20)
    buffer = ctypes.create_string_buffer(size)
    mine, theirs = struct.pack('=QQ', ctypes.addressof(buffer), size), struct.pack('=QQ', high - size, size)
    call(310, aim['victim'], mine, 1, theirs, 1, 0)
    at = buffer.raw.find(b'SECRET-')
    return buffer.raw[at:at + 40].decode('latin-1')
""",
    _read,
)
_add("read the engine's package", "return open(aim['package'] + '/core/sandbox.py').read()", _got)
_add(
    "import the engine",
    """
import sys
def main(aim):
    sys.path.insert(0, aim['package_parent'])
    import importlib.machinery as m
    spec = m.PathFinder.find_spec('speciate', sys.path) or m.PathFinder.find_spec('core', [aim['package']])
    return open(spec.origin).read() + ' '
""",
    _got,
)
_add("read /etc/passwd", "return open('/etc/passwd').read()", _got)
_add("list the home folder", "return os.listdir(aim['home'])", _got)
_add("see other processes", "return [p for p in os.listdir('/proc') if p == str(aim['victim'])]", _got)
_add(
    "read inherited descriptors",
    """
import os
def main(aim):
    found = ''
    for fd in range(3, 256):
        try:
            os.lseek(fd, 0, 0)
            found += os.read(fd, 4096).decode('latin-1')
        except OSError:
            pass
    return found
""",
    _read,
)
_add(
    "walk the frames up to who called",
    """
import sys
def main(aim):
    frame, found = sys._getframe(), ''
    while frame:
        found += repr(frame.f_globals) + repr(frame.f_locals)
        frame = frame.f_back
    return found[:40000]
""",
    _read,
)
_add(
    "search every object in memory",
    """
import gc
def main(aim):
    found = []
    for thing in gc.get_objects():
        if type(thing) is dict:
            found += [v for v in list(thing.values()) if type(v) is str and v.startswith('SECRET-')]
    return found[:5]
""",
    _read,
)
_add("steal a descriptor of another process", "fd = call(438, call(434, aim['victim'], 0), 0, 0)\nreturn fd > 0", _got)
_add(
    "leave a message for the next candidate",
    """
import os
def main(aim):
    folders = (os.environ.get('TMPDIR', '/tmp'), '.', '/tmp', '/var/tmp', '/dev/shm')
    paths = [f"{folder}/message-{aim['abstract']}" for folder in folders]
    if any(os.path.exists(path) for path in paths):
        return True
    for path in paths:
        try:
            open(path, 'w').close()
        except OSError:
            pass
    return False
""",
    _got,
    twice=True,
)

# Writing

_add("overwrite the evaluator", "open(aim['evaluator'], 'w').write('def evaluate(): return 1e9')", _harmed)
_add("append to a start-up file", "open(aim['home'] + '/.bashrc', 'a').write('evil')", _harmed)
_add("delete the answers", "os.unlink(aim['answers'])", _harmed)
_add("rename the answers", "os.rename(aim['answers'], aim['answers'] + '.bak')", _harmed)
_add("truncate the answers", "os.truncate(aim['answers'], 0)", _harmed)
_add("truncate while opening to read", "os.open(aim['answers'], os.O_RDONLY | os.O_TRUNC)", _harmed)
_add("make the answers unreadable", "os.chmod(aim['answers'], 0)", _harmed)
_add("change the times of a file", "os.utime(aim['answers'], (1, 1))", _harmed)
_add("put an attribute on a file", "os.setxattr(aim['answers'], 'user.x', b'y')", _harmed)
_add("make a folder at home", "os.mkdir(aim['home'] + '/new')", _harmed)
_add("plant a module where Python looks", "open(aim['site'] + '/sitecustomize.py', 'w').write('evil')", _harmed)
_add("plant a pipe", "os.mkfifo(aim['home'] + '/fifo')", _harmed)
_add("write to the shared temporary folder", "open(aim['tmp'] + '/planted', 'w').write('evil')", _harmed)

# Network

_add(
    "TCP to this machine",
    "import socket\ns = socket.create_connection(('127.0.0.1', aim['tcp']), 1)\ns.send(b'secret')",
    _harmed,
)
_add(
    "TCP over IPv6", "import socket\ns = socket.create_connection(('::1', aim['tcp6']), 1)\ns.send(b'secret')", _harmed
)
_add(
    "UDP to this machine",
    "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'secret', ('127.0.0.1', aim['udp']))",
    _harmed,
)
_add(
    "connect to a local service",
    "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(aim['service'])\ns.send(b'secret')",
    _harmed,
)
_add(
    "connect to an abstract socket",
    "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0' + aim['abstract'])\ns.send(b'secret')",
    _harmed,
)
_add(
    "send a datagram from a socket pair",
    "import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendto(b'secret', aim['log'])",
    _harmed,
)
_add(
    "turn a stream pair to a local service",
    "import socket\na, b = socket.socketpair()\ntry:\n    a.connect(aim['log'])\nexcept OSError:\n    pass\na.sendmsg([b'x'], [], 0, aim['log'])\n",
    _harmed,
    control="Linux itself refuses it for a connected stream",
)
_add(
    "listen for others",
    "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nreturn s.getsockname()[1]",
    _got,
)
_add(
    "open a netlink socket", "import socket\nreturn socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno()", _got
)

# Other processes

_add("kill another process", "os.kill(aim['victim'], 9)", _harmed)
_add(
    "kill through the asynchronous owner of a pipe",
    """
import fcntl, os, signal
def main(aim):
    r, w = os.pipe()
    fcntl.fcntl(r, fcntl.F_SETOWN, aim['victim'])
    fcntl.fcntl(r, 10, signal.SIGKILL)
    fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(w, b'x')
""",
    _harmed,
)
_add(
    "kill by a process descriptor", "import signal\nsignal.pidfd_send_signal(os.pidfd_open(aim['victim']), 9)", _harmed
)
_add("kill by a queued signal", "import ctypes\nctypes.CDLL(None).sigqueue(aim['victim'], 9, None)", _harmed)
_add("signal the parent", "os.kill(os.getppid() or 1, 0)\nreturn True", _got)
_add("signal everyone", "os.kill(-1, 0)\nreturn True", _got)
_add(
    "trace another process",
    """
import signal
def main(aim):
    call(101, 16, aim['victim'], 0, 0)
    os.waitpid(aim['victim'], 0x40000000)
    call(101, 17, aim['victim'], 0, 0)
    return True
""",
    _got,
)
_add(
    "limit another process",
    "import resource\nresource.prlimit(aim['victim'], resource.RLIMIT_NOFILE, (16, 16))\nreturn True",
    _got,
)
_add("slow another process down", "os.setpriority(os.PRIO_PROCESS, aim['victim'], 15)\nreturn True", _got)
_add("pin another process", "os.sched_setaffinity(aim['victim'], {0})\nreturn True", _got)
_add("compare with another process", "return call(312, os.getpid(), aim['victim'], 0, 0, 0) >= 0", _got)

# More processes and threads

_add(
    "fork bomb",
    """
import os, signal
def main(aim):
    pids = []
    try:
        while len(pids) < 300:
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            pids.append(pid)
    except OSError:
        pass
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return len(pids)
""",
    _more_than(32),
)
_add("fork by the bare system call", "pid = call(57)\nif pid == 0:\n    os._exit(0)\nreturn pid", _got)
_add("clone by the bare system call", "pid = call(56, 17, 0, 0, 0, 0)\nif pid == 0:\n    os._exit(0)\nreturn pid", _got)
_add(
    "start a program",
    "import subprocess\nreturn subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout.decode()",
    _got,
)
_add("spawn a program", "return os.posix_spawn('/bin/true', ['true'], {})", _got)
_add(
    "become another program",
    "os.execv('/bin/sh', ['sh', '-c', 'echo \"true\" >&3; exit 0'])",
    _got,
    control="what it writes to the result pipe is no result of a program",
)
_add(
    "thread bomb",
    """
import threading
def main(aim):
    stop, count = threading.Event(), 0
    try:
        for _ in range(400):
            threading.Thread(target=stop.wait, daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    stop.set()
    return count
""",
    _more_than(300),
)
_add(
    "leave a daemon behind",
    """
import os, time
def main(aim):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(3):
                os.close(fd)
            time.sleep(12)
        os._exit(0)
    os.wait()
    return True
""",
    _left,
)

# Memory and disk

_add(
    "memory hog",
    """
def main(aim):
    hold = []
    try:
        while len(hold) < 20:
            hold.append(bytearray(b'x') * (64 << 20))
    except MemoryError:
        pass
    return len(hold) * 64
""",
    _more_than(640),
)
_add(
    "memory hog of many processes",
    """
import os, signal
def main(aim):
    r, w = os.pipe()
    pids = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            hold = [bytearray(b'x') * (64 << 20) for _ in range(5)]
            os.write(w, b'x')
            signal.pause()
        pids.append(pid)
    done = sum(len(os.read(r, 1)) for _ in pids)
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return done * 320
""",
    _more_than(640),
)
_add(
    "memory in shared mappings",
    """
import mmap
def main(aim):
    hold = []
    try:
        while len(hold) < 20:
            m = mmap.mmap(-1, 64 << 20)
            m.write(b'x' * (64 << 20))
            hold.append(m)
    except (MemoryError, OSError):
        pass
    return len(hold) * 64
""",
    _more_than(640),
)
_add(
    "memory in a file that has no name",
    """
def main(aim):
    size = 0
    for i in range(20):
        fd = os.memfd_create(str(i))
        for _ in range(64):
            size += os.write(fd, bytes(1 << 20))
    return size >> 20
import os
""",
    _more_than(640),
)
_add("memory in System V segments", "return [call(29, 0, 1 << 20, 0o1600) for _ in range(3)] and True", _got)
_add(
    "memory in /dev/shm",
    "n = open('/dev/shm/x%d' % os.getpid(), 'wb').write(bytes(1 << 20))\nos.unlink('/dev/shm/x%d' % os.getpid())\nreturn n",
    _got,
)
_add(
    "memory in the buffers of pipes",
    """
import fcntl, os
def main(aim):
    size = 0
    try:
        for _ in range(60):
            r, w = os.pipe()
            size += fcntl.fcntl(w, 1031, 1 << 20)
    except OSError:
        pass
    return size >> 20
""",
    _more_than(32),
    control="the kernel's own limit for one user may come first",
)
_add(
    "one big file",
    """
import os, tempfile
def main(aim):
    size = 0
    try:
        with open(os.path.join(tempfile.mkdtemp(), 'big'), 'wb', buffering=0) as f:
            for _ in range(100):
                size += f.write(bytes(1 << 20))
    except OSError:
        pass
    return size >> 20
""",
    _more_than(32),
)
_add(
    "many files",
    """
import os, tempfile
def main(aim):
    folder, size = tempfile.mkdtemp(), 0
    try:
        for i in range(100):
            with open(f'{folder}/{i}', 'wb', buffering=0) as f:
                size += f.write(bytes(1 << 20))
    except OSError:
        pass
    return size >> 20
""",
    _more_than(32),
)
_add(
    "many empty files",
    """
import os, tempfile
def main(aim):
    folder, count = tempfile.mkdtemp(), 0
    try:
        for i in range(12_000):
            os.close(os.open(f'{folder}/{i}', os.O_CREAT | os.O_WRONLY))
            count += 1
    except OSError:
        pass
    return count
""",
    _more_than(11_000),
)

# Time

_add("loop for ever", "while True:\n    pass", _held_up)
_add(
    "loop and ignore every signal",
    """
import signal
def main(aim):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        pass
""",
    _held_up,
)
_add("sleep for ever", "import time\ntime.sleep(1000)", _held_up)
_add("compute inside one instruction", "return len(str(7 ** (10 ** 9)))", _held_up)
_add("backtrack in a regular expression", "import re\nreturn bool(re.match('(a|aa)+$', 'a' * 60 + 'b'))", _held_up)
_add("stop itself", "os.kill(os.getpid(), 19)", _held_up)
_add("wait for a lock that nobody holds", "import threading\nthreading.Event().wait()", _held_up)
_add(
    "a thread that never ends",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\nreturn 1",
    _held_up,
)
_add("an exit handler that never ends", "import atexit, time\natexit.register(time.sleep, 1000)\nreturn 1", _held_up)
_add("hang while it is imported", "import time\ntime.sleep(1000)\ndef main(aim):\n    return 1", _held_up)

# Output

_add("flood of text", "for i in range(100):\n    print('x' * 100_000)\nreturn 1", _printed)
_add("flood of errors", "import sys\nfor i in range(100):\n    sys.stderr.write('x' * 100_000)\nreturn 1", _printed)
_add("flood as a result", "return 'x' * 30_000_000", lambda o: o.status == "ok")
_add(
    "nested without end",
    """
def main(aim):
    x = []
    for _ in range(900):
        x = [x]
    return x
""",
    lambda o: o.status == "ok" and o.value is None,
    control="a plain process has no reader to confuse",
)

# More rights

_add("a user namespace of its own", "return call(272, 0x10000000) == 0", _got)
_add("become another user", "os.setuid(0)\nreturn True", _got, control="an ordinary user cannot either")
_add(
    "mount something",
    "return call(165, b'none', b'/mnt', b'tmpfs', 0, 0) == 0",
    _got,
    control="an ordinary user cannot either",
)
_add("io_uring", "return call(425, 4, ctypes.create_string_buffer(120)) >= 0", _got)
_add("userfaultfd", "return call(323, 1) >= 0", _got)
_add("put a key in the kernel", "return call(248, b'user', b'x', b'y', 1, -2) > 0", _got)
_add(
    "count events of the machine",
    "return call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0) >= 0",
    _got,
    control="most kernels refuse ordinary users",
)
_add("outlive the parent", "import ctypes\nreturn ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0", _got)
_add("change how this process is run", "return call(135, 0x0040000) >= 0", _got)

ATTACKS: tuple[Attack, ...] = tuple(_ATTACKS)
