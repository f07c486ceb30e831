"""Evaluations on this machine: one thread, one sandbox and one scorer for each worker."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from ...core.errors import ComponentError
from ...core.evaluation import Evaluation, Status
from ...core.problem import Problem, workspace
from ...core.sandbox import Sandbox
from ...core.scorer import Scorer
from ...core.slots import EvaluationTask, Executor, Scored
from ...core.trial import Trial

CLOSING_S = 2.0


class _Worker:
    """One sandbox and one scorer, used by one thread at a time."""

    def __init__(self, problem: Problem, sandbox: Sandbox) -> None:
        self.problem = problem
        self.sandbox = sandbox
        self.scorer = Scorer(problem)
        self.trial = Trial(problem, sandbox, self.scorer)

    def open(self) -> None:
        """Start the sandbox."""
        self.sandbox.open(workspace(self.problem))

    def evaluate(self, task: EvaluationTask) -> Scored:
        """Run and score one program."""
        try:
            return self.trial.evaluate(task)
        except OSError as error:  # no process, memory or descriptor is left: no candidate is to blame for that
            reason = f"this machine cannot run it now: {error}"
            return Scored(Evaluation(task.name, Status.INFRA, {}, reason=reason), None)

    def close(self) -> None:
        """End the sandbox and the scorer; a run in progress ends with them."""
        with contextlib.suppress(OSError):
            self.sandbox.close()
        self.scorer.close()


class LocalExecutor(Executor):
    """Runs evaluations side by side on this machine."""

    _workers: tuple[_Worker, ...] = ()
    _threads: ThreadPoolExecutor | None = None
    _closed = False

    async def open(self, problem: Problem, sandbox: Callable[[], Sandbox], workers: int) -> None:
        """Start the workers, each in its thread. Raises SpeciateError when a sandbox cannot be started."""
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._free: asyncio.Queue[_Worker | None] = asyncio.Queue()
        self._threads = threads = ThreadPoolExecutor(workers, thread_name_prefix="speciate-worker")
        try:
            self._workers = tuple(_Worker(problem, sandbox()) for _ in range(workers))
            starts = [self._loop.run_in_executor(threads, worker.open) for worker in self._workers]
            for fault in await asyncio.gather(*starts, return_exceptions=True):
                if fault is not None:
                    raise fault
        except BaseException:
            await self.close()
            raise
        for worker in self._workers:
            self._free.put_nowait(worker)

    async def evaluate(self, task: EvaluationTask) -> Scored:
        """Run and score one program on the next free worker.

        Whoever cancels this does not set the worker free: it is busy until its candidate has ended. Raises
        ComponentError after `close`.
        """
        worker = await self._free.get()
        if worker is None or self._closed or self._threads is None:
            self._free.put_nowait(None)
            raise ComponentError("the executor was closed before the evaluation had ended")
        lease = self._threads.submit(worker.evaluate, task)
        lease.add_done_callback(lambda _: self._give_back(worker))
        scored = await asyncio.wrap_future(lease)
        if self._closed:
            # What was killed by closing looks like an outage, and is none.
            raise ComponentError("the executor was closed before the evaluation had ended")
        return scored

    def _give_back(self, worker: _Worker) -> None:
        """Set a worker free; comes from its thread."""
        with contextlib.suppress(RuntimeError):  # the loop may have ended before the candidate
            self._loop.call_soon_threadsafe(self._free.put_nowait, worker)

    async def close(self) -> None:
        """End every worker; candidates in progress are killed, all at the same time."""
        threads, self._threads, self._closed = self._threads, None, True
        if threads is None:
            return
        self._free.put_nowait(None)
        workers, self._workers = self._workers, ()
        closing = ThreadPoolExecutor(len(workers) + 1)
        ends: list[Future[None]] = [closing.submit(worker.close) for worker in workers]
        ends.append(closing.submit(threads.shutdown, cancel_futures=True))
        closing.shutdown(wait=False)
        done, _ = await asyncio.wait([asyncio.wrap_future(end) for end in ends], timeout=CLOSING_S)
        for end in done:
            end.result()
