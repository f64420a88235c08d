"""Files of datasets: columns written block by block to .npz or .parquet, atomically.

`close` publishes a complete file; until then, and after `discard`, an old file is unchanged.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from bideuchre_env._checks import printable
from bideuchre_env._files import Output, PathLike, reason, temporary_path
from bideuchre_env._install import how_to_install
from bideuchre_env.datasets.columns import METADATA, NONE, About, Columns
from bideuchre_env.errors import OptionError, OutputError
from bideuchre_env.runtime.jit import Array

NEEDS_PYARROW = f"a .parquet file needs pyarrow: {how_to_install('data')}"
_COPIED_AT_ONCE = 1 << 20
_LEVEL = 2  # four times as fast as the default 6; files are 50 % larger


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Context manager that converts `OSError` to `OutputError` with the name of the dataset."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{name} could not be written: {reason(error)}") from None


class _Sink(io.RawIOBase):
    """Write-only, non-seekable file object around an `Output`, for other libraries."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        whole = bytes(data)
        self._output.write(whole)
        return len(whole)


class NpzFile:
    """Writes a .npz file: an array per column, the `players`, and `metadata` as a JSON string.

    The columns are written to unnamed temporary files in the folder of the dataset until their
    length is known. This needs little memory, but disk space for all uncompressed columns. `names`
    are the players' names, to which the column "player" refers by index.
    """

    def __init__(self, path: PathLike, about: About, *, overwrite: bool = False) -> None:
        self.names: list[str] = []
        self._dtypes, self._metadata, self._rows = about.dtypes(), about.metadata(), 0
        self._name, self._output = printable(os.fspath(path)), Output(path, overwrite=overwrite)
        self._columns: dict[str, IO[bytes]] = {}
        try:
            with writing(self._name):
                for name in self._dtypes:
                    folder = temporary_path(path).parent
                    self._columns[name] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        except BaseException:
            self.discard()
            raise

    def write(self, columns: Columns, finals: Array | None = None) -> None:
        """Append rows to all columns; `finals` is ignored (`MinariFile` needs it)."""
        with writing(self._name):
            for name, file in self._columns.items():
                dtype = self._dtypes[name]
                rows = np.ascontiguousarray(columns[name], dtype.base)
                assert rows.shape[1:] == dtype.shape
                file.write(rows.data)
        self._rows += len(columns["action"])

    def close(self) -> None:
        """Complete the file and move it to its place; no effect after `close` or `discard`."""
        if not self._columns:
            return
        sink, how = _Sink(self._output), zipfile.ZIP_DEFLATED
        with writing(self._name), zipfile.ZipFile(sink, "w", how, compresslevel=_LEVEL) as archive:
            for name, file in self._columns.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    dtype = self._dtypes[name]
                    header = {"descr": dtype.base.str, "fortran_order": False}
                    header["shape"] = (self._rows, *dtype.shape)
                    np.lib.format.write_array_header_1_0(entry, header)
                    file.seek(0)
                    shutil.copyfileobj(file, entry, _COPIED_AT_ONCE)
            texts = {"players": np.array(self.names, np.str_)}
            texts["metadata"] = np.array(json.dumps(self._metadata))
            for name, text in texts.items():
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, text)
        self._output.close()
        self.discard()

    def discard(self) -> None:
        """Remove the new file; an old file stays."""
        for file in self._columns.values():
            file.close()
        self._columns = {}
        self._output.discard()


class ParquetFile:
    """Writes a .parquet file: a row group per `write`, arrays as lists, players by name.

    Raises `OptionError` without pyarrow. `names` are the players' names, to which the column
    "player" of `write` refers by index.
    """

    def __init__(self, path: PathLike, about: About, *, overwrite: bool = False) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise OptionError(NEEDS_PYARROW) from None
        self.names: list[str] = []
        self._arrow = pyarrow
        self._schema = pyarrow.schema(
            [(name, _arrow_type(pyarrow, name, dtype)) for name, dtype in about.dtypes().items()],
            metadata={METADATA: json.dumps(about.metadata())},
        )
        single = [name for name, dtype in about.dtypes().items() if not dtype.shape]
        self._output = Output(path, overwrite=overwrite)
        try:
            self._writer: Any = parquet.ParquetWriter(
                _Sink(self._output),
                self._schema,
                compression="zstd",
                write_statistics=single,  # for arrays they cost as much as everything else
            )
        except BaseException:
            self._output.discard()
            raise

    def write(self, columns: Columns, finals: Array | None = None) -> None:
        """Append a row group; `finals` is ignored (`MinariFile` needs it)."""
        arrow, arrays = self._arrow, []
        for field in self._schema:
            values = columns[field.name]
            if field.name == "player":
                codes = arrow.array(values, mask=values == NONE)
                arrays.append(
                    arrow.DictionaryArray.from_arrays(codes, arrow.array(self.names, "string"))
                )
            elif values.ndim == 2:
                flat = arrow.array(values.reshape(-1))
                arrays.append(arrow.FixedSizeListArray.from_arrays(flat, type=field.type))
            else:
                arrays.append(arrow.array(values, field.type))
        table = arrow.Table.from_arrays(arrays, schema=self._schema)
        self._writer.write_table(table, row_group_size=max(len(table), 1))

    def close(self) -> None:
        """Complete the file and move it to its place; no effect after `close` or `discard`."""
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        self._output.close()

    def discard(self) -> None:
        """Remove the new file; an old file stays."""
        self._writer = None
        self._output.discard()


def _arrow_type(arrow: Any, name: str, dtype: Any) -> Any:
    """Return the Arrow type of a column; `arrow` is the module pyarrow."""
    if name == "player":
        return arrow.dictionary(arrow.int32(), arrow.string())
    element = arrow.from_numpy_dtype(dtype.base)
    return arrow.list_(element, dtype.shape[0]) if dtype.shape else element
