"""The normal form: what makes two programs the same one."""

import ast

import pytest
from speciate.core.normal_form import normal_form
from speciate.core.parsing import parsed
from speciate.core.program import Program
from speciate.plugins.embedders.ngrams import AstNgrams

PROGRAM = """
import math

def main(n, seed=0):
    \"\"\"Says what it does.\"\"\"
    total = 0.0  # a comment
    for step in range(n):
        total = total + math.sin(step) * 0.5
    return total
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # a comment", ""),
        ('    """Says what it does."""\n', ""),
        ("total + math", "total  +  math"),
        ("total", "accumulated"),
        ("step", "k"),
        ("0.5", "5e-1"),
    ],
)
def test_what_cannot_matter_is_gone(old: str, new: str) -> None:
    changed = PROGRAM.replace(old, new)
    assert changed != PROGRAM
    assert normal_form(changed) == normal_form(PROGRAM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.5", "0.25"),
        ("sin", "cos"),
        ("total + math", "total - math"),
        ("n, seed=0", "m, seed=0"),
        ("seed=0", "seed=1"),
        ("def main", "def entry"),
        ("return total", "return step"),
        ("total = total + math", "step = total + math"),
        ("math.sin(step)", "math.sin(n)"),
    ],
)
def test_what_can_matter_stays(old: str, new: str) -> None:
    changed = PROGRAM.replace(old, new)
    assert changed != PROGRAM
    assert normal_form(changed) != normal_form(PROGRAM)


def test_swapped_names_are_told_apart() -> None:
    one = "def main():\n    a = 1\n    b = 2\n    return a - b\n"
    other = "def main():\n    a = 1\n    b = 2\n    return b - a\n"
    assert normal_form(one) != normal_form(other)


def test_a_local_name_that_hides_a_global_one_is_not_renamed() -> None:
    one = "import math\ndef main():\n    def f():\n        math = 1\n        return math\n    return math.pi\n"
    other = one.replace("math = 1", "x = 1").replace("return math\n", "return x\n")
    assert normal_form(one) != normal_form(other)


def test_a_text_that_is_not_python_loses_only_blanks_at_line_ends() -> None:
    assert normal_form("int main() {  \n  return 0;\n}\n") == "int main() {\n  return 0;\n}"
    assert normal_form("int  main()") != normal_form("int main()")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("class A:\n    x = 1\n", "class A:\n    y = 1\n"),
        (
            "def f():\n    class A:\n        x = 1\n    return A\n",
            "def f():\n    class A:\n        y = 1\n    return A\n",
        ),
        ("def f():\n    x = 1\n    return locals()\n", "def f():\n    y = 1\n    return locals()\n"),
        (
            "from m import *\ndef f():\n    x = 1\n    return x\n",
            "from m import *\ndef f():\n    y = 1\n    return y\n",
        ),
        ("def f():\n    global x\n    x = 1\n", "def f():\n    global y\n    y = 1\n"),
        ("def f():\n    x = 1\n    return f'{x=}'\n", "def f():\n    y = 1\n    return f'{y=}'\n"),
        ("f = lambda x: x\n", "f = lambda y: y\n"),
        ("x = 0.0\n", "x = -0.0\n"),
        ("x = 1\n", "x = 1.0\n"),
        ("x = 1\n", "x = True\n"),
        ("x = 'a b'\n", "x = 'a', 'b'\n"),
    ],
)
def test_names_that_others_can_see_and_constants_stay(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("except E as error:\n        return error", "except E as e:\n        return e"),
        ("except E:\n        return u'x'", "except E:\n        return 'x'"),
        ("except E:\n        return [k for k in a]", "except E:\n        return [i for i in a]"),
        ("except E:\n        return 0x10", "except E:\n        return 16"),
    ],
)
def test_other_ways_to_bind_a_local_name_do_not_matter(one: str, other: str) -> None:
    text = "def f(a):\n    try:\n        return g(a)\n    {}\n"
    assert text.format(one) != text.format(other)
    assert normal_form(text.format(one)) == normal_form(text.format(other))


@pytest.mark.parametrize(
    "text", ["x = " + "1 + " * 5000 + "1", "x = 0x" + "f" * 6000, "", "\0", "(" * 500, "x = '\ud800'", "def f(:"]
)
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(normal_form(text), str)


def test_who_reads_the_shared_tree_leaves_it_as_it_is() -> None:
    tree = parsed(PROGRAM)
    before = ast.dump(tree, include_attributes=True)
    normal_form(PROGRAM)
    AstNgrams().embed(Program.of({"a.py": PROGRAM}), "a.py")
    assert parsed(PROGRAM) is tree
    assert ast.dump(tree, include_attributes=True) == before
