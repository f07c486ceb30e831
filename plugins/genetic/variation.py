"""Variation: one operator applied to a program's text, checked, or nothing."""

import ast
from collections.abc import Callable, Sequence

import numpy as np

from .catalogue import Catalogue
from .constants import constant_perturb, constant_redraw, constant_scale
from .expressions import (
    argument_change,
    call_replace,
    expression_grow,
    expression_shrink,
    expression_splice,
    operator_replace,
)
from .pruning import prune
from .site import Site
from .source import Region, Source
from .statements import (
    block_crossover,
    block_insert,
    block_replace,
    function_splice,
    guard,
    statement_delete,
    statement_duplicate,
    statement_insert,
    statement_replace,
    statement_swap,
    unwrap,
    wrap_loop,
)

Operator = Callable[[Site], bool]
"""Changes the site's program in place and says whether it applied."""

LARGEST = 10
"""Statements that a region may grow to: dead ones hide the living from variation."""

TRIES = 6
"""How often an operator is tried at another place before it is said not to apply."""


def vary(
    text: str,
    donors: Sequence[str],
    catalogue: Catalogue,
    rng: np.random.Generator,
    operator: str,
    step: float,
    largest: int = LARGEST,
) -> str | None:
    """Return the text of an offspring, or None when the operator does not apply.

    Dead code is taken out; what lies outside the evolve blocks stays byte for byte. The offspring parses, reads no name
    that is not certainly assigned, keeps a region's final `return`, and differs from the parent; a region of more than
    `largest` statements does not grow. Raises KeyError for an unknown operator.
    """
    apply = OPERATORS[operator]
    for _ in range(TRIES):
        try:
            # Parsed anew each time: an operator changes the tree in place, and copying one costs more than parsing.
            source = Source(text, catalogue)
        except ValueError:
            return None
        region = source.regions[int(rng.integers(len(source.regions)))]
        before, bound = required(source, region), max(largest, size(region))
        if not apply(Site(source, region, donors, rng, step)):
            continue
        prune(source, region)
        if size(region) <= bound and sound(source, region, before):
            child = source.render()
            if child != text and parses(child):
                return child
    return None


def size(region: Region) -> int:
    """Count the statements of a region, those inside others too."""
    return sum(isinstance(node, ast.stmt) for s in region.statements() for node in ast.walk(s))


def sound(source: Source, region: Region, needed: frozenset[str] | set[str]) -> bool:
    """Say whether a changed region has statements, knows its names, assigns what is needed and ends as it did."""
    statements = region.statements()
    if not statements or source.undefined(region) or not needed <= source.assigned(region):
        return False
    return ends_with_return(statements) or not ends_with_return(source.original_end(region))


def parses(text: str) -> bool:
    """Say whether a text compiles."""
    try:
        compile(text, "offspring", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def required(source: Source, region: Region) -> frozenset[str] | set[str]:
    """Return the names that a region assigns and the text behind it may read."""
    own = source.assigned(region) - region.scope.keys()
    if region.owner is None:
        # In a class body, every name is an attribute that somebody may read.
        return own & source.exported if region.body is source.tree.body else own
    inside = {id(n) for s in region.statements() for n in ast.walk(s)}
    return {n.id for n in ast.walk(region.owner) if isinstance(n, ast.Name) and n.id in own and id(n) not in inside}


def ends_with_return(statements: Sequence[ast.stmt]) -> bool:
    """Say whether a statement list ends with a return."""
    return bool(statements) and isinstance(statements[-1], ast.Return)


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
