"""How a candidate tries to get a score that its output does not deserve.

The problem: `main()` returns three numbers between 0 and 1, and their sum counts; no output is worth more than 3. The
honest program gives 1.5.
"""

# ruff: noqa: E501

from dataclasses import dataclass
from textwrap import dedent

HONEST = "def main():\n    return [0.25, 0.5, 0.75]\n"
HONEST_SCORE, BEST_POSSIBLE = 1.5, 3.0


@dataclass(frozen=True)
class Cheat:
    """One cheat, and why it has no counterpart in a harness that shares its process with the program, if so."""

    name: str
    text: str
    control: str | None = None


PIPE = "there is no result pipe in such a harness"
_CHEATS: list[Cheat] = []


def _add(name: str, text: str, control: str | None = None) -> None:
    text = dedent(text).strip()
    if "def main" not in text:
        text = "def main():\n" + "\n".join(f"    {line}" for line in text.splitlines())
    _CHEATS.append(Cheat(name, text + "\n", control))


_add("claim a score beside the output", "return [0.25, 0.5, 0.75], 1e9")
_add("print a score and leave", "import os\nprint('score: 1e9', flush=True)\nos._exit(0)")
_add(
    "write the file of metrics and leave", "import os\nopen('metrics.json', 'w').write('{\"score\": 1e9}')\nos._exit(0)"
)
_add(
    "rewrite the metrics at exit",
    """
import atexit
def main():
    atexit.register(lambda: open('metrics.json', 'w').write('{"score": 1e9}'))
    return [0.25, 0.5, 0.75]
""",
)
_add(
    "rewrite the metrics from a thread",
    """
import threading, time
def later():
    time.sleep(0.3)
    open('metrics.json', 'w').write('{"score": 1e9}')
def main():
    threading.Thread(target=later).start()
    return [0.25, 0.5, 0.75]
""",
)
_add(
    "rewrite the metrics from another process",
    """
import os, time
def main():
    if os.fork() == 0:
        os.setsid()
        time.sleep(0.3)
        open('metrics.json', 'w').write('{"score": 1e9}')
        os._exit(0)
    return [0.25, 0.5, 0.75]
""",
)
_add("not a number", "return [float('nan')] * 3")
_add(
    "a number that compares as it likes",
    """
class Small(float):
    def __lt__(self, other): return False
    def __gt__(self, other): return False
    __le__ = __ge__ = lambda self, other: True
def main():
    return [Small(1e9), Small(1e9), Small(1e9)]
""",
)
_add(
    "a list that reads differently the second time",
    """
class Two(list):
    seen = 0
    def __iter__(self):
        Two.seen += 1
        return iter([0.1, 0.1, 0.1] if Two.seen <= 2 else [1e9, 1e9, 1e9])
    __array__ = None
def main():
    return Two([0.1, 0.1, 0.1])
""",
)
_add(
    "an array that says it is another",
    """
import numpy as np
class Big(np.ndarray):
    def __array_function__(self, function, types, args, kwargs):
        return 1e9
    def sum(self, *a, **k):
        return 1e9
    def tolist(self):
        return [1e9] * 3
def main():
    return np.array([0.25, 0.5, 0.75]).view(Big)
""",
)
_add("replace numpy's sum", "import numpy as np\nnp.sum = lambda *a, **k: 1e9\nreturn [0.25, 0.5, 0.75]")
_add("replace float", "import builtins\nbuiltins.float = lambda *a: 1e9\nreturn [0.25, 0.5, 0.75]")
_add(
    "replace the writer of JSON",
    """
import json
def main():
    json.dumps = lambda value, **k: '{"score": 1e9}'
    json.JSONEncoder.encode = lambda self, value: '[1e9, 1e9, 1e9]'
    return [0.25, 0.5, 0.75]
""",
)
_add(
    "replace the check",
    "import math\nmath.isfinite = lambda x: True\nimport builtins\nbuiltins.any = lambda *a: False\nreturn [1e9, 1e9, 1e9]",
)
_add(
    "stop the clock",
    "import time\ntime.time = time.monotonic = time.perf_counter = lambda: 0.0\nreturn [0.25, 0.5, 0.75]",
)
_add(
    "change the harness's own functions",
    """
import sys
def main():
    frame = sys._getframe()
    while frame:
        for name in ('evaluate', 'score_of', '_evaluate'):
            if name in frame.f_globals:
                frame.f_globals[name] = lambda *a, **k: 1e9
        frame = frame.f_back
    return [0.25, 0.5, 0.75]
""",
)
_add(
    "find the answers in memory",
    """
import gc
def main():
    for thing in gc.get_objects():
        if type(thing) is dict and 'hidden answers' in thing:
            return thing['hidden answers']
    return [0.25, 0.5, 0.75]
""",
)
_add(
    "find the answers in the caller",
    """
import sys
def main():
    frame = sys._getframe()
    while frame:
        for space in (frame.f_locals, frame.f_globals):
            for value in list(space.values()):
                if type(value) is dict and 'hidden answers' in value:
                    return value['hidden answers']
        frame = frame.f_back
    return [0.25, 0.5, 0.75]
""",
)
_add("read the answers beside the evaluator", "import json, sys\nreturn json.load(open(sys.argv[1]))['hidden answers']")
_add(
    "hide code in a pickled output",
    """
class Bomb:
    def __reduce__(self):
        return eval, ("__import__('builtins').open('metrics.json', 'w').write('{\\"score\\": 1e9}') and [0.1, 0.1, 0.1]",)
    def __iter__(self):
        return iter([0.1, 0.1, 0.1])
def main():
    return Bomb()
""",
)
_add(
    "handle the harness's alarm",
    """
import signal, os
def main():
    def handler(*a):
        print('score: 1e9', flush=True)
        os._exit(0)
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    import time
    time.sleep(1)
    return [0.25, 0.5, 0.75]
""",
)
_add(
    "exceed the bound by less than a rounding",
    "return [1 + 1e-13] * 3",
    "the sum is below any tolerance a harness would allow; see what the evaluator says",
)
_add("infinity", "return [float('inf')] * 3", "even a careless comparison refuses it")
_add("text that looks like a number", "return ['1e9', '1e9', '1e9']", "a careless sum refuses text")
_add("truth for one", "return [True, True, True]", "it is worth no more than the best output")
_add("an integer too large to write", "return [10 ** 5000] * 3", "a careless comparison refuses it")
_add("a list that holds itself", "x = []\nx.append(x)\nreturn x", "a careless comparison refuses it")

FORGE = """
import os
def main():
    for fd in range(3, 64):
        try:
            os.write(fd, {written})
        except OSError:
            pass
    os._exit(0)
"""
for _name, _written in (
    ("a result of its own", "b'J[1e9, 1e9, 1e9]'"),
    ("a status of its own", "b'Eok\\nscore 1e9'"),
    ("two results", "b'J[1, 1, 1]J[1e9, 1e9, 1e9]'"),
    ("a lying array", "b'N{\"dtype\": \"<f8\", \"shape\": [1000000000000]}\\n' + bytes(24)"),
    ("an array of objects", "b'N{\"dtype\": \"|O\", \"shape\": [3]}\\n' + bytes(24)"),
    ("an array of nothing a thousand million times", "b'N{\"dtype\": \"<f8\", \"shape\": [1000000000, 0]}\\n'"),
    ("a file of numpy", "b'\\x93NUMPY\\x01\\x00v\\x00' + b'{}' * 50"),
    ("a raw pickle", "__import__('pickle').dumps([1e9] * 3)"),
    ("an answer of the server", "b'\\x00\\x00\\x00\\x5a{\"stopped\": null, \"exit\": 0, \"cost\": [0, 0, 0], \"result\": 18, \"printed_more\": false}\\nJ[1e9, 1e9, 1e9]'"),
    ("nesting a hundred thousand deep", "b'J' + b'[' * 100000 + b']' * 100000"),
    ("the same key twice", "b'J{\"a\": 1, \"a\": 1e9}'"),
):  # fmt: skip
    _add(f"write to the result pipe: {_name}", FORGE.replace("{written}", _written), PIPE)

CHEATS: tuple[Cheat, ...] = tuple(_CHEATS)
