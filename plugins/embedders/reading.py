"""Reads a Python file into what an embedder compares: units, statements and labels, blind to what does not matter.

A *unit* is a function or a class with what it holds apart from further units; all else of a file is one unit. Local
names are numbered by first use, references to a program's own functions carry the hash of what they name, imports are
spelled out, constants are blanked, docstrings dropped. So units do not change when names change or definitions move.
"""

import ast
import builtins
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.parsing import parsed
from ...core.program import evolve_blocks

_SKIPPED = {"ctx", "kind", "type_comment", "type_ignores"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NAME, _ATTRIBUTE = "\0", "\1"
"""First characters of tokens whose meaning is known only when the whole file has been read."""

_BUILTINS = frozenset(dir(builtins))
_FIELDS: dict[type, tuple[str, ...]] = {}


@dataclass(slots=True)
class Unit:
    """A function, a class, or the rest of a file.

    `token` is what a reference to it says; `spans` are the token ranges of its statements, without their bodies.
    """

    token: str | None
    tokens: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)


class Reading:
    """A Python file, read.

    `labels` are (above, label) of nodes whose label is fixed, `late` (above, token) of those that depend on what the
    file binds, and `pairs` the labels of statements that follow one another.
    """

    def __init__(self, text: str) -> None:
        """Parse and read. Raises SyntaxError, ValueError, RecursionError or MemoryError as `ast.parse` does."""
        self.units: list[Unit] = [Unit(None)]
        self.labels: list[tuple[str, str]] = []
        self.late: list[tuple[str, str]] = []
        self.pairs: list[str] = []
        self._bound: set[str] = set()
        self._stored: set[str] = set()
        self._named_outside: set[str] = set()
        self._attributes: set[str] = set()
        self._imports: dict[str, str] = {}
        self._lines = _evolving_lines(text)
        self._stack: list[Any] = []
        self._bases: dict[str, str] = {}
        self._read(parsed(text))
        self._bases = self._hash_definitions()

    def meaning(self, token: str) -> str:
        """Return the label of a token that had to wait: a local name says only that it is one."""
        kind, name = token[0], token[1:]
        if token in self._bases:
            return self._bases[token]
        if kind == _ATTRIBUTE:
            return "." if name in self._attributes else f".{name}"
        if name in self._imports:
            return self._imports[name]
        return "Name" if name in self._bound else f"={name}"

    def canonical(self, tokens: Sequence[str]) -> str:
        """Return tokens as one text in which the local names are numbered by first use."""
        numbers: dict[str, str] = {}
        parts = []
        for token in tokens:
            if token[0] > _ATTRIBUTE:
                parts.append(token)
                continue
            label = numbers.get(token)
            if label is None:
                label = self.meaning(token)
                if label in ("Name", "."):
                    label = f"{label}{len(numbers)}"
                numbers[token] = label
            parts.append(label)
        return " ".join(parts)

    def raw(self) -> str:
        """Return the file in its order, constants blanked, with all names but those that no other scope can use."""
        local = self._stored - self._named_outside - _BUILTINS
        parts = []
        for unit in self.units:
            numbers: dict[str, str] = {}
            tokens = [
                numbers.setdefault(t, f"local{len(numbers)}") if t[0] == _NAME and t[1:] in local else t
                for t in unit.tokens
            ]
            parts.append(" ".join([unit.token or "", *tokens]))
        return "\n".join(parts)

    # Reading

    def _read(self, tree: ast.Module) -> None:
        stack = self._stack
        self._push_body(tree.body, "Module", self.units[0])
        while stack:
            node, above, unit = stack.pop()
            if isinstance(node, int):
                if node < len(unit.tokens):
                    unit.spans.append((node, len(unit.tokens)))
            elif isinstance(node, str):
                unit.tokens.append(node)
            else:
                self._visit(node, above, unit)

    def _visit(self, node: ast.AST, above: str, unit: Unit) -> None:
        kind = type(node)
        if kind is ast.Name:
            self._name(_NAME + node.id, above, unit)  # type: ignore[attr-defined]
            if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                self._bound.add(node.id)  # type: ignore[attr-defined]
                (self._named_outside if unit.token is None else self._stored).add(node.id)  # type: ignore[attr-defined]
            return
        if kind is ast.Constant or _is_signed_number(node):
            unit.constants.append(ast.unparse(node))
            self.labels.append((above, "Constant"))
            unit.tokens.append("Constant")
            return
        if kind in _SPECIAL:
            _SPECIAL[kind](self, node, above, unit)
            return
        label = kind.__name__
        operator = getattr(node, "op", None)
        if operator is not None:
            label = f"{label}:{type(operator).__name__}"
        elif kind is ast.Compare:
            label = "Compare:" + ",".join([type(o).__name__ for o in node.ops])  # type: ignore[attr-defined]
        self.labels.append((above, label))
        unit.tokens.append(label)
        self._push_fields(node, label, unit)

    def _name(self, token: str, above: str, unit: Unit) -> None:
        self.late.append((above, token))
        unit.tokens.append(token)

    def _push_fields(self, node: ast.AST, label: str, unit: Unit) -> None:
        """Put the children on the stack, first child on top, with an end mark and the end of a statement's head."""
        stack = self._stack
        is_statement = isinstance(node, ast.stmt)
        start = len(unit.tokens) - 1
        todo: list[Any] = []
        head_open = is_statement
        for name in _fields(type(node)):
            value = getattr(node, name)
            if value is None or name in ("op", "ops"):
                continue
            if name in ("body", "orelse", "finalbody", "handlers") and isinstance(value, list):
                if head_open:
                    todo.append((start, "", unit))
                    head_open = False
                todo.append((name, "", unit))
                todo.extend(self._body_items(value, f"{label}.{name}", unit))
                todo.append((")", "", unit))
            elif isinstance(value, list):
                todo.append((f"{name}{len(value)}", "", unit))
                place = f"{label}.{name}"
                todo.extend([(child, place, unit) if isinstance(child, ast.AST) else (f"~{child}", "", unit)
                             for child in value])  # fmt: skip
            elif isinstance(value, ast.AST):
                todo.append((value, f"{label}.{name}", unit))
            else:
                todo.append((f"{name}={value}", "", unit))
        if head_open:
            todo.append((start, "", unit))
        stack.extend(reversed(todo))

    def _push_body(self, body: list[ast.stmt], place: str, unit: Unit) -> None:
        self._stack.extend(reversed(self._body_items(body, place, unit)))

    def _body_items(self, body: list[Any], place: str, unit: Unit) -> list[Any]:
        """Return what of a list of statements is read, and note which of them follow one another."""
        items: list[Any] = []
        previous = ""
        for position, node in enumerate(body):
            if self._lines is not None and isinstance(node, ast.stmt):
                touched = not self._lines.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1))
                if not touched:
                    continue
                if node.lineno not in self._lines:
                    # A frozen head around evolving text is the same in every program.
                    for inner in _inner_bodies(node):
                        items.extend(self._body_items(inner, place, unit))
                    continue
            if position == 0 and _is_docstring(node):
                continue
            items.append((node, place, unit))
            if not isinstance(node, _DEFINITIONS):
                label = type(node).__name__
                self.pairs.append(f"{previous}|{label}")
                previous = label
        return items

    # Nodes that need more than their label

    def _definition(self, node: Any, above: str, unit: Unit) -> None:
        is_method = above.startswith("ClassDef")
        new = Unit((_ATTRIBUTE if is_method else _NAME) + node.name)
        self.units.append(new)
        label = type(node).__name__
        (self._attributes if is_method else self._bound).add(node.name)
        self._named_outside.add(node.name)
        self.labels.append((above if above != "Module" else "", label))
        new.tokens.append(label)
        for name in _fields(type(node)):
            value = getattr(node, name)
            if name == "body":
                self._push_body(value, f"{label}.body", new)
            elif isinstance(value, list):
                self._stack.extend((child, f"{label}.{name}", new) for child in reversed(value))
            elif isinstance(value, ast.AST):
                self._stack.append((value, f"{label}.{name}", new))

    def _argument(self, node: Any, above: str, unit: Unit) -> None:
        self._bound.add(node.arg)
        self._named_outside.add(node.arg)
        self._name(_NAME + node.arg, above, unit)
        if node.annotation is not None:
            self._stack.append((node.annotation, "arg.annotation", unit))

    def _attribute(self, node: Any, above: str, unit: Unit) -> None:
        if type(node.ctx) is not ast.Load:
            self._attributes.add(node.attr)
        self._name(_ATTRIBUTE + node.attr, above, unit)
        self._stack.append((node.value, "Attribute", unit))

    def _keyword(self, node: Any, above: str, unit: Unit) -> None:
        self._name(_NAME + (node.arg or "**"), above, unit)
        self._stack.append((node.value, "keyword", unit))

    def _import(self, node: Any, above: str, unit: Unit) -> None:
        base = "." * getattr(node, "level", 0) + (getattr(node, "module", None) or "")
        for alias in node.names:
            whole = f"{base}:{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            called = alias.asname or alias.name.partition(".")[0]
            self._named_outside.add(called)
            self._imports[called] = whole if alias.asname or isinstance(node, ast.ImportFrom) else called
            self.labels.append(("", f"import {whole}"))

    def _handler(self, node: Any, above: str, unit: Unit) -> None:
        if node.name:
            self._bound.add(node.name)
        self.labels.append((above, "ExceptHandler"))
        unit.tokens.append("ExceptHandler")
        self._push_body(node.body, "ExceptHandler.body", unit)
        if node.type is not None:
            self._stack.append((node.type, "ExceptHandler.type", unit))

    def _scope_statement(self, node: Any, above: str, unit: Unit) -> None:
        self._bound.update(node.names)
        self._named_outside.update(node.names)
        for name in node.names:
            self._name(_NAME + name, type(node).__name__, unit)

    # Hashing

    def _hash_definitions(self) -> dict[str, str]:
        """Name each definition of the file by what it does; calls of one another are not followed further."""
        found: dict[str, list[str]] = {}
        for unit in self.units:
            if unit.token is not None:
                found.setdefault(unit.token, []).append(digest(self.canonical(unit.tokens)))
        return {token: "@" + "".join(sorted(digests)) for token, digests in found.items()}


_SPECIAL: dict[type, Any] = {
    ast.FunctionDef: Reading._definition,
    ast.AsyncFunctionDef: Reading._definition,
    ast.ClassDef: Reading._definition,
    ast.arg: Reading._argument,
    ast.Attribute: Reading._attribute,
    ast.keyword: Reading._keyword,
    ast.Import: Reading._import,
    ast.ImportFrom: Reading._import,
    ast.ExceptHandler: Reading._handler,
    ast.Global: Reading._scope_statement,
    ast.Nonlocal: Reading._scope_statement,
}


def digest(text: str) -> str:
    """Return 16 hexadecimal digits that name a text, the same in every process."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _fields(kind: type) -> tuple[str, ...]:
    found = _FIELDS.get(kind)
    if found is None:
        found = _FIELDS[kind] = tuple(f for f in kind._fields if f not in _SKIPPED)  # type: ignore[attr-defined]
    return found


def _is_signed_number(node: ast.AST) -> bool:
    return (
        type(node) is ast.UnaryOp
        and type(node.op) is ast.USub
        and type(node.operand) is ast.Constant
        and type(node.operand.value) in (int, float, complex)
    )


def _is_docstring(node: Any) -> bool:
    return type(node) is ast.Expr and type(node.value) is ast.Constant and type(node.value.value) is str


def _inner_bodies(node: ast.stmt) -> Iterable[list[Any]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
        yield part.body


def _evolving_lines(text: str) -> frozenset[int] | None:
    """Return the numbers of the lines inside evolve blocks, from 1, or None when the whole text may change."""
    if "EVOLVE-BLOCK" not in text:
        return None
    try:
        blocks = evolve_blocks(text)
    except ValueError:
        return None
    # The parser counts other line ends than `splitlines` does; where they disagree, read everything.
    if len(text.splitlines()) != text.count("\n") + (not text.endswith("\n")):
        return None
    return frozenset(line for block in blocks for line in range(block.start + 1, block.stop + 1))
