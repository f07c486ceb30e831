"""Draws a packing as SVG or PNG: circles coloured by radius, lines where two touch, and the sum of the radii below.

Both formats draw one list of marks, in pixels, y downwards. The PNG is rasterised here: the coverage of a pixel follows
from its distance to the mark's outline, which gives smooth edges without drawing larger first.
"""

import math
import struct
import zlib
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]
Image = NDArray[np.float64]

EXTENT = 800.0
MARGIN = 40.0
CAPTION = 84.0
TOUCH = 1e-7
PAPER: Colour = (250, 248, 243)
FLOOR: Colour = (255, 255, 255)
INK: Colour = (43, 45, 66)
FAINT: Colour = (110, 112, 130)
WHITE: Colour = (255, 255, 255)
RAMP: tuple[Colour, ...] = ((53, 56, 112), (44, 110, 145), (75, 170, 152), (232, 196, 104), (231, 128, 84))


class Disc(NamedTuple):
    """A filled circle with an outline on its inner side."""

    x: float
    y: float
    r: float
    fill: Colour
    stroke: Colour
    width: float


class Box(NamedTuple):
    """A filled rectangle with an outline centred on its edge."""

    x: float
    y: float
    w: float
    h: float
    fill: Colour
    stroke: Colour
    width: float


class Line(NamedTuple):
    """A straight stroke with round ends."""

    x: float
    y: float
    u: float
    v: float
    colour: Colour
    width: float
    opacity: float


class Text(NamedTuple):
    """A line of text on its baseline; `anchor` is start, middle or end."""

    x: float
    y: float
    size: float
    text: str
    anchor: str
    colour: Colour


Mark = Disc | Box | Line | Text


def picture(output: object, suffix: str, **options: object) -> bytes:
    """Return an output, rows of x, y, r, as a picture in the format of `suffix`, ".svg" or ".png".

    `options` are the problem's: `shape` says which frame is drawn. Raises ValueError for another suffix, and for an
    output that is no list of rows of three finite numbers.
    """
    if suffix not in (".svg", ".png"):
        raise ValueError(f"pictures of packings end in .svg or .png, not in {suffix!r}")
    width, height, marks = _layout(_rows(output), str(options.get("shape", "square")))
    return _svg(width, height, marks) if suffix == ".svg" else _png(width, height, marks)


def _rows(output: object) -> list[tuple[float, float, float]]:
    if not isinstance(output, list) or not output:
        raise ValueError("a packing is a list of rows [x, y, r] with at least one row")
    rows = []
    for number, row in enumerate(output):
        if not isinstance(row, list) or len(row) != 3:
            raise ValueError(f"row {number} is not [x, y, r]")
        if not all(type(v) in (int, float) and -8 <= v <= 8 for v in row):
            raise ValueError(f"row {number} holds something that is not a finite number of ordinary size")
        rows.append((float(row[0]), float(row[1]), float(row[2])))
    return rows


def _layout(rows: list[tuple[float, float, float]], shape: str) -> tuple[int, int, list[Mark]]:
    """Return width and height of the picture and its marks, back to front."""
    box = left, low, right, top = _bounds(rows)
    frame = box if shape == "rectangle" else (0.0, 0.0, 1.0, 1.0)
    left, low, right, top = min(left, frame[0]), min(low, frame[1]), max(right, frame[2]), max(top, frame[3])
    scale = EXTENT / max(right - left, top - low, 1e-9)
    width, height = math.ceil(EXTENT + 2 * MARGIN), math.ceil((top - low) * scale + 2 * MARGIN + CAPTION)
    shift = MARGIN + (EXTENT - (right - left) * scale) / 2

    def place(x: float, y: float) -> tuple[float, float]:
        return shift + (x - left) * scale, MARGIN + (top - y) * scale

    corner = place(frame[0], frame[3])
    size = (frame[2] - frame[0]) * scale, (frame[3] - frame[1]) * scale
    marks: list[Mark] = [Box(0, 0, width, height, PAPER, PAPER, 0.0), Box(*corner, *size, FLOOR, INK, 2.0)]
    smallest, largest = min(r for _, _, r in rows), max(r for _, _, r in rows)
    for x, y, r in rows:
        fill = _ramp((r - smallest) / (largest - smallest) if largest > smallest else 1.0)
        marks.append(Disc(*place(x, y), max(r * scale, 2.0), fill, _mixed(fill, INK, 0.45), 1.5))
    for i, (x, y, r) in enumerate(rows):
        for u, v, s in rows[:i]:
            if min(r, s) > 0 and math.hypot(x - u, y - v) - r - s < TOUCH:
                marks.append(Line(*place(x, y), *place(u, v), WHITE, 1.4, 0.6))
    marks += [Disc(*place(x, y), 2.6, WHITE, WHITE, 0.0) for x, y, r in rows if r * scale > 8]
    marks += _caption(rows, f"a rectangle {_size(box)}" if shape == "rectangle" else f"a {shape}", height - CAPTION - 4)
    return width, height, marks


def _bounds(rows: list[tuple[float, float, float]]) -> tuple[float, float, float, float]:
    return (
        min(x - abs(r) for x, _, r in rows),
        min(y - abs(r) for _, y, r in rows),
        max(x + abs(r) for x, _, r in rows),
        max(y + abs(r) for _, y, r in rows),
    )


def _size(box: tuple[float, float, float, float]) -> str:
    return f"{box[2] - box[0]:.4f} × {box[3] - box[1]:.4f}"


def _caption(rows: list[tuple[float, float, float]], where: str, y: float) -> list[Mark]:
    """Return what stands below the frame: number, shape and sum on the left, a key to the colours on the right."""
    # Rounded down, like the score: a picture promises no more than there is.
    total = math.floor(sum(Fraction(r) for _, _, r in rows) * 10**12)
    whole, part = divmod(abs(total), 10**12)
    sign = "-" if total < 0 else ""
    noun = "circle" if len(rows) == 1 else "circles"
    marks: list[Mark] = [
        Text(MARGIN, y + 28, 20.0, f"{len(rows)} {noun} in {where}", "start", INK),
        Text(MARGIN, y + 60, 20.0, f"sum of radii {sign}{whole}.{part:012d}", "start", INK),
    ]
    wide, right = 180, MARGIN + EXTENT
    marks += [
        Line(right - wide + k, y + 17, right - wide + k, y + 27, _ramp(k / wide), 1.6, 1.0) for k in range(wide + 1)
    ]
    smallest, largest = min(r for _, _, r in rows), max(r for _, _, r in rows)
    marks.append(Text(right - wide, y + 56, 15.0, f"{smallest:.4f}", "start", FAINT))
    marks.append(Text(right - wide / 2, y + 56, 15.0, "radius", "middle", FAINT))
    marks.append(Text(right, y + 56, 15.0, f"{largest:.4f}", "end", FAINT))
    return marks


def _mixed(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _ramp(t: float) -> Colour:
    place = min(max(t, 0.0), 1.0) * (len(RAMP) - 1)
    k = min(int(place), len(RAMP) - 2)
    return _mixed(RAMP[k], RAMP[k + 1], place - k)


def _svg(width: int, height: int, marks: list[Mark]) -> bytes:
    body = "\n".join(_element(mark) for mark in marks)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    return f"{head}\n{body}\n</svg>\n".encode()


def _element(mark: Mark) -> str:
    if isinstance(mark, Disc):
        shape = f'<circle cx="{mark.x:.3f}" cy="{mark.y:.3f}" r="{max(mark.r - mark.width / 2, 0):.3f}"'
        return f'{shape} fill="{_hex(mark.fill)}" stroke="{_hex(mark.stroke)}" stroke-width="{mark.width}"/>'
    if isinstance(mark, Box):
        shape = f'<rect x="{mark.x:.3f}" y="{mark.y:.3f}" width="{mark.w:.3f}" height="{mark.h:.3f}"'
        return f'{shape} fill="{_hex(mark.fill)}" stroke="{_hex(mark.stroke)}" stroke-width="{mark.width}"/>'
    if isinstance(mark, Line):
        shape = f'<line x1="{mark.x:.3f}" y1="{mark.y:.3f}" x2="{mark.u:.3f}" y2="{mark.v:.3f}" stroke-linecap="round"'
        return f'{shape} stroke="{_hex(mark.colour)}" stroke-width="{mark.width}" stroke-opacity="{mark.opacity}"/>'
    safe = mark.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    place = f'x="{mark.x:.3f}" y="{mark.y:.3f}" font-size="{mark.size}" text-anchor="{mark.anchor}"'
    return f'<text {place} font-family="Helvetica, Arial, sans-serif" fill="{_hex(mark.colour)}">{safe}</text>'


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _png(width: int, height: int, marks: list[Mark]) -> bytes:
    image = np.zeros((height, width, 3))
    for mark in marks:
        _paint(image, mark)
    pixels = np.clip(np.rint(image), 0, 255).astype(np.uint8)
    # Every row begins with the number of its filter; 0 is none.
    raw = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, 3 * width)], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(raw, 9)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _paint(image: Image, mark: Mark) -> None:
    if isinstance(mark, Disc):
        _disc(image, mark)
    elif isinstance(mark, Box):
        _box(image, mark)
    elif isinstance(mark, Line):
        _line(image, mark)
    else:
        _text(image, mark)


def _window(image: Image, x: float, y: float, u: float, v: float) -> tuple[Image, Image, Image]:
    """Return the part of an image between two corners, and the x and y of its pixels' centres."""
    height, width, _ = image.shape
    left, right = max(0, math.floor(x) - 1), min(width, math.ceil(u) + 1)
    top, bottom = max(0, math.floor(y) - 1), min(height, math.ceil(v) + 1)
    return image[top:bottom, left:right], np.arange(left, right) + 0.5, (np.arange(top, bottom) + 0.5)[:, None]


def _blend(part: Image, outside: Image, colour: Colour, opacity: float = 1.0) -> None:
    """Lay a colour over the pixels, given their distance to the outline, negative inside."""
    cover = np.clip(0.5 - outside, 0.0, 1.0)[..., None] * opacity
    part += (np.array(colour, float) - part) * cover


def _disc(image: Image, mark: Disc) -> None:
    part, x, y = _window(image, mark.x - mark.r, mark.y - mark.r, mark.x + mark.r, mark.y + mark.r)
    away = np.hypot(x - mark.x, y - mark.y)
    _blend(part, away - mark.r, mark.stroke)
    _blend(part, away - mark.r + mark.width, mark.fill)


def _box(image: Image, mark: Box) -> None:
    half = mark.width / 2
    part, x, y = _window(image, mark.x - half, mark.y - half, mark.x + mark.w + half, mark.y + mark.h + half)
    across = np.abs(x - mark.x - mark.w / 2) - mark.w / 2
    outside = np.maximum(across, np.abs(y - mark.y - mark.h / 2) - mark.h / 2)
    _blend(part, outside - half, mark.stroke)
    _blend(part, outside + half, mark.fill)


def _line(image: Image, mark: Line) -> None:
    half = mark.width / 2
    left, right, top, bottom = *sorted((mark.x, mark.u)), *sorted((mark.y, mark.v))
    part, x, y = _window(image, left - half, top - half, right + half, bottom + half)
    _blend(part, _away(x, y, mark.x, mark.y, mark.u, mark.v) - half, mark.colour, mark.opacity)


def _away(x: Image, y: Image, a: float, b: float, u: float, v: float) -> Image:
    """Return the distance of points to the segment from (a, b) to (u, v)."""
    dx, dy = u - a, v - b
    along = np.clip(((x - a) * dx + (y - b) * dy) / max(dx * dx + dy * dy, 1e-12), 0.0, 1.0)
    return np.asarray(np.hypot(x - a - along * dx, y - b - along * dy))


def _text(image: Image, mark: Text) -> None:
    """Draw text with the pen of `GLYPHS`; a character that has no glyph leaves a gap."""
    unit = mark.size / 10
    glyphs = [GLYPHS.get(character, (4.0, ())) for character in mark.text]
    length = sum(advance for advance, _ in glyphs) * unit
    x = mark.x - length * {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor]
    half = mark.size * 0.05
    for advance, strokes in glyphs:
        points = [[(x + px * unit, mark.y - py * unit) for px, py in stroke] for stroke in strokes]
        if points:
            _pen(image, points, half, mark.colour)
        x += advance * unit


def _pen(image: Image, strokes: list[list[tuple[float, float]]], half: float, colour: Colour) -> None:
    xs, ys = zip(*(point for stroke in strokes for point in stroke), strict=True)
    part, x, y = _window(image, min(xs) - half, min(ys) - half, max(xs) + half, max(ys) + half)
    segments = [pair for stroke in strokes for pair in zip(stroke, stroke[1:] or stroke, strict=False)]
    # One coverage for the whole glyph: strokes that meet must not darken the joint twice.
    _blend(part, np.min([_away(x, y, *a, *b) for a, b in segments], axis=0) - half, colour)


Stroke = tuple[tuple[float, float], ...]


def _arc(x: float, y: float, rx: float, ry: float, start: float, end: float) -> Stroke:
    """Return an elliptic arc between two angles in degrees, anticlockwise when `end` is larger, as a stroke."""
    angles = np.radians(np.linspace(start, end, 13))
    return tuple((x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles)


BOWL = _arc(2.6, 2.5, 2.0, 2.5, 0, 360)
STEM: Stroke = ((0.8, 0.0), (0.8, 5.0))
# Strokes in tenths of the font's size above the baseline: figures are 7 high, small letters 5. Only the characters that
# captions need.
GLYPHS: dict[str, tuple[float, tuple[Stroke, ...]]] = {
    " ": (2.8, ()),
    ".": (2.6, (((1.2, 0.1), (1.25, 0.1)),)),
    "-": (4.6, (((0.8, 2.8), (3.6, 2.8)),)),
    "=": (6.0, (((0.8, 2.1), (5.0, 2.1)), ((0.8, 4.1), (5.0, 4.1)))),
    "×": (6.0, (((1.1, 1.1), (4.7, 4.7)), ((1.1, 4.7), (4.7, 1.1)))),
    "0": (5.6, (_arc(2.7, 3.5, 2.0, 3.5, 0, 360),)),
    "1": (5.6, (((1.2, 5.6), (3.0, 7.0), (3.0, 0.0)),)),
    "2": (5.6, ((*_arc(2.7, 5.0, 1.9, 2.0, 165, -35), (0.8, 0.0), (4.7, 0.0)),)),
    "3": (5.6, ((*_arc(2.6, 5.3, 1.7, 1.7, 160, -90), *_arc(2.6, 1.8, 2.0, 1.8, 90, -160)),)),
    "4": (5.6, (((3.7, 0.0), (3.7, 7.0), (0.6, 2.0), (4.9, 2.0)),)),
    "5": (5.6, (((4.4, 7.0), (1.3, 7.0), (1.0, 3.9), *_arc(2.6, 2.25, 2.1, 2.25, 130, -150)),)),
    "6": (5.6, (_arc(2.7, 2.2, 2.0, 2.2, 0, 360), (*_arc(4.4, 2.2, 3.7, 4.8, 180, 98),))),
    "7": (5.6, (((0.8, 7.0), (4.7, 7.0), (2.0, 0.0)),)),
    "8": (5.6, (_arc(2.7, 5.3, 1.65, 1.7, 0, 360), _arc(2.7, 1.8, 2.0, 1.8, 0, 360))),
    "9": (5.6, (_arc(2.7, 4.8, 2.0, 2.2, 0, 360), (*_arc(1.0, 4.8, 3.7, 4.8, 0, -82),))),
    "a": (5.6, (BOWL, ((4.6, 5.0), (4.6, 0.0)))),
    "c": (5.0, (_arc(2.6, 2.5, 2.0, 2.5, 45, 315),)),
    "d": (5.6, (BOWL, ((4.6, 7.4), (4.6, 0.0)))),
    "e": (5.4, (((0.6, 2.6), (4.6, 2.6), *_arc(2.6, 2.5, 2.0, 2.5, 0, 310)),)),
    "f": (3.4, ((*_arc(2.6, 6.0, 1.2, 1.4, 75, 180), (1.4, 0.0)), ((0.4, 5.0), (2.9, 5.0)))),
    "g": (5.6, (BOWL, ((4.6, 5.0), *_arc(2.6, -0.2, 2.0, 1.8, 0, -150)))),
    "i": (2.4, (((1.1, 0.0), (1.1, 5.0)), ((1.1, 6.8), (1.15, 6.8)))),
    "l": (2.4, (((1.1, 0.0), (1.1, 7.4)),)),
    "m": (
        8.4,
        (STEM, (*_arc(2.4, 3.3, 1.6, 1.7, 180, 0), (4.0, 0.0)), (*_arc(5.6, 3.3, 1.6, 1.7, 180, 0), (7.2, 0.0))),
    ),
    "n": (5.6, (STEM, (*_arc(2.6, 3.1, 1.8, 1.9, 180, 0), (4.4, 0.0)))),
    "o": (5.4, (BOWL,)),
    "q": (5.6, (BOWL, ((4.6, 5.0), (4.6, -2.2)))),
    "r": (3.6, (STEM, _arc(2.6, 3.1, 1.8, 1.9, 180, 75))),
    "s": (4.8, ((*_arc(2.3, 3.75, 1.5, 1.25, 25, 270), *_arc(2.3, 1.25, 1.7, 1.25, 90, -155)),)),
    "t": (3.4, (((1.4, 6.6), *_arc(2.6, 1.3, 1.2, 1.3, 180, 285)), ((0.4, 5.0), (2.9, 5.0)))),
    "u": (5.6, (((0.8, 5.0), *_arc(2.6, 1.9, 1.8, 1.9, 180, 360)), ((4.4, 5.0), (4.4, 0.0)))),
}
