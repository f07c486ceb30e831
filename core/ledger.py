"""The digest of a run: one hash over everything that must be equal between equal runs.

It chains over the committed tickets in order, starting from what the run was told to do. Clock times, CPU seconds,
memory, prices, paths, the number of workers and the names of executor and sandbox are no part of it.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .evaluation import Evaluation
from .slots import Move, Reset
from .store import Birth


def start(told: Mapping[str, Any]) -> bytes:
    """Return the first link: `told` is the problem, the components with their options and the seed."""
    return _link(b"", told)


def chain(
    before: bytes, birth: Birth, evaluation: Evaluation | None, kept: bool, moves: tuple[Move | Reset, ...]
) -> bytes:
    """Return the next link: `before` and everything that a ticket decided."""
    selection, individual, usage = birth.selection, birth.individual, birth.usage
    return _link(
        before,
        {
            "ticket": [selection.ticket, selection.island, selection.parent, selection.inspirations],
            "operator": [birth.operator, selection.operator, dict(selection.plan)],
            "refusal": None if birth.refusal is None else [birth.refusal.reason.value, birth.refusal.detail],
            "replies": birth.replies,
            "usage": [usage.model_calls, usage.prompt_tokens, usage.completion_tokens],
            "individual": None
            if individual is None
            else [individual.program, individual.input, individual.generation, individual.fitness, individual.novelty],
            "evaluation": None if evaluation is None else evaluation.digest_fields(),
            "kept": kept,
            "moves": [_move(move) for move in moves],
        },
    )


def _move(move: Move | Reset) -> list[Any]:
    if isinstance(move, Move):
        return ["move", move.individual, move.source, move.target]
    return ["reset", move.island, list(move.founders)]


def _one_zero(value: Any) -> Any:
    """Return plain data with -0.0 as 0.0: they are equal, and SQLite keeps only one of them."""
    if isinstance(value, float):
        return value + 0.0
    if isinstance(value, Mapping):
        return {key: _one_zero(item) for key, item in value.items()}
    return [_one_zero(item) for item in value] if isinstance(value, (list, tuple)) else value


def _link(before: bytes, content: Mapping[str, Any]) -> bytes:
    text = json.dumps(_one_zero(content), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(before + text.encode("ascii")).digest()[:16]
