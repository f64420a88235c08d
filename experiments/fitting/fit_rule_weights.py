"""Fit the numbers of the rule player's bidding: the whole of `agents/rule/hand_numbers.py`.

    python experiments/fitting/fit_rule_weights.py --decks 24x1 24x2

For each deck (24x1 is 24 kinds, one copy each), from rough guesses, the rule player plays at all
four seats; half the deals have the declarer leading, half the eldest hand. In every round:

1. declarer: contracts with partner by seats and in strains that look good, some at random. Least
   squares of the side's tricks on the counts of the declarer's hand (`agents/hand_value.py`).
2. lone: the better half of the deals is played alone after every exchange. Logistic regression of
   taking all tricks on the same counts and the missing bowers.
3. signs: the auction is stopped after one to three calls and the next seat declares. Least squares
   of the tricks beyond its hand's estimate on the signs of those calls (`agents/bidding.py`).
4. roles: whole hands are bid and played. Least squares of the declarer's side's tricks on the hand
   of the partner, and of a defender; of the points after a pass on the best estimate.

3 and 4, done twice a round as calls depend on what a pass is worth, add a ladder with moons to that
with calls for cards. Spreads are what is left over. A small ridge gives 0 to counts that never
vary. Each deck has a stream of its own from `--seed`; decks not named keep the package's numbers.

The package's numbers come from these fits, run in parts while the play was still being tuned: a run
comes close to them, not to the digit. This script, unlike the others, imports the package's core,
for it fits the package's own agent. It writes at the end only: after Ctrl-C there is no file.
"""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bideuchre_env.agents.rule import bidding, hand_numbers
from bideuchre_env.agents.rule.agent import RuleAgent
from bideuchre_env.agents.rule.bidding import DECLARER, DEFENDER, HELPER, N_SIGNS, N_STRAINS
from bideuchre_env.agents.rule.hand_features import N_FEATURES, describe
from bideuchre_env.agents.rule.view import VIEW, read_view
from bideuchre_env.agents.rule.weights import CAUTION, DECKS, LONE_CAUTION, PRESS, WEIGHTS
from bideuchre_env.cli.script_args import parse, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.step import begin_cards
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, NO_TRUMP
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, new_rows

NAMES = tuple(f"{kinds}x{copies}" for kinds, copies in DECKS)
LOWEST = {16: "J", 20: "10", 24: "9"}  # rank, by kinds in the deck
DECIMALS = {"tricks": 2, "spread": 2, "signs": 2, "lone": 2, "passing": 1}
AT_RANDOM = 0.35  # share of contracts in any strain, and of lone bids at no trump: rare ones too
FEWEST = 50  # with fewer hands than this a fit leaves its numbers as they were


@dataclass(frozen=True)
class Args:
    """What to fit; every field is an option of the command line."""

    decks: tuple[str, ...] = field(default=NAMES, metadata={"help": "the decks to fit"})
    deals: int = field(default=60_000, metadata={"help": "deals of each game in each fit"})
    rounds: int = field(default=2, metadata={"help": "times all is fitted, each upon the last"})
    seed: int = field(default=0, metadata={"help": "same seed, same deals and numbers"})
    out: Path = field(default=Path("runs/hand_numbers.py"), metadata={"help": "written at the end"})


def parse_args(arguments: list[str] | None = None) -> Args:
    """The command line as `Args`: an option a field, its default the field's."""
    return parse(Args, __doc__, arguments)


def main(args: Args) -> int:
    """Fit the decks and write the file; 130, and no file, if interrupted."""
    check(args)
    numbers: list[dict[str, Any]] = list(hand_numbers.HAND_NUMBERS)
    try:
        for place, name in enumerate(NAMES):
            if name in args.decks:
                start = time.perf_counter()
                w = fit_deck(*DECKS[place], args, np.random.default_rng([args.seed, place]))
                numbers[place] = {key: w[key].ravel() for key in DECIMALS}
                print(f"{name}: fitted in {time.perf_counter() - start:.0f} s", flush=True)
        args.out.parent.mkdir(parents=True, exist_ok=True)
        partial = args.out.with_suffix(".py.partial")
        partial.write_text(source(numbers), encoding="utf-8")
        partial.replace(args.out)  # complete or not at all
    except KeyboardInterrupt:
        print("interrupted: nothing is written", file=sys.stderr)
        return 130
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
    """The numbers of one deck, one record of `WEIGHTS`."""
    weights = rough_weights(kinds * copies // 4)
    calls, moons = games(kinds, copies)

    def deal(*games: Rules, n: int = args.deals) -> list[Deals]:
        each = [g.replace(opening_lead=leader) for g in games for leader in ("declarer", "eldest")]
        return [Deals(rules, weights, n, rng) for rules in each]

    for _ in range(args.rounds):
        fit_declarer(deal(calls), weights[0])
        for exchange in range(4):
            fit_lone(deal(calls), weights[0], exchange)
        for _ in range(2):
            fit_signs(deal(calls, moons), weights[0])
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


def rough_weights(tricks: int) -> Array:
    """A beginner's numbers, good enough to choose the first contracts by; no lone bids."""
    weights = new_rows(WEIGHTS, 1)
    w = weights[0]
    trumps = [0.18 * tricks, 0.9, 0.8, 0.7, 0.5, 0.4, 0.35, 0.1, 0.1, 0.7, 0.4, 0.5, 0.2, 0.1, 0, 0]
    plain = [0.3 * tricks, 0.8, 0.6, -0.3, 0.2, 0.7, 0.8, 0.3, 0.2, 0.1, 0.1, 0, 0, 0, 0.3, 0]
    w["tricks"][DECLARER] = [trumps, plain]
    w["tricks"][HELPER:, :, 0], w["tricks"][HELPER:, :, -1] = 0.5, 1.0  # just about the bid
    w["spread"], w["lone"][:, :, 0] = 0.18 * tricks, -20.0
    w["caution"], w["press"], w["lone_caution"] = CAUTION, PRESS, LONE_CAUTION
    return weights


class Deals:
    """Freshly dealt hands of one game, a row each, for the rule player with some weights."""

    def __init__(self, rules: Rules, weights: Array, n: int, rng: np.random.Generator) -> None:
        self.rules, self.rng, self.rows = rules, rng, np.arange(n)
        self.agent = RuleAgent(rules, weights=weights)
        self.tables, self.offsets = self.agent.tables, self.agent.layout._offsets()
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
                numbers = weights["tricks"][0, DECLARER, int(strain == NO_TRUMP)]
                x = self.counts(self.rows, seat, strain, seat)
                self.estimates[:, seat, strain] = np.round(x @ numbers, 9)

    def counts(self, rows: Array, seats: Any, strains: Any, declarers: Any, level: Any = 0) -> Any:
        """The counts of these hands, as they were dealt, in these contracts."""
        contracts = np.empty((4, len(rows)), np.int64)
        contracts[0], contracts[1], contracts[2], contracts[3] = seats, strains, declarers, level
        x = np.zeros((len(rows), N_FEATURES))
        count_rows(self.dealt[rows], self.tables, contracts, self.view, x)
        return x

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


def fit_declarer(played: list[Deals], w: Row) -> None:
    """Tricks with partner, from the declarer's hand."""
    samples = []
    for deals in played:
        rows, best = deals.rows, deals.estimates.max(axis=2)
        one, other = deals.rng.integers(0, 4, (2, len(rows)))
        seats = np.where(best[rows, one] >= best[rows, other], one, other)
        strains = deals.some_strains(seats)
        won = deals.play_contract(rows, seats, deals.half, strains)
        samples.append((strains, deals.counts(rows, seats, strains, seats), won))
    for kind, x, y in by_kind(samples):
        w["tricks"][DECLARER, kind], w["spread"][DECLARER, kind] = least_squares(x, y)


def fit_lone(played: list[Deals], w: Row, exchange: int) -> None:
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
        x = deals.counts(rows, seats, strains, seats, level)
        samples.append((strains, x, (won == deals.rules.tricks).astype(float)))
    for kind, x, y in by_kind(samples):
        w["lone"][kind, exchange] = logistic_regression(x, y)


def fit_signs(played: list[Deals], w: Row) -> None:
    """What the calls so far add to the estimate of the hand."""
    samples = []
    w["signs"] = 0.0  # the estimates they are to correct have none
    for deals in played:
        rows = deals.rows
        deals.play_on(calls=deals.rng.integers(1, 4, len(rows)))
        seats = deals.states["turn"].astype(np.int64)
        strains = deals.some_strains(seats)
        signs = np.ones((len(rows), 1 + N_SIGNS))
        seen, t, o = deals.encoded(rows)[0], deals.tables, deals.offsets
        sign_rows(seen, t, o, strains, deals.view, signs[:, 1:])
        won = deals.play_contract(rows, seats, deals.half, strains)
        samples.append((strains, signs, won - deals.estimates[rows, seats, strains]))
    for kind, x, y in by_kind(samples):
        numbers, w["spread"][DECLARER, kind] = least_squares(x, y, ridge=20.0)
        w["signs"][kind] = numbers[1:]
        w["tricks"][DECLARER, kind, 0] += numbers[0]


def fit_roles(played: list[Deals], w: Row) -> None:
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
            x = deals.counts(rows, (declarers + turn) & 3, strains, declarers, level)
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
            w["tricks"][role, kind], w["spread"][role, kind] = least_squares(x, y)
    for made, gathered in enumerate(passes):
        passed = np.concatenate(gathered)
        if len(passed) >= 4 * FEWEST:  # points vary more than tricks do
            w["passing"][made] = least_squares(passed[:, 1:], passed[:, 0], ridge=10.0)[0]


def by_kind(samples: list[Any]) -> Iterator[tuple[int, Array, Array]]:
    """(0 trumps / 1 no trump, x, y) of samples (strains, x, y), where there are enough."""
    strains, x, y = (np.concatenate(parts) for parts in zip(*samples, strict=True))
    for kind in (0, 1):
        chosen = (strains == NO_TRUMP) == bool(kind)
        if chosen.sum() >= FEWEST:
            yield kind, x[chosen], y[chosen]


def least_squares(x: Array, y: Array, ridge: float = 30.0) -> tuple[Array, float]:
    """Numbers for the columns of x, the first of them all ones, and the deviation left over."""
    penalty = np.diag([1e-6] + [ridge] * (x.shape[1] - 1))  # the constant goes almost free
    numbers = np.linalg.solve(x.T @ x + penalty, x.T @ y)
    return numbers, float(np.sqrt(np.mean((y - x @ numbers) ** 2)))


def logistic_regression(x: Array, y: Array, ridge: float = 3.0) -> Array:
    """Numbers for the columns of x, the first of them all ones, by Newton's steps."""
    penalty = np.array([1e-6] + [ridge] * (x.shape[1] - 1))

    def cost(numbers: Array) -> float:
        z = x @ numbers
        return float(np.sum(np.logaddexp(0, z) - y * z) + 0.5 * np.sum(penalty * numbers**2))

    numbers, before = np.zeros(x.shape[1]), np.inf
    while before - (now := cost(numbers)) > 1e-6:
        p, before = 1 / (1 + np.exp(-np.clip(x @ numbers, -30, 30))), now
        bend = x.T @ (x * (p * (1 - p) + 1e-9)[:, None]) + np.diag(penalty)
        step = np.linalg.solve(bend, x.T @ (y - p) - penalty * numbers)
        while cost(numbers + step) > now and np.abs(step).max() > 1e-9:
            step /= 2
        numbers = numbers + step
    return numbers


@entry_kernel
def count_rows(dealt: Array, tables: Array, contracts: Array, v: Row, x: Array) -> None:
    """Write the counts of hands; contracts (4, m) are seats, strains, declarers and levels."""
    t = tables[0]
    for i in range(len(dealt)):
        s, seat, strain = dealt[i], int(contracts[0, i]), int(contracts[1, i])
        v.held = int(s.hands[seat]) & KIND_BITS
        v.held_pair = int(s.hands[seat]) >> COPY_SHIFT
        v.dealer = (int(s.dealer) - seat) & 3
        declarer, level = (int(contracts[2, i]) - seat) & 3, int(contracts[3, i])
        alone = int(t.alone[level]) == 1
        last = 0 if declarer == 0 else int(t.need[level])  # for `hand_value.LEVEL`
        last = bidding.missing_bowers(v, t, strain) if alone else last
        on_lead = 1 if bidding.leads(v, t, 0, declarer, alone) else 0
        describe(v, t, strain, on_lead, last, x[i])


@entry_kernel
def sign_rows(seen: Array, tables: Array, offsets: Array, strains: Array, v: Row, x: Array) -> None:
    """Write what the calls in each observation say about a strain."""
    for i in range(len(seen)):
        read_view(row_of(seen, i), tables[0], offsets[0], v)
        bidding.read_signs(v, tables[0], int(strains[i]), x[i])


@entry_kernel
def begin_rows(states: Array, tables: Array) -> None:
    """Go on from the contract to the exchange or the play."""
    for i in range(len(states)):
        begin_cards(states[i], tables[0])


def source(numbers: list[dict[str, Any]]) -> str:
    """The numbers of all decks as the text of `agents/rule/hand_numbers.py`."""
    lines = [f'"""{hand_numbers.__doc__}"""', "", "# fmt: off"]
    lines.append("HAND_NUMBERS: tuple[dict[str, tuple[float, ...]], ...] = (")
    for (kinds, copies), deck in zip(DECKS, numbers, strict=True):
        lines.append(f"    {{  # {kinds} kinds, {'one copy' if copies == 1 else 'two copies'}")
        for key, decimals in DECIMALS.items():
            values = ", ".join(f"{round(float(v), decimals) + 0.0:g}" for v in deck[key]) + ","
            wrapped = textwrap.wrap(values, 87, break_on_hyphens=False)
            lines += [f'        "{key}": (', *(" " * 12 + each for each in wrapped), "        ),"]
        lines.append("    },")
    return "\n".join([*lines, ")", "# fmt: on", ""])


if __name__ == "__main__":
    sys.exit(run(main, parse_args))
