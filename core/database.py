"""Opens a run's SQLite database: one writer, write-ahead log, schema version with migrations."""

import fcntl
import os
import sqlite3
from pathlib import Path
from typing import IO

import sqlite_utils

from .errors import RunFolderError
from .schema import MIGRATIONS

DATABASE = "run.db"
LOCK = "run.lock"


def version(db: sqlite_utils.Database) -> int:
    """Return the schema version that the file carries."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite_utils.Database) -> None:
    """Bring a database to the newest schema, one migration a transaction."""
    for number in range(version(db), len(MIGRATIONS)):
        db.executescript(f"BEGIN; {MIGRATIONS[number]}; PRAGMA user_version = {number + 1}; COMMIT;")


def lock(folder: Path) -> IO[bytes]:
    """Take the run folder for this process until the returned file is closed.

    The lock is the kernel's: it ends with the process, however that ends.
    Raises RunFolderError when another process holds it or the folder cannot be written.
    """
    try:
        # Never truncated: the file's content plays no part.
        handle = open(folder / LOCK, "ab")  # noqa: SIM115
    except OSError as error:
        raise RunFolderError(f"the run folder {folder} cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise RunFolderError(
            f"the run folder {folder} is in use by another process; wait for it or give another folder with --out"
        ) from None
    return handle


def create(folder: Path) -> sqlite_utils.Database:
    """Make the database of a new run. Raises RunFolderError when the folder already holds one."""
    path = folder / DATABASE
    if path.exists():
        raise RunFolderError(
            f"the folder {folder} already holds a run; go on with `speciate resume {folder}` or give another --out"
        )
    db = _connect(path, write=True)
    migrate(db)
    return db


def open_existing(folder: Path, *, write: bool) -> sqlite_utils.Database:
    """Open the database of a run, to go on with it or only to read.

    Raises RunFolderError when there is none, it is of a newer version, cut short or cannot be written.
    """
    path = folder / DATABASE
    if not path.is_file():
        raise RunFolderError(f"{folder} holds no run: there is no {DATABASE} in it; start one with `speciate run`")
    if write and not (os.access(path, os.W_OK) and os.access(folder, os.W_OK)):
        raise RunFolderError(f"the run folder {folder} is read-only; copy it to a place that can be written")
    try:
        db = _connect(path, write=write)
        found = version(db)
        complete = found == 0 or db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
    except sqlite3.DatabaseError as error:
        raise RunFolderError(f"{path} is not a whole database ({error}); restore it from a copy") from None
    if not complete or found == 0:
        raise RunFolderError(f"{path} is cut short or damaged; restore it from a copy")
    if found > len(MIGRATIONS):
        raise RunFolderError(
            f"{path} has schema version {found}, this speciate knows {len(MIGRATIONS)}; use a newer speciate"
        )
    if write:
        migrate(db)
    return db


def _connect(path: Path, *, write: bool) -> sqlite_utils.Database:
    if write:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
    else:
        connection = _connect_to_read(path)
    return sqlite_utils.Database(connection)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect without writing anything, also where the folder itself is read-only."""
    uri = path.resolve().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError:
        # A write-ahead log cannot be opened in a folder that cannot be written; what it has checkpointed can.
        connection.close()
        connection = sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None, check_same_thread=False)
    return connection
