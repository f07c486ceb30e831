"""What a problem.toml may say, and which files of a problem's folder belong to it."""

import json
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from .component import ComponentOptions
from .errors import ProblemError, did_you_mean
from .objective import Direction
from .options import NONE, OptionError, check

PROBLEM_FILE = "problem.toml"
RUN_MARK = "run.db"
"""A folder with this file is a run's, wherever it lies (`database.DATABASE`, which is dear to import)."""
HANDED = ("previous", "effort", "seed", "output", "text", "suffix")
"""Arguments that programs, judges and pictures are given besides the options, so that no option can be called so."""


SEARCH_SLOTS = ("operator", "embedder", "novelty", "selector", "inspirations", "archive", "topology", "migration")
"""What a problem may choose for searches that do not choose it themselves."""


class About(ComponentOptions):
    """The table `[problem]`."""

    name: str
    summary: str = ""
    task: str = ""
    program: str = "seed.py"
    main: str | None = None
    entry: str = "main"
    improve: str | None = None
    effort: int = Field(default=1, ge=0)
    preload: tuple[str, ...] = ()


class ObjectiveTable(ComponentOptions):
    """The table `[objective]`."""

    name: str
    direction: Direction = "maximise"
    resolution: float = Field(default=0.0, ge=0)
    bound: float | None = None


class StageTable(ComponentOptions):
    """One of the tables `[[stages]]`."""

    effort: int = Field(ge=0)
    threshold: float


class RepeatsTable(ComponentOptions):
    """The table `[repeats]`."""

    at_most: int = Field(default=1, ge=1)
    error: float = Field(default=0.0, ge=0)


class BestKnown(ComponentOptions):
    """One of the tables `[[best_known]]`: a value and the options that it is for."""

    value: float
    source: str = ""
    when: Mapping[str, Any] = Field(default_factory=dict)


class LimitsTable(ComponentOptions):
    """The table `[limits]`: seconds, and sizes in binary units."""

    wall_s: float = Field(default=10.0, gt=0)
    cpu_s: float = Field(default=10.0, gt=0)
    memory_mb: int = Field(default=2048, ge=16)
    output_kb: int = Field(default=8192, ge=1)
    stdout_kb: int = Field(default=64, ge=0)
    scratch_mb: int = Field(default=64, ge=0)
    score_wall_s: float = Field(default=30.0, gt=0)


class ProblemFile(ComponentOptions):
    """A whole problem.toml."""

    problem: About
    objective: ObjectiveTable
    best_known: tuple[BestKnown, ...] = ()
    limits: LimitsTable = LimitsTable()
    stages: tuple[StageTable, ...] = ()
    repeats: RepeatsTable = RepeatsTable()
    options: Mapping[str, Any] = Field(default_factory=dict)
    search: Mapping[str, Any] = Field(default_factory=dict)

    def deciding(self) -> dict[str, Any]:
        """Return what of this decides an evaluation, besides the options in force: all but names, prose and records."""
        about = {"name", "summary", "task", "program", "effort"}
        return self.model_dump(
            mode="json", exclude={"best_known": True, "options": True, "search": True, "problem": about}
        )


def read_problem_file(folder: Path) -> ProblemFile:
    """Read a folder's problem.toml. Raises ProblemError, one sentence about the first thing that is wrong."""
    path = folder / PROBLEM_FILE
    try:
        content = tomllib.loads(read_text(path, "the description of the problem"))
    except tomllib.TOMLDecodeError as error:
        raise ProblemError(f"{path} is not TOML: {error}") from None
    try:
        found = check(ProblemFile, content, str(path), noun="key")
    except OptionError as error:
        raise ProblemError(str(error)) from None
    fault = _about_fault(found.problem) or _options_fault(found)
    if fault is not None:
        raise ProblemError(f"{path}: {fault}")
    return found


def _about_fault(about: About) -> str | None:
    if about.name in ("", ".", "..") or "/" in about.name or not about.name.isprintable():
        return f"the name {about.name!r} cannot name a problem; it becomes a part of the names of run folders"
    program = PurePosixPath(about.program)
    if program.is_absolute() or ".." in program.parts or not program.name:
        return f"the program {about.program!r} must be a file in the problem's own folder"
    for key, name in (("entry", about.entry), ("improve", about.improve)):
        if name is not None and not name.isidentifier():
            return f"{key} = {name!r} cannot be the name of a function"
    for module in about.preload:
        if not all(part.isidentifier() for part in module.split(".")):
            return f"{module!r} in preload cannot be the name of a module"
    if about.entry == NONE and about.improve is not None:
        return f"improve = {about.improve!r} names a function, but with entry = {NONE!r} programs are not run"
    return None


def _options_fault(file: ProblemFile) -> str | None:
    for name, value in file.options.items():
        if name in HANDED:
            return f"an option cannot be called {name!r}: programs and judges are given something else by that name"
        try:
            json.dumps(value)
        except TypeError:
            return f"option {name!r} is {value!r}; expected a number, a text, a truth value, a list or a table of them"
    for slot in file.search:
        if slot not in SEARCH_SLOTS:
            return (
                f"[search] has no key {slot!r}{did_you_mean(slot, SEARCH_SLOTS)}; it may have {', '.join(SEARCH_SLOTS)}"
            )
    for known in file.best_known:
        for name in known.when:
            if name not in file.options:
                return f"best_known asks for an option {name!r}, which is not there{did_you_mean(name, file.options)}"
    return None


def read_text(path: Path, what: str) -> str:
    """Return the text of a file of a problem. Raises ProblemError when it is missing or no UTF-8 text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ProblemError(f"{what} is missing: there is no {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ProblemError(f"{path} cannot be read as UTF-8 text: {error}") from None


def files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a problem's folder, in order: the name within the folder, and the path.

    What is hidden, compiled or a run folder is no part of a problem; a run may lie in the folder of its problem. Raises
    ProblemError for a folder that cannot be read.
    """
    try:
        yield from sorted(_walk(folder, "", frozenset()))
    except OSError as error:
        raise ProblemError(f"the files of {folder} cannot be listed: {error}") from None


def _walk(folder: Path, prefix: str, above: frozenset[str]) -> Iterator[tuple[str, Path]]:
    real = os.path.realpath(folder)
    if real in above:
        return
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name == "__pycache__" or path.suffix == ".pyc":
            continue
        if path.is_dir():
            if not (path / RUN_MARK).exists():
                yield from _walk(path, f"{prefix}{path.name}/", above | {real})
        elif path.is_file():
            yield f"{prefix}{path.name}", path


def copy_files(folder: Path, target: Path) -> None:
    """Copy the files of a problem into another folder. Raises ProblemError when that cannot be done."""
    try:
        for name, path in list(files_of(folder)):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / name)
    except OSError as error:
        raise ProblemError(f"the problem in {folder} cannot be copied to {target}: {error}") from None
