"""The hooks of speciate: one that registers components, and events in the past tense to listen to.

A plugin is a module, or any object, with functions marked `hookimpl`:

    from speciate.core.hooks import hookimpl

    @hookimpl
    def register(registry):
        registry.add("selector", "first", "my_module:First")

Hooks register or listen; nothing that is returned from one is read.
"""

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pluggy

from .errors import ComponentError

if TYPE_CHECKING:
    from .events import (
        CounterexampleFound,
        Event,
        HarnessCommitted,
        HarnessDropped,
        IndividualAdmitted,
        IslandsMigrated,
        OffspringProposed,
        OffspringRefused,
        PhaseEnded,
        PolicyUpdated,
        RecordBroken,
        RunEnded,
        RunStarted,
    )
    from .registry import Registry

PROJECT = "speciate"
"""The name of the entry-point group and of the pluggy project."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Hooks:
    """What a plugin may implement."""

    @hookspec
    def register(self, registry: "Registry") -> None:
        """Put named components into slots with `registry.add`. Return nothing.

        Called once, when the plugin is loaded and before any configuration is read. When it raises, whatever the plugin
        registered is taken back and the plugin is skipped.
        """

    @hookspec
    def run_started(self, event: "RunStarted") -> None:
        """Return nothing. Called once a session, after everything was opened and before the first ticket."""

    @hookspec
    def offspring_proposed(self, event: "OffspringProposed") -> None:
        """Return nothing. Called when an operator has answered; the order of tickets is not promised."""

    @hookspec
    def offspring_refused(self, event: "OffspringRefused") -> None:
        """Return nothing. Called in ticket order, after the refusal was written."""

    @hookspec
    def individual_admitted(self, event: "IndividualAdmitted") -> None:
        """Return nothing. Called in ticket order for every individual, kept or not, after it was written."""

    @hookspec
    def record_broken(self, event: "RecordBroken") -> None:
        """Return nothing. Called right after `individual_admitted` for an individual that is the best so far."""

    @hookspec
    def islands_migrated(self, event: "IslandsMigrated") -> None:
        """Return nothing. Called after individuals were copied between islands or an island was founded anew."""

    @hookspec
    def counterexample_found(self, event: "CounterexampleFound") -> None:
        """Return nothing. Called when the oracle rejects what the local evaluator accepted."""

    @hookspec
    def harness_committed(self, event: "HarnessCommitted") -> None:
        """Return nothing. Called at a phase boundary for each harness edit that passed its gate."""

    @hookspec
    def harness_dropped(self, event: "HarnessDropped") -> None:
        """Return nothing. Called at a phase boundary for each harness edit that did not pass its gate."""

    @hookspec
    def policy_updated(self, event: "PolicyUpdated") -> None:
        """Return nothing. Called at a phase boundary when the policy has a new version."""

    @hookspec
    def phase_ended(self, event: "PhaseEnded") -> None:
        """Return nothing. Called at a phase boundary, before anything is learned or committed at it."""

    @hookspec
    def run_ended(self, event: "RunEnded") -> None:
        """Return nothing. Called once a session, after everything was written; the last event there is."""


HOOKS = tuple(name for name in vars(Hooks) if not name.startswith("_"))
"""The names of all hooks."""


def hook_of(event: "Event") -> str:
    """Return the name of an event's hook: `run_started` for a `RunStarted`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()


def check_listener(call: Callable[..., object], name: str) -> None:
    """Raise ComponentError for a hook that would be called and never run: a coroutine or a generator."""
    if inspect.iscoroutinefunction(call) or inspect.isgeneratorfunction(call) or inspect.isasyncgenfunction(call):
        raise ComponentError(f"{name} is a coroutine or a generator; expected an ordinary function, nobody awaits it")
