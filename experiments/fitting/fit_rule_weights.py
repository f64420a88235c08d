"""Make `agents/data/rule_weights.npz`: fit the weights of the rule player's bidding.

    python experiments/fitting/fit_rule_weights.py --decks 24x1 24x2

For each deck (24x1 is 24 kinds, one copy each), from rough guesses, the rule player plays at all
four seats; half the deals have the declarer leading, half the eldest hand. In every round:

1. declarer: contracts with partner by seats and in strains that look good, some at random. Least
   squares of the side's tricks on the declarer's hand (`agents/rule/hand_features.py`).
2. lone: the better half of the deals is played alone after every exchange. Logistic regression of
   taking all tricks on the same features and the missing bowers.
3. auction: it is stopped after one to three calls and the next seat declares. Least squares of the
   tricks beyond its hand's estimate on those calls (`agents/rule/bidding.py`, `AuctionFeatures`).
4. roles: whole hands are bid and played. Least squares of the declarer's side's tricks on the hand
   of the partner, and of a defender; of the points after a pass on the best estimate.

3 and 4, done twice a round as calls depend on what a pass is worth, add a ladder with moons to that
with calls for cards. Deviations are what is left over. A small ridge gives 0 to features that never
vary. Each deck has a stream of its own from `--seed`; decks not named keep the package's weights.

The package's weights come from these fits, run in parts while the play was still being tuned: a run
comes close to them, not to the digit. This script, unlike the others, imports the package's core,
for it fits the package's own agent. It writes at the end only: after Ctrl-C there is no file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bideuchre_env._files import Output
from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.rule.agent import RuleAgent
from bideuchre_env.agents.rule.bidding import (
    DECLARER,
    DEFENDER,
    HELPER,
    N_AUCTION_FEATURES,
    N_STRAINS,
    describe_auction,
    missing_bowers,
    we_lead,
)
from bideuchre_env.agents.rule.hand_features import N_FEATURES, describe_hand
from bideuchre_env.agents.rule.weights import DECKS, WEIGHTS, load_weights, provenance
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.step import begin_cards
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.view import VIEW, read_view
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, NO_TRUMP
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, new_rows

SCRIPT = "experiments/fitting/fit_rule_weights.py"
NAMES = tuple(f"{kinds}x{copies}" for kinds, copies in DECKS)
LOWEST = {16: "J", 20: "10", 24: "9"}  # rank, by kinds in the deck
DECIMALS = {part: 1 if part == "passing" else 2 for part in WEIGHTS.names or ()}
AT_RANDOM = 0.35  # share of contracts in any strain, and of lone bids at no trump: rare ones too
FEWEST = 50  # with fewer hands than this a fit leaves its weights as they were


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to fit; every field is an option of the command line."""

    decks: tuple[str, ...] = option(NAMES, "the decks to fit")
    deals: int = option(60_000, "deals of each game in each fit")
    rounds: int = option(2, "rounds of fitting; each begins from the weights of the last")
    seed: int = option(0, "same seed, same deals and weights")
    out: Path = option(Path("runs/rule_weights.npz"), "the file to write, at the end")


def main(args: Args) -> int:
    """Fit the decks and write the file; no file if interrupted."""
    check(args)
    with Output(args.out, overwrite=True) as out:  # reserved now, written at the end
        return fit_decks(args, out)


def fit_decks(args: Args, out: Output) -> int:
    """Fit the decks and write the file."""
    arrays: dict[str, Array] = {}
    made = provenance()
    for place, (name, deck) in enumerate(zip(NAMES, DECKS, strict=True)):
        weights = load_weights(*deck)[0]
        if name in args.decks:
            start = time.perf_counter()
            weights = fit_deck(*deck, args, np.random.default_rng([args.seed, place]))
            options = {each: getattr(args, each) for each in ("deals", "rounds", "seed")}
            command = args.command(SCRIPT, ("decks", *options), decks=name)
            made[name] = {"script": SCRIPT, "command": command, **options}
            print(f"{name}: fitted in {time.perf_counter() - start:.0f} s", flush=True)
        for part, decimals in DECIMALS.items():  # adding 0.0 leaves no -0.0
            arrays[f"{name}_{part}"] = np.round(weights[part], decimals) + 0.0
    write_file(out, arrays, made)
    print(f"written to {args.out}")
    return 0


def check(args: Args) -> None:
    """Raise `OptionError` for arguments that fit nothing, before anything is played."""
    split_seed(args.seed)
    if unknown := sorted(set(args.decks) - set(NAMES)):
        raise OptionError(f"--decks {' '.join(unknown)}: of {' '.join(NAMES)}")
    if args.deals < 100 or args.rounds < 1:
        raise OptionError(f"--deals {args.deals} --rounds {args.rounds}: at least 100, and 1")


def fit_deck(kinds: int, copies: int, args: Args, rng: np.random.Generator) -> Row:
    """The weights of one deck, one record of `WEIGHTS`."""
    weights = rough_weights(kinds, copies)
    calls, moons = games(kinds, copies)

    def deal(*games: Rules, n: int = args.deals) -> list[Deals]:
        each = [g.replace(opening_lead=leader) for g in games for leader in ("declarer", "eldest")]
        return [Deals(rules, weights, n, rng) for rules in each]

    for _ in range(args.rounds):
        fit_declarer(deal(calls), weights[0])
        for exchange in range(4):
            fit_lone(deal(calls), weights[0], exchange)
        for _ in range(2):
            fit_auction(deal(calls, moons), weights[0])
            fit_roles(deal(calls, moons, n=args.deals // 2), weights[0])
    return weights[0]


def games(kinds: int, copies: int) -> tuple[Rules, Rules]:
    """What is played: a game with calls for cards, and one with moons."""
    n = kinds * copies // 4
    calls = (("call-3", 1.5, 3), ("call-2", 2.25, 2), ("call-1", 3.0, 1), ("moon", 3.75, 0))
    lone = tuple(Bid(name, value=int(worth * n), exchange=k) for name, worth, k in calls)
    with_calls = Rules(
        ranks=LOWEST[kinds], copies=copies, partnered=(1, n), lone=lone, target=int(6.5 * n)
    )
    return with_calls, with_calls.replace(
        partnered=(n // 2, n - 1),
        lone=(Bid("moon", value=2 * n), Bid("double moon", value=4 * n)),
        strain_named="after_auction",
        moon_ladder="step",
        all_pass="dealer_forced",
        target=int(5.5 * n),
    )


def rough_weights(kinds: int, copies: int) -> Array:
    """A beginner's weights, good enough to choose the first contracts by; no lone bids."""
    weights, tricks = new_rows(WEIGHTS, 1), kinds * copies // 4
    row = weights[0]
    trumps = [0.18 * tricks, 0.9, 0.8, 0.7, 0.5, 0.4, 0.35, 0.1, 0.1, 0.7, 0.4, 0.5, 0.2, 0.1, 0, 0]
    plain = [0.3 * tricks, 0.8, 0.6, -0.3, 0.2, 0.7, 0.8, 0.3, 0.2, 0.1, 0.1, 0, 0, 0, 0.3, 0]
    row["tricks"][DECLARER] = [trumps, plain]
    row["tricks"][HELPER:, :, 0], row["tricks"][HELPER:, :, -1] = 0.5, 1.0  # just about the bid
    row["deviation"], row["lone"][:, :, 0] = 0.18 * tricks, -20.0
    return weights


class Deals:
    """Freshly dealt hands of one game, a row each, for the rule player with some weights."""

    def __init__(self, rules: Rules, weights: Array, n: int, rng: np.random.Generator) -> None:
        self.rules, self.rng, self.rows = rules, rng, np.arange(n)
        self.agent = RuleAgent(rules, weights=weights)
        self.tables, self.offsets = self.agent.tables, self.agent.layout.offsets
        self.view = new_rows(VIEW, 1)[0]
        self.half = int(np.argmax(self.tables["need"][0] >= rules.tricks // 2))  # a level
        self.states = new_states(n)
        seed_rows(self.states, *split_seed(int(rng.integers(2**62))))
        start_rows(self.states, self.tables, self.rows % 4)
        deal_rows(self.states, self.tables)
        self.dealt = self.states.copy()
        self.estimates = np.zeros((n, 4, N_STRAINS))  # tricks as declarer, rounded for ties
        for seat in range(4):
            for strain in range(N_STRAINS):
                these = weights["tricks"][0, DECLARER, int(strain == NO_TRUMP)]
                features = self.features(self.rows, seat, strain, seat)
                self.estimates[:, seat, strain] = np.round(features @ these, 9)

    def features(
        self, rows: Array, seats: Any, strains: Any, declarers: Any, level: Any = 0
    ) -> Any:
        """The features of these hands, as they were dealt, in these contracts."""
        contracts = np.empty((4, len(rows)), np.int64)
        contracts[0], contracts[1], contracts[2], contracts[3] = seats, strains, declarers, level
        features = np.zeros((len(rows), N_FEATURES))
        hand_rows(self.dealt[rows], self.tables, contracts, self.view, features)
        return features

    def some_strains(self, seats: Array) -> Array:
        """For each row's seat the strain that looks best, or now and then any."""
        best = self.estimates[self.rows, seats].argmax(axis=1)
        anything = self.rng.random(len(seats)) < AT_RANDOM
        return np.where(anything, self.rng.integers(0, N_STRAINS, len(seats)), best)

    def encoded(self, rows: Array) -> tuple[Array, Array]:
        """What the seats to act in these rows see, and their masks."""
        observations = np.zeros((len(rows), self.agent.layout.size), np.int8)
        masks = np.zeros((len(rows), self.agent.n_actions), np.int8)
        encode_rows(self.states, self.tables, self.offsets, rows, observations, masks)
        return observations, masks

    def play_on(self, calls: Any = 5) -> None:
        """Let the rule player act to the end of the hand, or until so many calls are made."""
        s = self.states
        while len(rows := np.flatnonzero((s["phase"] < DEAL) & (s["calls_made"] < calls))):
            apply_rows(s, self.tables, rows, self.agent.act_rows(*self.encoded(rows)))

    def play_contract(self, rows: Array, declarers: Array, level: int, strains: Array) -> Array:
        """Play this bid out in these rows, whatever was called: the declarer's side's tricks."""
        self.states = s = self.states[rows]
        everyone = np.arange(len(rows))
        s["calls"], s["calls_made"], s["call_strains"] = 0, 4, -1
        s["calls"][everyone, declarers] = 1 + level
        if self.rules.strain_named == "in_bid":
            s["call_strains"][everyone, declarers] = strains
        s["declarer"], s["level"], s["strain"] = declarers, level, strains
        s["sitting_out"] = (declarers + 2) & 3 if self.rules.ladder[level].alone else -1
        begin_rows(s, self.tables)
        self.play_on()
        return s["tricks_won"][everyone, declarers & 1].astype(float)


def fit_declarer(played: list[Deals], weights: Row) -> None:
    """Tricks with partner, from the declarer's hand."""
    samples = []
    for deals in played:
        rows, best = deals.rows, deals.estimates.max(axis=2)
        one, other = deals.rng.integers(0, 4, (2, len(rows)))
        seats = np.where(best[rows, one] >= best[rows, other], one, other)
        strains = deals.some_strains(seats)
        won = deals.play_contract(rows, seats, deals.half, strains)
        samples.append((strains, deals.features(rows, seats, strains, seats), won))
    for kind, x, y in by_kind(samples):
        weights["tricks"][DECLARER, kind], weights["deviation"][DECLARER, kind] = least_squares(
            x, y
        )


def fit_lone(played: list[Deals], weights: Row, exchange: int) -> None:
    """The chance of all the tricks alone after this exchange, from the declarer's hand."""
    samples = []
    for deals in played:
        rows, ladder, estimates = deals.rows, deals.rules.ladder, deals.estimates
        level = next(k for k, b in enumerate(ladder) if b.alone and b.exchange == exchange)
        best = estimates.reshape(len(rows), -1).argmax(axis=1)
        plain = deals.rng.random(len(rows)) < AT_RANDOM
        seats = np.where(plain, estimates[:, :, NO_TRUMP].argmax(axis=1), best // N_STRAINS)
        strains = np.where(plain, NO_TRUMP, best % N_STRAINS)
        tricks = estimates[rows, seats, strains]
        rows = np.flatnonzero(tricks >= np.median(tricks))
        seats, strains = seats[rows], strains[rows]
        won = deals.play_contract(rows, seats, level, strains)
        x = deals.features(rows, seats, strains, seats, level)
        samples.append((strains, x, (won == deals.rules.tricks).astype(float)))
    for kind, x, y in by_kind(samples):
        weights["lone"][kind, exchange] = logistic_regression(x, y)


def fit_auction(played: list[Deals], weights: Row) -> None:
    """What the calls so far add to the estimate of the hand."""
    samples = []
    weights["auction"] = 0.0  # the estimates they are to correct have none
    for deals in played:
        rows = deals.rows
        deals.play_on(calls=deals.rng.integers(1, 4, len(rows)))
        seats = deals.states["turn"].astype(np.int64)
        strains = deals.some_strains(seats)
        features = np.ones((len(rows), 1 + N_AUCTION_FEATURES))
        seen, tables, offsets = deals.encoded(rows)[0], deals.tables, deals.offsets
        auction_rows(seen, tables, offsets, strains, deals.view, features[:, 1:])
        won = deals.play_contract(rows, seats, deals.half, strains)
        samples.append((strains, features, won - deals.estimates[rows, seats, strains]))
    for kind, x, y in by_kind(samples):
        fitted, weights["deviation"][DECLARER, kind] = least_squares(x, y, ridge=20.0)
        weights["auction"][kind] = fitted[1:]
        weights["tricks"][DECLARER, kind, 0] += fitted[0]


def fit_roles(played: list[Deals], weights: Row) -> None:
    """Tricks of somebody else's contract from partner's or a defender's hand; points of a pass."""
    samples: dict[int, list[Any]] = {HELPER: [], DEFENDER: []}
    passes: list[list[Any]] = [[], [], []]
    for deals in played:
        deals.play_on()
        s, alone = deals.states, deals.tables["alone"][0]
        rows = np.flatnonzero((s["level"] >= 0) & (alone[s["level"]] == 0))
        declarers, strains, level = s["declarer"][rows], s["strain"][rows], s["level"][rows]
        won = s["tricks_won"][rows, declarers & 1].astype(float)
        for turn, role in ((1, DEFENDER), (2, HELPER), (3, DEFENDER)):
            x = deals.features(rows, (declarers + turn) & 3, strains, declarers, level)
            samples[role].append((strains, x, won))
        rows = deals.rows
        for made, gathered in enumerate(passes):  # calls made before, all passes
            seats = (s["dealer"][rows] + 1 + made) & 3
            rows, seats = (each[s["calls"][rows, seats] == 0] for each in (rows, seats))
            points = s["points"][rows, seats & 1] - s["points"][rows, 1 - (seats & 1)]
            best = deals.estimates[rows, seats].max(axis=1)
            gathered.append(np.column_stack([points, np.ones(len(rows)), best]))
    for role, sample in samples.items():
        for kind, x, y in by_kind(sample):
            weights["tricks"][role, kind], weights["deviation"][role, kind] = least_squares(x, y)
    for made, gathered in enumerate(passes):
        passed = np.concatenate(gathered)
        if len(passed) >= 4 * FEWEST:  # points vary more than tricks do
            weights["passing"][made] = least_squares(passed[:, 1:], passed[:, 0], ridge=10.0)[0]


def by_kind(samples: list[Any]) -> Iterator[tuple[int, Array, Array]]:
    """(0 trumps / 1 no trump, x, y) of samples (strains, x, y), where there are enough."""
    strains, x, y = (np.concatenate(parts) for parts in zip(*samples, strict=True))
    for kind in (0, 1):
        chosen = (strains == NO_TRUMP) == bool(kind)
        if chosen.sum() >= FEWEST:
            yield kind, x[chosen], y[chosen]


def least_squares(x: Array, y: Array, ridge: float = 30.0) -> tuple[Array, float]:
    """Weights for the columns of x, the first of them all ones, and the deviation left over."""
    penalty = np.diag([1e-6] + [ridge] * (x.shape[1] - 1))  # the constant goes almost free
    weights = np.linalg.solve(x.T @ x + penalty, x.T @ y)
    return weights, float(np.sqrt(np.mean((y - x @ weights) ** 2)))


def logistic_regression(x: Array, y: Array, ridge: float = 3.0) -> Array:
    """Weights for the columns of x, the first of them all ones, by Newton's steps."""
    penalty = np.array([1e-6] + [ridge] * (x.shape[1] - 1))

    def cost(weights: Array) -> float:
        z = x @ weights
        return float(np.sum(np.logaddexp(0, z) - y * z) + 0.5 * np.sum(penalty * weights**2))

    weights, before = np.zeros(x.shape[1]), np.inf
    while before - (now := cost(weights)) > 1e-6:
        p, before = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30))), now
        bend = x.T @ (x * (p * (1 - p) + 1e-9)[:, None]) + np.diag(penalty)
        step = np.linalg.solve(bend, x.T @ (y - p) - penalty * weights)
        while cost(weights + step) > now and np.abs(step).max() > 1e-9:
            step /= 2
        weights = weights + step
    return weights


@entry_kernel
def hand_rows(dealt: Array, tables: Array, contracts: Array, view: Row, features: Array) -> None:
    """Describe hands; contracts (4, m) are seats, strains, declarers and levels."""
    t = tables[0]
    for i in range(len(dealt)):
        s, seat, strain, level = dealt[i], contracts[0, i], contracts[1, i], contracts[3, i]
        view.held = s.hands[seat] & KIND_BITS
        view.held_pair = s.hands[seat] >> COPY_SHIFT
        view.dealer = (s.dealer - seat) & 3
        declarer = (contracts[2, i] - seat) & 3
        alone = t.alone[level] == 1
        last = 0 if declarer == 0 else t.need[level]  # for the feature `level`
        last = missing_bowers(view, t, strain) if alone else last
        describe_hand(view, t, strain, we_lead(view, t, declarer, alone), last, features[i])


@entry_kernel
def auction_rows(
    seen: Array, tables: Array, offsets: Array, strains: Array, view: Row, features: Array
) -> None:
    """Write what the calls in each observation say about a strain."""
    for i in range(len(seen)):
        read_view(row_of(seen, i), tables[0], offsets[0], view)
        describe_auction(view, tables[0], strains[i], features[i])


@entry_kernel
def begin_rows(states: Array, tables: Array) -> None:
    """Go on from the contract to the exchange or the play."""
    for i in range(len(states)):
        begin_cards(states[i], tables[0])


if __name__ == "__main__":
    sys.exit(run(main, Args))
