"""The engine: moves tickets through the stages, in order where order matters and side by side where it does not.

A ticket is selected at a fixed point: when ticket t - lag has been committed. It is proposed and evaluated whenever
there is room, screened after all earlier tickets were screened and committed after all earlier tickets were committed.
So what a ticket sees does not depend on the number of workers or on which evaluation ends first.
"""

import asyncio
import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .budget import Budget
from .calls import Calls
from .confirmation import Confirmation
from .errors import ComponentError, ProblemError, blamed
from .evaluation import Cost, Evaluation, Status
from .ledger import chain
from .order import TicketOrder
from .population import Population
from .problem import Problem
from .records import Brief, Individual, Proposal, Screened, Selection
from .screen import Screen, Traits
from .slots import EvaluationTask, Executor, Inspirations, Operator, Selector
from .store import Birth, Store, instance_scores
from .streams import stream

EndStatus = Literal["budget", "target", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run ended."""

    status: EndStatus
    reason: str


@dataclass(frozen=True, slots=True)
class NamedOperator:
    """An operator with the name and the weight that the configuration gives it."""

    name: str
    operator: Operator
    weight: float


@dataclass(frozen=True, slots=True)
class Parts:
    """What an engine is made of."""

    problem: Problem
    store: Store
    population: Population
    screen: Screen
    selectors: Sequence[Selector]
    """One for each island."""
    inspirations: Sequence[Inspirations]
    """One for each island."""
    operators: Sequence[Sequence[NamedOperator]]
    """Those of each island; islands may share them."""
    executor: Executor
    calls: Calls | None
    seed: int
    lag: int


@dataclass(frozen=True, slots=True)
class Committed:
    """What listeners are told of a committed ticket."""

    birth: Birth
    evaluation: Evaluation | None
    kept: bool
    record: bool
    previous_best: float | None
    moves: tuple[Any, ...]


class Engine:
    """Runs one search to its end. `digest` is the chained digest after the last committed ticket."""

    def __init__(
        self,
        parts: Parts,
        budget: Budget,
        digest: bytes,
        committed: Callable[[Committed], None],
        proposed: Callable[[Selection, Proposal], None] = lambda selection, proposal: None,
    ) -> None:
        self.parts = parts
        self.budget = budget
        self.digest = digest
        self._tell = committed
        self._tell_proposed = proposed
        self._seeds = len(parts.problem.seeds)
        self._reserved = 0
        self._ending: asyncio.Future[Ending] | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._selected: list[Selection] = []
        self._weights = [np.array([o.weight for o in own]) / sum(o.weight for o in own) for own in parts.operators]
        self._by_name = [{o.name: o.operator for o in own} for own in parts.operators]
        self._confirmation = Confirmation(parts.problem, parts.store, parts.executor)
        self._screens = TicketOrder(0)
        self._commits = TicketOrder(0)

    # Going on from what was committed

    def fold(self) -> None:
        """Take up every committed ticket, and draw the selections that were in flight when the run stopped."""
        # What is read here stays: to look through it for garbage again and again would be in vain.
        collects = gc.isenabled()
        gc.disable()
        try:
            self._fold()
        finally:
            if collects:
                gc.enable()

    def _fold(self) -> None:
        last = self.parts.store.last_ticket()
        drawn = self.parts.store.parents(self._seeds)
        for birth in self.parts.store.births():
            self.parts.screen.remember(birth)
            applied = self.parts.population.apply(birth)
            self._observe(birth, applied.record)
            for ticket in self._due_after(birth.selection.ticket):
                if ticket <= last:
                    self.parts.population.select(*next(drawn))
                else:
                    self._selected.append(self._select(ticket))
        self._reserved = self.parts.population.evaluations
        self._screens = TicketOrder(last + 1)
        self._commits = TicketOrder(last + 1)

    async def run(self) -> Ending:
        """Run until the budget, the target or an interruption; everything finished is on disk when it returns."""
        loop = asyncio.get_running_loop()
        self._ending = loop.create_future()
        timer = None
        if self.budget.seconds is not None:
            timer = loop.call_later(max(0.0, self.budget.seconds_left()), self._end_at_time)
        try:
            self._check_budget()
            if not self._ending.done():
                for ticket in range(self._commits.next, self._seeds):
                    self._start(Selection(ticket, 0, None, (), "seed", {}))
                for selection in self._selected:
                    self._start(selection)
            return await self._ending
        finally:
            if timer is not None:
                timer.cancel()
            await self._stop()

    def end(self, ending: Ending) -> None:
        """End the run after the last committed ticket; the first ending stands."""
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(ending)

    # The stages of one ticket

    def _start(self, selection: Selection) -> None:
        task = asyncio.get_running_loop().create_task(self._ticket(selection))
        self._tasks[selection.ticket] = task
        task.add_done_callback(lambda done: self._finished(selection.ticket, done))

    async def _ticket(self, selection: Selection) -> None:
        brief = None if selection.parent is None else self._brief(selection, selection.parent)
        proposal = None if brief is None else await self._propose(brief)
        await self._screens.turn(selection.ticket)
        screened, traits = self._screen(selection, brief, proposal)
        if screened is None:
            # The budget is spent and this one would need an evaluation: the run ends with the tickets before it.
            return
        self._screens.done(selection.ticket)
        evaluation = None if screened.name is None else await self._evaluate(screened)
        await self._commits.turn(selection.ticket)
        assert self._ending is not None
        if evaluation is not None and not self._ending.done():
            evaluation = await self._confirmation.confirmed(screened, evaluation, self.parts.population.best)
        if not self._ending.done():
            self._commit(screened, traits, evaluation, brief)
            self._commits.done(selection.ticket)
            self._after_commit(selection.ticket)

    def _brief(self, selection: Selection, parent: int) -> Brief:
        material = self.parts.store.material
        return Brief(selection, material(parent), tuple(material(id) for id in selection.inspirations))

    async def _propose(self, brief: Brief) -> Proposal:
        selection = brief.selection
        rng = stream(self.parts.seed, selection.ticket, f"propose:{selection.operator}")
        with blamed("operator", selection.operator):
            operator = self._by_name[selection.island][selection.operator]
            proposal = await operator.propose(brief, selection.plan, rng)
        self._tell_proposed(selection, proposal)
        if proposal.program is not None:
            await self.parts.screen.prepare(proposal.program)
        return proposal

    def _screen(
        self, selection: Selection, brief: Brief | None, proposal: Proposal | None
    ) -> tuple[Screened | None, Traits | None]:
        traits: Traits | None
        if brief is None or proposal is None:
            screened, traits = self.parts.screen.seed_program(selection, self.parts.problem.seeds[selection.ticket])
        else:
            outputs = {m.individual.id: m.evaluation.output for m in (brief.parent, *brief.inspirations)}
            screened, traits = self.parts.screen.judge(brief, proposal, outputs)
        if screened.name is not None:
            if self.budget.evaluations is not None and self._reserved >= self.budget.evaluations:
                return None, None
            self._reserved += 1
        return screened, traits

    async def _evaluate(self, screened: Screened) -> Evaluation:
        assert screened.name is not None
        assert screened.proposal.program is not None
        recorded = self.parts.store.evaluation(screened.name.hash)
        if recorded is not None:
            return recorded
        text = None if screened.name.input is None else self.parts.store.output(screened.name.input)
        task = EvaluationTask(screened.name, screened.proposal.program, text)
        scored = await self.parts.executor.evaluate(task)
        self.parts.store.record_evaluation(task.program, scored.evaluation, scored.output)
        return scored.evaluation

    def _commit(
        self, screened: Screened, traits: Traits | None, evaluation: Evaluation | None, brief: Brief | None
    ) -> None:
        birth = self._birth(screened, traits, evaluation, brief)
        population = self.parts.population
        previous = None if population.best is None else population.best.fitness
        with blamed("archive, topology or migration", "of this run"):
            applied = population.apply(birth)
        self.digest = chain(self.digest, birth, evaluation, applied.kept, applied.moves)
        cost = Cost() if evaluation is None else evaluation.cost
        record = self._record(birth) if applied.record else None
        self.parts.store.commit(birth, self.digest, applied.kept, applied.moves, cost, record)
        self._observe(birth, applied.record)
        self._tell(Committed(birth, evaluation, applied.kept, applied.record, previous, applied.moves))

    def _record(self, birth: Birth) -> dict[str, Any]:
        best = self.parts.population.best
        assert best is not None
        return {
            "id": best.id,
            "score": self.parts.problem.objective.score(best.fitness),
            "oracle_score": birth.oracle_score,
            "evaluations": best.evaluations,
            "seconds": round(self.budget.seconds_spent(), 3),
        }

    def _birth(
        self, screened: Screened, traits: Traits | None, evaluation: Evaluation | None, brief: Brief | None
    ) -> Birth:
        selection, proposal = screened.selection, screened.proposal
        if evaluation is None or traits is None or proposal.program is None:
            return Birth(
                selection, proposal.operator, screened.refusal, screened.content, proposal.usage, proposal.replies
            )
        fitness = None
        if evaluation.status is Status.OK:
            fitness = self.parts.problem.objective.fitness(evaluation.metrics)
        parent = None if brief is None else brief.parent.individual
        home = self.parts.population.islands[selection.island]
        individual = Individual(
            id=selection.ticket,
            program=proposal.program.hash,
            island=selection.island,
            parent=selection.parent,
            inspirations=selection.inspirations,
            input=screened.input,
            operator=proposal.operator,
            generation=0 if parent is None else parent.generation + 1,
            evaluation=evaluation.name.hash,
            fitness=fitness,
            novelty=self.parts.screen.novelty.novelty(traits.vector, home.vectors(limit=256)),
        )
        gain = None
        if fitness is not None and parent is not None and parent.fitness is not None:
            gain = self.parts.problem.objective.gain(fitness, parent.fitness)
        verdict = evaluation.verdict
        return Birth(
            selection, proposal.operator, None, screened.content, proposal.usage, proposal.replies, individual,
            evaluation.metrics, len(proposal.program.text(self.parts.problem.main)),
            None if verdict is None else verdict.valid, None if verdict is None else verdict.score, gain,
            evaluation.output, traits.scope, traits.structure, traits.vector,
            None if evaluation.instances is None else instance_scores(evaluation.instances),
        )  # fmt: skip

    # Order

    def _due_after(self, committed: int) -> Sequence[int]:
        """Return the tickets whose turn comes with a commit."""
        first_free = self._seeds - 1
        if committed < first_free:
            return ()
        lag = self.parts.lag
        return range(self._seeds, self._seeds + lag) if committed == first_free else (committed + lag,)

    def _select(self, ticket: int) -> Selection:
        parts, population = self.parts, self.parts.population
        number = population.island_of(ticket, self._seeds)
        view = population.islands[number].view()
        rng = stream(parts.seed, ticket, "select")
        with blamed("selector", type(parts.selectors[number]).__name__):
            parent = int(parts.selectors[number].select(view, rng))
            self._must_be_member(parent, number)
        operators = parts.operators[number]
        chosen = operators[int(rng.choice(len(operators), p=self._weights[number]))]
        wanted = chosen.operator.inspirations
        inspirations: tuple[int, ...] = ()
        if wanted:
            source = parts.inspirations[number]
            with blamed("inspirations", type(source).__name__):
                inspirations = tuple(int(i) for i in source.choose(view, parent, wanted, rng))
                for inspiration in inspirations:
                    self._must_be_member(inspiration, number)
        with blamed("operator", chosen.name):
            plan = chosen.operator.plan(stream(parts.seed, ticket, f"plan:{chosen.name}"))
        population.select(number, parent)
        return Selection(ticket, number, parent, inspirations, chosen.name, plan)

    def _must_be_member(self, id: int, island: int) -> None:
        if id not in self.parts.population.islands[island]:
            raise ComponentError(f"it returned {id}, which is not on island {island}")

    def _after_commit(self, ticket: int) -> None:
        if ticket < self._seeds:
            self._check_seed(ticket)
        self._check_budget()
        assert self._ending is not None
        if self._ending.done():
            return
        for due in self._due_after(ticket):
            self._start(self._select(due))

    def _observe(self, birth: Birth, record: bool) -> None:
        operator = self._by_name[birth.selection.island].get(birth.selection.operator)
        learns = operator is not None and type(operator).observe is not Operator.observe
        if operator is not None and learns:
            with blamed("operator", birth.selection.operator):
                operator.observe(self.parts.population.outcome(birth, record))

    # Endings

    def _check_seed(self, ticket: int) -> None:
        """A run whose every seed fails cannot go on: say what the last one did."""
        population = self.parts.population
        if ticket < self._seeds - 1 or any(len(island) for island in population.islands):
            return
        evaluation = self.parts.store.material(ticket).evaluation
        raise ProblemError(
            f"the seed program of {self.parts.problem.name} ended as {evaluation.status.value}: "
            f"{evaluation.reason or evaluation.feedback or 'no reason was given'} "
            f"(it took {evaluation.cost.wall_s:.1f} s; `speciate check` says more)"
        )

    def _check_budget(self) -> None:
        best = self.parts.population.best
        score = None if best is None else self.parts.problem.objective.score(best.fitness)
        if best is not None and best.oracle_score is not None:
            score = best.oracle_score
        ending = self.budget.ending(
            evaluations=self.parts.population.evaluations,
            proposals=self.parts.population.proposals,
            score=score,
            objective=self.parts.problem.objective,
        )
        if ending is not None:
            self.end(Ending(*ending))

    def _end_at_time(self) -> None:
        self.end(Ending("budget", f"the budget of {self.budget.seconds:g} seconds is spent"))

    def _finished(self, ticket: int, task: asyncio.Task[None]) -> None:
        self._tasks.pop(ticket, None)
        if task.cancelled() or self._ending is None or self._ending.done():
            return
        error = task.exception()
        if error is not None:
            self._ending.set_exception(error)

    async def _stop(self) -> None:
        """Abandon what is in flight; what has finished is on disk."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await self.parts.executor.close()
        await asyncio.gather(*tasks, return_exceptions=True)
