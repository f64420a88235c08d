"""Atomic output files: reserved before the work, and complete or absent.

An existing file is never lost: a new file replaces it in one step, once it has content. Devices and
pipes are written directly.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from bideuchre_env._checks import check_path, printable
from bideuchre_env._quitting import before_quitting, finishers, forget
from bideuchre_env.errors import OptionError, OutputError

PathLike = str | os.PathLike[str]
_LOCKS = find_spec("fcntl") is not None  # not on Windows
_WINDOWS = os.name == "nt"  # it cannot move or remove an open file
_BINARY = getattr(os, "O_BINARY", 0)
_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


class TakenError(OptionError):
    """A file that exists, or that another run is writing."""


class Output:
    """A file to write: reserved now, written to a temporary path, and moved in place by `publish`.

    Links are followed; devices and pipes are written directly; missing folders are made. Raises
    `OptionError` for a file that exists (unless `overwrite`), that another process is writing, or
    that cannot be written. On exit, the context manager discards a file that is still open.
    """

    def __init__(self, path: PathLike, *, overwrite: bool = False) -> None:
        check_path("path", path)
        self.path = path
        self.size = 0
        """Number of bytes written."""
        self._overwrite, self._descriptor = overwrite, -1
        self._is_direct = self._is_incomplete = False
        self._made: list[Path] = []
        self._target = Path(os.path.realpath(path))
        self._temporary: Path | None = temporary_path(path)
        try:
            if not self._open_direct():
                self._check_place()
                self._make_folders()
                self._reserve()
        except OSError as error:
            self.discard()
            raise OptionError(f"{_quote(path)} cannot be written: {reason(error)}") from None
        except BaseException:
            self.discard()
            raise

    def write(self, data: bytes) -> None:
        """Write all of the data or nothing: a partial write is truncated. Raises `OutputError`."""
        self._truncate()
        self._is_incomplete = True
        try:
            _write_all(self._descriptor, data)
        except BaseException as error:
            with suppress(OSError):
                self._truncate()
            if isinstance(error, OSError):
                raise self._failed(error) from None
            raise
        self.size += len(data)
        self._is_incomplete = False

    def _truncate(self) -> None:
        """Remove the data of a write that has failed or that Ctrl-C has interrupted."""
        if self._is_incomplete and not self._is_direct:
            os.ftruncate(self._descriptor, self.size)
        self._is_incomplete = False

    def publish(self) -> None:
        """Move the file in place; later writes go there. Raises `OutputError`."""
        if self._temporary is None:
            return
        try:
            if _WINDOWS:
                os.close(self._descriptor)
                self._descriptor = -1
            self._take_place(self._temporary)
            if self._descriptor < 0:
                self._descriptor = os.open(self._target, os.O_WRONLY | os.O_APPEND | _BINARY)
        except OSError as error:
            raise self._failed(error) from None
        self._temporary = None
        forget(self.discard)

    def close(self) -> None:
        """Publish and close. Idempotent; after an `OutputError` no file is open.

        A file that cannot be moved in place is saved under another name; the error has its path.
        """
        if self._descriptor < 0:
            return
        try:
            with suppress(OSError):
                self._truncate()
            try:
                self.publish()
            except OutputError as error:
                raise OutputError(f"{error}{self._save_aside()}") from None
            descriptor, self._descriptor = self._descriptor, -1
            try:
                os.close(descriptor)
            except OSError as error:
                raise self._failed(error) from None
        finally:
            self.discard()

    def discard(self) -> None:
        """Close; remove a file that is not published, and the folders made for it."""
        if _WINDOWS:
            self._close_descriptor()
        if self._temporary is not None:
            if self.discard in finishers:
                with suppress(OSError):
                    self._temporary.unlink()
            for folder in reversed(self._made):
                with suppress(OSError):  # another process has written to it
                    folder.rmdir()
            forget(self.discard)
        self._close_descriptor()

    def _close_descriptor(self) -> None:
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.discard()

    def _open_direct(self) -> bool:
        """Open a device or pipe; return False for a regular file."""
        name = os.path.abspath(self.path)
        number = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", name)
        if number or name in _STREAMS:
            self._descriptor = os.dup(int(number[1]) if number else _STREAMS[name])
        elif self._target.exists() and not stat.S_ISREG(self._target.stat().st_mode):
            self._descriptor = os.open(self._target, os.O_WRONLY | _BINARY)
        else:
            return False
        self._is_direct, self._temporary = True, None
        return True

    def _check_place(self) -> None:
        if os.path.lexists(self.path) and not self._overwrite:
            raise TakenError(
                f"{_quote(self.path)} exists: "
                "choose another file, or replace it (--force, overwrite=True)"
            )
        if self._target.exists():
            if not os.access(self._target, os.W_OK):
                raise PermissionError(None, "it is write-protected")
            with suppress(PermissionError):  # not readable, so its owner is unknown
                descriptor = os.open(self._target, os.O_RDONLY)
                try:
                    if not _lock(descriptor):
                        raise TakenError(self._busy())
                finally:
                    os.close(descriptor)

    def _make_folders(self) -> None:
        for each in reversed(_missing_folders(self._target.parent)):
            each.mkdir(exist_ok=True)
            self._made.append(each)

    def _reserve(self) -> None:
        """Open, lock and empty the temporary file; `TakenError` if it, or the target, is taken."""
        assert self._temporary is not None
        flags = os.O_APPEND | _BINARY | (0 if _LOCKS else os.O_EXCL)
        try:
            self._descriptor = _open_locked(self._temporary, flags, self._busy())
        except FileExistsError:  # without locks
            raise TakenError(
                f"{_quote(self.path)} cannot be written while {_quote(self._temporary)} "
                "is there: delete that if no run is writing it"
            ) from None
        finishers.append(self.discard)
        os.ftruncate(self._descriptor, 0)  # data of a run that was killed
        self._check_place()  # another run may have published it meanwhile

    def _busy(self) -> str:
        return f"{_quote(self.path)} is being written by another run"

    def _save_aside(self) -> str:
        """Move the content to a unique path, which no process removes; return a message with it."""
        temporary = self._temporary
        if temporary is None or not self.size:
            return ""
        number, spare = 2, self._target.with_name(f"{self._target.name}.new")
        while os.path.lexists(spare):
            spare, number = spare.with_name(f"{self._target.name}.new-{number}"), number + 1
        try:
            temporary.rename(spare)
        except OSError:
            spare = temporary
        self._temporary = None
        forget(self.discard)
        return f"; the unsaved data is in {_quote(spare)}"

    def _take_place(self, temporary: Path) -> None:
        if self._is_open_at(self._target):  # moved already, then interrupted by Ctrl-C
            if self._is_open_at(temporary):
                temporary.unlink()
            return
        if not self._overwrite:
            try:
                os.link(temporary, self._target)  # fails if the target exists
            except FileExistsError:
                raise
            except OSError:  # a file system without links
                if os.path.lexists(self._target):
                    raise FileExistsError(None, "another program has made it meanwhile") from None
            else:
                temporary.unlink()
                return
        elif self._target.exists():
            old = self._target.stat()
            with suppress(OSError, AttributeError):
                os.chown(temporary, old.st_uid, old.st_gid)
            with suppress(OSError):
                os.chmod(temporary, stat.S_IMODE(old.st_mode))
        try:
            temporary.replace(self._target)
        except OSError:
            if not self._overwrite or not self._target.exists():
                raise
            # the target is a mount point, or in a folder that cannot be written
            self._copy(temporary)

    def _is_open_at(self, path: Path) -> bool:
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._descriptor), path.stat())
        return False

    def _copy(self, temporary: Path) -> None:
        """Overwrite the old file with the content; later writes go there."""
        descriptor = os.open(self._target, os.O_WRONLY | os.O_APPEND | _BINARY)
        try:
            _lock(descriptor)
            os.ftruncate(descriptor, 0)
            with temporary.open("rb") as file:
                while part := file.read(2**20):
                    _write_all(descriptor, part)
        except BaseException:
            os.close(descriptor)
            raise
        before, self._descriptor = self._descriptor, descriptor
        if before >= 0:
            os.close(before)
        with suppress(OSError):
            temporary.unlink()

    def _failed(self, error: OSError) -> OutputError:
        part = " to its end" if self.size else ""
        return OutputError(f"{_quote(self.path)} could not be written{part}: {reason(error)}")


def write_file(place: PathLike | Output, data: bytes | str) -> None:
    """Write a whole file to a reserved `Output`, or to a path, replacing an existing file.

    Raises `OutputError` if that fails; an existing file is then unchanged.
    """
    try:
        with place if isinstance(place, Output) else Output(place, overwrite=True) as output:
            output.write(data.encode() if isinstance(data, str) else data)
            output.close()
    except OptionError as error:
        raise OutputError(str(error)) from None


@contextmanager
def only_run_in(folder: PathLike, otherwise: str = "take another folder") -> Iterator[None]:
    """Context manager: make and lock a folder; `OptionError` if another process has locked it.

    On Windows it is not locked. `otherwise`: advice in the message. Empty new folders are removed.
    """
    check_path("folder", folder)
    missing = _missing_folders(Path(folder))

    def remove_empty() -> None:
        for each in missing:
            with suppress(OSError):  # not empty
                os.rmdir(each)

    try:
        os.makedirs(folder, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY) if _LOCKS else -1
    except OSError as error:
        raise OptionError(f"{_quote(folder)} cannot be written: {reason(error)}") from None
    try:
        if not _lock(descriptor):
            raise OptionError(f"another run is writing to {_quote(folder)}: {otherwise}")
        with before_quitting(remove_empty):
            yield
    finally:
        remove_empty()
        if descriptor >= 0:
            os.close(descriptor)


@contextmanager
def only_run_at(path: PathLike) -> Iterator[None]:
    """Context manager: lock a file which is rewritten repeatedly; on Windows it is not locked.

    Missing folders are made. Raises `TakenError` while another process holds the lock, and
    `OptionError` if the folder cannot be written.
    """
    check_path("path", path)
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _open_locked(lock, 0, f"{_quote(path)} is in use by another run")
    except OSError as error:
        raise OptionError(f"{_quote(path)} cannot be written: {reason(error)}") from None

    def unlock() -> None:
        if _WINDOWS:
            os.close(descriptor)
        with suppress(OSError):  # before another run can lock it
            lock.unlink()
        if not _WINDOWS:
            os.close(descriptor)

    try:
        with before_quitting(unlock):
            yield
    finally:
        unlock()


def temporary_path(path: PathLike) -> Path:
    """Return the temporary path of a file; it exists while a process writes the file."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.bideuchre") if target.name else target


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:  # a full disk or a pipe may accept only a part
        left = left[os.write(descriptor, left) :]


def reason(error: OSError) -> str:
    """Return the system's message for an error."""
    return error.strerror or str(error) or type(error).__name__


def _missing_folders(folder: Path) -> list[Path]:
    return [each for each in (folder, *folder.parents) if not os.path.lexists(each)]


def _open_locked(path: Path, flags: int, busy: str) -> int:
    """Open and lock a file; raise `TakenError(busy)` while another run has it locked."""
    flags |= os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        descriptor = os.open(path, flags, 0o666)
        if not _lock(descriptor):
            os.close(descriptor)
            raise TakenError(busy)
        with suppress(FileNotFoundError):  # the previous run has just removed it
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file until it is closed; return True if locked, or if locks are not supported."""
    if not _LOCKS:
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def _quote(path: PathLike) -> str:
    return printable(os.fspath(path))
