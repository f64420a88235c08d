"""Agents out of Python files and modules, and what goes wrong in them, in a line."""

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
_NOT_THEIRS = tuple(_LIBRARY | _PACKAGE | {"<frozen "})

_files: dict[str, tuple[int, ModuleType]] = {}  # by path: when it was written, and what it gave
_kept = ContextVar("_kept", default=False)


@contextmanager
def files_kept() -> Iterator[None]:
    """Files that have been run are taken as they were, changed or not: one version for a run."""
    before = _kept.set(True)
    try:
        yield
    finally:
        _kept.reset(before)


def are_kept() -> bool:
    """Whether files are taken as they were."""
    return _kept.get()


def from_file(path: str, attribute: str) -> Any:
    """What a Python file calls `attribute`, which may be dotted.

    The file is run once, and again after it has changed, but for `files_kept`; modules beside it
    can be imported.
    Raises `OptionError` for a file that is not there or does not run, and for a missing attribute.
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
        _files[key] = written, loaded(path, lambda: _run(file.resolve()))
    return _attribute(path, _files[key][1], attribute)


def is_there(module: str) -> bool:
    """Whether a module's first package can be imported, from the working directory or elsewhere."""
    _make_importable(Path.cwd())
    first = module.partition(".")[0]
    return first in sys.modules or importlib.util.find_spec(first) is not None


def from_module(name: str, attribute: str) -> Any:
    """What a module calls `attribute`; modules of the working directory are found too.

    Raises `OptionError` as `from_file` does.
    """
    _make_importable(Path.cwd())
    return _attribute(name, loaded(name, lambda: import_module(name)), attribute)


def loaded(what: str, load: Callable[[], Any]) -> Any:
    """What `load` gives; an error is an `OptionError` of one line that says where it was raised."""
    try:
        return load()
    except BidEuchreError:
        raise
    except (Exception, SystemExit) as error:
        raise OptionError(f"{what}: {in_one_line(error)}") from error


def in_one_line(error: BaseException) -> str:
    """An error of somebody's code: its type, what it says, and the last line of theirs."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {kind}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(_NOT_THEIRS)]
    where = f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else ""
    return f"{kind}: {text[:300]}{where}" if text else f"{kind}{where}"


def _run(file: Path) -> ModuleType:
    """Run a file as a module of its own, under a name that no other module has."""
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
    """Let modules of this folder be imported, after everything that already can be."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _attribute(where: str, module: ModuleType, attribute: str) -> Any:
    try:
        return reduce(getattr, attribute.split("."), module)
    except AttributeError:
        agents = agents_in(module)
        there = f": its agents are {', '.join(agents)}" if agents else ", and defines no agent"
        close = did_you_mean(attribute, agents)
        raise OptionError(f"{where} has no {attribute!r}{close}{there}") from None


def agents_in(module: ModuleType) -> list[str]:
    """The names a module gives to agents, classes of agents and functions of its own."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (isinstance(value, FunctionType) or hasattr(value, "act") or hasattr(value, "act_rows"))
    ]
