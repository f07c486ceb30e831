"""Runs the cells of a comparison in worker processes, each on one core, and gives up what goes nowhere."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from .outcome import Outcome, read_outcome
from .plan import Cell, budget_settings

_CHILD = Path(__file__).with_name("child.py")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_LOADING_S = 60.0
"""A worker's first sign may come later by so much: it loads the package first."""

Told = Callable[[int, int, Cell | None], None]
"""Called with how many cells are finished, how many there are, and the cell that has just been."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of the cells: an outcome for each that ended by its budget, and a sentence for each that failed.

    Once a cell has failed, its arm is void, and those of its cells that had not begun are in neither.
    """

    outcomes: Mapping[Cell, Outcome]
    failures: Mapping[Cell, str]


def execute(cells: Iterable[Cell], out: Path, *, workers: int, patience: float, tell: Told) -> Executed:
    """Do what is not done yet. Whatever ends this, what was finished stays, and the next call goes on from there."""
    outcomes: dict[Cell, Outcome] = {}
    waiting: deque[Cell] = deque()
    for cell in cells:
        found = read_outcome(cell.folder, cell.budgets)
        if found is None:
            waiting.append(cell)
        else:
            outcomes[cell] = found
    failures: dict[Cell, str] = {}
    with (out / "workers.log").open("ab") as log, contextlib.closing(_Crew(log, patience)) as crew:
        total = len(outcomes) + len(waiting)
        tell(len(outcomes), total, None)
        while waiting or crew.busy:
            void = {cell.arm for cell in failures}
            while waiting and len(crew.busy) < workers:
                cell = waiting.popleft()
                if cell.arm not in void:
                    crew.begin(cell)
            for cell, failure in crew.finished():
                outcome = read_outcome(cell.folder, cell.budgets) if failure is None else None
                if outcome is None:
                    failures[cell] = failure or "the run's outcome cannot be read"
                else:
                    outcomes[cell] = outcome
                tell(len(outcomes) + len(failures), total, cell)
    return Executed(outcomes, failures)


class _Crew:
    """Worker processes: those that have a cell, and those that wait for the next."""

    def __init__(self, log: IO[bytes], patience: float) -> None:
        self.busy: dict[int, _Worker] = {}
        self._idle: list[_Worker] = []
        self._log = log
        self._patience = patience

    def begin(self, cell: Cell) -> None:
        """Give a cell to a worker."""
        worker = self._idle.pop() if self._idle else _Worker(self._log)
        worker.begin(cell)
        self.busy[worker.answers] = worker

    def finished(self) -> list[tuple[Cell, str | None]]:
        """Wait a moment; return the cells that ended, each with None or the sentence that says why it failed."""
        ready, _, _ = select.select(list(self.busy), [], [], 0.5)
        ended = []
        for worker in list(self.busy.values()):
            said = worker.read() if worker.answers in ready else None
            silent = time.monotonic() - worker.last_sign
            if said is None and silent > self._patience + (0.0 if worker.warm else _LOADING_S):
                worker.end()
                said = {"failed": f"nothing was committed for {self._patience:g} s, so the run was given up"}
            if said is None:
                continue
            del self.busy[worker.answers]
            assert worker.cell is not None
            ended.append((worker.cell, said.get("failed")))
            if "failed" in said or said["retire"]:
                worker.end()  # with whatever a plugin may have left behind in it
            else:
                self._idle.append(worker)
        return ended

    def close(self) -> None:
        """End every worker."""
        for worker in (*self.busy.values(), *self._idle):
            worker.end()


@dataclass(slots=True)
class _Worker:
    """One process, in a session of its own, so that an interrupt from the keyboard reaches only us."""

    log: IO[bytes]
    answers: int = field(init=False)
    cell: Cell | None = None
    last_sign: float = 0.0
    warm: bool = False
    lives: bool = True
    _popen: "subprocess.Popen[bytes]" = field(init=False)
    _unread: bytes = b""

    def __post_init__(self) -> None:
        self.answers, theirs = os.pipe()
        path = os.pathsep.join(entry for entry in (sys.path[0] or os.getcwd(), *sys.path[1:]) if entry)
        self._popen = subprocess.Popen(
            [sys.executable, "-P", str(_CHILD), str(theirs), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
            env={**os.environ, **_ONE_THREAD, "PYTHONPATH": path},
            pass_fds=(theirs,),
            start_new_session=True,
        )
        os.close(theirs)

    def begin(self, cell: Cell) -> None:
        """Send a cell."""
        self.cell = cell
        self.last_sign = time.monotonic()
        longest = budget_settings(cell.longest)
        job = {
            "folder": str(cell.folder),
            "use": cell.use,
            "config": str(cell.config),
            "settings": [*cell.settings, longest],
            "budgets": [[budget.kind, budget.total] for budget in cell.budgets],
        }
        assert self._popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # a worker that is gone is found when its answer is read
            self._popen.stdin.write(json.dumps(job).encode() + b"\n")
            self._popen.stdin.flush()

    def read(self) -> dict[str, Any] | None:
        """Return the answer that ends the cell, or None when it goes on."""
        came = os.read(self.answers, 1 << 16)
        if not came:
            self.end()
            return {"failed": f"the worker's process ended with code {self._popen.returncode} in the midst of the run"}
        self.last_sign, self.warm = time.monotonic(), True
        *lines, self._unread = (self._unread + came).split(b"\n")
        said: list[dict[str, Any]] = [json.loads(line) for line in lines]
        return next((message for message in said if "goes_on" not in message), None)

    def end(self) -> None:
        """Kill the process with all that it started in its session."""
        if not self.lives:
            return
        self.lives = False
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()
        self._popen.wait()
        os.close(self.answers)
