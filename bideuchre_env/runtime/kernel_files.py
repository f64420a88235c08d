"""Compiled kernels on disk, kept by numba; whatever happens to the files, the program goes on.

A file ends with a checksum of what is before it, so that damaged code is not run. A damaged file is
removed and written anew. Where the folder is full, closed or gone, kernels are compiled in memory.
"""

from __future__ import annotations

import io
import logging
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, ClassVar

from numba.core import caching as _caching
from numba.core import config as _config

caching: Any = _caching
config: Any = _config
_log = logging.getLogger("bideuchre_env")
_CHECKSUM_BYTES = sha256().digest_size


class DamagedFile(Exception):
    """A file of compiled code that is not as it was written."""


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, from which no fault of a file comes out.

    Use `kernel_cache`, which says where the files are.
    """

    _cache_file: Any
    _impl: Any
    said: ClassVar[set[str]] = set()  # in this process, on what is wrong
    keeping = True  # until a kernel could not be written

    def __init__(self, function: Any, form: Any = None) -> None:
        super().__init__(function)
        self._impl = form(function) if form else self._impl
        self._folder = config.CACHE_DIR
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Any = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """What is kept for these types, or None."""
        target_context.refresh()
        try:
            return self._load_overload(signature, target_context)
        except OSError as error:
            _say("cannot be read", error, self._folder)
        except Exception as error:  # whatever damage makes of a checksum, a pickle or machine code
            self._mend(error)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled, if it can be."""
        if not KernelCache.keeping:
            return
        try:
            self._save_overload(signature, compiled)
        except Exception as error:  # the disk is full, or the files are damaged
            KernelCache.keeping = not isinstance(error, OSError)
            _say("cannot be kept", error, self._folder)

    def _mend(self, error: Exception) -> None:
        """Remove a function's index: its kernels are compiled and written anew."""
        try:
            os.unlink(self._cache_file._index_path)
        except OSError as why:
            _say("are damaged and cannot be replaced", why, self._folder)
        else:
            _say("were damaged and are made anew", error, "")


class _CheckedFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """numba's files, each with a checksum behind its pickle, which numba does not read."""

    def save(self, key: Any, data: Any) -> None:
        """Keep the code for a key, in a file that no other key has.

        numba numbers the files, so that two processes may give one number to two keys.
        """
        name = self._data_name(int(sha256(repr(key).encode()).hexdigest()[:12], 16))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def _load_index(self) -> Any:
        if os.path.exists(self._index_path):
            _check(self._index_path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        _check(self._data_path(name))
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[io.BytesIO]:
        with super()._open_for_write(path) as file:
            written = io.BytesIO()
            yield written
            data = written.getvalue()
            file.write(data + sha256(data).digest())


def kernel_cache(function: Any, folder: str, form: Any = None) -> Any:
    """The cache of a function in a folder; one that keeps nothing where there can be none.

    `form` is how compiled code is written and read, if not as numba does it.
    """
    before, config.CACHE_DIR = config.CACHE_DIR, folder
    try:
        cache: Any = KernelCache(function, form)
        if not cache.cache_path.startswith(folder):
            raise PermissionError(None, "no file can be made in it")
        return cache
    except (OSError, RuntimeError) as error:  # numba has no place for it
        _say("cannot be kept", error, folder)
        return caching.NullCache()
    finally:
        config.CACHE_DIR = before


def is_kept(compiled: Any) -> bool:
    """Whether code of a function as it is now is kept for this processor, for whatever types."""
    cache = compiled._cache
    if not isinstance(cache, KernelCache):
        return False
    try:
        kept = cache._cache_file._load_index()
        _, *wanted = cache._index_key(None, compiled.targetctx.codegen())
        return any([*rest] == wanted for _, *rest in kept)
    except Exception:  # it is damaged: it will be made anew
        return False


def _check(path: str) -> None:
    """Raise `DamagedFile` unless a file ends with the checksum of the rest of it."""
    with open(path, "rb") as file:
        data = file.read()
    if sha256(data[:-_CHECKSUM_BYTES]).digest() != data[-_CHECKSUM_BYTES:]:
        raise DamagedFile(f"for example {os.path.basename(path)}")


def _say(what: str, error: Exception, folder: str) -> None:
    """One line for each kind of fault, and none in the processes of a match; with what mends it.

    Of the same reason, or of damage, there is one kind.
    """
    why = getattr(error, "strerror", None) or error
    kind = str(why) if folder else what
    if kind in KernelCache.said or multiprocessing.parent_process() is not None:
        return
    KernelCache.said.add(kind)
    advice = f": make room, delete {folder}, or set NUMBA_CACHE_DIR to another" if folder else ""
    _log.warning("bideuchre_env: files of compiled kernels %s (%s)%s", what, why, advice)
