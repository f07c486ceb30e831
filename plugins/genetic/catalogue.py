"""Building blocks: the functions of a problem's block module, read from its source with the types they declare."""

import ast
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

PLAIN = {"int": int, "float": float}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a block: its type as written, or None, and its default as an expression, or None."""

    name: str
    type: str | None
    default: ast.expr | None


@dataclass(frozen=True, slots=True)
class Block:
    """An ordinary function that programs may call: `parameters` in order, `result` the type it declares."""

    name: str
    parameters: tuple[Parameter, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The blocks of a problem. `bases` maps a new type to the plain type under it (`Scale` → `float`)."""

    blocks: tuple[Block, ...] = ()
    bases: tuple[tuple[str, str], ...] = ()
    constructors: tuple[tuple[str, str], ...] = ()
    """Classes of the module, as (name, type): a call of one makes a value of its type."""

    @classmethod
    def of(cls, source: str | None) -> "Catalogue":
        """Read a module's functions that say what they return; nothing of it is run.

        Where the module has an `__all__`, only the names in it are blocks; otherwise all public ones are.
        """
        return cls() if source is None else _read(source)

    def base(self, type: str | None) -> str | None:
        """Return the plain type under a type, or the type itself."""
        return dict(self.bases).get(type, type) if type is not None else None

    def fits(self, wanted: str | None, found: str | None) -> bool:
        """Say whether a value of type `found` may stand where `wanted` is expected; unknown fits unknown only."""
        if wanted is None or found is None:
            return wanted is found
        if wanted == found:
            return True
        below, above = self.base(found), self.base(wanted)
        return above in PLAIN and (below == above or (above == "float" and below == "int"))

    def is_number(self, type: str | None) -> bool:
        """Say whether constants of this type are numbers."""
        return self.base(type) in PLAIN

    def result_of(self, name: str) -> str | None:
        """Return the type that a call of a function or class of the module gives, or None."""
        for block in self.blocks:
            if block.name == name:
                return block.result
        return dict(self.constructors).get(name)

    def draw(self, parameter: Parameter, rng: np.random.Generator) -> ast.expr | None:
        """Return a constant for a parameter, near its default or of an ordinary size; None when it takes no number."""
        base = self.base(parameter.type)
        default = parameter.default.value if isinstance(parameter.default, ast.Constant) else None
        if base == "int":
            count = default if isinstance(default, int) and default > 0 else 2
            return ast.Constant(max(1, round(count * math.exp(rng.normal(0, 0.7)))))
        if base == "float":
            around = float(default) if isinstance(default, (int, float)) and default else 0.1
            return ast.Constant(rounded(around * math.exp(rng.normal(0, 1.0))))
        return None


def rounded(value: float, digits: int = 4) -> float:
    """Return a number with `digits` significant digits: programs are read by people too."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else 1.0


@lru_cache(maxsize=16)
def _read(source: str) -> Catalogue:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Catalogue()
    blocks, bases, classes = [], [], []
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.returns is not None
            and _is_public(node.name, tree)
            and _callable(node)
        ):
            blocks.append(_block(node))
        elif isinstance(node, ast.ClassDef):
            classes.append((node.name, node.name))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call = node.value
            if ast.unparse(call.func) in ("NewType", "typing.NewType") and len(call.args) == 2:
                target = node.targets[0]
                if isinstance(target, ast.Name):
                    bases.append((target.id, ast.unparse(call.args[1])))
    return Catalogue(tuple(blocks), tuple(bases), tuple(classes))


def _is_public(name: str, tree: ast.Module) -> bool:
    listed = [node.value for node in tree.body if _lists_exports(node)]  # type: ignore[attr-defined]
    if not listed:
        return not name.startswith("_")
    items = [item for value in listed if isinstance(value, (ast.List, ast.Tuple)) for item in value.elts]
    return any(isinstance(item, ast.Constant) and item.value == name for item in items)


def _lists_exports(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        target = node.targets[0]
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        target = node.target
    else:
        return False
    return isinstance(target, ast.Name) and target.id == "__all__"


def _callable(node: ast.FunctionDef) -> bool:
    """Say whether calls of the form f(required, …, optional=…) reach every parameter that needs a value."""
    required = len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)
    return None not in node.args.kw_defaults and required >= len(node.args.posonlyargs)


def _block(node: ast.FunctionDef) -> Block:
    arguments = node.args.posonlyargs + node.args.args
    defaults: list[ast.expr | None] = [None] * (len(arguments) - len(node.args.defaults))
    defaults += node.args.defaults
    parameters = tuple(
        Parameter(a.arg, None if a.annotation is None else ast.unparse(a.annotation), d)
        for a, d in zip(arguments, defaults, strict=True)
    )
    assert node.returns is not None
    return Block(node.name, parameters, ast.unparse(node.returns))
