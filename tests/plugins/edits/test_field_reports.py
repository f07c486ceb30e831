"""Faults that users of such systems report, by their number in the collection: edits, replies and prompts."""

from typing import Any

from speciate.core.program import Program
from speciate.core.records import Reason, Refusal
from speciate.plugins.edits.reading import Mode, offspring
from speciate.plugins.edits.reply import content_text

HEAD = "import math\nSCALE = 1\n# EVOLVE-BLOCK-START\n"
BODY = "def f(x):\n    y = x + 1\n    return y\n"
TAIL = "# EVOLVE-BLOCK-END\ndef main():\n    return f(1)\n"
SOURCE = HEAD + BODY + TAIL
NEW = "def f(x):\n    return x + 41\n"


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def fenced(text: str, info: str = "python") -> str:
    return f"```{info}\n{text}```\n"


def made(reply: Any, source: str = SOURCE, mode: Mode = "edit", path: str = "program.py", reason: str = "stop") -> str:
    result = offspring(Program.of({path: source}), reply, path, mode, reason)
    assert isinstance(result, Program), result
    return result.text(path)


def refused(
    reply: Any, source: str = SOURCE, mode: Mode = "edit", path: str = "program.py", reason: str = "stop"
) -> Refusal:
    result = offspring(Program.of({path: source}), reply, path, mode, reason)
    assert isinstance(result, Refusal), result
    return result


def test_report_1_a_search_without_the_blanks_at_line_ends_applies_and_a_miss_names_the_nearest_line() -> None:
    assert "y = x + 2" in made(block("    y = x + 1\n", "    y = x + 2\n"), SOURCE.replace("x + 1\n", "x + 1  \t\n"))
    assert "line 5 of program.py: 'y = x + 1'" in refused(block("    y = x + 10\n", "    y = 0\n")).detail


def test_report_2_a_search_that_occurs_nowhere_makes_no_program() -> None:
    assert refused(block("    zzz = 9\n", "    zzz = 8\n")).reason is Reason.NO_PROGRAM


def test_report_4_frozen_text_is_kept_in_diffs_in_rewrites_and_in_c() -> None:
    assert refused(block("SCALE = 1\n", "SCALE = 9\n")).reason is Reason.FROZEN
    text = made(fenced(HEAD + NEW + TAIL.replace("f(1)", "12345")), mode="rewrite")
    assert text == HEAD + NEW + TAIL
    c = "#define N 1\n// EVOLVE-BLOCK-START\nint f(int x) { return x; }\n// EVOLVE-BLOCK-END\nint main(void);\n"
    assert refused(block("#define N 1\n", "#define N 2\n"), c, path="p.c").reason is Reason.FROZEN
    rewritten = made(fenced(c.replace("return x;", "return 2;").replace("N 1", "N 7"), "c"), c, "rewrite", "p.c")
    assert rewritten == c.replace("return x;", "return 2;")


def test_report_5_a_rewrite_that_holds_only_the_body_goes_between_the_markers() -> None:
    assert made(fenced(NEW), mode="rewrite") == HEAD + NEW + TAIL


def test_report_6_any_number_of_markers_in_a_rewrite_gives_the_same_program() -> None:
    start, end = "# EVOLVE-BLOCK-START\n", "# EVOLVE-BLOCK-END\n"
    whole = HEAD + NEW + TAIL
    for reply in (whole, whole.replace(start, ""), whole.replace(end, ""), whole.replace(start, "").replace(end, "")):
        assert made(fenced(reply), mode="rewrite") == whole


def test_report_7_two_insertions_at_the_end_of_a_block_stand_on_lines_of_their_own() -> None:
    text = made(block("", "A = 1\n") + block("", "B = 2\n"))
    assert text == HEAD + BODY + "A = 1\nB = 2\n" + TAIL


def test_report_9_a_line_that_stands_in_frozen_text_too_is_changed_in_the_block() -> None:
    source = "    y = x + 1\n" + SOURCE.replace("import math\n", "")
    source = '"""\n' + source.replace("SCALE", '"""\nSCALE', 1)
    assert made(block("    y = x + 1\n", "    y = 7\n"), source).count("y = x + 1") == 1


def test_report_10_one_stale_block_refuses_the_whole_reply_and_is_named() -> None:
    refusal = refused(block("    y = x + 1\n", "    y = x + 2\n") + block("    stale = 1\n", "    stale = 2\n"))
    assert "block 2 of 2" in refusal.detail
    assert "stale = 1" in refusal.detail


def test_report_11_an_edit_that_changes_nothing_is_refused() -> None:
    assert refused(block("    y = x + 1\n", "    y = x + 1\n")).reason is Reason.NO_CHANGE


def test_report_12_a_block_may_change_what_the_block_before_it_wrote() -> None:
    reply = block("    y = x + 1\n", "    y = x + 2\n") + block("    y = x + 2\n", "    y = x + 3\n")
    assert "y = x + 3" in made(reply)


def test_report_14_a_whole_program_is_taken_where_edits_were_asked_for() -> None:
    assert made("Better:\n\n" + fenced(HEAD + NEW + TAIL) + "It is.") == HEAD + NEW + TAIL


def test_report_15_the_draft_in_the_reasoning_is_not_the_answer() -> None:
    draft = fenced("def f(x):\n    return 999\n")
    for opening, closing in (
        ("<think>", "</think>"),
        ("<Thinking>", "</Thinking>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("", "</think>"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ):
        text = made(f"{opening}\nmaybe\n{draft}{closing}\n{fenced(NEW)}", mode="rewrite")
        assert text == HEAD + NEW + TAIL, opening


def test_report_16_a_fence_in_a_docstring_does_not_end_the_program() -> None:
    for fence in ("    ```\n    f()\n    ```\n", "```\nf()\n```\n", "```python\nf()\n```\n"):
        text = f'def f(x):\n    """Use:\n{fence}    """\n    return x + 41\n'
        assert made(fenced(text), mode="rewrite") == HEAD + text + TAIL


def test_report_17_a_refusal_sentence_is_never_a_program() -> None:
    for mode in ("edit", "rewrite"):
        for path in ("program.py", "program.c", "prompt.txt"):
            source = SOURCE if path == "program.py" else "Say something kind.\n"
            assert refused("I cannot help with that.", source, mode, path).reason is Reason.NO_PROGRAM


def test_report_19_the_block_that_defines_the_names_is_the_program_in_either_order() -> None:
    usage = fenced("print(f(3))\n")
    for reply in (usage + fenced(NEW), fenced(NEW) + usage):
        assert made(reply, mode="rewrite") == HEAD + NEW + TAIL


def test_report_20_a_reply_that_was_cut_off_makes_no_program() -> None:
    assert "cut off" in refused("Sure!\n```python\n" + NEW, mode="rewrite", reason="length").detail
    assert "cut off" in refused(block("    y = x + 1\n", "    y = 2\n") + "<<<<<<< SEARCH\n", reason="length").detail


def test_report_21_reasoning_without_content_is_told_apart_from_an_empty_reply() -> None:
    assert "nothing but reasoning" in refused("<think>I wonder").detail
    assert "is empty" in refused(None).detail


def test_report_22_blocks_of_content_are_read_by_type() -> None:
    half = len(fenced(NEW)) // 2
    content = [
        {"type": "thinking", "thinking": fenced("def f(x):\n    return 999\n")},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": fenced(NEW)[:half]},
        {"type": "text", "text": fenced(NEW)[half:]},
    ]
    assert content_text(content) == fenced(NEW)
    assert made(content, mode="rewrite") == HEAD + NEW + TAIL


def test_report_24_a_reflection_with_reasoning_leaves_only_the_text_in_the_fence() -> None:
    reply = "<think>\nLet me see\n" + fenced("draft\n", "") + "</think>\n" + fenced("Answer in one word.\n", "")
    assert made(reply, "Answer.\n", "rewrite", "prompt.txt") == "Answer in one word.\n"


def test_report_146_a_reply_without_end_is_refused() -> None:
    assert "longer than" in refused(fenced("x = 1\n" * 2_000_000), mode="rewrite").detail


def test_report_167_two_files_change_together_or_not_at_all() -> None:
    program = Program.of({"a.py": "A = 1\n", "b.py": "B = 1\n"})
    good = "<<<<<<< SEARCH a.py\nA = 1\n=======\nA = 2\n>>>>>>> REPLACE\n<<<<<<< SEARCH b.py\nB = 1\n=======\nB = 2\n"
    result = offspring(program, good + ">>>>>>> REPLACE\n", "a.py")
    assert result == Program.of({"a.py": "A = 2\n", "b.py": "B = 2\n"})
    named = offspring(program, "`a.py`\n```\nA = 3\n```\n`b.py`\n```\nB = 3\n```\n", "a.py", "rewrite")
    assert named == Program.of({"a.py": "A = 3\n", "b.py": "B = 3\n"})
    wrong = offspring(program, good.replace("b.py", "c.py") + ">>>>>>> REPLACE\n", "a.py")
    assert isinstance(wrong, Refusal)
    assert "no file 'c.py'" in wrong.detail
