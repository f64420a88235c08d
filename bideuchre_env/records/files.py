"""Files of game records: one JSON object per line (`.jsonl`), read and written as a stream.

Each write is one system call, so a run that is killed leaves complete lines. Reading continues
after a bad line: each line yields a verified `GameRecord` or an error message.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import itertools
import os
import re
import sys
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, NamedTuple, cast

from bideuchre_env._checks import (
    brief,
    check_flag,
    check_path,
    check_type,
    is_integer,
    printable,
    to_iterator,
)
from bideuchre_env._files import Output, PathLike, reason, temporary_path
from bideuchre_env._inputs import check_size, open_file
from bideuchre_env.errors import OptionError, OutputError, RecordError
from bideuchre_env.records.ptn import LONGEST_EVENT, TextHand, is_text, read_hands
from bideuchre_env.records.record import GameRecord, PlayedHand
from bideuchre_env.rules.rules import Rules

STDIN = "-"
LONGEST = 2**24
"""Maximum length of a line in bytes: a game of some 20,000 hands."""
_GZIP = b"\x1f\x8b"
_MOST_OF_STEM = 200  # bytes; file systems allow names of 255


class Line(NamedTuple):
    """A line of a file of records: its number, from 1, and its record or error message.

    In a file of PTN text, the number is that of the event.
    """

    number: int  #: of the line, from 1
    record: GameRecord | None  #: None for a line with an error
    error: str | None  #: the message, or None
    hands: Sequence[PlayedHand] = ()
    """The replayed hands of the record."""
    is_position: bool = False
    """Whether `error` is only that some hands of valid PTN text are unknown."""


class RecordWriter:
    """Writes game records to a new file, in whole lines; a context manager.

    The path is reserved at once; the file appears, and replaces an old one, with its first line.
    Lines are not buffered. Missing folders are made. A `with` block calls `close` at its end, but
    `discard` after an error.

    Args:
        path: the file.
        overwrite: whether to replace an existing file.

    Raises:
        OptionError: for a file that exists (unless `overwrite`), that another run is writing, or
            that cannot be written.

    Example:
        with records_io.RecordWriter("games.jsonl") as writer:
            writer.write(env.record)
    """

    def __init__(self, path: PathLike, *, overwrite: bool = False) -> None:
        check_flag("overwrite", overwrite)
        self._output = Output(path, overwrite=overwrite)
        self.path = Path(path)
        self.lines = 0

    def write(self, record: GameRecord) -> None:
        """Write one record.

        Args:
            record: the game; it is not verified.

        Raises:
            OutputError: if the line cannot be written; the lines before it stay.
        """
        check_type("record", record, GameRecord, "a GameRecord")
        self.write_lines([record.dumps().encode("ascii")])

    def write_lines(self, lines: Sequence[bytes]) -> None:
        """Write lines, which must be valid and without line ends, in one call: all or none.

        Raises `OutputError` if they cannot be written, or if one is longer than `LONGEST`.
        """
        for line in lines:
            check_size(self.path, len(line) + 1, LONGEST)
        first = not self.lines
        self._output.write(b"".join(line + b"\n" for line in lines))
        self.lines += len(lines)
        if first:
            try:
                self._output.publish()
            except OutputError:
                self.lines = 0
                raise

    @property
    def size(self) -> int:
        """Number of bytes written."""
        return self._output.size

    def discard(self) -> None:
        """Close the file; if it has no line, no file is made and an old one stays unchanged."""
        self._output.discard()

    def close(self) -> None:
        """Close the file; if nothing was written, it is made empty. Idempotent."""
        self._output.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            self.close()
        else:
            self.discard()


def write(path: PathLike, records: Iterable[GameRecord], *, overwrite: bool = False) -> int:
    """Write records to a new file, one by one; return their number.

    Args:
        path, overwrite: see `RecordWriter`; the errors are those of it and its `write`.
        records: the games; they are not verified.
    """
    to_write = to_iterator("records", records, "game records")
    with RecordWriter(path, overwrite=overwrite) as writer:
        for record in to_write:
            writer.write(record)
        return writer.lines


def read(path: PathLike) -> Iterator[GameRecord]:
    """Yield the records of a file, each verified by replay.

    Args:
        path: the file, may be compressed by gzip; `-` is standard input.

    Raises:
        RecordError: at the first invalid record, with its line; `scan` continues after it.
        OptionError: for a file that cannot be read.
    """
    for record, _ in read_played(path):
        yield record


def read_played(path: PathLike) -> Iterator[tuple[GameRecord, Sequence[PlayedHand]]]:
    """Yield the records of a file, each with its replayed hands; errors are those of `read`."""
    for line in scan(path):
        if line.record is None:
            raise RecordError(f"{printable(str(path))}, line {line.number}: {line.error}")
        yield line.record, line.hands


def scan(
    path: PathLike, numbers: Container[int] | None = None, game: tuple[str, Rules] | None = None
) -> Iterator[Line]:
    """Yield the lines of a file, each with its record or first error; skip blank lines.

    The file may be compressed by gzip, and may begin with a byte order mark. A line longer than
    `LONGEST` is an error.

    Args:
        path: the file; `-` is standard input.
        numbers: the numbers of the lines to read, from 1; None reads all.
        game: for PTN text (`.ptn`, `.pbn`), the name and rules that replace its options.

    Raises:
        OptionError: for a file that cannot be read.
    """
    check_path("path", path)
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Container | None):
        raise OptionError(f"numbers={brief(numbers)}: expected numbers of lines, or None")
    return _scan_text(path, numbers, game) if is_text(path) else _scan(path, numbers)


def text_hands(
    path: PathLike, game: tuple[str, Rules] | None = None
) -> Iterator[tuple[int, TextHand | RecordError]]:
    """Yield the hands of a file of PTN text, see `read_hands`.

    Raises `OptionError` for a file that cannot be read.
    """
    yield from read_hands(_text_lines(path), game)


def _text_lines(path: PathLike) -> Iterator[str]:
    """Yield the lines of a file of PTN text; `OptionError` for a file that cannot be read."""
    size, unreadable = 0, f"{printable(str(path))} cannot be read"
    for number, data in _lines(path, LONGEST_EVENT):
        if len(data) > LONGEST_EVENT:
            raise OptionError(f"{unreadable}: line {number} has more than {LONGEST_EVENT} bytes")
        try:
            yield from data.decode("utf-8").splitlines()
        except UnicodeDecodeError as error:
            at = f"{error.reason} at byte {size + error.start}"
            raise OptionError(f"{unreadable}: not UTF-8: {at}") from None
        size += len(data)


def _scan_text(
    path: PathLike, numbers: Container[int] | None, game: tuple[str, Rules] | None
) -> Iterator[Line]:
    for number, hand in text_hands(path, game):
        if numbers is None or number in numbers:
            try:
                if isinstance(hand, RecordError):
                    raise hand
                record, hands = hand.played()
                yield Line(number, record, None, hands)
            except RecordError as error:
                yield Line(number, None, str(error), is_position=isinstance(hand, TextHand))


def _scan(path: PathLike, numbers: Container[int] | None) -> Iterator[Line]:
    for number, data in _lines(path, LONGEST):
        if len(data) > LONGEST:
            yield Line(number, None, f"longer than {LONGEST} bytes")
            continue
        if not data.strip() or (numbers is not None and number not in numbers):
            continue
        try:
            record, hands = GameRecord.loads_played(data.decode("utf-8"))
            yield Line(number, record, None, hands)
        except UnicodeDecodeError as error:
            yield Line(number, None, f"not UTF-8: {error.reason} at byte {error.start}")
        except RecordError as error:
            incomplete = not data.endswith(b"\n") and data.count(b"{") > data.count(b"}")
            stops = "torn: the file stops within this line; " if incomplete else ""
            yield Line(number, None, f"{stops}{error}")


def _lines(path: PathLike, longest: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each line; of a longer one, the first `longest` + 1 bytes.

    At the end of the file the content is empty. Raises `OptionError` for a file that cannot be
    read.
    """
    try:
        with nullcontext(sys.stdin.buffer) if str(path) == STDIN else open_file(path) as opened:
            file = opened
            if isinstance(opened, io.BufferedReader) and opened.peek(2)[:2] == _GZIP:
                file = cast(IO[bytes], gzip.GzipFile(fileobj=opened))
            for number in itertools.count(1):
                part = line = file.readline(longest + 1)
                yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                while part and not part.endswith(b"\n"):
                    part = file.readline(longest + 1)
                if not line:
                    return
    except (OSError, EOFError, zlib.error) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise OptionError(f"{printable(str(path))} cannot be read: {why}") from None


def file_stem(*words: str) -> str:
    """Join words with `-` to a file name, without suffix, that is valid on every system.

    `_` replaces all characters except letters, digits and `_.,=+-`; see also `short_name`.
    """
    return short_name("-".join(re.sub(r"[^A-Za-z0-9_.,=+-]", "_", word) for word in words))


def short_name(stem: str) -> str:
    """Return a file name of at most 200 bytes: a longer one is cut, and ends with a hash."""
    data = os.fsencode(stem)
    if len(data) <= _MOST_OF_STEM:
        return stem
    digest = hashlib.sha256(data).hexdigest()[:16]
    return f"{data[: _MOST_OF_STEM - 17].decode(errors='ignore')}-{digest}"


def free_path(folder: PathLike, stem: str, suffix: str = ".jsonl", number: int = 1) -> Path:
    """Return a path that does not exist and is not being written: `stem.jsonl`, `stem-2.jsonl`, ...

    A long stem is shortened, see `short_name`.

    Args:
        folder: the folder of the file.
        stem, suffix: the parts of its name.
        number: the first number to try, from 1; 1 adds nothing to the name.

    Raises:
        OptionError: for an invalid argument.
    """
    check_path("folder", folder)
    for name, text in (("stem", stem), ("suffix", suffix)):
        check_type(name, text, str, "part of the name of a file")
        check_path(name, text)
    if not is_integer(number) or number < 1:
        raise OptionError(f"number={brief(number)}: expected a whole number from 1")
    name = short_name(stem)
    while True:
        path = Path(folder) / f"{name}{f'-{number}' if number > 1 else ''}{suffix}"
        if not any(map(os.path.lexists, (path, temporary_path(path)))):  # nor being written
            return path
        number += 1
