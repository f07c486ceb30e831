"""Random generators, one for each use, derived from the run's seed and the ticket."""

import zlib

import numpy as np


def stream(seed: int, ticket: int, use: str) -> np.random.Generator:
    """Return the generator of one use at one ticket: equal arguments give equal draws, whatever else was drawn."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, ticket, zlib.crc32(use.encode())])))


def evaluation_seed(seed: int, program: str, input_hash: str | None) -> int:
    """Return the seed handed to a candidate: a function of the run's seed and of content, never of the ticket.

    So the same program on the same input is the same evaluation. All programs that start from nothing get the run's own
    seed, so that they are compared on common random numbers. Improvers draw other numbers on every input and from every
    program: with one stream for all, programs that start from the same output would all make the same moves.
    """
    if input_hash is None:
        return seed % (1 << 31)
    return (seed * 0x9E3779B1 + zlib.crc32(f"{program} {input_hash}".encode())) % (1 << 31)
