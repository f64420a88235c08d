"""Kernels that only kernels call: linked into their callers, without machine code of their own.

numba makes machine code of every function, and optimises it anew in each of its callers, in theirs,
and so on. Here an entry kernel is optimised once with all that it calls, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numba.core import caching as _caching
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import compiler_machinery as _machinery
from numba.core import typed_passes as _passes

from bideuchre_env.runtime.kernel_files import StaleFile

caching: Any = _caching
codegen: Any = _codegen
compiler: Any = _compiler
machinery: Any = _machinery
passes: Any = _passes

KERNELS: dict[str, Any] = {}
"""What was compiled by `LinkedPipeline`, by module and name."""


class Linked(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of one kernel, to be linked; what it calls stands in `linked`."""

    _linking_libraries: Any
    linked: list[Any]
    kernel: tuple[str, tuple[Any, ...]]

    def finalize(self) -> None:
        """Take in what numba itself has compiled for it."""
        self._raise_if_finalized()
        self.linked = []
        for library in dict.fromkeys(self._linking_libraries):
            if isinstance(library, Linked):
                self.linked.append(library)
            else:
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


class Whole(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that Python calls, with all that it calls."""

    _linking_libraries: Any

    def finalize(self) -> None:
        """Link, optimise, and make machine code."""
        self._linking_libraries = reached(self._linking_libraries)
        super().finalize()


def reached(libraries: Iterable[Any]) -> list[Any]:
    """These libraries and those linked to them."""
    found: dict[Any, None] = {}
    frontier = list(libraries)
    while frontier:
        library = frontier.pop()
        if library not in found:
            found[library] = None
            frontier += getattr(library, "linked", ())
    return list(found)


class _Prepare(machinery.LoweringPass):  # type: ignore[misc]
    """Gives a kernel its library."""

    library: Any

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        identity = state.func_id
        state.library = self.library(state.targetctx.codegen(), identity.func_qualname)
        state.library.enable_object_caching()
        state.library.kernel = (f"{identity.modname}.{identity.func_qualname}", tuple(state.args))
        return False


@machinery.register_pass(mutates_CFG=False, analysis_only=True)
class PrepareLinked(_Prepare):
    """For a kernel that kernels alone call."""

    _name = "bideuchre_prepare_linked"
    library = Linked

    def run_pass(self, state: Any) -> bool:
        """And no machine code."""
        state.flags.no_compile = True
        return super().run_pass(state)


@machinery.register_pass(mutates_CFG=False, analysis_only=True)
class PrepareWhole(_Prepare):
    """For a kernel that Python calls."""

    _name = "bideuchre_prepare_whole"
    library = Whole


@machinery.register_pass(mutates_CFG=False, analysis_only=True)
class Offer(machinery.LoweringPass):  # type: ignore[misc]
    """Offers a kernel that is linked to its callers."""

    _name = "bideuchre_offer"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """numba does so where there is machine code, by which it then knows the kernel."""
        lowered, known_by = state["cr"], object()
        state.targetctx.insert_user_function(known_by, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=known_by)
        return False


class LinkedPipeline(compiler.CompilerBase):  # type: ignore[misc]
    """Compiles a kernel that kernels alone call."""

    def define_pipelines(self) -> list[Any]:
        """numba's own, with a pass before and a pass behind the one that makes code."""
        steps = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(PrepareLinked, passes.AnnotateTypes)
        steps.add_pass_after(Offer, passes.NativeLowering)
        steps.finalize()
        return [steps]


class WholePipeline(compiler.CompilerBase):  # type: ignore[misc]
    """Compiles a kernel that Python calls."""

    def define_pipelines(self) -> list[Any]:
        """numba's own, with a pass before the one that makes code."""
        steps = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(PrepareWhole, passes.AnnotateTypes)
        steps.finalize()
        return [steps]


class LinkedImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """How a linked kernel is kept: its code, and which kernels it calls."""

    def reduce(self, compiled: Any) -> Any:
        """What is written."""
        library, description = compiled.library, compiled.fndesc
        description.typemap = description.calltypes = None
        code = library._get_module_for_linking().as_bitcode()
        calls = [(*each.kernel, symbol(*each.kernel)) for each in library.linked]
        return library.name, library.kernel, code, calls, description, compiled.signature

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The same from what was written; what it calls is read, too."""
        name, kernel, code, calls, description, signature = payload
        library = Linked(target_context.codegen(), name)
        library._final_module = library._shared_module = codegen.ll.parse_bitcode(code)
        library.kernel, library._finalized = kernel, True
        library.linked = [linked(*each) for each in calls]
        return compiler.compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            entry_point=object(),
            fndesc=description,
            signature=signature,
            objectmode=False,
            lifted=(),
            typing_error=None,
            reload_init=[],
            referenced_envs=[],
        )


def linked(name: str, types: tuple[Any, ...], known_as: str) -> Linked:
    """The code of a kernel for these types, read or compiled.

    Raises `StaleFile` if it has been compiled again since a caller knew it by this symbol.
    """
    compiled = KERNELS[name]
    compiled.compile(types)
    if symbol(name, types) != known_as:
        raise StaleFile
    library: Linked = compiled.overloads[types].library
    return library


def symbol(name: str, types: tuple[Any, ...]) -> str:
    """What a kernel's code for these types is called where it is linked."""
    return str(KERNELS[name].overloads[types].fndesc.mangled_name)
