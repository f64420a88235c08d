"""Make `agents/data/call_network.npz`: train the networks of the expert's auction.

    script=experiments/fitting/fit_call_network.py
    python $script --seed 1 --games cincinnati_v0 --hands 500000 --rounds 8
    python $script --seed 1 --games barrie_v0 --hands 400000 --rounds 7
    games="six_card_v0 simplified_v0 club_v0"
    python $script --seed 1 --games $games --hands 200000 --rounds 6
    python $script --seed 1 --games double_deck_v0 --hands 700000 --rounds 8

made the shipped file (`--out agents/data/call_network.npz`) in 360, 180, 330, 454 s;
OMP_NUM_THREADS=1, two cores; before the last the worth of the last speaker's bid and of a won game
were given bounds, so that the others give other weights now. Training that diverges writes no file.

The expert plays against itself and the rule player, and learns from pairs of calls as
`bideuchre_env/training/calls.py` tells. Games not named keep the package's weights.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bideuchre_env._files import Output
from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.expert.agent import NO_SEARCH, WANTED
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
    "double_deck_v0",  # the last: each has a stream of random numbers by its place
)


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to fit; every field is an option of the command line."""

    games: tuple[str, ...] = option(GAMES, "the games to fit")
    hands: int = option(500_000, "hands of each game in each round")
    rounds: int = option(8, "rounds of training; each begins from the weights of the last")
    search: int = option(0, "1: play the last tricks as the expert does")
    seed: int = option(0, "same seed, same hands; same weights on one machine")
    out: Path = option(Path("runs/call_network.npz"), "the file to write, at the end")


def main(args: Args) -> int:
    """Fit the games and write the file; no file if interrupted."""
    split_seed(args.seed)
    if unknown := sorted(set(args.games) - set(GAMES)):
        raise OptionError(f"--games {' '.join(unknown)}: of {' '.join(GAMES)}")
    if args.hands < 100 or args.rounds < 1 or args.search not in (0, 1):
        raise OptionError("--hands at least 100, --rounds at least 1, --search 0 or 1")
    with Output(args.out, overwrite=True) as out:  # reserved now, written at the end
        return fit_games(args, out)


def fit_games(args: Args, out: Output) -> int:
    """Fit the games and write the file."""
    told = {} if set(args.games) == set(GAMES) else provenance()
    networks = {name: fitted_network(name) for name in told if name not in args.games}
    for name in args.games:
        start = time.perf_counter()
        networks[name] = fit_game(name, args)
        made = {each: getattr(args, each) for each in ("hands", "rounds", "search", "seed")}
        command = args.command(SCRIPT, ("games", *made), games=name)
        told[name] = {"script": SCRIPT, "command": command, **made}
        print(f"{name}: fitted in {time.perf_counter() - start:.0f} s", flush=True)
    parts = NETWORK.names or ()
    arrays = {f"{game}_{part}": n[part][0] for game, n in networks.items() for part in parts}
    write_file(out, arrays, told)
    print(f"written to {args.out}")
    return 0


def fit_game(name: str, args: Args) -> Array:
    """The network of one game, one `NETWORK` record."""
    rng = np.random.default_rng([args.seed, GAMES.index(name)])
    wanted = WANTED if args.search else NO_SEARCH
    return expert_calls(RULES[name], args.hands, args.rounds, rng, told(f"  {name}"), wanted=wanted)


def told(title: str) -> Callable[[str], None]:
    """What prints a line after this title."""
    return lambda line: print(f"{title} {line}", flush=True)


if __name__ == "__main__":
    sys.exit(run(main, Args))
