"""Started by path in a process of its own: loads the package from where this file lies, and works."""

import importlib
import importlib.util
import sys
from pathlib import Path


def load_package() -> None:
    """Load `speciate` from the folder above, installed or not, so that a worker is of its parent's version."""
    root = Path(__file__).resolve().parents[2]
    spec = importlib.util.spec_from_file_location(
        "speciate", root / "__init__.py", submodule_search_locations=[str(root)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["speciate"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    load_package()
    importlib.import_module("speciate.islands.compare.worker").work(int(sys.argv[1]), int(sys.argv[2]))
