"""The Python call: live events, waiting for the result, from inside a running event loop too."""

import asyncio
import threading
from pathlib import Path

import pytest
import speciate
from speciate.core.errors import SpeciateError
from speciate.core.events import IndividualAdmitted, RunEnded, RunStarted
from speciate.core.scaffold import new_problem


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_problem("points", tmp_path_factory.mktemp("problem"))


def test_events_come_until_the_end_and_the_best_is_there(problem: Path, tmp_path: Path) -> None:
    run = speciate.search(problem, evaluations=8, seed=1, out=tmp_path / "run")
    events = list(run)
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    assert sum(isinstance(event, IndividualAdmitted) for event in events) == 8
    assert run.best is not None
    assert run.best.score > 0
    assert run.result().evaluations == 8
    assert list(run) == []


def test_a_search_runs_inside_a_running_event_loop(problem: Path, tmp_path: Path) -> None:
    async def notebook_cell() -> float:
        best = speciate.search(problem, evaluations=4, out=tmp_path / "run").best
        assert best is not None
        return best.score

    assert asyncio.run(notebook_cell()) > 0


def test_a_search_can_be_stopped_and_keeps_what_it_has(problem: Path, tmp_path: Path) -> None:
    run = speciate.search(problem, evaluations=100_000, out=tmp_path / "run")
    for event in run:
        if isinstance(event, IndividualAdmitted) and event.evaluations >= 5:
            break
    result = run.stop()
    assert result.status == "interrupted"
    assert result.evaluations >= 5
    assert result.best is not None


def test_what_a_caller_can_mend_is_raised_at_once(problem: Path, tmp_path: Path) -> None:
    with pytest.raises(SpeciateError, match="did you mean 'circle_packing'"):
        speciate.search("circle_packin")
    with pytest.raises(SpeciateError, match="shinka"):
        speciate.search(problem, settings=["selector.use=shinca"], out=tmp_path / "run")


def test_a_failing_run_raises_when_asked(problem: Path, tmp_path: Path) -> None:
    (problem / "evaluator.py").read_text()
    folder = new_problem("broken", tmp_path)
    (folder / "seed.py").write_text("def main():\n    raise ValueError('ill')\n")
    run = speciate.search(folder, evaluations=3, out=tmp_path / "run")
    with pytest.raises(SpeciateError, match="ill"):
        run.result()


def test_a_run_says_when_its_total_was_reached_and_reaches_a_new_one(problem: Path, tmp_path: Path) -> None:
    speciate.search(problem, evaluations=5, seed=2, out=tmp_path / "run").result()
    with pytest.raises(SpeciateError, match="already holds a run"):
        speciate.search(problem, evaluations=5, out=tmp_path / "run")


def test_to_stop_what_has_ended_gives_its_result(problem: Path, tmp_path: Path) -> None:
    run = speciate.search(problem, evaluations=3, out=tmp_path / "run")
    ended = run.result()
    assert run.stop() == ended


def test_no_more_workers_are_started_than_there_are_tickets_in_flight(problem: Path, tmp_path: Path) -> None:
    started = 0
    for _ in speciate.search(problem, evaluations=3, workers=9, out=tmp_path / "run"):
        started = max(started, sum(thread.name.startswith("speciate-worker") for thread in threading.enumerate()))
    assert 1 <= started <= 4
