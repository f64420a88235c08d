"""Files that custom agents consist of: their code, and the files that they read when they are made.

Results of an agent are old once one of its inputs changes. The package's own agents depend on the
version of the package and on its data files only.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from bideuchre_env.agents.registry import (
    BUILT_IN,
    COMMAND,
    NOT_USER_CODE,
    files_of,
    find,
    parameters_of,
    parse,
)
from bideuchre_env.runtime.cache import user_cache
from bideuchre_env.runtime.contexts import holding

PACKAGE = "package "
"""Prefix of the names of packages in `inputs`, before that of the package."""
_INSTALLED = {"site-packages", "dist-packages", "__pycache__"}
_read: set[str] = set()
_watching = ContextVar("_watching", default=False)


def watch_reads() -> AbstractContextManager[None]:
    """Context in which the files that Python code opens for reading are recorded, for `inputs`."""
    _install_hook()
    return holding(_watching, True)


@lru_cache(maxsize=1)
def _install_hook() -> None:
    sys.addaudithook(_record)  # which nothing can remove


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: record the path of a file that is opened for reading only."""
    if event == "open" and _watching.get():
        path, mode, flags = arguments
        writes = set(mode) & set("wax+") if mode else flags & (os.O_WRONLY | os.O_RDWR)
        if isinstance(path, str) and not writes:
            _read.add(os.path.abspath(path))


def inputs(agents: Iterable[str]) -> dict[str, str | None]:
    """Return the inputs that determine the play of these custom agents, except Python itself.

    These are hashes of files, by path, and versions of installed packages, by `PACKAGE` + name. The
    files are values of options and defaults of constructors that are paths; programs and files in
    the commands of bots; Python files that this process has imported; and files that were read
    while agents were made (`watch_reads`). The files of installed packages are left out; so are
    files that an agent reads while it plays.
    """
    paths, modules = set[str](), dict[str, ModuleType]()
    for agent in agents:
        own, options = parse(agent)
        values = list(options.values())
        if own == COMMAND:
            values = [*files_of(agent)]
        elif own not in BUILT_IN:
            source = find(own)
            values += [each.default for each in parameters_of(source).values()]
            modules |= _user_modules(getattr(source, "__module__", None))
        paths |= {os.fspath(each) for each in values if isinstance(each, (str, os.PathLike))}
    if modules:
        paths |= {str(module.__file__) for module in modules.values()} | _read_by_users()
    files = (path for path in paths if os.path.isfile(os.path.expanduser(path)))
    result = {_display_name(path): digest(path) for path in files}
    return dict(sorted(result.items())) | _versions(modules.values())


def digest(path: str) -> str | None:
    """Return the SHA-256 hash of a file; None if there is none, or it cannot be read."""
    try:
        file = Path(path).expanduser()
        now = file.stat()
        return _hash(file.resolve(), (now.st_ino, now.st_mtime_ns, now.st_size))
    except (OSError, ValueError, RuntimeError):
        return None


@lru_cache(maxsize=1024)
def _hash(file: Path, stamp: tuple[int, ...]) -> str:
    """Return the hash of a file; `stamp` (inode, time, size) is only a part of the cache key."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _user_modules(own: str | None) -> dict[str, ModuleType]:
    """Return the imported modules that are files outside of packages, by name.

    The main module, of any name, is among them only if it is `own`, the module of the agent.
    """
    main = sys.modules.get("__main__")  # in a child process it is `__mp_main__` too
    return {
        name: module
        for name, module in list(sys.modules.items())
        if (module is not main or own == name)
        and isinstance(file := getattr(module, "__file__", None), str)
        and _is_user_file(file)
    }


def _read_by_users() -> set[str]:
    caches = str(user_cache()), os.environ.get("NUMBA_CACHE_DIR") or str(user_cache())
    return {path for path in _read if _is_user_file(path) and not path.startswith(caches)}


def _is_user_file(path: str) -> bool:
    """Whether a path is of a file with content, outside of Python, its packages and this one."""
    if path.startswith(NOT_USER_CODE) or _INSTALLED & {*Path(path).parts}:
        return False
    real = os.path.realpath(path)
    if real.startswith(NOT_USER_CODE) or not os.path.isfile(real):
        return False
    return os.path.getsize(real) > 0  # files of /proc have the size 0, and contents that change


def _display_name(path: str) -> str:
    """Return the name of a file in `inputs`: relative if it is in the current folder."""
    real, here = os.path.realpath(os.path.expanduser(path)), os.path.realpath(os.getcwd())
    return os.path.relpath(real, here) if real.startswith(here + os.sep) else real


def _versions(modules: Iterable[ModuleType]) -> dict[str, str]:
    """Return the versions of the installed packages from which these modules have a name."""
    origins = {
        getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", None)
        for module in modules
        for value in list(vars(module).values())
    }
    tops = {name.partition(".")[0] for name in origins if isinstance(name, str)}
    names = {name for top in tops for name in _distributions().get(top, ())}
    return {PACKAGE + name: metadata.version(name) for name in sorted(names)}


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())
