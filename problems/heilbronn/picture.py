"""Draws points as SVG: the region, the triangles that are smallest, each in its colour, and their area below."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

Colour = tuple[int, int, int]
Place = tuple[float, float]
Triple = tuple[int, int, int]

EXTENT = 800.0
MARGIN = 40.0
CAPTION = 84.0
ALIKE = 10**6
"""Triangles are drawn when they exceed the smallest by no more than its share of one in this many."""
MOST = 60
"""No more triangles than this are drawn, lest many equal ones hide everything."""
CORNERS: dict[str, list[Place]] = {
    "triangle": [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)],
    "square": [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)],
}
PAPER: Colour = (250, 248, 243)
FLOOR: Colour = (255, 255, 255)
INK: Colour = (43, 45, 66)
RAMP: tuple[Colour, ...] = ((53, 56, 112), (44, 110, 145), (75, 170, 152), (232, 196, 104), (231, 128, 84))


def picture(output: object, suffix: str, **options: object) -> bytes:
    """Return an output, rows of x, y, as a picture in the format of `suffix`, which is ".svg".

    `options` are the problem's: `region` says which frame is drawn. Raises ValueError for another suffix or region, and
    for an output that is no list of at least three rows of two finite numbers.
    """
    if suffix != ".svg":
        raise ValueError(f"pictures of points end in .svg, not in {suffix!r}")
    region = str(options.get("region", "triangle"))
    if region not in (*CORNERS, "convex"):
        raise ValueError(f"the region is triangle, convex or square, not {region!r}")
    return _drawn(_rows(output), region)


def _rows(output: object) -> list[Place]:
    if not isinstance(output, list) or len(output) < 3:
        raise ValueError("points are a list of rows [x, y] with at least three rows")
    rows = []
    for number, row in enumerate(output):
        if not isinstance(row, list) or len(row) != 2:
            raise ValueError(f"row {number} is not [x, y]")
        if not all(type(v) in (int, float) and -8 <= v <= 8 for v in row):
            raise ValueError(f"row {number} holds something that is not a finite number of ordinary size")
        rows.append((float(row[0]), float(row[1])))
    return rows


def _drawn(rows: list[Place], region: str) -> bytes:
    frame = CORNERS.get(region) or _hull(rows)
    left, right = min(x for x, _ in rows + frame), max(x for x, _ in rows + frame)
    low, top = min(y for _, y in rows + frame), max(y for _, y in rows + frame)
    scale = EXTENT / max(right - left, top - low, 1e-9)
    width, height = math.ceil(EXTENT + 2 * MARGIN), math.ceil((top - low) * scale + 2 * MARGIN + CAPTION)
    shift = MARGIN + (EXTENT - (right - left) * scale) / 2

    def place(point: Place) -> Place:
        return shift + (point[0] - left) * scale, MARGIN + (top - point[1]) * scale

    share, alike = _smallest(rows, frame)
    fills = [_ramp(k / max(len(alike) - 1, 1)) for k in range(len(alike))]
    body = [
        f'<rect x="0" y="0" width="{width}" height="{height}" fill="{_hex(PAPER)}"/>',
        _polygon([place(corner) for corner in frame], f'fill="{_hex(FLOOR)}" stroke="{_hex(INK)}" stroke-width="2"'),
        *_triangles([[place(rows[one]) for one in triple] for triple in alike], fills),
        *(_dot(place(row)) for row in rows),
        *_caption(len(rows), region, share, len(alike), height - CAPTION - 4),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    return "\n".join([head, *body, "</svg>\n"]).encode()


def _turn(a: tuple[Fraction, ...], b: tuple[Fraction, ...], c: tuple[Fraction, ...]) -> Fraction:
    """Return twice the area of a triangle, positive when it turns to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _exact(points: list[Place]) -> list[tuple[Fraction, ...]]:
    return [(Fraction(x), Fraction(y)) for x, y in points]


def _smallest(rows: list[Place], frame: list[Place]) -> tuple[Fraction, list[Triple]]:
    """Return the smallest area as a share of the frame's, and the points of the triangles that are about as small."""
    exact, corners = _exact(rows), _exact(frame)
    areas: dict[Triple, Fraction] = {}
    for i, j, k in combinations(range(len(rows)), 3):
        areas[i, j, k] = abs(_turn(exact[i], exact[j], exact[k]))
    least = min(areas.values())
    alike = [triple for triple, area in areas.items() if (area - least) * ALIKE <= least]
    # As a fan from the first corner; points that are all on one line have a hull without an area.
    whole = sum((_turn(corners[0], a, b) for a, b in pairwise(corners)), Fraction(0))
    return (least / whole if whole else Fraction(0)), alike


def _hull(rows: list[Place]) -> list[Place]:
    """Return the corners of the convex hull, anticlockwise (monotone chain, Andrew 1979)."""
    ordered = sorted(set(rows))
    if len(ordered) < 3:
        return ordered
    corners: list[Place] = []
    for side in (ordered, ordered[::-1]):
        chain: list[Place] = []
        for point in side:
            while len(chain) > 1 and _turn(*_exact([*chain[-2:], point])) <= 0:
                chain.pop()
            chain.append(point)
        corners += chain[:-1]
    return corners


def _triangles(triangles: list[list[Place]], fills: list[Colour]) -> list[str]:
    """Return the triangles see-through, so that those that overlap can be told apart."""
    drawn = list(zip(triangles, fills, strict=True))[:MOST]
    return [
        _polygon(
            corners,
            f'fill="{_hex(fill)}" fill-opacity="0.16" stroke="{_hex(fill)}" stroke-width="1.2" stroke-opacity="0.8"',
        )
        for corners, fill in drawn
    ]


def _polygon(corners: list[Place], looks: str) -> str:
    places = " ".join(f"{x:.3f},{y:.3f}" for x, y in corners)
    return f'<polygon points="{places}" stroke-linejoin="round" {looks}/>'


def _dot(place: Place) -> str:
    return f'<circle cx="{place[0]:.3f}" cy="{place[1]:.3f}" r="5" fill="{_hex(INK)}"/>'


def _caption(n: int, region: str, share: Fraction, alike: int, y: float) -> list[str]:
    # Rounded down, like the score: a picture promises no more than there is.
    whole, part = divmod(math.floor(share * 10**12), 10**12)
    where = "their convex hull" if region == "convex" else f"a {region}"
    noun = "triangle is" if alike == 1 else "triangles are"
    style = f'font-family="Helvetica, Arial, sans-serif" font-size="20.0" fill="{_hex(INK)}"'
    lines = (f"{n} points in {where}: {alike} {noun} smallest", f"smallest area {whole}.{part:012d} of the region")
    return [f'<text x="{MARGIN:.0f}" y="{y + 28 + 32 * k:.0f}" {style}>{line}</text>' for k, line in enumerate(lines)]


def _ramp(t: float) -> Colour:
    place = min(max(t, 0.0), 1.0) * (len(RAMP) - 1)
    k = min(int(place), len(RAMP) - 2)
    return _mixed(RAMP[k], RAMP[k + 1], place - k)


def _mixed(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
