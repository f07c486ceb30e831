"""Topologies: which islands lie next to which."""

from ..core.slots import Topology


class Ring(Topology):
    """Each island sends to the next one, the last to the first."""

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return the next island."""
        return ((island + 1) % count,) if count > 1 else ()


class FullyConnected(Topology):
    """Each island sends to every other."""

    def targets(self, island: int, count: int) -> tuple[int, ...]:
        """Return all other islands."""
        return tuple(other for other in range(count) if other != island)
