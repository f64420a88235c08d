"""Atomic output files: reserved before the work, and complete or absent.

An existing file is never lost: a new file replaces it in one step, once it has content. Devices and
pipes are written directly.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from bideuchre_env._checks import check_path, printable
from bideuchre_env._quitting import before_quitting, finishers, forget
from bideuchre_env.errors import OptionError, OutputError

PathLike = str | os.PathLike[str]
_BINARY = getattr(os, "O_BINARY", 0)
_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


class TakenError(OptionError):
    """A file that exists, or that another run is writing."""


class Output:
    """A file to write: reserved now, written to a temporary path, and moved in place by `publish`.

    Links are followed; devices and pipes are written directly; missing folders are made. Raises
    `OptionError` for a file that exists (unless `overwrite`), that another process is writing, or
    that cannot be written. On exit, the context manager discards a file that is still open.
    Only its owner can read a `private` file, except on Windows.
    """

    def __init__(self, path: PathLike, *, overwrite: bool = False, private: bool = False) -> None:
        check_path("path", path)
        self.path = path
        self.size = 0
        """Number of bytes written."""
        self._overwrite, self._private, self._descriptor = overwrite, private, -1
        self._is_direct = self._is_incomplete = False
        self._held = ExitStack()  # new folders and the lock
        self._target = Path(os.path.realpath(path))
        self._temporary: Path | None = temporary_path(path)
        try:
            if not self._open_direct():
                self._check_place()
                self._reserve(self._temporary)
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
            self._close_descriptor()  # Windows moves no open file
            self._take_place(self._temporary)
            self._descriptor = os.open(self._target, os.O_WRONLY | os.O_APPEND | _BINARY)
        except OSError as error:
            raise self._failed(error) from None
        self._temporary = None
        forget(self.discard)

    def close(self) -> None:
        """Publish and close. Idempotent; after an `OutputError` no file is open.

        A file that cannot be moved in place is saved under another name; the error has its path.
        """
        try:
            with suppress(OSError):
                self._truncate()
            if self.discard in finishers:  # reserved, not yet moved in place
                try:
                    self.publish()
                except OutputError as error:
                    raise OutputError(f"{error}{self._save_aside()}") from None
            try:
                self._close_descriptor()
            except OSError as error:
                raise self._failed(error) from None
        finally:
            self.discard()

    def discard(self) -> None:
        """Close; remove a file that is not published, and the folders made for it."""
        with suppress(OSError):
            self._close_descriptor()
        if self.discard in finishers and self._temporary is not None:
            with suppress(OSError):
                self._temporary.unlink()
        forget(self.discard)
        self._held.close()

    def _close_descriptor(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

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
        if self._target.exists() and not os.access(self._target, os.W_OK):
            raise PermissionError(None, "it is write-protected")

    def _reserve(self, temporary: Path) -> None:
        """Lock and open an empty temporary file; `TakenError` if it, or the target, is taken."""
        self._held.enter_context(_new_folders(self._target.parent))
        busy = f"{_quote(self.path)} is being written by another run"
        self._held.enter_context(locked(temporary_path(self.path, ".lock"), busy))
        self._check_place()  # another run may have published it meanwhile
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND  # data of a killed run goes
        flags |= _BINARY | getattr(os, "O_NOFOLLOW", 0)
        self._descriptor = os.open(temporary, flags, 0o600 if self._private else 0o666)
        if self._private:
            os.chmod(temporary, 0o600)  # a killed run may have left it
        finishers.append(self.discard)
        self._status = os.fstat(self._descriptor)

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
        if self._is_in_place():  # moved already, then interrupted by Ctrl-C
            with suppress(FileNotFoundError):
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
                temporary.replace(self._target)
                return
            temporary.unlink()
            return
        if self._target.exists():
            old = self._target.stat()
            with suppress(OSError, AttributeError):
                os.chown(temporary, old.st_uid, old.st_gid)
            with suppress(OSError):
                os.chmod(temporary, 0o600 if self._private else stat.S_IMODE(old.st_mode))
        try:
            temporary.replace(self._target)
        except OSError:
            if not self._target.exists():
                raise
            if self._private:
                os.chmod(self._target, 0o600)
            shutil.copyfile(temporary, self._target)  # the target is a mount point
            temporary.unlink()

    def _is_in_place(self) -> bool:
        with suppress(OSError):
            return os.path.samestat(self._status, self._target.stat())
        return False

    def _failed(self, error: OSError) -> OutputError:
        part = " to its end" if self.size else ""
        return OutputError(f"{_quote(self.path)} could not be written{part}: {reason(error)}")


def write_file(place: PathLike | Output, data: bytes | str, *, private: bool = False) -> None:
    """Write a whole file to a reserved `Output`, or to a path, replacing an existing file.

    Only its owner can read a `private` file, except on Windows. Raises `OutputError` if writing
    fails; an existing file is then unchanged.
    """
    try:
        if not isinstance(place, Output):
            place = Output(place, overwrite=True, private=private)
        with place as output:
            output.write(data.encode() if isinstance(data, str) else data)
            output.close()
    except OptionError as error:
        raise OutputError(str(error)) from None


@contextmanager
def only_run_in(folder: PathLike, otherwise: str = "take another folder") -> Iterator[None]:
    """Context manager: make and lock a folder; `TakenError` if another process has locked it.

    `otherwise`: advice in the message. Empty new folders are removed.
    """
    check_path("folder", folder)
    busy = f"another run is writing to {_quote(folder)}: {otherwise}"
    with _locked_in(Path(folder), ".bideuchre.lock", busy, folder):
        yield


@contextmanager
def only_run_at(path: PathLike) -> Iterator[None]:
    """Context manager: lock a file which is rewritten repeatedly.

    Missing folders are made. Raises `TakenError` while another process holds the lock, and
    `OptionError` if the folder cannot be written.
    """
    check_path("path", path)
    lock = temporary_path(path, ".game-lock")
    with _locked_in(lock.parent, lock.name, f"{_quote(path)} is in use by another run", path):
        yield


@contextmanager
def _locked_in(folder: Path, name: str, busy: str, path: PathLike) -> Iterator[None]:
    """Context manager: make a folder and hold a lock in it, for `path`; raises `OptionError`."""
    with ExitStack() as held:
        try:
            held.enter_context(_new_folders(folder))
            held.enter_context(locked(folder / name, busy))
        except OSError as error:
            raise OptionError(f"{_quote(path)} cannot be written: {reason(error)}") from None
        with before_quitting(held.close):
            yield


@contextmanager
def _new_folders(folder: Path) -> Iterator[None]:
    """Context manager: make a folder; at the end, remove the new folders that are empty."""
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for each in missing:
            with suppress(OSError):  # not empty
                each.rmdir()


@contextmanager
def locked(path: Path, busy: str, timeout: float = 0) -> Iterator[None]:
    """Context manager: hold a lock file, which is removed at the end.

    Raises `TakenError(busy)` if another run holds it, after `timeout` seconds. Without locks, as on
    some file systems, nothing is protected.
    """
    from filelock import FileLock, Timeout  # late, for a fast import of the package

    lock = FileLock(path, timeout=timeout, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise TakenError(busy) from None
    except NotImplementedError:
        pass
    try:
        yield
    finally:
        is_removed = False
        with suppress(OSError):  # before another run can lock it
            path.unlink()
            is_removed = True
        lock.release()
        if not is_removed:  # Windows removes no open file
            with suppress(OSError):
                path.unlink()


def temporary_path(path: PathLike, suffix: str = ".bideuchre") -> Path:
    """Return the temporary path of a file; it exists while a process writes the file."""
    target = Path(os.path.realpath(path))
    name = target.name
    if len(os.fsencode(name)) > 200:  # file systems allow 255 bytes
        name = sha256(os.fsencode(name)).hexdigest()
    return target.parent / f".{name}{suffix}"


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:  # a full disk or a pipe may accept only a part
        left = left[os.write(descriptor, left) :]


def reason(error: OSError) -> str:
    """Return the system's message for an error."""
    return error.strerror or str(error) or type(error).__name__


def _quote(path: PathLike) -> str:
    return printable(os.fspath(path))
