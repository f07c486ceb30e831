"""Scores every cheat in one way and says, a line of JSON each, what it was given.

python cheat_driver.py naive|forkserver|forkserver-alone|docker
"""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from cheats import BEST_POSSIBLE, CHEATS, HONEST, HONEST_SCORE  # noqa: E402
from driver import GENEROUS, opened  # noqa: E402
from speciate.core.evaluation import EvaluationName, Status  # noqa: E402
from speciate.core.problem import load_problem  # noqa: E402
from speciate.core.program import Program  # noqa: E402
from speciate.core.sandbox import Job, Sandbox  # noqa: E402
from speciate.core.scorer import Scorer  # noqa: E402

PROBLEM = """
[problem]
name = "three"
[objective]
name = "total"
"""
EVALUATOR = """
def evaluate(output):
    if not isinstance(output, list) or len(output) != 3:
        raise ValueError("three numbers are wanted")
    if not all(type(x) in (int, float) and 0 <= x <= 1 for x in output):
        raise ValueError("a number is out of bounds")
    return {"metrics": {"total": sum(output)}}
"""


def naive(text: str, folder: Path) -> float:
    """Return the score that a careless harness reports."""
    for old in folder.iterdir():
        old.unlink()
    (folder / "program.py").write_text(text)
    (folder / "answers.json").write_text(json.dumps({"hidden answers": [0.3, 0.6, 0.9]}))
    process = subprocess.Popen(
        [sys.executable, "-B", str(HERE / "naive_harness.py"), "answers.json", "program.py"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, _ = process.communicate()
    if (folder / "metrics.json").exists():
        return float(json.loads((folder / "metrics.json").read_text())["score"])
    lines = [line for line in printed.decode("utf-8", "replace").splitlines() if line.startswith("score:")]
    return float(lines[-1].removeprefix("score:")) if lines else 0.0


def strict(sandbox: Sandbox, scorer: Scorer, text: str) -> float:
    """Return the score that the engine gives, 0 for what is refused."""
    program = Program.of({"program.py": text})
    name = EvaluationName(program.hash, None, 1, 0, 0, "1")
    evaluation = scorer.score(name, sandbox.run(Job(program, "program.py")))
    return evaluation.metrics["total"] if evaluation.status is Status.OK else 0.0


def main(way: str) -> None:
    """Score them all; the honest program must have its score before and after each."""
    if way == "naive" and os.geteuid() == 0:
        sys.exit("no cheat is run uncontained as root")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sandbox = opened("plain" if way == "naive" else way, GENEROUS)
        if sandbox is None:
            rate, close = lambda text: naive(text, folder), lambda: None
        else:
            (folder / "problem.toml").write_text(PROBLEM)
            (folder / "evaluator.py").write_text(EVALUATOR)
            (folder / "seed.py").write_text(HONEST)
            scorer = Scorer(load_problem(folder, {}, {}))
            box = sandbox

            def rate(text: str) -> float:
                return strict(box, scorer, text)

            def close() -> None:
                box.close()
                scorer.close()

        before = rate(HONEST)
        for cheat in CHEATS:
            score = rate(cheat.text)
            print(
                json.dumps(
                    {
                        "name": cheat.name,
                        "worked": score > BEST_POSSIBLE or not math.isfinite(score),
                        "honest": before == rate(HONEST) == HONEST_SCORE,
                        "score": repr(score),
                    }
                ),
                flush=True,
            )
        close()


if __name__ == "__main__":
    main(sys.argv[1])
