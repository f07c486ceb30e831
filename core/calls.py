"""Calls to a policy: recorded before they are sent, answered from the record on resume and replay, metered.

A reply is named by the content of its request and a draw number. The record answers only for that very draw, so a new
ticket with an old request is a new draw and is paid for.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from .records import Message, Usage
from .slots import Policy, Reply
from .store import Store

_DRAWS_PER_TICKET = 1000


class Calls:
    """The one way to the policy, for whatever role."""

    def __init__(self, policy: Policy, name: str, store: Store) -> None:
        self.policy = policy
        self.name = name
        self.store = store

    async def draw(
        self, ticket: int, messages: Sequence[Message], n: int = 1, settings: Mapping[str, Any] | None = None,
        role: str = "proposer",
    ) -> tuple[tuple[Reply, ...], tuple[str, ...]]:  # fmt: skip
        """Return `n` replies to a request made for a ticket, and their names.

        Raises SpeciateError when the policy cannot go on.
        """
        settings = dict(settings or {})
        request = self.request_hash(messages, settings)
        first = ticket * _DRAWS_PER_TICKET
        wanted = [first + k for k in range(n)]
        recorded = [self.store.reply(request, draw) for draw in wanted]
        if any(reply is None for reply in recorded):
            self.store.record_request(request, wanted, ticket, role, messages, settings)
            drawn = await self.policy.sample(messages, n, settings)
            self.store.record_replies(request, wanted, f"{self.name}@{self.policy.version}", drawn)
            replies = tuple(drawn)
        else:
            replies = tuple(reply for reply in recorded if reply is not None)
        return replies, tuple(f"{request}:{draw}" for draw in wanted)

    def request_hash(self, messages: Sequence[Message], settings: Mapping[str, Any]) -> str:
        """Name a request by policy, policy version, messages and settings."""
        content = [self.name, self.policy.version, [[m.role, m.content] for m in messages], dict(settings)]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def total(replies: Sequence[Reply]) -> Usage:
    """Add up what replies cost; one unknown price makes the sum unknown."""
    money: float | None = 0.0
    for reply in replies:
        money = None if money is None or reply.usage.money is None else money + reply.usage.money
    return Usage(
        sum(reply.usage.model_calls for reply in replies),
        sum(reply.usage.prompt_tokens for reply in replies),
        sum(reply.usage.completion_tokens for reply in replies),
        money,
    )
