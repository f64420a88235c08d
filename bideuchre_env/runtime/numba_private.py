"""Every use of numba beyond its documented interface: options, linking, cache files, events.

`jit.py` imports this module only for the versions of numba in `jit.TESTED`. For any other version
kernels are compiled by the documented `numba.njit(cache=True)`, and nothing here is needed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any, ClassVar

import numba
from numba import config as _config
from numba import types as _types
from numba.core import caching as _caching
from numba.core import cgutils as _cgutils
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import event as _event
from numba.core.compiler_lock import global_compiler_lock as _lock

caching: Any = _caching
codegen: Any = _codegen
compiler: Any = _compiler
config: Any = _config
event: Any = _event
types: Any = _types
cgutils: Any = _cgutils
lock: Any = _lock
_log = logging.getLogger("bideuchre_env")
UNRESOLVED = ".numba.unresolved$"  # numba's prefix for functions that are called before they exist


def compile_kernel(
    function: Any, folder: str, options: dict[str, Any], *, entry: bool, inline: bool
) -> Any:
    """Return a numba dispatcher of a function, compiled with internal options.

    It caches code in `folder`, or not at all if that is "". Python can call it only if `entry`;
    callers inline it if `inline`.
    """
    njit: Any = numba.njit  # its declared options lack these
    compiled = njit(
        **options,
        _nrt=bool(config.BOUNDSCHECK),  # without reference counts, which only views of rows need
        no_cfunc_wrapper=True,
        no_cpython_wrapper=not entry,
        forceinline=inline,
        pipeline_class=EntryCompiler if entry else InnerCompiler,
    )(function)
    if folder:
        compiled._cache = kernel_cache(function, folder)
    widen_arguments(compiled)
    if not entry:
        _refuse_python_calls(compiled)
    return compiled


def widen_arguments(compiled: Any) -> None:
    """Let callers with constants or small ints share the code compiled for int64.

    Otherwise numba compiles a kernel again for each constant argument and each integer width. LLVM
    still sees the constants and widths when it inlines the kernel. `compiled` is a dispatcher.
    """
    template = compiled.get_call_template

    def widened(argument: Any) -> Any:
        plain = types.unliteral(argument)
        small = isinstance(plain, types.Integer) and plain.signed and plain.bitwidth < 64
        return types.int64 if small else plain

    def get_call_template(args: Any, kws: Any) -> Any:
        return template(tuple(map(widened, args)), {name: widened(kws[name]) for name in kws})

    compiled.get_call_template = get_call_template


def _refuse_python_calls(compiled: Any) -> None:
    """Make a call of this dispatcher from Python raise `TypeError`; it would crash otherwise."""

    def refuse(*args: Any, **kws: Any) -> None:
        name = compiled.py_func.__qualname__
        raise TypeError(f"{name} is called by kernels alone: make it an entry_kernel")

    compiled._insert = lambda *args, **kws: None  # so that a call finds no compiled code
    compiled._compile_for_args = refuse


def machine_code(compiled: Any, argument_types: tuple[Any, ...]) -> Any:
    """Compile an entry kernel for these types; return its code, which checks no arguments."""
    return compiled.compile(argument_types)


class EntryLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of an entry kernel and of all kernels it calls.

    The called functions become internal, so that LLVM can inline or specialize each one and drop
    the original. numba links functions as `linkonce_odr`: LLVM must assume that other modules call
    them.
    """

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == codegen.ll.Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._optimize_final_module()


class InnerLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of an inner kernel, which only kernels call, and of all kernels it calls.

    LLVM's module passes and the translation to machine code are only done for entry kernels.
    Otherwise they would be repeated at every level of calls. Inner kernels must not be mutually
    recursive, print, or raise errors with arguments: numba needs machine code for that.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        if any(each.name.startswith(UNRESOLVED) for each in self._final_module.global_variables):
            raise TypeError(f"{self.name}: expected kernels without mutual recursion")
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Finalize the library; return 0, because there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The object whose `set_env` numba calls."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing: there is no machine code that could hold the address of `env`."""

    def serialize_using_object_code(self) -> Any:
        """Return the state for the cache: name and bitcode."""
        return self.name, self._get_module_for_linking().as_bitcode()


class EntryCompiler(compiler.Compiler):  # type: ignore[misc]
    """numba's compiler with output in an `EntryLibrary`."""

    library: type[Any] = EntryLibrary

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        generator = self.state.targetctx.codegen()
        self.state.library = self.library(generator, function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class InnerCompiler(EntryCompiler):
    """numba's compiler with output in an `InnerLibrary`."""

    library = InnerLibrary


class _RestoringContext:
    """numba's target context, except that it restores code of inner kernels, too."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> Any:
        """Return the object whose `unserialize_library` numba calls."""
        return self

    def unserialize_library(self, state: Any) -> Any:
        """Return the library with a state from the cache."""
        generator = self._context.codegen()
        if len(state) > 2:
            return generator.unserialize_library(state)
        library = InnerLibrary(generator, state[0])
        library._final_module = codegen.ll.parse_bitcode(state[1])
        library._finalize_final_module()
        return library


class _Results(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Cached results of compiling a kernel."""

    def rebuild(self, context: Any, data: Any) -> Any:
        """Return the compiled kernel."""
        return super().rebuild(_RestoringContext(context), data)._replace(target_context=context)


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """numba's cache of one function; a failed read deletes its index, so it is recompiled."""

    _impl_class = _Results
    _cache_file: Any
    warned: ClassVar[bool] = False  # whether a warning was logged that kernels cannot be saved

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _KernelFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the code saved for these types; None if there is none, or if it is damaged."""
        try:
            return super().load_overload(signature, target_context)
        except Exception:  # a damaged pickle or object file may raise anything
            with suppress(OSError):
                os.unlink(self._cache_file._index_path)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save compiled code; if that fails, only log one warning in this process."""
        try:
            super().save_overload(signature, compiled)
        except Exception as error:
            _warn(error)


class _KernelFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Cache files of one function; the name of a data file depends on the types it is for.

    numba numbers the files instead. Two processes could give the same number to different types,
    and one would then run the code of the other.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write the code for a key, then the index that names the file."""
        name = self._data_name(int(sha256(repr(key).encode()).hexdigest()[:12], 16))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


def kernel_cache(function: Any, folder: str) -> Any:
    """Return a function's cache in a folder; if the folder is unusable, a cache that saves nothing.

    In that case a warning is logged.
    """
    before, config.CACHE_DIR = config.CACHE_DIR, folder
    try:
        cache: Any = KernelCache(function)
        if not cache.cache_path.startswith(folder):  # beside the source, where edits go unnoticed
            raise PermissionError(None, f"{folder} cannot be written")
        return cache
    except (OSError, RuntimeError) as error:  # numba cannot write to the folder
        _warn(error)
        return caching.NullCache()
    finally:
        config.CACHE_DIR = before


def _warn(error: Exception) -> None:
    """Log once in a process that compiled kernels cannot be saved."""
    if not KernelCache.warned:
        KernelCache.warned = True
        why = getattr(error, "strerror", None) or error
        _log.warning("bideuchre_env: compiled kernels cannot be saved: %s", why)


class _Listener(event.Listener):  # type: ignore[misc]
    """Calls one function with a dispatcher before it is compiled, and another one after."""

    def __init__(self, begin: Callable[[Any], None], end: Callable[[Any], None]) -> None:
        self._begin, self._end = begin, end

    def on_start(self, event: Any) -> None:
        self._begin(event.data["dispatcher"])

    def on_end(self, event: Any) -> None:
        self._end(event.data["dispatcher"])


def watch_compiling(begin: Callable[[Any], None], end: Callable[[Any], None]) -> None:
    """Call `begin(dispatcher)` before and `end(dispatcher)` after every compilation of numba."""
    event.register("numba:compile", _Listener(begin, end))


def is_compiling() -> bool:
    """Whether numba compiles at this moment in this thread."""
    return bool(lock.is_locked())
