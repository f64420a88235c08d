"""Load agents from Python files and modules, reporting errors in one line."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from bideuchre_env._checks import did_you_mean, shown
from bideuchre_env.errors import BidEuchreError, OptionError

_LIBRARY = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_PACKAGE = {str(Path(__file__).parent), str(Path(__file__).resolve().parent)}
_PACKAGE |= {str(Path(folder).parent / "bideuchre_env") for folder in _PACKAGE}
_NOT_USER_CODE = tuple(_LIBRARY | _PACKAGE | {"<frozen "})

_files: dict[str, tuple[int, ModuleType]] = {}  # by path: its time of change when it was run
_kept = ContextVar("_kept", default=False)


@contextmanager
def files_kept() -> Iterator[None]:
    """Within this context no file is run again after a change: a run uses one version."""
    before = _kept.set(True)
    try:
        yield
    finally:
        _kept.reset(before)


def are_kept() -> bool:
    """Whether `files_kept` is in effect."""
    return _kept.get()


def from_file(path: str, attribute: str) -> Any:
    """Return an attribute of a Python file, which may be dotted.

    The file is run once, and again after it has changed, except within `files_kept`. It can import
    modules of its folder. Raises `OptionError` for a file that is missing or raises an error, and
    for a missing attribute.
    """
    file = Path(path).expanduser()
    key = str(file.resolve())
    if are_kept() and key in _files:
        return _attribute(path, _files[key][1], attribute)
    if not file.is_file():
        beside = sorted(str(each) for each in Path(".").glob("*.py"))
        close = did_you_mean(file.name, beside)
        raise OptionError(f"there is no file {shown(path)}{close}")
    written = file.stat().st_mtime_ns
    if key not in _files or _files[key][0] != written:
        _files[key] = written, load_or_explain(path, lambda: _run(file.resolve()))
    return _attribute(path, _files[key][1], attribute)


def is_importable(module: str) -> bool:
    """Whether a module's top-level package can be imported, also from the working directory."""
    _make_importable(Path.cwd())
    first = module.partition(".")[0]
    return first in sys.modules or importlib.util.find_spec(first) is not None


def from_module(name: str, attribute: str) -> Any:
    """Return an attribute of a module; the working directory is searched too.

    Raises `OptionError` as `from_file` does.
    """
    _make_importable(Path.cwd())
    return _attribute(name, load_or_explain(name, lambda: import_module(name)), attribute)


def load_or_explain(what: str, load: Callable[[], Any]) -> Any:
    """Return `load()`; an error in it becomes an `OptionError` of one line with its place."""
    try:
        return load()
    except BidEuchreError:
        raise
    except (Exception, SystemExit) as error:
        raise OptionError(f"{what}: {in_one_line(error)}") from error


def in_one_line(error: BaseException) -> str:
    """Format an error of user code: its type, its message, and the last line of user code."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {kind}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [frame for frame in frames if not frame.filename.startswith(_NOT_USER_CODE)]
    last = user_frames[-1] if user_frames else None
    where = f" ({Path(last.filename).name}, line {last.lineno})" if last else ""
    return f"{kind}: {text[:300]}{where}" if text else f"{kind}{where}"


def _run(file: Path) -> ModuleType:
    """Run a file as a module with a unique name."""
    name = f"agent file {file}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None  # it ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _make_importable(file.parent)
    sys.modules[name] = module  # dataclasses look themselves up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _make_importable(folder: Path) -> None:
    """Append a folder to `sys.path`, so that it hides no other module."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _attribute(where: str, module: ModuleType, attribute: str) -> Any:
    try:
        return reduce(getattr, attribute.split("."), module)
    except AttributeError:
        agents = _agents_in(module)
        known = f": its agents are {', '.join(agents)}" if agents else ", and defines no agent"
        close = did_you_mean(attribute, agents)
        raise OptionError(f"{where} has no {attribute!r}{close}{known}") from None


def _agents_in(module: ModuleType) -> list[str]:
    """Public names of agents, classes of agents and functions that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (isinstance(value, FunctionType) or hasattr(value, "act") or hasattr(value, "act_rows"))
    ]
