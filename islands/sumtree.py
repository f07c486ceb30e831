"""A tree of sums: draws in proportion to weights, and changes one of them, in O(log n)."""

import numpy as np
from numpy.typing import NDArray


class SumTree:
    """Weights at places 0 … n - 1, for selection where the weight of a member depends on that member alone.

    Node k has the children 2k and 2k + 1, leaves begin at the capacity, node 1 holds the total. Every inner node is the
    sum of its children and is computed anew on each change, so that rounding does not pile up and equal weights make
    equal trees, whatever order they came in.
    """

    def __init__(self, weights: NDArray[np.float64] | None = None) -> None:
        """Build from weights >= 0 in O(n)."""
        given = np.zeros(0) if weights is None else np.asarray(weights, np.float64)
        self._size = len(given)
        self._capacity = max(1, 1 << max(0, self._size - 1).bit_length())
        _must_be_weights(given)
        self._nodes = self._built(given)

    def __len__(self) -> int:
        return self._size

    @property
    def total(self) -> float:
        """Return the sum of all weights."""
        return float(self._nodes[1])

    def __getitem__(self, place: int) -> float:
        """Return the weight at a place. Raises IndexError when there is none."""
        self._must_exist(place)
        return float(self._nodes[self._capacity + place])

    def __setitem__(self, place: int, weight: float) -> None:
        """Change the weight at a place, in O(log n). Raises IndexError or ValueError."""
        self._must_exist(place)
        _must_be_weights(np.array([weight]))
        nodes, node = self._nodes, self._capacity + place
        nodes[node] = weight
        while node > 1:
            node >>= 1
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1]

    def append(self, weight: float) -> None:
        """Add a place at the end, in amortised O(log n)."""
        if self._size == self._capacity:
            leaves = self._nodes[self._capacity :]
            self._capacity *= 2
            self._nodes = self._built(leaves)
        self._size += 1
        self[self._size - 1] = weight

    def pop(self, place: int) -> None:
        """Take a place out; the last one moves into it, in O(log n)."""
        self._must_exist(place)
        last = self._size - 1
        self[place] = self[last]
        self[last] = 0.0
        self._size -= 1

    def draw(self, rng: np.random.Generator) -> int:
        """Return a place in proportion to its weight, in O(log n). Raises ValueError when all weights are 0."""
        nodes = self._nodes
        if not nodes[1] > 0:
            raise ValueError("all weights are 0; expected one above 0 to draw from")
        left = rng.random() * nodes[1]
        node = 1
        while node < self._capacity:
            node *= 2
            # Rounding may leave a little at the end: nobody of weight 0 is drawn for it.
            if left >= nodes[node] and nodes[node + 1] > 0:
                left -= nodes[node]
                node += 1
        return node - self._capacity

    def _built(self, leaves: NDArray[np.float64]) -> NDArray[np.float64]:
        nodes = np.zeros(2 * self._capacity)
        nodes[self._capacity : self._capacity + len(leaves)] = leaves
        level = self._capacity
        while level > 1:
            below = nodes[level : 2 * level]
            nodes[level // 2 : level] = below[0::2] + below[1::2]
            level //= 2
        return nodes

    def _must_exist(self, place: int) -> None:
        if not 0 <= place < self._size:
            raise IndexError(f"there is no place {place}; expected 0 … {self._size - 1}")


def _must_be_weights(weights: NDArray[np.float64]) -> None:
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("a weight is negative or not finite; expected numbers from 0 up")
