"""A run from start to end: folder, parts, engine, result."""

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import ledger
from .announce import Announcer
from .assemble import Assembled, assemble, sandbox_factory
from .best import BestProgram, best_of
from .budget import Budget
from .config import RunConfig
from .engine import Ending, Engine
from .errors import SpeciateError
from .events import Event, RunEnded, RunStarted
from .folder import RunFolder
from .loading import Plugins
from .problem import Problem
from .records import Reason
from .registry import Registry
from .told import told_of

log = logging.getLogger("speciate")

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended and what it found; `best` is None when no valid program was found."""

    dir: Path
    status: str
    reason: str
    best: BestProgram | None
    evaluations: int
    proposals: int
    refused: Mapping[str, int]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `speciate run --json`."""
        return {
            "dir": str(self.dir),
            "status": self.status,
            "reason": self.reason,
            "best": None if self.best is None else self.best.as_json(),
            "evaluations": self.evaluations,
            "proposals": self.proposals,
            "refused": dict(sorted(self.refused.items())),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a budget; None sets nothing."""

    evaluations: int | None = None
    seconds: float | None = None
    proposals: int | None = None
    target: float | None = None

    def given(self) -> dict[str, Any]:
        """Return the totals that are set."""
        pairs = {name: getattr(self, name) for name in ("evaluations", "seconds", "proposals", "target")}
        return {name: value for name, value in pairs.items() if value is not None}


def _say_when_no_prefix(folder: RunFolder, totals: Mapping[str, Any]) -> None:
    """Note that a run is extended one of whose components reads the total: it is no prefix of the longer one."""
    read = folder.told().get("totals")
    if read is not None and read != dict(totals):
        folder.store.event("total_changed", {"from": read, "to": dict(totals)})
        log.warning(
            "a component of this run reads the total budget, which was %s and is now %s: up to here the run is not a "
            "prefix of one that was started with the new total", read, dict(totals),
        )  # fmt: skip


class Run:
    """A run that is ready to go on; `execute` takes it to its end. Every public step raises SpeciateError."""

    def __init__(
        self, folder: RunFolder, problem: Problem, config: RunConfig, registry: Registry, budget: Budget
    ) -> None:
        self.folder = folder
        self.problem = problem
        self.config = config
        self.budget = budget
        self._registry = registry
        self._assembled: Assembled = assemble(config, problem, folder.store, registry)
        self._engine: Engine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._interrupted = threading.Event()

    @classmethod
    def start(cls, problem: Problem, config: RunConfig, path: Path, registry: Registry) -> "Run":
        """Make a run folder at `path` and everything a run needs in it."""
        totals = Totals(
            config.budget.evaluations, config.budget.seconds, config.budget.proposals, config.budget.target
        ).given()
        folder = RunFolder.create(path)
        try:
            problem = problem.copy_into(folder.problem)
            run = cls(folder, problem, config, registry, Budget(**totals))
            folder.tell(told_of(problem, config, registry, totals, run._assembled.parts.lag), config)
            folder.store.event("budget_set", totals)
        except BaseException:
            folder.close()
            raise
        return run

    @classmethod
    def resume(cls, path: Path, plugins: Plugins, totals: Totals, workers: int | None = None) -> "Run":
        """Open a run folder to go on with it, under new totals where they are given."""
        folder = RunFolder.open(path, write=True)
        try:
            config = folder.config(plugins)
            if workers is not None:
                config = config.model_copy(update={"workers": workers})
            problem = folder.load_problem()
            merged = {**folder.totals(), **totals.given()}
            if totals.given():
                folder.store.event("budget_set", merged)
                _say_when_no_prefix(folder, merged)
            budget = Budget(**merged, spent_s=folder.seconds_spent())
            return cls(folder, problem, config, plugins.registry, budget)
        except BaseException:
            folder.close()
            raise

    def interrupt(self) -> None:
        """End the run after the last committed ticket; may be called from any thread and from a signal handler."""
        self._interrupted.set()
        if self._loop is not None and self._engine is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the run has ended by itself
                self._loop.call_soon_threadsafe(self._engine.end, Ending("interrupted", "the run was interrupted"))

    def execute(self, emit: Emit, *, signals: bool = False) -> Result:
        """Run to the end and return what came of it; the folder is closed afterwards, whatever happens.

        `signals` says that this is the main thread of a command: an interrupt then ends the run and keeps everything.
        """
        try:
            return asyncio.run(self._execute(emit, signals))
        finally:
            self.folder.close()

    async def _execute(self, emit: Emit, signals: bool) -> Result:
        parts = self._assembled.parts
        announcer = Announcer(emit, self.problem.objective, parts.population, self.budget)
        digest = self.folder.store.last_digest() or ledger.start(self.folder.told())
        self._engine = Engine(parts, self.budget, digest, announcer, announcer.proposed)
        self._loop = asyncio.get_running_loop()
        if signals:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self.interrupt)
        self._engine.fold()
        self.folder.store.event("session_started", {"seconds": self.budget.spent_s})
        # No more are started than there are tickets in flight: the rest would only cost processes and memory.
        workers = min(self._assembled.workers, self._assembled.parts.lag)
        await parts.executor.open(self.problem, sandbox_factory(self.config, self._registry, self.problem), workers)
        emit(self._started())
        try:
            ending = await self._engine.run()
        except SpeciateError as error:
            self._ended(emit, Ending("failed", str(error)))
            raise
        finally:
            if self._assembled.policy is not None:
                await self._assembled.policy.close()
        return self._ended(emit, ending)

    def remarks(self) -> list[str]:
        """Return what a person should know of this run before it starts."""
        workers, lag = self._assembled.workers, self._assembled.parts.lag
        if workers <= lag:
            return []
        return [f"{workers} workers are more than the lag of {lag} tickets: {workers - lag} of them will have no work"]

    def _started(self) -> RunStarted:
        population = self._assembled.parts.population
        known = self.problem.best_known
        totals = {k: v for k in ("evaluations", "seconds", "proposals", "target") if (v := getattr(self.budget, k))}
        best = population.best
        return RunStarted(
            self.folder.path,
            self.problem.name,
            self.problem.objective,
            None if known is None else known[0],
            self.config.seed,
            self._assembled.workers,
            self._assembled.parts.lag,
            totals,
            population.evaluations,
            population.proposals,
            self.budget.spent_s,
            None if best is None else self.problem.objective.score(best.fitness),
        )

    def _ended(self, emit: Emit, ending: Ending) -> Result:
        population = self._assembled.parts.population
        seconds = self.budget.seconds_spent()
        self.folder.store.event("session_ended", {"status": ending.status, "reason": ending.reason, "seconds": seconds})
        best = best_of(self.folder.store, self.problem.objective)
        result = Result(
            self.folder.path,
            ending.status,
            ending.reason,
            best,
            population.evaluations,
            population.proposals,
            dict(population.refused),
            seconds,
        )
        refused = {Reason(name): count for name, count in population.refused.items()}
        emit(
            RunEnded(
                ending.status,
                ending.reason,
                None if best is None else best.id,
                population.evaluations,
                population.proposals,
                refused,
                seconds,
            )
        )
        return result
