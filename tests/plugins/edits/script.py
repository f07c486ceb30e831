"""Replies of a model for tests: functions of the messages, for the policy `scripted`."""

import hashlib
from collections.abc import Sequence

from speciate.core.records import Message

BETTER = """Here it is.
```python
        trial = blocks.jitter_one(current, rng, {step})
        trial = blocks.radii_by_lp(trial)
        trial = blocks.better(blocks.radii_by_lp(blocks.jitter_one(trial, rng, {step} / 10)), trial)
        current = blocks.better(trial, current)
```
"""


def _number(messages: Sequence[Message], draw: int) -> int:
    content = "\0".join(m.content for m in messages) + str(draw)
    return int.from_bytes(hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[:4], "big")


def rewrites(messages: Sequence[Message], draw: int) -> str:
    """A better program, with a step that depends on the prompt."""
    return BETTER.format(step=round(0.01 + _number(messages, draw) % 400 / 10_000, 4))


def mends_when_told(messages: Sequence[Message], draw: int) -> str:
    """A syntax error first; once told of it, a better program."""
    if any(m.role == "assistant" for m in messages):
        assert "was never closed" in messages[-1].content
        return rewrites(messages, draw)
    return "```python\n        current = blocks.better(current, (current\n```\n"


def refuses(messages: Sequence[Message], draw: int) -> str:
    """Prose."""
    return "I cannot help with that."
