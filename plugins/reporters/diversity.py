"""Logs how diverse a run's population is, at intervals, and warns with the likely cause when it collapses."""

import json
import logging
import math
import os
import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...core.database import DATABASE
from ...core.events import IndividualAdmitted, RunStarted
from ...core.slots import Vector
from ...islands.diversity import Diversity, collapse, coverage, founder_of, measure

log = logging.getLogger("speciate")

EVERY = 50
"""Evaluations between two measurements."""

WINDOW = 100
"""How many of the individuals that were kept last are measured: about who is there, whatever the archive."""

LOG = "diversity.jsonl"
"""The file in the run's folder: one JSON object a line."""

Cell = tuple[int, int]


class DiversityLog:
    """Measures one run. Events say when; who is there is read from the run's database."""

    def __init__(self, started: RunStarted) -> None:
        self._folder = started.directory
        self._parents: dict[int, int | None] = {}
        self._cells: dict[int, Cell] = {}
        self._history, self._ticket, self._collapsed = _read(self._folder / LOG)

    def admit(self, event: IndividualAdmitted) -> None:
        """Measure when it is time, write it down, and warn when a collapse begins."""
        if event.evaluations % EVERY:
            return
        ticket = event.individual.id
        with closing(sqlite3.connect(f"{(self._folder / DATABASE).resolve().as_uri()}?mode=ro", uri=True)) as db:
            diversity, cover = self._measure(db)
            refused = dict(
                db.execute(
                    "SELECT refusal, count(*) FROM tickets WHERE ticket > ? AND refusal IS NOT NULL GROUP BY 1",
                    (self._ticket,),
                )
            )
        self._history.append(diversity)
        warning = collapse(self._history, refused, ticket - self._ticket)
        if warning is not None and not self._collapsed:
            log.warning("after %d evaluations %s", event.evaluations, warning)
        self._ticket, self._collapsed = ticket, warning is not None
        line = {
            "event": "diversity", "ticket": ticket, "evaluations": event.evaluations, **asdict(diversity),
            "coverage": cover, "refused": refused, "warning": warning,
        }  # fmt: skip
        with (self._folder / LOG).open("a+b") as file:
            file.write((b"" if _ends_a_line(file) else b"\n") + json.dumps(line).encode() + b"\n")

    def _measure(self, db: sqlite3.Connection) -> tuple[Diversity, float]:
        """Return the diversity of the newest that were kept, and their share of all cells that were ever reached."""
        newest = max(self._parents, default=-1)
        grown = db.execute("SELECT id, parent, length, novelty FROM individuals WHERE id > ?", (newest,))
        for id, parent, length, novelty in grown:
            self._parents[id] = parent
            self._cells[id] = _cell(length, novelty)
        rows = db.execute(
            """SELECT i.id, t.content, m.indices, m.vals FROM individuals i JOIN tickets t ON t.ticket = i.id
               LEFT JOIN embeddings m ON m.individual = i.id WHERE i.kept ORDER BY i.id DESC LIMIT ?""",
            (WINDOW,),
        ).fetchall()
        vectors = [
            Vector(np.frombuffer(indices, "<i4"), np.frombuffer(values, "<f4"))
            for _, _, indices, values in rows
            if indices is not None
        ]
        founders = [founder_of(id, self._parents, 1) for id, *_ in rows]
        diversity = measure(vectors, [content for _, content, *_ in rows], founders)
        return diversity, coverage([self._cells[id] for id, *_ in rows], len(set(self._cells.values())))


def _cell(length: int, novelty: float) -> Cell:
    """Return the cell of a program: how often its length doubled, and the tenth of its novelty."""
    return int(math.log2(max(1, length))), min(9, int(10 * novelty))


def _ends_a_line(file: IO[bytes]) -> bool:
    """Say whether a file is empty or its last line is whole."""
    if not file.seek(0, os.SEEK_END):
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _read(path: Path) -> tuple[list[Diversity], int, bool]:
    """Return what earlier sessions measured, after which ticket they did last, and whether it was a collapse.

    A last line that was cut short is left out.
    """
    history: list[Diversity] = []
    ticket, collapsed = -1, False
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            values: dict[str, Any] = json.loads(line)
        except json.JSONDecodeError:
            continue
        history.append(Diversity(values["members"], values["distance"], values["unique"], values["lineages"]))
        ticket, collapsed = values["ticket"], values["warning"] is not None
    return history, ticket, collapsed
