"""Hashed n-grams of a program's syntax tree: no model, no download, nothing fitted."""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
from pydantic import Field
from sklearn.utils import murmurhash3_32

from ...core.component import ComponentOptions
from ...core.program import Program
from ...core.slots import Embedder, Vector


class AstNgrams(Embedder):
    """Counts of syntax-tree node types, alone and with their parents, hashed to a fixed width; blind to names."""

    class Options(ComponentOptions):
        """Options of `ast-ngrams`."""

        bits: int = Field(default=18, ge=8, le=24, description="The width is 2^bits.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self.dimension = 1 << self.options.bits

    def embed(self, program: Program, main: str) -> Vector:
        """Return the vector of all files together."""
        counts: Counter[str] = Counter()
        for path, text in program.files:
            counts.update(_features(path, text))
        buckets: Counter[int] = Counter()
        for feature, count in counts.items():
            buckets[murmurhash3_32(feature, positive=True) % self.dimension] += count
        indices = np.array(sorted(buckets), np.int32)
        values = np.sqrt(np.array([buckets[int(i)] for i in indices], np.float64))
        norm = float(np.sqrt((values**2).sum()))
        return Vector(indices, (values / norm if norm else values).astype(np.float32))

    def structure(self, program: Program, main: str) -> str:
        """Return a hash of the syntax trees with constants blanked and names numbered."""
        digest = hashlib.sha256()
        for path, text in program.files:
            digest.update(f"{path}\0".encode())
            digest.update(_blanked(path, text).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:32]


def _tree(path: str, text: str) -> ast.Module | None:
    if not path.endswith(".py"):
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _features(path: str, text: str) -> Iterator[str]:
    tree = _tree(path, text)
    if tree is None:
        tokens = re.findall(r"\w+|[^\w\s]", text)
        yield from (f"t{n}:{' '.join(tokens[i : i + n])}" for n in (1, 2, 3) for i in range(len(tokens) - n + 1))
        return
    local = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, above = stack.pop()
        label = _label(node, local)
        yield label
        yield f"{above}>{label}"
        for field, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            previous = ""
            for child in children:
                if (
                    isinstance(child, ast.AST)
                    and not isinstance(child, ast.expr_context)
                    and not _is_docstring(node, child)
                ):
                    stack.append((child, f"{label}.{field}"))
                    name = _label(child, local)
                    if isinstance(child, ast.stmt) and not isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                        yield f"{label}|{previous}|{name}"
                        previous = name


def _label(node: ast.AST, local: set[str]) -> str:
    name = type(node).__name__
    if isinstance(node, ast.Attribute):
        return f"{name}:{node.attr}"
    if isinstance(node, ast.Name) and node.id not in local:
        return f"{name}:{node.id}" if not isinstance(node.ctx, ast.Store) else name
    return name


def _is_docstring(parent: ast.AST, child: ast.AST) -> bool:
    return (
        isinstance(parent, (ast.Module, ast.FunctionDef, ast.ClassDef))
        and isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Constant)
        and isinstance(child.value.value, str)
    )


def _blanked(path: str, text: str) -> str:
    tree = _tree(path, text)
    if tree is None:
        return text
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.value = 0
            node.kind = None
        elif isinstance(node, ast.Name):
            node.id = names.setdefault(node.id, f"n{len(names)}")
        elif isinstance(node, ast.arg):
            node.arg = names.setdefault(node.arg, f"n{len(names)}")
    return ast.dump(tree)
