"""A gate that lets tickets through one after the other, whichever arrives first."""

import asyncio


class TicketOrder:
    """Lets ticket `next` through; `done` lets the one after it through."""

    def __init__(self, first: int) -> None:
        self.next = first
        self._waiting: dict[int, asyncio.Future[None]] = {}

    async def turn(self, ticket: int) -> None:
        """Wait until every earlier ticket is done."""
        if ticket == self.next:
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = future
        await future

    def done(self, ticket: int) -> None:
        """Note that a ticket, whose turn it was, is done."""
        assert ticket == self.next
        self.next = ticket + 1
        future = self._waiting.pop(self.next, None)
        if future is not None and not future.done():
            future.set_result(None)
