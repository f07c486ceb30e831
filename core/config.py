"""The configuration of a run: what it is made of, resolved from defaults, preset, file and command line.

Options live with the components; here stand only the few keys that belong to no component.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field

from .config_islands import IslandParts, Part, check_islands, island_choices, merged_part
from .config_sources import Keys, Layer, command_layer, file_layer, overlay, text_layer
from .errors import UsageError, did_you_mean
from .loading import Plugins
from .options import NONE, OptionError, check, plain
from .registry import SLOTS, Registry, split

DEFAULT_PRESET = "default"
"""The preset that lies under every configuration."""


class _Table(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class BudgetLimits(_Table):
    """Totals over all sessions of a run; None is no limit of that kind."""

    evaluations: int | None = Field(default=None, ge=1)
    """Executions of a new program on its input, seeds included."""
    seconds: float | None = Field(default=None, gt=0)
    """Wall clock."""
    proposals: int | None = Field(default=None, ge=1)
    """Answers of operators, refused ones included; without it the cap is 20 × `evaluations`."""
    target: float | None = None
    """The run ends when the score is at least as good; compared with the oracle's score where there is an oracle."""


class IslandsTable(_Table):
    """The island model."""

    count: int = Field(default=1, ge=1)
    """How many islands there are."""
    comparison: Literal["island", "global"] = "island"
    """Where a proposal must be new: on its island, or everywhere."""
    drift: int = Field(default=2, ge=0)
    """Steps in a row without a gain that a lineage of improvers may take before it is left out of the archive."""


class RunConfig(_Table):
    """Everything a run is made of. Every option stands in it, the defaults too."""

    seed: int = Field(default=0, ge=0)
    """All randomness of the run derives from it."""
    workers: int = Field(default=0, ge=0)
    """How many evaluations run at once; 0 is as many as there are cores. The result does not depend on it."""
    lag: int | None = Field(default=None, ge=1)
    """How many tickets are in flight; without it the policy's concurrency, or 4 when there is no policy."""
    preset: str | None = None
    """The preset that lies between the defaults and this configuration."""
    plugins: tuple[str, ...] = ()
    """Further plugins: names of modules or paths of Python files."""
    budget: BudgetLimits = BudgetLimits()
    islands: IslandsTable = IslandsTable()
    problem: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the problem, which checks them."""
    operator: tuple[Part, ...]
    policy: Part | None = None
    selector: Part
    inspirations: Part
    embedder: Part
    novelty: Part
    archive: Part
    topology: Part
    migration: Part
    sandbox: Part
    executor: Part
    reporter: Part | None = None
    island: tuple[IslandParts, ...] = ()
    """What each island has of its own, one table for each; without any, all islands are alike."""


PART_SLOTS = tuple(slot for slot in SLOTS if slot in RunConfig.model_fields and slot != "operator")
"""The slots that a configuration fills with exactly one component or none."""


def resolve(
    plugins: Plugins,
    *,
    preset: str | None = None,
    file: str | Path | None = None,
    settings: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
    suited: Layer | None = None,
) -> RunConfig:
    """Return the configuration that the layers make; later ones win.

    They are the defaults, `suited` (what a problem says suits it), the preset, the file, `settings` and `flags`.

    `settings` are texts `a.b=c`; `flags` are values by key (`{"budget": {"evaluations": 200}}`), None where not given.
    Plugins that a layer names are loaded into `plugins`. Naming another component in a layer drops the options that
    the layers below gave to the one before. A default budget holds only when no layer above sets a limit.

    Raises UsageError, beginning with the place, for whatever is wrong.
    """
    above = [_opened(plugins, command_layer(settings, flags or {}), Path())]
    if file is not None:
        above.insert(0, _opened(plugins, file_layer(Path(file)), Path(file).parent))
    preset = preset or _last(above, "preset")
    if not isinstance(preset, str | None):
        raise UsageError(f"preset is {preset!r}; expected a name, as text")
    presets = [_preset(plugins.registry, preset)] if preset is not None else []
    layers = [*([suited] if suited is not None else []), *presets, *above]
    if DEFAULT_PRESET in plugins.registry.names("preset"):
        layers.insert(0, _default(plugins.registry, bounded=any(map(_bounds, layers))))
    merged = _Merged(plugins.registry)
    for layer in layers:
        merged.add(layer)
    merged.values["preset"] = preset
    return merged.checked()


def to_toml(config: RunConfig) -> str:
    """Return a configuration as TOML, with every default written out and None as `"none"`; `restore` reads it."""
    return tomli_w.dumps(plain(config))


def restore(plugins: Plugins, text: str, label: str) -> RunConfig:
    """Return the configuration that `to_toml` wrote, exactly: no layer lies under it.

    The plugins it names are loaded into `plugins`. `label` is what an error calls the text. Raises UsageError when it
    does not fit this version or these plugins.
    """
    merged = _Merged(plugins.registry)
    merged.add(_opened(plugins, text_layer(text, label), Path()))
    return merged.checked()


class _Merged:
    """Layers laid over one another, remembering which one a value came from."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.values: dict[str, Any] = {}
        self._origins: dict[Keys, Layer] = {}

    def add(self, layer: Layer) -> None:
        for key, value in layer.values.items():
            try:
                merged = self._merge(key, value)
            except UsageError as error:
                raise UsageError(f"{layer.place((key,))}: {error}") from None
            self.values[key] = merged
            self._note(layer, (key,), value)

    def checked(self) -> RunConfig:
        values = dict(self.values)
        for slot in PART_SLOTS:
            if values.get(slot) is not None:
                values[slot] = self._part(slot, values[slot], (slot,))
            elif RunConfig.model_fields[slot].is_required():
                hint = did_you_mean("", self.registry.names(slot)).removeprefix("; ")
                raise self._placed(UsageError(f"no {slot} is chosen, and a run needs one; {hint}"), (slot,))
        if values.get("operator"):
            values["operator"] = self._operators_checked(values["operator"], ())
        else:
            hint = did_you_mean("", self.registry.names("operator")).removeprefix("; ")
            raise self._placed(UsageError(f"no operator is chosen, and a run needs one; {hint}"), ("operator",))
        self._fill_islands(values)
        try:
            return check(RunConfig, values, "the configuration", noun="key")
        except OptionError as error:
            raise self._placed(error, error.path) from None

    def _merge(self, key: str, value: Any) -> Any:
        old = self.values.get(key)
        if key == "operator":
            return self._operators(old, value)
        if key in PART_SLOTS:
            if value is None or (value == NONE and NONE not in self.registry.names(key)):
                return None
            return merged_part(key, old, value)
        if key == "problem" and isinstance(value, Mapping):
            value = {name: option for name, option in value.items() if option is not None}
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            return overlay(dict(old), value)
        return value

    def _operators(self, old: list[Part] | None, value: Any) -> list[Part]:
        """A list replaces the list; a single table changes the one operator there is, or becomes the only one."""
        if isinstance(value, str | Mapping):
            return [merged_part("operator", old[0] if old and len(old) == 1 else None, value)]
        if not isinstance(value, Sequence):
            raise UsageError(f"operator is {value!r}; expected a name, a table or a list of tables")
        return [merged_part("operator", None, part) for part in value]

    def _fill_islands(self, values: dict[str, Any]) -> None:
        """Write out what each island has, and count the islands where nobody said how many there are."""
        tables, islands = values.get("island", ()), values.get("islands", {})
        count = islands.get("count") if isinstance(islands, Mapping) else None
        try:
            check_islands(tables, count)
        except OptionError as error:
            raise self._placed(error, error.path) from None
        if tables:
            values["islands"] = {**islands, "count": len(tables)} if isinstance(islands, Mapping) else islands
            values["island"] = [self._island(table, i, values) for i, table in enumerate(tables)]

    def _island(self, table: Mapping[str, Any], index: int, values: Mapping[str, Any]) -> dict[str, Any]:
        keys = ("island", index)
        try:
            choices = island_choices(table, values)
        except UsageError as error:
            raise self._placed(error, keys) from None
        if not choices["operator"]:
            message = "an island's list of operators is empty; name one, or leave the list out"
            raise self._placed(UsageError(message), keys)
        operators = self._operators_checked(choices.pop("operator"), keys)
        return {slot: self._part(slot, part, (*keys, slot)) for slot, part in choices.items()} | {"operator": operators}

    def _part(self, slot: str, part: Part, keys: Keys) -> Part:
        try:
            options = self.registry.options(slot, part)
        except OptionError as error:
            raise self._placed(error, (*keys, *error.path)) from None
        except UsageError as error:
            raise self._placed(error, (*keys, "use")) from None
        return {"use": split(slot, part)[0], **plain(options)}

    def _operators_checked(self, parts: Sequence[Part], above: Keys) -> list[Part]:
        checked: list[Part] = []
        for index, part in enumerate(parts):
            keys = (*above, "operator", index)
            checked.append(self._operator(part, keys))
            if any(part["use"] == other["use"] for other in checked[:-1]):
                message = f"the operator {part['use']!r} is listed twice; list it once, with the weight of both"
                raise self._placed(UsageError(message), keys)
        return checked

    def _operator(self, part: Part, keys: Keys) -> Part:
        try:
            weight = check(_Weight, {"weight": part.get("weight", 1.0)}, f"operator {part['use']!r}").weight
        except OptionError as error:
            raise self._placed(error, (*keys, *error.path)) from None
        checked = self._part("operator", {name: value for name, value in part.items() if name != "weight"}, keys)
        return {"use": checked["use"], "weight": weight, **checked}

    def _note(self, layer: Layer, keys: Keys, value: Any) -> None:
        self._origins[keys] = layer
        items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        for key, item in items:
            self._note(layer, (*keys, key), item)

    def _placed(self, error: UsageError, keys: Keys) -> UsageError:
        """Begin an error with the place of the value it is about."""
        for length in range(len(keys), 0, -1):
            layer = self._origins.get(keys[:length])
            if layer is not None:
                return UsageError(f"{layer.place(keys)}: {error}")
        return error


class _Weight(_Table):
    weight: float = Field(default=1.0, gt=0)


def _check_keys(layer: Layer) -> None:
    for key in layer.values:
        if key in RunConfig.model_fields:
            continue
        owners: dict[str, type[_Table]] = {"budget": BudgetLimits, "islands": IslandsTable}
        owner = next((table for table, model in owners.items() if key in model.model_fields), None)
        hint = f"; write it in the table [{owner}]" if owner else did_you_mean(key, RunConfig.model_fields)
        raise UsageError(f"{layer.place((key,))}: there is no key {key!r}{hint}")


def _opened(plugins: Plugins, layer: Layer, folder: Path) -> Layer:
    """Check the keys of a layer and load the plugins it names; their paths are relative to `folder`."""
    _check_keys(layer)
    names = layer.values.get("plugins")
    if names is None:
        return layer
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{layer.place(('plugins',))}: plugins is {names!r}; expected a list of modules and paths")
    # Absolute, because what is stored must mean the same wherever the run goes on.
    names = [str((folder / name).expanduser().resolve()) if name.endswith(".py") else name for name in names]
    for name in names:
        try:
            plugins.load_named(name)
        except UsageError as error:
            raise UsageError(f"{layer.place(('plugins',))}: {error}") from None
    return Layer({**layer.values, "plugins": names}, layer.place)


def _preset(registry: Registry, name: str) -> Layer:
    path = registry.path("preset", name)
    layer = file_layer(path, f"preset {name!r} ({path.name})")
    _check_keys(layer)
    for key in ("preset", "plugins"):
        if key in layer.values:
            raise UsageError(f"{layer.place((key,))}: a preset cannot set {key!r}")
    return layer


def _default(registry: Registry, *, bounded: bool) -> Layer:
    layer = _preset(registry, DEFAULT_PRESET)
    if not bounded:
        return layer
    return Layer({key: value for key, value in layer.values.items() if key != "budget"}, layer.place)


def _bounds(layer: Layer) -> bool:
    budget = layer.values.get("budget")
    return isinstance(budget, Mapping) and any(
        budget.get(k) is not None for k in ("evaluations", "seconds", "proposals")
    )


def _last(layers: Sequence[Layer], key: str) -> Any:
    found = next((layer.values[key] for layer in reversed(layers) if key in layer.values), None)
    return None if found == NONE else found
