"""Every component that comes with speciate keeps the contract of its slot."""

from typing import Any

import pytest
from speciate.core import testing
from speciate.core.errors import SpeciateError, UsageError
from speciate.core.problem import load_problem
from speciate.core.registry import SLOTS, Registry
from speciate.core.sandbox import Workspace
from speciate.plugins import builtin

REGISTRY = Registry()
builtin.register(REGISTRY)

CONTRACTS: dict[str, type[testing.ComponentContract]] = {
    "operator": testing.OperatorContract,
    "selector": testing.SelectorContract,
    "inspirations": testing.InspirationsContract,
    "embedder": testing.EmbedderContract,
    "novelty": testing.NoveltyContract,
    "archive": testing.ArchiveContract,
    "topology": testing.TopologyContract,
    "migration": testing.MigrationContract,
    "sandbox": testing.SandboxContract,
    "executor": testing.ExecutorContract,
    "reporter": testing.ReporterContract,
    "policy": testing.ComponentContract,
    "comparison": testing.ComponentContract,
}


TRIED_APART = {
    ("policy", "scripted"),  # it has nothing to say until replies are given
    *(("operator", name) for name in ("crossover", "diff", "elsewhere", "rewrite", "tune")),
}
"""What can do nothing without options or a policy: its own tests give it some."""

PROBLEM_OF = {"bits": "nk"}
"""Operators that do not change Python, with a problem that they serve."""


def contract_of(slot: str, name: str) -> type[testing.ComponentContract]:
    """Make the test class of one component."""

    def component(self: object) -> Any:
        if slot == "sandbox":
            return here(name)
        try:
            return REGISTRY.make(slot, name)
        except UsageError as error:
            if REGISTRY.entry(slot, name).extra is None:
                raise
            # The extra is not installed, or an address must be given: such a component is tried in its own tests.
            pytest.skip(str(error))

    def sandbox(self: object) -> Any:
        return here(REGISTRY.names("sandbox")[0])

    members: dict[str, Any] = {"component": component, "sandbox": sandbox}
    if slot == "operator" and name in PROBLEM_OF:
        served = PROBLEM_OF[name]
        members["problem"] = lambda self, folder: load_problem(served, {served: REGISTRY.path("problem", served)}, {})
        members["parent"], members["inspiration"] = "0110" * 7 + "01\n", "1" * 30 + "\n"
    if slot == "archive":
        members["bound"] = getattr(REGISTRY.make(slot, name).options, "size", None)
    return type(f"Test_{slot}_{name}".replace("-", "_"), (CONTRACTS[slot],), members)


def here(name: str) -> Any:
    """Return a sandbox, or skip, with its reason, one that this machine cannot make or open."""
    try:
        sandbox = REGISTRY.make("sandbox", name)
        sandbox.open(Workspace())  # type: ignore[attr-defined]
    except SpeciateError as error:
        pytest.skip(str(error))
    sandbox.close()  # type: ignore[attr-defined]
    return REGISTRY.make("sandbox", name)


for _slot in CONTRACTS:
    for _name in REGISTRY.names(_slot):
        if (_slot, _name) in TRIED_APART:
            continue
        _made = contract_of(_slot, _name)
        globals()[_made.__name__] = _made


def test_every_slot_has_its_contract() -> None:
    assert set(CONTRACTS) == set(SLOTS)


@pytest.mark.parametrize(("slot", "name"), [(slot, name) for slot in SLOTS for name in REGISTRY.names(slot)])
def test_every_option_says_what_it_does(slot: str, name: str) -> None:
    try:
        options = REGISTRY.describe(slot, name).options
    except UsageError as error:
        pytest.skip(str(error))
    for option in options:
        assert option.description, f"{slot} {name!r}: say in a docstring below it what the option {option.name!r} does"
