"""Stamp of a kernel: a hash of everything that determines its machine code, except its types.

That is its bytecode with constants, defaults and options, and the values of the globals that it
reads: of a kernel among them its stamp, of an intrinsic or a function the same again. File names,
line numbers, comments, docstrings and annotations are no part of it. The values are those at the
moment, however they came about: from other modules, data files or the environment.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types as _numba_types

numba_types: Any = _numba_types

_LIBRARIES = sys.stdlib_module_names | {"numpy", "numba", "llvmlite"}
"""Packages whose functions and classes are described by name: their versions are in the names of
cache files, too (`jit.cache_base`)."""
_READS_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_KIND_FLAGS = 0x3FF  # of a code object: variable arguments, generator, ..., not docstring or future
_GENERATED = {
    *("__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__annotate_func__"),
    *("__firstlineno__", "__static_attributes__", "__annotations_cache__"),
    *("__abstractmethods__", "_abc_impl"),
}
"""Attributes of a class that its methods do not depend on."""


class Unstampable(TypeError):
    """A kernel depends on a value of an unknown kind, or on a global that was changed."""


class _Code(NamedTuple):
    """A code object: a text of its behaviour, the globals that it reads, all names in it."""

    text: str
    read: frozenset[str]
    names: frozenset[str]


@cache
def _code(code: types.CodeType) -> _Code:
    """Describe code and the functions defined in it.

    Constants are described where they are loaded. A docstring, which no instruction loads, does not
    count, nor does its place among the constants.
    """
    kind = code.co_flags & _KIND_FLAGS, code.co_posonlyargcount, code.co_kwonlyargcount
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    texts = [repr((code.co_name, code.co_argcount, kind, names))]
    texts.append(repr(getattr(code, "co_exceptiontable", b"")))  # from Python 3.11 on
    read, mentioned = set(), set(code.co_names)
    for each in dis.get_instructions(code):
        is_constant = each.opcode in dis.hasconst
        texts.append(f"{each.opname} {_constant(each.argval) if is_constant else each.arg}")
        if each.opname in _READS_GLOBAL:
            read.add(each.argval)
        if is_constant and isinstance(each.argval, types.CodeType):
            inner = _code(each.argval)
            read |= inner.read
            mentioned |= inner.names
    return _Code("\n".join(texts), frozenset(read), frozenset(mentioned))


def _constant(value: Any) -> str:
    """Return a text of a constant in code; it distinguishes 1, 1.0, True and the signs of zero."""
    if isinstance(value, types.CodeType):
        return _code(value).text
    if isinstance(value, tuple):
        return f"({','.join(map(_constant, value))})"
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(_constant, value))})"
    return f"{type(value).__name__} {value!r}"


_first: dict[Any, str] = {}
"""Stamp of each kernel when this process first needed it."""


class Stamps:
    """Stamps of kernels at one moment: each is made once, later changes of globals are not seen.

    `stamps(kernel)` returns the stamp of a kernel, a dispatcher of numba. Raises `Unstampable`,
    also if the stamp is not the first one of this process: callers may then be linked with code
    that was compiled with the former value of a global.
    """

    def __init__(self) -> None:
        self._made: dict[Any, str] = {}

    def __call__(self, kernel: Any) -> str:
        """Return the stamp of a kernel."""
        if kernel not in self._made:
            self._made[kernel] = ""  # it is being described
            text = describe_kernel(kernel, self)
            self._made[kernel] = hashlib.sha256(text.encode()).hexdigest()
        made = self._made[kernel]
        if not made:
            raise Unstampable(f"{_name(kernel.py_func)} and another kernel call each other")
        if _first.setdefault(kernel, made) != made:
            raise Unstampable(f"a global that {_name(kernel.py_func)} reads was changed")
        return made


def describe_kernel(kernel: Any, stamp: Callable[[Any], str]) -> str:
    """Return the text of a kernel whose hash is its stamp; `stamp` is called with inner kernels."""
    description = _Description(stamp, kernel)
    pipeline = kernel._compiler.pipeline_class
    description.add(f"{pipeline.__module__}.{pipeline.__qualname__}")
    description.add(sorted((name, repr(value)) for name, value in kernel.targetoptions.items()))
    description.function(kernel.py_func)
    return description.text()


def describe(function: Any) -> str:
    """Return a text of a Python function and of all that it reads."""
    description = _Description(Stamps())
    description.function(function)
    return description.text()


class _Description:
    """Collects the texts of values, in order; `kernel` is the kernel that is described."""

    def __init__(self, stamp: Callable[[Any], str], kernel: Any = None) -> None:
        self._stamp, self._kernel = stamp, kernel
        self._texts: list[str] = []
        self._seen: dict[int, Any] = {}  # functions and classes, by id; they stay alive

    def text(self) -> str:
        """Return all texts."""
        return "\0".join(self._texts)

    def add(self, value: Any, names: Iterable[str] = ()) -> None:
        """Add a value. `names` are the attributes that code may read if the value is a module."""
        kind = type(value)
        if value is None or value is Ellipsis or kind in (bool, int, float, complex, str, bytes):
            self._texts.append(f"{kind.__name__} {value!r}")
        elif isinstance(value, enum.Enum):
            self._texts.append(f"{_name(kind)}.{value.name}")
            self.add(value.value)
        elif isinstance(value, (np.generic, np.ndarray, np.dtype)):
            self._texts.append(_numbers(value))
        elif isinstance(value, (tuple, list, set, frozenset, dict)):
            self._items(value)
        elif value is self._kernel:
            self._texts.append("itself")
        elif hasattr(value, "py_func") and hasattr(value, "targetoptions"):
            self._texts.append(f"kernel {self._stamp(value)}")
        elif hasattr(value, "_defn") and kind.__module__.startswith("numba"):  # an intrinsic
            options = value._ctor_kwargs | {"": value._prefer_literal}
            self._texts.append(f"intrinsic {sorted(map(repr, options.items()))}")
            self.add(value._defn)
        elif inspect.ismodule(value):
            self._module(value, names)
        elif isinstance(value, numba_types.Type):
            self._texts.append(text_of_type(value))
        else:
            self._object(value)

    def _items(self, value: Any) -> None:
        kind = type(value)
        self._texts.append(f"{kind.__name__} of {len(value)}")
        if kind not in (tuple, list, set, frozenset, dict):  # a NamedTuple, for example
            self.add(kind)
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        for item in value.items() if isinstance(value, dict) else items:
            self.add(item)

    def _module(self, module: Any, names: Iterable[str]) -> None:
        self._texts.append(f"module {module.__name__}")
        if not _is_of_library(module.__name__):
            for name in sorted(names):
                if hasattr(module, name):
                    self._texts.append(name)
                    self.add(getattr(module, name), names)

    def _object(self, value: Any) -> None:
        """Add a part of a class, a function, a class or a ufunc."""
        if isinstance(value, (staticmethod, classmethod, property)):
            for name in ("__func__", "fget", "fset"):
                self.add(getattr(value, name, None))
            return
        is_class = inspect.isclass(value)
        self._texts.append(_name(value))
        if isinstance(value, np.ufunc) or (
            (is_class or inspect.isroutine(value))
            and _is_of_library(value.__module__ or "builtins")
        ):
            return
        if not is_class and not inspect.isfunction(value):
            raise Unstampable(f"an object of {_name(type(value))}")
        if id(value) not in self._seen:
            self._seen[id(value)] = value
            add = self._class if is_class else self.function
            add(value)

    def function(self, function: Any) -> None:
        """Add a Python function and the globals that it reads."""
        code = _code(function.__code__)
        self._texts.append(code.text)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            self.add(cell.cell_contents)
        for name in sorted(code.read):
            self._texts.append(name)
            if name in function.__globals__:  # else a builtin
                self.add(function.__globals__[name], code.names)

    def _class(self, kind: Any) -> None:
        """Add a class of the package: an enumeration, a NamedTuple, or one with methods."""
        for base in kind.__bases__:
            self.add(base)
        if issubclass(kind, enum.Enum):
            self.add([(member.name, member.value) for member in kind])
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self.add((kind._fields, kind._field_defaults))
        else:
            for name, value in vars(kind).items():
                if name not in _GENERATED:
                    self._texts.append(name)
                    self.add(value)


def _name(value: Any) -> str:
    """Return the module and the name of a function, a class or a ufunc."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", type(value).__name__)
    return f"{getattr(value, '__module__', '')}.{name}"


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES


def _numbers(value: Any) -> str:
    """Return a text of a number, an array or a dtype of numpy."""
    dtype = value if isinstance(value, np.dtype) else value.dtype
    if dtype.hasobject:
        raise Unstampable("an array of objects")
    text = _dtype(dtype)
    if isinstance(value, np.ndarray):
        is_fortran = value.flags.f_contiguous and not value.flags.c_contiguous
        text += f" {value.shape} {'F' if is_fortran else 'C'}"
    return text if value is dtype else f"{text} {hashlib.sha256(value.tobytes()).hexdigest()}"


def _dtype(dtype: np.dtype[Any]) -> str:
    if dtype.names is None or dtype.fields is None:
        return repr(dtype)
    fields = [(name, _dtype(dtype.fields[name][0]), dtype.fields[name][1]) for name in dtype.names]
    return f"{fields} {dtype.itemsize} {dtype.isalignedstruct}"


def text_of_type(value: Any) -> str:
    """Return a text of a numba type that includes the fields of records and NamedTuples.

    numba's own text of a NamedTuple lacks them. Raises `Unstampable` for functions.
    """
    if isinstance(value, numba_types.Callable):
        raise Unstampable("an argument that is a function")
    kind = getattr(value, "instance_class", None)
    inner = [each for each in getattr(value, "types", ()) if isinstance(each, numba_types.Type)]
    dtype = getattr(value, "dtype", value)
    if isinstance(dtype, numba_types.Type) and dtype is not value:
        inner.append(dtype)
    members: Any = getattr(kind, "_fields", ())
    if inspect.isclass(kind) and issubclass(kind, enum.Enum):
        members = [(each.name, each.value) for each in kind]
    return repr((repr(value), kind and _name(kind), members, [*map(text_of_type, inner)]))
