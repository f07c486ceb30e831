"""Calls everyone who listens to events; a listener that raises is named, logged and skipped from then on."""

import inspect
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType

import pluggy

from .events import Event
from .hooks import HOOKS, PROJECT, check_listener, hook_of
from .slots import Reporter

log = logging.getLogger(PROJECT)

EVENT_HOOKS = tuple(name for name in HOOKS if name != "register")


@dataclass(frozen=True, slots=True)
class _Listener:
    name: str
    call: Callable[[Event], object]


class EventSink:
    """Where a run's events go. Nothing that a listener does or raises reaches the run."""

    def __init__(self, plugins: Iterable[object] = ()) -> None:
        self._listeners: dict[str, list[_Listener]] = {name: [] for name in EVENT_HOOKS}
        self._skipped: set[str] = set()
        for plugin in plugins:
            self.listen(plugin)

    def listen(self, listener: object, name: str | None = None) -> None:
        """Call the event hooks of a plugin or a reporter from now on.

        Of a module or another plugin those functions are taken that are marked `hookimpl`, of a `Reporter` all methods
        that are named like an event. Raises ComponentError for a coroutine or a generator: nobody would run it.
        """
        label = name or str(listener.__name__ if isinstance(listener, ModuleType) else type(listener).__qualname__)
        manager = pluggy.PluginManager(PROJECT)
        for hook in EVENT_HOOKS:
            call = getattr(listener, hook, None)
            if callable(call) and (isinstance(listener, Reporter) or manager.parse_hookimpl_opts(listener, hook)):
                self._add(hook, label, call)

    def subscribe(self, call: Callable[[Event], object], name: str | None = None) -> None:
        """Call a function with every event from now on."""
        for hook in EVENT_HOOKS:
            self._add(hook, name or str(getattr(call, "__qualname__", repr(call))), call)

    def emit(self, event: Event) -> None:
        """Tell everyone who listens, in the order in which they came."""
        hook = hook_of(event)
        for listener in self._listeners[hook]:
            if listener.name in self._skipped:
                continue
            try:
                listener.call(event)
            except (Exception, SystemExit):  # whatever a listener does, the run goes on; its fault is logged whole
                self._skipped.add(listener.name)
                log.exception("listener %s raised in %s and is skipped from here on", listener.name, hook)

    def _add(self, hook: str, name: str, call: Callable[..., object]) -> None:
        check_listener(call, f"{name}.{hook}")
        silent = not inspect.signature(call).parameters
        self._listeners[hook].append(_Listener(name, (lambda event: call()) if silent else call))
