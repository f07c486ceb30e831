"""A run folder: self-contained, with the problem, the settings and the history of one run."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import sqlite_utils

from . import database, ledger
from .config import RunConfig, restore, to_toml
from .errors import RunFolderError
from .loading import Plugins
from .problem import Problem, load_problem
from .store import Store

PROBLEM = "problem"


class RunFolder:
    """An opened run folder. Opened to write, it is locked until `close`."""

    def __init__(self, path: Path, db: sqlite_utils.Database, lock: IO[bytes] | None) -> None:
        self.path = path
        self.store = Store(db)
        self._db = db
        self._lock = lock

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """Make a new run folder. Raises RunFolderError when it cannot be made or already holds a run."""
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunFolderError(
                f"the run folder {path} cannot be made: {error.strerror}; give another --out"
            ) from None
        lock = database.lock(path)
        try:
            return cls(path, database.create(path), lock)
        except RunFolderError:
            lock.close()
            raise

    @classmethod
    def open(cls, path: Path, *, write: bool) -> "RunFolder":
        """Open the folder of an earlier run, to go on with it or only to read."""
        if not path.is_dir():
            raise RunFolderError(f"there is no run folder {path}")
        if not write:
            return cls(path, database.open_existing(path, write=False), None)
        if not os.access(path, os.W_OK):
            raise RunFolderError(f"the run folder {path} is read-only; copy it to a place that can be written")
        if not (path / database.DATABASE).is_file():
            database.open_existing(path, write=False)
        lock = database.lock(path)
        try:
            folder = cls(path, database.open_existing(path, write=True), lock)
        except RunFolderError:
            lock.close()
            raise
        try:
            folder.told()
        except RunFolderError:
            folder.close()
            raise
        return folder

    @property
    def problem(self) -> Path:
        """The run's own copy of the problem's folder."""
        return self.path / PROBLEM

    def told(self) -> dict[str, Any]:
        """Return what the run was told, as far as it decides the ledger."""
        return dict(json.loads(self._setting("told")))

    def config(self, plugins: Plugins) -> RunConfig:
        """Return the resolved configuration that the run was started with."""
        return restore(plugins, self._setting("config"), f"the settings of {self.path}")

    def load_problem(self) -> Problem:
        """Load the run's own copy of its problem. Raises RunFolderError when it was changed."""
        problem = load_problem(self.problem, {}, self.told()["settings"]["problem"])
        if problem.hash != self.told()["problem"]:
            raise RunFolderError(f"the files in {self.problem} were changed since the run began; restore them")
        return problem

    def tell(self, told: Mapping[str, Any], config: RunConfig) -> None:
        """Write down what the run is told to do; from here on it can be resumed."""
        self.store.set_meta("config", to_toml(config))
        self.store.set_meta("told", json.dumps(dict(told), sort_keys=True))

    def totals(self) -> dict[str, Any]:
        """Return the budget that was set last."""
        return self.store.events("budget_set")[-1][1]

    def seconds_spent(self) -> float:
        """Return the wall time of all earlier sessions; one that was killed counts up to its last sign of life."""
        started, ended = self.store.events("session_started"), self.store.events("session_ended")
        if not started:
            return 0.0
        if len(ended) == len(started):
            return float(ended[-1][1]["seconds"])
        began, payload = started[-1]
        return float(payload["seconds"]) + max(0.0, self.store.last_sign_of_life() - began)

    def verified_digest(self) -> bytes:
        """Compute the digest again from what is stored. Raises RunFolderError when the history was altered."""
        digest = ledger.start(self.told())
        for birth in self.store.births():
            individual = birth.individual
            evaluation = None if individual is None else self.store.evaluation(individual.evaluation)
            kept, moves, stored = self.store.decided(birth.selection.ticket)
            digest = ledger.chain(digest, birth, evaluation, kept, moves)
            if digest != stored:
                raise RunFolderError(
                    f"ticket {birth.selection.ticket} of {self.path} is not what was committed: the history was altered"
                )
        return digest

    def _setting(self, key: str) -> str:
        text = self.store.meta(key)
        if text is None:
            raise RunFolderError(f"the run in {self.path} was ended before it began; start it again in another folder")
        return text

    def close(self) -> None:
        """Close the database and let the folder go."""
        self._db.conn.close()
        if self._lock is not None:
            self._lock.close()


def next_free(parent: Path, name: str) -> Path:
    """Return the first of `parent`/`name`-001, -002 … that does not exist yet."""
    taken = [0]
    if parent.is_dir():
        pattern = re.compile(re.escape(name) + r"-(\d+)$")
        taken += [int(m.group(1)) for entry in parent.iterdir() if (m := pattern.match(entry.name))]
    return parent / f"{name}-{max(taken) + 1:03d}"
