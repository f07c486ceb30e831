"""The scorer: what an evaluator may return, what becomes of everything else, and that judges stand apart."""

import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from speciate.core.errors import ProblemError
from speciate.core.evaluation import Evaluation, EvaluationName, RunResult, Status
from speciate.core.problem import load_problem
from speciate.core.scorer import OracleFault, Scorer

TOML = """
[problem]
name = "toy"
[objective]
name = "score"
[options]
n = 3
[limits]
score_wall_s = 2
output_kb = 64
"""
NAME = EvaluationName("a program", None, 1, 0, 0, "1")

Make = Callable[..., Scorer]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Scorer] = []

    def scorer(evaluator: str, oracle: str | None = None, toml: str = TOML) -> Scorer:
        folder = tmp_path / f"größer & mehr {len(made)}"
        folder.mkdir()
        (folder / "problem.toml").write_text(toml, encoding="utf-8")
        (folder / "seed.py").write_text("def main():\n    return 1\n")
        (folder / "evaluator.py").write_text(textwrap.dedent(evaluator), encoding="utf-8")
        if oracle is not None:
            (folder / "oracle.py").write_text(textwrap.dedent(oracle), encoding="utf-8")
        made.append(Scorer(load_problem(folder, {}, {})))
        return made[-1]

    yield scorer
    for each in made:
        each.close()


def of(scorer: Scorer, text: str = "1.5") -> Evaluation:
    return scorer.score(NAME, RunResult(Status.OK, text))


def returning(expression: str) -> str:
    head = "import numpy as np\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
    return f"{head}def evaluate(output):\n    return {expression}\n"


# What an evaluator may return


def test_metrics_instances_and_feedback_arrive(make: Make) -> None:
    found = of(make(returning("{'metrics': {'score': output, 'size': 3}, 'feedback': 'ü', 'instances': {'a': 1}}")))
    assert found.status is Status.OK
    assert found.metrics == {"score": 1.5, "size": 3.0}
    assert found.instances == {"a": 1.0}
    assert found.feedback == "ü"


@pytest.mark.parametrize(
    "value",
    ["1", "1.0", "np.float32(1)", "np.int64(1)", "np.array(1.0)", "Decimal(1)", "Fraction(1)", "np.longdouble(1)"],
)
def test_a_number_of_every_kind_is_a_metric(make: Make, value: str) -> None:
    found = of(make(returning(f"{{'metrics': {{'score': {value}}}, 'instances': {{'a': {value}}}}}")))
    assert found.metrics == {"score": 1.0}
    assert type(found.metrics["score"]) is float
    assert found.instances == {"a": 1.0}


@pytest.mark.parametrize(
    "value",
    ["'3.0'", "b'3'", "True", "np.bool_(True)", "None", "[1.0]", "np.array([1.0])", "1j", "10**400", "10**5000",
     "object()"],
)  # fmt: skip
def test_what_is_no_number_is_refused_in_a_sentence(make: Make, value: str) -> None:
    for expression in (f"{{'metrics': {{'score': {value}}}}}", f"{{'metrics': {{'score': 1, 'other': {value}}}}}"):
        found = of(make(returning(expression)))
        assert found.status is Status.INVALID
        assert "expected a number" in str(found.reason)
        assert found.metrics == {}


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "-np.inf", "Decimal('NaN')", "1e308 * 10"])
def test_what_is_not_finite_never_competes(make: Make, value: str) -> None:
    for where in (
        f"{{'metrics': {{'score': {value}}}}}",
        f"{{'metrics': {{'score': 1.0, 'other': {value}}}}}",
        f"{{'metrics': {{'score': 1.0}}, 'instances': {{'a': {value}}}}}",
    ):
        found = of(make(returning(where)))
        assert found.status is Status.INVALID
        assert "not finite" in str(found.reason)
        json.dumps([dict(found.metrics), found.instances], allow_nan=False)


def test_the_declared_objective_is_missed_by_name_and_nothing_is_averaged(make: Make) -> None:
    found = of(make(returning("{'metrics': {'accuracy': 1.0, 'speed': 2.0}}")))
    assert found.status is Status.INVALID
    assert "accuracy, speed" in str(found.reason)
    assert "'score'" in str(found.reason)


@pytest.mark.parametrize(
    "answer", ["3.0", "None", "[1.0]", "{'score': 1.0}", "('metrics', 1)", "{'metrics': 3.0}", "{'metrics': None}"]
)
def test_an_answer_of_another_form_is_told(make: Make, answer: str) -> None:
    found = of(make(returning(answer)))
    assert found.status is Status.INVALID
    assert "evaluate returned" in str(found.reason) or "must be a mapping" in str(found.reason)


def test_an_invalid_output_says_why_with_the_evaluators_words(make: Make) -> None:
    found = of(make(returning("{'metrics': {}, 'valid': np.bool_(False), 'feedback': 'two overlap'}")))
    assert (found.status, found.reason, found.feedback) == (Status.INVALID, "two overlap", "two overlap")


def test_a_word_for_valid_is_no_truth_value(make: Make) -> None:
    found = of(make(returning("{'metrics': {'score': 1.0}, 'valid': 'false'}")))
    assert found.status is Status.INVALID
    assert "True or False" in str(found.reason)


def test_long_feedback_is_cut(make: Make) -> None:
    found = of(make(returning("{'metrics': {'score': 1.0}, 'feedback': 'x' * 10**6}")))
    assert len(str(found.feedback)) < 17_000
    assert "more characters" in str(found.feedback)


def test_feedback_can_be_stored_and_is_the_same_in_every_run(make: Make) -> None:
    # A candidate's text may hold half a character, which no database takes, and an address differs from run to run.
    found = of(
        make(returning("{'metrics': {'score': 1.0}, 'feedback': f'{output} {object()} {set(\"abcdef\")}'}")),
        '"\\ud800"',
    )
    again = of(
        make(returning("{'metrics': {'score': 1.0}, 'feedback': f'{output} {object()} {set(\"abcdef\")}'}")),
        '"\\ud800"',
    )
    assert found.feedback == again.feedback
    str(found.feedback).encode("utf-8")


def test_options_are_given_by_name(make: Make) -> None:
    assert of(make("def evaluate(output, n):\n    return {'metrics': {'score': n}}\n")).metrics == {"score": 3.0}
    everything = "def evaluate(output, **options):\n    return {'metrics': {'score': len(options)}}\n"
    assert of(make(everything)).metrics == {"score": 1.0}


# What is handed to an evaluator


@pytest.mark.parametrize(
    "text",
    ["", "{", "1 2", '{"a": 1, "a": 2}', "[" * 50_000, "[" * 500 + "]" * 500, "1" * 10_000, "[1,]", "nan", "'a'",
     "\ud800"],
)  # fmt: skip
def test_what_cannot_be_read_as_json_never_reaches_the_evaluator(make: Make, text: str) -> None:
    found = of(make("def evaluate(output):\n    raise SystemError('it was reached')\n"), text)
    assert found.status is Status.INVALID
    assert "cannot be read as JSON" in str(found.reason)


def test_numbers_that_are_not_finite_reach_the_evaluator_as_such(make: Make) -> None:
    seen = "import math\ndef evaluate(output):\n    nan, inf = output\n"
    seen += "    return {'metrics': {'score': math.isnan(nan) and inf == -math.inf and 1}}\n"
    assert of(make(seen), "[NaN, -Infinity]").metrics == {"score": 1.0}


def test_an_output_beyond_the_limit_is_not_read(make: Make) -> None:
    scorer = make(
        returning("{'metrics': {'score': 1.0}}"), "def judge(text):\n    raise SystemError('it was reached')\n"
    )
    text = json.dumps("x" * 70_000)
    assert "output_kb" in str(of(scorer, text).reason)
    verdict = scorer.verdict(text)
    assert verdict is not None
    assert not verdict.valid
    assert "output_kb" in str(verdict.reason)


def test_a_run_that_failed_is_not_scored(make: Make) -> None:
    scorer = make("def evaluate(output):\n    raise SystemError('it was reached')\n")
    found = scorer.score(NAME, RunResult(Status.TIMEOUT, None, "the limit of 1 s was reached", stdout="so far"))
    assert (found.status, found.reason, found.output) == (Status.TIMEOUT, "the limit of 1 s was reached", None)
    assert found.stdout == "so far"


# An evaluator's own faults


def test_an_evaluator_that_raises_is_told_with_its_line(make: Make) -> None:
    found = of(make("def evaluate(output):\n    x = 1\n    return x / 0\n"))
    assert found.status is Status.INVALID
    assert found.reason == "the evaluator raised ZeroDivisionError: division by zero (evaluator.py, line 3)"


@pytest.mark.parametrize(
    "raised", ["SystemExit(3)", "KeyboardInterrupt", "MemoryError", "RecursionError", "AssertionError"]
)
def test_whatever_an_evaluator_raises_is_data(make: Make, raised: str) -> None:
    found = of(make(f"def evaluate(output):\n    raise {raised}\n"))
    assert found.status is Status.INVALID
    assert raised.partition("(")[0] in str(found.reason)


@pytest.mark.parametrize("raised", ["ConnectionError", "TimeoutError", "FileNotFoundError", "OSError", "EOFError"])
def test_when_its_own_world_fails_the_candidate_is_not_to_blame(make: Make, raised: str) -> None:
    found = of(make(f"def evaluate(output):\n    raise {raised}('gone')\n"))
    assert found.status is Status.INFRA
    assert raised in str(found.reason)
    assert found.metrics == {}


def test_an_outage_is_tried_once_more(make: Make) -> None:
    twice = "tries = []\ndef evaluate(output):\n    tries.append(1)\n    if len(tries) == 1:\n"
    twice += "        raise ConnectionError('gone')\n    return {'metrics': {'score': len(tries)}}\n"
    assert of(make(twice)).metrics == {"score": 2.0}


def test_an_evaluator_that_takes_too_long_is_killed_and_the_next_one_is_asked(make: Make) -> None:
    scorer = make(
        "def evaluate(output):\n    while output == 1:\n        pass\n    return {'metrics': {'score': output}}\n"
    )
    slow = of(scorer, "1")
    assert slow.status is Status.INFRA
    assert "longer than 2 s (score_wall_s" in str(slow.reason)
    assert of(scorer, "2").metrics == {"score": 2.0}


def test_an_evaluator_that_dies_is_started_again(make: Make) -> None:
    scorer = make(
        "import os\ndef evaluate(output):\n    if output == 1:\n        os._exit(1)\n"
        "    return {'metrics': {'score': 2}}\n"
    )
    assert of(scorer, "1").status is Status.INFRA
    assert of(scorer, "2").metrics == {"score": 2.0}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def evaluate(output:\n", "SyntaxError"),
        ("import no_module_of_this_name\n", "no_module_of_this_name"),
        ("evaluate = 3\n", "no function 'evaluate'"),
        ("x = 1 / 0\n", "line 1"),
        ("raise SystemExit('no')\n", "SystemExit"),
        ("import os\nos._exit(1)\n", "ended at once"),
        ("def evaluate(output):\n    pass\nraise OSError('no disk')\n", "no disk"),
    ],
)
def test_an_evaluator_that_cannot_be_loaded_is_the_problems_fault(make: Make, text: str, says: str) -> None:
    with pytest.raises(ProblemError, match=r"evaluator\.py cannot be loaded") as caught:
        of(make(text))
    assert says in str(caught.value)


# A process of its own


def test_nothing_printed_gets_into_the_answers(make: Make) -> None:
    loud = """
        import logging, os, subprocess, sys
        print("when loaded")
        logging.basicConfig()
        def evaluate(output):
            print("x" * 10**6)
            print("y", file=sys.stderr)
            sys.stdout.buffer.write(b"z")
            sys.__stdout__.write("w")
            os.write(1, b"q")
            subprocess.run([sys.executable, "-c", "print('a child')"])
            logging.warning("careful")
            return {"metrics": {"score": output}}
        """
    scorer = make(loud)
    for number in range(3):
        assert of(scorer, str(number)).metrics == {"score": float(number)}


def test_what_is_printed_is_kept_in_part(make: Make) -> None:
    _, _, answer = make("def evaluate(output):\n    print('ü' * 10**5)\n    return {'metrics': {'score': 1}}\n").local(
        "1"
    )
    assert 1000 < len(answer["printed"]) <= 4096
    assert set(answer["printed"]) == {"ü"} or answer["printed"].startswith("üü")


def test_an_evaluator_has_its_folder_and_not_the_engine(make: Make, tmp_path: Path) -> None:
    scorer = make(
        """
        import sys, os
        from helper import answer
        def evaluate(output):
            ours = [m for m in sys.modules if m.split('.')[0] == 'speciate']
            near = [p for p in sys.path if os.path.exists(os.path.join(p, 'scorer_child.py'))]
            return {'metrics': {'score': answer}, 'feedback': repr((ours, near))}
        """
    )
    (scorer.problem.folder / "helper.py").write_text("answer = 42\n")
    found = of(scorer)
    assert found.metrics == {"score": 42.0}
    assert found.feedback == "([], [])"


def test_an_evaluators_environment_is_empty(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET_KEY", "hunter2")
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")
    found = of(make(returning("{'metrics': {'score': 1}, 'feedback': ' '.join(sorted(__import__('os').environ))}")))
    assert "A_SECRET_KEY" not in str(found.feedback)
    assert "PYTHONSTARTUP" not in str(found.feedback)
    assert "HOME" not in str(found.feedback).split()


def test_dataclasses_and_neighbours_find_the_evaluators_module(make: Make) -> None:
    scorer = make(
        """
        from __future__ import annotations
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: float
        def evaluate(output):
            import evaluator
            assert isinstance(evaluator.Point(output), Point)
            return {'metrics': {'score': Point(output).x}}
        """
    )
    assert of(scorer).metrics == {"score": 1.5}


def test_a_scratch_folder_is_given_and_taken_away(make: Make) -> None:
    scorer = make(returning("{'metrics': {'score': 1}, 'feedback': __import__('os').getcwd()}"))
    folder = Path(str(of(scorer).feedback))
    assert folder.is_dir()
    scorer.close()
    assert not folder.exists()


def test_the_oracle_lives_in_another_process_and_gets_the_text(make: Make) -> None:
    scorer = make(
        "import os\ndef evaluate(output):\n    return {'metrics': {'score': 1}, 'feedback': str(os.getpid())}\n",
        "import os\ndef judge(text, n):\n"
        "    return {'valid': True, 'score': n, 'score_exact': text, 'reason': str(os.getpid())}\n",
    )
    found = of(scorer, "1.50")
    assert found.verdict is not None
    assert found.verdict.reason != found.feedback
    assert found.verdict.score_exact == "1.50"
    assert found.verdict.score == 3.0


def test_the_oracle_is_not_asked_about_what_the_evaluator_refuses(make: Make) -> None:
    scorer = make(returning("{'metrics': {}, 'valid': False}"), "def judge(text):\n    raise SystemError('reached')\n")
    assert of(scorer).verdict is None


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError('cannot')",
        "return {'valid': 'yes'}",
        "return {}",
        "return None",
        "return {'valid': True, 'score': float('nan')}",
        "return {'valid': True, 'score': '3'}",
        "import os; os._exit(1)",
        "import time; time.sleep(60)",
    ],
)
def test_a_candidate_cannot_end_a_run_by_what_it_brings_about_in_the_oracle(make: Make, body: str) -> None:
    scorer = make(returning("{'metrics': {'score': 1.0}}"), f"def judge(text):\n    {body}\n")
    found = of(scorer)
    assert found.status is Status.INFRA
    assert "oracle.py gave no verdict" in str(found.reason)
    assert found.metrics == {}
    if "sleep" not in body:
        with pytest.raises(OracleFault):
            scorer.verdict("1")


def test_an_oracle_that_cannot_be_loaded_is_the_problems_fault(make: Make) -> None:
    with pytest.raises(ProblemError, match=r"oracle\.py cannot be loaded"):
        of(make(returning("{'metrics': {'score': 1.0}}"), "def judge(:\n"))


# The end


def test_closing_ends_a_question_that_waits_and_starts_nothing_anew(make: Make) -> None:
    scorer = make(
        "import os, time\ndef evaluate(output):\n    if output == 2:\n        time.sleep(60)\n"
        "    return {'metrics': {'score': os.getpid()}}\n"
    )
    pid = int(of(scorer, "1").metrics["score"])
    answers: list[Evaluation] = []
    asking = threading.Thread(target=lambda: answers.append(of(scorer, "2")))
    asking.start()
    time.sleep(0.3)
    scorer.close()
    scorer.close()
    asking.join(5)
    assert not asking.is_alive()
    assert answers[0].status is Status.INFRA
    assert "closed" in str(answers[0].reason)
    assert not Path(f"/proc/{pid}").exists()
    assert of(scorer, "1").status is Status.INFRA, "a closed scorer starts no process"


def test_closing_ends_what_the_evaluator_started(make: Make) -> None:
    scorer = make(
        "import subprocess\ndef evaluate(output):\n"
        "    return {'metrics': {'score': subprocess.Popen(['sleep', '60']).pid}}\n"
    )
    pid = int(of(scorer).metrics["score"])
    assert Path(f"/proc/{pid}").exists()
    scorer.close()
    assert gone(pid)


def test_a_judge_ends_with_its_engine_however_that_ends(make: Make, tmp_path: Path) -> None:
    evaluator = make(
        f"""
        import os
        def evaluate(output):
            open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
            while True:
                pass
        """
    ).problem.evaluator
    code = f"from pathlib import Path\nfrom speciate.core.judge import Judge\npath = Path({str(evaluator)!r})\n"
    code += "Judge('evaluate', path, 60).ask('1', {})\n"
    engine = subprocess.Popen([sys.executable, "-c", code])
    try:
        pid = int(waited_for(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text()))
    finally:
        engine.kill()
        engine.wait()
    assert gone(pid)


def waited_for(answer: Callable[[], object], seconds: float = 20.0) -> str:
    """Return an answer as soon as there is one."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = answer()
        if found:
            return str(found)
        time.sleep(0.02)
    raise AssertionError("it never came")


def gone(pid: int) -> bool:
    """Say whether a process ends within a while; a corpse that nobody buries counts as gone."""

    def ended() -> bool:
        try:
            os.kill(pid, 0)
            return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (ProcessLookupError, FileNotFoundError):
            return True

    return bool(waited_for(ended, 5.0))
