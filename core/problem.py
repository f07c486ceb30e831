"""A problem: a folder with a seed program, an evaluator and a problem.toml that says what is optimised."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from .errors import ProblemError, UsageError, did_you_mean
from .judge import Judge, JudgeTimeout
from .objective import Objective
from .options import NONE
from .problem_file import (
    PROBLEM_FILE,
    About,
    BestKnown,
    ProblemFile,
    copy_files,
    files_of,
    read_problem_file,
    read_text,
)
from .program import Program, frozen_files
from .sandbox import Job, Limits, Workspace
from .slots import EvaluationTask

EVALUATOR, ORACLE, BLOCKS, PICTURE, ANCHORS = "evaluator.py", "oracle.py", "blocks.py", "picture.py", "anchors.json"
MEBIBYTE, KIBIBYTE = 1 << 20, 1 << 10


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

    Where `entry` is None nothing is run: the text of the main file is the output. `search` are the components that
    suit it, for searches that do not choose their own. `hash` names the whole folder and the options;
    `evaluator_version` names all that decides a score.
    """

    folder: Path
    name: str
    summary: str
    task: str
    objective: Objective
    seeds: tuple[Program, ...]
    main: str
    entry: str | None
    improve: str | None
    search: Mapping[str, Any]
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
        """Return outputs that are known to be right, as {"options", "output", …}. Raises ProblemError."""
        path = self.folder / ANCHORS
        if not path.is_file():
            return []
        try:
            anchors = json.loads(read_text(path, "the anchors"))
        except (ValueError, RecursionError) as error:
            raise ProblemError(f"{path} is not JSON: {error}") from None
        if not isinstance(anchors, list) or not all(isinstance(a, dict) and "output" in a for a in anchors):
            raise ProblemError(f'{path} must be a list of {{"options": {{…}}, "output": …}}')
        return anchors

    def draw(self, output: str, suffix: str) -> bytes:
        """Return a picture of an output in the format of `suffix`. Raises ProblemError when there is none."""
        path = self.folder / PICTURE
        if not path.is_file():
            raise ProblemError(f"the problem {self.name} draws no pictures: it has no {PICTURE}")
        judge = Judge("picture", path, self.score_wall_s)
        try:
            answer = judge.ask(output, dict(self.options), suffix=suffix)
        except JudgeTimeout as error:
            raise ProblemError(str(error)) from None
        finally:
            judge.close()
        if "drawn" not in answer:
            raise ProblemError(f"{path} cannot draw this: {answer.get('error') or answer.get('outage')}")
        return base64.b64decode(answer["drawn"])

    def copy_into(self, folder: Path) -> "Problem":
        """Copy the problem's files, so that a run does not depend on the original, and return the copy."""
        copy_files(self.folder, folder)
        return replace(self, folder=folder.resolve())


def load_problem(where: str | Path, known: Mapping[str, Path], options: Mapping[str, Any]) -> Problem:
    """Load a problem by registered name or by the path of its folder.

    Raises ProblemError when the folder does not hold one, UsageError for an unknown name or option.
    """
    folder = _find(where, known)
    content = read_problem_file(folder)
    about, aim, limits = content.problem, content.objective, content.limits
    seed, main = _seed(folder, about)
    if not (folder / EVALUATOR).is_file():
        raise ProblemError(f"{folder} has no {EVALUATOR}; write one with a function evaluate(output)")
    settled = _options(content.options, options, about.name)
    return Problem(
        folder=folder,
        name=about.name,
        summary=about.summary,
        task=about.task,
        objective=Objective(aim.name, aim.direction, aim.resolution, aim.bound),
        seeds=(seed,),
        main=main,
        entry=None if about.entry == NONE else about.entry,
        improve=about.improve,
        search=content.search,
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
        blocks=read_text(folder / BLOCKS, "the building blocks") if (folder / BLOCKS).is_file() else None,
        best_known=_best_known(content.best_known, settled),
        stages=tuple(Stage(stage.effort, stage.threshold) for stage in content.stages),
        repeats=Repeats(content.repeats.at_most, content.repeats.error),
        evaluator_version=_evaluator_version(folder, content, settled),
        hash=_digest([settled], files_of(folder)),
    )


def workspace(problem: Problem) -> Workspace:
    """Return what all candidates of a problem share."""
    modules = {} if problem.blocks is None else {Path(BLOCKS).stem: problem.blocks}
    return Workspace(problem.preload, modules, problem.limits)


def job(problem: Problem, task: EvaluationTask) -> Job:
    """Return how a task is executed: with an input the improver is called, else the entry point."""
    arguments = {**problem.options, "effort": task.name.effort, "seed": task.name.seed}
    if problem.entry is None:
        return Job(task.program, problem.main, ())
    entries: tuple[str, ...] = (problem.entry,)
    if task.input is not None and problem.improve is not None:
        entries = (problem.improve, problem.entry)
        arguments["previous"] = json.loads(task.input)
    return Job(task.program, problem.main, entries, arguments, task.name.seed)


def _seed(folder: Path, about: About) -> tuple[Program, str]:
    """Return the seed program and its main file: one file, or all files of a folder."""
    path = folder / about.program
    if path.is_dir():
        main = about.main or "main.py"
        files = {name: read_text(file, "a file of the seed program") for name, file in files_of(path)}
        if main not in files:
            raise ProblemError(f"the seed program {path} has no file {main!r}; name its main file in [problem] main")
    else:
        main = path.name
        files = {main: read_text(path, "the seed program")}
    program = Program.of(files)
    try:
        frozen_files(program)
    except ValueError as error:
        raise ProblemError(f"{path}: {error}") from None
    return program, main


def _find(where: str | Path, known: Mapping[str, Path]) -> Path:
    if str(where) in known:
        return known[str(where)]
    try:
        path = Path(where).expanduser()
        if path.is_dir():
            return path.resolve()
        if path.exists():
            raise ProblemError(f"{where} is a file; a problem is a folder with a {PROBLEM_FILE}")
    except (OSError, RuntimeError, ValueError) as error:  # too long, out of reach, the home of nobody
        raise UsageError(f"{str(where)[:80]!r} cannot be looked up as a problem's folder: {error}") from None
    raise UsageError(f"there is no problem and no folder {str(where)!r}{did_you_mean(str(where), known)}")


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


def _best_known(rows: tuple[BestKnown, ...], options: Mapping[str, Any]) -> tuple[float, str] | None:
    for row in rows:
        if all(options.get(key) == value for key, value in row.when.items()):
            return row.value, row.source
    return None


def _evaluator_version(folder: Path, content: ProblemFile, options: Mapping[str, Any]) -> str:
    """Name all that decides an evaluation besides program, input, effort and seed.

    That is every file which judges or programs may import or read, and the settings that are no prose.
    """
    seed = PurePosixPath(content.problem.program).as_posix()
    files = (
        (name, path)
        for name, path in files_of(folder)
        if name not in (PROBLEM_FILE, PICTURE, ANCHORS, seed) and not name.startswith(f"{seed}/")
    )
    return _digest([dict(options), content.deciding()], files)


def _digest(settings: list[Any], files: Iterable[tuple[str, Path]]) -> str:
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for name, path in files:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ProblemError(f"{path} cannot be read: {error.strerror}") from None
        digest.update(name.encode("utf-8", "surrogateescape") + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()[:32]
