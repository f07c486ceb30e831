"""A small real problem for tests of the engine: programs are one number, evaluated in this process."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from speciate.core.budget import Budget
from speciate.core.engine import Engine, NamedOperator, Parts
from speciate.core.evaluation import Cost, Evaluation, Status, Verdict, output_hash
from speciate.core.folder import RunFolder
from speciate.core.ledger import start
from speciate.core.population import Population
from speciate.core.problem import Problem, load_problem
from speciate.core.program import Program
from speciate.core.records import Brief, Outcome, Proposal
from speciate.core.sandbox import Sandbox
from speciate.core.screen import Screen
from speciate.core.slots import (
    Archive,
    Embedder,
    EvaluationTask,
    Executor,
    Inspirations,
    IslandStatus,
    Migration,
    Move,
    Newcomer,
    Novelty,
    Operator,
    Placement,
    Reset,
    Scored,
    Selector,
    Topology,
    Vector,
)
from speciate.core.store import Store
from speciate.core.view import IslandView

SEED_TEXT = "def main():\n    # EVOLVE-BLOCK-START\n    return 0.0\n    # EVOLVE-BLOCK-END\n"


def program_of(value: float) -> Program:
    """Return the toy program that returns `value`."""
    return Program.of({"seed.py": SEED_TEXT.replace("0.0", repr(value))})


def value_of(program: Program) -> float:
    """Return the number in a toy program."""
    return float(program.text("seed.py").split("return")[1].split()[0])


class ToyExecutor(Executor):
    """Scores -(x - 3)² in this process, each after a random pause, so that evaluations end in any order."""

    jitter_s = 0.003
    executed = 0

    async def open(self, problem: Any, sandbox: Callable[[], Sandbox], workers: int) -> None:
        self._room = asyncio.Semaphore(workers)

    async def evaluate(self, task: EvaluationTask) -> Scored:
        async with self._room:
            await asyncio.sleep(random.uniform(0, self.jitter_s))
            type(self).executed += 1
            value = value_of(task.program)
            if value < -50:
                return Scored(Evaluation(task.name, Status.CRASHED, {}, reason="below -50"), None)
            score = -((value - 3) ** 2)
            text = repr(value)
            return Scored(
                Evaluation(
                    task.name,
                    Status.OK,
                    {"score": score},
                    verdict=Verdict(True, score),
                    output=output_hash(text),
                    cost=Cost(random.random(), random.random(), 1),
                ),
                text,
            )

    async def close(self) -> None:
        pass


class ToyOperator(Operator):
    """Adds noise whose scale it learns from success; sometimes makes nothing, sometimes a copy."""

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self.scale = 1.0

    def plan(self, rng: np.random.Generator) -> Mapping[str, Any]:
        return {"scale": self.scale}

    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        await asyncio.sleep(random.uniform(0, 0.002))
        kind = rng.random()
        if kind < 0.1:
            return Proposal(None, "toy/nothing")
        if kind < 0.2:
            return Proposal(brief.parent.program, "toy/copy")
        value = value_of(brief.parent.program) + round(float(rng.normal(0, plan["scale"])), 1)
        return Proposal(program_of(value), "toy/step")

    def observe(self, outcome: Outcome) -> None:
        self.scale *= 1.1 if outcome.gain is not None and outcome.gain > 0 else 0.99


class ToySelector(Selector):
    """Prefers the fit, and those with few children."""

    def select(self, view: IslandView, rng: np.random.Generator) -> int:
        weights = np.exp(view.fitness - view.fitness.max()) / (1 + view.offspring) + 1e-6
        return int(rng.choice(view.ids, p=weights / weights.sum()))


class NoInspirations(Inspirations):
    """Chooses nobody."""

    def choose(self, view: IslandView, parent: int, count: int, rng: np.random.Generator) -> tuple[int, ...]:
        return ()


class KeepBest(Archive):
    """Keeps the best ten."""

    def place(self, view: IslandView, pinned: frozenset[int], newcomer: Newcomer) -> Placement:
        if len(view) < 10:
            return Placement(True)
        free = np.array([int(id) not in pinned for id in view.ids])
        worst = float(view.fitness[free].min())
        leaving = int(view.ids[free & (view.fitness == worst)][0])
        return Placement(newcomer.fitness > worst, (leaving,))


class Line(Topology):
    """Each island lies next to the following one."""

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        return ((island + 1) % count,) if count > 1 else ()


class EverySeven(Migration):
    """Sends the best of island 0 along after every seventh birth of it."""

    def plan(
        self,
        views: Sequence[IslandView],
        statuses: Sequence[IslandStatus],
        topology: Topology,
        rng: np.random.Generator,
    ) -> tuple[Move | Reset, ...]:
        if statuses[0].since_migration < 7:
            return ()
        return tuple(Move(statuses[0].best, 0, target) for target in topology.targets(0, len(views)))


class OneNumber(Embedder):
    """Places a program on a line."""

    dimension = 2

    def embed(self, program: Program, main: str) -> Vector:
        angle = value_of(program) / 100
        return Vector(np.array([0, 1], np.int32), np.array([np.cos(angle), np.sin(angle)], np.float32))


class Exact(Novelty):
    """Holds nothing for similar that is not equal."""

    def nearest(self, scope: str, vector: Vector) -> tuple[int, float] | None:
        return None

    def add(self, scope: str, id: int, vector: Vector) -> None:
        pass

    def novelty(self, vector: Vector, others: Sequence[Vector]) -> float:
        nearest = max((float(vector.values @ other.values) for other in others), default=0.0)
        return min(1.0, max(0.0, 1.0 - nearest))


def toy_problem(folder: Path) -> Problem:
    """Write the toy problem into a folder and load it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "problem.toml").write_text('[problem]\nname = "toy"\n[objective]\nname = "score"\n')
    (folder / "seed.py").write_text(SEED_TEXT)
    evaluator = "def evaluate(output):\n    return {'metrics': {'score': -(output - 3) ** 2}}\n"
    (folder / "evaluator.py").write_text(evaluator)
    return load_problem(folder, {}, {})


def toy_parts(
    problem: Problem,
    store: Store,
    *,
    islands: int = 1,
    lag: int = 4,
    seed: int = 1,
    selector: Callable[[], Selector] = ToySelector,
) -> Parts:
    """Make the parts of a toy run."""
    population = Population(seed, [KeepBest() for _ in range(islands)], Line(), EverySeven())
    return Parts(
        problem=problem,
        store=store,
        population=population,
        screen=Screen(problem, OneNumber(), Exact(), seed),
        selectors=[selector() for _ in range(islands)],
        inspirations=[NoInspirations()] * islands,
        operators=[[NamedOperator("toy", ToyOperator(), 1.0)]] * islands,
        executor=ToyExecutor(),
        calls=None,
        seed=seed,
        lag=lag,
    )


async def run_toy(
    problem: Problem,
    folder: Path,
    budget: Budget,
    *,
    workers: int = 2,
    islands: int = 1,
    lag: int = 4,
    selector: Callable[[], Selector] = ToySelector,
) -> tuple[str, Engine]:
    """Start or go on with a toy run in `folder`; return the digest and the engine."""
    fresh = not (folder / "run.db").exists()
    opened = RunFolder.create(folder) if fresh else RunFolder.open(folder, write=True)
    if fresh:
        opened.store.set_meta("told", "{}")
    parts = toy_parts(problem, opened.store, islands=islands, lag=lag, selector=selector)
    await parts.executor.open(problem, None, workers)  # type: ignore[arg-type]
    engine = Engine(parts, budget, opened.store.last_digest() or start({}), lambda committed: None)
    engine.fold()
    try:
        await engine.run()
    finally:
        opened.close()
    return engine.digest.hex(), engine
