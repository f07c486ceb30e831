"""Reads what a component says of itself without importing it."""

import ast
import importlib.util
import inspect
import tomllib
from pathlib import Path


def docstring(target: str) -> str:
    """Return the docstring of `module:Class`, read from the module's source, or "" when it cannot be found.

    Only the packages above the module are imported, so that a list of components costs no heavy import.
    """
    module, _, name = target.partition(":")
    try:
        spec = importlib.util.find_spec(module)
    except ImportError:
        return ""
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return ""
    for node in ast.parse(Path(spec.origin).read_bytes()).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return inspect.cleandoc(ast.get_docstring(node) or "")
    return ""


def path_docstring(path: Path) -> str:
    """Return what a problem says in its `description`, or a preset in the comment it begins with."""
    if path.is_dir():
        try:
            return str(tomllib.loads((path / "problem.toml").read_text("utf-8")).get("description", ""))
        except (OSError, ValueError):
            return ""
    comment = []
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        if not line.startswith("#"):
            break
        comment.append(line.removeprefix("#").removeprefix(" "))
    return "\n".join(comment)
