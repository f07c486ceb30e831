"""Operators on numbers: perturb, scale, draw anew."""

import ast
import math
from collections.abc import Callable

from .catalogue import rounded
from .site import Site


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
    try:
        changed = change(float(value))
    except OverflowError:  # an int beyond the floats
        return False
    if not math.isfinite(changed):
        return False
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
