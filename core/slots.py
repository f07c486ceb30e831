"""The slots: small abstract classes that components subclass. One answer is wanted of each, chosen by name."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .component import Component
from .evaluation import Evaluation, EvaluationName
from .objective import Objective
from .program import Program
from .records import Brief, Message, Outcome, Proposal, Usage
from .sandbox import Sandbox
from .view import IslandView

if TYPE_CHECKING:
    from .calls import Calls
    from .config_sources import Layer
    from .problem import Problem


class Selector(Component):
    """Draws a parent: a function of the view and a random generator, nothing else."""

    @abstractmethod
    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        """Return the id of a member of `view`, which is never empty. Called once a ticket, in ticket order."""


class Inspirations(Component):
    """Draws the other programs that an operator may read beside the parent."""

    @abstractmethod
    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Return at most `count` distinct ids of `view`, none of them `parent`."""


@dataclass(frozen=True, slots=True)
class Newcomer:
    """An individual that asks for a place in an archive.

    `metrics` are its evaluation's; `parent` is None for a seed of the run.
    """

    id: int
    fitness: float
    length: int
    novelty: float
    metrics: Mapping[str, float]
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """An archive's answer: whether the newcomer stays, and which members leave for it."""

    kept: bool
    evicted: tuple[int, ...] = ()


class Archive(Component):
    """Decides who of an island stays in reach of selection. The history keeps everyone.

    One instance serves one island. The island's best and its seeds are pinned: they are never evicted, whatever the
    archive answers.
    """

    def open(self, objective: Objective) -> None:
        """Learn what is optimised, before the first call of `place`."""

    @abstractmethod
    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        """Say whether `newcomer` joins the members in `view` and which of them, none pinned, leave."""

    def clear(self) -> None:
        """Forget everything: the island is reset."""


class Topology(Component):
    """Says which islands lie next to which."""

    @abstractmethod
    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return the islands that migrants of `island` go to, out of 0 … `count` - 1, never `island` itself."""


@dataclass(frozen=True, slots=True)
class IslandStatus:
    """How an island fares: births so far, births since the last migration and since its best last rose."""

    island: int
    births: int
    since_migration: int
    since_improvement: int
    best: int
    best_fitness: float


@dataclass(frozen=True, slots=True)
class Move:
    """Copy an individual to another island."""

    individual: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Reset:
    """Empty an island and found it anew: by copies from other islands, which are its seeds then, or by its own.

    A founder that is both here and elsewhere comes from elsewhere.
    """

    island: int
    founders: tuple[int, ...]


class Migration(Component):
    """Decides when individuals travel and when an island starts anew."""

    def due(self, statuses: Sequence[IslandStatus]) -> bool:
        """Say whether `plan` need be asked now; called after every birth, so it must be quick."""
        return True

    @abstractmethod
    def plan(
        self,
        views: Sequence[IslandView],
        statuses: Sequence[IslandStatus],
        topology: Topology,
        rng: np.random.Generator,
    ) -> tuple[Move | Reset, ...]:
        """Return what shall happen now; asked whenever `due` says so.

        The island model's rules are kept by the population, whatever is returned: no duplicate content on an island, a
        migrant does not migrate again, a seed never migrates.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A sparse vector of unit length: `indices` (int32, ascending, unique) and `values` (float32), equally long.

    A dense embedding has all indices; the zero vector has none and is near to nothing.
    """

    indices: NDArray[np.int32]
    values: NDArray[np.float32]


class Embedder(Component):
    """Turns a program into a vector of unit length."""

    dimension: int
    """One more than the largest index that may occur."""

    @abstractmethod
    def embed(self, program: Program, main: str) -> Vector:
        """Return the vector of a program whose main file is `main`. Equal programs get equal vectors."""

    async def prepare(self, program: Program, main: str) -> None:
        """Get ready to `embed` a program at once: the place to wait for a server, while other tickets go on.

        Called as soon as a program is proposed, and not before `embed` in every case.
        """

    def structure(self, program: Program, main: str) -> str:
        """Name what is left of a program when its constants are blanked.

        Two programs of one structure differ, if at all, in constants: such an edit is judged as an exact duplicate or
        not, never by cosine.
        """
        return program.hash


class Novelty(Component):
    """Judges whether a proposal is too close to what was proposed before, and how novel a newcomer is."""

    @abstractmethod
    def nearest(self, scope: str, vector: Vector) -> tuple[int, float] | None:
        """Return (id, cosine) of one program of `scope` whose cosine is at or above the threshold, else None."""

    @abstractmethod
    def add(self, scope: str, id: int, vector: Vector) -> None:
        """Remember a program under a scope. A scope is an island's comparison set, on one input."""

    @abstractmethod
    def novelty(self, vector: Vector, others: Sequence[Vector]) -> float:
        """Return a number in [0, 1]: how far `vector` lies from `others` (1 when there are none)."""


class Operator(Component):
    """One way of making offspring.

    Order of calls: `open` once; then for each ticket `plan` (synchronously, when the parent is drawn), `propose`
    (concurrently with other tickets; a function of its arguments only) and `observe` (when the ticket is committed, in
    ticket order, and again in the same order on resume). What is learned lives between `observe` and `plan`.
    """

    needs_messages: bool = False
    inspirations: int = 0
    """How many inspirations it wants."""

    def open(self, problem: "Problem", calls: "Calls | None") -> None:
        """Prepare for a problem. Raises SpeciateError when the operator cannot serve it.

        `calls` is the metered, recorded way to the policy, or None when the run has no policy.
        """

    def plan(self, rng: np.random.Generator) -> Mapping[str, Any]:
        """Decide, as plain JSON data, what depends on what was learned."""
        return {}

    @abstractmethod
    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        """Return an offspring or the reason why there is none."""

    def observe(self, outcome: Outcome) -> None:
        """Learn from what became of a ticket of this operator."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One completion of a policy. `logprobs` are those of the completion's tokens, where the backend gives them."""

    text: str
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    logprobs: tuple[float, ...] | None = None
    tokens: tuple[int, ...] | None = None


class Policy(Component):
    """Who writes: a language model, an agent or a person."""

    version: str = "0"
    """Changes whenever the weights do; part of every reply's name."""
    concurrency: int = 1
    """How many calls may be in flight; with models it is the lag of the run."""

    @abstractmethod
    async def sample(self, messages: Sequence[Message], n: int, settings: Mapping[str, Any]) -> tuple[Reply, ...]:
        """Return `n` completions. Raises SpeciateError when it cannot go on."""

    async def close(self) -> None:
        """Release connections."""


class Reporter(Component):
    """Shows or records a run: listens to events and does nothing else.

    It has a method for each event it wants, named as in `core/hooks.py` and taking `event`; the others may be missing.
    A reporter that raises is named, logged and skipped; it cannot end a run.
    """

    def close(self) -> None:
        """Give back the terminal or the file, also when the run failed."""


class Comparison(Component):
    """Compares strategies: runs all of them under the same budgets, seeds and problems, and says what is shown."""

    @abstractmethod
    def compare(
        self, tables: "Layer", folder: Path, out: Path, workers: int | None, tell: Callable[[int, int, str], None]
    ) -> dict[str, Any]:
        """Do what `tables` ask for and return the report as plain JSON data, which is also written into `out`.

        What an earlier call finished in `out` is not done again. Paths in `tables` are relative to `folder`; `workers`
        is how many runs go on at once, if the tables do not count; `tell` is called with how many runs are finished, of
        how many, and which was the last. Raises SpeciateError for whatever the caller can mend.
        """

    @abstractmethod
    def show(self, report: Mapping[str, Any]) -> None:
        """Print a report on the terminal."""


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """What an executor is asked to do: run one program on one input and score what comes out.

    `input` is the output text of the individual it starts from, or None.
    """

    name: EvaluationName
    program: Program
    input: str | None


class Executor(Component):
    """Where evaluations run. Order of calls: `open`, any number of concurrent `evaluate`, `close`."""

    @abstractmethod
    async def open(self, problem: "Problem", sandbox: Callable[[], Sandbox], workers: int) -> None:
        """Start `workers` workers, each with a sandbox and a scorer of its own."""

    @abstractmethod
    async def evaluate(self, task: EvaluationTask) -> "Scored":
        """Run and score; waits for a free worker. A candidate's faults are a status, never an exception."""

    @abstractmethod
    async def close(self) -> None:
        """End every worker and everything it started, within two seconds."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What an executor returns: the evaluation and the text of the output it names."""

    evaluation: Evaluation
    output: str | None
