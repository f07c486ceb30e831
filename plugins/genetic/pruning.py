"""Takes out dead code: assignments of what nobody reads before it is assigned again."""

import ast
from collections.abc import Iterable

from .source import Region, Source


def prune(source: Source, region: Region) -> None:
    """Remove from a region, in place, what cannot matter to what is read later; nothing when all of it would go.

    Only plain assignments of names, constants, arithmetic and calls of building blocks are removed: those are ordinary
    functions without effects but on the generator they draw from.
    """
    if region.owner is None:
        return
    inside = {id(node) for statement in region.statements() for node in ast.walk(statement)}
    outside = [node for node in ast.walk(region.owner) if id(node) not in inside]
    # The region may stand in a loop, so what its start reads of the round before is alive at its end.
    at_end = {n.id for n in outside if isinstance(n, ast.Name)} | _read(region.statements())
    kept = _Pruner(source, at_end, _pinned(region.owner)).block(region.statements(), at_end)[0]
    if kept:
        region.replace(kept)


class _Pruner:
    """Walks statements backwards with the names that are alive behind them (liveness analysis)."""

    def __init__(self, source: Source, at_end: set[str], pinned: set[str]) -> None:
        self.source = source
        self.at_end = at_end | pinned
        self.pinned = pinned

    def block(self, statements: list[ast.stmt], live: set[str]) -> tuple[list[ast.stmt], set[str]]:
        """Return the statements that matter and the names alive before them."""
        kept: list[ast.stmt] = []
        live = live | self.pinned
        for statement in reversed(statements):
            survivor, live = self._statement(statement, live)
            if survivor is not None:
                kept.append(survivor)
        return kept[::-1], live

    def _statement(self, statement: ast.stmt, live: set[str]) -> tuple[ast.stmt | None, set[str]]:
        if isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
            names = {t.id for t in statement.targets if isinstance(t, ast.Name)}
            if not names & live and self._pure(statement.value):
                return None, live
            if _changes_nothing(statement):
                return None, live
            return statement, (live - names) | _read([statement.value]) | self.pinned
        if isinstance(statement, ast.If):
            return self._condition(statement, live)
        if isinstance(statement, (ast.For, ast.While)) and not _jumps(statement):
            return self._loop(statement, live)
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            # Control leaves the list here: what is read behind it says nothing of what is read next.
            return statement, self.at_end | _read([statement])
        return statement, live | _read([statement])

    def _condition(self, statement: ast.If, live: set[str]) -> tuple[ast.stmt | None, set[str]]:
        body, before_body = self.block(statement.body, live)
        orelse, before_orelse = self.block(statement.orelse, live)
        if not body and not orelse and self._pure(statement.test):
            return None, live
        statement.body, statement.orelse = body or [ast.Pass()], orelse
        return statement, before_body | before_orelse | _read([statement.test])

    def _loop(self, statement: ast.For | ast.While, live: set[str]) -> tuple[ast.stmt | None, set[str]]:
        head = statement.iter if isinstance(statement, ast.For) else statement.test
        body, before = self.block(statement.body, live | _read([head, *statement.body, *statement.orelse]))
        if isinstance(statement, ast.For) and not body and not statement.orelse and self._pure(head):
            counted = {n.id for n in ast.walk(statement.target) if isinstance(n, ast.Name)}
            if not counted & live:
                return None, live
        statement.body = body or [ast.Pass()]
        return statement, live | before | _read([head, *statement.orelse])

    def _pure(self, value: ast.expr) -> bool:
        """Say whether computing a value does nothing else."""
        for node in ast.walk(value):
            if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
                return False
            if isinstance(node, ast.Call) and self.source.block_name(node) is None and not _is_range(node):
                return False
        return True


def _read(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are read anywhere in some nodes; what is added to in place is read too."""
    found: set[str] = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Load, ast.Del)):
                found.add(node.id)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
    return found


def _pinned(owner: ast.AST) -> set[str]:
    """Return the names whose every assignment may be seen: by other scopes, or where an exception leads."""
    nodes = list(ast.walk(owner))
    foreign = {name for n in nodes if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    if any(isinstance(n, (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)) for n in nodes):
        return foreign | _read([owner])
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
    return foreign | _read(n for n in nodes if isinstance(n, scopes) and n is not owner)


def _changes_nothing(statement: ast.Assign) -> bool:
    target = statement.targets[0]
    return (
        len(statement.targets) == 1
        and isinstance(target, ast.Name)
        and (isinstance(statement.value, ast.Name) and statement.value.id == target.id)
    )


def _jumps(statement: ast.stmt) -> bool:
    return any(isinstance(node, (ast.Break, ast.Continue, ast.Return)) for node in ast.walk(statement))


def _is_range(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "range"
