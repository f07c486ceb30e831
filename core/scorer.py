"""Scores outputs in processes of their own: the local evaluator in one, the oracle in another."""

import contextlib
import json
import math
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .errors import ProblemError
from .evaluation import Evaluation, EvaluationName, RunResult, Status, Verdict, output_hash
from .problem import Problem

_CHILD = Path(__file__).with_name("scorer_child.py")
_KEPT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT")


class JudgeTimeout(Exception):
    """A judge did not answer within its limit; its process was killed."""


class Judge:
    """A process that holds one judge: an evaluator (`evaluate`) or an oracle (`judge`)."""

    def __init__(self, kind: str, path: Path, limit_s: float) -> None:
        self.kind = kind
        self.path = path
        self.limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, text: str, options: dict[str, Any]) -> dict[str, Any]:
        """Return the judge's answer to an output.

        Raises ProblemError when the judge cannot be loaded, JudgeTimeout when it takes too long; a judge that dies is
        started again and the answer is an outage.
        """
        process = self._running()
        raw = json.dumps({"text": text, "options": options}).encode("utf-8", "surrogatepass")
        assert process.stdin is not None
        try:
            process.stdin.write(struct.pack(">I", len(raw)) + raw)
            process.stdin.flush()
            return self._read(process, time.monotonic() + self.limit_s)
        except (EOFError, BrokenPipeError):
            self.close()
            return {"outage": f"the process of {self.path.name} died", "printed": ""}

    def close(self) -> None:
        """Kill the process and everything it started; may come from any thread."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(_CHILD), self.kind, str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=tempfile.gettempdir(),
            start_new_session=True,
        )
        try:
            hello = self._read(self._process, time.monotonic() + max(60.0, self.limit_s))
        except EOFError:
            hello = {"error": "its process ended at once"}
        if "error" in hello:
            self.close()
            raise ProblemError(f"{self.path} cannot be loaded: {hello['error']}")
        return self._process

    def _read(self, process: subprocess.Popen[bytes], deadline: float) -> dict[str, Any]:
        size = struct.unpack(">I", self._bytes(process, 4, deadline))[0]
        answer = json.loads(self._bytes(process, size, deadline))
        assert isinstance(answer, dict)
        return answer

    def _bytes(self, process: subprocess.Popen[bytes], count: int, deadline: float) -> bytes:
        assert process.stdout is not None
        chunks = bytearray()
        descriptor = process.stdout.fileno()
        while len(chunks) < count:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                self.close()
                raise JudgeTimeout(f"{self.path.name} took longer than {self.limit_s:g} s")
            chunk = os.read(descriptor, count - len(chunks))
            if not chunk:
                raise EOFError
            chunks += chunk
        return bytes(chunks)


class Scorer:
    """Turns what a candidate returned into an evaluation. One for each worker; not for several threads at once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._evaluator = Judge("evaluate", problem.evaluator, problem.score_wall_s)
        self._oracle = None if problem.oracle is None else Judge("judge", problem.oracle, problem.score_wall_s)

    def score(self, name: EvaluationName, result: RunResult) -> Evaluation:
        """Return the evaluation of a run.

        Raises ProblemError when a judge cannot be loaded or does not measure the declared objective.
        """
        if result.status is not Status.OK or result.value is None:
            return Evaluation(name, result.status, {}, reason=result.reason, cost=result.cost, stdout=result.stdout)
        status, reason, answer = self.local(result.value)
        verdict = self.verdict(result.value) if status is Status.OK else None
        return Evaluation(
            name=name,
            status=status,
            metrics=answer.get("metrics", {}) if status is not Status.INFRA else {},
            reason=reason,
            feedback=answer.get("feedback"),
            instances=answer.get("instances"),
            verdict=verdict,
            output=output_hash(result.value),
            cost=result.cost,
            stdout=result.stdout,
        )

    def local(self, text: str) -> tuple[Status, str | None, dict[str, Any]]:
        """Return what the local evaluator says of an output: status, reason, and its answer."""
        answer = self._ask_twice(self._evaluator, text)
        if "outage" in answer:
            return Status.INFRA, answer["outage"], {}
        if "error" in answer:
            return Status.INVALID, f"the evaluator raised {answer['error']}", {}
        metrics, objective = answer["metrics"], self.problem.objective.name
        not_finite = sorted(key for key, value in metrics.items() if not math.isfinite(value))
        finite = {key: value for key, value in metrics.items() if key not in not_finite}
        answer = {**answer, "metrics": finite}
        if answer["instances"] is not None and not all(map(math.isfinite, answer["instances"].values())):
            return Status.INVALID, "an instance score is not finite", {**answer, "instances": None}
        if not answer["valid"]:
            return Status.INVALID, answer["feedback"] or "the evaluator holds it for invalid", answer
        if objective in not_finite:
            return Status.INVALID, f"metric {objective!r} is not finite", answer
        if objective not in finite:
            raise ProblemError(
                f"{self.problem.evaluator} measured {', '.join(sorted(metrics)) or 'nothing'}, "
                f"not the declared objective {objective!r}; return it in 'metrics'"
            )
        return Status.OK, None, answer

    def verdict(self, text: str) -> Verdict | None:
        """Return what the oracle says of an output, or None without an oracle.

        Raises ProblemError when the oracle itself fails: nothing can be trusted then.
        """
        if self._oracle is None:
            return None
        answer = self._ask_twice(self._oracle, text)
        fault = answer.get("error") or answer.get("outage")
        if fault is not None:
            raise ProblemError(f"{self._oracle.path} failed: {fault}")
        return Verdict(answer["valid"], answer["score"], answer["score_exact"], answer["reason"])

    def close(self) -> None:
        """End both processes."""
        self._evaluator.close()
        if self._oracle is not None:
            self._oracle.close()

    def _ask_twice(self, judge: Judge, text: str) -> dict[str, Any]:
        """Ask again once after an outage: the candidate is not to blame for it."""
        answer: dict[str, Any] = {}
        for _ in range(2):
            try:
                answer = judge.ask(text, dict(self.problem.options))
            except JudgeTimeout as error:
                return {"outage": str(error), "printed": ""}
            if "outage" not in answer:
                break
        return answer
