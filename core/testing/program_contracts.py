"""The contracts of what compares programs: embedder and novelty."""

import numpy as np

from ..program import Program
from ..slots import Embedder, Novelty, Vector
from .component_contract import ComponentContract
from .samples import unit_vector


class EmbedderContract(ComponentContract):
    """What the engine relies on in an embedder. `programs` are the texts it is tried on."""

    programs: tuple[str, ...] = (
        "def main():\n    return 1\n",
        "def main():\n    total = 0\n    for i in range(10):\n        total += i * i\n    return total\n",
        "import math\n\n\ndef helper(x):\n    return math.sqrt(x)\n\n\ndef main():\n    return helper(2.0)\n",
        "",
        "this does not parse (",
        "# nothing but a comment: ä ß 東京\n",
        "x = '\\ud800'\n",
    )

    def component(self) -> Embedder:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_a_vector_is_sparse_sorted_and_of_unit_length(self) -> None:
        for text, vector in self._vectors():
            assert vector.indices.dtype == np.int32, f"{text!r}: the indices are {vector.indices.dtype}, not int32"
            assert vector.values.dtype == np.float32, f"{text!r}: the values are {vector.values.dtype}, not float32"
            assert vector.indices.shape == vector.values.shape == (len(vector.indices),), f"{text!r}: shapes differ"
            assert (np.diff(vector.indices) > 0).all(), f"{text!r}: the indices do not ascend"
            inside = (vector.indices >= 0) & (vector.indices < self.component().dimension)
            assert inside.all(), f"{text!r}: an index is not below the dimension"
            length = float(np.linalg.norm(vector.values.astype(np.float64)))
            assert not len(vector.indices) or abs(length - 1) < 1e-5, f"{text!r}: the length is {length}"

    def test_equal_programs_get_equal_vectors(self) -> None:
        for (text, first), (_, second) in zip(self._vectors(), self._vectors(), strict=True):
            same = np.array_equal(first.indices, second.indices) and np.array_equal(first.values, second.values)
            assert same, f"{text!r}: another instance gives another vector"

    def test_equal_programs_have_equal_structure(self) -> None:
        for text in self.programs:
            program = Program.of({"program.py": text})
            first, second = (self.component().structure(program, "program.py") for _ in range(2))
            assert isinstance(first, str), f"{text!r}: the structure is {first!r}, not text"
            assert first == second, f"{text!r}: another instance gives another structure"

    def _vectors(self) -> list[tuple[str, Vector]]:
        embedder = self.component()
        return [(text, embedder.embed(Program.of({"program.py": text}), "program.py")) for text in self.programs]


class NoveltyContract(ComponentContract):
    """What the engine relies on in a judge of novelty."""

    def component(self) -> Novelty:
        """Return a new instance; every test asks for its own."""
        raise NotImplementedError("define `component`")

    def test_nothing_is_near_at_first(self) -> None:
        assert self.component().nearest("scope", unit_vector(0)) is None, "there is nothing to be near to"

    def test_a_program_is_near_to_itself(self) -> None:
        novelty = self.component()
        for id in range(200):
            novelty.add("scope", id, unit_vector(id))
        found = novelty.nearest("scope", unit_vector(17))
        assert found is not None, "the very same vector was added and is not found"
        assert found[0] == 17, f"individual {found[0]} was found, not 17"
        assert abs(found[1] - 1) < 1e-5, f"the cosine of a vector with itself is {found[1]}"

    def test_another_scope_does_not_count(self) -> None:
        novelty = self.component()
        novelty.add("here", 1, unit_vector(1))
        assert novelty.nearest("there", unit_vector(1)) is None, "a scope sees another scope's programs"

    def test_the_zero_vector_is_near_to_nothing(self) -> None:
        novelty, zero = self.component(), Vector(np.empty(0, np.int32), np.empty(0, np.float32))
        novelty.add("scope", 1, zero)
        novelty.add("scope", 2, unit_vector(2))
        assert novelty.nearest("scope", zero) is None, "the zero vector is near to something"

    def test_novelty_lies_between_0_and_1(self) -> None:
        novelty = self.component()
        others = [unit_vector(id) for id in range(30)]
        assert novelty.novelty(others[0], []) == 1, "with nobody there, everything is new"
        for vector in (others[3], unit_vector(99)):
            assert 0 <= novelty.novelty(vector, others) <= 1, "novelty is a number in [0, 1]"
