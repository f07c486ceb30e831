"""What a run was told to do, as far as it decides the ledger: the first link of the digest."""

import importlib.metadata
from collections.abc import Mapping
from typing import Any

from .config import RunConfig
from .problem import Problem
from .registry import SLOTS, Registry

_WITHOUT_INFLUENCE = ("budget", "workers", "sandbox", "executor", "reporter", "plugins")
"""Settings that change no result: how much, how many at a time, where, how contained, who watches."""


def told_of(
    problem: Problem, config: RunConfig, registry: Registry, totals: Mapping[str, Any], lag: int
) -> dict[str, Any]:
    """Return the problem, the evaluator, the components with their options, the seed and the lag, as plain data.

    A component that reads the run's total makes that total a part of it.
    """
    settings = {k: v for k, v in config.model_dump(mode="json").items() if k not in _WITHOUT_INFLUENCE}
    told = {
        "speciate": version(),
        "problem": problem.hash,
        "evaluator": problem.evaluator_version,
        "settings": settings,
        "lag": lag,
    }
    if reads_total(config, registry):
        told["totals"] = dict(totals)
    return told


def reads_total(config: RunConfig, registry: Registry) -> bool:
    """Say whether some component of the run reads its total budget."""
    for slot in SLOTS:
        chosen = [getattr(table, slot, None) for table in (config, *config.island)]
        choices = [part for each in chosen for part in (each if isinstance(each, (list, tuple)) else (each,))]
        if any(registry.component(slot, part["use"]).reads_total for part in choices if part is not None):
            return True
    return False


def version() -> str:
    """Return the installed version of speciate; a bare clone has none."""
    try:
        return importlib.metadata.version("speciate")
    except importlib.metadata.PackageNotFoundError:
        return "uninstalled"
