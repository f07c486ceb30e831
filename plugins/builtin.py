"""Registers every component that comes with speciate, through the hook that everyone uses."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..core.hooks import hookimpl

if TYPE_CHECKING:
    from ..core.registry import Registry

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = __package__.rpartition(".")[0]


@hookimpl
def register(registry: "Registry") -> None:
    """Register by name what is imported on first use, and by path what is a file."""
    for slot, name, target in COMPONENTS:
        registry.add(slot, name, f"{PACKAGE}.{target}")
    for path in sorted((ROOT / "plugins" / "presets").glob("*.toml")):
        registry.add("preset", path.stem, path)
    for path in sorted((ROOT / "problems").glob("*/problem.toml")):
        registry.add("problem", path.parent.name, path.parent)


COMPONENTS = (
    ("operator", "genetic", "plugins.genetic.operator:Genetic"),
    ("selector", "novel", "islands.selectors:Novel"),
    ("selector", "shinka", "islands.selectors:Shinka"),
    ("selector", "power-law", "islands.selectors:PowerLaw"),
    ("selector", "greedy", "islands.selectors:Greedy"),
    ("selector", "uniform", "islands.selectors:Uniform"),
    ("inspirations", "uniform", "islands.inspirations:UniformInspirations"),
    ("embedder", "ast-ngrams", "plugins.embedders.ngrams:AstNgrams"),
    ("novelty", "cosine", "islands.novelty:Cosine"),
    ("archive", "bounded", "islands.archives:Bounded"),
    ("topology", "ring", "islands.topologies:Ring"),
    ("topology", "full", "islands.topologies:FullyConnected"),
    ("migration", "copying", "islands.migration:Copying"),
    ("sandbox", "forkserver", "plugins.sandboxes.forkserver:ForkServer"),
    ("sandbox", "process", "plugins.sandboxes.process:ProcessSandbox"),
    ("executor", "local", "plugins.executors.local:LocalExecutor"),
    ("reporter", "progress", "plugins.reporters.progress:Progress"),
)
"""Slot, name and `module:Class` below the package."""
