"""Atomic writes: a file is reserved before the work, and whole or not there.

A new file takes the place of an old one in one step, once there is something in it. Devices and
pipes are written directly.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from bideuchre_env._checks import check_path, printable
from bideuchre_env.errors import OptionError, OutputError

PathLike = str | os.PathLike[str]
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
_waiting: set[Output] = set()  # reserved, and not published yet
before_quitting: set[Callable[[], None]] = set()
"""Functions that write something even when Ctrl-C ends the program."""


class TakenError(OptionError):
    """A file that exists, or that another run is writing."""


class Output:
    """A file to write: reserved now, written to a temporary file, moved to its place by `publish`.

    A link is followed. Missing folders are made. Raises `OptionError` for a file that exists,
    unless `overwrite`, that another run is writing, or that cannot be written. As a context manager
    it discards a file that is not closed by the end.
    """

    def __init__(self, path: PathLike, *, overwrite: bool = False) -> None:
        check_path("path", path)
        self.path = path
        self.size = 0
        """Bytes written so far."""
        self._overwrite, self._descriptor = overwrite, -1
        self._target = Path(os.path.realpath(path))
        self._temporary: Path | None = None  # until it is published
        self._made: list[Path] = []
        try:
            self._direct = self._open_direct()
            if not self._direct:
                self._made = _make_folders(self._target.parent)
                self._reserve()
        except OSError as error:
            self.discard()
            raise OptionError(f"{_shown(path)} cannot be written: {reason(error)}") from None
        except BaseException:
            self.discard()
            raise

    def write(self, data: bytes) -> None:
        """Write all of `data`, or raise `OutputError`: its incomplete end is truncated later."""
        try:
            self._truncate()
            left = memoryview(data)
            while left:  # a full disk or a pipe may take a part of it
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            raise self._failed(error) from None
        self.size += len(data)

    def _truncate(self) -> None:
        """Cut off the end of a write that failed, or in which Ctrl-C ends the program."""
        if not self._direct:
            os.ftruncate(self._descriptor, self.size)

    def publish(self) -> None:
        """Move the file to its place, where later writes are seen. Raises `OutputError`."""
        there = self._temporary
        if there is None:
            return
        try:
            if not self._is_at(self._target):  # else Ctrl-C ends the program after the move
                if os.path.lexists(self._target):
                    self._prepare_replacement(there)
                self._move(there)
        except OSError as error:
            raise self._failed(error) from None
        self._temporary, self._made = None, []
        _waiting.discard(self)

    def close(self) -> None:
        """Publish and close; closing twice is fine.

        After an `OutputError` nothing is left open. A file that cannot be published is saved under
        a free name, which the error contains.
        """
        if self._descriptor < 0:
            return
        try:
            self._truncate()
            self.publish()
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)
        except OutputError as error:
            raise OutputError(f"{error}{self._save_aside()}") from None
        except OSError as error:
            raise self._failed(error) from None
        finally:
            self.discard()

    def discard(self) -> None:
        """Close; remove a file that is not published, and the folders that were made for it."""
        if self._temporary is not None:
            with suppress(OSError):
                self._temporary.unlink()
            self._temporary = None
        _remove_empty(self._made)
        _waiting.discard(self)
        if self._descriptor >= 0:
            with suppress(OSError):
                self._truncate()
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *error: object) -> None:
        self.discard()

    def _open_direct(self) -> bool:
        """Open a stream of this program, a device or a pipe; False for a regular file."""
        name = os.path.abspath(self.path)
        number = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", name)
        if number or name in _STREAMS:
            self._descriptor = os.dup(int(number[1]) if number else _STREAMS[name])
            return True
        if self._target.exists() and not self._target.is_file():
            self._descriptor = os.open(self._target, os.O_WRONLY)
            return True
        return False

    def _reserve(self) -> None:
        """Open and lock the temporary file, then check that the place is free."""
        temporary, busy = beside(self.path), f"{_shown(self.path)} is being written by another run"
        self._descriptor = _open_locked(temporary, _FLAGS | os.O_APPEND, busy)
        self._temporary = temporary
        _waiting.add(self)
        os.ftruncate(self._descriptor, 0)  # of a run that was killed
        if os.path.lexists(self.path) and not self._overwrite:
            raise TakenError(
                f"{_shown(self.path)} exists: "
                "choose another file, or replace it (--force, overwrite=True)"
            )
        if self._target.exists():
            if not os.access(self._target, os.W_OK):
                raise PermissionError(None, "it is write-protected")
            with suppress(PermissionError):  # it cannot be read, and so not be locked
                os.close(_open_locked(self._target, os.O_RDONLY, busy))

    def _prepare_replacement(self, there: Path) -> None:
        """Give the new file the owner and permissions of the old one."""
        if not self._overwrite:
            raise FileExistsError(None, "it exists by now, made by another program")
        old = self._target.stat()
        with suppress(OSError, AttributeError):
            os.chown(there, old.st_uid, old.st_gid)
        with suppress(OSError):
            os.chmod(there, stat.S_IMODE(old.st_mode))

    def _move(self, there: Path) -> None:
        if os.name != "nt":
            os.replace(there, self._target)
            return
        os.close(self._descriptor)  # Windows cannot move an open file
        self._descriptor = -1
        os.replace(there, self._target)
        self._descriptor = os.open(self._target, _FLAGS | os.O_APPEND)

    def _save_aside(self) -> str:
        """Rename an unpublished file, as the next run would clear it; the end of the message."""
        if self._temporary is None or not self.size:
            return ""
        number, saved = 2, self._target.with_name(f"{self._target.name}.new")
        while os.path.lexists(saved):
            saved, number = saved.with_name(f"{self._target.name}.new-{number}"), number + 1
        try:
            self._temporary.rename(saved)
        except OSError:
            saved = self._temporary
        self._temporary = None
        return f"; what was to be written is in {_shown(saved)}"

    def _is_at(self, path: Path) -> bool:
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._descriptor), path.stat())
        return False

    def _failed(self, error: OSError) -> OutputError:
        part = " to its end" if self.size else ""
        return OutputError(f"{_shown(self.path)} could not be written{part}: {reason(error)}")


def write_file(place: PathLike | Output, data: bytes | str) -> None:
    """Write a whole file, reserved before or replacing one that exists.

    Raises `OutputError`, and nothing has changed, if it cannot be written.
    """
    try:
        with place if isinstance(place, Output) else Output(place, overwrite=True) as output:
            output.write(data.encode() if isinstance(data, str) else data)
            output.close()
    except OptionError as error:
        raise OutputError(str(error)) from None


def only_run_in(
    folder: PathLike, otherwise: str = "take another folder"
) -> AbstractContextManager[None]:
    """Make a folder of results and lock it; `TakenError`, a hint in it, if another run has it.

    Folders that were made, and are empty in the end, are removed.
    """
    check_path("folder", folder)
    busy = f"another run is writing to {_shown(folder)}: {otherwise}"
    return _locked_by(Path(folder) / ".lock", folder, busy)


def only_run_at(path: PathLike) -> AbstractContextManager[None]:
    """Lock a file that is rewritten again and again; `TakenError` while another run has it."""
    check_path("path", path)
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
    return _locked_by(lock, path, f"{_shown(path)} is in use by another run")


@contextmanager
def _locked_by(lock: Path, path: PathLike, busy: str) -> Iterator[None]:
    """Hold a lock file, made with its folders and removed at the end."""
    made: list[Path] = []
    try:
        made = _make_folders(lock.parent)
        descriptor = _open_locked(lock, _FLAGS, busy)
    except OSError as error:
        _remove_empty(made)
        raise OptionError(f"{_shown(path)} cannot be written: {reason(error)}") from None
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(descriptor)
        _remove_empty(made)


def _open_locked(path: Path, flags: int, busy: str) -> int:
    """Open a file that is this run's alone until it is closed; `TakenError(busy)` otherwise."""
    while True:
        descriptor = os.open(path, flags, 0o666)
        try:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise TakenError(busy) from None
        except (ImportError, OSError):  # Windows, or a file system without locks
            return descriptor
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)  # another run has just moved or removed it


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder; return those that were missing, outermost first."""
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _remove_empty(folders: list[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # there is something in it
            folder.rmdir()


def beside(path: PathLike) -> Path:
    """Path of the temporary file, which exists while a run has the file reserved."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.bideuchre") if target.name else target


def discard_all() -> None:
    """Remove every unpublished file, before the program ends at once."""
    for finish in list(before_quitting):
        with suppress(Exception):  # the others are called all the same
            finish()
    for output in list(_waiting):
        output.discard()


def reason(error: OSError) -> str:
    """Why the system refused, in its words."""
    return error.strerror or str(error) or type(error).__name__


def _shown(path: PathLike) -> str:
    return printable(os.fspath(path))
