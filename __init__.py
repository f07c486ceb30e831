"""speciate grows programs: solutions, harnesses and policy weights, evolved in one population.

from speciate import search

run = search("circle_packing", evaluations=200, seed=1)
print(run.best)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core.search import Search, search

__all__ = ["Search", "search"]


def __getattr__(name: str) -> Any:
    """Import the public names on first use: `import speciate` loads nothing else of ours."""
    if name in __all__:
        import importlib

        return getattr(importlib.import_module(f"{__name__}.core.search"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
