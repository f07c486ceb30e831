"""Whole runs in which a scripted policy writes: scores rise, repairs are paid and capped, workers change nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import speciate
from speciate.core.errors import SpeciateError
from speciate.core.events import IndividualAdmitted, RunEnded
from speciate.core.folder import RunFolder
from speciate.core.records import Reason
from speciate.core.store import Birth

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _script_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(HERE))
    yield
    sys.modules.pop("script", None)


def run(out: Path, function: str, operator: str = "rewrite", workers: int = 1, n: int = 6, more: Any = ()) -> Any:
    settings = [f"policy.function=script:{function}", f"operator.use={operator}", "problem.n=10", *more]
    return speciate.search(
        "circle_packing", evaluations=n, seed=3, workers=workers, out=out, policy="scripted", settings=settings
    )


def test_a_rewrite_improves_the_score_of_circle_packing(tmp_path: Path) -> None:
    search = run(tmp_path / "run", "rewrites")
    admitted = [event for event in search if isinstance(event, IndividualAdmitted)]
    assert admitted[0].individual.parent is None
    assert search.best.score > admitted[0].evaluation.metrics["sum_radii"]
    assert "jitter_one(trial, rng" in search.best.program.text("seed.py")
    assert {event.individual.operator for event in admitted[1:]} == {"rewrite"}


def test_one_and_two_workers_write_the_same_history(tmp_path: Path) -> None:
    digests = []
    for n in (1, 2):
        search = run(tmp_path / str(n), "rewrites", workers=n)
        search.result()
        folder = RunFolder.open(search.dir, write=False)
        digests.append(folder.verified_digest())
        folder.close()
    assert digests[0] == digests[1]


def births(search: Any) -> list[Birth]:
    folder = RunFolder.open(search.dir, write=False)
    found = [birth for birth in folder.store.births() if birth.selection.parent is not None]
    folder.close()
    return found


def test_report_59_a_syntax_error_is_told_and_mended_and_both_calls_are_paid(tmp_path: Path) -> None:
    search = run(tmp_path / "run", "mends_when_told", n=2)
    search.result()
    written = births(search)
    assert written
    assert all(birth.refusal is None or birth.refusal.reason is Reason.DUPLICATE for birth in written)
    assert all(birth.usage.model_calls == 2 and len(birth.replies) == 2 for birth in written)


def test_repairs_are_capped(tmp_path: Path) -> None:
    search = run(tmp_path / "run", "refuses", more=["operator.repairs=3", "budget.proposals=4"])
    search.result()
    refused = births(search)
    assert refused
    assert all(birth.refusal is not None and birth.usage.model_calls == 4 for birth in refused)


def test_report_159_a_policy_that_only_refuses_ends_with_its_reason_and_pays_for_no_evaluation(tmp_path: Path) -> None:
    events = list(run(tmp_path / "run", "refuses", more=["operator.repairs=0", "budget.proposals=4"]))
    assert isinstance(events[-1], RunEnded)
    assert events[-1].evaluations == 1


def test_an_operator_that_asks_a_policy_says_so_when_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(SpeciateError, match="asks a policy and the run has none"):
        speciate.search("circle_packing", evaluations=2, out=tmp_path / "run", settings=["operator.use=diff"]).result()
