"""The default embedder: hashed n-grams of a program's syntax tree, without a model, a download or anything fitted."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from pydantic import Field

from ...core.component import ComponentOptions
from ...core.program import Program
from ...core.slots import Embedder, Vector
from .reading import Reading, digest

Groups = tuple[Counter[str], Counter[str], Counter[str]]
"""Counts of grams, of statements or lines, and of units or paragraphs."""

_SHARES = (0.85, 0.10, 0.05)
"""What each group of features has of the squared length of a vector.

A changed operator touches a handful among a thousand grams, but always one statement and one unit: their shares keep
such a change below a cosine of 0.999 in programs of up to about 50 units.
"""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class AstNgrams(Embedder):
    """Counts of syntax-tree n-grams, statements and functions, hashed to a fixed width; blind to names and constants.

    Labels of nodes alone, with the place they stand in and with the statement before (1- and 2-grams); each statement
    without its body; each unit (`reading.py`) as a whole. A feature that occurs c times has the weight sqrt(c) within
    its group, and is hashed by MurmurHash3. Only what lies in evolve blocks is read: the rest is the same in every
    program of a problem. Renames, moved definitions, comments, docstrings and formatting leave the vector as it is, and
    so do constants. Texts that are no Python, or do not parse, are compared by 1-, 2- and 3-grams of their tokens,
    by lines and by paragraphs, with numbers blanked.
    """

    class Options(ComponentOptions):
        """Options of `ast-ngrams`."""

        bits: int = Field(default=18, ge=8, le=24, description="The width is 2^bits.")

    options: Options

    def __init__(self, options: ComponentOptions | None = None) -> None:
        super().__init__(options)
        self.dimension = 1 << self.options.bits

    def embed(self, program: Program, main: str) -> Vector:
        """Return the vector of all files together; that of a program without any feature is the zero vector."""
        groups: Groups = Counter(), Counter(), Counter()
        for path, text in program.files:
            for group, counts in zip(groups, _features(path, text), strict=True):
                group.update(counts)
        squares: dict[int, float] = {}
        present = sum(share for share, group in zip(_SHARES, groups, strict=True) if group) or 1.0
        for share, group in zip(_SHARES, groups, strict=True):
            unit = share / present / max(1, sum(group.values()))
            for feature, count in group.items():
                bucket = _bucket(feature) % self.dimension
                squares[bucket] = squares.get(bucket, 0.0) + unit * count
        indices = np.array(sorted(squares), np.int32)
        return Vector(indices, np.array([math.sqrt(squares[int(i)]) for i in indices], np.float32))

    def structure(self, program: Program, main: str) -> str:
        """Return a hash of the files with constants blanked, blind to docstrings and to names that are local.

        Names that another scope may use and the order of definitions count: a program under other names has another
        structure, so that its cosine is asked for. Of a text that is no Python only its numbers are blanked.
        """
        whole = hashlib.sha256()
        for path, text in program.files:
            reading = _reading(path, text)
            form = _NUMBER.sub("0", text) if reading is None else reading.raw()
            whole.update(f"{path}\0{form}\0".encode("utf-8", "surrogatepass"))
        return whole.hexdigest()[:32]


def structure(text: str) -> str:
    """Return a hash of a Python text, equal for texts that differ in names, order of definitions and constants only.

    A text that does not parse is hashed as it is.
    """
    reading = _reading("text.py", text)
    if reading is None:
        return digest(text)
    return digest("\n".join(sorted(reading.canonical(unit.tokens) for unit in reading.units)))


def constants(text: str) -> str:
    """Return a hash of the constants of a Python text, blind to names and to the order of definitions.

    Texts of equal structure and equal constants are the same program under other names.
    """
    reading = _reading("text.py", text)
    if reading is None:
        return digest(text)
    return digest("\n".join(sorted(" ".join([reading.canonical(u.tokens), *u.constants]) for u in reading.units)))


@lru_cache(maxsize=16)
def _reading(path: str, text: str) -> Reading | None:
    """Read a Python file once for its vector and its structure; None when it is none."""
    if not path.endswith(".py"):
        return None
    try:
        return Reading(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _features(path: str, text: str) -> Groups:
    reading = _reading(path, text)
    return _text_features(text) if reading is None else _tree_features(reading)


def _tree_features(reading: Reading) -> Groups:
    grams: Counter[str] = Counter(reading.pairs)
    for above, label in reading.labels:
        grams[label] += 1
        grams[f"{above}>{label}"] += 1
    for above, token in reading.late:
        label = reading.meaning(token)
        grams[label] += 1
        grams[f"{above}>{label}"] += 1
    statements = Counter(
        "s" + reading.canonical(unit.tokens[start:stop]) for unit in reading.units for start, stop in unit.spans
    )
    units = Counter("u" + reading.canonical(unit.tokens) for unit in reading.units if unit.tokens)
    return grams, statements, units


def _text_features(text: str) -> Groups:
    tokens = re.findall(r"\d+(?:\.\d+)?|\w+|[^\w\s]", text)
    tokens = ["0" if token[0].isdigit() else token for token in tokens]
    grams = Counter(f"t{n} {' '.join(tokens[i : i + n])}" for n in (1, 2, 3) for i in range(len(tokens) - n + 1))
    blanked = _NUMBER.sub("0", text)
    lines = Counter("l" + line for line in _squeezed(blanked.splitlines()))
    paragraphs = Counter("p" + part for part in _squeezed(re.split(r"\n\s*\n", blanked)))
    return grams, lines, paragraphs


def _squeezed(parts: list[str]) -> Iterator[str]:
    return (" ".join(words) for part in parts if (words := part.split()))


@lru_cache(maxsize=1)
def _murmur() -> Callable[..., int]:
    """Load the hash when the first program is embedded: a search with another embedder starts a second sooner."""
    from sklearn.utils import murmurhash3_32

    return murmurhash3_32  # type: ignore[no-any-return]


_buckets: dict[str, int] = {}
"""Hashes of short features; they depend on nothing but the feature, so that forgetting them is harmless."""


def _bucket(feature: str) -> int:
    found = _buckets.get(feature)
    if found is None:
        found = int(_murmur()(feature.encode("utf-8", "surrogatepass"), positive=True))
        if len(feature) <= 64:
            if len(_buckets) > 50_000:
                _buckets.clear()
            _buckets[feature] = found
    return found
