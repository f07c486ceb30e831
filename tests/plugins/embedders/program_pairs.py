"""Pairs of programs that an embedder must find alike, and pairs that it must tell apart, made from real sources."""

import ast
import builtins
import copy
import heapq
import inspect
import statistics
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import numpy as np

SHORT = {
    "gcd": "def main(a, b):\n    # Euclid\n    while b:\n        a, b = b, a % b\n    return a\n",
    "sieve": '''def main(n):
    """Return the primes below n."""
    marks = [True] * n
    primes = []
    for p in range(2, n):
        if marks[p]:
            primes.append(p)
            for q in range(2 * p, n, p):
                marks[q] = False
    return primes
''',
    "bubble": """def main(items):
    items = list(items)
    for i in range(len(items)):
        for j in range(len(items) - 1):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items
""",
    "insertion": """def main(items):
    done = []
    for item in items:
        place = len(done)
        while place > 0 and done[place - 1] > item:
            place -= 1
        done.insert(place, item)
    return done
""",
    "quick": """def part(items, pivot):
    return [x for x in items if x < pivot], [x for x in items if x > pivot]


def main(items):
    if not items:
        return []
    low, high = part(items[1:], items[0])
    return main(low) + [items[0]] + main(high)
""",
    "newton": """import math


def step(x, a):
    return (x + a / x) / 2


def main(a):
    x = math.floor(a) + 1.0
    for _ in range(40):
        x = step(x, a)
    return x
""",
    "bisection": """def value(x):
    return x ** 3 - x - 2


def main(low, high):
    for _ in range(60):
        middle = (low + high) / 2
        if value(middle) < 0:
            low = middle
        else:
            high = middle
    return low
""",
    "annealing": """import numpy as np


def cost(x):
    return float((x ** 2).sum() + np.cos(3 * x).sum())


def move(x, rng, scale):
    return x + rng.normal(0, scale, len(x))


def main(n, seed):
    rng = np.random.default_rng(seed)
    best = x = rng.random(n)
    for k in range(1000):
        trial = move(x, rng, 0.1)
        if cost(trial) < cost(x) or rng.random() < np.exp(-k / 100):
            x = trial
        if cost(x) < cost(best):
            best = x
    return best.tolist()
""",
}

IMPROVEMENTS = [
    ("sieve", "range(2 * p, n, p)", "range(p * p, n, p)"),
    ("bubble", "range(len(items) - 1)", "range(len(items) - 1 - i)"),
    ("bubble", "    for i in range(len(items)):", "    while sorted(items) != items:\n        i = 0"),
    ("newton", "        x = step(x, a)\n", "        x, y = step(x, a), x\n        if x == y:\n            break\n"),
    ("bisection", "middle = (low + high) / 2", "middle = low - value(low) * (high - low) / (value(high) - value(low))"),
    ("annealing", "move(x, rng, 0.1)", "move(x, rng, 0.1 / (1 + k))"),
    ("annealing", "move(x, rng, 0.1)", "move(best, rng, 0.1)"),
    ("annealing", "x = trial\n", "x = trial - 0.01 * (2 * trial - 3 * np.sin(3 * trial))\n"),
    ("gcd", "a, b = b, a % b", "a, b = b, min(a % b, b - a % b)"),
    ("quick", "items[1:], items[0]", "items[1:], max(items[0], min(items))"),
    ("insertion", "while place > 0 and", "while place and"),
]  # fmt: skip
"""A short program, a text in it and what an improvement put there."""


def long_programs() -> dict[str, str]:
    """Return modules of 1 to 8 kB made of functions of the standard library."""
    found = {}
    for module in (heapq, statistics, textwrap):
        text = inspect.getsource(module)
        parts = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        segments = [ast.get_source_segment(text, node) or "" for node in parts]
        for start in range(0, len(segments) - 3, 4):
            text = "\n\n\n".join(segments[start : start + 4]) + "\n"
            if len(text) < 8000:
                found[f"{module.__name__}-{start}"] = text
    return found


@lru_cache
def programs() -> dict[str, str]:
    """Return every program that pairs are made of."""
    return {**SHORT, **long_programs()}


# Edits that leave a program what it is


def renamed(text: str) -> str:
    """Give every local name, argument and function another name."""
    tree = ast.parse(text)
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    bound |= {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    methods = [f for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for f in n.body]
    new = {name: f"renamed_{k}" for k, name in enumerate(sorted(bound, reverse=True))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = new[node.arg]
        elif isinstance(node, ast.keyword) and node.arg is not None:
            node.arg = new.get(node.arg, node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node not in methods:
            node.name = new.get(node.name, node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [new.get(name, name) for name in node.names]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            node.name = new.get(node.name, node.name)
    return ast.unparse(tree)


def moved(text: str) -> str | None:
    """Write the definitions in reverse order."""
    tree = ast.parse(text)
    places = [k for k, node in enumerate(tree.body) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    if len(places) < 2:
        return None
    body = list(tree.body)
    for place, other in zip(places, reversed(places), strict=True):
        body[place] = tree.body[other]
    tree.body = body
    return ast.unparse(tree)


def reformatted(text: str) -> str:
    """Drop comments and formatting."""
    return ast.unparse(ast.parse(text))


def commented(text: str) -> str:
    """Put a comment before and after every line that ends a statement at the left margin."""
    lines = text.splitlines(keepends=True)
    return "# a new remark\n" + "".join(line + ("# and another\n" if line == "\n" else "") for line in lines)


def redocumented(text: str) -> str:
    """Give every function another docstring."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            node.body.insert(0, ast.Expr(ast.Constant("Does what it says, in other words.")))
    return ast.unparse(ast.fix_missing_locations(tree))


def retuned(text: str) -> str | None:
    """Change every number."""
    tree = ast.parse(text)
    changed = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            node.value = node.value * 3 + 1
            changed = True
    return ast.unparse(tree) if changed else None


NEAR: dict[str, Callable[[str], str | None]] = {
    "names changed": renamed,
    "definitions moved": moved,
    "comments and formatting dropped": reformatted,
    "comments added": commented,
    "docstrings changed": redocumented,
}

# Edits that make another program


def operator_changed(tree: ast.Module, at: int) -> bool:
    """Replace one operator by another."""
    found = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp | ast.AugAssign | ast.Compare)]
    if not found:
        return False
    node = found[at % len(found)]
    if isinstance(node, ast.Compare):
        node.ops[0] = ast.LtE() if not isinstance(node.ops[0], ast.LtE) else ast.Gt()
    else:
        node.op = ast.Sub() if not isinstance(node.op, ast.Sub) else ast.Add()
    return True


def call_changed(tree: ast.Module, at: int) -> bool:
    """Call another built-in function or method."""
    known = set(dir(builtins))
    found = [
        n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", None) in known | {None}
    ]  # fmt: skip
    if not found:
        return False
    node = found[at % len(found)]
    if isinstance(node.func, ast.Attribute):
        node.func.attr = "another_method"
    else:
        node.func = ast.Name("abs" if getattr(node.func, "id", None) != "abs" else "sum", ast.Load())
    return True


def blocks_of(tree: ast.Module) -> list[list[ast.stmt]]:
    """Return the statement lists inside functions."""
    return [
        body
        for node in ast.walk(tree)
        if not isinstance(node, ast.Module | ast.ClassDef)
        for name in ("body", "orelse")
        if isinstance(body := getattr(node, name, None), list) and body and isinstance(body[0], ast.stmt)
    ]


def statement_deleted(tree: ast.Module, at: int) -> bool:
    """Delete a statement that is not alone and no docstring."""
    found = [
        (body, k)
        for body in blocks_of(tree)
        for k, node in enumerate(body)
        if len(body) > 1 and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    if not found:
        return False
    body, k = found[at % len(found)]
    del body[k]
    return True


def statements_swapped(tree: ast.Module, at: int) -> bool:
    """Let two statements that differ, and are no definitions, change places."""

    def fits(a: ast.stmt, b: ast.stmt) -> bool:
        kinds = (ast.Expr, ast.FunctionDef)
        return ast.dump(a) != ast.dump(b) and not isinstance(a, kinds) and not isinstance(b, kinds)

    found = [(body, k) for body in blocks_of(tree) for k in range(len(body) - 1) if fits(body[k], body[k + 1])]
    if not found:
        return False
    body, k = found[at % len(found)]
    body[k], body[k + 1] = body[k + 1], body[k]
    return True


def block_inserted(tree: ast.Module, at: int) -> bool:
    """Insert a small loop."""
    bodies = blocks_of(tree)
    block = ast.parse("for k in range(10):\n    if k % 2:\n        print(k)\n").body[0]
    body = bodies[at % len(bodies)]
    body.insert(len(body) // 2 or 1, block)
    return True


def statement_repeated(tree: ast.Module, at: int) -> bool:
    """Do one assignment or call twice."""
    found = [
        (body, k)
        for body in blocks_of(tree)
        for k, node in enumerate(body)
        if isinstance(node, ast.Assign | ast.AugAssign)
    ]
    if not found:
        return False
    body, k = found[at % len(found)]
    body.insert(k, copy.deepcopy(body[k]))
    return True


FAR: dict[str, Callable[[ast.Module, int], bool]] = {
    "one operator changed": operator_changed,
    "one call changed": call_changed,
    "a statement deleted": statement_deleted,
    "two statements swapped": statements_swapped,
    "a block inserted": block_inserted,
    "a statement repeated": statement_repeated,
}


def near_pairs() -> Iterator[tuple[str, str, str]]:
    """Yield (kind, program, edited program) that must be refused."""
    for kind, edit in NEAR.items():
        for text in programs().values():
            edited = edit(text)
            if edited is not None:
                yield kind, text, edited


def edited_pairs(texts: Iterable[str], each: int = 3) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, program, edited program) that must pass, `each` of a kind for each text."""
    rng = np.random.default_rng(1)
    for kind, edit in FAR.items():
        for text in texts:
            for _ in range(each):
                tree = ast.parse(text)
                if edit(tree, int(rng.integers(1000))):
                    yield kind, text, ast.unparse(ast.fix_missing_locations(tree))


def far_pairs() -> Iterator[tuple[str, str, str]]:
    """Yield (kind, program, other program) that must pass."""
    yield from edited_pairs(programs().values())
    for name, old, new in IMPROVEMENTS:
        assert old in SHORT[name]
        yield "an improvement", SHORT[name], SHORT[name].replace(old, new)
    names = list(programs())
    for k, name in enumerate(names):
        for other in names[k + 1 :]:
            yield "another program", programs()[name], programs()[other]


def constant_pairs() -> Iterator[tuple[str, str]]:
    """Yield programs that differ in constants only."""
    for text in programs().values():
        edited = retuned(text)
        if edited is not None:
            yield text, edited
