"""Charts as inline SVG: lines with bands, and intervals. No script, no font, nothing to load."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#3366cc", "#dc3912", "#109618", "#ff9900", "#990099", "#0099c6", "#dd4477", "#66aa00", "#b82e2e",
           "#316395", "#994499", "#22aa99", "#aaaa11", "#6633cc", "#e67300", "#8b0707")  # fmt: skip

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 12, 40


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart, with a band where there is one; the same number of values in each."""

    name: str
    colour: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A point with its interval. `bold` marks what is shown and not merely seen."""

    name: str
    colour: str
    estimate: float
    low: float
    high: float
    bold: bool = False


class _Axis:
    """Puts values on pixels."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        if not high > low:
            low, high = low - 0.5, high + 0.5
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return four to eight round numbers on the axis."""
        rough = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def line_chart(xs: Sequence[float], lines: Sequence[Line], *, across: str, up: str) -> str:
    """Return a chart of lines over `xs` with their bands."""
    drawn = [v for line in lines for row in (line.values, line.low, line.high) if row is not None for v in row]
    if not drawn or not xs:
        return ""
    x = _Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    y = _Axis(min(drawn), max(drawn), HEIGHT - BOTTOM, TOP)
    parts = [*_frame(x, y, across, up)]
    for line in lines:
        if line.low is not None and line.high is not None:
            there = [f"{x(a):.1f},{y(b):.1f}" for a, b in zip(xs, line.high, strict=True)]
            back = [f"{x(a):.1f},{y(b):.1f}" for a, b in zip(xs, line.low, strict=True)]
            parts.append(f'<polygon points="{" ".join(there + back[::-1])}" fill="{line.colour}" fill-opacity="0.13"/>')
    for line in lines:
        points = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(xs, line.values, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="2">'
            f"<title>{escape(line.name)}</title></polyline>"
        )
    return _svg(HEIGHT, parts, f"{up} over {across}")


def interval_chart(bars: Sequence[Bar], *, across: str, zero: float | None = None) -> str:
    """Return a chart of points with intervals, one row each; `zero` draws the line that an interval may cover."""
    if not bars:
        return ""
    left, height = 220, TOP + 22 * len(bars) + BOTTOM
    ends = [v for bar in bars for v in (bar.low, bar.high)] + ([zero] if zero is not None else [])
    x = _Axis(min(ends), max(ends), left, WIDTH - RIGHT)
    parts = [_tick(x, value, height) for value in x.ticks()]
    if zero is not None:
        parts.append(f'<line class="zero" x1="{x(zero):.1f}" x2="{x(zero):.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>')
    for row, bar in enumerate(bars):
        at, weight = TOP + 22 * row + 13, 5 if bar.bold else 2
        words = f"{bar.name}: {bar.estimate:.4g} [{bar.low:.4g}, {bar.high:.4g}]"
        name = f'<text x="{left - 8}" y="{at + 4}" text-anchor="end">{escape(_short(bar.name))}</text>'
        span = f'x1="{x(bar.low):.1f}" x2="{x(bar.high):.1f}" y1="{at}" y2="{at}" stroke-width="{weight}"'
        parts.append(
            f'<g><title>{escape(words)}</title>{name}<line {span} stroke="{bar.colour}"/>'
            f'<circle cx="{x(bar.estimate):.1f}" cy="{at}" r="4" fill="{bar.colour}"/></g>'
        )
    parts.append(f'<text x="{(left + WIDTH) / 2}" y="{height - 6}" text-anchor="middle">{escape(across)}</text>')
    return _svg(height, parts, across)


def legend(colours: Mapping[str, str]) -> str:
    """Return the names of arms beside their colours."""
    items = "".join(
        f'<span><i style="background:{colour}"></i>{escape(name)}</span>' for name, colour in colours.items()
    )
    return f'<p class="legend">{items}</p>'


def _frame(x: _Axis, y: _Axis, across: str, up: str) -> list[str]:
    parts = [_tick(x, value, HEIGHT) for value in x.ticks()]
    for value in y.ticks():
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
            f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.6g}</text>'
        )
    middle = (HEIGHT - BOTTOM + TOP) / 2
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(across)}</text>')
    parts.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{escape(up)}</text>')
    return parts


def _tick(x: _Axis, value: float, height: float) -> str:
    return (
        f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>'
        f'<text x="{x(value):.1f}" y="{height - BOTTOM + 16}" text-anchor="middle">{value:.6g}</text>'
    )


def _svg(height: float, parts: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def _short(name: str) -> str:
    return name if len(name) <= 34 else f"{name[:33]}…"
