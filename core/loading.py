"""Finds plugins, lets them register, and names the ones that cannot."""

import importlib
import importlib.metadata
import importlib.util
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy

from .errors import ComponentError, SpeciateError, UsageError, did_you_mean
from .hooks import HOOKS, PROJECT, Hooks, check_listener
from .registry import Owner, Registry

log = logging.getLogger(PROJECT)

_BUILTIN = f"{__package__.rpartition('.')[0]}.plugins.builtin"
"""The one module that is loaded by name: in a bare clone nothing is installed, so no entry point leads to it."""

_reported: set[str] = set()
"""What this process has already said of skipped plugins: once is enough, however many runs it makes."""


class Plugins:
    """The plugins of a process, with the registry they filled. `skipped` says why others were not loaded, by name."""

    def __init__(self, registry: Registry | None = None) -> None:
        self.registry = registry if registry is not None else Registry()
        self.skipped: dict[str, str] = {}
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(Hooks)

    @classmethod
    def installed(cls) -> "Plugins":
        """Load the built-in plugin, then whatever installed distributions offer in the entry-point group `speciate`.

        A plugin that raises while it is imported or registers is named in the log, once, and skipped.
        """
        plugins = cls()
        plugins.load(importlib.import_module(_BUILTIN), Owner(_BUILTIN, _distribution_of(PROJECT)))
        for point in _entry_points():
            owner = Owner(point.name, _text_of(point.dist))
            try:
                plugins.load(point.load(), owner)
            except Exception as error:  # noqa: BLE001 - a third party's own fault must not stop anybody's run
                plugins._skip(owner, error)
        return plugins

    def load(self, plugin: object, owner: Owner | None = None) -> None:
        """Let a module or an object with functions marked `hookimpl` register. Loading it again does nothing.

        Raises ComponentError when it has no such function or one that no hook is named after, and whatever the plugin
        raises; nothing of it stays registered then.
        """
        owner = owner or Owner(_name_of(plugin))
        if self._manager.is_registered(plugin):
            return
        try:
            self._manager.register(plugin, name=str(owner))
            self._check(plugin, owner)
            with self.registry.owned_by(owner):
                others = [other for other in self._manager.get_plugins() if other is not plugin]
                self._manager.subset_hook_caller("register", others)(registry=self.registry)
        except BaseException as error:
            if self._manager.is_registered(plugin):
                self._manager.unregister(plugin)
            if isinstance(error, pluggy.PluginValidationError):
                raise ComponentError(f"plugin {owner}: {' '.join(str(error).split())}") from None
            raise

    def load_named(self, name: str) -> None:
        """Load a plugin that a configuration names: a module (`my_module`) or the path of a file (`./my_plugin.py`).

        Raises UsageError when it cannot be found and ComponentError when it cannot be loaded: it was asked for.
        """
        try:
            self.load(_file_module(Path(name)) if name.endswith(".py") else _module(name), Owner(name))
        except SpeciateError:
            raise
        except Exception as error:  # the plugin's own fault, told with its name
            text = " ".join(f"{type(error).__name__}: {error}".split())
            raise ComponentError(f"plugin {name!r} cannot be loaded: {text}") from error

    def listeners(self) -> tuple[object, ...]:
        """Return the loaded plugins, in order of loading; an event sink asks each for its event hooks."""
        return tuple(plugin for _, plugin in self._manager.list_name_plugin() if plugin is not None)

    def _check(self, plugin: object, owner: Owner) -> None:
        callers = self._manager.get_hookcallers(plugin) or []
        if not callers:
            raise ComponentError(
                f"plugin {owner} hooks into nothing; mark its functions with speciate.core.hooks.hookimpl"
            )
        for caller in callers:
            if not caller.has_spec():
                raise ComponentError(f"plugin {owner}: no hook named {caller.name!r}{did_you_mean(caller.name, HOOKS)}")
            check_listener(getattr(plugin, caller.name), f"plugin {owner}: {caller.name}")

    def _skip(self, owner: Owner, error: Exception) -> None:
        reason = " ".join(
            (str(error) if isinstance(error, SpeciateError) else f"{type(error).__name__}: {error}").split()
        )
        self.skipped[str(owner)] = reason
        if str(owner) not in _reported:
            _reported.add(str(owner))
            log.warning("plugin %s is skipped: %s", owner, reason)


def _entry_points() -> Iterator[importlib.metadata.EntryPoint]:
    """Yield each entry point of the group once; the built-in one is loaded already."""
    seen = {_BUILTIN}
    for point in importlib.metadata.entry_points(group=PROJECT):
        if point.value not in seen:
            seen.add(point.value)
            yield point


def _text_of(distribution: Any) -> str | None:
    return None if distribution is None else f"{distribution.name} {distribution.version}"


def _distribution_of(name: str) -> str | None:
    try:
        return _text_of(importlib.metadata.distribution(name))
    except importlib.metadata.PackageNotFoundError:
        return None


def _name_of(plugin: object) -> str:
    return plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__qualname__


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        file = Path(*name.split(".")).with_suffix(".py")
        hint = f"write its path, './{file}'" if file.is_file() else "install it, or write the path of its .py file"
        raise UsageError(f"plugin {name!r} cannot be imported: there is no such module here; {hint}") from None


def _file_module(path: Path) -> ModuleType:
    path = path.expanduser().resolve()
    if not path.is_file():
        raise UsageError(f"there is no plugin at {path}; expected a Python file")
    # Not the bare stem: a plugin called random.py must not become anybody's `random`.
    name = f"speciate_plugin_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
