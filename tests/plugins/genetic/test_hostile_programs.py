"""Programs of every kind of Python, and texts that are none: offspring are valid, or there are none."""

import numpy as np
import pytest
from speciate.plugins.genetic.catalogue import Catalogue
from speciate.plugins.genetic.variation import OPERATORS, vary

NONE = {
    "empty block": "def main():\n    # EVOLVE-BLOCK-START\n    # EVOLVE-BLOCK-END\n    return 1\n",
    "syntax error": "def main(:\n    # EVOLVE-BLOCK-START\n    x = 1\n    # EVOLVE-BLOCK-END\n",
    "empty text": "",
    "null byte": "x = 1\0",
    "open block": "# EVOLVE-BLOCK-START\nx = 1\n",
    "too deep": "x = " + "(" * 5000 + "1" + ")" * 5000,
}
KINDS = {
    "pass": ["pass"],
    "async": ["async def g(u):", "    async with u as v:", "        x = v", "    return await x", "x = g(a)"],
    "lambda": ["x = (lambda u, /, v=2, *w, k=1, **z: u + v + k)(a)"],
    "walrus": ["if (x := a * 2.0) > 3:", "    x = 1"],
    "match": ["x = 1.0", "match a:", "    case [u, *v]:", "        x = u", "    case {'k': u, **w}:", "        x = u"],
    "try": ["try:", "    x = 1 / a", "except ZeroDivisionError as e:", "    x = 0", "finally:", "    y = 2"],
    "with": ["with open(a) as (u, v):", "    x = u + v * 2"],
    "global": ["global G", "G = a * 2", "x = G + 1"],
    "star-args": ["x = max(*a, *b, **{'key': lambda u: u * 2})"],
    "f-strings": ["y = 2.5", "x = f'{a!r:>{y}} and {y * 2:.3f} {{}}' + 'text'"],
    "builtins": ["max = a * 2", "list = max + 1", "x = list - max"],
    "comprehension": ["x = [u * 2 for u in a if u > 1]", "y = {u: v for u, v in x}"],
    "delete": ["x = 2", "y = x * 3", "del x", "x = y + 1"],
    "docstring": ["def g():", '    """Two', '    lines."""', "    return 2", "x = g() * 2"],
    "huge int": ["x = a * 1" + "0" * 400],
    "huge float": ["x = a * 1e308 + 1e999"],
    "yield": ["x = yield a * 2"],
}


def offspring(text: str) -> list[str]:
    made = [
        vary(text, (donor,), Catalogue.of("def broken(:"), np.random.default_rng(seed), kind, 0.3)
        for kind in OPERATORS
        for donor in (text, "def main(a, b):\n  x = b - 1.5\n  return x\n", "def (")
        for seed in range(2)
    ]
    return [child for child in made if child is not None]


@pytest.mark.parametrize("kind", NONE)
def test_a_text_that_cannot_be_varied_has_no_offspring(kind: str) -> None:
    assert offspring(NONE[kind]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_offspring_of_any_kind_of_statement_compile(kind: str) -> None:
    text = "G = 0\n\n\ndef main(a, b):\n    x = 0\n    # EVOLVE-BLOCK-START\n"
    text += "".join(f"    {line}\n" for line in KINDS[kind]) + "    # EVOLVE-BLOCK-END\n    return x\n"
    made = offspring(text)
    assert made
    for child in made:
        compile(child, "child", "exec")


def test_a_nonlocal_name_is_known_to_a_nested_function() -> None:
    made = offspring(
        "def main(a):\n    n = 1\n    def g():\n        nonlocal n\n        # EVOLVE-BLOCK-START\n"
        "        n = n + 2.0\n        # EVOLVE-BLOCK-END\n    g()\n    return n\n"
    )
    assert any("n + 2.0" not in child for child in made)


def test_a_local_name_that_hides_a_builtin_is_not_read_before_it_is_assigned() -> None:
    inside = "    # EVOLVE-BLOCK-START\n    max = a\n    x = max + 1\n    # EVOLVE-BLOCK-END\n"
    text = f"def main(a):\n{inside}    return x + max\n"
    made = offspring(text)
    assert made
    for child in made:
        names: dict[str, object] = {}
        exec(compile(child, "child", "exec"), names)
        try:
            names["main"](2.0)  # type: ignore[operator]
        except (TypeError, ArithmeticError):
            continue


def test_a_huge_block_does_not_grow() -> None:
    lines = "".join(f"    x{k} = a + {k}\n" for k in range(100))
    text = f"def main(a):\n{lines}    return {' + '.join(f'x{k}' for k in range(100))}\n"
    made = [vary(text, (text,), Catalogue(), np.random.default_rng(3), kind, 0.3) for kind in OPERATORS]
    found = [child for child in made if child is not None]
    assert found
    assert all(child.count("\n") <= text.count("\n") for child in found)
