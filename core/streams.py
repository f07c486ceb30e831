"""Random generators, one for each use, derived from the run's seed and the ticket."""

import zlib

import numpy as np


def stream(seed: int, ticket: int, use: str) -> np.random.Generator:
    """Return the generator of one use at one ticket: equal arguments give equal draws, whatever else was drawn."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, ticket, zlib.crc32(use.encode())])))


def evaluation_seed(seed: int, input_hash: str | None) -> int:
    """Return the seed handed to a candidate: a function of the run's seed and of its input, not of the ticket.

    So the same program on the same input is the same evaluation, and on another input draws other numbers.
    """
    return (seed * 0x9E3779B1 + zlib.crc32((input_hash or "").encode())) % (1 << 31)
