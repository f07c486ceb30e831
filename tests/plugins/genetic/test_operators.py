"""Each operator on a small program: what it does, and where it does not apply."""

import ast

import numpy as np
import pytest
from speciate.plugins.genetic.catalogue import Catalogue
from speciate.plugins.genetic.variation import OPERATORS, vary

BLOCKS = """from typing import NewType

Score = NewType("Score", float)

class Plan: ...

def start(size: float = 1.0) -> Plan: ...
def turn(plan: Plan, angle: float = 0.5) -> Plan: ...
def flip(plan: Plan) -> Plan: ...
def score(plan: Plan) -> Score: ...
"""
CATALOGUE = Catalogue.of(BLOCKS)


def program(*lines: str, head: str = "") -> str:
    inside = "".join(f"    {line}\n" for line in lines)
    opening, closing = "    # EVOLVE-BLOCK-START\n", "    # EVOLVE-BLOCK-END\n"
    return f"import blocks\n\n\ndef main(a: float, b: float):\n{head}{opening}{inside}{closing}"


NUMBERS = program("x = a * 3.0", "y = x + b", "return x - y")
PLANS = program("p = blocks.start()", "q = blocks.turn(p, angle=0.5)", "return [p, q]")
LOOPS = program("x = a", "for k in range(3):", "    x = x + k", "return x")
FUNCTIONS = program("def f(u):", "    return u + 1", "return f(a)")
DONOR = program("z = a / 7.0", "z = z - 11.0", "return z")
OTHER_FUNCTION = program("def f(u):", "    return u * 99", "return f(b)")
NAMES = program("return a")


def children(operator: str, text: str, donors: tuple[str, ...] = (), count: int = 40) -> set[str]:
    made = (vary(text, donors, CATALOGUE, np.random.default_rng(k), operator, 0.3) for k in range(count))
    return {child for child in made if child is not None}


EFFECTS = [
    ("constant-perturb", NUMBERS, (), "x = a * 3.", False),
    ("constant-scale", NUMBERS, (), "x = a * 30.0", True),
    ("constant-redraw", NUMBERS, (), "x = a * 0.", True),
    ("operator-replace", NUMBERS, (), "y = x - b", True),
    ("expression-grow", NUMBERS, (), "x = a * 3.0\n    y = x + b\n    return x - y\n", False),
    ("expression-shrink", NUMBERS, (), "y = b", True),
    ("argument-change", PLANS, (), "angle=0.5", False),
    ("call-replace", PLANS, (), "blocks.flip(p)", True),
    ("expression-splice", NUMBERS, (DONOR,), "11.0", True),
    ("statement-delete", LOOPS, (), "for k", False),
    (
        "statement-swap",
        program("x = a", "x = b", "y = x", "x = a + 1", "return x + y"),
        (),
        "x = a + 1\n    y = x",
        True,
    ),
    ("statement-duplicate", program("x = a", "x = x * 2", "return x"), (), "x = x * 2\n    x = x * 2", True),
    ("statement-insert", program("z = a", "return z"), (DONOR,), "z = z - 11.0", True),
    ("statement-replace", program("z = a", "return z"), (DONOR,), "z = a / 7.0", True),
    ("block-insert", PLANS, (), "blocks.flip(", True),
    ("block-replace", PLANS, (), "q = blocks.flip(p)", True),
    ("block-crossover", program("z = a", "return z"), (DONOR,), "z = z - 11.0", True),
    ("function-splice", FUNCTIONS, (OTHER_FUNCTION,), "return u * 99", True),
    ("wrap-loop", program("x = a", "x = x * 2", "return x"), (), "for _ in range(", True),
    ("unwrap", program("x = a", "if x > 2:", "    x = 2", "return x"), (), "if x > 2", False),
    ("guard", PLANS, (), "if blocks.score(", True),
]
IDLE = [
    *[(kind, NAMES, ()) for kind in ("constant-perturb", "constant-scale", "constant-redraw", "operator-replace")],
    ("expression-grow", program("return None"), ()),
    ("expression-shrink", NAMES, ()),
    ("argument-change", NUMBERS, ()),
    ("call-replace", NUMBERS, ()),
    *[(kind, NUMBERS, ()) for kind in ("expression-splice", "statement-insert", "statement-replace")],
    *[(kind, NAMES, ()) for kind in ("statement-delete", "statement-swap", "statement-duplicate", "wrap-loop")],
    *[(kind, NUMBERS.replace("import blocks", ""), ()) for kind in ("block-insert", "block-replace", "guard")],
    ("block-crossover", NUMBERS, ()),
    ("function-splice", FUNCTIONS, (DONOR,)),
    ("unwrap", NUMBERS, ()),
]


def test_every_operator_has_a_case_of_its_effect_and_one_where_it_is_idle() -> None:
    assert [case[0] for case in EFFECTS] == list(OPERATORS)
    assert {case[0] for case in IDLE} == set(OPERATORS)


@pytest.mark.parametrize(("operator", "text", "donors", "shown", "appears"), EFFECTS, ids=[c[0] for c in EFFECTS])
def test_an_operator_has_its_effect(
    operator: str, text: str, donors: tuple[str, ...], shown: str, appears: bool
) -> None:
    assert (shown in text) is not appears
    assert any((shown in child) is appears for child in children(operator, text, donors))


@pytest.mark.parametrize(("operator", "text", "donors"), IDLE, ids=[c[0] for c in IDLE])
def test_an_operator_that_finds_nothing_to_work_on_gives_nothing(
    operator: str, text: str, donors: tuple[str, ...]
) -> None:
    assert children(operator, text, donors) == set()


@pytest.mark.parametrize("kind", ["constant-perturb", "constant-scale", "constant-redraw"])
def test_a_change_of_a_number_changes_nothing_else(kind: str) -> None:
    def shape(text: str) -> str:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                node.value = 0
        return ast.dump(tree)

    assert {shape(child) for child in children(kind, NUMBERS)} == {shape(NUMBERS)}


def test_an_unknown_operator_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        vary(NUMBERS, (), CATALOGUE, np.random.default_rng(0), "teleport", 0.3)
