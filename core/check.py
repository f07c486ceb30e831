"""Tests every promise that a problem makes, by running it."""

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .assemble import sandbox_factory
from .config import resolve
from .errors import SpeciateError
from .evaluation import EvaluationName, RunResult, Status
from .loading import Plugins
from .problem import Problem, job, workspace
from .program import Program, evolve_blocks
from .sandbox import Sandbox
from .scorer import Scorer
from .slots import EvaluationTask

MARGIN = 2.0
"""How much less than its limits the seed must use: offspring are slower than it."""

GARBAGE = (
    "null",
    "[]",
    "{}",
    '"text"',
    "0",
    "NaN",
    "[NaN]",
    "-Infinity",
    "[[]]",
    "[null]",
    "1e308",
    '[["a", "b"]]',
    "true",
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One promise: whether it is kept, and what was found."""

    name: str
    passed: bool
    detail: str


class _Failed(Exception):
    """A promise is not kept."""


def check(problem: Problem, plugins: Plugins) -> list[CheckResult]:
    """Return the result of every check, in order; those that make no sense after a failure are left out.

    Raises SpeciateError when the sandbox cannot be started.
    """
    box = sandbox_factory(resolve(plugins), plugins.registry)()
    box.open(workspace(problem))
    checker = _Checker(problem, box, Scorer(problem))
    try:
        return checker.run()
    finally:
        box.close()
        checker.scorer.close()


class _Checker:
    def __init__(self, problem: Problem, box: Sandbox, scorer: Scorer) -> None:
        self.problem = problem
        self.box = box
        self.scorer = scorer
        self.results: list[CheckResult] = []
        self.first: RunResult | None = None
        self.score = 0.0

    def run(self) -> list[CheckResult]:
        checks: tuple[tuple[str, Callable[[], str]], ...] = (
            ("seed runs", self._seed_runs),
            ("seed scores", self._seed_scores),
            ("limits are enough", self._limits_are_enough),
            ("seed repeats", self._seed_repeats),
            ("a change reaches the evaluator", self._change_reaches_evaluator),
            ("improver takes the seed's output", self._improver_works),
            ("evaluator refuses garbage", self._refuses_garbage),
            ("oracle agrees", self._oracle_agrees),
            ("oracle agrees on anchors", self._anchors_hold),
            ("building blocks say their types", self._blocks_are_typed),
            ("picture is drawn", self._picture_is_drawn),
        )
        for name, test in checks:
            try:
                detail = test()
            except (_Failed, SpeciateError) as error:
                self.results.append(CheckResult(name, False, str(error)))
                if name in ("seed runs", "seed scores"):
                    break
            else:
                if detail:
                    self.results.append(CheckResult(name, True, detail))
        return self.results

    def _execute(self, program: Program, input: str | None = None) -> RunResult:
        name = EvaluationName(program.hash, None, self.problem.effort, 0, 0, self.problem.evaluator_version)
        return self.box.run(job(self.problem, EvaluationTask(name, program, input)))

    @property
    def _output(self) -> str:
        assert self.first is not None
        assert self.first.value is not None
        return self.first.value

    def _seed_runs(self) -> str:
        self.first = self._execute(self.problem.seeds[0])
        if self.first.status is not Status.OK:
            limits = self.problem.limits
            raise _Failed(
                f"{self.problem.main} ended as {self.first.status.value}: {self.first.reason} (it took "
                f"{self.first.cost.wall_s:.1f} s; its limits are {limits.wall_s:g} s of wall "
                f"and {limits.cpu_s:g} s of CPU time)"
            )
        return f"{self.problem.entry}() returned {len(self._output)} characters in {self.first.cost.wall_s:.2f} s"

    def _seed_scores(self) -> str:
        status, reason, answer = self.scorer.local(self._output)
        if status is not Status.OK:
            raise _Failed(f"the evaluator says {status.value}: {reason}")
        self.score = answer["metrics"][self.problem.objective.name]
        return f"{self.problem.objective.name} = {self.score!r}, to {self.problem.objective.direction}"

    def _limits_are_enough(self) -> str:
        assert self.first is not None
        cost, limits = self.first.cost, self.problem.limits
        for what, used, limit in (("wall_s", cost.wall_s, limits.wall_s), ("cpu_s", cost.cpu_s, limits.cpu_s)):
            if used * MARGIN > limit:
                raise _Failed(f"{what} = {limit:g} in [limits], and the seed alone took {used:.2f} s; raise it")
        return f"{cost.wall_s:.2f} of {limits.wall_s:g} s, {cost.max_rss_bytes >> 20} of {limits.memory_bytes >> 20} MB"

    def _seed_repeats(self) -> str:
        if self._execute(self.problem.seeds[0]).value != self._output:
            raise _Failed("the seed gave another output the second time; take randomness from the argument `seed`")
        return "the same output twice"

    def _change_reaches_evaluator(self) -> str:
        """Plant a change: a program whose entry returns a marker must reach the evaluator as that marker."""
        main = self.problem.main
        text = self.problem.seeds[0].text(main)
        blocks = evolve_blocks(text)
        if not main.endswith(".py"):
            return ""
        planted = text + f"\n\ndef {self.problem.entry}(*args, **kwargs):\n    return 'planted'\n"
        result = self._execute(self.problem.seeds[0].with_text(main, planted))
        status, _, _ = self.scorer.local(result.value or "null")
        if result.value != '"planted"' or status is Status.OK:
            raise _Failed(
                f"a program that returns a text came out as {result.status.value} {result.value} and {status.value}"
            )
        lines = sum(block.stop - block.start for block in blocks)
        return f"a planted output was seen and refused; {lines} lines in {len(blocks)} evolve blocks may change"

    def _improver_works(self) -> str:
        if self.problem.improve is None:
            return ""
        result = self._execute(self.problem.seeds[0], self._output)
        if result.status is not Status.OK or result.value is None:
            raise _Failed(f"{self.problem.improve}(previous=…) ended as {result.status.value}: {result.reason}")
        status, reason, answer = self.scorer.local(result.value)
        if status is not Status.OK:
            raise _Failed(f"what {self.problem.improve} returned is {status.value}: {reason}")
        return f"{self.score!r} became {answer['metrics'][self.problem.objective.name]!r}"

    def _refuses_garbage(self) -> str:
        for text in GARBAGE:
            status, reason, _ = self.scorer.local(text)
            if status is Status.OK:
                raise _Failed(f"the evaluator accepts the output {text}")
            if reason is not None and reason.startswith("the evaluator raised"):
                raise _Failed(f"on the output {text} {reason}; return valid = False with a sentence instead")
        return f"{len(GARBAGE)} kinds of garbage, none raised"

    def _oracle_agrees(self) -> str:
        verdict = self.scorer.verdict(self._output)
        if verdict is None:
            return ""
        if not verdict.valid:
            raise _Failed(f"the oracle rejects the seed's output: {verdict.reason}")
        for text in GARBAGE:
            garbage = self.scorer.verdict(text)
            if garbage is not None and garbage.valid:
                raise _Failed(f"the oracle accepts the output {text}")
        return f"it scores the seed's output {verdict.score!r} and refuses garbage"

    def _anchors_hold(self) -> str:
        anchors = [a for a in self.problem.anchors() if self._concerns(a)]
        for number, anchor in enumerate(anchors):
            text = json.dumps(anchor["output"])
            verdict = self.scorer.verdict(text)
            status, reason, _ = self.scorer.local(text)
            if verdict is not None and not verdict.valid:
                raise _Failed(f"the oracle rejects anchor {number}: {verdict.reason}")
            if status is not Status.OK:
                raise _Failed(f"the local evaluator rejects anchor {number}: {reason}")
        return f"{len(anchors)} anchors" if anchors else ""

    def _concerns(self, anchor: dict[str, Any]) -> bool:
        return all(self.problem.options.get(key) == value for key, value in anchor.get("options", {}).items())

    def _blocks_are_typed(self) -> str:
        if self.problem.blocks is None:
            return ""
        try:
            tree = ast.parse(self.problem.blocks)
        except SyntaxError as error:
            raise _Failed(f"blocks.py does not parse: {error}") from None
        public = [n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
        untyped = [n.name for n in public if n.returns is None or any(a.annotation is None for a in n.args.args)]
        if untyped:
            raise _Failed(f"give types to the parameters and results of {', '.join(untyped)}")
        return f"{len(public)} functions"

    def _picture_is_drawn(self) -> str:
        if not self.problem.draws:
            return ""
        drawn = self.problem.draw(self._output, ".svg")
        if not drawn:
            raise _Failed("the picture is empty")
        return f"{len(drawn)} bytes of SVG"
