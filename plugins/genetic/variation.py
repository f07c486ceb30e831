"""The operators: each changes the statements of one evolve block of a parsed program, or says that it cannot."""

import ast
import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .catalogue import Block, Catalogue, rounded
from .source import Place, Region, Scope, Source, own_expressions

Operator = Callable[["Site"], bool]

TRIES = 6
"""How often an operator is tried at another place before it is said not to apply."""


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


def vary(
    text: str, donors: Sequence[str], catalogue: Catalogue, rng: np.random.Generator, operator: str, step: float
) -> str | None:
    """Return the text of an offspring, or None when the operator does not apply.

    What lies outside the evolve blocks stays byte for byte. The offspring parses, reads no name that is not certainly
    assigned, keeps a region's final `return`, and differs from the parent. Raises KeyError for an unknown operator.
    """
    apply = OPERATORS[operator]
    for _ in range(TRIES):
        try:
            source = copy_of(text, catalogue)
        except ValueError:
            return None
        region = source.regions[int(rng.integers(len(source.regions)))]
        before = required(source, region)
        if not apply(Site(source, region, donors, rng, step)):
            continue
        if not region.statements() or source.undefined(region) or not before <= assigned(source, region):
            continue
        if ends_with_return(source.original_end(region)) and not ends_with_return(region.statements()):
            continue
        child = source.render()
        if child != text and parses(child):
            return child
    return None


def copy_of(text: str, catalogue: Catalogue) -> Source:
    """Return a parsed program that may be changed; parsing is remembered, copying is not."""
    return copy.deepcopy(_parsed(text, catalogue))


@lru_cache(maxsize=256)
def _parsed(text: str, catalogue: Catalogue) -> Source:
    return Source(text, catalogue)


def parses(text: str) -> bool:
    """Say whether a text compiles."""
    try:
        compile(text, "offspring", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def required(source: Source, region: Region) -> set[str]:
    """Return the names that a region assigns and the text behind it may read."""
    own = assigned(source, region) - region.scope.keys()
    behind = ast.Module(body=region.body[region.stop :], type_ignores=[])
    return {n.id for n in ast.walk(behind) if isinstance(n, ast.Name) and n.id in own} | (
        own & source.exported if region.owner is None else set()
    )


def assigned(source: Source, region: Region) -> set[str]:
    """Return the names that are certainly assigned when a region ends."""
    scope = dict(region.scope)
    for statement in region.statements():
        source.assign(statement, scope)
    return set(scope)


def ends_with_return(statements: Sequence[ast.stmt]) -> bool:
    """Say whether a statement list ends with a return."""
    return bool(statements) and isinstance(statements[-1], ast.Return)


# Constants


def _constants(site: Site) -> list[ast.Constant]:
    return [
        n
        for s in site.region.statements()
        for n in ast.walk(s)
        if isinstance(n, ast.Constant) and type(n.value) in (int, float)
    ]


def _change_constant(site: Site, change: Callable[[float], float]) -> bool:
    constants = _constants(site)
    at = site.pick(constants)
    if at is None:
        return False
    node = constants[at]
    value = node.value
    assert isinstance(value, (int, float))
    changed = change(float(value))
    if isinstance(value, int):
        whole = round(changed)
        node.value = whole if whole != value else value + (1 if site.rng.random() < 0.5 or value <= 1 else -1)
    else:
        node.value = rounded(changed)
    return True


def constant_perturb(site: Site) -> bool:
    """Multiply a constant by exp(step N(0, 1)); 0 moves by step N(0, 1)."""
    noise = float(site.rng.normal(0, site.step))
    return _change_constant(site, lambda value: value * math.exp(noise) if value else noise)


def constant_scale(site: Site) -> bool:
    """Multiply or divide a constant by 2, 3 or 10."""
    factor = float(site.rng.choice([2, 3, 10])) ** (1 if site.rng.random() < 0.5 else -1)
    return _change_constant(site, lambda value: value * factor if value else factor / 10)


def constant_redraw(site: Site) -> bool:
    """Draw a constant anew: 10^U(-3, 1), with the sign it had."""
    drawn = 10 ** float(site.rng.uniform(-3, 1))
    return _change_constant(site, lambda value: math.copysign(drawn, value))


# Expressions


def _slots(site: Site) -> list[tuple[ast.AST, str, int | None, ast.expr, Scope]]:
    """Return where expressions stand in the region: (node, field, index, expression, scope)."""
    found: list[tuple[ast.AST, str, int | None, ast.expr, Scope]] = []

    def visit(node: ast.AST, scope: Scope) -> None:
        for field, value in ast.iter_fields(node):
            for index, item in enumerate(value) if isinstance(value, list) else ((None, value),):
                if not isinstance(item, ast.expr) or field in ("func", "annotation", "target", "targets", "returns"):
                    continue
                if isinstance(item, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
                    continue
                found.append((node, field, index, item, scope))
                visit(item, scope)

    for place in site.places():
        statement = place.statement
        if statement is not None and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for field, value in ast.iter_fields(statement):
                if field in ("body", "orelse", "finalbody", "handlers", "target", "targets", "annotation", "items"):
                    continue
                if isinstance(value, ast.expr):
                    found.append((statement, field, None, value, place.scope))
                    visit(value, place.scope)
    return found


def _put(node: ast.AST, field: str, index: int | None, expression: ast.expr) -> None:
    if index is None:
        setattr(node, field, expression)
    else:
        getattr(node, field)[index] = expression


ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
INTEGER = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
EQUALITIES = (ast.Eq, ast.NotEq)


def operator_replace(site: Site) -> bool:
    """Replace an arithmetic, comparison or boolean operator by another of its kind."""
    nodes = [n for s in site.region.statements() for n in ast.walk(s)]
    found: list[tuple[ast.AST, tuple[type[ast.AST], ...]]] = []
    for n in nodes:
        if isinstance(n, (ast.BinOp, ast.AugAssign)):
            family = next((f for f in (ARITHMETIC, INTEGER) if isinstance(n.op, f)), None)
            if family is not None:
                found.append((n, family))
        elif isinstance(n, ast.Compare) and len(n.ops) == 1:
            family = next((f for f in (COMPARISONS, EQUALITIES) if isinstance(n.ops[0], f)), None)
            if family is not None:
                found.append((n, family))
        elif isinstance(n, ast.BoolOp):
            found.append((n, (ast.And, ast.Or)))
    at = site.pick(found)
    if at is None:
        return False
    node, family = found[at]
    now = node.ops[0] if isinstance(node, ast.Compare) else node.op  # type: ignore[attr-defined]
    others = [kind for kind in family if not isinstance(now, kind)]
    other = others[int(site.rng.integers(len(others)))]()
    if isinstance(node, ast.Compare):
        node.ops = [other]  # type: ignore[list-item]
    else:
        node.op = other  # type: ignore[attr-defined]
    return True


def expression_grow(site: Site) -> bool:
    """Combine an expression with a name in scope of the same type, or with a number, by arithmetic."""
    slots = [s for s in _slots(site) if isinstance(s[3], (ast.Name, ast.BinOp, ast.Call, ast.Constant, ast.Subscript))]
    slots = [s for s in slots if _arithmetic(site, s[3], s[4])]
    at = site.pick(slots)
    if at is None:
        return False
    node, field, index, expression, scope = slots[at]
    kind = site.source.type_of(expression, scope)
    names = [n for n, t in scope.items() if t == kind and not n.startswith("_")]
    number = ast.Constant(rounded(10 ** float(site.rng.uniform(-2, 1))))
    other: ast.expr = number
    if names and site.rng.random() < 0.6:
        other = ast.Name(names[int(site.rng.integers(len(names)))], ast.Load())
    operation = ARITHMETIC[int(site.rng.integers(len(ARITHMETIC)))]()
    left, right = (expression, other) if site.rng.random() < 0.5 else (other, expression)
    _put(node, field, index, ast.BinOp(left, operation, right))
    return True


def expression_shrink(site: Site) -> bool:
    """Replace a binary operation by one of its sides."""
    slots = [s for s in _slots(site) if isinstance(s[3], ast.BinOp)]
    at = site.pick(slots)
    if at is None:
        return False
    node, field, index, expression, _ = slots[at]
    assert isinstance(expression, ast.BinOp)
    _put(node, field, index, expression.left if site.rng.random() < 0.5 else expression.right)
    return True


def _arithmetic(site: Site, expression: ast.expr, scope: Scope) -> bool:
    """Say whether arithmetic makes sense on an expression: on numbers, and on what is computed with already."""
    kind = site.source.type_of(expression, scope)
    return site.catalogue.is_number(kind) or (kind is None and isinstance(expression, (ast.BinOp, ast.Subscript)))


def argument_change(site: Site) -> bool:
    """Replace an argument of a building block by another value of a fitting type."""
    calls = _block_calls(site)
    at = site.pick(calls)
    if at is None:
        return False
    call, block, scope = calls[at]
    choices = []
    for number, parameter in enumerate(block.parameters):
        fitting = [n for n, t in scope.items() if site.catalogue.fits(parameter.type, t)]
        if site.catalogue.is_number(parameter.type) or len(fitting) > 1:
            choices.append((number, parameter))
    chosen = site.pick(choices)
    if chosen is None:
        return False
    number, parameter = choices[chosen]
    value = _value(site, parameter.type, scope) if site.rng.random() < 0.5 else None
    value = value or site.catalogue.draw(parameter, site.rng) or _value(site, parameter.type, scope)
    if value is None:
        return False
    if number < len(call.args):
        call.args[number] = value
    else:
        call.keywords = [k for k in call.keywords if k.arg != parameter.name]
        call.keywords.append(ast.keyword(parameter.name, value))
    return True


def call_replace(site: Site) -> bool:
    """Replace a call of a building block by one of another block with the same result; arguments that fit stay."""
    calls = _block_calls(site)
    at = site.pick(calls)
    if at is None:
        return False
    call, block, scope = calls[at]
    others = [b for b in _callable(site) if b.result == block.result and b.name != block.name]
    chosen = site.pick(others)
    if chosen is None:
        return False
    kept = {p.type: a for p, a in zip(block.parameters, call.args, strict=False) if p.type is not None}
    made = _call(site, others[chosen], scope, kept)
    if made is None:
        return False
    call.func, call.args, call.keywords = made.func, made.args, made.keywords
    return True


def expression_splice(site: Site) -> bool:
    """Replace an expression by one of the same type from a donor, with its names repaired."""
    donor = _donor(site)
    if donor is None:
        return False
    theirs = [(s[3], donor.source.type_of(s[3], s[4]), s[4]) for s in _slots(donor)]
    slots = [s for s in _slots(site) if site.source.type_of(s[3], s[4]) is not None]
    at = site.pick(slots)
    if at is None:
        return False
    node, field, index, expression, scope = slots[at]
    kind = site.source.type_of(expression, scope)
    fitting = [(e, their) for e, t, their in theirs if site.catalogue.fits(kind, t)]
    chosen = site.pick(fitting)
    if chosen is None:
        return False
    piece = copy.deepcopy(fitting[chosen][0])
    if not _repair(site, [piece], fitting[chosen][1], scope):
        return False
    _put(node, field, index, piece)
    return True


# Statements


def statement_delete(site: Site) -> bool:
    """Take a statement out."""
    places = [p for p in site.places() if p.high - p.low > 1]
    at = site.pick(places)
    if at is None:
        return False
    _splice(site, places[at], 1, [])
    return True


def statement_swap(site: Site) -> bool:
    """Let two statements of one list change places."""
    places = [p for p in site.places() if p.high - p.low > 1]
    at = site.pick(places)
    if at is None:
        return False
    place = places[at]
    other = int(site.rng.integers(place.low, place.high))
    body = place.body
    body[place.index], body[other] = body[other], body[place.index]
    return other != place.index


def statement_duplicate(site: Site) -> bool:
    """Put a copy of a statement somewhere else."""
    statements = [p.statement for p in site.places() if not isinstance(p.statement, ast.Return)]
    places = site.places(empty=True)
    at, to = site.pick(statements), site.pick(places)
    if at is None or to is None:
        return False
    _splice(site, places[to], 0, [copy.deepcopy(statements[at])])  # type: ignore[list-item]
    return True


def statement_insert(site: Site) -> bool:
    """Insert a statement of a donor, with its names repaired."""
    piece = _donor_statement(site)
    places = site.places(empty=True)
    to = site.pick(places)
    if piece is None or to is None:
        return False
    if not _repair(site, [piece[0]], piece[1], places[to].scope):
        return False
    _splice(site, places[to], 0, [piece[0]])
    return True


def statement_replace(site: Site) -> bool:
    """Replace a statement by one of a donor, with its names repaired."""
    piece = _donor_statement(site)
    places = site.places()
    to = site.pick(places)
    if piece is None or to is None:
        return False
    if not _repair(site, [piece[0]], piece[1], places[to].scope):
        return False
    _splice(site, places[to], 1, [piece[0]])
    return True


def block_insert(site: Site) -> bool:
    """Insert `name = block(arguments)`, arguments and name of the types that the block declares."""
    places = site.places(empty=True)
    blocks = [b for b in _callable(site) if b.result not in ("None", "bool")]
    to, which = site.pick(places), site.pick(blocks)
    if to is None or which is None:
        return False
    statement = _assignment(site, blocks[which], places[to].scope)
    if statement is None:
        return False
    _splice(site, places[to], 0, [statement])
    return True


def block_replace(site: Site) -> bool:
    """Replace a statement by `name = block(arguments)`; an assigned name of the block's type is kept."""
    places = [p for p in site.places() if not isinstance(p.statement, ast.Return)]
    to = site.pick(places)
    if to is None:
        return False
    place = places[to]
    blocks = [b for b in _callable(site) if b.result not in ("None", "bool")]
    old = place.statement
    target = None
    if isinstance(old, ast.Assign) and isinstance(old.targets[0], ast.Name):
        after = dict(place.scope)
        site.source.assign(old, after)
        kind = after.get(old.targets[0].id)
        same = [b for b in blocks if kind is not None and b.result == kind]
        blocks, target = same or blocks, old.targets[0].id if same else None
    which = site.pick(blocks)
    if which is None:
        return False
    statement = _assignment(site, blocks[which], place.scope, target)
    if statement is None:
        return False
    _splice(site, place, 1, [statement])
    return True


def wrap_loop(site: Site) -> bool:
    """Put a run of statements into a loop of 2 to 5 rounds."""
    places = [p for p in site.places() if not isinstance(p.statement, (ast.Return, ast.FunctionDef, ast.ClassDef))]
    at = site.pick(places)
    if at is None:
        return False
    place = places[at]
    length = int(min(site.rng.geometric(0.6), place.high - place.index))
    run = place.body[place.index : place.index + length]
    if any(isinstance(s, ast.Return) for s in run):
        return False
    rounds = ast.Constant(int(site.rng.integers(2, 6)))
    call = ast.Call(ast.Name("range", ast.Load()), [rounds], [])
    loop = ast.For(ast.Name("_", ast.Store()), call, list(run), [])
    _splice(site, place, length, [loop])
    return True


def unwrap(site: Site) -> bool:
    """Replace a loop or a condition by its body."""
    places = [p for p in site.places() if isinstance(p.statement, (ast.For, ast.If))]
    at = site.pick(places)
    if at is None:
        return False
    statement = places[at].statement
    assert isinstance(statement, (ast.For, ast.If))
    if any(isinstance(n, (ast.Break, ast.Continue)) for n in ast.walk(statement)):
        return False
    _splice(site, places[at], 1, list(statement.body))
    return True


def guard(site: Site) -> bool:
    """Insert `if score(a) > score(b): b = a` for a block that scores, or put a statement under such a condition."""
    scores = [
        b
        for b in _callable(site)
        if site.catalogue.base(b.result) == "float" and len(b.parameters) == 1 and b.parameters[0].type is not None
    ]
    places = site.places(empty=True)
    which, to = site.pick(scores), site.pick(places)
    if which is None or to is None:
        return False
    block, place = scores[which], places[to]
    kind = block.parameters[0].type
    names = [n for n, t in place.scope.items() if site.catalogue.fits(kind, t)]
    own = [n for n in names if n in _own_names(site)]
    if len(names) < 2 or not own:
        return False
    b = own[int(site.rng.integers(len(own)))]
    others = [n for n in names if n != b]
    a = others[int(site.rng.integers(len(others)))]
    test = ast.Compare(_score(site, block, a), [ast.Gt()], [_score(site, block, b)])
    _splice(site, place, 0, [ast.If(test, [_assign(b, ast.Name(a, ast.Load()))], [])])
    return True


def block_crossover(site: Site) -> bool:
    """Join the first statements of the parent with the last of a donor, or the other way round, names repaired."""
    donor = _donor(site)
    if donor is None:
        return False
    mine, theirs = site.region.statements(), donor.region.statements()
    cut, their_cut = int(site.rng.integers(len(mine) + 1)), int(site.rng.integers(len(theirs) + 1))
    scope = dict(site.region.scope)
    if site.rng.random() < 0.5:
        head, tail = mine[:cut], theirs[their_cut:]
        for statement in head:
            site.source.assign(statement, scope)
        if not _repair(site, tail, donor.region.scope, scope):
            return False
    else:
        head, tail = theirs[:their_cut], mine[cut:]
        if not _repair(site, head, donor.region.scope, scope):
            return False
    site.region.replace([*head, *tail])
    return True


def function_splice(site: Site) -> bool:
    """Take over a whole function of a donor that stands in the region under the same name."""
    donor = _donor(site)
    if donor is None:
        return False
    theirs = {s.name: s for s in donor.region.statements() if isinstance(s, ast.FunctionDef)}
    mine = [p for p in site.places() if isinstance(p.statement, ast.FunctionDef) and p.statement.name in theirs]
    at = site.pick(mine)
    if at is None:
        return False
    statement = mine[at].statement
    assert isinstance(statement, ast.FunctionDef)
    _splice(site, mine[at], 1, [theirs[statement.name]])
    return True


# What operators share


def _splice(site: Site, place: Place, count: int, statements: list[ast.stmt]) -> None:
    place.body[place.index : place.index + count] = statements
    if place.body is site.region.body:
        site.region.stop += len(statements) - count
    elif not place.body:
        place.body.append(ast.Pass())


def _callable(site: Site) -> list[Block]:
    return [b for b in site.catalogue.blocks if site.source.can_call(b.name)]


def _block_calls(site: Site) -> list[tuple[ast.Call, Block, Scope]]:
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


def _value(site: Site, kind: str | None, scope: Scope) -> ast.expr | None:
    """Return a name in scope of a fitting type, preferring the exact one; names assigned last are likelier."""
    exact = [n for n, t in scope.items() if t == kind and kind is not None]
    names = exact or [n for n, t in scope.items() if site.catalogue.fits(kind, t) and kind is not None]
    if not names:
        return None
    weights = np.arange(1, len(names) + 1, dtype=float)
    return ast.Name(names[int(site.rng.choice(len(names), p=weights / weights.sum()))], ast.Load())


def _call(site: Site, block: Block, scope: Scope, kept: dict[str | None, ast.expr] | None = None) -> ast.Call | None:
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
            or _value(site, parameter.type, scope)
            or (site.catalogue.draw(parameter, site.rng) if numeric else None)
        )
        if value is None:
            return None
        arguments.append(value)
    return ast.Call(site.source.callee(block.name), arguments, keywords)


def _assignment(site: Site, block: Block, scope: Scope, target: str | None = None) -> ast.stmt | None:
    call = _call(site, block, scope)
    if call is None:
        return None
    if target is None:
        own = [n for n in _own_names(site) if scope.get(n) == block.result]
        fresh = next(f"v{k}" for k in range(1000) if f"v{k}" not in scope)
        target = own[int(site.rng.integers(len(own)))] if own and site.rng.random() < 0.8 else fresh
    return _assign(target, call)


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=1)


def _score(site: Site, block: Block, name: str) -> ast.expr:
    return ast.Call(site.source.callee(block.name), [ast.Name(name, ast.Load())], [])


def _own_names(site: Site) -> list[str]:
    """Return the names that the region itself assigns; what frozen text alone assigns is only read."""
    names = [
        n.id
        for s in site.region.statements()
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id != "_"
    ]
    return list(dict.fromkeys(names))


def _donor(site: Site) -> Site | None:
    at = site.pick(site.donors)
    if at is None:
        return None
    try:
        source = copy_of(site.donors[at], site.catalogue)
    except ValueError:
        return None
    number = site.source.regions.index(site.region)
    region = source.regions[min(number, len(source.regions) - 1)]
    return Site(source, region, (), site.rng, site.step)


def _donor_statement(site: Site) -> tuple[ast.stmt, Scope] | None:
    donor = _donor(site)
    if donor is None:
        return None
    places = [p for p in donor.places() if not isinstance(p.statement, (ast.Return, ast.FunctionDef, ast.ClassDef))]
    at = site.pick(places)
    if at is None:
        return None
    statement = places[at].statement
    assert statement is not None
    return statement, places[at].scope


def _repair(site: Site, nodes: Sequence[ast.AST], theirs: Scope, scope: Scope) -> bool:
    """Rename what foreign code reads and this place does not know to a name of the same type; say whether all is known."""
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
                        continue  # assigned within the foreign code, perhaps; the check of the whole decides
                    renamed[n.id] = fitting[int(site.rng.integers(len(fitting)))]
                n.id = renamed[n.id]
    return True


OPERATORS: dict[str, Operator] = {
    "constant-perturb": constant_perturb,
    "constant-scale": constant_scale,
    "constant-redraw": constant_redraw,
    "operator-replace": operator_replace,
    "expression-grow": expression_grow,
    "expression-shrink": expression_shrink,
    "argument-change": argument_change,
    "call-replace": call_replace,
    "expression-splice": expression_splice,
    "statement-delete": statement_delete,
    "statement-swap": statement_swap,
    "statement-duplicate": statement_duplicate,
    "statement-insert": statement_insert,
    "statement-replace": statement_replace,
    "block-insert": block_insert,
    "block-replace": block_replace,
    "block-crossover": block_crossover,
    "function-splice": function_splice,
    "wrap-loop": wrap_loop,
    "unwrap": unwrap,
    "guard": guard,
}
"""Every operator by its stable name."""
