"""The `[[island]]` tables: what an island may have of its own, and what is said of a wrong one."""

from pathlib import Path
from typing import Any

import pytest
from speciate.core.assemble import islands_of
from speciate.core.config import resolve, restore, to_toml
from speciate.core.errors import SpeciateError
from speciate.core.loading import Plugins

TWO = """
[selector]
use = "shinka"
steepness = 3.0
[[operator]]
use = "genetic"
weight = 2.0
step = 0.5
[[island]]
[[island]]
archive = "unbounded"
[island.selector]
use = "boltzmann"
[island.operator]
mutations = 4.0
"""


@pytest.fixture
def plugins() -> Plugins:
    return Plugins.installed()


def written(folder: Path, text: str, name: str = "run.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def refusal(plugins: Plugins, **layers: Any) -> str:
    with pytest.raises(SpeciateError) as caught:
        resolve(plugins, **layers)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_an_island_has_its_own_parts_and_for_the_rest_those_of_the_run(plugins: Plugins, tmp_path: Path) -> None:
    config = resolve(plugins, file=written(tmp_path, TWO))
    first, second = config.island
    assert first.selector == config.selector
    assert first.operator == config.operator
    assert first.archive["use"] == "bounded"
    assert second.selector["use"] == "boltzmann"
    assert second.archive == {"use": "unbounded"}
    assert second.inspirations == config.inspirations


def test_the_tables_say_how_many_islands_there_are(plugins: Plugins, tmp_path: Path) -> None:
    assert resolve(plugins, file=written(tmp_path, TWO)).islands.count == 2
    assert resolve(plugins, file=written(tmp_path, TWO), settings=["islands.count=2"]).islands.count == 2


def test_options_of_the_same_component_are_laid_over_those_of_the_run(plugins: Plugins, tmp_path: Path) -> None:
    _, second = resolve(plugins, file=written(tmp_path, TWO)).island
    (operator,) = second.operator
    assert (operator["mutations"], operator["step"], operator["weight"]) == (4.0, 0.5, 2.0)
    text = TWO.replace('use = "boltzmann"', "steepness = 8.0")
    _, second = resolve(plugins, file=written(tmp_path, text)).island
    assert second.selector == {"use": "shinka", "steepness": 8.0}


def test_without_tables_all_islands_are_as_the_run(plugins: Plugins) -> None:
    config = resolve(plugins, settings=["islands.count=3"])
    assert config.island == ()
    assert [island.selector for island in islands_of(config)] == [config.selector] * 3


def test_an_empty_list_takes_back_the_tables_of_a_layer_below(plugins: Plugins, tmp_path: Path) -> None:
    config = resolve(plugins, file=written(tmp_path, TWO), settings=["island=[]"])
    assert config.island == ()
    assert config.islands.count == 1


def test_the_written_form_makes_the_same_islands(plugins: Plugins, tmp_path: Path) -> None:
    config = resolve(plugins, file=written(tmp_path, TWO))
    text = to_toml(config)
    assert restore(plugins, text, "it") == config
    assert resolve(plugins, file=written(tmp_path, text, "again.toml")) == config


def test_a_count_that_differs_from_the_tables_is_refused(plugins: Plugins, tmp_path: Path) -> None:
    text = refusal(plugins, file=written(tmp_path, TWO), settings=["islands.count=3"])
    assert "there are 2 [[island]] tables and `count` in [islands] is 3" in text
    assert "leave `count` out" in text


@pytest.mark.parametrize(
    ("island", "said"),
    [
        ("selecter = 'novel'", "an island has no key 'selecter' of its own; did you mean 'selector'?"),
        ("migration = 'copying'", "an island has no key 'migration' of its own; it may have operator, selector"),
        ("selector = 'shinca'", "no selector named 'shinca'; did you mean 'shinka'?"),
        ("selector = {use = 'shinka', steepnes = 1}", "did you mean 'steepness'?"),
        ("operator = 7", "operator is 7; expected a name, a table or a list of tables"),
        ("operator = ['genetic', 'genetic']", "the operator 'genetic' is listed twice"),
        ("operator = {use = 'genetic', weight = 0}", "'weight'"),
        ("operator = []", "list of operators is empty"),
    ],
)
def test_a_wrong_island_is_refused_with_its_line(plugins: Plugins, tmp_path: Path, island: str, said: str) -> None:
    text = refusal(plugins, file=written(tmp_path, f"seed = 1\n[[island]]\n[[island]]\n{island}\n"))
    assert said in text
    assert "run.toml, line" in text


@pytest.mark.parametrize("value", ["3", "'novel'", "[1, 2]", "{selector = 'novel'}"])
def test_what_is_no_list_of_tables_is_refused(plugins: Plugins, value: str) -> None:
    assert "expected a list of tables, written [[island]]" in refusal(plugins, settings=[f"island={value}"])
