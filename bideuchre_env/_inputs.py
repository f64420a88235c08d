"""Reading of untrusted files: regular ones only, up to a limit that their writer keeps.

Sizes that a file states are never believed: a reader stops at its limit, compressed or not.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable
from typing import IO, Any

from bideuchre_env._checks import printable
from bideuchre_env._files import PathLike
from bideuchre_env.errors import OutputError

MOST_OF_TORCH = 2**30
"""Maximum size of a checkpoint of torch in bytes."""
_STREAM = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/self/fd/\d+")


def open_file(path: PathLike) -> IO[bytes]:
    """Open a regular file, or `/dev/fd/N`, which is open already, as for a pipe of the shell.

    Raises `OSError` for any other pipe, device, socket or folder, without waiting for it.
    """
    return open(path, "rb", opener=_open)


def _open(path: str, flags: int) -> int:
    if _STREAM.fullmatch(os.fsdecode(path)):
        return os.open(path, flags)
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(None, "no regular file")


def read_file(path: PathLike, most: int) -> bytes:
    """Return the content of a file as `open_file` opens it; `OSError` above `most` bytes."""
    with open_file(path) as file:
        return read_all(file, most)


def read_all(file: IO[bytes], most: int) -> bytes:
    """Return the rest of an open file; `OSError` above `most` bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        raise OSError(None, f"more than {most} bytes")
    return data


def check_size(path: PathLike, size: int, most: int) -> None:
    """Raise `OutputError` if a file to write has more bytes than its reader accepts."""
    if size > most:
        name = printable(os.fspath(path))
        raise OutputError(f"{name} could not be written: {size} bytes: expected up to {most}")


def read_zip(
    data: bytes, most: int, members: int, selects: Callable[[str], Any] = bool
) -> dict[str, bytes]:
    """Return members of a zip archive by name, each verified by its checksum.

    `selects(name)` returns whether to read a member. Members are stored, or compressed by deflate.
    Raises `ValueError`, or an error of zipfile or zlib, for a damaged archive, for more than `most`
    bytes, and for more than `members` members.
    """
    import zipfile  # late, for a fast import of the package

    if len(data) > most:
        raise ValueError(f"more than {most} bytes")
    if data.count(b"PK\1\2") > members:  # before zipfile makes an object of each
        raise ValueError(f"more than {members} members")
    contents = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        listed = archive.infolist()
        count = int.from_bytes(data[-12:-10], "little")  # of the end record, which zipfile ignores
        if len(listed) != count:
            raise ValueError("members are missing, or more bytes follow")
        if sum(member.file_size for member in listed) > most:
            raise ValueError(f"more than {most} bytes when unpacked")
        if len({member.filename for member in listed}) < len(listed):
            raise ValueError("two members of one name")
        for member in listed:
            if not selects(member.filename):
                continue
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("expected no compression but deflate")
            with archive.open(member) as file:  # `archive.read` would unpack more than stated
                contents[member.filename] = file.read(member.file_size + 1)
    return contents


def read_checkpoint(path: PathLike) -> IO[bytes]:
    """Return the content of a checkpoint of torch, whose reader does not verify the checksums.

    Raises `OSError` if it cannot be read, and the errors of `read_zip` if it is damaged.
    """
    data = read_file(path, MOST_OF_TORCH)
    read_zip(data, MOST_OF_TORCH, 10_000)
    return io.BytesIO(data)
