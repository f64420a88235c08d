"""Build `agents/data/call_network.npz`: train the networks that value the expert's calls.

    script=experiments/fitting/fit_call_network.py
    python $script --seed 1 --games cincinnati_v0 --hands 500000 --rounds 8
    python $script --seed 1 --games barrie_v0 --hands 400000 --rounds 7
    games="six_card_v0 simplified_v0 club_v0"
    python $script --seed 1 --games $games --hands 200000 --rounds 6
    python $script --seed 1 --games double_deck_v0 --hands 700000 --rounds 8
    python $script --seed 1 --games indiana_v0 --hands 200000 --rounds 6
    python $script --seed 1 --games partners_best_v0 --hands 200000 --rounds 6
    python $script --seed 1 --games pepper_v0 --hands 200000 --rounds 6

made the shipped file (`--out agents/data/call_network.npz`), the first four in 360, 180, 330 and
454 s with OMP_NUM_THREADS=1 on two cores. Before the fourth run, the values of the last speaker's
bid and of a won game were given bounds, so the earlier commands now give other weights. If training
diverges, no file is written.

The expert plays against itself and the rule player, and learns from pairs of calls:
`bideuchre_env/training/calls.py` has the method. Games not in `--games` keep the package's weights.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bideuchre_env._files import Output
from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.expert.agent import DEALS, NO_SEARCH
from bideuchre_env.agents.expert.call_network import NETWORK, fitted_network, provenance
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array
from bideuchre_env.training.calls import expert_calls

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
    out: Path = option(Path("runs/call_network.npz"), "the file to write, at the end")


def main(args: Args) -> int:
    """Train the networks of `args.games` and write `args.out`; nothing is written if interrupted.

    Raise `OptionError` for invalid options.
    """
    check_games(args)
    if args.hands < 100 or args.rounds < 1 or args.search not in (0, 1):
        raise OptionError("--hands at least 100, --rounds at least 1, --search 0 or 1")
    numbers = ("hands", "rounds", "search", "seed")
    with Output(args.out, overwrite=True) as out:  # reserved now, written at the end
        networks, origins = refit(args, SCRIPT, numbers, provenance(), fitted_network, fit_game)
        parts = NETWORK.names or ()
        arrays = {f"{game}_{part}": n[part][0] for game, n in networks.items() for part in parts}
        write_file(out, arrays, origins)
    print(f"written to {args.out}")
    return 0


def check_games(args: Any) -> None:
    """Raise `OptionError` if `args.seed` is invalid or `args.games` has a game not in `GAMES`."""
    split_seed(args.seed)
    if unknown := sorted(set(args.games) - set(GAMES)):
        raise OptionError(f"--games {' '.join(unknown)}: of {' '.join(GAMES)}")


def refit(
    args: Any,
    script: str,
    numbers: Sequence[str],
    shipped: dict[str, Any],
    load: Callable[[str], Any],
    fit: Callable[[str, Any], Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the result of every game and its provenance, two dictionaries by name of the game.

    `fit(name, args)` computes the games in `args.games`. `load(name)` returns the package's result
    of every other game in `shipped`, the package's provenance by game. The provenance of a new
    result has the path `script`, its command, and the options of `args` named in `numbers`.
    """
    origins = {} if set(args.games) == set(GAMES) else dict(shipped)
    results = {name: load(name) for name in origins if name not in args.games}
    for name in args.games:
        start = time.perf_counter()
        results[name] = fit(name, args)
        command = args.command(script, ("games", *numbers), games=name)
        chosen = {each: getattr(args, each) for each in numbers}
        origins[name] = {"script": script, "command": command, **chosen}
        print(f"{name}: fitted in {time.perf_counter() - start:.0f} s", flush=True)
    return results, origins


def fit_game(name: str, args: Args) -> Array:
    """Train the network of one game from random weights; return it, `NETWORK` (1,)."""
    rng = np.random.default_rng([args.seed, GAMES.index(name)])
    search = DEALS if args.search else NO_SEARCH

    def report(line: str) -> None:
        print(f"  {name} {line}", flush=True)

    return expert_calls(RULES[name], args.hands, args.rounds, rng, report, wanted=search)


if __name__ == "__main__":
    sys.exit(run(main, Args))
