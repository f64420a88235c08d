"""Studies of agents: lost tricks, exploitability, calls and cards, decisions, beliefs, callers.

    python experiments/studies.py regret --agents rule expert pimc --hands 2000
    python experiments/studies.py beliefs --check calibration
    python experiments/studies.py exploit --help

Each sub-command in `STUDIES` is a module of this folder with its own options.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from bideuchre_env.cli.screen import script_help
from bideuchre_env.cli.script_args import run

STUDIES = {
    "regret": "tricks that each agent gives away, against exact play with all hands seen",
    "exploit": "points that a player trained against one agent gains over it",
    "compare-decisions": "decisions of agents in the same positions, their time and their cost",
    "late-bids": "whether last bids near the end of a game win more games than a pass",
    "beliefs": "whether searchers' intervals and predictions hold after rare calls",
    "callers": "how well searchers infer hands from the calls of people, and of agents",
}


def main(arguments: list[str]) -> int:
    """Run the study in the first argument with the options after it."""
    parser = argparse.ArgumentParser(**script_help(__doc__))
    listed = parser.add_subparsers(dest="study", metavar="STUDY", required=True)
    for name, purpose in STUDIES.items():
        listed.add_parser(name, help=purpose, add_help=False)
    name = parser.parse_args(arguments[:1]).study
    study = import_module(name.replace("-", "_"))
    return run(study.main, study.Args, arguments[1:], prog=f"{parser.prog} {name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
