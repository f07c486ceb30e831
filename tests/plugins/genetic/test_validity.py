"""The share of valid offspring: they parse, and run without a name that is not assigned."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import speciate.problems
from speciate.plugins.genetic.catalogue import Catalogue
from speciate.plugins.genetic.variation import OPERATORS, vary

PROBLEMS = Path(speciate.problems.__path__[0])
STRANGER = """
import math
from contextlib import nullcontext

limit = 3
total = 0


def helper(values, *rest, scale=1.0, **named):
    return [v * scale for v in values if v is not None] + list(rest)


def main(n=4, sep=","):
    global total
    # EVOLVE-BLOCK-START
    values = helper(range(n), 7, scale=0.5)
    best = None
    with nullcontext(values) as held:
        size = len(held)
    for k, value in enumerate(values):
        if best is None or value > best:
            best, where = value, k
    try:
        ratio = best / size
    except ZeroDivisionError as error:
        ratio, why = 0.0, str(error)
    else:
        why = "fine"
    match size:
        case 0:
            kind = "none"
        case m if m > 2:
            kind = f"many {m:>3} {ratio:.2f}"
        case _:
            kind = "few"
    if (root := math.sqrt(abs(ratio))) > 0.5:
        total = total + root
    max = {c: i for i, c in enumerate(sorted(kind))}
    pick = lambda u, /, *v, w=2: u + w + len(v)
    out = (pick(size), best, root, why, max, sep.join(kind))
    # EVOLVE-BLOCK-END
    return out
"""
CHILDREN = 300


def judge(child: str, arguments: tuple[object, ...]) -> str:
    """Return `ok`, or the name of what running it raised."""
    names: dict[str, object] = {"__name__": "child"}
    try:
        exec(compile(child, "child", "exec"), names)
        names["main"](*arguments)  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001 - whatever a candidate raises is what is counted here
        return type(error).__name__
    return "ok"


@pytest.mark.parametrize("name", ["circle_packing", "heilbronn", "stranger"])
def test_99_of_100_offspring_parse_and_know_their_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, blocks, arguments = STRANGER, None, ()
    if name != "stranger":
        seed = (PROBLEMS / name / "seed.py").read_text()
        blocks = (PROBLEMS / name / "blocks.py").read_text()
        arguments = (7, {"circle_packing": "square", "heilbronn": "triangle"}[name], 2, 0)
        spec = importlib.util.spec_from_file_location("blocks", PROBLEMS / name / "blocks.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "blocks", module)
        spec.loader.exec_module(module)
    assert judge(seed, arguments) == "ok"
    rng, catalogue = np.random.default_rng(11), Catalogue.of(blocks)
    pool, verdicts = [seed], []
    while len(verdicts) < CHILDREN:
        parent = pool[int(rng.integers(len(pool)))]
        operator = list(OPERATORS)[int(rng.integers(len(OPERATORS)))]
        child = vary(parent, pool[-8:], catalogue, rng, operator, 0.3)
        if child is None:
            continue
        verdicts.append(judge(child, arguments))
        if verdicts[-1] == "ok" and len(pool) < 40:
            pool.append(child)
    bad = sum(v in ("SyntaxError", "IndentationError", "NameError", "UnboundLocalError") for v in verdicts)
    share, clean = 1 - bad / CHILDREN, verdicts.count("ok") / CHILDREN
    kinds = {v: verdicts.count(v) for v in sorted(set(verdicts))}
    print(f"{name}: {share:.2%} valid, {clean:.2%} without any exception, of {CHILDREN}: {kinds}")
    assert share >= 0.99
