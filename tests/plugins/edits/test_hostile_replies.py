"""Whatever a reply says, frozen text keeps its bytes and the reader answers with a program or a refusal."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from speciate.core.program import Program, frozen_files
from speciate.core.records import Refusal
from speciate.core.screen import does_not_parse
from speciate.plugins.edits.reading import Mode, offspring

MARKS = {
    "program.py": ("# ", ""), "program.c": ("// ", ""), "program.sql": ("-- ", ""), "style.css": ("/* ", " */"),
    "paper.tex": ("% ", ""), "page.html": ("<!-- ", " -->"), "proof.ml": ("(* ", " *)"),
}  # fmt: skip


def source_of(path: str, indent: str = "", end: str = "\n") -> str:
    opening, closing = MARKS[path]
    lines = [
        "SCALE = 1",
        f"{indent}{opening}EVOLVE-BLOCK-START{closing}",
        f"{indent}rate = 3",
        f"{indent}{opening}EVOLVE-BLOCK-END{closing}",
        "tail = 2",
    ]
    return "".join(line + end for line in (["if SCALE:" if indent else "first = 0", *lines] if not indent else lines))


PIECES = st.sampled_from(
    [
        "SCALE = 1", "SCALE = 9", "rate = 3", "rate = 4", "    rate = 5", "tail = 2", "tail = 7", "first = 0", "",
        "# EVOLVE-BLOCK-START", "# EVOLVE-BLOCK-END", "// EVOLVE-BLOCK-END", "<!-- EVOLVE-BLOCK-START -->",
        "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "```", "```python", "~~~", "@@ -1,2 +1,2 @@", "-rate = 3",
        "+rate = 8", " SCALE = 1", "-tail = 2", "--- a/x", "+++ b/x", "<think>", "</think>", "\0", "\ud800", "\x0c",
        "a\u2028# EVOLVE-BLOCK-END", "\r", "program.py",
    ]
)  # fmt: skip
REPLIES = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=24).map("\n".join))


@settings(max_examples=300, deadline=None)
@given(
    reply=REPLIES,
    path=st.sampled_from(sorted(MARKS)),
    mode=st.sampled_from(["edit", "rewrite"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
@example("<<<<<<< SEARCH\nrate = 3\n=======\nrate = 4\n# EVOLVE-BLOCK-END\n>>>>>>> REPLACE", "program.py", "edit", "\n")
def test_frozen_text_survives_any_reply(reply: str, path: str, mode: Mode, end: str) -> None:
    parent = Program.of({path: source_of(path, end=end)})
    result = offspring(parent, reply, path, mode)
    if isinstance(result, Refusal):
        assert result.detail
    else:
        assert frozen_files(result) == frozen_files(parent)
        assert result.hash != parent.hash
        assert does_not_parse(result) is None
        result.text(path).encode("utf-8")


@pytest.mark.parametrize("path", sorted(MARKS))
@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_markers_of_every_comment_style_hold_an_edit_and_a_rewrite(path: str, indent: str, end: str) -> None:
    source = source_of(path, indent, end)
    parent = Program.of({path: source.replace("SCALE = 1", "if 1:") if indent else source})
    wanted = parent.text(path).replace("rate = 3", "rate = 4")
    edit = offspring(parent, "<<<<<<< SEARCH\nrate = 3\n=======\nrate = 4\n>>>>>>> REPLACE", path)
    whole = offspring(parent, f"```\n{wanted}```", path, "rewrite")
    body = offspring(parent, "```\nrate = 4\n```", path, "rewrite")
    assert [r.text(path) if isinstance(r, Program) else r for r in (edit, whole, body)] == [wanted] * 3


@pytest.mark.parametrize(
    "reply",
    [
        "", "   \n", "\0" * 1000, "\ud800" * 1000, "```" * 5000, "```\n" * 5000, "<think>" * 5000, "</think>\n" * 5000,
        "<<<<<<< SEARCH\n" * 5000, "=======\n" * 5000, ">>>>>>> REPLACE\n" * 5000, "@@\n+x\n" * 5000, "(" * 100_000,
        "```python\n" * 3000, "~~~~\n```\n" * 2000, "x" * 10_000_000, "I am sorry, I cannot do that.",
    ],
    ids=range(17),
)  # fmt: skip
@pytest.mark.parametrize("mode", ["edit", "rewrite"])
def test_a_hostile_reply_is_refused_with_a_sentence(reply: str, mode: Mode) -> None:
    parent = Program.of({"program.py": source_of("program.py").replace("rate = 3", "def f():\n    return 3")})
    result = offspring(parent, reply, "program.py", mode)
    assert isinstance(result, Refusal)
    assert result.detail


def test_content_of_any_shape_is_refused_and_never_raises() -> None:
    parent = Program.of({"program.py": source_of("program.py").replace("rate = 3", "def f():\n    return 3")})
    contents: list[Any] = [
        None,
        [],
        {},
        5,
        [None, 3, {"type": "text"}],
        [{"type": "tool_use", "input": {}}],
        b"def f(): 1",
    ]
    for content in contents:
        assert isinstance(offspring(parent, content, "program.py"), Refusal)
