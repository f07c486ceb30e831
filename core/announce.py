"""Turns committed tickets into events, one for each thing that happened."""

from collections.abc import Callable

from .budget import Budget
from .engine import Committed
from .events import (
    CounterexampleFound,
    Event,
    IndividualAdmitted,
    IslandsMigrated,
    OffspringProposed,
    OffspringRefused,
    RecordBroken,
)
from .objective import Objective
from .population import Population
from .records import Proposal, Selection
from .slots import Move, Reset


class Announcer:
    """Tells listeners what a committed ticket brought."""

    def __init__(
        self, emit: Callable[[Event], None], objective: Objective, population: Population, budget: Budget
    ) -> None:
        self._emit = emit
        self._objective = objective
        self._population = population
        self._budget = budget

    def proposed(self, selection: Selection, proposal: Proposal) -> None:
        """Emit that an operator has answered with an offspring."""
        if proposal.program is not None:
            self._emit(OffspringProposed(selection.ticket, selection.island, selection.parent, proposal.operator))

    def __call__(self, committed: Committed) -> None:
        """Emit the events of one ticket."""
        birth, evaluation = committed.birth, committed.evaluation
        selection = birth.selection
        if birth.refusal is not None:
            self._emit(
                OffspringRefused(
                    selection.ticket, selection.island, birth.operator, birth.refusal.reason, birth.refusal.detail
                )
            )
        if birth.individual is None or evaluation is None:
            return
        population = self._population
        self._emit(
            IndividualAdmitted(
                birth.individual,
                evaluation,
                committed.kept,
                population.evaluations,
                population.proposals,
                self._budget.seconds_spent(),
            )
        )
        if committed.record:
            previous = committed.previous_best
            score = None if previous is None else self._objective.score(previous)
            self._emit(RecordBroken(birth.individual, evaluation, score))
        if birth.individual.fitness is not None and evaluation.verdict is not None and not evaluation.verdict.valid:
            local = self._objective.score(birth.individual.fitness)
            self._emit(CounterexampleFound(birth.individual.id, local, evaluation.verdict))
        if committed.moves:
            moves = tuple(move for move in committed.moves if isinstance(move, Move))
            resets = tuple(move for move in committed.moves if isinstance(move, Reset))
            self._emit(IslandsMigrated(selection.ticket, moves, resets))
