"""Where an operator works, and what operators share: drawing values, building calls, repairing names."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .catalogue import Block, Catalogue
from .source import Place, Region, Scope, Source, own_expressions


@dataclass(slots=True)
class Site:
    """Where an operator works: a program that it may change in place, one region of it, donors and chance."""

    source: Source
    region: Region
    donors: Sequence[str]
    rng: np.random.Generator
    step: float

    @property
    def catalogue(self) -> Catalogue:
        """The problem's building blocks."""
        return self.source.catalogue

    def places(self, *, empty: bool = False) -> list[Place]:
        """Return the places of the region; with `empty`, those behind a list's last statement too."""
        return [p for p in self.source.places(self.region) if empty or p.statement is not None]

    def pick(self, items: Sequence[object]) -> int | None:
        """Return the index of one of the items, or None when there are none."""
        return int(self.rng.integers(len(items))) if len(items) else None


def operands_of(site: Site) -> list[tuple[ast.AST, str, int | None, ast.expr, Scope]]:
    """Return where expressions stand in the region: (node, field, index, expression, scope)."""
    found: list[tuple[ast.AST, str, int | None, ast.expr, Scope]] = []
    for place in site.places():
        statement = place.statement
        if statement is not None and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for node in _with_own_scope(statement):
                found += [(node, field, index, item, place.scope) for field, index, item in _operands(node)]
    return found


_NOT_OPERANDS = frozenset(("func", "annotation", "target", "targets", "returns", "items", "optional_vars"))
_SCOPES = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


def _operands(node: ast.AST) -> list[tuple[str, int | None, ast.expr]]:
    """Return the expressions directly under a node that another expression could replace.

    The parts of an f-string are none: what stands among them is text or a replacement field.
    """
    if isinstance(node, ast.JoinedStr):
        return []
    return [
        (field, index, item)
        for field, value in ast.iter_fields(node)
        if field not in _NOT_OPERANDS
        for index, item in (enumerate(value) if isinstance(value, list) else ((None, value),))
        if isinstance(item, ast.expr) and not isinstance(item, (*_SCOPES, ast.Starred))
    ]


def _with_own_scope(node: ast.AST) -> list[ast.AST]:
    """Return a node and the expressions below it, without those that have names of their own."""
    below = [item for _, _, item in _operands(node)]
    return [node, *(deeper for item in below for deeper in _with_own_scope(item))]


def put(node: ast.AST, field: str, index: int | None, expression: ast.expr) -> None:
    if index is None:
        setattr(node, field, expression)
    else:
        getattr(node, field)[index] = expression


def splice(site: Site, place: Place, count: int, statements: list[ast.stmt]) -> None:
    place.body[place.index : place.index + count] = statements
    if place.body is site.region.body:
        site.region.stop += len(statements) - count
    elif not place.body:
        place.body.append(ast.Pass())


def callable_blocks(site: Site) -> list[Block]:
    return [b for b in site.catalogue.blocks if site.source.can_call(b.name)]


def block_calls(site: Site) -> list[tuple[ast.Call, Block, Scope]]:
    by_name = {b.name: b for b in site.catalogue.blocks}
    found = []
    for place in site.places():
        statement = place.statement
        if statement is None:
            continue
        for expression in own_expressions(statement):
            for node in ast.walk(expression):
                if isinstance(node, ast.Call) and (name := site.source.block_name(node)) in by_name:
                    found.append((node, by_name[name], place.scope))
    return found


def value_for(site: Site, kind: str | None, scope: Scope) -> ast.expr | None:
    """Return a name in scope of a fitting type, preferring the exact one; names assigned last are likelier."""
    exact = [n for n, t in scope.items() if t == kind and kind is not None]
    names = exact or [n for n, t in scope.items() if site.catalogue.fits(kind, t) and kind is not None]
    if not names:
        return None
    weights = np.arange(1, len(names) + 1, dtype=float)
    return ast.Name(names[int(site.rng.choice(len(names), p=weights / weights.sum()))], ast.Load())


def call_of(site: Site, block: Block, scope: Scope, kept: dict[str | None, ast.expr] | None = None) -> ast.Call | None:
    arguments: list[ast.expr] = []
    keywords: list[ast.keyword] = []
    for parameter in block.parameters:
        value = (kept or {}).get(parameter.type)
        if parameter.default is not None:
            # An optional number is mostly left to its default, and sometimes set.
            value = value or (site.catalogue.draw(parameter, site.rng) if site.rng.random() < 0.5 else None)
            if value is not None:
                keywords.append(ast.keyword(parameter.name, value))
            continue
        numeric = site.catalogue.is_number(parameter.type)
        value = (
            value
            or value_for(site, parameter.type, scope)
            or (site.catalogue.draw(parameter, site.rng) if numeric else None)
        )
        if value is None:
            return None
        arguments.append(value)
    return ast.Call(site.source.callee(block.name), arguments, keywords)


def assignment(site: Site, block: Block, scope: Scope, target: str | None = None) -> ast.stmt | None:
    call = call_of(site, block, scope)
    if call is None:
        return None
    if target is None:
        own = [n for n in own_names(site) if scope.get(n) == block.result]
        fresh = next(f"v{k}" for k in range(1000) if f"v{k}" not in scope)
        target = own[int(site.rng.integers(len(own)))] if own and site.rng.random() < 0.8 else fresh
    return assign(target, call)


def assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=1)


def score_of(site: Site, block: Block, name: str) -> ast.expr:
    return ast.Call(site.source.callee(block.name), [ast.Name(name, ast.Load())], [])


def own_names(site: Site) -> list[str]:
    """Return the names that the region itself assigns; what frozen text alone assigns is only read."""
    names = [
        n.id
        for s in site.region.statements()
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id != "_"
    ]
    return list(dict.fromkeys(names))


def donor_of(site: Site) -> Site | None:
    at = site.pick(site.donors)
    if at is None:
        return None
    try:
        source = Source(site.donors[at], site.catalogue)
    except ValueError:
        return None
    number = site.source.regions.index(site.region)
    region = source.regions[min(number, len(source.regions) - 1)]
    return Site(source, region, (), site.rng, site.step)


def donor_statement(site: Site) -> tuple[ast.stmt, Scope] | None:
    donor = donor_of(site)
    if donor is None:
        return None
    places = [p for p in donor.places() if not isinstance(p.statement, (ast.Return, ast.FunctionDef, ast.ClassDef))]
    at = site.pick(places)
    if at is None:
        return None
    statement = places[at].statement
    assert statement is not None
    return statement, places[at].scope


def repair(site: Site, nodes: Sequence[ast.AST], theirs: Scope, scope: Scope) -> None:
    """Rename what foreign code reads and this place does not know to a name of the same type.

    A name for which there is none stays: the foreign code may assign it itself, and the check of the whole decides.
    """
    known = dict(scope)
    renamed: dict[str, str] = {}
    for node in nodes:
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in known:
                if site.source.known_globally(n.id):
                    continue
                if n.id not in renamed:
                    kind = theirs.get(n.id)
                    fitting = [name for name, t in scope.items() if kind is not None and site.catalogue.fits(kind, t)]
                    if not fitting:
                        continue
                    renamed[n.id] = fitting[int(site.rng.integers(len(fitting)))]
                n.id = renamed[n.id]
