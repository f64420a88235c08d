"""Vectors of named blocks, such as an observation: slices, offsets for kernels, and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, Generic, TypeVar

import numpy as np

from bideuchre_env._checks import brief, did_you_mean
from bideuchre_env._columns import columns, html_table
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.jit import Array, new_rows

B = TypeVar("B", bound=Any)
"""A block: `size` consecutive entries, and their `meaning`."""


def offsets_dtype(*names: str) -> np.dtype[np.void]:
    """Return the dtype of `Blocks.offsets_as`: these blocks and numbers, and "entries"."""
    return np.dtype([(name, np.int32) for name in (*names, "entries")], align=True)


class Blocks(Generic[B]):
    """A vector of `size` entries that consists of named `blocks`, in order.

    `self[name]` is the slice of a block, and `slices` has all; `str()` is a table of the blocks.
    """

    content = "features"  # for error messages

    def __init__(self, blocks: Mapping[str, B]) -> None:
        self.blocks = tuple(blocks.values())
        stops = accumulate(block.size for block in self.blocks)
        self.slices = {
            name: slice(stop - block.size, stop)
            for (name, block), stop in zip(blocks.items(), stops, strict=True)
        }
        self.size = sum(block.size for block in self.blocks)

    def __getitem__(self, name: str) -> slice:
        """The slice of a block; `OptionError` for a block that the game does not have."""
        if name in self:
            return self.slices[name]
        close, names = did_you_mean(name, self.slices), ", ".join(self.slices)
        raise OptionError(f"no block {brief(name)} in this game's {self.content}{close}: {names}")

    def __iter__(self) -> Iterator[str]:
        """The names of the blocks, in order."""
        return iter(self.slices)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.slices

    def offsets_as(self, dtype: np.dtype[np.void], **numbers: int) -> Array:
        """Return the start of each block for kernels: a read-only `offsets_dtype` record, (1,).

        It is -1 for a block that the game does not have. "entries" is `size`; `numbers` replace
        starts or are added.
        """
        starts = {name: at.start for name, at in self.slices.items()}
        offsets = new_rows(dtype, 1)
        for name in dtype.names or ():
            offsets[name] = {**starts, "entries": self.size, **numbers}.get(name, -1)
        offsets.flags.writeable = False
        return offsets

    def cells(self, block: B) -> dict[str, str]:
        """Return the cells of a block in the printed table, by title."""
        return {"meaning": block.meaning}

    def __str__(self) -> str:
        rows = self._rows()
        return columns(rows, "l" * len(rows[0]), gap=2)

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def _rows(self) -> list[tuple[str, ...]]:
        """Return the rows of the printed table: a header, and a row for each block."""
        rows = [("block", "at", *self.cells(self.blocks[0]))]
        for (name, at), block in zip(self.slices.items(), self.blocks, strict=True):
            rows.append((name, f"{at.start}:{at.stop}", *self.cells(block).values()))
        return rows
