"""The cache folder of compiled kernels; its name has a hash of their sources.

numba caches compiled code by the source file of each function, so it does not notice an edit of a
kernel that another kernel calls, not even after an upgrade of the package. The name of the cache
folder therefore has a hash of every source file that compiled code depends on, and of the settings
that change it: any edit leads to a new folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_STALE_SECONDS = 14 * 24 * 3600


def kernel_sources(package: Path = _PACKAGE) -> dict[str, Path]:
    """Return the files that compiled code depends on, as a dict by their path in the package.

    They are the files with kernels, `runtime/jit.py`, `runtime/numba_private.py`, and all files of
    the package that these import at their top level, directly or indirectly.
    """
    linked = package / "agents"  # a symbolic link in a checkout, if supported
    agents = linked if linked.is_dir() else package.parent / "agents"
    files = {
        f"{room}{path.relative_to(folder).as_posix()}": path
        for room, folder in (("", package), ("agents/", agents))
        for path in sorted(folder.rglob("*.py"))
    }
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    sources = {name for name, text in texts.items() if re.search(r"^@\w*kernel\b", text, re.M)}
    frontier = sources | {"runtime/jit.py", "runtime/numba_private.py"}
    while frontier:
        sources |= frontier
        imported = {module for name in frontier for module in _imports(texts[name])}
        frontier = (imported & texts.keys()) - sources
    return {name: files[name] for name in sorted(sources)}


def _imports(text: str) -> set[str]:
    """Return paths in the package that a source file may import at its top level.

    `text` is the source. Some of the paths may not exist: an imported name need not be a module.
    """
    imported = set()
    for module, names in re.findall(
        r"^from bideuchre_env\.?([\w.]*) import (\([^)]*\)|.*)", text, re.M
    ):
        folder = module.replace(".", "/")
        for name in ("", *re.findall(r"\w+", names)):
            inner = f"{folder}/{name}".strip("/")
            imported |= {f"{inner}.py", f"{inner}/__init__.py".lstrip("/")}
    return imported


def _fingerprint(settings: object) -> str:
    """Return a hash of the kernels' sources and of the `repr` of the settings."""
    digest = hashlib.sha256()
    digest.update(repr(settings).encode())
    for name, path in kernel_sources().items():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def user_cache() -> Path:
    """Return the package's folder in the user's cache; `RuntimeError` without a home folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "bideuchre_env"


def _cache_bases() -> Iterator[Path]:
    """Yield the folders that may hold the cache folder, the preferred one first.

    With the environment variable NUMBA_CACHE_DIR, that folder is the only one.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
        return
    yield _PACKAGE / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user without a home
        yield user_cache()
    with contextlib.suppress(OSError):  # a machine without a folder for temporary files
        yield from _own_temporary_folder()


def _own_temporary_folder() -> Iterator[Path]:
    """Yield a temporary folder that only this user can write to; nothing if others can."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"bideuchre_env-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not hasattr(os, "getuid") or (status.st_uid == user and not status.st_mode & 0o022):
        yield folder


def cache_folder(settings: object) -> str:
    """Return the cache folder for these settings, created if needed; "" if none can be written.

    It is in the folder NUMBA_CACHE_DIR, if that environment variable is set. Else it is in the
    first of these that is writable: the package's folder, the user's cache, temporary files. Cache
    folders there of other sources or settings are deleted after two weeks without use.
    """
    name = f"kernels-{_fingerprint(settings)}"
    for base in _cache_bases():
        folder = base / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            os.utime(folder)
        except OSError:
            continue
        _drop_stale(base, name)
        return str(folder)
    return ""


def _drop_stale(base: Path, keep: str) -> None:
    """Delete the cache folders in `base`, except `keep`, that were not used for two weeks."""
    for old in base.glob("kernels-*"):
        try:
            if old.name != keep and time.time() - old.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
        except OSError:
            continue
