"""Train the agents expert and net for custom rules: `bideuchre prepare`.

Train the agents for custom rules: expert its calls, net its calls and cards. With --hands 60000 a
game like Barrie takes nine minutes on one core. The weights are saved in your cache folder, and the
agents use them for these rules from then on. Weights that are not significantly better than the
previous ones are discarded. After Ctrl-C the same command resumes after the last finished step; the
pairs of finished rounds are played again.

Without --rules or --variant, list the prepared games.

    bideuchre prepare --rules farm.toml
    bideuchre prepare --variant cincinnati_v0 --option target=40
    bideuchre prepare
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import printable
from bideuchre_env._columns import columns
from bideuchre_env.cli.options import add_rules, argument, game_of, new_command
from bideuchre_env.cli.screen import VARIANTS, folded
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.training.prepare import Prepared


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "prepare", run, __doc__, VARIANTS)
    add_rules(parser, "none: list the prepared games")
    meaning = "hands of the first round; other counts scale with it (default: 300000)"
    argument(parser, "--hands N", meaning, int)
    argument(parser, "--seed S", "random seed of the hands (default: 0)", int)
    argument(parser, "--force", "train again, even if weights exist")


def run(arguments: argparse.Namespace) -> int:
    """Prepare the game and print the results, or without one list the prepared ones; return 0."""
    if arguments.variant is None and arguments.rules is None:
        for name in ("option", "hands", "seed", "force"):
            value = getattr(arguments, name)
            if value is not False and value not in (None, []):
                raise OptionError(f"--{name}: expected --variant or --rules with it")
        return list_prepared()
    from bideuchre_env.cli.progress import progress_bar
    from bideuchre_env.training.prepare import Preparation

    numbers = {name: getattr(arguments, name) for name in ("hands", "seed")}
    numbers = {name: number for name, number in numbers.items() if number is not None}
    report = partial(print, flush=True)  # at once, even into a file
    preparation = Preparation(game_of(arguments), **numbers, bar=progress_bar, report=report)
    for each in preparation.run(again=arguments.force):
        print(summary(each))
    return 0


def summary(each: Prepared) -> str:
    """Format the result of a kind of agent as a line."""
    points = each.points
    line = f"{each.kind}: {points.mean:+.2f} points per hand over {each.over}"
    if points.low is None or points.high is None:
        line += " (too few boards for an interval)"
    else:
        line += f" (95 % interval {points.low:+.2f} to {points.high:+.2f})"
    if each.kept:
        return f"{line}: saved in {each.file}"
    worse = points.high is not None and points.high < 0
    why = "it is worse" if worse else "the interval includes 0"
    return f"{line}: discarded, {why}; {each.instead}"


def list_prepared() -> int:
    """Print the prepared games of this machine and the errors of their files; return 0."""
    from bideuchre_env.agents.prepared import prepared_folder
    from bideuchre_env.training.prepare import listed

    try:
        folder, files = prepared_folder(), listed()
    except OptionError as error:
        print(f"nothing is prepared: {error}")
        return 0
    if not files:
        print(f"nothing is prepared in {folder}")
        return 0
    rows = [
        [printable(word) for word in (each.game, each.kind, each.file.name, each.command)]
        for each in files
        if not each.fault
    ]
    if rows:
        print(columns([["game", "agent", "file", "made by"], *rows], "llll"))
        end = "Delete a file, and its agents play as before training."
        print("\n" + folded(f"The files are in {folder}. {end}"))
    for each in files:
        if each.fault:
            print(f"{each.file} cannot be used ({printable(each.fault)}): delete it")
    return 0
