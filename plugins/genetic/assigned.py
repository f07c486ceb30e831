"""Which names are certainly assigned: a definite-assignment analysis over Python's statements."""

import ast
from collections.abc import Callable, Iterable, Sequence

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
"""Statements that define a function."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_OWN_SCOPE = (*FUNCTIONS, ast.ClassDef, ast.Lambda)

State = frozenset[str] | None
"""The names certainly assigned at a point, or None where control never comes."""


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters, starred ones last."""
    plain = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return plain + [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]


def stored(body: Iterable[ast.AST]) -> set[str]:
    """Return the names that some statements may bind or delete in their own scope, not in functions inside them.

    Names that they declare global or nonlocal are not their own and are left out.
    """
    names: set[str] = set()
    foreign: set[str] = set()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        names |= _bound_by(node)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            foreign |= set(node.names)
        if isinstance(node, _COMPREHENSIONS):
            # What a comprehension counts with is its own; what a walrus in it assigns is not.
            walrus = [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            names |= {target.id for target in walrus}
        elif not isinstance(node, _OWN_SCOPE):
            waiting += ast.iter_child_nodes(node)
    return names - foreign


def _bound_by(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return {node.name} if node.name else set()
    if isinstance(node, ast.MatchMapping):
        return {node.rest} if node.rest else set()
    return set()


class Certain:
    """Follows statements forwards; `elsewhere` says whether a name that is not local is known outside.

    After `after`, `unknown` says whether a read was met of a name that is not certainly assigned.
    """

    def __init__(self, local: Iterable[str], elsewhere: Callable[[str], bool]) -> None:
        self.local = frozenset(local)
        self.elsewhere = elsewhere
        self.unknown = False

    def after(self, body: Sequence[ast.stmt], have: State) -> State:
        """Return the names assigned when a statement list ends, from those assigned before it."""
        for statement in body:
            have = self._statement(statement, have)
        return have

    def _statement(self, s: ast.stmt, have: State) -> State:
        if isinstance(s, (*FUNCTIONS, ast.ClassDef)):
            return self._definition(s, have)
        if isinstance(s, ast.If):
            have = self._read([s.test], have)
            return _meet([self.after(s.body, have), self.after(s.orelse, have)])
        if isinstance(s, (ast.For, ast.AsyncFor)):
            have = self._read([s.iter], have)
            return self._loop(s, _add(self._read([s.target], have), stored([s.target])), have)
        if isinstance(s, ast.While):
            have = self._read([s.test], have)
            return self._loop(s, have, have)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            for item in s.items:
                have = self._read([item.context_expr], have)
                if item.optional_vars is not None:
                    have = _add(self._read([item.optional_vars], have), stored([item.optional_vars]))
            return self.after(s.body, have)
        if isinstance(s, (ast.Try, ast.TryStar)):
            return self._try(s, have)
        if isinstance(s, ast.Match):
            return self._match(s, have)
        return self._simple(s, have)

    def _simple(self, s: ast.stmt, have: State) -> State:
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            self._name(s.target.id, have)
        if isinstance(s, ast.Delete):
            gone = {n.id for t in s.targets for n in ast.walk(t) if isinstance(n, ast.Name) and _deletes(n)}
            for name in gone:
                self._name(name, have)
            have = self._read(s.targets, have)
            return None if have is None else have - gone
        targets = s.targets if isinstance(s, ast.Assign) else []
        have = self._read([c for c in ast.iter_child_nodes(s) if c not in targets], have)
        have = self._read(targets, have)
        if isinstance(s, _JUMPS):
            return None
        if isinstance(s, ast.AnnAssign) and s.value is None:
            return have
        if isinstance(s, ast.Assign):
            return _add(have, stored(targets))
        if isinstance(s, (ast.AnnAssign, ast.AugAssign)):
            return _add(have, stored([s.target]))
        return _add(have, _bound_by(s))

    def _definition(self, s: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, have: State) -> State:
        have = self._read(s.decorator_list, have)
        if isinstance(s, ast.ClassDef):
            have = self._read([*s.bases, *s.keywords], have)
            # A name read in a class body falls back to what is known outside, as it does when it runs.
            self._inner(s.body, set(), set(), have)
            return _add(have, {s.name})
        have = self._read([*s.args.defaults, *(d for d in s.args.kw_defaults if d is not None)], have)
        named = set(parameters(s.args))
        self._inner(s.body, named, stored(s.body) | named, _add(have, {s.name}))
        return _add(have, {s.name})

    def _inner(self, body: list[ast.stmt], named: set[str], local: set[str], have: State) -> None:
        if have is None:
            return
        inside = Certain(local, lambda name: name in have or self._elsewhere(name))
        inside.after(body, frozenset(named))
        self.unknown |= inside.unknown

    def _loop(self, s: ast.For | ast.AsyncFor | ast.While, inside: State, have: State) -> State:
        end = self.after(s.body, inside)
        # A later round starts with less when the body deletes a name.
        if inside is not None and end is not None and inside - end:
            self.after(s.body, inside & end)
            have = None if have is None else have & end
        self.after(s.orelse, have)
        return have

    def _try(self, s: "ast.Try | ast.TryStar", have: State) -> State:
        done = self.after(s.orelse, self.after(s.body, have))
        # A handler may run after any part of the body: only what was there before, less what the body deletes.
        start = None if have is None else have - _deleted(s.body)
        ends = [done]
        for handler in s.handlers:
            inside = self._read([handler.type] if handler.type is not None else [], start)
            end = self.after(handler.body, _add(inside, {handler.name} if handler.name else set()))
            ends.append(end if end is None or handler.name is None else end - {handler.name})
        end = _meet(ends)
        if s.finalbody:
            whole = [*s.body, *s.orelse, *s.handlers]
            before = None if have is None else have - _deleted(whole)
            final = self.after(s.finalbody, before)
            return None if end is None or final is None else (end - _deleted(s.finalbody)) | final
        return end

    def _match(self, s: ast.Match, have: State) -> State:
        have = self._read([s.subject], have)
        ends = [have]
        for case in s.cases:
            inside = _add(self._read([case.pattern], have), stored([case.pattern]))
            inside = self._read([case.guard] if case.guard is not None else [], inside)
            ends.append(self.after(case.body, inside))
            if case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                ends.pop(0)
                break
        return _meet(ends)

    def _read(self, nodes: Iterable[ast.AST], have: State) -> State:
        """Check the reads of some expressions in order; return the names assigned then, those of a walrus too."""
        for node in nodes:
            if not isinstance(node, ast.Constant):
                have = self._expression(node, have)
        return have

    def _expression(self, node: ast.AST, have: State) -> State:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self._name(node.id, have)
            return have
        if isinstance(node, ast.NamedExpr):
            return _add(self._expression(node.value, have), {node.target.id})
        if isinstance(node, ast.Lambda):
            have = self._read([*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)], have)
            self._expression(node.body, _add(have, set(parameters(node.args))))
            return have
        if isinstance(node, _COMPREHENSIONS):
            inside = have
            for generator in node.generators:
                inside = _add(self._expression(generator.iter, inside), stored([generator.target]))
                inside = self._read(generator.ifs, inside)
            self._read([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], inside)
            return have
        if isinstance(node, (ast.BoolOp, ast.IfExp)):
            first = node.values[0] if isinstance(node, ast.BoolOp) else node.test
            have = self._expression(first, have)
            inside = have
            for other in node.values[1:] if isinstance(node, ast.BoolOp) else []:
                inside = self._expression(other, inside)
            for other in [node.body, node.orelse] if isinstance(node, ast.IfExp) else []:
                self._expression(other, have)
            return have
        return self._read(ast.iter_child_nodes(node), have)

    def _name(self, name: str, have: State) -> None:
        if have is not None and name not in have and not self._elsewhere(name):
            self.unknown = True

    def _elsewhere(self, name: str) -> bool:
        return name not in self.local and self.elsewhere(name)


def _add(have: State, names: set[str]) -> State:
    return None if have is None else have | names


def _meet(states: Iterable[State]) -> State:
    reached = [s for s in states if s is not None]
    return frozenset.intersection(*reached) if reached else None


def _deletes(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Del)


def _deleted(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for top in nodes for n in ast.walk(top) if isinstance(n, ast.Name) and _deletes(n)}
