"""The log of diversity: what it measures, when, after a stop, and that nothing it does reaches the run."""

import json
import logging
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from speciate.core.run import Totals
from speciate.core.search import Prepared, prepare, prepare_resume
from speciate.core.sink import EventSink
from speciate.core.slots import Vector
from speciate.core.testing.search_contracts import sample_problem
from speciate.islands.diversity import mean_distance, unique_share
from speciate.plugins.reporters.diversity import EVERY, LOG, WINDOW

WIDE = {"ticket": 0, "members": 20, "distance": 1.9, "unique": 1.0, "lineages": 9.0, "warning": None}


def execute(prepared: Prepared | str) -> None:
    assert isinstance(prepared, Prepared)
    prepared.run.execute(EventSink(prepared.listeners).emit)


def grown(folder: Path, evaluations: int, before: Mapping[str, Any] | None = None, seed: int = 1) -> list[Any]:
    """Run, or go on with, a small search in `folder`; return the lines of its log."""
    if (folder / "run.db").exists():
        execute(prepare_resume(folder, Totals(evaluations=evaluations)))
    else:
        sample_problem(folder.parent / f"{folder.name}-problem")
        prepared = prepare(
            folder.parent / f"{folder.name}-problem", out=folder, seed=seed, evaluations=evaluations, preset="shinka"
        )
        if before is not None:
            (folder / LOG).write_text(json.dumps(before) + "\n")
        execute(prepared)
    return lines(folder)


def lines(folder: Path) -> list[Any]:
    if not (folder / LOG).is_file():
        return []
    return [json.loads(line) for line in (folder / LOG).read_text("utf-8").splitlines()]


def test_diversity_is_logged_at_intervals_by_every_run(tmp_path: Path) -> None:
    logged = grown(tmp_path / "run", 2 * EVERY + 10)
    assert [(line["event"], line["evaluations"]) for line in logged] == [
        ("diversity", EVERY), ("diversity", 2 * EVERY),
    ]  # fmt: skip
    for line in logged:
        assert 0 < line["members"] <= WINDOW
        assert 0 < line["distance"] <= 2
        assert 0 < line["unique"] <= 1
        assert 1 <= line["lineages"] <= line["members"]
        assert 0 < line["coverage"] <= 1


def test_the_last_line_is_what_the_database_says(tmp_path: Path) -> None:
    (line,) = grown(tmp_path / "run", EVERY)
    db = sqlite3.connect(tmp_path / "run" / "run.db")
    rows = db.execute(
        "SELECT t.content, m.indices, m.vals FROM individuals i JOIN tickets t ON t.ticket = i.id "
        "JOIN embeddings m ON m.individual = i.id WHERE i.kept"
    ).fetchall()
    refused = dict(db.execute("SELECT refusal, count(*) FROM tickets WHERE refusal IS NOT NULL GROUP BY 1"))
    db.close()
    vectors = [Vector(np.frombuffer(indices, "<i4"), np.frombuffer(values, "<f4")) for _, indices, values in rows]
    assert line["members"] == len(rows)
    assert line["distance"] == pytest.approx(mean_distance(vectors))
    assert line["unique"] == unique_share([content for content, *_ in rows])
    assert line["refused"] == refused


def test_a_run_that_was_stopped_logs_what_the_uninterrupted_one_does(tmp_path: Path) -> None:
    whole = grown(tmp_path / "whole", 2 * EVERY)
    grown(tmp_path / "parts", EVERY + 13)
    assert grown(tmp_path / "parts", 2 * EVERY) == whole


def test_a_line_that_was_cut_short_is_passed_over(tmp_path: Path) -> None:
    grown(tmp_path / "run", EVERY)
    with (tmp_path / "run" / LOG).open("a") as file:
        file.write('{"event": "divers')
    execute(prepare_resume(tmp_path / "run", Totals(evaluations=2 * EVERY)))
    first, torn, second = (tmp_path / "run" / LOG).read_text().splitlines()
    assert torn == '{"event": "divers'
    assert [json.loads(line)["evaluations"] for line in (first, second)] == [EVERY, 2 * EVERY]


def test_a_collapse_is_warned_of_once_with_its_cause(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "speciate"):
        logged = grown(tmp_path / "run", 2 * EVERY, before=WIDE)
    said = [record.getMessage() for record in caplog.records if "collapsed" in record.getMessage()]
    assert len(said) == 1
    assert said[0].startswith(f"after {EVERY} evaluations the population has collapsed")
    assert "likely cause:" in said[0]
    assert all(line["warning"] for line in logged[1:])


def test_a_log_that_cannot_be_written_does_not_end_the_run(tmp_path: Path) -> None:
    sample_problem(tmp_path / "problem")
    prepared = prepare(tmp_path / "problem", out=tmp_path / "run", evaluations=EVERY + 5)
    assert isinstance(prepared, Prepared)
    (tmp_path / "run" / LOG).mkdir()
    result = prepared.run.execute(EventSink(prepared.listeners).emit)
    assert (result.status, result.evaluations) == ("budget", EVERY + 5)


def test_runs_side_by_side_are_logged_apart(tmp_path: Path) -> None:
    alone = [grown(tmp_path / f"alone-{seed}", EVERY, seed=seed) for seed in (1, 2)]
    threads = [
        threading.Thread(target=grown, args=(tmp_path / f"beside-{seed}", EVERY), kwargs={"seed": seed})
        for seed in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [lines(tmp_path / f"beside-{seed}") for seed in (1, 2)] == alone
    assert alone[0] != alone[1]
