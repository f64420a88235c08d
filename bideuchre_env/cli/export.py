"""Write game records as a dataset of decisions: `bideuchre records export`.

Write every decision of game records to a dataset for offline learning and imitation: observation,
action_mask, action, reward, return, terminated, truncated, seat, player, forced, episode, hand and
decision. The reward of a decision is the seat's reward up to its own next decision; the return is
the discounted sum of these rewards to the end of the episode.

OUT ends in .npz (numpy) or .parquet (pandas, polars; needs the extra [data]), or is
minari:ID (a dataset of Minari, an episode for each seat; needs the extra [minari]).

Every game is verified, and all must have the same variant and rules. Unfinished episodes are left
out. After an error nothing is written, and an existing OUT is unchanged.

    bideuchre records export games.jsonl games.parquet
    bideuchre records export runs/*.jsonl hands.npz --episode hand --no-forced
    bideuchre records export games.jsonl minari:bideuchre/expert-v0 --player expert
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from bideuchre_env._checks import printable
from bideuchre_env.cli.options import argument, new_command
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.envs.options import EPISODES, OBSERVATIONS, REWARDS
from bideuchre_env.errors import OptionError


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "export", run, __doc__)
    argument(parser, "files FILE", "game records; - is standard input", nargs="+")
    argument(parser, "out OUT", "NAME.npz, NAME.parquet or minari:ID")
    argument(parser, "--episode", "unit of an episode", default="game", choices=EPISODES)
    argument(
        parser,
        "--reward",
        "win: 1 or -1 at the end of a won game; points: those of each hand minus the other "
        "side's (default: win for games, points for hands)",
        choices=REWARDS,
    )
    meaning = "discount factor of the return, per decision of the seat"
    argument(parser, "--gamma G", meaning, float, 1.0)
    meaning = "leave out decisions with one legal action; the seat's previous one gets their reward"
    argument(parser, "--no-forced", meaning)
    argument(
        parser,
        "--observation",
        "dict: int8, unscaled; flat: float32, scaled to [-1, 1]; features: float32, for learning, "
        "with renamed suits",
        default="dict",
        choices=OBSERVATIONS,
    )
    argument(parser, "--player NAME", "only decisions of the player (agent) of this name")
    argument(parser, "--force", "overwrite an existing OUT")


def run(arguments: argparse.Namespace) -> int:
    """Write the dataset, and print a summary; return 0. `OptionError` if OUT is also read."""
    from bideuchre_env.datasets import export
    from bideuchre_env.datasets.minari_file import PREFIX
    from bideuchre_env.records.files import STDIN

    for file in arguments.files:
        if file != STDIN and os.path.realpath(file) == os.path.realpath(arguments.out):
            raise OptionError(f"OUT {printable(arguments.out)}: expected a file that is not read")
    with progress_bar("export", "games") as progress:
        result = export(
            arguments.files,
            arguments.out,
            episode=arguments.episode,
            reward=arguments.reward,
            observation=arguments.observation,
            gamma=arguments.gamma,
            forced=not arguments.no_forced,
            player=arguments.player,
            overwrite=arguments.force,
            progress=lambda games, decisions: progress(games, games, decisions),
        )
    left_out = (
        f"; {result.unfinished:,} of unfinished episodes left out" if result.unfinished else ""
    )
    seats = ", one for each seat," if arguments.out.startswith(PREFIX) else ""
    print(
        f"{printable(arguments.out)}: {result.decisions:,} decisions in {result.episodes:,} "
        f"episodes{seats} of {result.games:,} games{left_out}"
    )
    return 0
