"""A problem: a folder with a seed program, an evaluator and a problem.toml that says what is optimised."""

import hashlib
import importlib.util
import json
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from .component import ComponentOptions
from .errors import ProblemError, UsageError, did_you_mean
from .objective import Direction, Objective
from .options import OptionError, check
from .program import Program, frozen_files
from .sandbox import Job, Limits, Workspace
from .slots import EvaluationTask

PROBLEM_FILE = "problem.toml"
EVALUATOR, ORACLE, BLOCKS, PICTURE, ANCHORS = "evaluator.py", "oracle.py", "blocks.py", "picture.py", "anchors.json"
MEBIBYTE, KIBIBYTE = 1 << 20, 1 << 10


class _About(ComponentOptions):
    name: str
    summary: str = ""
    task: str = ""
    program: str = "seed.py"
    main: str | None = None
    entry: str = "main"
    improve: str | None = None
    effort: int = Field(default=1, ge=0)
    preload: tuple[str, ...] = ()


class _Objective(ComponentOptions):
    name: str
    direction: Direction = "maximise"
    resolution: float = Field(default=0.0, ge=0)
    bound: float | None = None


class _Stage(ComponentOptions):
    effort: int = Field(ge=0)
    threshold: float


class _Repeats(ComponentOptions):
    at_most: int = Field(default=1, ge=1)
    error: float = Field(default=0.0, ge=0)


class _BestKnown(ComponentOptions):
    value: float
    source: str = ""
    when: Mapping[str, Any] = Field(default_factory=dict)


class _Limits(ComponentOptions):
    wall_s: float = Field(default=10.0, gt=0)
    cpu_s: float = Field(default=10.0, gt=0)
    memory_mb: int = Field(default=2048, ge=16)
    output_kb: int = Field(default=8192, ge=1)
    stdout_kb: int = Field(default=64, ge=0)
    scratch_mb: int = Field(default=64, ge=0)
    score_wall_s: float = Field(default=30.0, gt=0)


class _File(ComponentOptions):
    problem: _About
    objective: _Objective
    best_known: tuple[_BestKnown, ...] = ()
    limits: _Limits = _Limits()
    stages: tuple[_Stage, ...] = ()
    repeats: _Repeats = _Repeats()
    options: Mapping[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stage:
    """A cheap trial before an evaluation: run with less effort, and go on only from a score as good as `threshold`."""

    effort: int
    threshold: float


@dataclass(frozen=True, slots=True)
class Repeats:
    """How noise is met: up to `at_most` runs with other seeds, fewer once the standard error is within `error`.

    With more than one, scores are means, and a record is run anew before it counts as one.
    """

    at_most: int = 1
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Problem:
    """A loaded problem. `options` are its own, with what the run set; `best_known` is (value, source) for them.

    `hash` names the whole folder and the options; `evaluator_version` names all that decides a score.
    """

    folder: Path
    name: str
    summary: str
    task: str
    objective: Objective
    seeds: tuple[Program, ...]
    main: str
    entry: str
    improve: str | None
    effort: int
    preload: tuple[str, ...]
    limits: Limits
    score_wall_s: float
    options: Mapping[str, Any]
    blocks: str | None
    best_known: tuple[float, str] | None
    stages: tuple[Stage, ...]
    repeats: Repeats
    evaluator_version: str
    hash: str

    @property
    def evaluator(self) -> Path:
        """The local evaluator."""
        return self.folder / EVALUATOR

    @property
    def oracle(self) -> Path | None:
        """The exact judge, if the problem has one."""
        path = self.folder / ORACLE
        return path if path.is_file() else None

    @property
    def draws(self) -> bool:
        """Whether the problem can draw an output."""
        return (self.folder / PICTURE).is_file()

    def anchors(self) -> list[dict[str, Any]]:
        """Return outputs that are known to be right, as {"options", "output", …}."""
        path = self.folder / ANCHORS
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []

    def draw(self, output: str, suffix: str) -> bytes:
        """Return a picture of an output in the format of `suffix`. Raises ProblemError when there is none."""
        path = self.folder / PICTURE
        if not path.is_file():
            raise ProblemError(f"the problem {self.name} draws no pictures: it has no {PICTURE}")
        spec = importlib.util.spec_from_file_location(f"_picture_{self.hash}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        try:
            drawn = module.picture(json.loads(output), suffix, **self.options)
        except ValueError as error:
            raise ProblemError(f"{path} cannot draw this: {error}") from None
        return drawn if isinstance(drawn, bytes) else str(drawn).encode("utf-8")

    def copy_into(self, folder: Path) -> None:
        """Copy the problem's files, so that a run does not depend on the original."""
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"), dirs_exist_ok=True)


def load_problem(where: str | Path, known: Mapping[str, Path], options: Mapping[str, Any]) -> Problem:
    """Load a problem by registered name or by the path of its folder.

    Raises ProblemError when the folder does not hold one, UsageError for an unknown name or option.
    """
    folder = _find(where, known)
    content = _read(folder)
    about = content.problem
    if not about.name or "/" in about.name:
        raise ProblemError(f"{folder / PROBLEM_FILE}: the name {about.name!r} cannot name a problem")
    seed, main = _seed(folder, about)
    if not (folder / EVALUATOR).is_file():
        raise ProblemError(f"{folder} has no {EVALUATOR}; write one with a function evaluate(output)")
    settled = _options(content.options, options, about.name)
    limits = content.limits
    return Problem(
        folder=folder,
        name=about.name,
        summary=about.summary,
        task=about.task,
        objective=Objective(
            content.objective.name,
            content.objective.direction,
            content.objective.resolution,
            content.objective.bound,
        ),
        seeds=(seed,),
        main=main,
        entry=about.entry,
        improve=about.improve,
        effort=about.effort,
        preload=about.preload,
        limits=Limits(
            limits.wall_s,
            limits.cpu_s,
            limits.memory_mb * MEBIBYTE,
            limits.output_kb * KIBIBYTE,
            limits.stdout_kb * KIBIBYTE,
            limits.scratch_mb * MEBIBYTE,
        ),
        score_wall_s=limits.score_wall_s,
        options=settled,
        blocks=_text(folder / BLOCKS, "the building blocks") if (folder / BLOCKS).is_file() else None,
        best_known=_best_known(content.best_known, settled),
        stages=tuple(Stage(stage.effort, stage.threshold) for stage in content.stages),
        repeats=Repeats(content.repeats.at_most, content.repeats.error),
        evaluator_version=_hash_files(folder, settled, judges_only=True, seed=about.program),
        hash=_hash_files(folder, settled, judges_only=False, seed=about.program),
    )


def workspace(problem: Problem) -> Workspace:
    """Return what all candidates of a problem share."""
    modules = {} if problem.blocks is None else {Path(BLOCKS).stem: problem.blocks}
    return Workspace(problem.preload, modules, problem.limits)


def job(problem: Problem, task: EvaluationTask) -> Job:
    """Return how a task is executed: with an input the improver is called, else the entry point."""
    arguments = {**problem.options, "effort": task.name.effort, "seed": task.name.seed}
    entries: tuple[str, ...] = (problem.entry,)
    if task.input is not None and problem.improve is not None:
        entries = (problem.improve, problem.entry)
        arguments["previous"] = json.loads(task.input)
    return Job(task.program, problem.main, entries, arguments, task.name.seed)


def _seed(folder: Path, about: _About) -> tuple[Program, str]:
    """Return the seed program and its main file: one file, or all files of a folder."""
    path = folder / about.program
    if path.is_dir():
        main = about.main or "main.py"
        files = {
            file.relative_to(path).as_posix(): _text(file, "a file of the seed program")
            for file in sorted(path.rglob("*"))
            if file.is_file() and "__pycache__" not in file.parts
        }
        if main not in files:
            raise ProblemError(f"the seed program {path} has no file {main!r}; name its main file in [problem] main")
    else:
        main = path.name
        files = {main: _text(path, "the seed program")}
    program = Program.of(files)
    try:
        frozen_files(program)
    except ValueError as error:
        raise ProblemError(f"{path}: {error}") from None
    return program, main


def _find(where: str | Path, known: Mapping[str, Path]) -> Path:
    if str(where) in known:
        return known[str(where)]
    path = Path(where).expanduser()
    if path.is_dir():
        return path.resolve()
    if path.exists():
        raise ProblemError(f"{where} is a file; a problem is a folder with a {PROBLEM_FILE}")
    raise UsageError(f"there is no problem and no folder {str(where)!r}{did_you_mean(str(where), known)}")


def _read(folder: Path) -> _File:
    path = folder / PROBLEM_FILE
    try:
        content = tomllib.loads(_text(path, "the description of the problem"))
    except tomllib.TOMLDecodeError as error:
        raise ProblemError(f"{path} is not TOML: {error}") from None
    try:
        return check(_File, content, str(path), noun="key")
    except OptionError as error:
        raise ProblemError(str(error)) from None


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ProblemError(f"{what} is missing: there is no {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ProblemError(f"{path} cannot be read as UTF-8 text: {error}") from None


def _options(defaults: Mapping[str, Any], given: Mapping[str, Any], name: str) -> dict[str, Any]:
    settled = dict(defaults)
    for key, value in given.items():
        if key not in defaults:
            raise UsageError(f"the problem {name} has no option {key!r}{did_you_mean(key, defaults)}")
        wanted = type(defaults[key])
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted:
            raise UsageError(f"option {key!r} of {name} is {value!r}; expected {wanted.__name__}")
        settled[key] = value
    return settled


def _best_known(rows: tuple[_BestKnown, ...], options: Mapping[str, Any]) -> tuple[float, str] | None:
    for row in rows:
        if all(options.get(key) == value for key, value in row.when.items()):
            return row.value, row.source
    return None


def _hash_files(folder: Path, options: Mapping[str, Any], *, judges_only: bool, seed: str) -> str:
    apart = {BLOCKS, PICTURE, ANCHORS} if judges_only else set()
    digest = hashlib.sha256(json.dumps(dict(options), sort_keys=True, default=str).encode())
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        judged = name not in apart and name != seed and not name.startswith(f"{seed}/")
        if path.is_file() and "__pycache__" not in name and (judged or not judges_only):
            digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]
