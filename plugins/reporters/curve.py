"""A curve in one line of text."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*%#"


def curve(values: Sequence[float], width: int, *, marks: str = BLOCKS) -> str:
    """Return the values drawn in at most `width` characters, the largest highest; "" when there are none."""
    if not values or width < 1:
        return ""
    if len(values) > width:
        # Each column shows the last value that falls into it: a curve of bests never seems to sink.
        values = [values[(column + 1) * len(values) // width - 1] for column in range(width)]
    low, high = min(values), max(values)
    if high <= low:
        return marks[0] * len(values)
    top = len(marks) - 1
    return "".join(marks[round((value - low) / (high - low) * top)] for value in values)
