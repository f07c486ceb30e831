"""A program's tree, parsed once for all who read it."""

import ast
import warnings
from functools import lru_cache


@lru_cache(maxsize=4)
def parsed(text: str) -> ast.Module:
    """Return the tree of a Python text; it is shared, so nobody may change it.

    A candidate is looked at by several, one after the other: is it Python, is it new, is it near. Raises SyntaxError,
    ValueError, RecursionError or MemoryError as `ast.parse` does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return ast.parse(text)
