"""Centre and spread of fitness from its sorted values, which are kept from call to call and mended, not sorted anew."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAD_FLOOR = 1e-6
"""The least spread, as in ShinkaEvolve's code: below it fitness is no longer scaled."""

_MENDED = 64
"""More changes than this, and sorting anew is quicker."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What a fitness is compared with: `middle`, where quality is one half, and `spread`, the unit."""

    middle: float
    spread: float


def scale_of(ordered: Floats, pivot: float | None) -> Scale:
    """Return the scale of ascending values, in O(log n).

    The spread is the median absolute deviation from the median, not below `MAD_FLOOR`; the middle is the median or, if
    `pivot` is given, the quantile of that order by linear interpolation.
    """
    centre = median(ordered)
    spread = max(median_deviation(ordered, centre), MAD_FLOOR)
    return Scale(centre if pivot is None else quantile(ordered, pivot), spread)


def median(ordered: Floats) -> float:
    """Return the median of ascending values."""
    n = len(ordered)
    low, high = float(ordered[(n - 1) // 2]), float(ordered[n // 2])
    return low if low == high else low / 2 + high / 2


def quantile(ordered: Floats, q: float) -> float:
    """Return the quantile of order q of ascending values, by linear interpolation."""
    place = q * (len(ordered) - 1)
    below = int(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)])
    return low if low == high else low * (1.0 - (place - below)) + high * (place - below)


def median_deviation(ordered: Floats, centre: float) -> float:
    """Return the median of |x - centre| over ascending x, by bisection on how many lie to the left of the centre."""
    n = len(ordered)
    low, high = _kth_deviation(ordered, centre, (n - 1) // 2), _kth_deviation(ordered, centre, n // 2)
    return low if low == high else low / 2 + high / 2


def _kth_deviation(ordered: Floats, centre: float, k: int) -> float:
    """Return the k-th smallest deviation, from 0: the k + 1 nearest values are a window ordered[start : start + k + 1].

    The window's start is the first whose left end is no farther from the centre than what follows its right end.
    """
    low, high = 0, len(ordered) - (k + 1)
    while low < high:
        start = (low + high) // 2
        if centre - float(ordered[start]) > float(ordered[start + k + 1]) - centre:
            low = start + 1
        else:
            high = start
    return max(abs(centre - float(ordered[low])), abs(float(ordered[low + k]) - centre))


class SortedValues:
    """Sorts an array that changes little from call to call.

    What it returns depends on the argument alone; what it remembers only saves time. A call costs one comparison with
    the last argument, and for each change a shift of the values in between.
    """

    def __init__(self) -> None:
        self._last: Floats = np.zeros(0)
        self._buffer: Floats = np.zeros(0)
        self._size = 0

    def __call__(self, values: Floats) -> Floats:
        """Return the values in ascending order; valid until the next call."""
        common = min(len(values), self._size)
        changed = np.flatnonzero(values[:common] != self._last[:common])
        gone = np.concatenate([self._last[changed], self._last[common : self._size]])
        new = np.concatenate([values[changed], values[common:]])
        if len(gone) + len(new) > _MENDED:
            self._sort(values)
            return self._buffer[: self._size]
        if len(values) > len(self._buffer):
            self._sort(values)
            return self._buffer[: self._size]
        for value in gone:
            place = int(np.searchsorted(self._buffer[: self._size], value))
            self._buffer[place : self._size - 1] = self._buffer[place + 1 : self._size]
            self._size -= 1
        for value in new:
            place = int(np.searchsorted(self._buffer[: self._size], value))
            self._buffer[place + 1 : self._size + 1] = self._buffer[place : self._size]
            self._buffer[place] = value
            self._size += 1
        self._last[changed] = values[changed]
        self._last[common : len(values)] = values[common:]
        return self._buffer[: self._size]

    def _sort(self, values: Floats) -> None:
        self._size = len(values)
        room = self._size + self._size // 8 + 1024
        self._buffer, self._last = np.zeros(room), np.zeros(room)
        self._buffer[: self._size] = np.sort(values)
        self._last[: self._size] = values
