"""What a comparison's file may say: arms under the same budgets, seeds and problems, or one sentence why not."""

from pathlib import Path
from typing import Any

import pytest
import tomli_w
from speciate.core.config_sources import file_layer, text_layer
from speciate.core.errors import SpeciateError, UsageError
from speciate.core.loading import Plugins
from speciate.core.scaffold import new_problem
from speciate.islands.compare.plan import Plan, make_plan
from speciate.islands.compare.spec import Allowance, read_design


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = new_problem("points", tmp_path_factory.mktemp("problems"))
    text = (folder / "problem.toml").read_text("utf-8")
    assert "[options]" in text
    return folder


def tables(**changes: Any) -> dict[str, Any]:
    """Return the tables of a small comparison."""
    return {
        "problems": [{"use": "circle_packing", "options": {"n": 6}}],
        "arms": [{"name": "greedy", "selector": "greedy"}, {"name": "shinka", "preset": "shinka"}],
        "seeds": 3,
        "budget": {"evaluations": 20},
        **changes,
    }


def plan_of(content: dict[str, Any], out: Path, folder: Path = Path()) -> Plan:
    layer = text_layer(tomli_w.dumps(content), "arms.toml")
    return make_plan(read_design(layer, folder), Plugins.installed(), out)


def refusal(content: dict[str, Any], out: Path) -> str:
    with pytest.raises(SpeciateError) as raised:
        plan_of(content, out)
    message = str(raised.value)
    assert "\n" not in message
    return message


def test_every_arm_meets_the_same_problems_with_the_same_seeds(tmp_path: Path) -> None:
    cells = plan_of(tables(), tmp_path).cells
    met = {arm: [(cell.problem, cell.seed) for cell in cells if cell.arm == arm] for arm in ("greedy", "shinka")}
    assert met["greedy"] == met["shinka"] == [("circle_packing", seed) for seed in (0, 1, 2)]
    assert len({cell.folder for cell in cells}) == 6


def test_an_option_that_is_the_seed_makes_each_seed_another_instance_and_the_same_for_all_arms(tmp_path: Path) -> None:
    cells = plan_of(
        tables(problems=[{"use": "circle_packing", "options": {"n": "{seed}"}}], seeds=[5, 7]), tmp_path
    ).cells
    assert [(cell.arm, [s for s in cell.settings if s.startswith("problem.")]) for cell in cells] == [
        ("greedy", ["problem.n=5"]),
        ("shinka", ["problem.n=5"]),
        ("greedy", ["problem.n=7"]),
        ("shinka", ["problem.n=7"]),
    ]


def test_smaller_counts_are_read_off_the_longest_run_and_every_number_of_seconds_is_a_run(tmp_path: Path) -> None:
    budget = {"evaluations": [10, 40, 20], "proposals": 30, "seconds": [1, 2.5]}
    cells = plan_of(tables(budget=budget, seeds=1, arms=[{"name": "greedy", "selector": "greedy"}]), tmp_path).cells
    assert [(str(cell.longest), len(cell.budgets)) for cell in cells] == [
        ("40 evaluations", 3),
        ("30 proposals", 1),
        ("1 seconds", 1),
        ("2.5 seconds", 1),
    ]


def test_a_component_that_reads_the_total_is_run_for_every_total(tmp_path: Path) -> None:
    arms = [{"name": "annealed", "plugins": [str(write_annealed(tmp_path))], "selector": "annealed"}]
    cells = plan_of(tables(arms=arms, budget={"evaluations": [10, 20]}, seeds=1), tmp_path).cells
    assert [str(cell.longest) for cell in cells] == ["10 evaluations", "20 evaluations"]
    assert cells[0].folder != cells[1].folder


def write_annealed(folder: Path) -> Path:
    path = folder / "annealed.py"
    path.write_text(
        "from speciate.core.hooks import hookimpl\n"
        "from speciate.core.slots import Selector\n"
        "class Annealed(Selector):\n"
        '    """Reads the total."""\n'
        "    reads_total = True\n"
        "    def select(self, view, rng):\n"
        "        return int(view.ids[0])\n"
        "@hookimpl\n"
        "def register(registry):\n"
        "    registry.add('selector', 'annealed', Annealed)\n"
    )
    return path


def test_a_run_is_named_by_what_decides_it(tmp_path: Path) -> None:
    one, two = (plan_of(tables(budget={"evaluations": n}), tmp_path).cells for n in (20, 50))
    assert [cell.folder for cell in one] == [cell.folder for cell in two], "a longer budget goes on with the same run"
    other = plan_of(tables(common={"islands": {"drift": 3}}), tmp_path).cells
    assert not {cell.folder for cell in one} & {cell.folder for cell in other}


def test_an_arm_lies_over_what_is_common_and_another_component_drops_the_options(tmp_path: Path) -> None:
    common = {"selector": {"use": "shinka", "steepness": 3.0}, "archive": {"use": "bounded", "size": 30}}
    arms = [
        {"name": "same", "selector": {"steepness": 4.0}},
        {"name": "other", "selector": {"use": "tournament"}},
        {"name": "named", "selector": "uniform", "set": ["archive.size=10"]},
    ]
    design = read_design(text_layer(tomli_w.dumps(tables(common=common, arms=arms)), "arms.toml"), Path())
    same, other, named = design.arms
    assert same.settings["selector"] == {"use": "shinka", "steepness": 4.0}
    assert other.settings["selector"] == {"use": "tournament"}
    assert named.settings["selector"] == "uniform"
    assert named.settings["archive"] == {"use": "bounded", "size": 30}
    make_plan(design, Plugins.installed(), tmp_path)


def test_a_problem_may_lie_beside_the_file(problem: Path, tmp_path: Path) -> None:
    file = problem.parent / "arms.toml"
    file.write_text(tomli_w.dumps(tables(problems=[{"use": problem.name}])))
    plan = make_plan(read_design(file_layer(file), file.parent), Plugins.installed(), tmp_path)
    assert {cell.use for cell in plan.cells} == {str(problem.resolve())}


@pytest.mark.parametrize(
    ("arm", "says"),
    [
        ({"budget": {"evaluations": 99}}, "the arm 'own' sets its own budget; every arm has the budget"),
        ({"set": ["budget.seconds=9"]}, "the arm 'own' sets its own budget"),
        ({"seed": 4}, "the arm 'own' sets its own seed"),
        ({"problem": {"n": 9}}, "the arm 'own' sets its own problem"),
        ({"workers": 8}, "the arm 'own' sets its own workers"),
    ],
)
def test_an_arm_with_a_budget_or_seed_of_its_own_is_refused(arm: dict[str, Any], says: str, tmp_path: Path) -> None:
    message = refusal(tables(arms=[{"name": "plain"}, {"name": "own", **arm}]), tmp_path)
    assert says in message
    assert message.startswith("arms.toml, line ")


def test_an_arm_whose_preset_sets_a_budget_is_refused(tmp_path: Path) -> None:
    plugin, preset = tmp_path / "bounded_preset.py", tmp_path / "rich.toml"
    preset.write_text("[budget]\nseconds = 60.0\n")
    plugin.write_text(
        "from speciate.core.hooks import hookimpl\n@hookimpl\ndef register(registry):\n"
        f"    registry.add('preset', 'rich', {str(preset)!r})\n"
    )
    content = tables(arms=[{"name": "rich", "preset": "rich", "plugins": [str(plugin)]}])
    assert "the arm 'rich' sets its own budget (seconds = 60)" in refusal(content, tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"budget": {}}, "no budget is declared"),
        ({"budget": {"target": 2.6}}, "there is no budget in 'target'; there is evaluations, seconds, proposals"),
        ({"budget": {"evaluations": 0}}, "'evaluations' is 0"),
        ({"budget": {"evaluations": [20, 20]}}, "a budget is listed twice"),
        ({"seeds": 0}, "a number of seeds from 1"),
        ({"seeds": [1, 1]}, "a seed is listed twice"),
        ({"arms": []}, "'arms'"),
        ({"arms": [{"name": "a"}, {"name": "a"}]}, "two arms are called 'a'"),
        ({"arms": [{"name": "a", "selector": "shinca"}]}, "the arm 'a': a.toml, line 1: no selector named 'shinca'"),
        ({"arms": [{"name": "a", "slector": "shinka"}]}, "did you mean 'selector'"),
        ({"arms": [{"name": "a", "preset": "shinca"}]}, "did you mean 'shinka'"),
        ({"problems": [{"use": "circle_packin"}]}, "did you mean 'circle_packing'"),
        ({"problems": [{"use": "circle_packing", "options": {"m": 3}}]}, "no option 'm'"),
        ({"seds": 3}, "did you mean 'seeds'"),
    ],
)
def test_what_is_wrong_is_one_sentence(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    assert says in refusal(tables(**changes), tmp_path)


def test_budgets_that_the_engine_does_not_know_cannot_be_set(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no budget in 'sheep'"):
        plan_of(tables(budget={"sheep": 3}), tmp_path)
    assert str(Allowance("evaluations", 300.0)) == "300 evaluations"
