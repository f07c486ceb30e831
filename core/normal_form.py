"""The normal form of a program's text: what is left when comments, formatting, docstrings and local names are gone."""

import ast
import builtins
from collections.abc import Callable, Mapping
from typing import Any

from .parsing import parsed

_BUILTINS = frozenset(dir(builtins))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOKS_AT_NAMES = frozenset(("locals", "vars", "dir", "eval", "exec"))
_SILENT = frozenset(("ctx", "kind", "type_comment", "type_ignores"))
"""Fields that say nothing of their own: load or store shows in the place, `u""` is formatting."""


def normal_form(source: str) -> str:
    """Return a text that is equal for Python programs that differ in nothing that can matter.

    Comments, formatting and docstrings are dropped; names that are local to a function are numbered in order of
    appearance. Parameters of functions keep their names, since callers may use them, as do all names of the top level
    and of classes; constants stay. A text that is not Python is only stripped of blanks at the ends of its lines.
    """
    try:
        tree = parsed(source)
        return normal_tree(tree, _top_level(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "\n".join(line.rstrip() for line in source.strip().splitlines())


def normal_tree(tree: ast.AST, kept: set[str]) -> str:
    """Return the normal form of a part of a program, in which the names in `kept` keep their names."""
    writer = _Writer(_BUILTINS | kept)
    writer.node(tree)
    return " ".join(writer.tokens)


def _top_level(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


class _Writer:
    """Writes a tree as text in one pass; names are put in when their outermost function is done."""

    def __init__(self, kept: frozenset[str]) -> None:
        self.kept = kept
        self.tokens: list[str] = []
        self.marks: list[tuple[int, str]] = []
        """Names met in the present outermost function, each with the index of its token."""
        self.bound: set[str] = set()
        self.outside: set[str] = set()
        """Names that callers, other scopes or other modules may use."""
        self.depth = 0

    def node(self, node: ast.AST) -> None:
        kind = type(node)
        if kind is ast.Name:
            self.name(node.id, binds=type(node.ctx) is not ast.Load)  # type: ignore[attr-defined]
        else:
            special = _SPECIAL.get(kind)
            if special is None:
                self.fields(node)
            else:
                special(self, node)

    def fields(self, node: ast.AST) -> None:
        kind = type(node)
        tokens = self.tokens
        tokens.append(kind.__name__)
        for field in _fields(kind):
            value = getattr(node, field, None)
            if value is None:
                tokens.append("-")
            elif isinstance(value, ast.AST):
                self.node(value)
            elif type(value) is list:
                self.items(value)
            else:
                tokens.append(str(value))

    def items(self, values: list[object]) -> None:
        self.tokens.append("(")
        for value in values:
            if isinstance(value, ast.AST):
                self.node(value)
            else:
                self.tokens.append("-" if value is None else str(value))
        self.tokens.append(")")

    def name(self, name: str, *, binds: bool) -> None:
        if self.depth:
            self.marks.append((len(self.tokens), name))
            if binds:
                self.bound.add(name)
        self.tokens.append(name)

    def constant(self, node: ast.Constant) -> None:
        # Hexadecimal, since Python refuses to write a very long number in decimals.
        self.tokens.append(hex(node.value) if type(node.value) is int else repr(node.value))

    def declaration(self, node: ast.Global | ast.Nonlocal) -> None:
        self.outside.update(node.names)
        self.fields(node)

    def argument(self, node: ast.arg) -> None:
        self.outside.add(node.arg)
        self.fields(node)

    def alias(self, node: ast.alias) -> None:
        self.outside.add((node.asname or node.name).split(".")[0])
        self.fields(node)

    def capture(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        """Write what binds a name other than by a `Name`."""
        self.fields(node)
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name is not None:
            self.name(name, binds=True)

    def module(self, node: ast.Module) -> None:
        self.items([*_undocumented(node.body)])

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.outside.add(node.name)
        self.depth += 1
        self.tokens += [type(node).__name__, node.name]
        self.node(node.args)
        self.items([*node.decorator_list, node.returns, *getattr(node, "type_params", ())])
        self.items([*_undocumented(node.body)])
        self.depth -= 1
        if not self.depth:
            self.number()

    def class_definition(self, node: ast.ClassDef) -> None:
        """Write a class; what its body binds are attributes, which keep their names."""
        self.outside.add(node.name)
        if self.depth:
            inside = [n for statement in node.body for n in ast.walk(statement)]
            self.outside.update(n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.tokens += ["ClassDef", node.name]
        self.items([*node.bases, *node.keywords, *getattr(node, "type_params", ())])
        self.items([*node.decorator_list])
        self.items([*_undocumented(node.body)])

    def number(self) -> None:
        """Put numbers for the names that are local to the function just written."""
        local = self.bound - self.kept - self.outside
        # What a star brings is not known, nor what names a function that looks at its own names is after.
        if local and "*" not in self.kept | self.outside and not _LOOKS_AT_NAMES & {name for _, name in self.marks}:
            numbers: dict[str, str] = {}
            for at, name in self.marks:
                if name in local:
                    self.tokens[at] = numbers.setdefault(name, f"@{len(numbers)}")
        self.marks.clear()
        self.bound.clear()
        self.outside.clear()


_SPECIAL: Mapping[type, Callable[[_Writer, Any], None]] = {
    ast.Constant: _Writer.constant,
    ast.Global: _Writer.declaration,
    ast.Nonlocal: _Writer.declaration,
    ast.arg: _Writer.argument,
    ast.alias: _Writer.alias,
    ast.ExceptHandler: _Writer.capture,
    ast.MatchAs: _Writer.capture,
    ast.MatchStar: _Writer.capture,
    ast.MatchMapping: _Writer.capture,
    ast.Module: _Writer.module,
    ast.FunctionDef: _Writer.function,
    ast.AsyncFunctionDef: _Writer.function,
    ast.ClassDef: _Writer.class_definition,
}

_CAPTURES = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
_KNOWN: dict[type, tuple[str, ...]] = {}


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a kind of node that are written; what a capture binds is written apart."""
    if kind not in _KNOWN:
        silent = _SILENT | ({"name", "rest"} if kind in _CAPTURES else set())
        _KNOWN[kind] = tuple(field for field in kind._fields if field not in silent)
    return _KNOWN[kind]


def _undocumented(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    documented = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1:] if documented else body
