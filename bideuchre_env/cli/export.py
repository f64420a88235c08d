"""Write game records as a dataset of decisions: `bideuchre export`.

Write every decision of game records to a dataset for offline learning and imitation: observation,
action_mask, action, reward, return, terminated, truncated, seat, player, forced, episode, hand and
decision. A reward is what the seat is paid until its own next decision; a return is the sum of its
rewards from there to the end of the episode.

OUT ends in .npz (numpy) or .parquet (pandas, polars; pip install "bideuchre_env[data]"), or is
minari:ID (a dataset of Minari, an episode for each seat; pip install "bideuchre_env[minari]").

Every game is verified on the way, and all are of one variant with one set of rules. Episodes that
do not end in their record are left out. If anything is wrong nothing is written, and an old OUT
stays.

    bideuchre export games.jsonl games.parquet
    bideuchre export runs/*.jsonl hands.npz --episode hand --no-forced
    bideuchre export games.jsonl minari:bideuchre/expert-v0 --player expert
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
    argument(parser, "files FILE", "- is standard input", nargs="+")
    argument(parser, "out OUT", "NAME.npz, NAME.parquet or minari:ID")
    argument(parser, "--episode", "what ends an episode", default="game", choices=EPISODES)
    argument(
        parser,
        "--reward",
        "1 and -1 at the end of a won game, or the points of each hand less the other side's "
        "(default: win for games, points for hands)",
        choices=REWARDS,
    )
    meaning = "what a return counts of a reward one decision of the seat later"
    argument(parser, "--gamma G", meaning, float, 1.0)
    meaning = "leave out moves with one legal action; earlier ones get what they pay"
    argument(parser, "--no-forced", meaning)
    argument(
        parser,
        "--observation",
        "dict: int8, as it is; flat: float32, scaled to [-1, 1]",
        default="dict",
        choices=OBSERVATIONS,
    )
    argument(parser, "--player NAME", "only the decisions of this player")
    argument(parser, "--force", "replace OUT if it exists")


def run(arguments: argparse.Namespace) -> int:
    """Write the dataset, and print a summary."""
    from bideuchre_env.datasets import export
    from bideuchre_env.records.files import STDIN

    for file in arguments.files:
        if file != STDIN and os.path.realpath(file) == os.path.realpath(arguments.out):
            raise OptionError(f"{printable(file)} cannot be read and replaced at once")
    with progress_bar("export", "games") as progress:
        made = export(
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
    left_out = f"; {made.unfinished:,} of unfinished episodes left out" if made.unfinished else ""
    print(
        f"{printable(arguments.out)}: {made.decisions:,} decisions in {made.episodes:,} episodes "
        f"of {made.games:,} games{left_out}"
    )
    return 0
