"""The configuration: layers, refusals with their place, and the written form."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import Field
from speciate.core.component import Component, ComponentOptions
from speciate.core.config import RunConfig, resolve, restore, to_toml
from speciate.core.errors import SpeciateError, UsageError
from speciate.core.loading import Plugins
from speciate.core.registry import SLOTS


class Options(ComponentOptions):
    alpha: float = Field(default=1.0, ge=0)
    k: int | None = 3


class OtherOptions(ComponentOptions):
    exponent: float = 2.0


def component(slot: str, options: type[ComponentOptions]) -> type[Component]:
    """Make a component of a slot that does nothing, with these options."""
    base = SLOTS[slot]
    methods = {name: lambda self, *arguments: None for name in base.__abstractmethods__}
    return type("Small", (base,), {"__doc__": "Does nothing.", "Options": options, **methods})


@pytest.fixture
def plugins(tmp_path: Path) -> Plugins:
    """A registry with two components in every slot, a default preset and another."""
    plugins = Plugins()
    for slot in SLOTS:
        plugins.registry.add(slot, "plain", component(slot, Options))
        plugins.registry.add(slot, "other", component(slot, OtherOptions))
    lines = [f'{slot} = "plain"' for slot in SLOTS if slot not in ("policy", "reporter", "comparison")]
    preset(plugins, tmp_path, "default", "\n".join([*lines, "[budget]", "evaluations = 500"]))
    preset(plugins, tmp_path, "sharp", "seed = 5\n[selector]\nalpha = 9.0\n")
    return plugins


def preset(plugins: Plugins, folder: Path, name: str, text: str) -> None:
    folder = folder / "presets"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_text(text, "utf-8")
    plugins.registry.add("preset", name, folder / f"{name}.toml")


def written(folder: Path, text: str, name: str = "run.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def refusal(plugins: Plugins, **layers: Any) -> str:
    with pytest.raises(SpeciateError) as caught:
        resolve(plugins, **layers)
    text = str(caught.value)
    assert "\n" not in text
    assert "pydantic" not in text
    return text


def test_without_a_word_everything_comes_from_the_default_preset(plugins: Plugins) -> None:
    config = resolve(plugins)
    assert config.seed == 0
    assert config.budget.evaluations == 500
    assert config.selector == {"use": "plain", "alpha": 1.0, "k": 3}
    assert config.operator == ({"use": "plain", "weight": 1.0, "alpha": 1.0, "k": 3},)
    assert config.policy is None


def test_later_layers_win(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, "seed = 6\nworkers = 6\n[selector]\nalpha = 6.0\nk = 6\n")
    assert resolve(plugins, preset="sharp").seed == 5
    assert resolve(plugins, preset="sharp", file=file).seed == 6
    assert resolve(plugins, preset="sharp", file=file, settings=["seed=7"]).seed == 7
    config = resolve(plugins, preset="sharp", file=file, settings=["seed=7", "selector.k=7"], flags={"seed": 8})
    assert (config.seed, config.workers) == (8, 6)
    assert config.selector == {"use": "plain", "alpha": 6.0, "k": 7}


def test_the_file_may_name_the_preset_and_the_flag_wins(plugins: Plugins, tmp_path: Path) -> None:
    preset(plugins, tmp_path, "blunt", "seed = 50\n")
    file = written(tmp_path, 'preset = "sharp"\n')
    assert resolve(plugins, file=file).seed == 5
    config = resolve(plugins, file=file, preset="blunt")
    assert (config.seed, config.preset) == (50, "blunt")


def test_yaml_says_the_same_as_toml(plugins: Plugins, tmp_path: Path) -> None:
    toml = written(tmp_path, 'seed = 3\nselector = "other"\n[budget]\nseconds = 1e-3\n')
    yaml = written(tmp_path, "seed: 3\nselector: other\nbudget:\n  seconds: 1e-3\n", "run.yaml")
    assert resolve(plugins, file=toml) == resolve(plugins, file=yaml)


def test_an_empty_file_changes_nothing(plugins: Plugins, tmp_path: Path) -> None:
    for name in ("run.toml", "run.yaml"):
        assert resolve(plugins, file=written(tmp_path, "", name)) == resolve(plugins)


def test_another_component_starts_from_its_own_defaults(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, "[selector]\nalpha = 4.0\n")
    assert resolve(plugins, file=file, settings=["selector=other"]).selector == {"use": "other", "exponent": 2.0}


def test_naming_the_same_component_keeps_its_options(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, '[selector]\nuse = "plain"\nalpha = 4.0\n')
    assert resolve(plugins, file=file, settings=["selector=plain"]).selector["alpha"] == 4.0


@pytest.mark.parametrize(
    "settings", [["selector=other", "selector.exponent=3"], ["selector.exponent=3", "selector=other"]]
)
def test_the_order_of_settings_does_not_matter_where_they_agree(plugins: Plugins, settings: list[str]) -> None:
    assert resolve(plugins, settings=settings).selector == {"use": "other", "exponent": 3.0}


def test_a_setting_may_belong_to_the_component_that_a_flag_names(plugins: Plugins) -> None:
    config = resolve(plugins, settings=["sandbox.exponent=3"], flags={"sandbox": "other"})
    assert config.sandbox == {"use": "other", "exponent": 3.0}


def test_a_flag_that_was_not_given_changes_nothing(plugins: Plugins) -> None:
    flags = {"seed": None, "budget": {"evaluations": None, "seconds": None}, "policy": None}
    assert resolve(plugins, flags=flags) == resolve(plugins)


def test_an_integer_of_numpy_is_an_integer(plugins: Plugins) -> None:
    assert resolve(plugins, flags={"seed": np.int64(4)}) == resolve(plugins, flags={"seed": 4})


@pytest.mark.parametrize("limit", ["evaluations=7", "seconds=2.5", "proposals=9"])
def test_the_default_budget_holds_only_when_nothing_else_ends_the_run(plugins: Plugins, limit: str) -> None:
    name = limit.partition("=")[0]
    budget = resolve(plugins, settings=[f"budget.{limit}"]).budget
    assert {key for key, value in budget.model_dump().items() if value is not None} == {name}


def test_a_target_alone_keeps_the_default_budget(plugins: Plugins) -> None:
    budget = resolve(plugins, settings=["budget.target=0.5"]).budget
    assert (budget.evaluations, budget.target) == (500, 0.5)


def test_none_and_zero_differ(plugins: Plugins) -> None:
    assert resolve(plugins, settings=["selector.k=none"]).selector["k"] == "none"
    assert resolve(plugins, settings=["selector.k=0"]).selector["k"] == 0
    assert resolve(plugins, settings=["budget.target=0"]).budget.target == 0
    assert "greater than or equal to 1" in refusal(plugins, flags={"budget": {"evaluations": 0}})
    assert "greater than 0" in refusal(plugins, flags={"budget": {"seconds": 0}})


def test_a_null_of_yaml_is_none(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, "lag: ~\npolicy: null\nselector:\n  k: null\n", "run.yaml")
    config = resolve(plugins, file=file, settings=[])
    assert config.lag is None
    assert config.policy is None
    assert config.selector["k"] == "none"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("1e-3", 1e-3),
        ("true", True),
        ('"5"', "5"),
        ("plain words", "plain words"),
        ("", ""),
        ("a=b", "a=b"),
        ("2024-01-01", "2024-01-01"),
        ("[1, 2]", [1, 2]),
        ("{a = 1}", {"a": 1}),
        ('"1\ny = 2"', '"1\ny = 2"'),
        ("1\ny = 2", "1\ny = 2"),
        ("日本", "日本"),
    ],
)
def test_a_setting_is_read_as_toml_or_else_as_text(plugins: Plugins, text: str, value: object) -> None:
    assert resolve(plugins, settings=[f"problem.n={text}"]).problem == {"n": value}


@pytest.mark.parametrize("text", ["seed", "=3", "a..b=3", ".=1"])
def test_a_setting_without_key_and_value_is_refused(plugins: Plugins, text: str) -> None:
    assert refusal(plugins, settings=[text]) == f"--set {text}: expected a.b=c"


def test_options_of_the_problem_are_laid_over_one_another(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, "[problem]\nn = 26\nshape = 'square'\n")
    assert resolve(plugins, file=file, settings=["problem.n=32"]).problem == {"n": 32, "shape": "square"}


def test_a_list_of_operators_replaces_the_one_below(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, '[[operator]]\nuse = "plain"\nweight = 3\n[[operator]]\nuse = "other"\n')
    assert resolve(plugins, file=file).operator == (
        {"use": "plain", "weight": 3.0, "alpha": 1.0, "k": 3},
        {"use": "other", "weight": 1.0, "exponent": 2.0},
    )


def test_a_table_without_a_name_changes_the_only_operator(plugins: Plugins) -> None:
    assert resolve(plugins, settings=["operator.alpha=4"]).operator[0]["alpha"] == 4.0


def test_a_table_without_a_name_cannot_change_one_of_two_operators(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, 'operator = ["plain", "other"]\n')
    assert "no `use`" in refusal(plugins, file=file, settings=["operator.alpha=4"])


def test_an_operator_listed_twice_is_refused(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, '[[operator]]\nuse = "plain"\n[[operator]]\nuse = "plain"\n')
    assert "run.toml, line 3: the operator 'plain' is listed twice" in refusal(plugins, file=file)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.toml", "seed = 1\nsede = 2\n", "line 2: there is no key 'sede'; did you mean 'seed'?"),
        ("a.toml", "evaluations = 2\n", "line 1: there is no key 'evaluations'; write it in the table [budget]"),
        ("a.yaml", "databse:\n  path: x\n", "line 1: there is no key 'databse'; there is "),
        ("a.toml", "[budget]\n\nevaluation = 2\n", "line 3: the configuration has no key 'budget.evaluation'; did you"),
        ("a.toml", "[selector]\nuse = 'plain'\nalhpa = 2\n", "line 3: selector 'plain' has no option 'alhpa'; did you"),
        (
            "a.toml",
            "[selector]\nexponent = 2\n",
            "line 2: selector 'plain' has no option 'exponent'; that is an option of",
        ),
        ("a.yaml", "selector:\n  use: plian\n", "line 2: no selector named 'plian'; did you mean 'plain'?"),
        (
            "a.yml",
            "selector:\n  alpha: hot\n",
            "line 2: selector 'plain': option 'alpha' is 'hot' (text); expected a num",
        ),
        ("a.toml", "operator = [{use = 'plain', weight = -1}]\n", "line 1: operator 'plain': option 'weight' is -1"),
        ("a.toml", "seed = true\n", "line 1: the configuration: key 'seed' is True (a boolean); expected a number"),
        ("a.toml", "seed = 1.5\n", "line 1: the configuration: key 'seed' is 1.5 (a number); expected an integer"),
        ("a.toml", "selector = 3\n", "line 1: selector is 3; expected a name, or a table with `use` and options"),
        ("a.toml", "[budget]\nseconds = nan\n", "line 2: the configuration: key 'budget.seconds' is nan"),
        ("a.toml", "preset = 'sharb'\n", "no preset named 'sharb'; did you mean 'sharp'?"),
        ("a.toml", "preset = 3\n", "preset is 3; expected a name, as text"),
        ("a.toml", "plugins = 3\n", "line 1: plugins is 3; expected a list of modules and paths"),
        ("a.toml", "plugins = ['no_such_thing_here']\n", "line 1: plugin 'no_such_thing_here' cannot be imported"),
        ("a.toml", "archive = 'none'\n", "no archive is chosen, and a run needs one; there is other, plain"),
        ("a.toml", "operator = []\n", "no operator is chosen, and a run needs one; there is other, plain"),
        ("a.toml", "seed = \n", "a.toml is not valid TOML: Invalid value (at line 1, column 8)"),
        ("a.toml", "seed = 1\nseed = 2\n", "is not valid TOML: Cannot overwrite a value (at line 2"),
        ("a.yaml", "seed: 1\nseed: 2\n", "line 2: the key 'seed' stands twice, first in line 1"),
        ("a.yaml", "seed: [1\nx: 2\n", "line 2: not valid YAML: "),
        ("a.yaml", "- seed\n", "holds no keys; expected lines such as `seed: 1`"),
        ("a.yaml", "selector:\n  1: 2\n", "line 2: selector 'plain' has no option '1'; there is alpha, k"),
        ("a.json", "{}", "ends in '.json'; expected a .toml, .yaml or .yml file"),
        ("a", "", "ends in ''; expected a .toml, .yaml or .yml file"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(
    plugins: Plugins, tmp_path: Path, name: str, text: str, told: str
) -> None:
    assert told in refusal(plugins, file=written(tmp_path, text, name))


def test_what_is_wrong_on_the_command_line_is_told_with_its_words(plugins: Plugins) -> None:
    assert refusal(plugins, settings=["seed=1", "selektor=x"]).startswith("--set selektor=x: there is no key")
    assert refusal(plugins, settings=["selector.alpha=hot"]).startswith("--set selector.alpha=hot: selector 'plain'")
    assert refusal(plugins, flags={"budget": {"evaluations": -3}}).startswith("--evaluations: ")
    assert refusal(plugins, flags={"sandbox": "docker"}).startswith("--sandbox: no sandbox named 'docker'")


def test_what_is_wrong_in_a_preset_is_told_with_its_name(plugins: Plugins, tmp_path: Path) -> None:
    preset(plugins, tmp_path, "odd", "[selector]\nalhpa = 1\n")
    preset(plugins, tmp_path, "nested", 'preset = "sharp"\n')
    assert refusal(plugins, preset="odd").startswith("preset 'odd' (odd.toml), line 2: selector 'plain' has no option")
    assert refusal(plugins, preset="nested").endswith("a preset cannot set 'preset'")


def test_a_file_that_is_not_there_is_an_error(plugins: Plugins, tmp_path: Path) -> None:
    assert refusal(plugins, file=tmp_path / "no.toml") == f"there is no configuration file {tmp_path / 'no.toml'}"


def test_a_folder_is_not_a_configuration(plugins: Plugins, tmp_path: Path) -> None:
    assert "is a folder; expected a configuration file" in refusal(plugins, file=tmp_path)


def test_a_file_in_another_encoding_is_an_error_with_its_line(plugins: Plugins, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_bytes("# one\n# caf\xe9\nseed = 1\n".encode("latin-1"))
    assert "line 2: byte 11 is not UTF-8" in refusal(plugins, file=tmp_path / "run.toml")


def test_a_file_with_a_byte_order_mark_is_read(plugins: Plugins, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_bytes(b"\xef\xbb\xbfseed = 4\n")
    assert resolve(plugins, file=tmp_path / "run.toml").seed == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_cannot_be_read_is_an_error(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, "")
    file.chmod(0)
    assert "cannot be read" in refusal(plugins, file=file)


def test_files_are_utf8_whatever_the_locale(tmp_path: Path) -> None:
    file = written(tmp_path, "seed = 1 # ä\n[problem]\nname = 'čtverec 東京'\n", "rün ä.toml")
    script = (
        "import sys; from pathlib import Path; from speciate.core.config_sources import file_layer; "
        "sys.stdout.buffer.write(file_layer(Path(sys.argv[1])).values['problem']['name'].encode())"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], env=environment, capture_output=True, timeout=60, check=False
    )
    assert done.stdout.decode() == "čtverec 東京", done.stderr.decode()


def test_the_written_form_is_read_back_exactly(plugins: Plugins, tmp_path: Path) -> None:
    file = written(tmp_path, '[[operator]]\nuse = "plain"\nk = 0\n[[operator]]\nuse = "other"\nweight = 0.25\n')
    settings = [
        "selector.k=none",
        "archive=other",
        "policy=plain",
        'problem.text=ä " \\ \t \x7f 東京',
        "problem.list=[1, [2.5, true]]",
        "problem.deep={a = {b = inf}}",
        "budget.target=-0.0",
    ]
    config = resolve(plugins, preset="sharp", file=file, settings=settings, flags={"seed": 2**70})
    text = to_toml(config)
    assert restore(plugins, text, "it") == config
    assert to_toml(restore(plugins, text, "it")) == text


def test_the_written_form_has_every_option(plugins: Plugins) -> None:
    text = to_toml(resolve(plugins))
    for name in RunConfig.model_fields:
        assert name in text
    assert 'lag = "none"' in text
    assert "alpha = 1.0" in text


def test_the_written_form_given_as_a_file_makes_the_same_run(plugins: Plugins, tmp_path: Path) -> None:
    config = resolve(plugins, preset="sharp", settings=["lag=none", "budget.seconds=3", "selector.k=none"])
    assert resolve(plugins, file=written(tmp_path, to_toml(config))) == config


def test_restoring_needs_no_preset(plugins: Plugins) -> None:
    text = to_toml(resolve(plugins, preset="sharp"))
    bare = Plugins()
    for slot in SLOTS:
        bare.registry.add(slot, "plain", component(slot, Options))
    assert restore(bare, text, "it").preset == "sharp"


def test_what_cannot_be_restored_is_told(plugins: Plugins) -> None:
    text = to_toml(resolve(plugins, settings=["selector=other"]))
    bare = Plugins()
    for slot in SLOTS:
        bare.registry.add(slot, "plain", component(slot, Options))
    with pytest.raises(UsageError, match=r"the settings of x, line .*: no selector named 'other'"):
        restore(bare, text, "the settings of x")


def test_a_plugin_named_beside_the_file_is_loaded_and_found_again(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside.py").write_text(
        "from speciate.core.hooks import hookimpl\n"
        "from speciate.core.slots import Selector\n\n\n"
        "class Mine(Selector):\n    def select(self, view, rng):\n        return 0\n\n\n"
        "@hookimpl\ndef register(registry):\n    registry.add('selector', 'mine', Mine)\n"
    )
    file = written(tmp_path, 'plugins = ["./beside.py"]\nselector = "mine"\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    config = resolve(plugins, file=file)
    assert config.selector == {"use": "mine"}
    assert config.plugins == (str(tmp_path / "beside.py"),)
    assert restore(plugins, to_toml(config), "it") == config
