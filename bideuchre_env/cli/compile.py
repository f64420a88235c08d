"""Compile the kernels before their first use: `bideuchre compile`.

Compile the kernels of all commands but `bideuchre prepare` on all cores, and save them; otherwise
they are compiled on first use. They serve every variant. After Ctrl-C the next run compiles the
missing parts.

    bideuchre compile
    bideuchre compile rule expert
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from bideuchre_env.cli.options import argument, check_agents, new_command
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.screen import AGENTS
from bideuchre_env.errors import OptionError


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "compile", run, __doc__, AGENTS)
    meaning = "only the kernels for matches of these agents (default: of all commands but prepare)"
    argument(parser, "agents A", meaning, default=[], nargs="*")


def run(arguments: argparse.Namespace) -> int:
    """Compile, and print the number of kernels, the time and the folder; return 0.

    Raises `OptionError` if numba cannot compile or no cache folder is writable.
    """
    check_agents(arguments.agents)
    from bideuchre_env.bench.measure import core_count
    from bideuchre_env.evaluation.kernel_parts import agent_parts, is_compiled
    from bideuchre_env.evaluation.warm_up import PARTS, compile_in_processes
    from bideuchre_env.runtime import jit

    if not jit.JIT:
        raise OptionError("NUMBA_DISABLE_JIT is set: unset it to compile kernels")
    if not jit.private:
        raise OptionError("this version of numba is not tested, so kernels cannot be saved")
    parts = ("game", *agent_parts(arguments.agents)) if arguments.agents else tuple(PARTS)
    if not jit.FILES.writable and not all(map(is_compiled, parts)):
        raise OptionError("no cache folder is writable: set NUMBA_CACHE_DIR to a writable folder")
    started, kernels = time.perf_counter(), 0
    with progress_bar("compiling", "parts", "kernels") as update:
        compiled = compile_in_processes(parts, min(core_count(), len(parts)))
        for done, number in enumerate(compiled, start=1):
            kernels += number
            update(done, len(parts), kernels)
    seconds = time.perf_counter() - started
    if kernels:
        print(
            f"{kernels:,} kernels compiled in {seconds:.0f} seconds, saved in {jit.FILES.writable}"
        )
    else:
        whose = "matches of these agents" if arguments.agents else "all commands but prepare"
        print(f"the kernels of {whose} are compiled already")
    return 0
