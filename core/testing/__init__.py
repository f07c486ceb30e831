"""Contract tests for components: what a slot asks for, checked on anyone's class in three lines.

    from speciate.core.testing import SelectorContract

    class TestFirst(SelectorContract):
        def component(self):
            return First()

pytest collects the tests of the base class; nothing here needs pytest itself. A contract tests what the engine relies
on, not whether a component is any good.
"""

from .component_contract import ComponentContract
from .island_contracts import (
    ArchiveContract,
    InspirationsContract,
    MigrationContract,
    SelectorContract,
    TopologyContract,
)
from .program_contracts import EmbedderContract, NoveltyContract
from .sandbox_contract import SandboxContract
from .search_contracts import ExecutorContract, OperatorContract, ReporterContract

__all__ = [
    "ArchiveContract",
    "ComponentContract",
    "EmbedderContract",
    "ExecutorContract",
    "InspirationsContract",
    "MigrationContract",
    "NoveltyContract",
    "OperatorContract",
    "ReporterContract",
    "SandboxContract",
    "SelectorContract",
    "TopologyContract",
]
