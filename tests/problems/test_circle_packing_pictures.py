"""Pictures of packings that can be read."""

import math
import struct
import xml.etree.ElementTree as ElementTree
import zlib
from typing import Any

import numpy as np
import pytest
from circle_cases import BEST, PICTURE, SHAPES, Case, anchors
from numpy.typing import NDArray

SVG = "{http://www.w3.org/2000/svg}"


def pixels(png: bytes) -> NDArray[np.uint8]:
    """Read a PNG of 8-bit colours without filters, checking signature and checksums on the way."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, content = 8, {}
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack(">I", png[at + 8 + length : at + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        content[kind] = body
        at += 12 + length
    width, height, depth, colours = struct.unpack(">IIBB", content[b"IHDR"][:10])
    assert (depth, colours, list(content)) == (8, 2, [b"IHDR", b"IDAT", b"IEND"])
    raw = np.frombuffer(zlib.decompress(content[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not raw[:, 0].any()
    return raw[:, 1:].reshape(height, width, 3)


@pytest.mark.parametrize("anchor", anchors(), ids=lambda anchor: anchor["about"])
def test_an_svg_parses_and_says_number_shape_and_sum(anchor: Case) -> None:
    root = ElementTree.fromstring(PICTURE.picture(anchor["output"], ".svg", **anchor["options"]))
    assert root.tag == f"{SVG}svg"
    assert len(list(root.iter(f"{SVG}circle"))) >= anchor["options"]["n"]
    texts = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    assert f"{anchor['options']['n']} circle" in texts
    assert anchor["options"]["shape"] in texts
    assert f"sum of radii {math.floor(anchor['score'] * 1e9) / 1e9:.9f}" in texts


@pytest.mark.parametrize("shape", SHAPES)
def test_a_png_has_its_signature_and_the_size_of_the_svg(shape: str) -> None:
    anchor = next(anchor for anchor in anchors() if anchor["options"]["shape"] == shape)
    root = ElementTree.fromstring(PICTURE.picture(anchor["output"], ".svg", **anchor["options"]))
    image = pixels(PICTURE.picture(anchor["output"], ".png", **anchor["options"]))
    assert image.shape == (int(root.attrib["height"]), int(root.attrib["width"]), 3)


def test_a_png_shows_circles_where_they_lie_with_smooth_edges() -> None:
    image = pixels(PICTURE.picture([[0.25, 0.75, 0.2], [0.7, 0.3, 0.1]], ".png", n=2, shape="square"))
    # The frame begins 40 pixels in and is 800 wide; y points down.
    upper, lower, floor = (tuple(image[y, x].tolist()) for y, x in ((280, 240), (620, 600), (780, 100)))
    assert floor == (255, 255, 255)
    assert len({upper, lower, floor}) == 3
    along_the_edge = image[200, 60:260].reshape(-1, 3)
    assert len({tuple(pixel) for pixel in along_the_edge.tolist()}) > 3


def test_every_character_of_a_caption_has_a_glyph() -> None:
    drawn = set()
    for anchor in anchors():
        root = ElementTree.fromstring(PICTURE.picture(anchor["output"], ".svg", **anchor["options"]))
        drawn |= {character for text in root.iter(f"{SVG}text") for character in text.text or ""}
    assert drawn <= set(PICTURE.GLYPHS)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_an_invalid_packing_is_drawn_too(suffix: str) -> None:
    rows = [[1.4, 0.5, 0.3], [1.5, 0.5, 0.3], [0.5, 0.5, -0.1]]
    assert PICTURE.picture(rows, suffix, n=3, shape="square")


def test_another_suffix_is_refused_with_the_two_that_are_drawn() -> None:
    with pytest.raises(ValueError, match=r"\.svg or \.png, not in '\.jpg'"):
        PICTURE.picture(BEST, ".jpg", n=26, shape="square")


@pytest.mark.parametrize("output", [None, [], [[0.5, 0.5]], [["0", 0, 0]], [[math.nan, 0.5, 0.1]], {"rows": []}])
def test_what_is_no_packing_cannot_be_drawn(output: Any) -> None:
    with pytest.raises(ValueError, match=r"packing is a list|row 0"):
        PICTURE.picture(output, ".svg", n=1, shape="square")
