"""Makes the parts of a run from its resolved configuration."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .calls import Calls
from .config import RunConfig
from .engine import NamedOperator, Parts
from .errors import UsageError
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
    operators = [_operator(registry, part, problem, calls) for part in config.operator]
    if not operators:
        raise UsageError("the configuration names no operator; give at least one [[operator]]")
    count = config.islands.count
    archives = [registry.make(Archive, config.archive) for _ in range(count)]
    for archive in archives:
        archive.open(problem.objective)
    population = Population(
        config.seed,
        archives,
        registry.make(Topology, config.topology),
        registry.make(Migration, config.migration),
        config.islands.drift,
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
        selectors=[registry.make(Selector, config.selector) for _ in range(count)],
        inspirations=registry.make(Inspirations, config.inspirations),
        operators=operators,
        executor=registry.make(Executor, config.executor),
        calls=calls,
        seed=config.seed,
        lag=lag_of(config, policy),
    )
    return Assembled(parts, policy, workers_of(config))


def sandbox_factory(config: RunConfig, registry: Registry) -> Callable[[], Sandbox]:
    """Return what makes a new sandbox of the configured kind, one for each worker."""
    return lambda: registry.make(Sandbox, config.sandbox)


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


def _operator(registry: Registry, part: Mapping[str, Any], problem: Problem, calls: Calls | None) -> NamedOperator:
    options = {key: value for key, value in part.items() if key != "weight"}
    operator = registry.make(Operator, options)
    operator.open(problem, calls)
    return NamedOperator(str(part["use"]), operator, float(part["weight"]))
