"""Reads what a component says of itself without importing it."""

import ast
import importlib.util
import inspect
import tomllib
from pathlib import Path


def docstring(target: str) -> str | None:
    """Return the docstring of `module:Class`, read from the module's source, or None when it does not define it.

    Only the packages above the module are imported, so that a list of components costs no heavy import.
    """
    module, _, name = target.partition(":")
    try:
        spec = importlib.util.find_spec(module)
    except ImportError:
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    for node in ast.parse(Path(spec.origin).read_bytes()).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return inspect.cleandoc(ast.get_docstring(node) or "")
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names if alias.asname is None}:
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), spec.parent)
            return docstring(f"{source}:{name}")
    return None


def path_docstring(path: Path) -> str:
    """Return the `summary` and the `task` of a problem, or the comment that a preset begins with."""
    if path.is_dir():
        try:
            about = tomllib.loads((path / "problem.toml").read_text("utf-8")).get("problem", {})
            return "\n\n".join(str(about[key]).strip() for key in ("summary", "task") if about.get(key))
        except (OSError, ValueError, AttributeError):  # loading the problem is what tells what is wrong with it
            return ""
    comment = []
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        if not line.startswith("#"):
            break
        comment.append(line.removeprefix("#").removeprefix(" "))
    return "\n".join(comment)
