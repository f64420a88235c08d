"""The look of the pictures in READMEs: each is drawn for light pages and for dark ones, as SVG.

Text stays text, so that files are small; the same figures give the same file, byte by byte.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bideuchre_env._files import write_file

_NO_FACTS = ("Date", "Creator", "Format", "Type")  # of the file, which would only make it longer
WIDTH = 9.2  # inches: at 96 dots per inch as wide as a page of GitHub


@dataclass(frozen=True)
class Look:
    """The colours of a picture: its background, text, faint lines, and marks by meaning."""

    suffix: str
    paper: str
    ink: str
    soft: str
    faint: str
    marks: tuple[str, ...]
    warning: str


LIGHT = Look(
    *("-light", "#ffffff", "#1f2328", "#59636e", "#d8dee4"),
    ("#0969da", "#bc4c00", "#1a7f37", "#8250df"),
    "#cf222e",
)
DARK = Look(
    *("-dark", "#0d1117", "#f0f6fc", "#9198a1", "#30363d"),
    ("#4493f8", "#f0883e", "#3fb950", "#ab7df8"),
    "#ff7b72",
)


def files(path: Path) -> tuple[Path, Path]:
    """The two files of a picture: `NAME-light.svg` and `NAME-dark.svg`."""
    light, dark = (path.with_name(f"{path.name}{look.suffix}.svg") for look in (LIGHT, DARK))
    return light, dark


def save(path: Path, draw: Callable[[Look], Any]) -> None:
    """Write both files of a picture; `draw` gives matplotlib's figure of it in a look.

    Raises `ImportError` without matplotlib, `OutputError` for a file that cannot be written.
    """
    import matplotlib

    for look, file in zip((LIGHT, DARK), files(path), strict=True):
        settings: Any = {
            "svg.fonttype": "none",
            "svg.hashsalt": path.name,
            "font.family": "sans-serif",
            "font.size": 9,
            "text.color": look.ink,
            "axes.labelcolor": look.ink,
            "axes.edgecolor": look.soft,
            "axes.facecolor": look.paper,
            "figure.facecolor": look.paper,
            "xtick.color": look.soft,
            "xtick.labelcolor": look.ink,
            "ytick.color": look.soft,
            "ytick.labelcolor": look.ink,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
        with matplotlib.rc_context(settings):
            text = io.StringIO()
            draw(look).savefig(text, format="svg", metadata=dict.fromkeys(_NO_FACTS))
        write_file(file, _rounded(text.getvalue()))


def _rounded(text: str) -> str:
    """The same picture in fewer letters: tenths of a point, three fonts, no indentation."""
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d)\d+", r"\1", tag[0]), text)
    text = re.sub(r"('DejaVu Sans'), [^;\"]*(sans-serif)", r"\1, Verdana, \2", text)
    return re.sub(r"\n\s+", "\n", text)


def markdown(path: str, alt: str) -> str:
    """The lines that show a picture in a README; `path` is that of its files, up to the look."""
    light, dark = (f"{path}{look.suffix}.svg" for look in (LIGHT, DARK))
    return (
        f'<picture>\n<source media="(prefers-color-scheme: dark)" srcset="{dark}">\n'
        f'<img alt="{alt}" src="{light}">\n</picture>'
    )
