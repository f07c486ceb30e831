"""How much of what is written was written before and thrown away: the share of re-introduced lines."""

from collections.abc import Iterable


class CycleCount:
    """Counts, along every lineage, the added lines that an ancestor had and that were deleted since.

    The cycle metric of arXiv 2605.20086, which reports about 30 % for agents that edit their own code. Lines are
    compared without the space around them, and empty ones do not count.
    """

    def __init__(self) -> None:
        self.added = 0
        self.returned = 0
        self._lines: dict[int, frozenset[str]] = {}
        self._gone: dict[int, frozenset[str]] = {}

    def add(self, id: int, parent: int | None, texts: Iterable[str]) -> None:
        """Count an individual; its parent, None for a seed, was counted before it."""
        lines = frozenset(stripped for text in texts for line in text.splitlines() if (stripped := line.strip()))
        self._lines[id] = lines
        if parent is None or parent not in self._lines:
            self._gone[id] = frozenset()
            return
        new, gone = lines - self._lines[parent], self._gone[parent]
        self.added += len(new)
        self.returned += len(new & gone)
        self._gone[id] = (gone | self._lines[parent]) - lines

    @property
    def share(self) -> float | None:
        """The share of added lines that were deleted before; None when no line was added."""
        return self.returned / self.added if self.added else None
