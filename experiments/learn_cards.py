"""Train the card play of agent `net` by paired differences, and calls that fit it.

    python experiments/learn_cards.py --games cincinnati_v0 barrie_v0 --judge

`bideuchre_env/training/cards.py` describes the method. The weights after every step are saved in
`--out`. A stopped run resumes there, plays the pairs of finished rounds again, and ends with the
same weights. `GAME.npz` has the weights of the last step, as its part `net`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by numpy: threads change the order of sums

# isort: split
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bideuchre_env._files import only_run_in
from bideuchre_env.agents.expert.call_network import package_network
from bideuchre_env.agents.learned.net import KIND
from bideuchre_env.cli.options import variant_of
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.executors import Executor, Serial
from bideuchre_env.evaluation.ray_pool import workers_of
from bideuchre_env.learning.weights import write_parts
from bideuchre_env.rules.variants import RULES
from bideuchre_env.training.cards import Course, Learner


@dataclass(frozen=True)
class Args(Course, ScriptArgs):
    """The settings of a course, and the games; every field is an option of the command line."""

    games: tuple[str, ...] = option(tuple(RULES), "variants, or files of rules (.toml)")
    ray: bool = option(False, "make the pairs on Ray, started on this machine")
    ray_address: str | None = option(None, "make the pairs on this cluster of Ray, as host:port")


def main(args: Args) -> int:
    """Train each game; resume after its last finished step."""
    split_seed(args.seed)
    if min(args.first, args.hands, args.call_hands) < 100:
        raise OptionError("--first, --hands and --call-hands: 100 or more")
    if args.rounds < 1 or args.call_rounds < 0:
        raise OptionError("--rounds: 1 or more; --call-rounds: 0 or more")
    if args.against_boards < 2:
        raise OptionError(f"--against-boards {args.against_boards}: 2 or more")
    games = [variant_of(Path(name) if name.endswith(".toml") else name, []) for name in args.games]
    with only_run_in(args.out), workers_of(1, args.ray, args.ray_address) as workers:
        pool = None if isinstance(workers, Serial) else workers
        for name, game in zip(args.games, games, strict=True):
            learn(name, game, args, pool)
    return 0


def learn(name: str, game: Variant, args: Args, pool: Executor | None) -> None:
    """Train one game, and write its weights to `GAME.npz` in `args.out`.

    `name` is the game's entry in `args.games`, for the saved command.
    """
    names = ["games", "first", "hands", "rounds", "call_hands", "call_rounds", "seed"]
    names += ["against", "against_boards"] if args.against else []
    command = args.command("experiments/learn_cards.py", names, games=name)
    report = partial(print, flush=True)
    calls = package_network(game.rules)
    learner = Learner(game, calls, args, command, pool=pool, bar=progress_bar, report=report)
    weights = learner.run()
    place = args.out / f"{game.name}.npz"
    write_parts(place, {KIND: weights})
    print(f"{game.name}: written to {place}", flush=True)


if __name__ == "__main__":
    sys.exit(run(main, Args))
