"""Plugins: what is loaded, what is refused, and who listens."""

import importlib.metadata
import inspect
import logging
import typing
from pathlib import Path

import pytest
from speciate.core import events
from speciate.core.errors import ComponentError, SpeciateError, UsageError
from speciate.core.events import Event, PhaseEnded, RunEnded
from speciate.core.hooks import HOOKS, Hooks, hook_of, hookimpl
from speciate.core.loading import Plugins
from speciate.core.registry import Owner, Registry
from speciate.core.sink import EVENT_HOOKS, EventSink
from speciate.core.slots import Reporter

ENDED = RunEnded("budget", "the budget is spent", None, 3, 4, {}, 1.5)
PHASE = PhaseEnded(0, 3, 3)

PLUGIN = """
from speciate.core.hooks import hookimpl
from speciate.core.slots import Selector

class Mine(Selector):
    "Draws nobody."
    def select(self, view, rng):
        return -1

@hookimpl
def register(registry):
    registry.add("selector", NAME, Mine)
    {then}
"""


class Listener:
    def __init__(self) -> None:
        self.heard: list[Event] = []

    @hookimpl
    def run_ended(self, event: RunEnded) -> None:
        self.heard.append(event)

    def phase_ended(self, event: PhaseEnded) -> None:
        raise AssertionError("not marked as a hook")


class Fragile:
    def __init__(self) -> None:
        self.calls = 0

    @hookimpl
    def run_ended(self, event: RunEnded) -> None:
        self.calls += 1
        raise ValueError("no\nluck")


def write_plugin(folder: Path, module: str, name: str, then: str = "") -> Path:
    path = folder / f"{module}.py"
    path.write_text(PLUGIN.replace("NAME", repr(name)).replace("{then}", then), "utf-8")
    return path


def test_every_event_has_a_hook_and_every_hook_an_event() -> None:
    assert {name for name in HOOKS if name != "register"} == set(EVENT_HOOKS)
    classes = typing.get_args(events.Event)
    assert {hook_of(object.__new__(cls)) for cls in classes} == set(EVENT_HOOKS)


def test_every_hook_takes_one_typed_argument_and_says_when_it_is_called() -> None:
    for name in EVENT_HOOKS:
        function = getattr(Hooks, name)
        assert list(inspect.signature(function).parameters) == ["self", "event"]
        wanted = function.__annotations__["event"].strip('"')
        assert hook_of(object.__new__(getattr(events, wanted))) == name
        assert "Called" in (function.__doc__ or "")


def test_events_cannot_be_changed_by_a_listener() -> None:
    with pytest.raises(AttributeError):
        ENDED.reason = "mine"  # type: ignore[misc]


def test_a_plugin_that_is_marked_is_told_and_one_that_is_not_is_not() -> None:
    listener = Listener()
    sink = EventSink([listener])
    sink.emit(PHASE)
    sink.emit(ENDED)
    assert listener.heard == [ENDED]


def test_a_listener_that_raises_is_named_once_and_skipped_from_then_on(caplog: pytest.LogCaptureFixture) -> None:
    fragile, listener = Fragile(), Listener()
    sink = EventSink([fragile, listener])
    with caplog.at_level(logging.WARNING):
        sink.emit(ENDED)
        sink.emit(ENDED)
    assert fragile.calls == 1
    assert len(listener.heard) == 2
    assert [record.getMessage() for record in caplog.records] == [
        "listener Fragile is skipped from here on: in run_ended, ValueError: no luck"
    ]


def test_a_listener_that_calls_exit_does_not_end_the_run() -> None:
    def leave(event: Event) -> None:
        raise SystemExit(3)

    sink, listener = EventSink(), Listener()
    sink.subscribe(leave)
    sink.listen(listener)
    sink.emit(ENDED)
    assert listener.heard == [ENDED]


def test_an_interrupt_while_a_listener_runs_is_an_interrupt() -> None:
    def interrupted(event: Event) -> None:
        raise KeyboardInterrupt

    sink = EventSink()
    sink.subscribe(interrupted)
    with pytest.raises(KeyboardInterrupt):
        sink.emit(ENDED)


def test_a_subscriber_is_told_everything_in_order() -> None:
    heard: list[Event] = []
    sink = EventSink()
    sink.subscribe(heard.append)
    sink.emit(PHASE)
    sink.emit(ENDED)
    assert heard == [PHASE, ENDED]


def test_a_reporter_needs_no_marks() -> None:
    class Short(Reporter):
        """Notes how runs end."""

        heard: tuple[Event, ...] = ()

        def run_ended(self, event: RunEnded) -> None:
            self.heard = (*self.heard, event)

    reporter = Short()
    sink = EventSink()
    sink.listen(reporter)
    sink.emit(PHASE)
    sink.emit(ENDED)
    assert reporter.heard == (ENDED,)


def test_a_hook_may_leave_out_its_argument() -> None:
    class Counter:
        count = 0

        @hookimpl
        def run_ended(self) -> None:
            self.count += 1

    counter = Counter()
    EventSink([counter]).emit(ENDED)
    assert counter.count == 1


def test_a_listener_that_nobody_would_await_is_refused() -> None:
    class Sleepy:
        @hookimpl
        async def run_ended(self, event: RunEnded) -> None: ...

    with pytest.raises(ComponentError, match="expected an ordinary function"):
        EventSink([Sleepy()])
    with pytest.raises(ComponentError, match="expected an ordinary function"):
        Plugins().load(Sleepy())


def test_a_misspelt_hook_is_answered_with_the_nearest() -> None:
    class Misspelt:
        @hookimpl
        def individual_admited(self, event: Event) -> None: ...

    with pytest.raises(ComponentError, match="no hook named 'individual_admited'; did you mean 'individual_admitted'"):
        Plugins().load(Misspelt())


def test_a_hook_with_another_argument_is_refused() -> None:
    class Greedy:
        @hookimpl
        def run_ended(self, event: RunEnded, engine: object) -> None: ...

    plugins = Plugins()
    with pytest.raises(ComponentError, match="engine"):
        plugins.load(Greedy())
    assert plugins.listeners() == ()


def test_a_plugin_that_hooks_into_nothing_is_told_how() -> None:
    class Idle: ...

    with pytest.raises(ComponentError, match="mark its functions with speciate"):
        Plugins().load(Idle())


def test_the_builtin_components_come_through_the_same_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    from speciate.plugins import builtin

    plain = Registry()
    builtin.register(plain)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: ())  # as in a bare clone
    loaded = Plugins.installed()
    for slot in plain.slots():
        assert loaded.registry.names(slot) == plain.names(slot)
    assert loaded.registry.entry("preset", "default").owner.plugin == builtin.__name__


def entry_points(*values: tuple[str, str]) -> object:
    points = [importlib.metadata.EntryPoint(name, value, "speciate") for name, value in values]
    return lambda group: [point for point in points if point.group == group]


def test_an_installed_plugin_is_loaded_from_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_plugin(tmp_path, "third_party_a", "theirs")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points(("theirs", "third_party_a")))
    plugins = Plugins.installed()
    assert "theirs" in plugins.registry.names("selector")
    assert plugins.registry.entry("selector", "theirs").owner == Owner("theirs")
    assert plugins.skipped == {}


@pytest.mark.parametrize(
    ("module", "then", "told"),
    [
        ("third_party_b", "raise OSError('no\\nluck')", "OSError: no luck"),
        ("third_party_c", "registry.add('preset', 'default', 'x.toml')", "preset 'default' is registered twice"),
        ("third_party_absent", None, "ModuleNotFoundError"),
    ],
)
def test_an_installed_plugin_that_raises_is_named_once_and_skipped(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    module: str,
    then: str | None,
    told: str,
) -> None:
    if then is not None:
        write_plugin(tmp_path, module, "theirs", then)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points((f"bad-{module}", module)))
    with caplog.at_level(logging.WARNING):
        plugins = Plugins.installed()
        Plugins.installed()
    assert "theirs" not in plugins.registry.names("selector")
    assert told in plugins.skipped[f"bad-{module}"]
    assert len([record for record in caplog.records if f"bad-{module} is skipped" in record.getMessage()]) == 1


def test_a_plugin_may_be_named_by_the_path_of_its_file(tmp_path: Path) -> None:
    path = write_plugin(tmp_path, "random", "by-path")
    plugins = Plugins()
    plugins.load_named(str(path))
    plugins.load_named(str(path))
    assert plugins.registry.names("selector") == ("by-path",)
    import random

    assert random.__file__ != str(path)


def test_a_plugin_named_by_a_run_must_load(tmp_path: Path) -> None:
    path = write_plugin(tmp_path, "asked_for", "x", "raise OSError('no luck')")
    plugins = Plugins()
    with pytest.raises(ComponentError, match="cannot be loaded: OSError: no luck"):
        plugins.load_named(str(path))
    assert plugins.registry.names("selector") == ()
    with pytest.raises(UsageError, match="there is no plugin at"):
        plugins.load_named(str(tmp_path / "absent.py"))


def test_a_module_that_is_not_there_is_answered_with_the_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpeciateError, match=r"install it, or write the path of its \.py file"):
        Plugins().load_named("no_such_plugin_module")
    write_plugin(tmp_path, "no_such_plugin_module", "x")
    with pytest.raises(SpeciateError, match=r"write its path, './no_such_plugin_module\.py'"):
        Plugins().load_named("no_such_plugin_module")
