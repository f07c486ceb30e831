"""The registry: named components in slots, made from checked options."""

import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

from .component import Component, ComponentOptions
from .errors import ComponentError, SpeciateError, UsageError, did_you_mean
from .options import OptionInfo, check, option_infos
from .sandbox import Sandbox
from .slots import (
    Archive,
    Comparison,
    Embedder,
    Executor,
    Inspirations,
    Migration,
    Novelty,
    Operator,
    Policy,
    Reporter,
    Selector,
    Topology,
)
from .summaries import docstring, path_docstring

SLOTS: Mapping[str, type[Component]] = {
    "operator": Operator,
    "policy": Policy,
    "selector": Selector,
    "inspirations": Inspirations,
    "embedder": Embedder,
    "novelty": Novelty,
    "archive": Archive,
    "topology": Topology,
    "migration": Migration,
    "sandbox": Sandbox,
    "executor": Executor,
    "reporter": Reporter,
    "comparison": Comparison,
}
"""The slots whose components are classes. A new slot is one more line."""

PATH_SLOTS: Mapping[str, str] = {"problem": "a folder with a problem.toml", "preset": "a TOML file"}
"""The slots whose components are paths, with what lies there."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_LAZY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")

C = TypeVar("C", bound=Component)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who registered a component: the plugin, and the distribution it came with, if it was installed."""

    plugin: str
    distribution: str | None = None

    def __str__(self) -> str:
        return self.plugin if self.distribution is None else f"{self.plugin} of {self.distribution}"


CALLER = Owner("the calling program")


@dataclass(frozen=True, slots=True)
class Entry:
    """One registration. `target` is a class, a lazy `module:Class`, or a path; `extra` is what it needs installed."""

    slot: str
    name: str
    target: type[Component] | str | Path
    owner: Owner
    extra: str | None = None

    def __str__(self) -> str:
        return f"{self.slot} {self.name!r}"


@dataclass(frozen=True, slots=True)
class ComponentInfo:
    """What `speciate plugins show` tells of a component. `where` is its class or its path."""

    slot: str
    name: str
    summary: str
    doc: str
    options: tuple[OptionInfo, ...]
    owner: Owner
    where: str


class Registry:
    """Components by slot and name. What is not in a slot cannot be chosen."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, Entry]] = {slot: {} for slot in (*SLOTS, *PATH_SLOTS)}
        self._owner = CALLER

    def slots(self) -> tuple[str, ...]:
        """Return the names of all slots."""
        return tuple(self._entries)

    def names(self, slot: str) -> tuple[str, ...]:
        """Return the names in a slot, in order of registration. Raises UsageError for an unknown slot."""
        return tuple(self._slot(slot))

    def add(self, slot: str, name: str, target: type[Component] | str | Path, *, extra: str | None = None) -> None:
        """Register a component under a name.

        `target` is a class that subclasses the slot's ABC, or `"module:Class"`, which is imported on first use; in the
        slots `problem` and `preset` it is a path. `extra` is the extra of the plugin's distribution without which the
        component cannot be imported. Raises UsageError for an unknown slot and ComponentError when the name is taken
        or the target does not fit.
        """
        entries = self._slot(slot)
        entry = Entry(
            slot, name, Path(target) if slot in PATH_SLOTS and isinstance(target, str) else target, self._owner, extra
        )
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ComponentError(f"{name!r} cannot name a {slot}; expected letters, digits, '-', '_' and '.'")
        if name in entries:
            raise ComponentError(
                f"{entry} is registered twice, by {entries[name].owner} and by {self._owner}; rename one of them"
            )
        _check_target(entry)
        entries[name] = entry

    def entry(self, slot: str, name: str) -> Entry:
        """Return a registration. Raises UsageError, naming the nearest, when there is none."""
        entries = self._slot(slot)
        if name not in entries:
            elsewhere = [other for other in self._entries if name in self._entries[other]]
            hint = f"; there is a {elsewhere[0]} of that name" if elsewhere else did_you_mean(name, entries)
            raise UsageError(f"no {slot} named {name!r}{hint}")
        return entries[name]

    def path(self, slot: str, name: str) -> Path:
        """Return where a problem or a preset lies. Raises UsageError for an unknown name."""
        target = self.entry(slot, name).target
        if not isinstance(target, Path):
            raise UsageError(f"a {slot} is a class, not a path")
        return target

    @overload
    def component(self, slot: type[C], name: str) -> type[C]: ...
    @overload
    def component(self, slot: str, name: str) -> type[Component]: ...
    def component(self, slot: str | type[Component], name: str) -> type[Component]:
        """Return the class of a component, imported if it was registered lazily.

        Raises UsageError for an unknown name or a missing extra, ComponentError when the class is not what it must be.
        """
        return _loaded(self.entry(_slot_name(slot), name))

    def options(self, slot: str | type[Component], choice: str | Mapping[str, Any]) -> ComponentOptions:
        """Return the checked options of a choice, defaults filled in. Raises UsageError."""
        slot = _slot_name(slot)
        use, values = split(slot, choice)
        model = self.component(slot, use).Options
        return check(model, values, f"{slot} {use!r}", owner=lambda option: self._owner_of(slot, option))

    @overload
    def make(self, slot: type[C], choice: str | Mapping[str, Any]) -> C: ...
    @overload
    def make(self, slot: str, choice: str | Mapping[str, Any]) -> Component: ...
    def make(self, slot: str | type[Component], choice: str | Mapping[str, Any]) -> Component:
        """Return a new instance of the chosen component: `make(Selector, {"use": "shinka", "alpha": 2.0})`.

        Raises UsageError when the name or an option is wrong, ComponentError when the class cannot be instantiated.
        """
        slot = _slot_name(slot)
        entry = self.entry(slot, split(slot, choice)[0])
        made, options = _loaded(entry), self.options(slot, choice)
        if inspect.isabstract(made):
            missing = ", ".join(sorted(made.__abstractmethods__))
            raise ComponentError(f"{entry} (from {entry.owner}) does not define {missing}")
        try:
            return made(options)
        except SpeciateError:
            raise
        except Exception as error:  # a plugin's own fault, told with its name
            raise ComponentError(f"{entry} (from {entry.owner}) cannot be made: {_one_line(error)}") from error

    def summary(self, slot: str, name: str) -> str:
        """Return the first sentence of a component's docstring, without importing what was registered lazily."""
        text = " ".join(_doc(self.entry(slot, name)).partition("\n\n")[0].split())
        return text.partition(". ")[0].removesuffix(".") + "." if text else ""

    def describe(self, slot: str, name: str) -> ComponentInfo:
        """Return all there is to say of a component. Raises UsageError for an unknown name or a missing extra."""
        entry = self.entry(slot, name)
        if isinstance(entry.target, Path):
            options: tuple[OptionInfo, ...] = ()
            where = str(entry.target)
        else:
            made = _loaded(entry)
            options, where = option_infos(made.Options), f"{made.__module__}:{made.__qualname__}"
        return ComponentInfo(slot, name, self.summary(slot, name), _doc(entry), options, entry.owner, where)

    @contextmanager
    def owned_by(self, owner: Owner) -> Iterator[None]:
        """Note `owner` as the one who registers; whatever it registered is taken back when the block raises."""
        before, entries = self._owner, {slot: dict(names) for slot, names in self._entries.items()}
        self._owner = owner
        try:
            yield
        except BaseException:
            self._entries = entries
            raise
        finally:
            self._owner = before

    def _slot(self, slot: str) -> dict[str, Entry]:
        if slot not in self._entries:
            raise UsageError(f"no slot named {slot!r}{did_you_mean(str(slot), self._entries)}")
        return self._entries[slot]

    def _owner_of(self, slot: str, option: str) -> str | None:
        """Name a component of the slot that has the option; those that cannot be imported here are passed over."""
        for entry in self._slot(slot).values():
            try:
                if option in _loaded(entry).Options.model_fields:
                    return str(entry)
            except SpeciateError:
                continue
        return None


def split(slot: str, choice: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return name and options of a choice: the shorthand `"shinka"` or a table with `use`. Raises UsageError."""
    if isinstance(choice, str):
        return choice, {}
    if not isinstance(choice, Mapping):
        raise UsageError(f"{slot} is {choice!r}; expected a name, or a table with `use` and options")
    use = choice.get("use")
    if not isinstance(use, str):
        found = "no `use`" if use is None else f"`use` = {use!r}"
        raise UsageError(f"the table of the {slot} has {found}; expected the name of a component, as text")
    return use, {name: value for name, value in choice.items() if name != "use"}


def _slot_name(slot: str | type[Component]) -> str:
    if isinstance(slot, str):
        return slot
    for name, base in SLOTS.items():
        if base is slot:
            return name
    raise UsageError(f"{slot.__name__} is the ABC of no slot; there is {', '.join(SLOTS)}")


def _check_target(entry: Entry) -> None:
    target = entry.target
    if entry.slot in PATH_SLOTS:
        if not isinstance(target, Path):
            raise ComponentError(f"{entry} is {target!r}; expected the path of {PATH_SLOTS[entry.slot]}")
    elif isinstance(target, str):
        if not _LAZY.fullmatch(target):
            raise ComponentError(f"{entry} is {target!r}; expected a class or 'module:Class'")
    else:
        _check_class(entry, target)


def _check_class(entry: Entry, found: object) -> type[Component]:
    base = SLOTS[entry.slot]
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ComponentError(f"{entry} (from {entry.owner}) is {found!r}; expected a subclass of {base.__name__}")
    options = found.Options
    if not (isinstance(options, type) and issubclass(options, ComponentOptions)):
        raise ComponentError(f"{entry} (from {entry.owner}): its Options must subclass ComponentOptions")
    return found


def _loaded(entry: Entry) -> type[Component]:
    target = entry.target
    if isinstance(target, Path):
        raise UsageError(f"a {entry.slot} is a path, not a class")
    if isinstance(target, type):
        return target
    module, _, name = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if entry.extra is None or missing == module or module.startswith(f"{missing}."):
            raise ComponentError(
                f"{entry} (from {entry.owner}) needs the module {missing!r}, which is not there"
            ) from None
        distribution = (entry.owner.distribution or "speciate").partition(" ")[0]
        raise UsageError(
            f"{entry} needs the extra {entry.extra!r} ({missing} is not installed): "
            f"pip install '{distribution}[{entry.extra}]'"
        ) from None
    except Exception as error:  # a plugin's own fault, told with its name
        raise ComponentError(f"{entry} (from {entry.owner}) cannot be imported: {_one_line(error)}") from error
    return _check_class(entry, found)


def _doc(entry: Entry) -> str:
    if isinstance(entry.target, Path):
        return path_docstring(entry.target)
    read = docstring(entry.target) if isinstance(entry.target, str) else None
    if read is not None:
        return read
    try:
        # Not inspect.getdoc: a class without a docstring would show its ABC's.
        return inspect.cleandoc(_loaded(entry).__doc__ or "")
    except SpeciateError:  # a list of components is no place to fail because one needs an extra
        return ""


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
