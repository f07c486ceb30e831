"""Texts of bits: an operator and an embedder for landscapes, on which strategies are tried in seconds."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..core.component import ComponentOptions
from ..core.errors import ComponentError
from ..core.program import Program
from ..core.records import Brief, Proposal, Reason, Refusal
from ..core.slots import Embedder, Operator, Vector

if TYPE_CHECKING:
    from ..core.calls import Calls
    from ..core.problem import Problem

LONGEST = 1 << 16


class Bits(Operator):
    """Crossover and mutation of a text of 0 and 1, as a genetic algorithm has them.

    With probability `crossover` each bit comes from the parent or from the inspiration, alike; then each is flipped
    with probability `flips` / n. An offspring may so be its parent or somebody seen before: that is refused like
    any other duplicate. A text that is shorter than the problem's option `n` is repeated to that length first.
    """

    class Options(ComponentOptions):
        """Options of `bits`."""

        flips: float = Field(default=1.0, gt=0, description="Mean number of bits that are flipped.")
        crossover: float = Field(default=0.3, ge=0, le=1, description="Share of offspring of two parents.")

    options: Options
    inspirations = 1

    def open(self, problem: "Problem", calls: "Calls | None") -> None:
        """Learn how long a text is. Raises ComponentError when the program is not one of bits."""
        self._main = problem.main
        self._length = problem.options.get("n")
        self._bits(problem.seeds[0])

    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        """Return an offspring, or a refusal when it is its parent."""
        parent = self._bits(brief.parent.program)
        child, name = parent, "bits/mutation"
        mates = [self._bits(mate.program) for mate in brief.inspirations]
        if rng.random() < self.options.crossover and mates and len(mates[0]) == len(parent):
            child, name = np.where(rng.random(len(parent)) < 0.5, parent, mates[0]), "bits/crossover"
        child = child ^ (rng.random(len(child)) < self.options.flips / len(child))
        if np.array_equal(child, parent):
            return Proposal(None, name, Refusal(Reason.NO_CHANGE, "no bit was flipped"))
        text = "".join("01"[int(bit)] for bit in child) + "\n"
        return Proposal(brief.parent.program.with_text(self._main, text), name)

    def _bits(self, program: Program) -> NDArray[np.bool_]:
        bits = read_bits(program.text(self._main))
        if bits is None:
            raise ComponentError(f"the operator bits changes texts of 0 and 1; {self._main} is none")
        length = self._length if isinstance(self._length, int) else len(bits)
        return np.resize(bits, max(length, len(bits)))


class BitsEmbedder(Embedder):
    """A text of n bits as n numbers ±1/sqrt(n): the cosine is 1 - 2 h / n for the Hamming distance h.

    Texts of other lengths, and texts that are none of bits, are near to nothing.
    """

    dimension = LONGEST

    def embed(self, program: Program, main: str) -> Vector:
        """Return the vector of the main file."""
        bits = read_bits(program.text(main))
        if bits is None or len(bits) > LONGEST:
            return Vector(np.zeros(0, np.int32), np.zeros(0, np.float32))
        values = np.where(bits, 1.0, -1.0) / np.sqrt(len(bits))
        return Vector(np.arange(len(bits), dtype=np.int32), values.astype(np.float32))


def read_bits(text: str) -> NDArray[np.bool_] | None:
    """Return the bits of a text, blanks at its ends left out, or None when it is not made of 0 and 1."""
    stripped = text.strip()
    return np.array([bit == "1" for bit in stripped], np.bool_) if stripped and not set(stripped) - {"0", "1"} else None
