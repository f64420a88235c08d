"""The picture of the table as an SVG document, for pages that work without a script."""

from __future__ import annotations

from html import escape
from typing import Any

from bideuchre_env.records.picture import (
    DARK,
    HEIGHT,
    LIGHT,
    PALE,
    SHAPES,
    WIDTH,
    Box,
    Mark,
    Suit,
    TablePicture,
    Words,
)
from bideuchre_env.rules.rules import Rules


def table_svg(row: Any, rules: Rules, *, viewer: int, dark: bool = False) -> str:
    """Return the table in a state row as seat `viewer` sees it: an SVG document, 760 x 488 pixels.

    The viewer sits at the bottom, its partner at the top; other cards are face down. If the viewer
    is to give or play a card, its legal cards are highlighted.
    """
    picture = TablePicture(row, rules, viewer)
    theme = DARK if dark else LIGHT
    symbols = "".join(
        f'<symbol id="{suit}" viewBox="0 0 20 20"><path d="{path}"/></symbol>'
        for suit, path in SHAPES.items()
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" '
        "font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\">",
        f"<title>{escape(picture.title())}</title><defs>{symbols}</defs>",
        *(_painted(mark, theme) for mark in picture.marks()),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _painted(mark: Mark, theme: dict[str, str]) -> str:
    """Return a mark of the picture as an SVG element; `theme` has the colours by name."""
    at = f'x="{mark.x:g}" y="{mark.y:g}"'
    if isinstance(mark, Box):
        return (
            f'<rect {at} width="{mark.width:g}" height="{mark.height:g}" rx="{mark.radius:g}" '
            f'fill="{theme[mark.fill]}" stroke="{theme[mark.edge]}" stroke-width="{mark.line:g}"/>'
        )
    if isinstance(mark, Words):
        anchor = ' text-anchor="middle"' if mark.centred else ""
        return (
            f'<text {at} font-size="{mark.size}" font-weight="{mark.weight}"{anchor} '
            f'fill="{theme[mark.colour]}">{escape(mark.text)}</text>'
        )
    if isinstance(mark, Suit):
        return (
            f'<use href="#{mark.suit}" {at} width="{mark.size:g}" height="{mark.size:g}" '
            f'fill="{theme[mark.colour]}"/>'
        )
    opacity = f' opacity="{PALE}"' if mark.pale else ""
    parts = "".join(_painted(part, theme) for part in mark.parts)
    return f'<g transform="translate({mark.x:g} {mark.y:g})"{opacity}>{parts}</g>'
