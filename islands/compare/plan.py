"""The runs that a comparison needs: problem × seed × arm × kind of budget, each with a folder of its own."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from ...core.config import RunConfig, resolve
from ...core.errors import UsageError
from ...core.loading import Plugins
from ...core.objective import Objective
from ...core.problem import Problem, load_problem
from ...core.told import reads_total, version
from .spec import Allowance, Arm, Design, with_seed

_NO_PART_OF_A_RUN = ("seed", "problem", "budget", "workers", "executor", "reporter", "preset")


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: an arm on a problem with a seed, and the budgets (of one kind) that are read off it.

    `folder` is named by everything that decides the run, so that a comparison that was changed runs only what is new.
    """

    arm: str
    problem: str
    seed: int
    budgets: tuple[Allowance, ...]
    use: str
    config: Path
    settings: tuple[str, ...]
    folder: Path

    @property
    def longest(self) -> Allowance:
        """The largest of its budgets: what is run."""
        return max(self.budgets, key=lambda budget: budget.total)

    def __str__(self) -> str:
        return f"{self.arm} on {self.problem}, seed {self.seed}, {self.longest}"


@dataclass(frozen=True, slots=True)
class Plan:
    """All cells, seeds first, so that what was run at any moment is nearly paired; and each problem's objective."""

    design: Design
    cells: tuple[Cell, ...]
    objectives: Mapping[str, Objective]


def make_plan(design: Design, plugins: Plugins, out: Path) -> Plan:
    """Check every arm and every problem, write each arm's configuration into `out`/arms, and list the runs.

    Raises UsageError, with the arm's name, for a configuration that does not hold or that sets a budget.
    """
    arms = [_Prepared.of(arm, design.budgets, plugins, out) for arm in design.arms]
    known = {name: plugins.registry.path("problem", name) for name in plugins.registry.names("problem")}
    cells: list[Cell] = []
    objectives: dict[str, Objective] = {}
    for seed in design.seeds:
        for table in design.problems:
            options = with_seed(table.options, seed)
            use = _found(table.use, known, design.folder)
            problem = load_problem(use, known, options)
            assert table.name is not None  # given to it when the file was read
            objectives[table.name] = problem.objective
            for arm in arms:
                cells += arm.cells(table.name, use, problem, options, seed, out)
    return Plan(design, tuple(cells), objectives)


@dataclass(frozen=True, slots=True)
class _Prepared:
    arm: Arm
    file: Path
    config: RunConfig
    groups: Sequence[tuple[Allowance, ...]]
    reads_total: bool

    @classmethod
    def of(cls, arm: Arm, budgets: Sequence[Allowance], plugins: Plugins, out: Path) -> "_Prepared":
        file = out / "arms" / f"{_file_name(arm.name)}.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        _write_when_new(file, tomli_w.dumps(dict(arm.settings)))
        flags = {"budget": {budgets[0].kind: _number(budgets[0].total)}}
        try:
            config = resolve(plugins, file=file, settings=arm.sets, flags=flags)
        except UsageError as error:
            raise UsageError(f"the arm {arm.name!r}: {str(error).removeprefix(str(file.parent) + '/')}") from None
        own = {kind: total for kind, total in config.budget.model_dump().items() if total is not None}
        if own != {budgets[0].kind: budgets[0].total}:
            found = ", ".join(f"{kind} = {total:g}" for kind, total in own.items() if kind != budgets[0].kind)
            raise UsageError(
                f"the arm {arm.name!r} sets its own budget ({found}); every arm has that of the comparison, so take it "
                "out of the preset or the configuration"
            )
        reads = reads_total(config, plugins.registry)
        return cls(arm, file, config, _groups(budgets, apart=reads), reads)

    def cells(
        self, name: str, use: str, problem: Problem, options: Mapping[str, Any], seed: int, out: Path
    ) -> list[Cell]:
        cells = []
        for budgets in self.groups:
            longest = max(budgets, key=lambda budget: budget.total)
            settings = (
                *self.arm.sets,
                *(f"problem.{key}={_toml(value)}" for key, value in options.items()),
                f"seed={seed}",
                "workers=1",
                'reporter="none"',
            )
            decided = {
                "speciate": version(),
                "problem": problem.hash,
                "config": self.config.model_dump(mode="json", exclude=set(_NO_PART_OF_A_RUN)),
                "seed": seed,
                "kind": longest.kind,
                # A run that is the beginning of a longer one can be extended; others are runs of their own.
                "total": longest.total if self.reads_total or not longest.counted else None,
            }
            mark = hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()[:16]
            cells.append(Cell(self.arm.name, name, seed, budgets, use, self.file, settings, out / "runs" / mark))
        return cells


def _found(use: str, known: Mapping[str, Path], folder: Path) -> str:
    """Return a problem's registered name, or the path of its folder as it is seen from the comparison's file."""
    beside = folder / Path(use).expanduser()
    return str(beside.resolve()) if use not in known and beside.is_dir() else use


def _groups(budgets: Sequence[Allowance], *, apart: bool) -> list[tuple[Allowance, ...]]:
    """Put the budgets together that one run serves: counts of one kind, unless a component reads the total."""
    groups: dict[object, list[Allowance]] = {}
    for budget in budgets:
        groups.setdefault(budget if apart or not budget.counted else budget.kind, []).append(budget)
    return [tuple(group) for group in groups.values()]


def _file_name(name: str) -> str:
    """Name a file after an arm: its plain letters, and what tells two alike names apart."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _write_when_new(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def _number(total: float) -> int | float:
    return int(total) if total == int(total) else total


def _toml(value: Any) -> str:
    return tomli_w.dumps({"value": value}).partition("=")[2].strip()


def budget_settings(budget: Allowance) -> str:
    """Return a budget as `--set` takes it."""
    return f"budget.{budget.kind}={_number(budget.total)}"
