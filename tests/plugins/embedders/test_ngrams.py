"""The default embedder finds renamed and moved programs alike and tells real changes apart."""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import program_pairs as pairs
import pytest
from speciate.core.normal_form import normal_form
from speciate.core.program import Program
from speciate.core.slots import Vector
from speciate.islands.novelty import dot
from speciate.plugins.embedders.ngrams import AstNgrams, constants, structure

THRESHOLD = 0.999
EMBEDDER = AstNgrams()


def program(text: str, path: str = "program.py") -> Program:
    return Program.of({path: text})


def embed(text: str, path: str = "program.py") -> Vector:
    return EMBEDDER.embed(program(text, path), path)


def cosine(text: str, other: str, path: str = "program.py") -> float:
    return dot(embed(text, path), embed(other, path))


def table(made: Iterator[tuple[str, str, str]]) -> dict[str, list[float]]:
    rows: dict[str, list[float]] = defaultdict(list)
    for kind, text, other in made:
        rows[kind].append(cosine(text, other))
    return rows


def printed(rows: dict[str, list[float]]) -> None:
    for kind, cosines in rows.items():
        refused = np.mean(np.array(cosines) >= THRESHOLD)
        print(f"{kind:34} {len(cosines):4} pairs  median {np.median(cosines):.4f}  refused {refused:6.1%}")


def test_every_rename_move_comment_and_docstring_is_refused() -> None:
    rows = table(pairs.near_pairs())
    printed(rows)
    assert min(map(len, rows.values())) >= 10
    for kind, cosines in rows.items():
        assert min(cosines) > 1 - 1e-6, kind


def test_at_most_one_real_change_in_twenty_is_refused() -> None:
    rows = table(pairs.far_pairs())
    printed(rows)
    for kind, cosines in rows.items():
        assert np.mean(np.array(cosines) >= THRESHOLD) <= 0.05, kind


@pytest.mark.parametrize("name", list(pairs.SHORT))
def test_one_changed_operator_or_call_shows_in_a_short_program(name: str) -> None:
    text = pairs.SHORT[name]
    short = [pair for pair in pairs.edited_pairs([text], 12) if pair[0].startswith("one ")]
    assert short
    assert all(cosine(text, other) < THRESHOLD for _, text, other in short)


def test_constants_do_not_enter() -> None:
    for text, retuned in pairs.constant_pairs():
        assert cosine(text, retuned) > 1 - 1e-6
        whole, other = pairs.reformatted(text), pairs.reformatted(retuned)
        assert EMBEDDER.structure(program(whole), "program.py") == EMBEDDER.structure(program(other), "program.py")


def test_the_sign_of_a_number_is_part_of_the_constant() -> None:
    assert cosine("def main(x):\n    return x + 2\n", "def main(x):\n    return x + -0.5\n") > 1 - 1e-6


def test_programs_of_one_structure_differ_in_constants_only() -> None:
    for kind, text, other in pairs.near_pairs():
        same = EMBEDDER.structure(program(text), "") == EMBEDDER.structure(program(other), "")
        if same:
            assert normal_form(text) == normal_form(other), f"{kind}: the screen would take it for an edit of constants"


def test_constants_may_change_together_with_local_names_and_docstrings() -> None:
    text = pairs.SHORT["sieve"]
    other = text.replace("marks", "alive").replace("2", "3").replace("below n", "under n")
    assert normal_form(text) != normal_form(other)
    assert EMBEDDER.structure(program(text), "") == EMBEDDER.structure(program(other), "")


def test_structure_and_constants_together_name_a_program_under_any_names() -> None:
    for _, text, other in pairs.near_pairs():
        assert (structure(text), constants(text)) == (structure(other), constants(other))
    for text, other in pairs.constant_pairs():
        assert structure(text) == structure(other)
        assert constants(text) != constants(other)
    for kind, text, other in pairs.far_pairs():
        assert structure(text) != structure(other), kind


def test_renaming_an_import_changes_nothing_and_importing_something_else_does() -> None:
    text = "import numpy as np\n\n\ndef main(x):\n    return np.sin(x)\n"
    assert cosine(text, text.replace("np", "xp")) > 1 - 1e-6
    assert cosine(text, text.replace("numpy as np", "jax.numpy as np")) < THRESHOLD


def test_calling_another_of_the_programs_own_functions_shows() -> None:
    text = "def f(x):\n    return x + x\n\n\ndef g(x):\n    return x * x\n\n\ndef main(x):\n    return f(x)\n"
    assert cosine(text, text.replace("return f(x)", "return g(x)")) < THRESHOLD


def test_arguments_in_another_order_show() -> None:
    assert cosine("def main(a, b):\n    return pow(a, b)\n", "def main(a, b):\n    return pow(b, a)\n") < THRESHOLD


FROZEN = """import numpy as np


def helper(x):
    total = 0
    for k in range(100):
        total += np.sin(k * x)
    return total


def main(n):
    best = 0
    while n:
        n -= 1
        # EVOLVE-BLOCK-START
        best = max(best, helper(n))
        # EVOLVE-BLOCK-END
    return best
"""


def test_only_evolve_blocks_are_read() -> None:
    inside = FROZEN.replace("max(best, helper(n))", "min(best, helper(n))")
    outside = FROZEN.replace("total = 0", "total = np.zeros(3)")
    assert cosine(FROZEN, outside) > 1 - 1e-6
    assert cosine(FROZEN, inside) < 0.9


def test_a_text_that_is_no_python_is_compared_by_its_words() -> None:
    text = "Answer in one line.\n\nUse at most 3 steps.\n"
    assert cosine(text, text, "guide.md") > 1 - 1e-6
    assert cosine(text, text.replace("\n\n", "\n\n\n") + " ", "guide.md") > 1 - 1e-6
    assert cosine(text, text.replace("3", "5"), "guide.md") > 1 - 1e-6
    assert cosine(text, text.replace("steps", "words"), "guide.md") < THRESHOLD


def test_a_text_with_another_number_is_an_edit_of_constants_and_one_with_another_word_is_not() -> None:
    text = "Give 3 examples, each under 40.5 words.\n"
    for other, same in ((text.replace("3", "12"), True), (text.replace("words", "lines"), False)):
        structures = {EMBEDDER.structure(program(which, "prompt.md"), "prompt.md") for which in (text, other)}
        assert (len(structures) == 1) is same
    assert cosine(text, text.replace("3", "12"), "prompt.md") > 1 - 1e-6


def test_one_changed_word_shows_in_a_long_text() -> None:
    rng = np.random.default_rng(0)
    words = [f"word{int(k)}" for k in rng.integers(0, 300, 2000)]
    text = "\n".join(" ".join(words[k : k + 8]) + ("\n" if k % 80 == 0 else "") for k in range(0, 2000, 8))
    other = text.replace(words[1000], "changed", 1)
    assert cosine(text, other, "notes.txt") < THRESHOLD


def test_a_program_without_anything_has_the_zero_vector() -> None:
    for text in ("", "# nothing\n", '"""Only a docstring."""\n'):
        assert len(embed(text).indices) == 0


def test_deep_nesting_ends_in_a_vector() -> None:
    assert len(embed("def main():\n    return " + "+".join(["1"] * 5000) + "\n").indices) > 0
    assert len(embed("x = " + "(" * 5000 + ")" * 5000).indices) > 0


def test_another_process_embeds_alike() -> None:
    text = pairs.SHORT["annealing"]
    script = (
        "from speciate.plugins.embedders.ngrams import AstNgrams; from speciate.core.program import Program;"
        f"v = AstNgrams().embed(Program.of({{'program.py': {text!r}}}), 'program.py');"
        "print(v.indices.tolist(), v.values.tobytes().hex())"
    )
    done = [
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {script}"],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    vector = embed(text)
    assert done == [f"{vector.indices.tolist()} {vector.values.tobytes().hex()}\n"] * 2


def test_a_program_of_400_bytes_has_a_vector_of_a_kilobyte() -> None:
    vector = embed(pairs.SHORT["annealing"][:478])
    assert vector.indices.nbytes + vector.values.nbytes < 1250
