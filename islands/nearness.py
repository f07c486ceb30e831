"""An index that answers the threshold question on unit vectors exactly, whatever it holds."""

import hashlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.slots import Vector
from .dense import DenseIndex, is_dense

SLACK = 1e-9
"""Rounding that a cosine is forgiven at the threshold, so that a program is near to itself at 1.0."""

_BATCH = 2048
"""How many vectors are filed at once when many were added before the first question."""

_GUARD = 1e-6
"""Rounding that the pruning allows for: float32 values, bounds summed in another order."""


class NearIndex:
    """Vectors under scopes, and the one nearest to a given vector if its cosine reaches the threshold.

    Prefix filtering (Chaudhuri et al. 2006; Bayardo et al. 2007, "Scaling up all pairs similarity search"): a vector b
    is filed under a few of its features only, the rarest when it was added, until the rest u of it has a length below
    the threshold t. For a unit vector q with q.b >= t, q.u <= |u| < t, so q shares a filed feature with b. Asking
    therefore means to look under the features of q; who is found there is judged by an upper bound, then exactly. At
    t = 0.999 a filed part of 0.2 % of the squared length is enough, which is often one feature.

    Vectors that are equal bit by bit are kept once in a scope, with the first of their ids. Dense vectors share every
    feature with one another: they have an index of their own in each scope (`dense.py`).
    """

    def __init__(self, threshold: float) -> None:
        """Prepare for one threshold in (0, 1]."""
        self.threshold = threshold
        self._mass = min(1.0, 1.0 - threshold**2 + _GUARD)
        self._scopes: dict[str, int] = {}
        self._names: set[bytes] = set()
        self._dense: dict[str, dict[int, DenseIndex]] = {}
        self._pending: list[tuple[int, int, Vector]] = []
        self._filed: dict[int, list[int] | int] = {}
        self._frequency = np.zeros(1024, np.int32)
        self._scatter = np.zeros(1024)
        self._ids = _Column(np.int64)
        self._starts = _Column(np.int64)
        self._starts.extend(np.zeros(1, np.int64))
        self._indices = _Column(np.int32)
        self._values = _Column(np.float32)
        self._lengths = _Column(np.float64)

    def __len__(self) -> int:
        """Return how many vectors are held; of equal sparse ones one."""
        self._flush()
        return len(self._ids) + sum(len(index) for by in self._dense.values() for index in by.values())

    @property
    def nbytes(self) -> int:
        """Return about how many bytes the index holds."""
        self._flush()
        columns = (self._ids, self._starts, self._indices, self._values, self._lengths)
        lists = sum(56 + 8 * len(rows) for rows in self._filed.values() if isinstance(rows, list))
        # The keys and the small integers of a table are objects of 32 bytes, the names of 48.
        tables = sys.getsizeof(self._filed) + 64 * len(self._filed) + lists
        tables += sys.getsizeof(self._names) + 48 * len(self._names)
        return sum(column.nbytes for column in columns) + tables + self._frequency.nbytes + self._scatter.nbytes

    def add(self, scope: str, id: int, vector: Vector) -> None:
        """Remember a vector; the zero vector is near to nothing and not kept."""
        if is_dense(vector):
            by_dimension = self._dense.setdefault(scope, {})
            dimension = len(vector.indices)
            if dimension not in by_dimension:
                by_dimension[dimension] = DenseIndex(dimension)
            by_dimension[dimension].add(id, vector)
        elif len(vector.indices):
            self._pending.append((self._scopes.setdefault(scope, len(self._scopes)), id, vector))

    def nearest(self, scope: str, vector: Vector) -> tuple[int, float] | None:
        """Return (id, cosine) of the nearest at or above the threshold, of equals the one with the least id."""
        if not len(vector.indices):
            return None
        answers = [self._nearest_sparse(scope, vector)]
        answers += [i.nearest(vector, self.threshold, SLACK) for i in self._dense.get(scope, {}).values()]
        return max((a for a in answers if a is not None), key=lambda a: (a[1], -a[0]), default=None)

    # Asking

    def _nearest_sparse(self, scope: str, vector: Vector) -> tuple[int, float] | None:
        number = self._scopes.get(scope)
        if number is None:
            return None
        self._flush()
        rows = self._candidates(number, vector)
        if not len(rows):
            return None
        cosines = self._cosines(rows, vector)
        best = float(cosines.max())
        if best < self.threshold - SLACK:
            return None
        ids = self._ids.array[rows[cosines >= best - SLACK]]
        return int(ids.min()), min(best, 1.0)

    def _candidates(self, scope: int, vector: Vector) -> NDArray[np.int64]:
        base = scope << 32
        found: list[int] = []
        filed = self._filed
        for index in vector.indices.tolist():
            rows = filed.get(base | index)
            if rows is None:
                continue
            if isinstance(rows, int):
                found.append(rows)
            else:
                found.extend(rows)
        return np.unique(np.array(found, np.int64))

    def _cosines(self, rows: NDArray[np.int64], vector: Vector) -> NDArray[np.float64]:
        starts, stops = self._starts.array[rows], self._starts.array[rows + 1]
        sizes = stops - starts
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1]) + np.repeat(starts - ends + sizes, sizes)
        self._reach(int(vector.indices[-1]))
        self._scatter[vector.indices] = vector.values
        indices = self._indices.array[places]
        # What lies beyond the query's last index meets a zero of the scatter array, which reaches as far as any index.
        products = self._scatter[indices] * self._values.array[places]
        self._scatter[vector.indices] = 0.0
        sums = np.add.reduceat(products, ends - sizes)
        return np.asarray(sums / (self._lengths.array[rows] * length_of(vector)))

    # Adding

    def _flush(self) -> None:
        if self._pending:
            fresh = self._unseen(self._pending)
            self._pending = []
            for start in range(0, len(fresh), _BATCH):
                self._file(fresh[start : start + _BATCH])

    def _unseen(self, added: Sequence[tuple[int, int, Vector]]) -> list[tuple[int, int, Vector]]:
        fresh = []
        for scope, id, vector in added:
            raw = scope.to_bytes(8, "little") + vector.indices.tobytes() + vector.values.tobytes()
            name = hashlib.blake2b(raw, digest_size=12).digest()
            if name not in self._names:
                self._names.add(name)
                fresh.append((scope, id, vector))
        return fresh

    def _file(self, added: Sequence[tuple[int, int, Vector]]) -> None:
        scopes = np.array([scope for scope, _, _ in added], np.int64)
        indices = np.concatenate([vector.indices for _, _, vector in added])
        values = np.concatenate([vector.values for _, _, vector in added])
        sizes = np.array([len(vector.indices) for _, _, vector in added], np.int64)
        first_row = len(self._ids)
        ends = np.cumsum(sizes)
        squares = values.astype(np.float64) ** 2
        squared = np.add.reduceat(squares, ends - sizes)
        self._reach(int(indices.max()))
        self._ids.extend(np.array([id for _, id, _ in added], np.int64))
        self._starts.extend(self._starts.array[-1] + ends)
        self._indices.extend(indices)
        self._values.extend(values)
        self._lengths.extend(np.sqrt(squared))
        if len(added) < 64:
            for _, _, vector in added:
                self._frequency[vector.indices] += 1
        else:
            self._frequency += np.bincount(indices, minlength=len(self._frequency)).astype(np.int32)
        keys = (self._frequency[indices].astype(np.int64) << 32) | np.arange(len(indices))
        rows, needed = np.arange(len(added)), self._mass * squared
        begins = ends - sizes
        while len(rows):
            # The rarest feature of each vector that is not filed far enough, all of them at once.
            rarest = (np.minimum.reduceat(keys, begins) & 0xFFFFFFFF)[rows]
            self._remember(scopes[rows], indices[rarest], first_row + rows)
            needed[rows] -= squares[rarest]
            keys[rarest] |= 1 << 62
            rows = rows[needed[rows] > 1e-12]

    def _remember(self, scopes: NDArray[np.int64], features: NDArray[np.int32], rows: NDArray[np.int64]) -> None:
        filed = self._filed
        for key, row in zip(((scopes << 32) | features).tolist(), rows.tolist(), strict=True):
            before = filed.get(key)
            if before is None:
                filed[key] = row
            elif isinstance(before, int):
                filed[key] = [before, row]
            else:
                before.append(row)

    def _reach(self, index: int) -> None:
        """Let the tables by feature reach beyond an index."""
        if index >= len(self._frequency):
            longer = max(index + 1, 2 * len(self._frequency))
            self._frequency = np.concatenate([self._frequency, np.zeros(longer - len(self._frequency), np.int32)])
            self._scatter = np.zeros(longer)


class _Column:
    """A growing array; it grows by an eighth, so that little of it lies idle."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._buffer: NDArray[Any] = np.zeros(64, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def array(self) -> NDArray[Any]:
        """Return what is in use; valid until the next `extend`."""
        return self._buffer[: self._size]

    @property
    def nbytes(self) -> int:
        """Return the bytes of the buffer."""
        return self._buffer.nbytes

    def extend(self, values: NDArray[Any]) -> None:
        """Append values."""
        size = self._size + len(values)
        if size > len(self._buffer):
            buffer = np.empty(size + size // 8 + 64, self._buffer.dtype)
            buffer[: self._size] = self._buffer[: self._size]
            self._buffer = buffer
        self._buffer[self._size : size] = values
        self._size = size


def length_of(vector: Vector) -> float:
    """Return the Euclidean length in double precision; that of a unit vector is 1 up to rounding."""
    values = vector.values.astype(np.float64)
    return float(np.sqrt(values @ values))
