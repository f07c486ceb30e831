"""A run folder: self-contained, with the problem, the settings and the history of one run."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import sqlite_utils

from . import database
from .errors import RunFolderError
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
        if folder.store.meta("told") is None:
            folder.close()
            raise RunFolderError(f"the run in {path} was ended before it began; start it again in another folder")
        return folder

    @property
    def problem(self) -> Path:
        """The run's own copy of the problem's folder."""
        return self.path / PROBLEM

    def settings(self) -> dict[str, Any]:
        """Return what the run was told: the resolved configuration and what else decides its ledger."""
        text = self.store.meta("told")
        if text is None:
            raise RunFolderError(f"the run in {self.path} was ended before it began; start it again")
        told = json.loads(text)
        assert isinstance(told, dict)
        return told

    def tell(self, told: Mapping[str, Any], config: str) -> None:
        """Write down what the run is told to do; from here on it can be resumed."""
        self.store.set_meta("config", config)
        self.store.set_meta("told", json.dumps(dict(told), sort_keys=True))

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
