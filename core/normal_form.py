"""The normal form of a program's text: what is left when comments, formatting, docstrings and local names are gone."""

import ast
import builtins
from collections.abc import Iterator

_BUILTINS = frozenset(dir(builtins))


def normal_form(source: str) -> str:
    """Return a text that is equal for Python programs that differ in nothing that can matter.

    Comments, formatting and docstrings are dropped; names that are local to a function are numbered in order of
    appearance. Parameters of functions keep their names, since callers may use them, as do all names of the top level;
    constants stay. A text that is not Python is only stripped of blanks at the ends of its lines.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "\n".join(line.rstrip() for line in source.strip().splitlines())
    kept = _BUILTINS | _top_level(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            _drop_docstring(node)
    for function in _outermost_functions(tree):
        _number_locals(function, kept)
    return ast.dump(tree)


def _drop_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        node.body = node.body[1:]


def _outermost_functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield functions that stand in no other function; methods are among them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        else:
            yield from _outermost_functions(node)


def _top_level(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def _number_locals(function: ast.FunctionDef | ast.AsyncFunctionDef, kept: frozenset[str] | set[str]) -> None:
    """Rename consistently, one name to one number, what the function binds and no one outside can name."""
    nodes = list(ast.walk(function))
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}
    local = bound - kept - {name for node in nodes for name in _named_outside(node)}
    numbers: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in local:
            node.id = numbers.setdefault(node.id, f"local {len(numbers)}")
        elif isinstance(node, ast.ExceptHandler) and node.name in local:
            node.name = numbers.setdefault(node.name, f"local {len(numbers)}")


def _named_outside(node: ast.AST) -> list[str]:
    """Return the names of a node that callers, other scopes or other modules may use."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node.names
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    return []
