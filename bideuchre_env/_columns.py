"""Tables of plain text, for reports and for `str()` of what has columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GAP = 3  # blanks between columns


def columns(rows: Iterable[Sequence[str]], justify: str, first: int = 0, gap: int = GAP) -> str:
    """Rows of cells as plain text in columns, `gap` blanks apart.

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
