"""What a picture is made of: marks, the shapes of suits, and the colours of themes.

`svg.py` paints them as SVG, `pixels.py` as an array of pixels. Suits are shapes, so that a picture
looks the same whatever fonts a machine has.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, HEIGHT = 760, 488
PALE = 0.45  # opacity of cards that may not be played, and of the last trick

# Each suit in a box of 20 by 20, as an SVG path of lines and cubic curves.
SHAPES = {
    "H": "M10 18C3 12 1 9 1 6C0.9 3.7 2.5 1.6 4.8 1.2C7.1 0.8 9.3 2.2 10 4.4"
    "C10.7 2.2 12.9 0.8 15.2 1.2C17.5 1.6 19.1 3.7 19 6C19 9 17 12 10 18Z",
    "D": "M10 1L17 10L10 19L3 10Z",
    "S": "M10 1C13 5 18 8 18 12C17.9 13.6 16.8 15 15.3 15.5C13.8 16.1 12.1 15.6 11 14.4L13 19L7 19"
    "L9 14.4C7.9 15.6 6.2 16.1 4.7 15.5C3.2 15 2.1 13.6 2 12C2 8 7 5 10 1Z",
    "C": "M10 1C11.7 1 13.2 1.9 13.9 3.5C14.6 5 14.3 6.8 13.2 8C15.3 7.2 17.6 8.2 18.5 10.3"
    "C19.4 12.3 18.5 14.7 16.5 15.7C14.5 16.7 12.1 15.9 11 14L13 19L7 19L9 14"
    "C7.9 15.9 5.5 16.7 3.5 15.7C1.5 14.7 0.6 12.3 1.5 10.3C2.4 8.2 4.7 7.2 6.8 8"
    "C5.7 6.8 5.4 5 6.1 3.5C6.8 1.9 8.3 1 10 1Z",
}

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "dim": "#59636e",
    "felt": "#e6f0ea",
    "edge": "#b7cfc0",
    "card": "#ffffff",
    "line": "#8c959f",
    "back": "#7c93a8",
    "mark": "#1a7f37",
    "red": "#cf222e",
    "black": "#1f2328",
}
DARK = LIGHT | {
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "dim": "#9198a1",
    "felt": "#15251c",
    "edge": "#2f4a3a",
    "card": "#f0f3f6",
    "line": "#3d444d",
    "back": "#4a5f73",
    "mark": "#3fb950",
}


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners; colours are names of a theme's."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    edge: str
    line: float = 1


@dataclass(frozen=True)
class Words:
    """A line of text, centred at x or beginning there; y is where its letters stand."""

    x: float
    y: float
    text: str
    size: int
    colour: str
    weight: int = 400
    centred: bool = True


@dataclass(frozen=True)
class Suit:
    """The sign of a suit in a square."""

    x: float
    y: float
    suit: str
    size: float
    colour: str


@dataclass(frozen=True)
class Card:
    """A card with its parts, whose places are counted from its corner; pale ones let through."""

    x: float
    y: float
    parts: tuple[Box | Words | Suit, ...]
    pale: bool = False


Mark = Box | Words | Suit | Card
