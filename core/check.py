"""Tests every promise that a problem makes, by running it."""

import ast
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .assemble import sandbox_factory
from .config import resolve
from .errors import ProblemError, SpeciateError
from .evaluation import EvaluationName, RunResult, Status
from .garbage import KINDS, mutants, near, of_another_kind, with_bad_leaves
from .loading import Plugins
from .problem import Problem, job, workspace
from .program import Program, evolve_blocks
from .sandbox import Sandbox
from .scorer import Scorer
from .slots import EvaluationTask

MARGIN, MEMORY_MARGIN = 3.0, 1.5
"""How many times what the seed needs its limits must be: offspring are slower and larger than it."""
ALIKE = 1e-6
"""By how much, relatively, the scores of evaluator and oracle may differ."""
MUTANTS = 6


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One promise: whether it is kept, and what was found."""

    name: str
    passed: bool
    detail: str


class _Failed(Exception):
    """A promise is not kept."""


def check(problem: Problem, plugins: Plugins) -> list[CheckResult]:
    """Return the result of every check, in order; those that make no sense after a failure are left out."""
    box, scorer = sandbox_factory(resolve(plugins), plugins.registry, problem)(), Scorer(problem)
    try:
        try:
            box.open(workspace(problem))
        except SpeciateError as error:
            return [CheckResult("the sandbox opens", False, str(error))]
        return _Checker(problem, box, scorer).run()
    finally:
        box.close()
        scorer.close()


class _Checker:
    """Runs the checks one after another; later ones use what the first found of the seed."""

    def __init__(self, problem: Problem, box: Sandbox, scorer: Scorer) -> None:
        self.problem = problem
        self.box = box
        self.scorer = scorer
        self.seed = problem.seeds[0]
        self.text = ""
        self.score = 0.0
        self.result: RunResult | None = None

    def run(self) -> list[CheckResult]:
        """Return the results; after a seed that does not run or score there is nothing more to find."""
        needed: tuple[tuple[str, Callable[[], str]], ...] = (
            ("seed runs", self._seed_runs),
            ("seed scores", self._seed_scores),
        )
        others: tuple[tuple[str, Callable[[], str]], ...] = (
            ("limits are enough", self._limits_are_enough),
            ("seed repeats", self._seed_repeats),
            ("a change reaches the evaluator", self._change_reaches_evaluator),
            ("improver takes the seed's output", self._improver_works),
            ("evaluator refuses garbage", self._refuses_garbage),
            ("oracle agrees", self._oracle_agrees),
            ("anchors hold", self._anchors_hold),
            ("building blocks say their types", self._blocks_are_typed),
            ("picture is drawn", self._picture_is_drawn),
        )
        results: list[CheckResult] = []
        for name, test in needed:
            results += self._result(name, test)
            if not results[-1].passed:
                return results
        for name, test in others:
            results += self._result(name, test)
        return results

    def _result(self, name: str, test: Callable[[], str]) -> list[CheckResult]:
        try:
            detail = test()
        except (_Failed, SpeciateError) as error:
            return [CheckResult(name, False, str(error))]
        return [CheckResult(name, True, detail)] if detail else []

    def _execute(self, program: Program, input: str | None = None) -> RunResult:
        name = EvaluationName(program.hash, None, self.problem.effort, 0, 0, self.problem.evaluator_version)
        return self.box.run(job(self.problem, EvaluationTask(name, program, input)))

    def _seed_runs(self) -> str:
        self.result = result = self._execute(self.seed)
        if result.status is not Status.OK or result.value is None:
            limits = self.problem.limits
            raise _Failed(
                f"{self.problem.main} ended as {result.status.value}: {result.reason} (it took "
                f"{result.cost.wall_s:.1f} s and {result.cost.cpu_s:.1f} s of CPU time; its limits are "
                f"{limits.wall_s:g} and {limits.cpu_s:g} s, wall_s and cpu_s in [limits])"
            )
        self.text = result.value
        if self.problem.entry is None:
            return f"{self.problem.main} is not run; as it stands it is an output of {len(self.text)} characters"
        return f"{self.problem.entry}() returned {len(self.text)} characters in {result.cost.wall_s:.2f} s"

    def _seed_scores(self) -> str:
        status, reason, answer = self.scorer.local(self.text)
        if status is not Status.OK:
            printed = f"; it printed: {answer['printed'].strip()}" if answer.get("printed") else ""
            raise _Failed(f"the evaluator says {status.value}: {reason}{printed}")
        self.score = answer["metrics"][self.problem.objective.name]
        return f"{self.problem.objective.name} = {self.score!r}, to {self.problem.objective.direction}"

    def _limits_are_enough(self) -> str:
        assert self.result is not None
        began = time.monotonic()
        self.scorer.local(self.text)
        scoring_s = time.monotonic() - began
        cost, limits = self.result.cost, self.problem.limits
        for what, used, limit, margin in (
            ("wall_s", cost.wall_s, limits.wall_s, MARGIN),
            ("cpu_s", cost.cpu_s, limits.cpu_s, MARGIN),
            ("memory_mb", cost.max_rss_bytes / 2**20, limits.memory_bytes / 2**20, MEMORY_MARGIN),
            ("output_kb", len(self.text) / 2**10, limits.output_bytes / 2**10, MEMORY_MARGIN),
            ("score_wall_s", scoring_s, self.problem.score_wall_s, MARGIN),
        ):
            if used * margin > limit:
                raise _Failed(
                    f"{what} = {limit:g} in [limits], and the seed took {used:.2f}; "
                    f"offspring need more: make it {used * margin:.1f} at least"
                )
        return (
            f"{cost.wall_s:.2f} of {limits.wall_s:g} s, {cost.cpu_s:.2f} of {limits.cpu_s:g} s of CPU time, "
            f"{cost.max_rss_bytes >> 20} of {limits.memory_bytes >> 20} MB; "
            f"scored in {scoring_s:.3f} of {self.problem.score_wall_s:g} s"
        )

    def _seed_repeats(self) -> str:
        if self._execute(self.seed).value != self.text:
            raise _Failed("the seed gave another output the second time; take randomness from the argument `seed`")
        return "the same output twice"

    def _change_reaches_evaluator(self) -> str:
        """Plant a change: a seed whose entry returns a marker, then seeds with another constant."""
        main = self.problem.main
        if not main.endswith(".py") or self.problem.entry is None:
            return ""
        text = self.seed.text(main)
        planted = self._execute(
            self.seed.with_text(main, f"{text}\n\ndef {self.problem.entry}(*args, **kwargs):\n    return 'planted'\n")
        )
        before = self._judged(self.text)
        if planted.value != '"planted"' or self._judged(planted.value) == before:
            raise _Failed(
                f"a seed that returns the text 'planted' came out as {planted.status.value} {planted.value!r:.80}, "
                f"and the evaluator says of it what it says of the seed"
            )
        blocks = [block for _, source in self.seed.files for block in evolve_blocks(source)]
        lines = sum(block.stop - block.start for block in blocks)
        return (
            f"a planted output was seen{self._other_constant(text)}; {lines} lines in {len(blocks)} blocks may change"
        )

    def _judged(self, text: str) -> Any:
        status, _, answer = self.scorer.local(text)
        return status, answer.get("metrics")

    def _other_constant(self, text: str) -> str:
        """Say which number of the seed changes the score, if one of the first few does."""
        for line, old, new, mutant in mutants(text)[:MUTANTS]:
            result = self._execute(self.seed.with_text(self.problem.main, mutant))
            if result.status is Status.OK and result.value is not None and result.value != self.text:
                _, _, answer = self.scorer.local(result.value)
                score = answer.get("metrics", {}).get(self.problem.objective.name)
                if score is not None and score != self.score:
                    return f"; {new} instead of {old} in line {line} makes it {score!r}"
        return ""

    def _improver_works(self) -> str:
        if self.problem.improve is None:
            return ""
        result = self._execute(self.seed, self.text)
        if result.status is not Status.OK or result.value is None:
            raise _Failed(f"{self.problem.improve}(previous=…) ended as {result.status.value}: {result.reason}")
        status, reason, answer = self.scorer.local(result.value)
        if status is not Status.OK:
            raise _Failed(f"what {self.problem.improve} returned is {status.value}: {reason}")
        return f"{self.score!r} became {answer['metrics'][self.problem.objective.name]!r}"

    def _refuses_garbage(self) -> str:
        output = json.loads(self.text)
        leaves = list(with_bad_leaves(output))
        never = {text: f"the output {text}" for text in of_another_kind(output)} | {
            x.text: x.told for x in leaves if x.wrong
        }
        raised = 0
        for text in dict.fromkeys((*KINDS, *(x.text for x in leaves))):
            status, reason, _ = self.scorer.local(text)
            raises = reason is not None and reason.startswith("the evaluator raised")
            if text in never and status is Status.OK:
                raise _Failed(f"the evaluator accepts {never[text]}")
            if raises and text in KINDS:
                raise _Failed(f"on the output {text} {reason}; return 'valid': False with a sentence instead")
            raised += raises
        told = f"; on {raised} others it raised, where a sentence would tell more" if raised else ""
        return f"{len(never)} outputs that cannot be right{told}"

    def _oracle_agrees(self) -> str:
        verdict = self.scorer.verdict(self.text)
        if verdict is None:
            return ""
        output = json.loads(self.text)
        if not verdict.valid:
            raise _Failed(f"the oracle rejects the seed's output: {verdict.reason}")
        never = {text: f"the output {text}" for text in of_another_kind(output)}
        never |= {x.text: x.told for x in with_bad_leaves(output) if x.wrong}
        for text, told in never.items():
            garbage = self.scorer.verdict(text)
            if garbage is not None and garbage.valid:
                raise _Failed(f"the oracle accepts {told}")
        examples = [output, *(anchor["output"] for anchor in self._anchors())]
        texts = [text for example in examples for text in (json.dumps(example), *near(example))]
        only_oracle = sum(self._compare(text) for text in texts)
        told = f"; of {only_oracle} of them only the oracle is content" if only_oracle else ""
        return f"with the evaluator on {len(texts)} outputs, right ones and ones near them{told}"

    def _compare(self, text: str) -> bool:
        """Say whether the oracle accepts what the evaluator refuses. The other way round is a failure."""
        status, reason, answer = self.scorer.local(text)
        verdict = self.scorer.verdict(text)
        assert verdict is not None
        if status is Status.INFRA:
            raise _Failed(str(reason))
        if status is not Status.OK:
            return verdict.valid
        score = answer["metrics"][self.problem.objective.name]
        if not verdict.valid:
            raise _Failed(f"the evaluator accepts {text:.80}…, and the oracle says: {verdict.reason}")
        if verdict.score is not None and abs(score - verdict.score) > ALIKE * max(1.0, abs(score)):
            raise _Failed(f"the evaluator scores {text:.80}… {score!r}, the oracle {verdict.score!r}")
        return False

    def _anchors(self) -> list[dict[str, Any]]:
        """Return the anchors for the options in force."""
        options = self.problem.options
        return [a for a in self.problem.anchors() if all(options.get(k) == v for k, v in a.get("options", {}).items())]

    def _anchors_hold(self) -> str:
        """Judge every anchor under its own options."""
        anchors = self.problem.anchors()
        for number, anchor in enumerate(anchors):
            options = {**self.problem.options, **anchor.get("options", {})}
            if options == self.problem.options:
                self._hold(self.scorer, number, anchor)
                continue
            scorer = Scorer(replace(self.problem, options=options))
            try:
                self._hold(scorer, number, anchor)
            finally:
                scorer.close()
        return f"{len(anchors)}, {len(self._anchors())} of them for the options in force" if anchors else ""

    def _hold(self, scorer: Scorer, number: int, anchor: dict[str, Any]) -> None:
        text = json.dumps(anchor["output"])
        status, reason, answer = scorer.local(text)
        verdict = scorer.verdict(text)
        if verdict is not None and not verdict.valid:
            raise _Failed(f"the oracle rejects anchor {number}: {verdict.reason}")
        if status is not Status.OK:
            raise _Failed(f"the local evaluator rejects anchor {number}: {reason}")
        score, said = answer["metrics"][self.problem.objective.name], anchor.get("score")
        if said is not None and abs(score - said) > ALIKE * max(1.0, abs(score)):
            raise _Failed(f"anchor {number} is worth {score!r}, and anchors.json says {said!r}")

    def _blocks_are_typed(self) -> str:
        if self.problem.blocks is None:
            return ""
        try:
            tree = ast.parse(self.problem.blocks)
        except SyntaxError as error:
            raise _Failed(f"blocks.py, line {error.lineno}: {error.msg}") from None
        public = [n for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
        untyped = [n.name for n in public if n.returns is None or any(a.annotation is None for a in n.args.args)]
        if untyped:
            raise _Failed(f"give types to the parameters and results of {', '.join(untyped)}")
        importing = f"def {self.problem.entry}():\n    import blocks\n    return len(vars(blocks))\n"
        result = self._execute(Program.of({self.problem.main: importing}))
        if result.status is not Status.OK and self.problem.main.endswith(".py"):
            raise _Failed(f"a program that imports blocks ended as {result.status.value}: {result.reason}")
        return f"{len(public)} functions"

    def _picture_is_drawn(self) -> str:
        if not self.problem.draws:
            return ""
        drawn: dict[str, bytes] = {}
        fault = ""
        for suffix in (".svg", ".png"):
            try:
                drawn[suffix] = self.problem.draw(self.text, suffix)
            except ProblemError as error:
                fault = str(error)
        if not any(drawn.values()):
            raise _Failed(fault or "the picture is empty")
        return ", ".join(f"{len(picture)} bytes of {suffix[1:].upper()}" for suffix, picture in drawn.items())
