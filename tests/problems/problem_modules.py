"""Loads the modules of a problem's folder as its judges do: by their path, each afresh."""

import importlib.util
from pathlib import Path
from types import ModuleType

PROBLEMS = Path(__file__).resolve().parent.parent.parent / "problems"


def load(problem: str, name: str) -> ModuleType:
    """Load a module of a problem's folder afresh."""
    spec = importlib.util.spec_from_file_location(f"{problem}_{name}", PROBLEMS / problem / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
