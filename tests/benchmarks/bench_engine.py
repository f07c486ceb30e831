"""What the engine itself costs: CPU time a candidate, memory, disk and resumption, at 1,000 and at 100,000 individuals.

    python tests/benchmarks/bench_engine.py [SIZE …]

A run of SIZE individuals of about 400 bytes is written, opened again as `resume` does it, and taken on by a few hundred
candidates whose evaluation costs nothing. Figures of one process, so ratios between sizes hold on any machine.
"""

import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from speciate.core import ledger
from speciate.core.assemble import assemble
from speciate.core.budget import Budget
from speciate.core.component import ComponentOptions
from speciate.core.config import resolve
from speciate.core.engine import Engine
from speciate.core.evaluation import Cost, Evaluation, EvaluationName, Status, output_hash
from speciate.core.folder import RunFolder
from speciate.core.loading import Plugins
from speciate.core.problem import Problem, load_problem
from speciate.core.program import Program
from speciate.core.records import Brief, Individual, Proposal, Selection, Usage
from speciate.core.sandbox import Sandbox
from speciate.core.slots import EvaluationTask, Executor, Operator, Scored, Vector
from speciate.core.store import Birth

CALLS = ("sum", "max", "min", "sorted", "abs", "len", "list", "tuple", "set", "reversed", "any", "all", "map", "zip")
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
DRAWN = 2000
"""Programs of a population that are drawn one by one."""

ON_TOP = 300
"""Candidates that are timed on top of a population."""


def random_program(rng: np.random.Generator) -> Program:
    """Return a program of about 400 bytes whose structure was drawn at random."""
    lines = ["def main(n):", "    # EVOLVE-BLOCK-START", "    x = n", "    y = 1"]
    while sum(map(len, lines)) < 330:
        target, a, b = (str(rng.choice(["x", "y"])) for _ in range(3))
        call, operator = rng.choice(CALLS), rng.choice(OPERATORS)
        lines.append(f"    {target} = {call}({a} {operator} {b}, {rng.choice(CALLS)}({rng.integers(1000)}))")
    return Program.of({"seed.py": "\n".join([*lines, "    # EVOLVE-BLOCK-END", "    return x", ""])})


class Draw(Operator):
    """Draws a program at random, whatever the parent."""

    async def propose(self, brief: Brief, plan: Mapping[str, Any], rng: np.random.Generator) -> Proposal:
        return Proposal(random_program(rng), "draw")


class Free(Executor):
    """Scores at no cost."""

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self.rng = np.random.default_rng(0)

    async def open(self, problem: Problem, sandbox: Callable[[], Sandbox], workers: int) -> None:
        pass

    async def evaluate(self, task: EvaluationTask) -> Scored:
        return Scored(evaluation(task.name, float(self.rng.normal())), "1.0")

    async def close(self) -> None:
        pass


def evaluation(name: EvaluationName, score: float) -> Evaluation:
    return Evaluation(name, Status.OK, {"score": score}, output=output_hash("1.0"), cost=Cost(0.01, 0.01, 1 << 20))


def problem_in(folder: Path) -> Problem:
    folder.mkdir()
    (folder / "problem.toml").write_text('[problem]\nname = "free"\n[objective]\nname = "score"\n')
    (folder / "evaluator.py").write_text("def evaluate(output):\n    return {'metrics': {'score': output}}\n")
    (folder / "seed.py").write_text(random_program(np.random.default_rng(0)).text("seed.py"))
    return load_problem(folder, {}, {})


def plugins_with_parts() -> Plugins:
    plugins = Plugins.installed()
    plugins.registry.add("operator", "draw", Draw)
    plugins.registry.add("executor", "free", Free)
    return plugins


def fill(folder: RunFolder, problem: Problem, size: int, engine: Engine) -> None:
    """Write a history of `size` individuals without running a search for it.

    The first `DRAWN` programs go through screen and embedder; the others are those with other constants and with
    vectors moved a little, so that no two are near and the lookup has as many different ones to tell apart.
    """
    rng, store, screen = np.random.default_rng(1), folder.store, engine.parts.screen
    digest, drawn = ledger.start({}), []
    for ticket in range(size):
        selection = Selection(ticket, 0, None if ticket == 0 else 0, (), "draw" if ticket else "seed", {})
        if ticket < DRAWN:
            program = problem.seeds[0] if ticket == 0 else random_program(rng)
            screened, traits = screen.seed_program(selection, program)
            assert screened.name is not None
            drawn.append((program, screened.name, traits))
            name, content = screened.name, screened.content
        else:
            base, name, traits = drawn[ticket % DRAWN]
            program = base.with_text("seed.py", base.text("seed.py").replace("y = 1", f"y = {ticket}", 1))
            name, content = replace(name, program=program.hash), ticket.to_bytes(16, "big")
            traits = replace(traits, structure=content, vector=moved(traits.vector, rng))
        scored = evaluation(name, float(rng.normal()))
        store.record_evaluation(program, scored, "1.0")
        individual = Individual(
            ticket, program.hash, 0, selection.parent, (), None, "draw", min(ticket, 1), scored.name.hash,
            scored.metrics["score"], float(rng.random()),
        )  # fmt: skip
        birth = Birth(
            selection, "draw", None, content, Usage(), (), individual, scored.metrics, 400, None, None,
            None if ticket == 0 else 0.5, scored.output, traits.scope, traits.structure, traits.vector,
        )  # fmt: skip
        store.commit(birth, digest, True, (), scored.cost, None)


def moved(vector: Vector, rng: np.random.Generator) -> Vector:
    """Return a unit vector whose cosine with `vector` is about 0.98."""
    values = vector.values * np.exp(rng.normal(0, 0.2, len(vector.values)))
    return Vector(vector.indices, (values / np.linalg.norm(values)).astype(np.float32))


def measure(size: int, where: Path) -> dict[str, float]:
    """Return the figures of one size."""
    problem = problem_in(where / f"problem-{size}")
    plugins = plugins_with_parts()
    flags = {"budget": {"evaluations": size + ON_TOP}, "executor": "free", "operator": "draw"}
    config = resolve(plugins, flags=flags)
    path = where / f"run-{size}"
    folder = RunFolder.create(path)
    folder.tell({"settings": {"problem": {}}, "problem": problem.hash}, config)
    parts = assemble(config, problem, folder.store, plugins.registry).parts
    fill(folder, problem, size, Engine(parts, Budget(), b"", lambda committed: None))
    folder.store.db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    folder.close()
    disk = (path / "run.db").stat().st_size

    before = resident()
    wall, cpu = time.perf_counter(), time.process_time()
    folder = RunFolder.open(path, write=True)
    parts = assemble(config, problem, folder.store, plugins.registry).parts
    engine = Engine(parts, Budget(evaluations=size + ON_TOP), b"", lambda committed: None)
    engine.fold()
    # What the novelty lookup puts off until its first question belongs to resuming too.
    screen = engine.parts.screen
    screen.novelty.nearest("0:", screen.embedder.embed(random_program(np.random.default_rng(3)), "seed.py"))
    resume_wall, resume_cpu = time.perf_counter() - wall, time.process_time() - cpu

    drawing = time.process_time()
    rng = np.random.default_rng(2)
    for _ in range(ON_TOP):
        random_program(rng)
    drawing = time.process_time() - drawing
    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(engine.run())
    cpu = time.process_time() - cpu - drawing
    wall = time.perf_counter() - wall
    proposals = max(1, engine.parts.population.proposals - size)
    folder.close()
    return {
        "individuals": size,
        "engine, CPU ms a candidate": 1e3 * cpu / proposals,
        "proposals/s": proposals / wall,
        "resume, s": resume_wall,
        "resume, CPU s": resume_cpu,
        "disk, kB an individual": disk / size / 1e3,
        "resident after, MB": resident() / 1e6,
        "resident, kB an individual": max(0.0, resident() - before) / size / 1e3,
    }


def resident() -> float:
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/statm") as statm:
        return float(int(statm.read().split()[1]) * resource.getpagesize())


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [1_000, 100_000]
    table = Table(title="The engine's own cost")
    rows = []
    with tempfile.TemporaryDirectory() as where:
        for size in sizes:
            rows.append(measure(size, Path(where)))
    for name in rows[0]:
        table.add_column(name)
    for row in rows:
        table.add_row(*(f"{value:,.2f}" if value < 1000 else f"{value:,.0f}" for value in row.values()))
    Console(width=160).print(table)
    if len(rows) > 1:
        ratio = rows[-1]["engine, CPU ms a candidate"] / rows[0]["engine, CPU ms a candidate"]
        print(f"CPU a candidate at {sizes[-1]:,} is {ratio:.2f} times that at {sizes[0]:,}")


if __name__ == "__main__":
    main()
