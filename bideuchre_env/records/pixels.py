"""Render the picture of the table as pixels with Pillow, which is imported on first use.

Each mark is drawn at four times its size and scaled down, so that edges are smooth. Drawn marks are
cached, because most marks of a frame are the same as in earlier frames.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from bideuchre_env.records.picture import (
    HEIGHT,
    LIGHT,
    PALE,
    SHAPES,
    WIDTH,
    Box,
    Card,
    Mark,
    Suit,
    TablePicture,
    Words,
)
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

FINE = 4  # supersampling factor
_CURVE = 12  # line segments per curve
_CACHED = 1024  # marks, a few megabytes


def table_pixels(
    row: Any, rules: Rules, *, viewer: int | None = None, open_hands: bool = False
) -> Array:
    """Return the table in a state row as a new RGB array, uint8 (488, 760, 3).

    For `viewer` and `open_hands` see `Look`. Raises `ImportError` without Pillow 10.1.
    """
    from PIL import Image

    frame = Image.new("RGB", (WIDTH, HEIGHT), LIGHT["paper"])
    for mark in TablePicture(row, rules, viewer, open_hands).marks():
        x, y = math.floor(mark.x), math.floor(mark.y)
        tile, left, top = _tile(replace(mark, x=mark.x - x, y=mark.y - y))
        frame.paste(tile, (x + left, y + top), tile)
    return np.array(frame)


@lru_cache(maxsize=_CACHED)
def _tile(mark: Mark) -> tuple[Any, int, int]:
    """Return a mark as an image with a transparent background, and its left and top in pixels."""
    from PIL import Image, ImageDraw

    left, top, right, bottom = _edges(mark)
    left, top = math.floor(left), math.floor(top)
    size = (math.ceil(right) - left, math.ceil(bottom) - top)
    # transparent pixels have the mark's own colour: black ones would darken the scaled edges
    background = LIGHT[_outer_colour(mark)] + "00"
    fine = Image.new("RGBA", (size[0] * FINE, size[1] * FINE), background)
    _draw(ImageDraw.Draw(fine), mark, -left, -top)
    tile = fine.reduce(FINE)
    if isinstance(mark, Card) and mark.pale:
        tile.putalpha(tile.getchannel("A").point(lambda alpha: round(alpha * PALE)))
    return tile, left, top


def _outer_colour(mark: Mark) -> str:
    if isinstance(mark, Card):
        return _outer_colour(mark.parts[0])
    return mark.edge if isinstance(mark, Box) else mark.colour


def _edges(mark: Mark) -> tuple[float, float, float, float]:
    """The rectangle that a mark fills: left, top, right, bottom."""
    if isinstance(mark, Card):
        left, top, right, bottom = _edges(mark.parts[0])
        return left + mark.x, top + mark.y, right + mark.x, bottom + mark.y
    if isinstance(mark, Box):
        line = mark.line / 2
        right, bottom = mark.x + mark.width + line, mark.y + mark.height + line
        return mark.x - line, mark.y - line, right, bottom
    if isinstance(mark, Suit):
        return mark.x, mark.y, mark.x + mark.size, mark.y + mark.size
    box = _font(mark.size).getbbox(mark.text, anchor=_anchor(mark), stroke_width=_stroke(mark))
    left, top, right, bottom = (edge / FINE for edge in box)
    return mark.x + left, mark.y + top, mark.x + right, mark.y + bottom


def _draw(draw: Any, mark: Mark, x: float, y: float) -> None:
    """Draw a mark, moved by x and y, at `FINE` times its size."""
    at = ((mark.x + x) * FINE, (mark.y + y) * FINE)
    if isinstance(mark, Card):
        for part in mark.parts:
            _draw(draw, part, mark.x + x, mark.y + y)
    elif isinstance(mark, Box):
        left, top, right, bottom = (FINE * edge for edge in _edges(mark))
        box = (left + FINE * x, top + FINE * y, right + FINE * x - 1, bottom + FINE * y - 1)
        line, radius = mark.line * FINE, (mark.radius + mark.line / 2) * FINE
        draw.rounded_rectangle(box, radius, LIGHT[mark.fill], LIGHT[mark.edge], round(line))
    elif isinstance(mark, Suit):
        corners = _outline(SHAPES[mark.suit]) * (mark.size * FINE / 20) + at
        draw.polygon(list(map(tuple, corners.tolist())), LIGHT[mark.colour])
    else:
        draw.text(
            at,
            mark.text,
            LIGHT[mark.colour],
            _font(mark.size),
            _anchor(mark),
            stroke_width=_stroke(mark),
        )


def _anchor(words: Words) -> str:
    return "ms" if words.centred else "ls"


def _stroke(words: Words) -> int:
    """Width of the outline that makes letters bolder, because Pillow's font has one weight."""
    return round(words.size * FINE * (words.weight - 400) / 12_000)


@lru_cache
def _font(size: int) -> Any:
    """Return Pillow's built-in font at `FINE` times the size; it is the same on all machines.

    Raises `ImportError` for a Pillow without it.
    """
    from PIL import ImageFont

    try:
        return ImageFont.load_default(size=size * FINE)
    except TypeError:  # Pillow before 10.1
        raise ImportError("this Pillow brings no font along") from None


@lru_cache
def _outline(path: str) -> Array:
    """Return the corners of an SVG path of M, L, C and Z as a polygon, float64 (n, 2)."""
    corners: list[Array] = []
    for command, numbers in re.findall(r"([MLC])([^MLCZ]*)", path):
        points = np.array(numbers.split(), float).reshape(-1, 2)
        if command == "C":
            a, b, c, d = corners[-1], *points
            for t in np.arange(1, _CURVE + 1) / _CURVE:
                s = 1 - t
                corners.append(s**3 * a + 3 * s * s * t * b + 3 * s * t * t * c + t**3 * d)
        else:
            corners.append(points[0])
    return np.array(corners)
