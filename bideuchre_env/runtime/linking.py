"""Kernels that only kernels call: built into their callers, without machine code of their own.

numba optimises every function to the last and makes machine code of it, whether it is ever called
by itself or not, and optimises it again in its callers, in theirs, and so on. Here it is readied to
be built in and no more, which takes a third less time for the same speed.
"""

from __future__ import annotations

from typing import Any

from numba.core import caching as _caching
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import compiler_machinery as _machinery
from numba.core import typed_passes as _passes

caching: Any = _caching
codegen: Any = _codegen
compiler: Any = _compiler
machinery: Any = _machinery
passes: Any = _passes


class LinkedCode(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel and all that it calls, to be built into others."""

    def _optimize_final_module(self) -> None:
        """The first of numba's two rounds: the second is for machine code, its callers'."""
        cheap = getattr(self._codegen, "_mpm_cheap", None)
        if cheap is not None:  # numba until 0.62
            cheap.run(self._final_module)
            return
        manager, builder = self._codegen._module_pass_manager(
            loop_vectorize=self._codegen._loopvect,
            slp_vectorize=False,
            opt=self._codegen._opt_level,
            cost="cheap",
        )
        manager.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        """Note what is done; numba would make machine code of it here."""
        self._finalize_dynamic_globals()
        self._finalized = True


@machinery.register_pass(mutates_CFG=False, analysis_only=True)
class Prepare(machinery.LoweringPass):  # type: ignore[misc]
    """Gives a kernel a `LinkedCode` for its code, where numba would take a library of its own."""

    _name = "bideuchre_prepare"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Put the code of the kernel into a `LinkedCode`, and ask for no machine code."""
        state.library = LinkedCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return False


@machinery.register_pass(mutates_CFG=False, analysis_only=True)
class Offer(machinery.LoweringPass):  # type: ignore[misc]
    """Lets callers find a kernel that has no machine code."""

    _name = "bideuchre_offer"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Enter the kernel for its callers, as numba does for functions with machine code.

        numba knows a function by the address of its code, here by an object in its place.
        """
        lowered, known_by = state["cr"], object()
        state.targetctx.insert_user_function(known_by, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=known_by)
        return False


class LinkedPipeline(compiler.CompilerBase):  # type: ignore[misc]
    """Compiles a kernel that only kernels call."""

    def define_pipelines(self) -> list[Any]:
        """The passes of numba, with `Prepare` before the one that makes code and `Offer` after."""
        steps = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(Prepare, passes.AnnotateTypes)
        steps.add_pass_after(Offer, passes.NativeLowering)
        steps.finalize()
        return [steps]


class LinkedFiles(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """How a linked kernel is written to a file and read: as LLVM bitcode, not as machine code."""

    def reduce(self, compiled: Any) -> Any:
        """The parts of a compiled kernel that are pickled."""
        library, description = compiled.library, compiled.fndesc
        description.typemap = description.calltypes = None
        code = library._get_module_for_linking().as_bitcode()
        return library.name, code, description, compiled.signature

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The compiled kernel, from what `reduce` gave."""
        name, code, description, signature = payload
        library = LinkedCode(target_context.codegen(), name)
        library._final_module = library._shared_module = codegen.ll.parse_bitcode(code)
        library._finalized = True
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
