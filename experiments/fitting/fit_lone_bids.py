"""Build `agents/data/rule_weights.npz`: fit the lone bids of the rule player in single decks.

    python experiments/fitting/fit_lone_bids.py --seed 1 --out agents/data/rule_weights.npz

makes the shipped file. Only the arrays `lone` of decks with one copy of each
card are fitted; all other arrays are copied from the package.

Random hands are played alone, after each exchange of 0 to 3 cards: half of them at no trump, the
others in a random suit, half with the declarer leading and half with the eldest hand. The rule
player plays all seats. A logistic regression on the features of the hand
(`agents/rule/hand_features.py`) gives the chance to take every trick. Hands without the right bower
are left out: their chance is limited to that of partner to hold it. The regression is repeated on
the hands with a chance above `NEAR`, because only these are worth a bid. The last quarter of the
hands is not fitted: for the present and the new weights, the script prints the share of these hands
with a chance above `BID`, and how many of them are made.

With their lone bids refitted in this way, double decks were no better: points per hand against the
weights kept, 10,000 boards, were +0.07 on Barrie, +0.08 on the Club game and -0.07 on the
Simplified game, ± 0.05 to 0.06.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hand_play import Table, game, give_contract, new_table, play_out

from bideuchre_env._files import Output
from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.rule.bidding import DECKS, WEIGHTS, describe_lone_hand, load_weights
from bideuchre_env.agents.rule.hand_features import N_FEATURES, TRUMPS
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.phases.deal import deal_hand, seed_stream, split_seed, start_game
from bideuchre_env.core.view import show_hand
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.bids import N_EXCHANGES
from bideuchre_env.rules.cards import NO_TRUMP
from bideuchre_env.runtime.jit import Array, Word, entry_kernel

LEADERS = ("declarer", "eldest")
NEAR = 0.1  # least chance of a hand in the second regression
BID = 0.55  # chance at which the printed hands are bid
RIDGE = 2.0  # penalty of the squared weights, except of the constant
STEPS = 30  # maximum number of Newton steps
AT_ONCE = 5000  # hands between two checks for Ctrl-C
DECIMALS = 3  # of a weight, so that rounding errors of another processor rarely change the file


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the fit; every field is an option of the command line."""

    hands: int = option(300_000, "hands per deck, leader and exchange")
    seed: int = option(0, "seed of the hands")
    out: Path = option(Path("runs/rule_weights.npz"), "the file to write, at the end")


def main(args: Args) -> int:
    """Fit the single decks and write `args.out`; nothing is written if interrupted.

    Raise `OptionError` for invalid options.
    """
    split_seed(args.seed)
    if args.hands < 100:
        raise OptionError(f"--hands {args.hands}: expected at least 100")
    script, options = "experiments/fitting/fit_lone_bids.py", ("hands", "seed")
    provenance = {
        "script": script,
        "command": args.command(script, options),
        **{name: getattr(args, name) for name in options},
        "fitted": "the arrays `lone` of single decks; the others were fitted by a removed script",
        "played_by": "the rule player at all four seats",
    }
    arrays = {}
    with Output(args.out, overwrite=True) as out:  # reserved now, written at the end
        for kinds, copies in DECKS:
            weights = load_weights(kinds, copies).copy()[0]
            if copies == 1:
                weights["lone"] = fit_deck(kinds, weights["lone"], args)
            arrays |= {f"{kinds}x{copies}_{part}": weights[part] for part in WEIGHTS.names or ()}
        write_file(out, arrays, provenance)
    print(f"written to {args.out}")
    return 0


def fit_deck(kinds: int, old: Array, args: Args) -> Array:
    """Return new weights `lone` of a single deck, float64 (2, N_EXCHANGES, N_FEATURES).

    `old` are the present weights; lines about both are printed.
    """
    new = np.zeros_like(old)
    for exchange in range(N_EXCHANGES):
        features, strains, made = play_deck(kinds, exchange, args)
        for kind in (0, 1):
            plain = strains == NO_TRUMP
            rows = plain if kind else ~plain & (features[:, TRUMPS.rights] > 0)
            x, y = features[rows], made[rows]
            fitted = 3 * len(y) // 4
            new[kind, exchange] = fit(x[:fitted], y[:fitted])
            print(f"{kinds} cards, {('trumps', 'no trump')[kind]}, {exchange} exchanged:")
            for name, weights in (("present", old), ("new", new)):
                bid = chances(x[fitted:], weights[kind, exchange]) > BID
                done = y[fitted:][bid].mean() if bid.any() else 0.0
                print(
                    f"  {name} weights: {bid.mean():.1%} of hands bid, {done:.0%} made", flush=True
                )
    return new


def fit(x: Array, y: Array) -> Array:
    """Return the weights of two logistic regressions of `y` on `x`: of all rows, then of some.

    They are rounded. The second is of the rows with a chance above `NEAR` by the first.
    """
    weights = logistic_regression(x, y)
    near = chances(x, weights) > NEAR
    if near.sum() > 20 * N_FEATURES:
        weights = logistic_regression(x[near], y[near])
    return np.round(weights, DECIMALS) + 0.0  # adding 0.0 leaves no -0.0


def chances(x: Array, weights: Array) -> Array:
    """Return the logistic function of `x @ weights`."""
    return 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -30.0, 30.0)))


def logistic_regression(x: Array, y: Array) -> Array:
    """Return the weights of a ridge logistic regression of `y`, bool (n,), on `x`, by Newton steps.

    The first column of `x`, a constant, has no penalty.
    """
    weights = np.zeros(x.shape[1])
    ridge = np.full(x.shape[1], RIDGE)
    ridge[0] = 1e-6
    for _ in range(STEPS):
        chance = chances(x, weights)
        slope = x.T @ (chance - y) + ridge * weights
        curve = (x.T * (chance * (1.0 - chance))) @ x + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if abs(step).max() < 1e-7:
            break
    return weights


def play_deck(kinds: int, exchange: int, args: Args) -> tuple[Array, Array, Array]:
    """Play `args.hands` hands per leader alone; return features, strains, and which were made.

    Blocks of rows with either leader alternate, so that a part of the rows has both.
    """
    tables = [new_table(game(kinds, 1, leader)) for leader in LEADERS]
    rng = np.random.default_rng([args.seed, kinds, exchange])
    n = len(LEADERS) * args.hands
    strains = np.minimum(rng.integers(2 * NO_TRUMP, size=n), NO_TRUMP)
    features, made = np.zeros((n, N_FEATURES)), np.zeros(n, bool)
    with progress_bar(f"{kinds} cards, {exchange} exchanged", "hands", "hands") as progress:
        for block, start in enumerate(range(0, n, AT_ONCE)):
            part, seed = slice(start, start + AT_ONCE), np.uint64(rng.integers(2**62))
            table = tables[block % len(LEADERS)]
            play_hands(table, seed, exchange, strains[part], features[part], made[part])
            progress(start, n, start)
    return features, strains, made


@entry_kernel
def play_hands(
    table: Table, seed: Word, exchange: int, strains: Array, features: Array, made: Array
) -> None:
    """Deal and play n hands, of which seat 0 plays alone in the given strain, int64 (n,).

    `features`, float64 (n, N_FEATURES), gets the features of its hand, and `made`, bool (n,),
    whether it took every trick.
    """
    deal, s = table.states[0], table.states[1]
    t, view = table.work.tables[0], table.work.views[0]
    seed_stream(deal, seed, seed)
    for i in range(len(made)):
        start_game(deal, i & 3)
        deal_hand(deal, t)
        show_hand(view, t, deal.hands[0], 0, 0)
        view.dealer = deal.dealer
        describe_lone_hand(view, t, strains[i], features[i])
        give_contract(s, deal, t, 1 + exchange, strains[i])
        play_out(s, table)
        made[i] = s.tricks_won[1] == 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
