"""The operator and the embedder of texts of bits."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from speciate.core.errors import ComponentError
from speciate.core.loading import Plugins
from speciate.core.problem import Problem, load_problem
from speciate.core.program import Program
from speciate.core.records import Brief, Proposal, Reason, Selection
from speciate.core.testing import EmbedderContract
from speciate.core.testing.search_contracts import material, sample_problem
from speciate.islands.novelty import dot
from speciate.plugins.bits import Bits, BitsEmbedder

ZEROS, ONES = "0" * 30 + "\n", "1" * 30 + "\n"


class TestEmbedder(EmbedderContract):
    programs = ("0101\n", "1" * 30, "", "no bits", "x = '\ud800'\n", "0")

    def component(self) -> BitsEmbedder:
        return BitsEmbedder()


@pytest.fixture(scope="module")
def nk() -> Problem:
    return load_problem("nk", {"nk": Plugins.installed().registry.path("problem", "nk")}, {})


def offspring(problem: Problem, parent: str, *mates: str, rng: int = 0, **options: float) -> Proposal:
    operator = Bits(Bits.Options(**options))
    operator.open(problem, None)
    others = tuple(material(problem, id, text, 0.5) for id, text in enumerate(mates, 2))
    brief = Brief(Selection(9, 0, 1, (), "bits", {}), material(problem, 1, parent, 0.5), others)
    return asyncio.run(operator.propose(brief, {}, np.random.default_rng(rng)))


def texts(problem: Problem, *given: str, **options: float) -> list[str]:
    made = [offspring(problem, *given, rng=rng, **options) for rng in range(200)]
    return [proposal.program.text("bits.txt") for proposal in made if proposal.program is not None]


def test_so_many_bits_are_flipped_as_was_said(nk: Problem) -> None:
    flipped = [text.count("1") for text in texts(nk, ZEROS, crossover=0.0, flips=3.0)]
    assert 2.6 < float(np.mean(flipped)) < 3.6


def test_crossover_takes_each_bit_from_one_of_two(nk: Problem) -> None:
    ones = [text.count("1") for text in texts(nk, ZEROS, ONES, crossover=1.0, flips=1e-9)]
    assert 14 < float(np.mean(ones)) < 16
    assert float(np.std(ones)) > 1.5


def test_an_offspring_without_a_flip_is_refused(nk: Problem) -> None:
    proposal = offspring(nk, ZEROS, flips=1e-9, crossover=0.0)
    assert proposal.program is None
    assert proposal.refusal is not None
    assert proposal.refusal.reason is Reason.NO_CHANGE


def test_a_short_text_is_repeated_to_the_length_of_the_problem(nk: Problem) -> None:
    for text in texts(nk, "01\n", crossover=0.0)[:20]:
        assert len(text) == 31
        assert 10 < text.count("1") < 20


def test_a_program_that_is_no_text_of_bits_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="changes texts of 0 and 1"):
        Bits().open(sample_problem(tmp_path / "p"), None)


@pytest.mark.parametrize("distance", [0, 1, 3, 15, 30])
def test_the_cosine_falls_with_the_hamming_distance(distance: int) -> None:
    one, other = (Program.of({"bits.txt": "1" * d + "0" * (30 - d)}) for d in (0, distance))
    found = dot(BitsEmbedder().embed(one, "bits.txt"), BitsEmbedder().embed(other, "bits.txt"))
    assert found == pytest.approx(1 - 2 * distance / 30, abs=1e-6)
