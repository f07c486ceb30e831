"""The contract of a sandbox: what a candidate does becomes a status, and nothing of it stays behind."""

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

from ..evaluation import Status
from ..program import Program
from ..sandbox import Job, Level, Limits, Sandbox, Workspace
from .component_contract import ComponentContract


class SandboxContract(ComponentContract):
    """What the engine relies on in a sandbox. `limits` must be generous enough for an honest small program."""

    limits: Limits = Limits(wall_s=2.0, cpu_s=2.0, memory_bytes=1 << 30, output_bytes=1 << 16, stdout_bytes=1 << 12)

    def component(self) -> Sandbox:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_it_returns_plain_data_as_json(self) -> None:
        with self.opened() as sandbox:
            result = sandbox.run(job("def main():\n    return {'a': [1, 2.5, None, True], 'ß': 'ü'}\n"))
            assert result.status is Status.OK, result
            assert json.loads(result.value or "") == {"a": [1, 2.5, None, True], "ß": "ü"}
            assert result.reason is None, "a run that went well has no reason"

    def test_an_array_comes_as_nested_lists(self) -> None:
        with self.opened() as sandbox:
            result = sandbox.run(job("import numpy as np\ndef main():\n    return np.arange(6).reshape(2, 3) / 4\n"))
            assert result.status is Status.OK, result
            assert json.loads(result.value or "") == [[0.0, 0.25, 0.5], [0.75, 1.0, 1.25]]

    def test_numbers_that_are_not_finite_reach_the_scorer(self) -> None:
        with self.opened() as sandbox:
            result = sandbox.run(job("def main():\n    return [float('nan'), float('-inf')]\n"))
            assert result.status is Status.OK, result
            nan, inf = json.loads(result.value or "")
            assert math.isnan(nan)
            assert inf == -math.inf

    def test_arguments_are_given_by_name(self) -> None:
        arguments = {"effort": 3, "previous": [1.5], "seed": 9}
        with self.opened() as sandbox:
            some = sandbox.run(job("def main(seed, effort):\n    return [seed, effort]\n", arguments))
            all_of_them = sandbox.run(job("def main(**given):\n    return given\n", arguments))
            assert json.loads(some.value or "null") == [9, 3], some
            assert json.loads(all_of_them.value or "null") == arguments, all_of_them

    def test_the_first_entry_that_is_defined_is_called(self) -> None:
        text = "def main():\n    return 'main'\n\ndef improve():\n    return 'improve'\n"
        with self.opened() as sandbox:
            both = Job(Program.of({"program.py": text}), "program.py", entries=("absent", "improve", "main"))
            assert json.loads(sandbox.run(both).value or "null") == "improve"
            result = sandbox.run(job("x = 1\n"))
            assert result.status is not Status.OK, "a program without an entry cannot be called"
            assert result.value is None

    def test_equal_seeds_give_equal_random_numbers(self) -> None:
        text = "import random\nimport numpy as np\ndef main():\n    return [random.random(), float(np.random.rand())]\n"
        with self.opened() as sandbox:
            first, second, third = (
                sandbox.run(Job(Program.of({"program.py": text}), "program.py", seed=seed)) for seed in (4, 4, 5)
            )
            assert first.status is Status.OK, first
            assert first.value == second.value, "the global generators are seeded with the job's seed"
            assert first.value != third.value, "another seed gives other numbers"

    def test_a_program_of_several_files_imports_its_own(self) -> None:
        files = {
            "program.py": "from helper import f\ndef main():\n    return f()\n",
            "helper.py": "def f():\n    return 7\n",
        }
        with self.opened() as sandbox:
            result = sandbox.run(Job(Program.of(files), "program.py"))
            assert (result.status, result.value) == (Status.OK, "7"), result

    def test_the_modules_of_the_workspace_can_be_imported(self) -> None:
        workspace = Workspace(modules={"blocks": "def seven():\n    return 7\n"}, limits=self.limits)
        with self.opened(workspace) as sandbox:
            result = sandbox.run(job("import blocks\ndef main():\n    return blocks.seven()\n"))
            assert (result.status, result.value) == (Status.OK, "7"), result

    def test_what_a_candidate_does_wrong_becomes_a_status(self) -> None:
        with self.opened() as sandbox:
            for text, expected in FAULTS.items():
                result = sandbox.run(job(text))
                assert result.status in expected, f"{text!r} gave {result}; expected one of {expected}"
                assert result.value is None, f"{text!r}: only a run that went well has a value"
                assert result.reason, f"{text!r}: a run that failed says why"
                assert "\n" not in result.reason, f"{text!r}: the reason is one line"

    def test_it_goes_on_after_a_candidate_that_failed(self) -> None:
        with self.opened() as sandbox:
            for text in FAULTS:
                sandbox.run(job(text))
                assert sandbox.run(job("def main():\n    return 1\n")).value == "1", f"after {text!r}"

    def test_no_candidate_sees_what_another_left(self) -> None:
        leave = "import builtins\nimport math\ndef main():\n    builtins.left = math.left = 1\n    return 1\n"
        look = (
            "import builtins\nimport math\ndef main():\n    return hasattr(builtins, 'left') or hasattr(math, 'left')\n"
        )
        with self.opened() as sandbox:
            assert sandbox.run(job(leave)).value == "1"
            assert sandbox.run(job(look)).value == "false", "a candidate's module state reached the next one"

    def test_what_is_printed_is_kept_apart_and_capped(self) -> None:
        with self.opened() as sandbox:
            result = sandbox.run(job("def main():\n    print('hallo ß')\n    print('x' * 10 ** 6)\n    return 1\n"))
            assert result.value == "1", result
            assert result.stdout.startswith("hallo ß\n"), result.stdout[:80]
            assert len(result.stdout.encode()) <= self.limits.stdout_bytes + 200, "stdout is capped"

    def test_the_cost_is_measured(self) -> None:
        with self.opened() as sandbox:
            result = sandbox.run(job("def main():\n    return sum(i * i for i in range(10 ** 6))\n"))
            assert result.status is Status.OK, result
            assert result.cost.wall_s > 0
            assert result.cost.cpu_s > 0

    def test_closing_ends_a_run_in_progress(self) -> None:
        sandbox = self.component()
        sandbox.open(Workspace(limits=Limits(wall_s=60.0, cpu_s=60.0)))
        ended = threading.Event()

        def work() -> None:
            sandbox.run(job("def main():\n    while True:\n        pass\n"))
            ended.set()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(0.5)
        sandbox.close()
        assert ended.wait(10.0), "`close` did not end the run"

    def test_it_may_be_closed_twice_and_opened_again(self) -> None:
        for _ in range(2):
            sandbox = self.component()
            sandbox.open(Workspace(limits=self.limits))
            sandbox.close()
            sandbox.close()

    def test_it_says_how_strong_it_is(self) -> None:
        with self.opened() as sandbox:
            assert sandbox.level in get_args(Level)

    @contextmanager
    def opened(self, workspace: Workspace | None = None) -> Iterator[Sandbox]:
        """Open a new sandbox and close it at the end, whatever happens."""
        sandbox = self.component()
        sandbox.open(workspace if workspace is not None else Workspace(limits=self.limits))
        try:
            yield sandbox
        finally:
            sandbox.close()


FAULTS = {
    "def main():\n    raise ValueError('no\\nluck')\n": {Status.CRASHED},
    "def main():\n    return 1 +\n": {Status.CRASHED},
    "import no_such_module_anywhere\ndef main():\n    return 1\n": {Status.CRASHED},
    "import os\ndef main():\n    os._exit(3)\n": {Status.CRASHED},
    "import sys\ndef main():\n    sys.exit(0)\n": {Status.CRASHED},
    "import os, signal\ndef main():\n    os.kill(os.getpid(), signal.SIGKILL)\n": {Status.CRASHED},
    "def main():\n    while True:\n        pass\n": {Status.TIMEOUT},
    "import time\ndef main():\n    time.sleep(600)\n": {Status.TIMEOUT},
    "def main():\n    return object()\n": {Status.INVALID, Status.CRASHED},
    "def main():\n    return {1: 2j}\n": {Status.INVALID, Status.CRASHED},
    "def main():\n    return 'x' * 10 ** 6\n": {Status.INVALID, Status.CRASHED, Status.TIMEOUT},
    "def main():\n    x = []\n    x.append(x)\n    return x\n": {Status.INVALID, Status.CRASHED},
}
"""Programs that misbehave, with the statuses that fit."""


def job(text: str, arguments: dict[str, Any] | None = None) -> Job:
    """Return the execution of a program of one file."""
    return Job(Program.of({"program.py": text}), "program.py", arguments=arguments or {})
