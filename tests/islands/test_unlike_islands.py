"""Islands that are not alike: each selects, keeps and proposes as its own table says."""

from pathlib import Path

import pytest
from speciate.core.folder import RunFolder
from speciate.core.run import Totals
from speciate.core.search import prepare, prepare_resume
from speciate.core.testing.search_contracts import sample_problem

UNLIKE = """
[[operator]]
use = "genetic"
[[island]]
selector = "greedy"
[[island]]
selector = "uniform"
archive = {use = "bounded", size = 3}
[island.operator]
mutations = 3.0
step = 1.0
[[island]]
selector = "puct"
archive = "top-per-parent"
inspirations = "best"
[migration]
use = "copying"
interval = 4
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "unlike.toml"
    path.write_text(UNLIKE)
    sample_problem(tmp_path / "problem")
    return path


def grown(config: Path, name: str, evaluations: int, workers: int) -> str:
    """Start a run beside its configuration, or go on with it; return its digest."""
    folder = config.parent / name
    if folder.exists():
        prepared = prepare_resume(folder, Totals(evaluations=evaluations), workers)
    else:
        made = prepare(
            config.parent / "problem", config=config, out=folder, seed=3, evaluations=evaluations, workers=workers
        )
        assert not isinstance(made, str)
        prepared = made
    prepared.run.execute(lambda event: None)
    opened = RunFolder.open(folder, write=False)
    try:
        return opened.verified_digest().hex()
    finally:
        opened.close()


def test_unlike_islands_make_the_same_ledger_with_one_and_two_workers(config: Path) -> None:
    assert grown(config, "one", 40, 1) == grown(config, "two", 40, 2)


def test_unlike_islands_go_on_after_a_stop_as_if_there_was_none(config: Path) -> None:
    whole = grown(config, "whole", 40, 2)
    assert grown(config, "parts", 13, 2) != whole
    assert grown(config, "parts", 40, 1) == whole


def test_islands_with_operators_of_their_own_share_nothing_that_is_learned(config: Path) -> None:
    made = prepare(config.parent / "problem", config=config, out=config.parent / "run", evaluations=5)
    assert not isinstance(made, str)
    try:
        parts = made.run._assembled.parts
        first, second, third = ([named.operator for named in own] for own in parts.operators)
        assert first[0] is third[0]
        assert second[0] is not first[0]
        assert [type(selector).__name__ for selector in parts.selectors] == ["Greedy", "Uniform", "Puct"]
        assert [len(island) for island in parts.population.islands] == [0, 0, 0]
        assert [type(island.archive).__name__ for island in parts.population.islands] == [
            "Bounded", "Bounded", "TopPerParent",
        ]  # fmt: skip
    finally:
        made.run.folder.close()
