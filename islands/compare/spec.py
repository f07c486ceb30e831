"""What a comparison's file says: problems, arms, seeds and budgets, checked before anything runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ...core.config import BudgetLimits
from ...core.config_sources import Layer, overlay
from ...core.errors import UsageError
from ...core.options import OptionError, check

SEED_MARK = "{seed}"
"""As the value of a problem's option: the seed, so that each seed is another instance, the same one for all arms."""

SHARED_KEYS = {
    "seed": "the seeds are those of the comparison, the same for all arms; list them in `seeds`",
    "problem": "problems are the same for all arms; give their options in [[problems]]",
    "budget": "every arm has the budget of the comparison; set it in [budget]",
    "workers": "every run has one core; `workers` of the comparison says how many runs go on at once",
}
"""Keys of a configuration that no arm may set, and why."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)


class ProblemTable(_Table):
    """One of the tables `[[problems]]`."""

    use: str
    """A registered name or the path of a problem's folder, relative to the file."""
    name: str | None = None
    """What the report calls it; without it `use`, with the options where several tables have the same `use`."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the problem; the value `"{seed}"` is the seed of the run."""


class ArmTable(BaseModel):
    """One of the tables `[[arms]]`. Whatever else it holds are keys of a run's configuration."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    name: str
    """What the report calls it."""
    preset: str | None = None
    """The preset that lies under its configuration."""
    set: tuple[str, ...] = ()
    """Single settings, as `--set` takes them: `["selector.use=greedy"]`."""


class ComparisonFile(_Table):
    """A whole comparison."""

    problems: tuple[ProblemTable, ...] = Field(min_length=1)
    """What the arms are tried on."""
    arms: tuple[ArmTable, ...] = Field(min_length=1)
    """The strategies."""
    seeds: int | tuple[int, ...] = 10
    """How many seeds, 0 … n - 1, or which."""
    budget: Mapping[str, int | float | tuple[int | float, ...]]
    """Totals of a run by kind; every number is a budget of its own, for which there is a table of its own."""
    common: Mapping[str, Any] = Field(default_factory=dict)
    """Keys of the configuration that all arms share; they lie over the preset and under the arm's own keys."""
    workers: int = Field(default=0, ge=0)
    """How many runs go on at once, each on one core; 0 is one for each core."""
    patience: float = Field(default=120.0, gt=0)
    """A run that commits nothing for so many seconds is given up, and its arm is not ranked."""

    @field_validator("seeds")
    @classmethod
    def _seeds(cls, value: int | tuple[int, ...]) -> int | tuple[int, ...]:
        numbers = (value,) if isinstance(value, int) else value
        if not numbers or min(numbers) < (1 if isinstance(value, int) else 0):
            raise ValueError("expected a number of seeds from 1, or a list of seeds from 0")
        if len(set(numbers)) < len(numbers):
            raise ValueError("a seed is listed twice: two equal runs are not two pairs")
        return value


@dataclass(frozen=True, slots=True)
class Allowance:
    """One budget: a kind (`evaluations`, `proposals`, `seconds` …) and the total of one run."""

    kind: str
    total: float

    def __str__(self) -> str:
        return f"{self.total:g} {self.kind}"

    @property
    def counted(self) -> bool:
        """Whether it is a count, so that a run under a smaller one is the beginning of a run under a larger one."""
        return self.kind != "seconds"


@dataclass(frozen=True, slots=True)
class Arm:
    """A strategy: its name, and the keys of the configuration that make it."""

    name: str
    settings: Mapping[str, Any]
    """With `preset`, where it has one."""
    sets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """What is to be compared, checked. Problems, arms and budgets are in the order in which they were written."""

    problems: tuple[ProblemTable, ...]
    arms: tuple[Arm, ...]
    seeds: tuple[int, ...]
    budgets: tuple[Allowance, ...]
    workers: int
    patience: float
    folder: Path
    """What paths are relative to."""


def read_design(layer: Layer, folder: Path) -> Design:
    """Check the tables of a comparison; paths are relative to `folder`.

    Raises UsageError, beginning with the place, for the first thing that is wrong.
    """
    try:
        file = check(ComparisonFile, layer.values, "a comparison", noun="key")
        budgets = _budgets(file.budget)
    except OptionError as error:
        raise UsageError(f"{layer.place(error.path)}: {error}") from None
    for index, table in enumerate(file.arms):
        for where, keys in (("common", file.common), (f"the arm {table.name!r}", table.model_extra or {})):
            _refuse_shared(layer, where, keys, ("arms", index) if where != "common" else ("common",))
        for text in table.set:
            _refuse_shared(layer, f"the arm {table.name!r}", {text.partition("=")[0].split(".")[0].strip(): 0},
                           ("arms", index))  # fmt: skip
    _refuse_twice("arm", [arm.name for arm in file.arms])
    problems = _named(file.problems)
    _refuse_twice("problem", [problem.name or "" for problem in problems])
    return Design(
        problems=problems,
        arms=tuple(_arm(table, file.common, folder) for table in file.arms),
        seeds=tuple(range(file.seeds)) if isinstance(file.seeds, int) else file.seeds,
        budgets=budgets,
        workers=file.workers,
        patience=file.patience,
        folder=folder,
    )


def with_seed(options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return a problem's options with the seed in the place of every `"{seed}"`."""
    return {name: seed if value == SEED_MARK else value for name, value in options.items()}


def _budgets(table: Mapping[str, int | float | tuple[int | float, ...]]) -> tuple[Allowance, ...]:
    budgets = []
    for kind, totals in table.items():
        if kind not in BudgetLimits.model_fields or kind == "target":
            known = ", ".join(name for name in BudgetLimits.model_fields if name != "target")
            raise OptionError(f"there is no budget in {kind!r}; there is {known}", ("budget", kind))
        for total in totals if isinstance(totals, tuple) else (totals,):
            check(BudgetLimits, {kind: total}, "the budget", noun="total")
            budgets.append(Allowance(kind, float(total)))
    if not budgets:
        raise OptionError("no budget is declared; write for example evaluations = 300 in [budget]", ("budget",))
    if len(set(budgets)) < len(budgets):
        raise OptionError("a budget is listed twice", ("budget",))
    return tuple(budgets)


def _refuse_shared(layer: Layer, who: str, keys: Mapping[str, Any], path: tuple[str | int, ...]) -> None:
    for key in keys:
        if key in SHARED_KEYS:
            raise UsageError(f"{layer.place((*path, key))}: {who} sets its own {key}; {SHARED_KEYS[key]}")


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two {what}s are called {name!r}; give each a `name` of its own")
        if not name.strip() or not name.isprintable():
            raise UsageError(f"{name!r} cannot name an {what}; expected printable text")


def _named(problems: Sequence[ProblemTable]) -> tuple[ProblemTable, ...]:
    named = []
    for problem in problems:
        alike = [other for other in problems if other.use == problem.use]
        options = ", ".join(f"{k}={v}" for k, v in problem.options.items() if v != SEED_MARK)
        name = f"{Path(problem.use).name} ({options})" if len(alike) > 1 and options else Path(problem.use).name
        named.append(problem.model_copy(update={"name": problem.name or name}))
    return tuple(named)


def _arm(table: ArmTable, common: Mapping[str, Any], folder: Path) -> Arm:
    settings = dict(common)
    for key, value in (table.model_extra or {}).items():
        old = settings.get(key)
        # Another component drops the options of the one before, as between the layers of a configuration.
        settings = {**settings, key: value} if _other(old, value) else overlay(settings, {key: value})
    if "plugins" in settings:
        names = settings["plugins"] if isinstance(settings["plugins"], list) else [settings["plugins"]]
        settings["plugins"] = [str((folder / n).resolve()) if str(n).endswith(".py") else n for n in names]
    if table.preset is not None:
        settings["preset"] = table.preset
    return Arm(table.name, settings, table.set)


def _other(old: Any, new: Any) -> bool:
    """Say whether two choices are of different components."""
    uses = [choice.get("use") if isinstance(choice, Mapping) else choice for choice in (old, new)]
    return None not in uses and uses[0] != uses[1]
