"""Calls everyone who listens to events; a listener that raises is named, logged and skipped from then on."""

import inspect
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType

import pluggy

from .events import Event
from .hooks import HOOKS, PROJECT, check_listener, hook_of
from .slots import Reporter

log = logging.getLogger(PROJECT)

EVENT_HOOKS = tuple(name for name in HOOKS if name != "register")


@dataclass(slots=True)
class _Source:
    """A plugin, reporter or function that listens."""

    name: str
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class _Listener:
    source: _Source
    call: Callable[[Event], object]


class EventSink:
    """Where a run's events go. Nothing that a listener does or raises reaches the run."""

    def __init__(self, plugins: Iterable[object] = ()) -> None:
        self._listeners: dict[str, list[_Listener]] = {name: [] for name in EVENT_HOOKS}
        for plugin in plugins:
            self.listen(plugin)

    def listen(self, listener: object, name: str | None = None) -> None:
        """Call the event hooks of a plugin or a reporter from now on.

        Of a module or another plugin those functions are taken that are marked `hookimpl`, of a `Reporter` all methods
        that are named like an event. Raises ComponentError for a coroutine or a generator: nobody would run it.
        """
        source = _Source(
            name or str(listener.__name__ if isinstance(listener, ModuleType) else type(listener).__qualname__)
        )
        manager = pluggy.PluginManager(PROJECT)
        for hook in EVENT_HOOKS:
            call = getattr(listener, hook, None)
            if callable(call) and (isinstance(listener, Reporter) or manager.parse_hookimpl_opts(listener, hook)):
                self._add(hook, source, call)

    def subscribe(self, call: Callable[[Event], object], name: str | None = None) -> None:
        """Call a function with every event from now on."""
        source = _Source(name or str(getattr(call, "__qualname__", repr(call))))
        for hook in EVENT_HOOKS:
            self._add(hook, source, call)

    def emit(self, event: Event) -> None:
        """Tell everyone who listens, in the order in which they came."""
        hook = hook_of(event)
        for listener in self._listeners[hook]:
            if listener.source.skipped:
                continue
            try:
                listener.call(event)
            except (Exception, SystemExit) as error:
                listener.source.skipped = True
                text = " ".join(f"{type(error).__name__}: {error}".split())
                log.warning("listener %s is skipped from here on: in %s, %s", listener.source.name, hook, text)
                log.debug("where it raised:", exc_info=True)

    def _add(self, hook: str, source: _Source, call: Callable[..., object]) -> None:
        check_listener(call, f"{source.name}.{hook}")
        # As in pluggy, a hook that does not care for its argument may leave it out.
        blind = isinstance(call, FunctionType | MethodType) and not inspect.signature(call).parameters
        self._listeners[hook].append(_Listener(source, (lambda event: call()) if blind else call))
