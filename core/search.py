"""The Python call behind `speciate run`: a search in a thread of its own, its events, its best program."""

import contextlib
import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .best import BestProgram
from .config import resolve, to_toml
from .config_sources import Layer
from .events import Event
from .folder import next_free
from .loading import Plugins
from .problem import load_problem
from .registry import Registry
from .run import Result, Run, Totals
from .sink import EventSink
from .slots import Reporter

RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that is ready, and the plugins that listen to it."""

    run: Run
    registry: Registry
    listeners: tuple[object, ...]


def prepare(
    problem: str | Path,
    *,
    config: str | Path | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    target: float | None = None,
    workers: int | None = None,
    preset: str | None = None,
    policy: str | None = None,
    executor: str | None = None,
    sandbox: str | None = None,
    settings: Sequence[str] = (),
    dry: bool = False,
) -> "Prepared | str":
    """Make a run folder and everything in it; `dry` returns the resolved configuration as TOML instead.

    Raises SpeciateError for whatever the caller can mend.
    """
    plugins = Plugins.installed()
    flags: dict[str, Any] = {
        "seed": seed,
        "workers": workers,
        "budget": {"evaluations": evaluations, "seconds": seconds, "target": target},
        "policy": policy,
        "executor": executor,
        "sandbox": sandbox,
    }
    resolved = resolve(plugins, preset=preset, file=config, settings=settings, flags=flags)
    known = {name: plugins.registry.path("problem", name) for name in plugins.registry.names("problem")}
    loaded = load_problem(problem, known, resolved.problem)
    if loaded.search:
        suited = Layer(loaded.search, lambda keys: f"[search] of the problem {loaded.name}")
        resolved = resolve(plugins, preset=preset, file=config, settings=settings, flags=flags, suited=suited)
    if dry:
        return to_toml(resolved)
    folder = Path(out) if out is not None else next_free(RUNS, loaded.name)
    run = Run.start(loaded, resolved, folder, plugins.registry)
    return Prepared(run, plugins.registry, plugins.listeners())


def prepare_resume(folder: Path, totals: Totals, workers: int | None = None) -> Prepared:
    """Open an earlier run to go on with it."""
    plugins = Plugins.installed()
    run = Run.resume(folder, plugins, totals, workers)
    return Prepared(run, plugins.registry, plugins.listeners())


@contextlib.contextmanager
def reporting(prepared: Prepared, *, quiet: bool = False) -> Iterator[EventSink]:
    """Give the sink that the run's events go to: plugins that listen, and the configured reporter unless `quiet`."""
    sink = EventSink(prepared.listeners)
    choice = prepared.run.config.reporter
    reporter = None if quiet or choice is None else prepared.registry.make(Reporter, choice)
    if reporter is not None:
        sink.listen(reporter)
    try:
        yield sink
    finally:
        if reporter is not None:
            reporter.close()


def search(problem: str | Path, **options: Any) -> "Search":
    """Start a search in a thread of its own and return a handle on it at once.

    `options` are those of `speciate run`: `evaluations`, `seconds`, `target`, `seed`, `workers`, `out`, `config`,
    `preset`, `policy`, `executor`, `sandbox`, and `settings`, a sequence of `"a.b=c"`.

        run = search("circle_packing", evaluations=200, seed=1)
        for event in run:          # live, until the run ends
            ...
        print(run.best.score)      # waits for the end

    Raises SpeciateError for whatever the caller can mend.
    """
    prepared = prepare(problem, **options)
    assert isinstance(prepared, Prepared)
    return Search(prepared)


class Search:
    """A search under way. Iterating over it gives its events as they happen; asking for its result waits for it."""

    def __init__(self, prepared: Prepared) -> None:
        self._run = prepared.run
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._sink = EventSink(prepared.listeners)
        self._sink.subscribe(self._events.put)
        # A daemon, so that leaving a notebook does not wait for a search; what has finished is on disk at any time.
        self._thread = threading.Thread(target=self._work, name="speciate-search", daemon=True)
        self._thread.start()

    @property
    def dir(self) -> Path:
        """The run folder."""
        return self._run.folder.path

    @property
    def best(self) -> BestProgram | None:
        """The best program when the search has ended, or None when it found no valid one. Waits for the end."""
        return self.result().best

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the end and return how it was.

        Raises what ended the search when that was an error, and TimeoutError after `timeout` seconds.
        """
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"the search has not ended within {timeout} s")
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def stop(self) -> Result:
        """Interrupt the search and return what it found; `speciate resume` goes on from there."""
        self._run.interrupt()
        return self.result()

    def __iter__(self) -> Iterator[Event]:
        """Yield events until the search ends; each event is given once."""
        while (event := self._events.get()) is not None:
            yield event
        self._events.put(None)

    def _work(self) -> None:
        try:
            self._result = self._run.execute(self._sink.emit)
        except BaseException as error:  # noqa: BLE001 handed to whoever asks for the result
            self._error = error
        finally:
            self._events.put(None)
