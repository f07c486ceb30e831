"""A program as variation sees it: the statements that may change, and what is in scope before each."""

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ...core.program import evolve_blocks
from .assigned import FUNCTIONS, Certain, parameters, stored
from .catalogue import Catalogue

Scope = dict[str, str | None]
"""Names that are certainly assigned, with the type known of each or None; in order of assignment."""

GENERATOR = "np.random.Generator"
_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""A line as Python's parser counts them: `str.splitlines` breaks at form feeds and other characters too."""

_ASSIGN_NOTHING = (ast.Expr, ast.Pass, ast.Return, ast.AugAssign, ast.If, ast.For, ast.While, ast.Global, ast.Nonlocal)
"""Statements after which no further name is certain, but for a walrus and for what `del` takes away."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Region:
    """The statements of one evolve block: `body[start:stop]`, in `scope`, in the function `owner` or at top level."""

    body: list[ast.stmt]
    start: int
    stop: int
    scope: Scope
    owner: Function | None
    first_line: int
    last_line: int
    indent: str

    def statements(self) -> list[ast.stmt]:
        """Return the statements that may change."""
        return self.body[self.start : self.stop]

    def replace(self, statements: list[ast.stmt]) -> None:
        """Put other statements in their place."""
        self.body[self.start : self.stop] = statements
        self.stop = self.start + len(statements)


@dataclass(slots=True)
class Place:
    """A statement list inside a region with an index and the scope before it; index may be the list's length."""

    body: list[ast.stmt]
    index: int
    scope: Scope
    low: int
    high: int

    @property
    def statement(self) -> ast.stmt | None:
        """The statement there, or None behind the last."""
        return self.body[self.index] if self.index < self.high else None


class Source:
    """A parsed program. Raises ValueError when it does not parse or its evolve blocks hold no whole statements."""

    def __init__(self, text: str, catalogue: Catalogue) -> None:
        self.text = text
        self.lines = _LINE.findall(text)
        self._subtle = ":=" in text or "del " in text
        self.newline = next((line[len(line.rstrip("\r\n")) :] for line in self.lines), "") or "\n"
        self.catalogue = catalogue
        try:
            self.tree = ast.parse(text)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise ValueError(f"the program does not parse: {error}") from None
        self.prefix = self._block_prefix()
        self.globals = self._globals()
        self.regions = [r for first, stop in self._blocks() if (r := self._region(first, stop)) is not None]
        if not self.regions:
            raise ValueError("no evolve block holds a statement")
        self._ends = {r.first_line: r.statements()[-1:] for r in self.regions}
        for region in self.regions:
            for statement in _alone_on_their_lines(region.statements()):
                # Kept on the node, so that a copy of the whole knows it too.
                statement._as_read = (ast.dump(statement), self._segment(statement))  # type: ignore[attr-defined]

    def render(self) -> str:
        """Return the text with the regions as they are now; unchanged statements keep their own text."""
        lines = list(self.lines)
        for region in sorted(self.regions, key=lambda r: -r.first_line):
            new = [line for statement in region.statements() for line in self._written(statement, region.indent)]
            if new and not lines[region.last_line - 1].endswith(("\r", "\n")):
                new[-1] = new[-1].rstrip("\r\n")
            lines[region.first_line - 1 : region.last_line] = new
        return "".join(lines)

    def _written(self, statement: ast.stmt, indent: str) -> list[str]:
        dump, segment = getattr(statement, "_as_read", (None, ""))
        # A donor's text may be indented otherwise, or end its lines otherwise.
        fits = segment[: len(segment) - len(segment.lstrip())] == indent
        if dump == ast.dump(statement) and fits:
            return [line.rstrip("\r\n") + self.newline for line in _LINE.findall(segment)]
        unparsed = ast.unparse(ast.fix_missing_locations(statement)).split("\n")
        return [(indent + line if line else line) + self.newline for line in unparsed]

    def _blocks(self) -> list[tuple[int, int]]:
        """Return the evolve blocks as (lines before, last line), in lines as the parser counts them."""
        found = [(block.start, block.stop) for block in evolve_blocks(self.text)]
        other = self.text.splitlines(keepends=True)
        if other == self.lines:
            return found
        return [
            (len(_LINE.findall("".join(other[:start]))), len(_LINE.findall("".join(other[:stop]))))
            for start, stop in found
        ]

    def places(self, region: Region) -> Iterator[Place]:
        """Yield every place in a region, statements inside others too, each with its scope."""
        yield from self._places(region.body, region.start, region.stop, dict(region.scope))

    def type_of(self, node: ast.expr, scope: Scope) -> str | None:
        """Return the type of an expression, as far as it can be told, or None."""
        if isinstance(node, ast.Name):
            return scope.get(node.id)
        if isinstance(node, ast.Constant):
            return type(node.value).__name__ if type(node.value) in (int, float, str, bool) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.type_of(node.operand, scope)
        if isinstance(node, ast.BinOp):
            sides = {self.catalogue.base(self.type_of(side, scope)) for side in (node.left, node.right)}
            return ("float" if "float" in sides else "int") if sides <= {"int", "float"} else None
        if isinstance(node, ast.Call):
            return self._call_type(node)
        return None

    def block_name(self, call: ast.Call) -> str | None:
        """Return the name of the building block that a call calls, or None."""
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            return call.func.attr if f"{call.func.value.id}." == self.prefix else None
        if isinstance(call.func, ast.Name) and call.func.id in self._imported:
            return call.func.id
        return None

    def callee(self, name: str) -> ast.expr:
        """Return the expression that names a building block in this program."""
        if name in self._imported or not self.prefix:
            return ast.Name(name, ast.Load())
        return ast.Attribute(ast.Name(self.prefix[:-1], ast.Load()), name, ast.Load())

    def can_call(self, name: str) -> bool:
        """Say whether this program can name a building block."""
        return bool(self.prefix) or name in self._imported

    def assign(self, statement: ast.stmt, scope: Scope) -> None:
        """Add to a scope what a statement certainly assigns."""
        if isinstance(statement, ast.Assign):
            kind = self.type_of(statement.value, scope)
            for target in statement.targets:
                scope.update(dict.fromkeys(_targets(target), kind if isinstance(target, ast.Name) else None))
        elif isinstance(statement, ast.AnnAssign):
            if statement.value is not None and isinstance(statement.target, ast.Name):
                scope[statement.target.id] = ast.unparse(statement.annotation)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            scope.update(dict.fromkeys(stored(i.optional_vars for i in statement.items if i.optional_vars is not None)))
            for inner in statement.body:
                self.assign(inner, scope)
        elif isinstance(statement, ast.If) and statement.orelse:
            self._assign_both(statement, scope)
        elif self._subtle or not isinstance(statement, _ASSIGN_NOTHING):
            after = Certain((), lambda name: True).after([statement], frozenset(scope))
            for name in [n for n in scope if after is not None and n not in after]:
                del scope[name]
            scope.update(dict.fromkeys(sorted((after or frozenset()) - scope.keys())))

    def _assign_both(self, statement: ast.If, scope: Scope) -> None:
        """Add what both branches of a condition assign."""
        branches = []
        for branch in (statement.body, statement.orelse):
            inside = dict(scope)
            for inner in branch:
                self.assign(inner, inside)
            branches.append(inside)
        one, other = branches
        scope.update({n: t if t == other[n] else None for n, t in one.items() if n in other and n not in scope})

    def original_end(self, region: Region) -> list[ast.stmt]:
        """Return the last statement that a region had when it was parsed, in a list."""
        return self._ends[region.first_line]

    @property
    def exported(self) -> set[str]:
        """Names of the top level that text outside the regions, or another file, may use: those it had at first."""
        return self.globals

    def known_globally(self, name: str) -> bool:
        """Say whether a name is built in or assigned at top level."""
        return name in self.globals or name in _BUILTINS

    def undefined(self, region: Region) -> bool:
        """Say whether some statement of a region reads a name that is not certainly assigned before it."""
        certain = self._certain(region.owner)
        certain.after(region.statements(), frozenset(region.scope))
        return certain.unknown

    def assigned(self, region: Region) -> frozenset[str]:
        """Return the names that are certainly assigned when a region ends; those before it where it never ends."""
        start = frozenset(region.scope)
        after = Certain((), lambda name: True).after(region.statements(), start)
        return start if after is None else after

    def _certain(self, owner: Function | None) -> Certain:
        local = set() if owner is None else stored(owner.body) | set(parameters(owner.args))
        # At top level a name that the program assigns somewhere is certain only behind that place.
        elsewhere = _BUILTINS.__contains__ if owner is None else self.known_globally
        return Certain(local, elsewhere)

    def _places(self, body: list[ast.stmt], low: int, high: int, scope: Scope) -> Iterator[Place]:
        for index in range(low, high):
            statement = body[index]
            yield Place(body, index, dict(scope), low, high)
            inside = dict(scope)
            if isinstance(statement, ast.For):
                inside.update(dict.fromkeys(_targets(statement.target), "int" if _is_range(statement.iter) else None))
            if isinstance(statement, FUNCTIONS):
                inside.update(_parameter_types(statement))
            inside.update(_bound_inside(statement))
            for inner in bodies(statement):
                yield from self._places(inner, 0, len(inner), dict(inside))
            self.assign(statement, scope)
        yield Place(body, high, dict(scope), low, high)

    def _call_type(self, node: ast.Call) -> str | None:
        name = self.block_name(node)
        if name is not None:
            return self.catalogue.result_of(name)
        if isinstance(node.func, ast.Name):
            if node.func.id in ("int", "float", "str", "bool", "len", "abs", "round"):
                return {"len": "int", "round": "int", "abs": None}.get(node.func.id, node.func.id)
            return self._functions.get(node.func.id)
        return GENERATOR if isinstance(node.func, ast.Attribute) and node.func.attr == "default_rng" else None

    def _block_prefix(self) -> str:
        self._imported: set[str] = set()
        prefix = ""
        for node in self.tree.body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name == "blocks":
                        prefix = f"{alias.asname or alias.name}."
            elif isinstance(node, ast.ImportFrom) and node.module == "blocks":
                self._imported |= {alias.name for alias in node.names if alias.asname is None}
        return prefix

    def _globals(self) -> set[str]:
        names: set[str] = set()
        self._functions: dict[str, str | None] = {}
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                self._functions[node.name] = None if node.returns is None else ast.unparse(node.returns)
        for inner in ast.walk(self.tree) if "global" in self.text else ():
            if isinstance(inner, ast.Global):
                names |= set(inner.names)
        return names | stored(self.tree.body)

    def _region(self, first: int, stop: int) -> Region | None:
        """Find the statements of the lines first + 1 … stop (counted from 1): a run of one statement list."""
        found = self._run(self.tree.body, first + 1, stop, {}, None)
        if found is None:
            return None
        body, low, high, scope, owner = found
        lines = self.lines
        if len(lines) == stop and first == 0:
            first_line, last_line = _first_line(body[low]), body[high - 1].end_lineno or stop
        else:
            first_line, last_line = first + 1, stop
        top = _first_line(body[low])
        indent = lines[top - 1][: len(lines[top - 1]) - len(lines[top - 1].lstrip())]
        return Region(body, low, high, scope, owner, first_line, last_line, indent)

    def _run(
        self, body: list[ast.stmt], first: int, last: int, scope: Scope, owner: Function | None
    ) -> tuple[list[ast.stmt], int, int, Scope, Function | None] | None:
        inside = [k for k, s in enumerate(body) if _first_line(s) >= first and (s.end_lineno or s.lineno) <= last]
        if inside:
            for statement in body[: inside[0]]:
                self.assign(statement, scope)
            return body, inside[0], inside[-1] + 1, scope, owner
        for statement in body:
            if statement.lineno < first and (statement.end_lineno or 0) >= last - 1:
                deeper = dict(scope)
                holder = owner
                if isinstance(statement, FUNCTIONS):
                    # What a function around this one assigned before is known inside; what a module did is global.
                    around = {} if owner is None else deeper
                    hidden = stored(statement.body)
                    deeper = {n: t for n, t in around.items() if n not in hidden} | _parameter_types(statement)
                    holder = statement
                elif isinstance(statement, ast.ClassDef):
                    holder = None
                if isinstance(statement, ast.For):
                    kind = "int" if _is_range(statement.iter) else None
                    deeper.update(dict.fromkeys(_targets(statement.target), kind))
                deeper.update(_bound_inside(statement))
                for inner in bodies(statement):
                    found = self._run(inner, first, last, dict(deeper), holder)
                    if found is not None:
                        return found
            self.assign(statement, scope)
        return None

    def _segment(self, statement: ast.stmt) -> str:
        return "".join(self.lines[_first_line(statement) - 1 : statement.end_lineno])


def _targets(target: ast.expr) -> list[str]:
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _parameter_types(node: Function) -> Scope:
    a = node.args
    named = a.posonlyargs + a.args + a.kwonlyargs
    types: Scope = {x.arg: None if x.annotation is None else ast.unparse(x.annotation) for x in named}
    return {**dict.fromkeys(parameters(a)), **types}


def _bound_inside(statement: ast.stmt) -> Scope:
    """Return what a statement's head assigns for its body."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return dict.fromkeys(sorted(stored(i.optional_vars for i in statement.items if i.optional_vars is not None)))
    return dict.fromkeys(_targets(statement.target)) if isinstance(statement, ast.AsyncFor) else {}


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def _alone_on_their_lines(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that share no line with another (`a = 1; b = 2`): only they have a text of their own."""
    shared = {
        id(s)
        for one, two in pairwise(statements)
        if one.end_lineno is not None and one.end_lineno >= _first_line(two)
        for s in (one, two)
    }
    return [s for s in statements if id(s) not in shared]


def bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the statement lists inside a statement."""
    found = [getattr(statement, field) for field in ("body", "orelse", "finalbody") if getattr(statement, field, None)]
    found += [handler.body for handler in getattr(statement, "handlers", [])]
    return found + [case.body for case in getattr(statement, "cases", [])]


def own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement itself, not of the statements inside it."""
    for _, value in ast.iter_fields(statement):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.expr):
                yield item
            elif isinstance(item, ast.withitem):
                yield item.context_expr


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
