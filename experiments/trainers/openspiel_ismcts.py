"""Evaluate OpenSpiel's information-set MCTS against agents, on duplicate boards.

    python experiments/trainers/openspiel_ismcts.py --boards 50 --simulations 200

The search deals the hidden cards anew and rolls the hands out at random, without training. On each
board one deal is played twice, with the sides swapped.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from trainer_tools import extra

from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.statistics.intervals import Interval, t_quantile

with extra("openspiel", "searching"):
    import pyspiel
    from open_spiel.python.algorithms.ismcts import ISMCTSBot
    from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

    from bideuchre_env.adapters import openspiel


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the matches; every field is an option of the command line."""

    variant: str = option("cincinnati_v0", "variant")
    boards: int = option(50, "duplicate boards per opponent")
    simulations: int = option(200, "simulations per decision")
    uct: float = option(5.0, "weight of exploration in the search (UCT constant)")
    seed: int = option(1, "seed of deals and searches")
    judges: tuple[str, ...] = option(("random", "cautious"), "opponents of the final measurement")


def points(args: Args, judge: str) -> Interval:
    """Return the points per hand of the search minus those of `judge`, with 95 % interval."""
    game = pyspiel.load_game(openspiel.register(args.variant))
    draws = np.random.RandomState(args.seed)
    rollouts = RandomRolloutEvaluator(1, draws)
    searcher = ISMCTSBot(game, rollouts, args.uct, args.simulations, random_state=draws)
    searcher.set_resampler(  # its default resampler is seeded by the clock
        lambda state, player: state.resample_from_infostate(player, draws.random_sample)
    )
    other = openspiel.AgentBot(game, judge, seed=args.seed)
    scores = openspiel.duplicate_boards(game, [searcher] * 4, [other] * 4, args.boards, args.seed)
    half = t_quantile(args.boards - 1) * scores.std(ddof=1) / np.sqrt(args.boards)
    return Interval(scores.mean(), scores.mean() - half, scores.mean() + half)


def main(args: Args) -> int:
    """Play the boards and print the results."""
    if args.boards < 2:
        raise OptionError("--boards: 2 or more")
    for judge in args.judges:
        result = points(args, judge)
        print(f"ismcts:{args.simulations} against {judge}, {args.variant}, {args.boards} boards")
        print(f"points per hand {result.mean:+.2f}, 95 % {result.low:+.2f} to {result.high:+.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
