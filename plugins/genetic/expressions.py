"""Operators on expressions: operators, arguments, calls, growing, shrinking and splicing."""

import ast
import copy
from typing import Any

from .catalogue import rounded
from .site import Site, block_calls, call_of, callable_blocks, donor_of, operands_of, put, repair, value_for
from .source import Scope

Family = tuple[type[ast.AST], ...]

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
INTEGER = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
FAMILIES: tuple[Family, ...] = (
    ARITHMETIC,
    INTEGER,
    (ast.Lt, ast.LtE, ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.And, ast.Or),
)
"""Operators that may take each other's place."""


def operator_replace(site: Site) -> bool:
    """Replace an arithmetic, comparison or boolean operator by another of its kind."""
    nodes = [n for s in site.region.statements() for n in ast.walk(s)]
    found = [(n, family) for n in nodes if (family := _family(n))]
    at = site.pick(found)
    if at is None:
        return False
    node, family = found[at]
    others = [kind for kind in family if not isinstance(_operator(node), kind)]
    other: Any = others[int(site.rng.integers(len(others)))]()
    if isinstance(node, ast.Compare):
        node.ops = [other]
    elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)):
        node.op = other
    return True


def _operator(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return node.ops[0]
    return node.op if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) else None


def _family(node: ast.AST) -> Family:
    """Return the operators that may stand in the place of a node's own; empty when it has none or a special one."""
    operator = _operator(node)
    return next((family for family in FAMILIES if isinstance(operator, family)), ())


def expression_grow(site: Site) -> bool:
    """Combine an expression with a name in scope of the same type, or with a number, by arithmetic."""
    kinds = (ast.Name, ast.BinOp, ast.Call, ast.Constant, ast.Subscript)
    slots = [s for s in operands_of(site) if isinstance(s[3], kinds) and _arithmetic(site, s[3], s[4])]
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
    put(node, field, index, ast.BinOp(left, operation, right))
    return True


def expression_shrink(site: Site) -> bool:
    """Replace a binary operation by one of its sides."""
    slots = [s for s in operands_of(site) if isinstance(s[3], ast.BinOp)]
    at = site.pick(slots)
    if at is None:
        return False
    node, field, index, expression, _ = slots[at]
    assert isinstance(expression, ast.BinOp)
    put(node, field, index, expression.left if site.rng.random() < 0.5 else expression.right)
    return True


def _arithmetic(site: Site, expression: ast.expr, scope: Scope) -> bool:
    """Say whether arithmetic makes sense on an expression: on numbers, and on what is computed with already."""
    kind = site.source.type_of(expression, scope)
    return site.catalogue.is_number(kind) or (kind is None and isinstance(expression, (ast.BinOp, ast.Subscript)))


def argument_change(site: Site) -> bool:
    """Replace an argument of a building block by another value of a fitting type."""
    calls = block_calls(site)
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
    value = value_for(site, parameter.type, scope) if site.rng.random() < 0.5 else None
    value = value or site.catalogue.draw(parameter, site.rng) or value_for(site, parameter.type, scope)
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
    calls = block_calls(site)
    at = site.pick(calls)
    if at is None:
        return False
    call, block, scope = calls[at]
    others = [b for b in callable_blocks(site) if b.result == block.result and b.name != block.name]
    chosen = site.pick(others)
    if chosen is None:
        return False
    kept: dict[str | None, ast.expr] = {
        p.type: a for p, a in zip(block.parameters, call.args, strict=False) if p.type is not None
    }
    made = call_of(site, others[chosen], scope, kept)
    if made is None:
        return False
    call.func, call.args, call.keywords = made.func, made.args, made.keywords
    return True


def expression_splice(site: Site) -> bool:
    """Replace an expression by one of the same type from a donor, with its names repaired."""
    donor = donor_of(site)
    if donor is None:
        return False
    theirs = [(s[3], donor.source.type_of(s[3], s[4]), s[4]) for s in operands_of(donor)]
    slots = [s for s in operands_of(site) if site.source.type_of(s[3], s[4]) is not None]
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
    repair(site, [piece], fitting[chosen][1], scope)
    put(node, field, index, piece)
    return True
