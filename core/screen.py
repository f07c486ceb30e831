"""The stage `screen`: everything cheap that can refuse before anything dear is paid.

Tickets are screened in ticket order, against the proposals of all earlier tickets and nothing else, so that no answer
depends on which evaluation finished first.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from .evaluation import EvaluationName
from .normal_form import normal_form
from .parsing import parsed
from .problem import Problem
from .program import Program, frozen_files
from .records import Brief, Proposal, Reason, Refusal, Screened, Selection
from .slots import Embedder, Novelty, Vector
from .store import Birth
from .streams import evaluation_seed


@dataclass(frozen=True, slots=True)
class Traits:
    """What the screen worked out about a program that goes on: its place in embedding space."""

    scope: str
    structure: bytes
    vector: Vector


class Screen:
    """Remembers every program that went on, by content and by vector, and refuses what is not new."""

    def __init__(
        self,
        problem: Problem,
        embedder: Embedder,
        novelty: Novelty,
        seed: int,
        comparison: Literal["island", "global"] = "island",
    ) -> None:
        self.problem = problem
        self.embedder = embedder
        self.novelty = novelty
        self.seed = seed
        self.comparison = comparison
        self._seen: dict[bytes, int] = {}
        self._structures: set[tuple[str, bytes]] = set()

    def seed_program(self, selection: Selection, program: Program) -> tuple[Screened, Traits]:
        """Name the evaluation of a seed; a seed is never refused."""
        proposal = Proposal(program, selection.operator)
        screened = Screened(selection, proposal, content=self._content(program, None))
        return self._accept(screened, self._look(selection, program, None), program, None)

    def judge(self, brief: Brief, proposal: Proposal, inputs: dict[int, str | None]) -> tuple[Screened, Traits | None]:
        """Refuse a proposal or name the evaluation it earned.

        `inputs` are the hashes of the outputs of the individuals in the brief, by id.
        """
        selection, program = brief.selection, proposal.program
        if program is None:
            nothing = proposal.refusal or Refusal(Reason.NO_PROGRAM, "the operator returned no program")
            return Screened(selection, proposal, nothing), None
        wanted = proposal.input if proposal.input is not None else brief.parent.individual.id
        input_hash = None if self.problem.improve is None else inputs.get(wanted)
        source = None if input_hash is None else wanted
        refusal = touches_frozen(brief.parent.program, program) or does_not_parse(program)
        same_input = input_hash == brief.parent.evaluation.name.input
        if refusal is None and same_input and program.hash == brief.parent.program.hash:
            refusal = Refusal(Reason.NO_CHANGE, "the offspring is its parent")
        if refusal is not None:
            return Screened(selection, proposal, refusal), None
        screened, traits = self._place(selection, proposal, program, source, input_hash)
        return screened, traits

    def remember(self, birth: Birth) -> None:
        """Take up a committed ticket on resume, exactly as when it was screened."""
        individual = birth.individual
        if individual is None or birth.content is None:
            return
        self._seen[birth.content] = individual.id
        if birth.vector is not None and birth.scope is not None and birth.structure is not None:
            self._structures.add((birth.scope, birth.structure))
            self.novelty.add(birth.scope, individual.id, birth.vector)

    def _place(
        self, selection: Selection, proposal: Proposal, program: Program, source: int | None, input_hash: str | None
    ) -> tuple[Screened, Traits | None]:
        content = self._content(program, input_hash)
        if content in self._seen:
            detail = f"the same program on the same input was proposed as {self._seen[content]}"
            return Screened(selection, proposal, Refusal(Reason.DUPLICATE, detail)), None
        traits = self._look(selection, program, input_hash)
        if (traits.scope, traits.structure) not in self._structures:
            near = self.novelty.nearest(traits.scope, traits.vector)
            if near is not None:
                detail = f"its cosine with {near[0]} is {near[1]:.6f}"
                return Screened(selection, proposal, Refusal(Reason.SIMILAR, detail)), None
        return self._accept(Screened(selection, proposal, content=content, input=source), traits, program, input_hash)

    def _accept(
        self, screened: Screened, traits: Traits, program: Program, input_hash: str | None
    ) -> tuple[Screened, Traits]:
        assert screened.content is not None
        self._seen[screened.content] = screened.selection.ticket
        self._structures.add((traits.scope, traits.structure))
        self.novelty.add(traits.scope, screened.selection.ticket, traits.vector)
        name = EvaluationName(
            program.hash,
            input_hash,
            self.problem.effort,
            evaluation_seed(self.seed, program.hash, input_hash),
            0,
            self.problem.evaluator_version,
        )
        return replace(screened, name=name), traits

    async def prepare(self, program: Program) -> None:
        """Let the embedder do what it must wait for, before the ticket's turn comes."""
        await self.embedder.prepare(program, self.problem.main)

    def _look(self, selection: Selection, program: Program, input_hash: str | None) -> Traits:
        vector = self.embedder.embed(program, self.problem.main)
        structure = bytes.fromhex(_digest(self.embedder.structure(program, self.problem.main)))
        place = selection.island if self.comparison == "island" else "all"
        return Traits(f"{place}:{input_hash or ''}", structure, vector)

    def _content(self, program: Program, input_hash: str | None) -> bytes:
        parts = [input_hash or ""]
        for path, text in program.files:
            parts += [path, normal_form(text) if path.endswith(".py") else text]
        return bytes.fromhex(_digest("\0".join(parts)))


def touches_frozen(parent: Program, program: Program) -> Refusal | None:
    """Refuse an offspring that changed what is frozen in its parent: text outside evolve blocks, or whole files."""
    before = _frozen(parent)
    try:
        after = _frozen(program)
    except ValueError as error:
        return Refusal(Reason.FROZEN, f"the evolve markers were damaged: {error}")
    if before.keys() != after.keys():
        return Refusal(Reason.FROZEN, f"the program must have exactly the files {', '.join(before)}")
    for path, text in after.items():
        if text != before[path]:
            return Refusal(Reason.FROZEN, f"{path}: text outside the evolve blocks was changed, or a marker was")
    return None


def does_not_parse(program: Program) -> Refusal | None:
    """Refuse a program one of whose Python files does not parse."""
    for path, text in program.files:
        if PurePosixPath(path).suffix != ".py":
            continue
        try:
            parsed(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            where = f"{path}, line {error.lineno}" if isinstance(error, SyntaxError) else path
            return Refusal(Reason.SYNTAX, f"{where}: {getattr(error, 'msg', None) or error}")
    return None


_frozen = lru_cache(maxsize=1024)(frozen_files)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
