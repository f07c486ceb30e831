"""Frozen text stays byte for byte, whatever the layout of the program around the evolve blocks."""

import numpy as np
import pytest
from speciate.core.program import frozen_text
from speciate.plugins.genetic.catalogue import Catalogue
from speciate.plugins.genetic.variation import OPERATORS, vary

START, END = "# EVOLVE-BLOCK-START", "# EVOLVE-BLOCK-END"
PLAIN = (
    f"import math\n\n\ndef main(a):\n    {START}\n    x = a * 2.0\n    y = x + 3.0\n    {END}\n    return  x+y # odd\n"
)
LAYOUTS = {
    "plain": PLAIN,
    "comment after the marker": PLAIN.replace(START, "#EVOLVE-BLOCK-START  what may change"),
    "tabs": PLAIN.replace("    ", "\t"),
    "crlf": PLAIN.replace("\n", "\r\n"),
    "carriage returns": PLAIN.replace("\n", "\r"),
    "mixed line ends": PLAIN.replace("math\n", "math\r\n"),
    "non-ascii": PLAIN.replace("import math", 'größe = "Ωμέγα 🌀"'),
    "form feed": PLAIN.replace("import math\n", "import math\n\x0c\n"),
    "line separator in a string": PLAIN.replace("import math", 'import math; s = "a\u2028b\x85"'),
    "nested function": "def main(a):\n    def inner(b):\n"
    + f"        {START}\n        x = a * 2.0\n        y = x + b\n        {END}\n        return x + y\n"
    + "    return inner( 1 )\n",
    "decorator": PLAIN.replace("def main", "@ (lambda f:f)\ndef main"),
    "method": "class A :\n  def main(self, a):\n"
    + f"    {START}\n    x = a * 2.0\n    y = x + 3.0\n    {END}\n    return x + y\n",
    "class body": f"class A :\n    {START}\n    x = 2.0\n    y = x + 3.0\n    {END}\n\ndef main( ): return A.x\n",
    "module level": f"import math\n{START}\nx = 2.0\ny = x * 3.0\n{END}\nprint( x,y )\n",
    "several blocks": PLAIN + "\n\n" + PLAIN.replace("main", "other"),
    "one line": f"def main(a):\n    {START}\n    x = a * 2.0\n    {END}\n    return ( x )\n",
    "two statements on a line": PLAIN.replace("2.0\n    y", "2.0; y"),
    "no final newline": PLAIN.rstrip("\n"),
    "marker ends the file": f"def main(a):\n    {START}\n    x = a * 2.0\n    return x\n    {END}",
    "async": PLAIN.replace("def main", "async  def main"),
    "with": "def main(a):\n  with open( a ) as f:\n"
    + f"    {START}\n    x = 2.0\n    y = f.read(3)\n    {END}\n  return x,y\n",
}


def offspring(text: str, seeds: int = 3) -> list[str]:
    donors = (PLAIN, text)
    made = [
        vary(text, donors, Catalogue(), np.random.default_rng(seed), kind, 0.3)
        for kind in OPERATORS
        for seed in range(seeds)
    ]
    return [child for child in made if child is not None]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_frozen_text_stays_byte_for_byte(layout: str) -> None:
    text = LAYOUTS[layout]
    made = offspring(text)
    assert made
    assert {frozen_text(child) for child in made} == {frozen_text(text)}


@pytest.mark.parametrize("opening", ["//", "--", "/*", "%", "<!--", "(*", ";"])
def test_markers_in_the_comment_style_of_another_language_freeze_text_too(opening: str) -> None:
    inside = (
        '"""\n' + f"{opening} EVOLVE-BLOCK-START\n" + '"""\nx = 2.0\n"""\n' + f"{opening} EVOLVE-BLOCK-END\n" + '"""\n'
    )
    made = offspring(inside)
    assert made
    assert all(frozen_text(child) == frozen_text(inside) for child in made)


def test_a_program_without_markers_keeps_its_final_newline_or_its_absence() -> None:
    text = "@str\ndef f():\n    return 1.5\n\n\nx = 2.0"
    made = offspring(text)
    assert made
    assert not any(child.endswith("\n") for child in made)


def test_a_decorator_on_the_first_statement_is_not_written_twice() -> None:
    text = "@str\ndef f():\n    return 1.5\n"
    changed = vary(text, (), Catalogue(), np.random.default_rng(0), "constant-redraw", 0.3)
    assert changed is not None
    assert changed.count("@str") == 1


def test_statements_that_share_a_line_are_not_written_twice() -> None:
    made = offspring(f"def main(a):\n    {START}\n    x = a * 2.0; y = x + 3.0\n    {END}\n    return x, y\n")
    perturbed = [child for child in made if "y = x +" in child]
    assert perturbed
    assert all(";" not in child for child in perturbed)
