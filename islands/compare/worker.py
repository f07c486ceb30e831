"""A worker of a comparison: one process that does run after run, and answers over a pipe of its own."""

import contextlib
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...core.errors import RunFolderError, SpeciateError
from ...core.events import Event
from ...core.folder import RunFolder
from ...core.run import Totals
from ...core.search import Prepared, prepare, prepare_resume, reporting
from .outcome import outcome_of, write_outcome
from .spec import Allowance

SIGN_EVERY_S = 0.5
"""How often a worker says that its run goes on."""

Say = Callable[[Mapping[str, Any]], None]


def work(answers: int, parent: int) -> None:
    """Do the runs that are asked for, one JSON object a line on standard input, until there is no more.

    `answers` is the pipe for what is to be said, one JSON object a line; nothing that a plugin prints gets into it.
    The process ends with its `parent`.
    """
    own = os.getpid()
    forks: list[int] = []
    os.register_at_fork(after_in_parent=lambda: forks.append(own))

    def say(message: Mapping[str, Any]) -> None:
        os.write(answers, json.dumps(message).encode() + b"\n")

    for line in sys.stdin:
        answer = _answer(json.loads(line), _signs(say, own, parent))
        if os.getpid() != own:
            os._exit(1)  # a plugin forked, and this is the copy
        # After a fork nobody knows who else reads this process's pipes.
        say({**answer, "retire": bool(forks)})


def _signs(say: Say, own: int, parent: int) -> Callable[[Event], None]:
    """Return a listener that tells now and then that the run goes on."""
    last = 0.0

    def sign(event: Event) -> None:
        nonlocal last
        if os.getpid() != own or os.getppid() != parent:
            os._exit(1)  # a copy that a plugin forked, or nobody waits for this run any more: it can be resumed
        if time.monotonic() - last > SIGN_EVERY_S:
            last = time.monotonic()
            say({"goes_on": True})

    return sign


def _answer(job: Mapping[str, Any], sign: Callable[[Event], None]) -> Mapping[str, Any]:
    try:
        run_cell(job, sign)
    except SpeciateError as error:
        return {"failed": " ".join(str(error).split())}
    except (Exception, SystemExit) as error:  # noqa: BLE001 a plugin's own fault voids its arm and nobody else's
        traceback.print_exc()  # into workers.log
        return {"failed": " ".join(f"{type(error).__name__}: {error}".split())}
    return {"done": True}


def run_cell(job: Mapping[str, Any], listener: Callable[[Event], None]) -> None:
    """Run one cell to its end, from wherever it stopped, and write down its outcome. Raises SpeciateError.

    `job` has `folder`, `use` (the problem), `config`, `settings` and `budgets`, a list of [kind, total].
    """
    folder = Path(job["folder"])
    budgets = [Allowance(kind, total) for kind, total in job["budgets"]]
    longest = max(budgets, key=lambda budget: budget.total)
    _forget_unbegun(folder)
    if (folder / "run.db").is_file():
        prepared = _gone_on_with(folder, longest)
    else:
        made = prepare(job["use"], config=job["config"], out=folder, settings=job["settings"])
        assert isinstance(made, Prepared)
        prepared = made
    with reporting(prepared, quiet=True) as sink:
        sink.subscribe(listener)
        result = prepared.run.execute(sink.emit)
    if result.status != "budget":
        raise SpeciateError(f"the run ended otherwise than by its budget: {result.reason}")
    write_outcome(folder, outcome_of(folder, prepared.run.problem.objective, budgets))


def _gone_on_with(folder: Path, longest: Allowance) -> Prepared:
    opened = RunFolder.open(folder, write=False)
    told = opened.totals()
    opened.close()
    total = max(longest.total, told.get(longest.kind) or 0)
    changed: dict[str, Any] = {}
    if total != told.get(longest.kind):
        changed = {longest.kind: int(total) if longest.counted else total}
    return prepare_resume(folder, Totals(**changed), 1)


def _forget_unbegun(folder: Path) -> None:
    """Remove a run folder whose making was cut short: there is nothing in it yet, and it cannot be resumed."""
    if not (folder / "run.db").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        opened = RunFolder.open(folder, write=False)
        begun = opened.store.meta("told") is not None and bool(opened.store.events("budget_set"))
        opened.close()
    except RunFolderError:
        begun = False
    if not begun:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
