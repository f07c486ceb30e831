"""Pruning takes out only dead code."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speciate.plugins.genetic.catalogue import Catalogue
from speciate.plugins.genetic.pruning import prune
from speciate.plugins.genetic.source import Source

NAMES = ("a", "b", "c")
atoms = st.sampled_from([*NAMES, "1", "2"])
simple = st.builds("{} = {} {} {}".format, st.sampled_from(NAMES), atoms, st.sampled_from(["+", "-"]), atoms).map(
    lambda line: [line]
)
leaves = st.one_of(
    simple,
    st.sampled_from(
        [["log.append(a)"], ["b += 1"], ["continue"], ["break"], ["return a, b, c, log"], ["f = lambda: c"]]
    ),
)


def nested(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    body = st.lists(inner, min_size=1, max_size=3).map(lambda parts: ["    " + line for part in parts for line in part])
    heads = st.sampled_from(["if a > b:", "for c in range(2):", "for k in range(2):", "try:", "while tick(log):"])

    def joined(head: str, lines: list[str], other: list[str]) -> list[str]:
        tail = ["except KeyError:" if head == "try:" else "else:", *other]
        return [head, *lines, *(tail if head == "try:" or head.startswith("if") else [])]

    return st.builds(joined, heads, body, body)


blocks = st.lists(st.recursive(leaves, nested, max_leaves=8), min_size=1, max_size=6)


def program(lines: list[str], around: str = "for round in range(2):") -> str:
    inside = "".join(f"        {line}\n" for line in lines)
    return (
        "def tick(log):\n    log.append(0)\n    return len(log) < 40\n\n\n"
        "def main():\n    a, b, c, log, k, f = 1, 2, 3, [], 0, None\n"
        f"    {around}\n        # EVOLVE-BLOCK-START\n{inside}        # EVOLVE-BLOCK-END\n    return a, b, c, log, k\n"
    )


def pruned(text: str) -> str:
    source = Source(text, Catalogue())
    prune(source, source.regions[0])
    return source.render()


def output(text: str) -> object:
    names: dict[str, object] = {}
    exec(compile(text, "program", "exec"), names)
    return names["main"]()  # type: ignore[operator]


def parses(text: str) -> bool:
    try:
        compile(text, "program", "exec")
    except SyntaxError:
        return False
    return True


@settings(max_examples=300, deadline=None, derandomize=True)
@given(blocks)
def test_a_pruned_program_gives_the_same_output(parts: list[list[str]]) -> None:
    text = program([line for part in parts for line in part])
    if parses(text):
        assert output(pruned(text)) == output(text)


@pytest.mark.parametrize(
    "lines",
    [
        ["go = 1", "while go:", "    a = a + 1", "    go = 0", "go = 5", "log.append(go)"],
        ["for k in range(3):", "    pass"],
        ["a = 5", "if b > 1:", "    continue", "a = 6"],
        ["a = 5", "f = lambda: a", "log.append(f())", "a = 6"],
    ],
    ids=["a loop's condition", "a loop's variable", "a jump", "a closure"],
)
def test_what_is_read_by_way_of_something_else_stays(lines: list[str]) -> None:
    assert output(pruned(program(lines))) == output(program(lines))


@pytest.mark.parametrize("line", ["dead = 1", "a = a", "dead = 1 + 2 * b"])
def test_dead_code_is_taken_out(line: str) -> None:
    assert line not in pruned(program([line, "b = b + 1"]))


def test_an_assignment_to_a_global_name_stays() -> None:
    inside = "    global g\n    g = 1\n    h = 2\n"
    text = f"def main():\n    # EVOLVE-BLOCK-START\n{inside}    # EVOLVE-BLOCK-END\n    return 3\n"
    assert "g = 1" in pruned(text)
    assert "h = 2" not in pruned(text)


def test_an_attribute_in_a_class_body_stays() -> None:
    inside = "        # EVOLVE-BLOCK-START\n        x = 1\n        y = 2\n        # EVOLVE-BLOCK-END\n"
    text = f"def main():\n    class A:\n{inside}    return A\n"
    assert ast.dump(ast.parse(pruned(text))) == ast.dump(ast.parse(text))
