"""The normal form of a program's text: what is left when comments, formatting and docstrings are dropped."""

import ast


def normal_form(source: str) -> str:
    """Return a text that is equal for programs that differ in comments, formatting and docstrings only."""
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "\n".join(line.rstrip() for line in source.strip().splitlines())
