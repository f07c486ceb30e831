"""The presets: each resolves, says where it comes from, and runs offline; and the small parts that they needed."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from speciate.core.cli.main import speciate
from speciate.core.config import RunConfig, resolve
from speciate.core.errors import UsageError
from speciate.core.loading import Plugins
from speciate.core.population import Population
from speciate.core.search import prepare
from speciate.core.testing.search_contracts import sample_problem
from speciate.core.view import IslandView
from speciate.islands.migration import Copying
from speciate.islands.selectors_classic import Seeds
from speciate.islands.selectors_published import BestFirst, OpenEvolve

PRESETS = Path(__file__).resolve().parents[2] / "plugins" / "presets"
NAMES = sorted(path.stem for path in PRESETS.glob("*.toml"))
PUBLISHED = set(NAMES) - {"default", "best-of-n", "random"}
ASKED_FOR = {
    "alphaevolve", "openevolve", "funsearch", "shinka", "thetaevolve", "ttt-discover", "gepa", "dgm", "hyperagents",
    "autoresearch", "ai-scientist", "best-of-n", "random",
}  # fmt: skip


def resolved(name: str) -> RunConfig:
    return resolve(Plugins.installed(), preset=name)


def family(fitness: list[float], seeds: list[bool], **columns: list[int]) -> IslandView:
    n = len(fitness)
    zeros = np.zeros(n, np.int64)
    parent = np.where(seeds, -1, 10)
    given = {name: np.array(values) for name, values in columns.items()}
    view = IslandView(
        0, np.arange(10, 10 + n), np.array(fitness), zeros, zeros, zeros, np.ones(n), zeros, np.array(seeds),
        np.zeros(n, bool), parent, np.full(n, np.nan), zeros, zeros,
    )  # fmt: skip
    return dataclasses.replace(view, **given)


def test_every_system_that_was_asked_for_is_a_preset() -> None:
    assert set(NAMES) == ASKED_FOR | {"default"}


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_resolves_to_components_that_exist(name: str) -> None:
    config = resolved(name)
    assert config.preset == name
    assert config.operator[0]["use"] == "genetic"


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_published_preset_says_what_is_known_assumed_and_missing(name: str) -> None:
    comment = (PRESETS / f"{name}.toml").read_text("utf-8").partition("\n\n")[0]
    for said in ("From the primary source:", "Assumed", "Not shipped:"):
        assert said in comment, f"{name}.toml does not say what is {said!r}"


def test_the_command_lists_the_presets() -> None:
    listed = CliRunner().invoke(speciate, ["plugins", "preset"]).output
    assert all(f"preset:{name}" in listed for name in NAMES)


@pytest.fixture(scope="session")
def packing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Circle packing with as little effort an evaluation as makes sense."""
    folder = tmp_path_factory.mktemp("packing") / "circle_packing"
    shutil.copytree(PRESETS.parents[1] / "problems" / "circle_packing", folder)
    about = folder / "problem.toml"
    about.write_text(about.read_text("utf-8").replace("effort = 240", "effort = 6"), "utf-8")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_runs_offline(name: str, packing: Path, tmp_path: Path) -> None:
    made = prepare(
        packing, preset=name, out=tmp_path / "run", seed=1, evaluations=6, settings=["problem.n=5"], workers=1
    )
    assert not isinstance(made, str)
    result = made.run.execute(lambda event: None)
    assert (result.status, result.evaluations) == ("budget", 6)
    assert result.best is not None


def test_seeds_are_the_only_parents_of_first_steps() -> None:
    view = family([5.0, 1.0, 2.0, 9.0], [False, True, True, False])
    assert Seeds().probabilities(view).tolist() == [0.0, 0.5, 0.5, 0.0]
    orphans = family([5.0, 9.0], [False, False])
    assert Seeds().select(orphans, np.random.default_rng(0)) == 10


def test_openevolve_mixes_its_three_ways_by_their_shares() -> None:
    selector = OpenEvolve(OpenEvolve.Options(exploration=0.2, exploitation=0.7, elite=2))
    view = family([-3.0, -1.0, 1.0, 0.0], [True, False, False, False])
    # By fitness above the worst: 0, 2, 4 and 3 of 9; the two best are the third and the fourth.
    by_fitness = np.array([0, 2, 4, 3]) / 9
    expected = 0.05 + 0.1 * by_fitness + np.array([0, 0, 0.35, 0.35])
    assert selector.probabilities(view) == pytest.approx(expected, abs=1e-12)


def test_shares_of_openevolve_that_exceed_one_are_refused() -> None:
    with pytest.raises(UsageError, match="add up to 1 at most"):
        resolve(Plugins.installed(), preset="openevolve", settings=["selector.exploration=0.5"])


def test_best_first_makes_its_drafts_and_then_follows_the_best_node() -> None:
    rng = np.random.default_rng(0)
    drafting = family([9.0, 1.0], [True, False], offspring=[1, 0], refused=[0, 0], in_flight=[1, 0])
    assert BestFirst().select(drafting, rng) == 10
    drafted = family([9.0, 1.0, 3.0, 3.0], [True, False, False, False], offspring=[2, 0, 0, 0], in_flight=[1, 0, 5, 0])
    assert BestFirst().select(drafted, rng) == 12
    barren = family([9.0], [True], offspring=[1], refused=[5])
    assert BestFirst().select(barren, rng) == 10


def test_a_share_of_migrants_is_of_the_members_and_one_at_least() -> None:
    copying = Copying(Copying.Options(share=0.1))
    assert copying._count(family([1.0] * 40, [False] * 40)) == 4
    assert copying._count(family([1.0] * 3, [False] * 3)) == 1


def grown(name: str, folder: Path, evaluations: int) -> Population:
    """Return the population of a run of a preset on a problem whose programs are quick."""
    sample_problem(folder / "problem")
    made = prepare(folder / "problem", preset=name, out=folder / "run", seed=2, evaluations=evaluations)
    assert not isinstance(made, str)
    made.run.execute(lambda event: None)
    return made.run._assembled.parts.population


def test_one_plus_one_keeps_the_seed_and_the_best_alone(tmp_path: Path) -> None:
    population = grown("autoresearch", tmp_path, 30)
    (island,) = population.islands
    assert island.best not in (None, 0)
    assert set(island.view().ids.tolist()) == {0, island.best}


@pytest.mark.parametrize("name", ["best-of-n", "random"])
def test_children_of_best_of_n_and_random_search_are_first_steps(name: str, tmp_path: Path) -> None:
    assert set(grown(name, tmp_path, 20).parents.values()) == {None, 0}
