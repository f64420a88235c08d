"""Cache folders of compiled kernels: files are read from each, and written to the first writable.

The name of a file of code has a hash of all that the code depends on (`stamps.py`). So no index is
needed, and an edit makes a file unused, never wrong. Every file starts with a checksum. Files that
no process has used for two weeks are deleted.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path

from bideuchre_env._files import TakenError, locked
from bideuchre_env._quitting import before_quitting

_PACKAGE = Path(__file__).resolve().parents[1]
_DAY = 24 * 3600
_STALE = 14 * _DAY
_WAIT = 300  # seconds to wait at most for a kernel that another process compiles
_CHECKSUM = hashlib.sha256().digest_size


def user_cache() -> Path:
    """Return the package's folder in the user's cache; `RuntimeError` without a home folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "bideuchre_env"


def cache_bases() -> Iterator[Path]:
    """Yield the folders that may hold the cache folder, the preferred one first.

    With the environment variable NUMBA_CACHE_DIR, that folder is the only one.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
        return
    yield _PACKAGE / "__pycache__"
    with suppress(RuntimeError):  # a user without a home
        yield user_cache()
    with suppress(OSError):  # a machine without a folder for temporary files
        yield from _own_temporary_folder()


def _own_temporary_folder() -> Iterator[Path]:
    """Yield a temporary folder that only this user can write to; nothing if others can."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"bideuchre_env-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not hasattr(os, "getuid") or (status.st_uid == user and not status.st_mode & 0o022):
        yield folder


class KernelFiles:
    """The files in the cache folders `BASE/kernels`, for each base of `bases()`."""

    def __init__(self, bases: Callable[[], Iterable[Path]]) -> None:
        self._bases = bases

    @cached_property
    def _folders(self) -> tuple[list[Path], Path | None]:
        """The folders up to the first that can be written, and this one or None."""
        folders = []
        for base in self._bases():
            folders.append(base / "kernels")
            with suppress(OSError):
                folders[-1].mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folders[-1]):
                    return folders, folders[-1]
        return folders, None

    @property
    def writable(self) -> Path | None:
        """The folder that new files are written to; None if no folder can be written."""
        return self._folders[1]

    def find(self, name: str) -> Path | None:
        """Return the path of a file; None if no folder has it."""
        paths = (folder / name for folder in self._folders[0])
        return next((path for path in paths if path.exists()), None)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, None if no folder has it undamaged."""
        for folder in self._folders[0]:
            with suppress(OSError):
                path = folder / name
                content = path.read_bytes()
                if content[:_CHECKSUM] == hashlib.sha256(content[_CHECKSUM:]).digest():
                    if time.time() - path.stat().st_mtime > _DAY:
                        with suppress(OSError):
                            os.utime(path)  # it is used, not stale
                    return content[_CHECKSUM:]
        return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one step, so that other processes read all of it or nothing.

        Raises `OSError`, in particular if no folder can be written.
        """
        if self.writable is None:
            advice = "set NUMBA_CACHE_DIR to a folder that can be written"
            raise PermissionError(None, f"no cache folder can be written: {advice}")
        self.writable.mkdir(parents=True, exist_ok=True)  # it may have been deleted
        _delete_stale(self.writable)
        temporary = self.writable / f"{uuid.uuid4().hex}.tmp"
        with before_quitting(partial(_unlink, temporary)):
            try:
                temporary.write_bytes(hashlib.sha256(content).digest() + content)
                temporary.replace(self.writable / name)
            except OSError:
                # Windows replaces no file that a process reads; it need not, as that file is equal
                if self.read(name) != content:
                    raise
            finally:
                _unlink(temporary)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Context manager: hold the lock of a file; wait for it five minutes at most.

        Without locks, for example if no folder can be written, two processes may do equal work.
        """
        with ExitStack() as held:
            if self.writable:
                lock = self.writable / f"{name}.lock"
                with suppress(OSError, TakenError):
                    held.enter_context(locked(lock, "a process compiles too long", _WAIT))
            with before_quitting(held.close):
                yield


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _delete_stale(folder: Path) -> None:
    """Delete files in the folder that were not used for two weeks, at most once a day.

    The same goes for folders beside it that older versions of the package have made.
    """
    mark = folder / "stale-files-deleted"
    with suppress(OSError):
        if mark.exists() and time.time() - mark.stat().st_mtime < _DAY:
            return
        mark.touch()
        for path in (*folder.iterdir(), *folder.parent.glob("kernels-" + 16 * "[0-9a-f]")):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE:
                    if path.parent == folder:
                        path.unlink()
                    else:
                        shutil.rmtree(path)
