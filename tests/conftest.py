"""Lets the tests run from a bare clone, and finds the handed cases where they lie beside it."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

if importlib.util.find_spec("speciate") is None:
    spec = importlib.util.spec_from_file_location(
        "speciate", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["speciate"] = module
    spec.loader.exec_module(module)
