"""A policy for tests and demonstrations: its replies come from a list or from a function of the messages."""

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field, model_validator

from ...core.component import ComponentOptions
from ...core.errors import UsageError
from ...core.records import Message, Usage
from ...core.slots import Policy, Reply


class Scripted(Policy):
    """Answers from a script: a list of replies, or a function `module:name` of the messages and the draw."""

    class Options(ComponentOptions):
        """Options of `scripted`."""

        replies: list[str] = Field(default=[], description="Replies; the request's content chooses one of them.")
        function: str | None = Field(
            default=None, description="`module:name` of a function (messages, draw) that returns a text."
        )
        finish_reason: str = Field(default="stop", description="The finish reason of every reply.")
        concurrency: int = Field(default=4, ge=1, description="How many calls may be in flight.")

        @model_validator(mode="after")
        def _one_source(self) -> "Scripted.Options":
            if bool(self.replies) == (self.function is not None):
                raise ValueError("give either `replies` or `function`")
            return self

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self.concurrency = self.options.concurrency
        self._function = None if self.options.function is None else _loaded(self.options.function)

    async def sample(self, messages: Sequence[Message], n: int, settings: Mapping[str, Any]) -> tuple[Reply, ...]:
        """Return `n` replies that depend on the messages alone, so that no answer hangs on who asks first."""
        prompt = sum(len(m.content) for m in messages) // 4
        texts = [self._text(messages, draw) for draw in range(n)]
        return tuple(Reply(t, self.options.finish_reason, Usage(1, prompt, len(t) // 4, 0.0)) for t in texts)

    def _text(self, messages: Sequence[Message], draw: int) -> str:
        if self._function is not None:
            return self._function(messages, draw)
        content = json.dumps([[m.role, m.content] for m in messages] + [draw])
        number = int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "big")
        return self.options.replies[number % len(self.options.replies)]


def _loaded(where: str) -> Callable[[Sequence[Message], int], str]:
    module, _, name = where.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"the policy scripted cannot load {where!r} (expected `module:name`): {error}") from None
    if not callable(function):
        raise UsageError(f"the policy scripted: {where!r} is not a function")
    return function  # type: ignore[no-any-return]
