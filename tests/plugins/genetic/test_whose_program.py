"""Whose program an offspring is made of, where a program and the output it starts from are two things."""

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from speciate import search
from speciate.core.folder import RunFolder
from speciate.core.problem import Problem, load_problem
from speciate.core.records import Brief, Material, Selection
from speciate.core.testing.search_contracts import material, sample_problem
from speciate.plugins.genetic.operator import CONTINUE, TRANSFER, Genetic

PROGRAM = """def improve(previous, effort, seed):
    # EVOLVE-BLOCK-START
    x = {number}
    # EVOLVE-BLOCK-END
    return [x]


def main():
    return improve([0], 1, 0)
"""


@pytest.fixture
def improving(tmp_path: Path) -> Problem:
    """Return a problem whose programs go on from an output."""
    sample_problem(tmp_path / "p")
    about = tmp_path / "p" / "problem.toml"
    about.write_text(about.read_text().replace('name = "sample"\n', 'name = "sample"\nimprove = "improve"\n'))
    (tmp_path / "p" / "seed.py").write_text(PROGRAM.format(number=0))
    return load_problem(tmp_path / "p", {}, {})


def member(problem: Problem, id: int, fitness: float, gain: float | None) -> Material:
    return replace(material(problem, id, PROGRAM.format(number=id), fitness), gain=gain)


def taken(problem: Problem, kind: str, brief: Brief) -> str:
    """Return the line of the program that an offspring of `kind` has between the markers."""
    operator = Genetic()
    operator.open(problem, None)
    proposal = asyncio.run(operator.propose(brief, {"kinds": [kind], "steps": [0.0]}, np.random.default_rng(0)))
    assert proposal.program is not None
    assert proposal.input == brief.parent.individual.id
    return proposal.program.text(problem.main).splitlines()[2].strip()


def brief(parent: Material, *others: Material) -> Brief:
    return Brief(Selection(9, 0, parent.individual.id, (), "genetic", {}), parent, others)


def test_a_program_that_went_far_at_once_is_taken_over_and_not_the_one_that_stands_high(improving: Problem) -> None:
    parent = member(improving, 1, 5.0, 0.1)
    idle, tiny, strong = (member(improving, *of) for of in ((2, 9.0, 0.0), (3, 8.9, 0.01), (4, 8.0, 6.0)))
    assert taken(improving, TRANSFER, brief(parent, idle, tiny, strong)) == "x = 4"


def test_of_programs_that_proved_nothing_the_one_that_stands_highest_is_taken_over(improving: Problem) -> None:
    parent = member(improving, 1, 5.0, None)
    others = [member(improving, 2, 6.0, 0.0), member(improving, 3, 7.0, None)]
    assert taken(improving, TRANSFER, brief(parent, *others)) == "x = 3"


def test_who_continues_keeps_the_own_program(improving: Problem) -> None:
    parent = member(improving, 1, 5.0, 0.0)
    assert taken(improving, CONTINUE, brief(parent, member(improving, 2, 6.0, 3.0))) == "x = 1"


def test_a_gain_is_what_the_database_says(tmp_path: Path) -> None:
    run = search("circle_packing", evaluations=6, seed=3, out=tmp_path / "run", workers=1)
    run.result()
    folder = RunFolder.open(tmp_path / "run", write=False)
    rows = folder.store.db.query("SELECT id, gain FROM individuals")
    gains = {row["id"]: row["gain"] for row in rows}
    assert gains
    assert {id: folder.store.material(id).gain for id in gains} == gains
    folder.close()
