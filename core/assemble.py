"""Makes the parts of a run from its resolved configuration."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .calls import Calls
from .config import RunConfig
from .config_islands import IslandParts
from .engine import NamedOperator, Parts
from .population import Population
from .problem import Problem
from .registry import Registry
from .sandbox import Sandbox
from .screen import Screen
from .slots import (
    Archive,
    Embedder,
    Executor,
    Inspirations,
    Migration,
    Novelty,
    Operator,
    Policy,
    Selector,
    Topology,
)
from .store import Store
from .text_program import Reading

DEFAULT_LAG = 4
"""Tickets in flight when no model is called."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """The parts, and what is opened beside them."""

    parts: Parts
    policy: Policy | None
    workers: int


def assemble(config: RunConfig, problem: Problem, store: Store, registry: Registry) -> Assembled:
    """Make every component the configuration names.

    Raises UsageError for a name or an option that does not exist, ComponentError for a component that cannot serve.
    """
    policy = None if config.policy is None else registry.make(Policy, config.policy)
    calls = None if policy is None or config.policy is None else Calls(policy, str(config.policy["use"]), store)
    islands = islands_of(config)
    archives = [registry.make(Archive, island.archive) for island in islands]
    for archive in archives:
        archive.open(problem.objective)
    population = Population(
        config.seed,
        archives,
        registry.make(Topology, config.topology),
        registry.make(Migration, config.migration),
        config.islands.drift,
        problem.objective.resolution,
    )
    parts = Parts(
        problem=problem,
        store=store,
        population=population,
        screen=Screen(
            problem,
            registry.make(Embedder, config.embedder),
            registry.make(Novelty, config.novelty),
            config.seed,
            config.islands.comparison,
        ),
        selectors=[registry.make(Selector, island.selector) for island in islands],
        inspirations=[registry.make(Inspirations, island.inspirations) for island in islands],
        operators=_operators(registry, islands, problem, calls),
        executor=registry.make(Executor, config.executor),
        calls=calls,
        seed=config.seed,
        lag=lag_of(config, policy),
    )
    return Assembled(parts, policy, workers_of(config))


def sandbox_factory(config: RunConfig, registry: Registry, problem: Problem) -> Callable[[], Sandbox]:
    """Return what makes a new sandbox of the configured kind, one for each worker; programs not run need none."""
    return Reading if problem.entry is None else lambda: registry.make(Sandbox, config.sandbox)


def lag_of(config: RunConfig, policy: Policy | None) -> int:
    """Return how many tickets are in flight: what was set, else the policy's concurrency, else 4."""
    if config.lag is not None:
        return config.lag
    return DEFAULT_LAG if policy is None else policy.concurrency


def workers_of(config: RunConfig) -> int:
    """Return the number of workers: what was set, else one for each core this process may use."""
    if config.workers:
        return config.workers
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def islands_of(config: RunConfig) -> tuple[IslandParts, ...]:
    """Return what each island is made of; without `[[island]]` tables all of them are as the run is."""
    alike = IslandParts(
        operator=config.operator, selector=config.selector, inspirations=config.inspirations, archive=config.archive
    )
    return config.island or (alike,) * config.islands.count


def _operators(
    registry: Registry, islands: Sequence[IslandParts], problem: Problem, calls: Calls | None
) -> list[list[NamedOperator]]:
    """Make the operators of each island; islands whose operators are equal share them and what they learn."""
    made: list[list[NamedOperator]] = []
    for number, island in enumerate(islands):
        alike = next((other for other in range(number) if islands[other].operator == island.operator), None)
        made.append(
            [_operator(registry, part, problem, calls) for part in island.operator] if alike is None else made[alike]
        )
    return made


def _operator(registry: Registry, part: Mapping[str, Any], problem: Problem, calls: Calls | None) -> NamedOperator:
    options = {key: value for key, value in part.items() if key != "weight"}
    operator = registry.make(Operator, options)
    operator.open(problem, calls)
    return NamedOperator(str(part["use"]), operator, float(part["weight"]))
