"""Operators on statements: delete, swap, insert, replace, wrap, guard, building blocks and crossover."""

import ast
import copy

from .site import (
    Site,
    assign,
    assignment,
    callable_blocks,
    donor_of,
    donor_statement,
    own_names,
    repair,
    score_of,
    splice,
)


def statement_delete(site: Site) -> bool:
    """Take a statement out."""
    places = [p for p in site.places() if p.high - p.low > 1]
    at = site.pick(places)
    if at is None:
        return False
    splice(site, places[at], 1, [])
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
    splice(site, places[to], 0, [copy.deepcopy(statements[at])])  # type: ignore[list-item]
    return True


def statement_insert(site: Site) -> bool:
    """Insert a statement of a donor, with its names repaired."""
    piece = donor_statement(site)
    places = site.places(empty=True)
    to = site.pick(places)
    if piece is None or to is None:
        return False
    repair(site, [piece[0]], piece[1], places[to].scope)
    splice(site, places[to], 0, [piece[0]])
    return True


def statement_replace(site: Site) -> bool:
    """Replace a statement by one of a donor, with its names repaired."""
    piece = donor_statement(site)
    places = site.places()
    to = site.pick(places)
    if piece is None or to is None:
        return False
    repair(site, [piece[0]], piece[1], places[to].scope)
    splice(site, places[to], 1, [piece[0]])
    return True


def block_insert(site: Site) -> bool:
    """Insert `name = block(arguments)`, arguments and name of the types that the block declares."""
    places = site.places(empty=True)
    blocks = [b for b in callable_blocks(site) if b.result not in ("None", "bool")]
    to, which = site.pick(places), site.pick(blocks)
    if to is None or which is None:
        return False
    statement = assignment(site, blocks[which], places[to].scope)
    if statement is None:
        return False
    splice(site, places[to], 0, [statement])
    return True


def block_replace(site: Site) -> bool:
    """Replace a statement by `name = block(arguments)`; an assigned name of the block's type is kept."""
    places = [p for p in site.places() if not isinstance(p.statement, ast.Return)]
    to = site.pick(places)
    if to is None:
        return False
    place = places[to]
    blocks = [b for b in callable_blocks(site) if b.result not in ("None", "bool")]
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
    statement = assignment(site, blocks[which], place.scope, target)
    if statement is None:
        return False
    splice(site, place, 1, [statement])
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
    splice(site, place, length, [loop])
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
    splice(site, places[at], 1, list(statement.body))
    return True


def guard(site: Site) -> bool:
    """Insert `if score(a) > score(b): b = a` for a block that scores, or put a statement under such a condition."""
    scores = [
        b
        for b in callable_blocks(site)
        if site.catalogue.base(b.result) == "float" and len(b.parameters) == 1 and b.parameters[0].type is not None
    ]
    places = site.places(empty=True)
    which, to = site.pick(scores), site.pick(places)
    if which is None or to is None:
        return False
    block, place = scores[which], places[to]
    kind = block.parameters[0].type
    names = [n for n, t in place.scope.items() if site.catalogue.fits(kind, t)]
    own = [n for n in names if n in own_names(site)]
    if len(names) < 2 or not own:
        return False
    b = own[int(site.rng.integers(len(own)))]
    others = [n for n in names if n != b]
    a = others[int(site.rng.integers(len(others)))]
    test = ast.Compare(score_of(site, block, a), [ast.Gt()], [score_of(site, block, b)])
    splice(site, place, 0, [ast.If(test, [assign(b, ast.Name(a, ast.Load()))], [])])
    return True


def block_crossover(site: Site) -> bool:
    """Join the first statements of the parent with the last of a donor, or the other way round, names repaired."""
    donor = donor_of(site)
    if donor is None:
        return False
    mine, theirs = site.region.statements(), donor.region.statements()
    cut, their_cut = int(site.rng.integers(len(mine) + 1)), int(site.rng.integers(len(theirs) + 1))
    scope = dict(site.region.scope)
    if site.rng.random() < 0.5:
        head, tail = mine[:cut], theirs[their_cut:]
        for statement in head:
            site.source.assign(statement, scope)
        repair(site, tail, donor.region.scope, scope)
    else:
        head, tail = theirs[:their_cut], mine[cut:]
        repair(site, head, donor.region.scope, scope)
    site.region.replace([*head, *tail])
    return True


def function_splice(site: Site) -> bool:
    """Take over a whole function of a donor that stands in the region under the same name."""
    functions = [p for p in site.places() if isinstance(p.statement, ast.FunctionDef)]
    donor = donor_of(site) if functions else None
    if donor is None:
        return False
    theirs = {s.name: s for s in donor.region.statements() if isinstance(s, ast.FunctionDef)}
    mine = [p for p in functions if isinstance(p.statement, ast.FunctionDef) and p.statement.name in theirs]
    at = site.pick(mine)
    if at is None:
        return False
    statement = mine[at].statement
    assert isinstance(statement, ast.FunctionDef)
    splice(site, mine[at], 1, [theirs[statement.name]])
    return True
