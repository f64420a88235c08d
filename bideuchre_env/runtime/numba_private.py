"""Every use of numba beyond its documented interface: options, linking, cache files, events.

`jit.py` imports this module only for the versions of numba in `jit.TESTED`. For any other version
kernels are compiled by the documented `numba.njit`, and nothing here is needed.
"""

from __future__ import annotations

import logging
import pickle
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numba
from numba import config as _config
from numba import types as _types
from numba.core import caching as _caching
from numba.core import cgutils as _cgutils
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import event as _event
from numba.core.compiler_lock import global_compiler_lock as _lock

from bideuchre_env.runtime.cache import KernelFiles
from bideuchre_env.runtime.compiling import warn_once
from bideuchre_env.runtime.stamps import Stamps, text_of_type

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


def compile_kernel(function: Any, options: dict[str, Any], *, entry: bool, inline: bool) -> Any:
    """Return a numba dispatcher of a function, compiled with internal options.

    Python can call it only if `entry`; callers inline it if `inline`. The names of cache files
    depend on the code of this function and on all that it reads: an edit recompiles all kernels.
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


@dataclass
class _Compilation:
    """Call of numba's `compile` for a kernel; calls are nested as the kernels are."""

    stamps: Stamps
    """Stamps at the beginning of the outermost call."""
    locks: ExitStack
    """Holds the lock of the file while this process compiles it."""
    name: str = ""
    """Name of the file to save the code in; "" for none."""


_running: list[_Compilation] = []
"""The calls of `compile` now, the innermost one last; changed by the owner of numba's lock only."""


class KernelCache(caching.NullCache):  # type: ignore[misc]
    """The saved code of one kernel, for any types; numba asks it before and after it compiles."""

    def __init__(self, kernel: Any, files: KernelFiles, base: Callable[[], str]) -> None:
        self._kernel, self.files, self._base = kernel, files, base

    def file_name(self, argument_types: str, stamps: Stamps) -> str:
        """Return the name of the file with the code for a text of argument types."""
        processor = self._kernel.targetctx.codegen().magic_tuple()
        parts = (self._base(), stamps(self._kernel), argument_types, processor)
        digest = sha256(repr(parts).encode()).hexdigest()
        function = self._kernel.py_func
        readable = re.sub(r"[^\w.]+", "_", f"{function.__module__}.{function.__qualname__}")
        return f"{readable.removeprefix('bideuchre_env.')[:80]}-{digest[:24]}.nbc"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the code saved for these types; None if there is none, or if it is damaged.

        Waits while another process compiles it. If no code is saved, this process is to compile it:
        other processes wait until `save_overload` has saved it.
        """
        target_context.refresh()
        this = _running[-1]
        try:
            name = self.file_name(_text_of_types(signature), this.stamps)
        except Exception as error:  # usually `Unstampable`
            _log.debug("bideuchre_env: %s is not cached: %s", self._kernel, error)
            return None
        code = self._read(name, target_context)
        if code is None:
            this.name = name
            this.locks.enter_context(self.files.locked(name))
            code = self._read(name, target_context)
        return code

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save compiled code; if that fails, only log one warning."""
        name = _running[-1].name
        if not name or compiled.library.has_dynamic_globals:  # it has addresses of this process
            return
        try:
            self.files.write(name, caching.dumps(compiled._reduce()))
        except Exception as error:
            why = getattr(error, "strerror", None) or error
            warn_once("compiled kernels cannot be saved: %s", why)

    def _read(self, name: str, target_context: Any) -> Any:
        content = self.files.read(name)
        if content is None:
            return None
        try:
            data = pickle.loads(content)
            code = compiler.CompileResult._rebuild(_RestoringContext(target_context), *data)
            return code._replace(target_context=target_context)
        except Exception:  # of another build of numba, for example: anything
            return None


def _text_of_types(signature: Any) -> str:
    arguments = signature if isinstance(signature, tuple) else signature.args
    return repr(list(map(text_of_type, arguments)))


def use_files(compiled: Any, files: KernelFiles, base: Callable[[], str]) -> None:
    """Let a kernel load and save its code; `base()` hashes all that stamps lack."""
    compiled._cache = KernelCache(compiled, files, base)
    compile_ = compiled.compile

    def compile_one(signature: Any) -> Any:
        with lock, ExitStack() as locks:
            stamps = _running[0].stamps if _running else Stamps()
            _running.append(_Compilation(stamps, locks))
            try:
                return compile_(signature)
            finally:
                _running.pop()

    compiled.compile = compile_one


def types_in_use(kernel: Any) -> list[str]:
    """Return a text of the argument types of each code of a kernel that this process has."""
    return list(map(_text_of_types, kernel.signatures))


def is_saved(kernel: Any, argument_types: str, stamps: Stamps) -> bool:
    """Return whether a kernel's code for these types, a text of `types_in_use`, is saved."""
    cache = kernel._cache
    return cache.files.find(cache.file_name(argument_types, stamps)) is not None


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
