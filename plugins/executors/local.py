"""Evaluations on this machine: one thread, one sandbox and one scorer for each worker."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ...core.problem import Problem, workspace
from ...core.sandbox import Sandbox
from ...core.scorer import Scorer
from ...core.slots import EvaluationTask, Executor, Scored
from ...core.trial import Trial


class _Worker:
    """One sandbox and one scorer, used by one thread at a time."""

    def __init__(self, problem: Problem, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.scorer = Scorer(problem)
        self.evaluate = Trial(problem, sandbox, self.scorer).evaluate

    def close(self) -> None:
        """End the sandbox and the scorer; a run in progress ends with them."""
        self.sandbox.close()
        self.scorer.close()


class LocalExecutor(Executor):
    """Runs evaluations side by side on this machine."""

    async def open(self, problem: Problem, sandbox: Callable[[], Sandbox], workers: int) -> None:
        """Start the workers, each in its thread."""
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="speciate-worker")
        self._workers = [_Worker(problem, sandbox()) for _ in range(workers)]
        self._free: asyncio.Queue[_Worker] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        try:
            await asyncio.gather(
                *(loop.run_in_executor(self._threads, w.sandbox.open, workspace(problem)) for w in self._workers)
            )
        except BaseException:
            await self.close()
            raise
        for worker in self._workers:
            self._free.put_nowait(worker)

    async def evaluate(self, task: EvaluationTask) -> Scored:
        """Run and score one program on the next free worker."""
        worker = await self._free.get()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, worker.evaluate, task)
        finally:
            self._free.put_nowait(worker)

    async def close(self) -> None:
        """End every worker; a candidate in progress is killed, so this does not wait for it."""
        for worker in self._workers:
            with contextlib.suppress(OSError):
                worker.close()
        await asyncio.get_running_loop().run_in_executor(None, lambda: self._threads.shutdown(cancel_futures=True))
