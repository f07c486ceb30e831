"""The registry: names, lazy classes, checked options, owners."""

import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from pydantic import Field
from speciate.core.component import Component, ComponentOptions
from speciate.core.errors import ComponentError, SpeciateError, UsageError
from speciate.core.registry import SLOTS, Owner, Registry
from speciate.core.slots import Archive, Newcomer, Placement, Selector
from speciate.core.view import IslandView


class First(Selector):
    """Draws the first member. Every time."""

    class Options(ComponentOptions):
        alpha: float = Field(default=1.0, ge=0, description="How sharp.")
        k: int | None = Field(default=3, description="How many.")
        mode: Literal["none", "soft"] | None = "soft"

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        return int(view.ids[0])


class Last(Selector):
    """Draws the last member."""

    class Options(ComponentOptions):
        exponent: float = 2.0

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        return int(view.ids[-1])


class Unfinished(Selector):
    """Forgot its one method."""


class Broken(Selector):
    """Raises when it is made."""

    def __init__(self, options: ComponentOptions | None = None) -> None:
        raise ZeroDivisionError("no luck")

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        return 0


class All(Archive):
    """Keeps everyone."""

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        return Placement(True)


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    registry.add("selector", "first", First)
    registry.add("selector", "last", Last)
    registry.add("archive", "all", All)
    return registry


def refusal(call: object, *arguments: object, **named: object) -> str:
    with pytest.raises(SpeciateError) as caught:
        call(*arguments, **named)  # type: ignore[operator]
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_component_is_made_with_its_options(registry: Registry) -> None:
    made = registry.make("selector", {"use": "first", "alpha": 2})
    assert isinstance(made, First)
    assert made.options.model_dump() == {"alpha": 2.0, "k": 3, "mode": "soft"}


def test_a_bare_name_takes_the_defaults(registry: Registry) -> None:
    assert registry.make(Selector, "last").options == Last.Options()


def test_a_slot_may_be_named_by_its_class(registry: Registry) -> None:
    assert isinstance(registry.make(Selector, "first"), First)


def test_an_unknown_name_is_answered_with_the_nearest(registry: Registry) -> None:
    assert refusal(registry.make, "selector", "frist") == "no selector named 'frist'; did you mean 'first'?"


def test_a_name_of_another_slot_is_recognised(registry: Registry) -> None:
    assert refusal(registry.make, "selector", "all") == "no selector named 'all'; there is a archive of that name"


def test_an_unknown_slot_is_answered_with_the_nearest(registry: Registry) -> None:
    assert refusal(registry.add, "selctor", "x", First) == "no slot named 'selctor'; did you mean 'selector'?"


def test_an_unknown_option_is_answered_with_the_nearest(registry: Registry) -> None:
    text = refusal(registry.make, "selector", {"use": "first", "alhpa": 2})
    assert text == "selector 'first' has no option 'alhpa'; did you mean 'alpha'?"


def test_an_option_of_another_component_is_answered_with_its_owner(registry: Registry) -> None:
    text = refusal(registry.make, "selector", {"use": "first", "exponent": 2})
    assert text == "selector 'first' has no option 'exponent'; that is an option of selector 'last'"


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({"alpha": "hot"}, "option 'alpha' is 'hot' (text); expected a number"),
        ({"alpha": -1}, "option 'alpha' is -1 (an integer); expected greater than or equal to 0"),
        ({"alpha": None}, "option 'alpha' is None (nothing); expected a number"),
        ({"alpha": True}, "option 'alpha' is True (a boolean); expected a number"),
        ({"k": 1.5}, "option 'k' is 1.5 (a number); expected an integer"),
        ({"mode": "loud"}, "option 'mode' is 'loud' (text); expected 'none' or 'soft'"),
    ],
)
def test_a_wrong_value_is_told_with_what_came_and_what_is_expected(
    registry: Registry, options: dict[str, object], end: str
) -> None:
    assert refusal(registry.make, "selector", {"use": "first", **options}) == f"selector 'first': {end}"


def test_the_word_none_means_none_where_that_can_be(registry: Registry) -> None:
    options = registry.options("selector", {"use": "first", "k": "none", "mode": "none"})
    assert options.model_dump() == {"alpha": 1.0, "k": None, "mode": "none"}


def test_zero_is_not_none(registry: Registry) -> None:
    assert registry.options("selector", {"use": "first", "k": 0}).model_dump()["k"] == 0


@pytest.mark.parametrize("choice", [3, None, {"alpha": 1}, {"use": 3}, ["first"]])
def test_a_choice_without_a_name_is_refused(registry: Registry, choice: object) -> None:
    assert "expected" in refusal(registry.make, "selector", choice)


def test_a_name_taken_twice_names_both_owners(registry: Registry) -> None:
    def add() -> None:
        with registry.owned_by(Owner("mine", "mine 1.0")):
            registry.add("selector", "first", Last)

    text = refusal(add)
    assert "the calling program" in text
    assert "mine of mine 1.0" in text


def test_what_raised_while_registering_leaves_nothing_behind(registry: Registry) -> None:
    def add() -> None:
        with registry.owned_by(Owner("mine")):
            registry.add("selector", "new", Last)
            registry.add("selector", "first", Last)

    refusal(add)
    assert registry.names("selector") == ("first", "last")


@pytest.mark.parametrize("target", [int, All, "no colon", "a b:C", 3, None])
def test_what_does_not_fit_the_slot_is_refused_at_once(registry: Registry, target: object) -> None:
    assert "selector 'x'" in refusal(registry.add, "selector", "x", target)


@pytest.mark.parametrize("name", ["", "two words", "a:b", "-x", "é", 3])
def test_a_name_that_nobody_could_type_is_refused(registry: Registry, name: object) -> None:
    assert "cannot name a selector" in refusal(registry.add, "selector", name, First)


def test_a_class_without_its_methods_is_named(registry: Registry) -> None:
    registry.add("selector", "unfinished", Unfinished)
    assert "does not define select" in refusal(registry.make, "selector", "unfinished")


def test_a_component_that_raises_when_made_is_named(registry: Registry) -> None:
    registry.add("selector", "broken", Broken)
    text = refusal(registry.make, "selector", "broken")
    assert "selector 'broken'" in text
    assert "ZeroDivisionError: no luck" in text


def test_a_lazy_component_is_imported_on_first_use_only(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lazy_plugin.py").write_text(
        "from speciate.core.slots import Selector\n\n\nclass Mine(Selector):\n"
        '    """Draws what it likes. Sometimes."""\n\n    def select(self, view, rng):\n        return 0\n'
    )
    registry.add("selector", "mine", "lazy_plugin:Mine")
    assert registry.summary("selector", "mine") == "Draws what it likes."
    assert "lazy_plugin" not in sys.modules
    assert registry.make(Selector, "mine").select(None, None) == 0  # type: ignore[arg-type]
    assert "lazy_plugin" in sys.modules


def test_a_summary_is_found_where_the_class_only_passes_through(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "inner_part.py").write_text(
        "from speciate.core.slots import Selector\n\n\nclass Inner(Selector):\n    'Draws from within.'\n"
    )
    (tmp_path / "outer_part.py").write_text("from inner_part import Inner\n")
    registry.add("selector", "inner", "outer_part:Inner")
    registry.add("selector", "gone", "no_such_part:Gone")
    assert registry.summary("selector", "inner") == "Draws from within."
    assert "outer_part" not in sys.modules
    assert registry.summary("selector", "gone") == ""


def test_a_missing_extra_is_one_sentence_with_the_command(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "needs_much.py").write_text("import no_such_engine\n")
    with registry.owned_by(Owner("big", "big-plugin 2.0")):
        registry.add("selector", "big", "needs_much:Big", extra="gpu")
    with pytest.raises(UsageError) as caught:
        registry.make("selector", "big")
    assert str(caught.value) == (
        "selector 'big' needs the extra 'gpu' (no_such_engine is not installed): pip install 'big-plugin[gpu]'"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "needs the module 'odd_plugin', which is not there"),
        ("", "is None; expected a subclass of Selector"),
        ("Odd = 3", "is 3; expected a subclass of Selector"),
        ("raise OSError('no disk')", "cannot be imported: OSError: no disk"),
        ("def f(:", "cannot be imported: SyntaxError"),
    ],
)
def test_a_lazy_component_that_cannot_be_had_is_named(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, told: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("odd_plugin", None)
    if text is not None:
        (tmp_path / "odd_plugin.py").write_text(text)
    registry.add("selector", "odd", "odd_plugin:Odd")
    with pytest.raises(ComponentError) as caught:
        registry.make("selector", "odd")
    assert told in str(caught.value)
    assert "selector 'odd' (from the calling program)" in str(caught.value)


def test_one_component_that_cannot_be_had_does_not_hide_the_owner_of_an_option(registry: Registry) -> None:
    registry.add("selector", "gone", "no_such_module_at_all:Gone")
    text = refusal(registry.make, "selector", {"use": "last", "alpha": 1})
    assert text.endswith("that is an option of selector 'first'")


def test_a_description_tells_options_types_defaults_and_owner(registry: Registry) -> None:
    info = registry.describe("selector", "first")
    assert info.summary == "Draws the first member."
    assert info.doc == "Draws the first member. Every time."
    assert info.owner == Owner("the calling program")
    told = {option.name: (option.type, option.default, option.description) for option in info.options}
    assert told["alpha"] == ("float (≥ 0)", "1.0", "How sharp.")
    assert told["k"] == ('int | "none"', "3", "How many.")
    assert told["mode"] == ('"none" | "soft" | "none"', '"soft"', "")


def test_a_class_without_a_docstring_does_not_borrow_one(registry: Registry) -> None:
    mute = type("Mute", (First,), {"__doc__": None})
    registry.add("selector", "mute", mute)
    assert registry.describe("selector", "mute").doc == ""


def test_presets_and_problems_are_paths(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("# A preset.\n#\n# More.\nseed = 1\n# not this\n")
    registry.add("preset", "mine", tmp_path / "mine.toml")
    assert registry.path("preset", "mine") == tmp_path / "mine.toml"
    assert registry.describe("preset", "mine").doc == "A preset.\n\nMore."
    assert refusal(registry.path, "problem", "mine") == "no problem named 'mine'; there is a preset of that name"
    assert "is a path, not a class" in refusal(registry.make, "preset", "mine")
    assert "is a class, not a path" in refusal(registry.path, "selector", "first")


def test_every_slot_has_an_abstract_class_of_its_own() -> None:
    assert len(set(SLOTS.values())) == len(SLOTS)
    for base in SLOTS.values():
        assert issubclass(base, Component)
        assert base.__doc__
