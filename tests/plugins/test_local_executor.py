"""The local executor: who is free, what is nobody's fault, and how it ends."""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from speciate.core.errors import ComponentError, SpeciateError
from speciate.core.evaluation import EvaluationName, RunResult, Status
from speciate.core.problem import Problem, load_problem
from speciate.core.program import Program
from speciate.core.sandbox import Job, Sandbox, Workspace
from speciate.core.slots import EvaluationTask, Scored
from speciate.plugins.executors.local import LocalExecutor
from speciate.plugins.sandboxes.process import ProcessSandbox

LOOP = "def main():\n    while True:\n        pass\n"


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    folder = tmp_path / "numbers"
    folder.mkdir()
    (folder / "problem.toml").write_text('[problem]\nname = "numbers"\n[objective]\nname = "score"\n')
    (folder / "seed.py").write_text("def main():\n    return 1.0\n")
    (folder / "evaluator.py").write_text(
        "import time\n\ndef evaluate(output):\n    time.sleep(60 if output == 'slow' else 0)\n"
        "    return {'metrics': {'score': output}}\n"
    )
    return load_problem(folder, {}, {})


def task(problem: Problem, text: str) -> EvaluationTask:
    program = Program.of({problem.main: text})
    return EvaluationTask(EvaluationName(program.hash, None, 1, 0, 0, problem.evaluator_version), program, None)


class InThisProcess(Sandbox):
    """Runs programs in this process, for programs that are known: it counts how many run at the same time."""

    def __init__(self, counted: "Counted") -> None:
        super().__init__(None)
        self.counted = counted
        self.busy = threading.Lock()

    def open(self, workspace: Workspace) -> None:
        self.counted.opened += 1
        if self.counted.fails_to_open:
            raise SpeciateError("no sandbox today")

    def run(self, job: Job) -> RunResult:
        if not self.busy.acquire(blocking=False):
            self.counted.doubled += 1
            return RunResult(Status.INFRA, None, "this sandbox runs another candidate")
        with contextlib.ExitStack() as stack:
            stack.callback(self.busy.release)
            return self.counted.run(job)

    def close(self) -> None:
        self.counted.closed += 1
        self.counted.release.set()


class Counted:
    """What all sandboxes of one executor share."""

    def __init__(self, run: Callable[[Job], RunResult] | None = None) -> None:
        self.opened = self.closed = self.alive = self.most = self.doubled = 0
        self.fails_to_open = False
        self.started, self.release = threading.Semaphore(0), threading.Event()
        self._lock = threading.Lock()
        self._run = run or (lambda job: RunResult(Status.OK, "1.0"))

    def run(self, job: Job) -> RunResult:
        with self._lock:
            self.alive += 1
            self.most = max(self.most, self.alive)
        self.started.release()
        try:
            return self._run(job)
        finally:
            with self._lock:
                self.alive -= 1

    def wait(self, job: Job) -> RunResult:
        self.release.wait(30)
        return RunResult(Status.OK, "1.0")

    def sandbox(self) -> Sandbox:
        return InThisProcess(self)


def with_executor(
    problem: Problem,
    sandbox: Callable[[], Sandbox],
    workers: int,
    use: Callable[[LocalExecutor], Coroutine[Any, Any, Any]],
) -> Any:
    async def whole() -> Any:
        executor = LocalExecutor()
        await executor.open(problem, sandbox, workers)
        try:
            return await use(executor)
        finally:
            await executor.close()

    return asyncio.run(whole())


def test_never_more_candidates_run_than_there_are_workers(problem: Problem) -> None:
    counted = Counted()

    async def many(executor: LocalExecutor) -> list[Scored]:
        return await asyncio.gather(*(executor.evaluate(task(problem, f"x = {n}")) for n in range(20)))

    scored = with_executor(problem, counted.sandbox, 2, many)
    assert [each.evaluation.status for each in scored] == [Status.OK] * 20
    assert counted.most <= 2
    assert (counted.opened, counted.closed) == (2, 2)


def test_a_cancelled_evaluation_keeps_its_worker_until_the_candidate_has_ended(problem: Problem) -> None:
    counted = Counted()
    counted._run = lambda job: counted.wait(job) if "first" in job.program.text(job.main) else RunResult(Status.OK, "1")

    async def cancel_the_first(executor: LocalExecutor) -> list[Scored]:
        first = asyncio.create_task(executor.evaluate(task(problem, "x = 'first'")))
        await asyncio.to_thread(counted.started.acquire)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        later = [await executor.evaluate(task(problem, f"x = {n}")) for n in range(4)]
        assert counted.alive == 1, "the first candidate still runs, for nobody"
        counted.release.set()
        return later

    scored = with_executor(problem, counted.sandbox, 2, cancel_the_first)
    assert [each.evaluation.status for each in scored] == [Status.OK] * 4
    assert counted.doubled == 0


def test_random_cancellations_neither_lose_nor_double_a_worker(problem: Problem) -> None:
    counted = Counted()

    async def storm(executor: LocalExecutor) -> Scored:
        tasks = [asyncio.create_task(executor.evaluate(task(problem, f"x = {n}"))) for n in range(40)]
        for number, each in enumerate(tasks):
            if number % 3 == 0:
                each.cancel()
                await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        return await executor.evaluate(task(problem, "x = -1"))

    assert with_executor(problem, counted.sandbox, 2, storm).evaluation.status is Status.OK
    assert counted.most <= 2
    assert counted.doubled == 0


def test_an_outage_is_tried_once_more_and_then_told(problem: Problem) -> None:
    answers = [
        RunResult(Status.INFRA, None, "first"),
        RunResult(Status.OK, "2.0"),
        RunResult(Status.INFRA, None, "third"),
        RunResult(Status.INFRA, None, "fourth"),
    ]
    counted = Counted(lambda job: answers.pop(0))

    async def two(executor: LocalExecutor) -> list[Scored]:
        return [await executor.evaluate(task(problem, "x = 1")), await executor.evaluate(task(problem, "x = 2"))]

    good, bad = with_executor(problem, counted.sandbox, 1, two)
    assert good.evaluation.metrics == {"score": 2.0}
    assert (bad.evaluation.status, bad.evaluation.reason) == (Status.INFRA, "fourth")
    assert bad.output is None


def test_a_machine_without_processes_is_an_outage_and_no_crash(problem: Problem) -> None:
    def nothing_left(job: Job) -> RunResult:
        raise BlockingIOError("Resource temporarily unavailable")

    async def one(executor: LocalExecutor) -> Scored:
        return await executor.evaluate(task(problem, "x = 1"))

    scored = with_executor(problem, Counted(nothing_left).sandbox, 1, one)
    assert scored.evaluation.status is Status.INFRA
    assert "temporarily unavailable" in str(scored.evaluation.reason)


def test_a_sandbox_that_does_not_start_is_told_and_every_other_is_closed(problem: Problem) -> None:
    counted = Counted()
    counted.fails_to_open = True

    async def nothing(executor: LocalExecutor) -> None:
        raise AssertionError("it opened")

    with pytest.raises(SpeciateError, match="no sandbox today"):
        with_executor(problem, counted.sandbox, 3, nothing)
    assert (counted.opened, counted.closed) == (3, 3)


def test_closing_kills_a_candidate_that_loops(problem: Problem) -> None:
    async def close_early() -> None:
        executor = LocalExecutor()
        await executor.open(problem, ProcessSandbox, 2)
        running = [asyncio.create_task(executor.evaluate(task(problem, LOOP + f"# {n}\n"))) for n in range(2)]
        await asyncio.sleep(0.5)
        await asyncio.wait_for(executor.close(), 2.5)
        for each in await asyncio.wait_for(asyncio.gather(*running, return_exceptions=True), 5):
            assert isinstance(each, ComponentError)

    with pytest.warns(RuntimeWarning):
        asyncio.run(close_early())
    assert not children_of_this_process()


def test_closing_kills_an_evaluator_that_sleeps(problem: Problem) -> None:
    async def close_early() -> None:
        executor = LocalExecutor()
        await executor.open(problem, Counted(lambda job: RunResult(Status.OK, '"slow"')).sandbox, 1)
        running = asyncio.create_task(executor.evaluate(task(problem, "x = 1")))
        await asyncio.sleep(0.5)
        await asyncio.wait_for(executor.close(), 2.5)
        with pytest.raises(ComponentError, match="closed"):
            await asyncio.wait_for(running, 5)

    asyncio.run(close_early())
    assert not children_of_this_process()


def test_whoever_waits_for_a_worker_is_told_of_the_end(problem: Problem) -> None:
    counted = Counted()
    counted._run = counted.wait

    async def wait_in_line() -> None:
        executor = LocalExecutor()
        await executor.open(problem, counted.sandbox, 1)
        waiting = [asyncio.create_task(executor.evaluate(task(problem, f"x = {n}"))) for n in range(4)]
        await asyncio.to_thread(counted.started.acquire)
        await executor.close()
        await executor.close()
        ended = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)
        assert all(isinstance(each, ComponentError) for each in ended)

    asyncio.run(wait_in_line())


def test_it_may_be_closed_before_it_was_opened_and_opened_again(problem: Problem) -> None:
    counted = Counted()

    async def twice() -> list[Scored]:
        executor, scored = LocalExecutor(), []
        await executor.close()
        for number in range(2):
            await executor.open(problem, counted.sandbox, 1)
            scored.append(await executor.evaluate(task(problem, f"x = {number}")))
            await executor.close()
        return scored

    assert [each.evaluation.status for each in asyncio.run(twice())] == [Status.OK] * 2


def children_of_this_process() -> list[str]:
    """Return the command lines of the living processes that this one started."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if int(parent) == os.getpid() and state != "Z":
                    found.append((folder / "cmdline").read_text().replace("\0", " "))
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found
