"""`bideuchre compile`: compile everything beforehand, so that the first use need not."""

from __future__ import annotations

import argparse
from typing import Any

from bideuchre_env.cli.options import check_agents
from bideuchre_env.cli.screen import AGENTS, help_of
from bideuchre_env.errors import OptionError

_DESCRIPTION = """\
Compile the kernels beforehand, which the first use would do, and keep them. They serve every
variant. Ctrl-C ends it; what is compiled by then is kept."""
_EXAMPLES = ("bideuchre compile", "bideuchre compile --agents rule expert")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "compile",
        help="compile everything beforehand, which the first use would do",
        **help_of(_DESCRIPTION, _EXAMPLES, AGENTS),
    )
    parser.add_argument(
        "--agents",
        nargs="+",
        metavar="A",
        help="only what matches between these agents take (default: everything)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile, and say how long it took and where it is kept."""
    check_agents(arguments.agents or [])
    from bideuchre_env.evaluation.warm_up import PARTS, compile_parts, parts_for
    from bideuchre_env.runtime import jit

    if not jit.JIT:
        raise OptionError("NUMBA_DISABLE_JIT is set: nothing is compiled")
    if not jit.CACHE_FOLDER:
        raise OptionError(
            "no folder for compiled kernels can be written: set NUMBA_CACHE_DIR to one that can"
        )
    kernels, seconds = compile_parts(
        parts_for(arguments.agents) if arguments.agents else tuple(PARTS)
    )
    if kernels:
        print(f"{kernels:,} kernels compiled in {seconds:.0f} seconds, kept in {jit.CACHE_FOLDER}")
    else:
        print(f"everything is compiled already, and kept in {jit.CACHE_FOLDER}")
    return 0
