"""Build the part `expert` of `agents/data/VARIANT.npz`: networks that value the expert's calls.

    script=experiments/fitting/fit_call_network.py
    python $script --seed 1 --games cincinnati_v0 --hands 500000 --rounds 8
    python $script --seed 1 --games barrie_v0 --hands 400000 --rounds 7
    games="six_card_v0 simplified_v0 club_v0"
    python $script --seed 1 --games $games --hands 200000 --rounds 6
    python $script --seed 1 --games double_deck_v0 --hands 700000 --rounds 8
    python $script --seed 1 --games indiana_v0 --hands 200000 --rounds 6
    python $script --seed 1 --games partners_best_v0 --hands 200000 --rounds 6
    python $script --seed 1 --games pepper_v0 --hands 200000 --rounds 6

made the shipped weights (`--out agents/data`), the first four in 360, 180, 330 and 454 s with
OMP_NUM_THREADS=1 on two cores. Before the fourth run, the values of the last speaker's
bid and of a won game were given bounds, so the earlier commands now give other weights. If training
diverges, the file of the game is not written.

The expert plays against itself and the rule player, and learns from pairs of calls:
`bideuchre_env/training/calls.py` has the method. Other parts of a file are kept.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bideuchre_env._files import only_run_in
from bideuchre_env.agents.expert.agent import DEALS, NO_SEARCH
from bideuchre_env.agents.expert.call_network import KIND, VERSION, call_arrays
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.weights import (
    Weights,
    made_for,
    part_names,
    read_content,
    write_parts,
)
from bideuchre_env.rules.variants import RULES
from bideuchre_env.training.calls import expert_players, fit_calls

Fit: TypeAlias = Callable[[str, Any], Weights]

SCRIPT = "experiments/fitting/fit_call_network.py"
GAMES = (
    *("cincinnati_v0", "six_card_v0", "simplified_v0", "club_v0", "barrie_v0"),
    *("double_deck_v0", "indiana_v0", "partners_best_v0", "pepper_v0"),
)
"""New games come last: a game's place determines its random stream."""


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the fit; every field is an option of the command line."""

    games: tuple[str, ...] = option(GAMES, "variants to fit")
    hands: int = option(500_000, "hands per variant and round")
    rounds: int = option(
        8, "rounds of training; each starts from the weights of the previous round"
    )
    search: int = option(0, "1: search the last tricks as the expert does")
    seed: int = option(0, "seed of the hands; on one machine also of the weights")
    out: Path = option(Path("runs/fitted"), "the folder of the files GAME.npz")


def main(args: Args) -> int:
    """Train the networks of `args.games`, and write each to its file.

    Raise `OptionError` for invalid options.
    """
    check_games(args)
    if args.hands < 100 or args.rounds < 1 or args.search not in (0, 1):
        raise OptionError("--hands at least 100, --rounds at least 1, --search 0 or 1")
    numbers = ("hands", "rounds", "search", "seed")
    return fit_all(args, SCRIPT, numbers, KIND, fit_game)


def check_games(args: Any) -> None:
    """Raise `OptionError` if `args.seed` is invalid or `args.games` has a game not in `GAMES`."""
    split_seed(args.seed)
    if unknown := sorted(set(args.games) - set(GAMES)):
        raise OptionError(f"--games {' '.join(unknown)}: of {' '.join(GAMES)}")


def fit_all(args: Any, script: str, numbers: Sequence[str], part: str, fit: Fit) -> int:
    """Write `fit(name, args)` of every game in `args.games` to `args.out`; return 0.

    The weights become the part of a file of the game. Their provenance has the path `script`, its
    command, and the options of `args` named in `numbers`.
    """
    with only_run_in(args.out):  # checked and locked before the training
        for name in args.games:
            if (place := args.out / f"{name}.npz").exists():
                part_names(*read_content(place))  # raises `WeightsError` for a damaged file
        for name in args.games:
            start, place = time.perf_counter(), args.out / f"{name}.npz"
            weights = fit(name, args)
            command = args.command(script, ("games", *numbers), games=name)
            chosen = {each: getattr(args, each) for each in numbers}
            made = {"variant": name, "script": script, "command": command, **chosen}
            write_parts(place, {part: Weights(weights.arrays, {**weights.metadata, **made})})
            print(f"{place}: fitted in {time.perf_counter() - start:.0f} s", flush=True)
    return 0


def fit_game(name: str, args: Args) -> Weights:
    """Train the network of one game from random weights."""
    rng = np.random.default_rng([args.seed, GAMES.index(name)])
    search = DEALS if args.search else NO_SEARCH

    def report(line: str) -> None:
        print(f"  {name} {line}", flush=True)

    rules = RULES[name]
    players = expert_players(rules, search)
    network = fit_calls(None, players, args.hands, args.rounds, rng, report)
    return Weights(call_arrays(network), made_for(KIND, rules, VERSION))


if __name__ == "__main__":
    sys.exit(run(main, Args))
