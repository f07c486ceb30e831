"""Faults of reference code that must not return here; tests/test_properties.py says where the others are."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from speciate.core.config import resolve
from speciate.core.loading import Plugins
from speciate.core.registry import Registry
from speciate.core.slots import Inspirations, Selector
from speciate.core.testing.samples import VIEWS
from speciate.core.view import IslandView
from speciate.islands.selectors import Greedy
from speciate.islands.selectors_published import FunSearch
from speciate.plugins import builtin
from test_more_selectors import with_instances
from test_selectors import view_of

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = Registry()
builtin.register(REGISTRY)


def alone_at_the_top() -> IslandView:
    """Return a view where one member has nearly all of the probability."""
    view = view_of([0.0, 0.0, 0.0, 100.0])
    assert {FunSearch().select(view, np.random.default_rng(seed)) for seed in range(50)} == {13}
    return view


def test_fault_01_likeness_is_refused_by_default_and_without_a_model() -> None:
    config = resolve(Plugins.installed())
    assert config.policy is None
    assert config.novelty["use"] == "cosine"
    assert config.novelty["threshold"] <= 1.0


def test_fault_05_the_best_is_the_largest_and_not_the_first_of_an_ascending_order() -> None:
    for fitness in ([0.2, 0.5, 0.35], [0.5, 0.35, 0.2], [0.35, 0.2, 0.5]):
        view = view_of(fitness)
        chosen = Greedy().select(view, np.random.default_rng(0))
        assert view.fitness[view.ids == chosen].tolist() == [0.5]


@pytest.mark.parametrize("name", REGISTRY.names("selector"))
def test_fault_05_every_selector_can_be_chosen_by_its_name(name: str) -> None:
    assert resolve(Plugins.installed(), settings=[f"selector={name}"]).selector["use"] == name


@pytest.mark.parametrize("name", REGISTRY.names("selector"))
def test_fault_05_a_population_that_has_solved_everything_still_has_parents(name: str) -> None:
    solved = with_instances(view_of([1.0] * 4), [[1.0] * 3] * 4)
    selector = REGISTRY.make(Selector, name)
    assert {selector.select(solved, np.random.default_rng(seed)) for seed in range(20)} <= set(solved.ids.tolist())


@pytest.mark.parametrize("name", REGISTRY.names("inspirations"))
def test_fault_09_no_program_is_shown_twice(name: str) -> None:
    inspirations = REGISTRY.make(Inspirations, name)
    for view in (*VIEWS.values(), alone_at_the_top()):
        for seed in range(20):
            parent = int(view.ids[seed % len(view)])
            shown = [parent, *inspirations.choose(view, parent, 3, np.random.default_rng(seed))]
            assert len(set(shown)) == len(shown)


def test_fault_12_no_module_ends_processes_by_name() -> None:
    shipped = [p for room in ("core", "islands", "plugins", "problems") for p in (ROOT / room).rglob("*.py")]
    assert len(shipped) > 100
    for path in shipped:
        texts = [node.value for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Constant)]
        found = [text for text in texts if isinstance(text, str) and re.search(r"\b(pkill|killall|ray stop)\b", text)]
        assert not found, f"{path}: {found}"
