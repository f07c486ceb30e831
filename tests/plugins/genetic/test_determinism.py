"""Equal chance gives equal offspring, in this process and in another."""

import subprocess
import sys

import numpy as np
from speciate.plugins.genetic.catalogue import Catalogue
from speciate.plugins.genetic.variation import OPERATORS, vary

SCRIPT = """
import hashlib
from pathlib import Path
import numpy as np
import speciate.problems
from speciate.core.problem import load_problem
from speciate.plugins.genetic.catalogue import Catalogue
from speciate.plugins.genetic.variation import OPERATORS, vary
problem = load_problem(Path(speciate.problems.__path__[0]) / "circle_packing", {}, {})
text = problem.seeds[0].text(problem.main)
out = [vary(text, (text,), Catalogue.of(problem.blocks), np.random.default_rng(s), k, 0.3)
       for k in OPERATORS for s in range(4)]
print(hashlib.sha256(repr(out).encode()).hexdigest(), sum(o is not None for o in out))
"""
PROGRAM = "def main(a, b):\n    x = a * 2.0\n    y = x - b\n    return x + y\n"


def printed(hash_seed: str) -> str:
    environment = {"PYTHONHASHSEED": hash_seed, "PATH": "", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True
    ).stdout.decode()


def test_offspring_do_not_depend_on_the_hash_seed() -> None:
    first, second = printed("1"), printed("2")
    assert first == second
    assert int(first.split()[1]) > 20


def test_equal_chance_gives_equal_offspring() -> None:
    def run() -> list[str | None]:
        rng = np.random.default_rng(5)
        return [vary(PROGRAM, (PROGRAM,), Catalogue(), rng, kind, 0.3) for kind in OPERATORS for _ in range(3)]

    assert run() == run()
