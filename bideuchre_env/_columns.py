"""Tables of text cells: in plain text, HTML for notebooks, Markdown for pages, and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

GAP = 3  # blanks between columns


def columns(rows: Iterable[Sequence[str]], justify: str, first: int = 0, gap: int = GAP) -> str:
    """Format rows of cells as plain text in columns, `gap` blanks apart.

    `justify` has a letter for each column, l(eft) or r(ight); the first column is at least `first`
    wide. A cell of several lines makes its row as high.
    """
    from rich.console import Console
    from rich.table import Table

    table = Table.grid(padding=(0, gap, 0, 0))
    for letter in justify:
        table.add_column(justify="left" if letter == "l" else "right", no_wrap=True)
    table.columns[0].min_width = first
    for row in rows:
        table.add_row(*row)
    console = Console(
        width=10**4, markup=False, emoji=False, force_jupyter=False, color_system=None
    )
    with console.capture() as text:
        console.print(table, highlight=False)
    return "\n".join(line.rstrip() for line in text.get().splitlines())


def html_table(rows: Iterable[Sequence[str]], justify: str = "") -> str:
    """Format rows of cells as an HTML table, the first row as its head.

    `justify` has a letter for each column as in `columns`; by default all are left-justified.
    """
    lines = []
    for number, row in enumerate(rows):
        tag = "td" if number else "th"
        cells = []
        for place, cell in enumerate(row):
            side = "right" if justify[place : place + 1] == "r" else "left"
            style = f"text-align: {side}; vertical-align: top; white-space: pre-line"
            cells.append(f'<{tag} style="{style}">{escape(cell)}</{tag}>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def latex_table(rows: Iterable[Sequence[str]], justify: str, caption: str) -> str:
    """Format rows of cells as a LaTeX table with rules of booktabs, the first row as its head."""
    head, *body = (" & ".join(map(_latex, row)) + r" \\" for row in rows)
    return "\n".join(
        [
            *(r"\begin{table}", r"\centering", rf"\caption{{{_latex(caption)}}}"),
            *(rf"\begin{{tabular}}{{{justify}}}", r"\toprule", head, r"\midrule", *body),
            *(r"\bottomrule", r"\end{tabular}", r"\end{table}"),
        ]
    )


def _latex(text: str) -> str:
    """Escape text for LaTeX; signs of numbers become those of mathematics."""
    text = re.sub(r"[#$%&_{}]", r"\\\g<0>", text.replace("\\", "/"))
    text = re.sub(r"[~^]", r"\\\g<0>{}", text)
    return re.sub(r"(?<![\w.])[+-](?=\d)", r"$\g<0>$", text).replace("±", r"$\pm$")


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """Format rows of cells as a Markdown table, the first row as its head."""
    rows = list(rows)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])
