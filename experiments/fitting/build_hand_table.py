"""Make `agents/data/hand_tables.npz`: the worth of every hand to a declarer.

    python experiments/fitting/build_hand_table.py --seed 1

For every canonical hand of the 24-card deck and of the 32-card double deck
(`agents/expert/hand_table.py`) the other cards are dealt at random and played out by the rule
player at all seats, the hand's holder having been given the contract: with partner in every strain,
and alone in every strain after every exchange. The 24-card hands are played once with the declarer
leading and once with another seat leading (each as often); the 32-card ones with the declarer
leading, as in every declared game of that deck.

With partner each strain is played on `--first` deals, then those within `NEAR` tricks of the best
on `--more` further ones. Alone, `--first-alone` deals, and where any was won `--more-alone` more.
Each hand has streams of its own from the seed, so the numbers do not depend on the order of work.
The file is written at the end only, after Ctrl-C there is none.
"""

from __future__ import annotations

import bideuchre_env.runtime.quitting  # noqa: F401  # first: Ctrl-C is one line from now on

# isort: split
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bideuchre_env._files import Output
from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.expert.hand_table import DECKS, SCALE
from bideuchre_env.agents.rule.agent import RuleWorkspace, act_by_rule, rule_workspace
from bideuchre_env.cli.script_args import ScriptArgs, run
from bideuchre_env.core.hands import put
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.auction import N_STRAINS
from bideuchre_env.core.phases.deal import (
    GOLDEN,
    begin_hand,
    bounded,
    mix,
    seed_stream,
    shuffle,
    split_seed,
)
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.step import apply, begin_cards, legal_bits
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.suits import canonical_key
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, kernel

NEAR = 0.4  # tricks below the best strain for a second look
N_EXCHANGES = 4
LEADERS = {24: ("declarer", "eldest"), 16: ("declarer",)}
LOWEST = {16: "J", 24: "9"}


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to play; every field is an option of the command line."""

    first: int = field(default=40, metadata={"help": "deals of every strain with partner"})
    more: int = field(default=120, metadata={"help": "more deals of the strains near the best"})
    first_alone: int = field(default=16, metadata={"help": "deals of every lone bid"})
    more_alone: int = field(
        default=100, metadata={"help": "more deals of a lone bid that was made once"}
    )
    hands: int = field(default=0, metadata={"help": "only so many hands of a deck; 0 for all"})
    seed: int = field(default=1, metadata={"help": "same seed, same table"})
    out: Path = field(
        default=Path("runs/hand_tables.npz"), metadata={"help": "the file to write, at the end"}
    )


def main(args: Args) -> int:
    """Play both decks and write the file; no file if interrupted."""
    split_seed(args.seed)
    if min(args.first, args.more, args.first_alone, args.more_alone) < 1 or args.hands < 0:
        raise OptionError("--first, --more, --first-alone and --more-alone: at least 1 deal")
    with Output(args.out, overwrite=True) as out:  # reserved now, written at the end
        return play_decks(args, out)


def play_decks(args: Args, out: Output) -> int:
    """Play both decks and write the file."""
    arrays: dict[str, Array] = {}
    for kinds, copies in DECKS:
        start = time.perf_counter()
        arrays |= make_deck(kinds, copies, args, split_seed(args.seed)[0])
        print(f"{kinds}x{copies}: {time.perf_counter() - start:.0f} s", flush=True)
    write_file(out, arrays, told(args))
    print(f"written to {args.out}: {args.out.stat().st_size / 2**20:.2f} MiB")
    return 0


def told(args: Args) -> dict[str, object]:
    """How the table was made, for the file itself."""
    return {
        "script": "experiments/fitting/build_hand_table.py",
        "seed": args.seed,
        "deals": {name: getattr(args, name) for name in vars(args) if name not in ("seed", "out")},
        "near_tricks": NEAR,
        "leaders": {f"{kinds}x{copies}": LEADERS[kinds] for kinds, copies in DECKS},
        "played_by": "the rule player at all four seats, the contract given, the other cards "
        "dealt uniformly at random",
        "chances": f"uint8, of {SCALE}",
    }


def canonical_hands(kinds: int, copies: int) -> Array:
    """Every canonical hand of a deck, rising; int64 (n,)."""
    size = kinds * copies // 4
    hands, counts = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for kind in range(kinds):
        held = [0, 1 << kind, 1 << kind | 1 << (kind + COPY_SHIFT)][: copies + 1]
        hands = np.concatenate([hands | bits for bits in held])
        counts = np.concatenate([counts + n for n in range(copies + 1)])
        possible = (counts <= size) & (counts + copies * (kinds - 1 - kind) >= size)
        hands, counts = hands[possible], counts[possible]
    keys = np.zeros(len(hands), np.int64)
    key_rows(hands, keys)
    return np.unique(keys)


@entry_kernel
def key_rows(hands: Array, keys: Array) -> None:
    """Fill `keys` with the canonical hand of every hand."""
    for i in range(len(hands)):
        keys[i] = canonical_key(hands[i])


def game(kinds: int, copies: int, leader: str) -> Rules:
    """A game with a bid for half the tricks and a lone bid for every exchange."""
    half = kinds * copies // 8
    lone = tuple(Bid(f"call-{k}", value=1, exchange=k) for k in range(N_EXCHANGES))
    return Rules(
        ranks=LOWEST[kinds],
        copies=copies,
        partnered=(half, half),
        lone=lone,
        opening_lead=leader,
        target=10,
    )


def make_deck(kinds: int, copies: int, args: Args, low: Word) -> dict[str, Array]:
    """The arrays of one deck, by the names they have in the file."""
    keys = canonical_hands(kinds, copies)
    n = min(len(keys), args.hands or len(keys))
    keys = keys[:n]
    leaders, tricks = LEADERS[kinds], kinds * copies // 4
    won = np.zeros((n, len(leaders), N_STRAINS, tricks + 1), np.int64)
    alone = np.zeros((n, len(leaders), N_EXCHANGES, N_STRAINS, 2), np.int64)
    for lead, leader in enumerate(leaders):
        rules = game(kinds, copies, leader)
        deals = np.array([args.first, args.more, args.first_alone, args.more_alone])
        table = Table(
            rule_workspace(rules),
            new_states(2),
            np.zeros((1, layout_of(rules).size), np.int8),
            np.zeros((1, actions.of(rules).n), np.int8),
        )
        own = np.uint64((int(low) + 2 * lead + 4 * copies) % (1 << 64))
        for start in range(0, n, 64):  # in parts, so that Ctrl-C is heard
            part = slice(start, min(start + 64, n))
            play_hands(table, keys[part], start, own, deals, won[part, lead], alone[part, lead])
    lone = np.round(SCALE * alone[..., 0] / alone[..., 1])
    name = f"{kinds}x{copies}"
    return {
        f"keys_{name}": keys,
        f"tricks_{name}": quantised(won),
        f"lone_{name}": lone.astype(np.uint8),
    }


def quantised(counts: Array) -> Array:
    """Counts along the last axis as uint8 shares that add up to `SCALE` exactly."""
    ups = np.cumsum(counts, axis=-1) * SCALE / counts.sum(axis=-1, keepdims=True)
    steps = np.diff(np.round(ups), axis=-1, prepend=0)
    shares: Array = steps.astype(np.uint8)
    return shares


class Table(NamedTuple):
    """What hands are played on."""

    work: RuleWorkspace
    states: Array  # the deal, and the hand that is played from it
    observations: Array  # (1, D)
    masks: Array  # (1, A)


@entry_kernel
def play_hands(
    table: Table, keys: Array, first_row: int, low: Word, deals: Array, won: Array, alone: Array
) -> None:
    """Play every hand out, and add up tricks in `won` and lone successes and deals in `alone`."""
    deal, s, t = table.states[0], table.states[1], table.work.tables[0]
    for i in range(len(keys)):
        row = np.uint64(first_row + i)
        for j in range(deals[0] + deals[1]):
            best = -1.0
            for strain in range(N_STRAINS):
                best = max(best, mean_tricks(won[i, strain]))
            seed_stream(deal, low, mix(row * GOLDEN + np.uint64(j)))
            deal_others(deal, t, keys[i])
            for strain in range(N_STRAINS):
                if j < deals[0] or mean_tricks(won[i, strain]) >= best - NEAR:
                    give_contract(s, deal, t, 0, strain)
                    play_out(s, table)
                    won[i, strain, s.tricks_won[0]] += 1
        for j in range(deals[2] + deals[3]):
            seed_stream(deal, low + np.uint64(1), mix(row * GOLDEN + np.uint64(j)))
            deal_others(deal, t, keys[i])
            for exchange in range(N_EXCHANGES):
                for strain in range(N_STRAINS):
                    count = alone[i, exchange, strain]
                    if j < deals[2] or count[0] > 0:
                        give_contract(s, deal, t, 1 + exchange, strain)
                        play_out(s, table)
                        count[0] += 1 if s.tricks_won[1] == 0 else 0
                        count[1] += 1


@kernel
def mean_tricks(counts: Array) -> float:
    """The mean of a count of tricks; 0 of none."""
    total, n = 0.0, 0.0
    for tricks in range(len(counts)):
        total += tricks * counts[tricks]
        n += counts[tricks]
    return total / n if n > 0.0 else 0.0


@kernel
def deal_others(deal: Row, t: Row, hand: int) -> None:
    """Give seat 0 its hand, deal the other cards to the others, and draw a dealer.

    Any but the seat to the right of seat 0, which would make it lead by whichever rule.
    """
    n, each = 0, t.tricks
    for kind in range(t.kinds):
        for copy in range(t.copies):
            if hand >> (kind + COPY_SHIFT * copy) & 1 == 0:
                deal.plays[n] = kind
                n += 1
    shuffle(deal, n, 1)
    deal.hands[0] = hand
    for seat in range(1, 4):
        dealt = 0
        for i in range((seat - 1) * each, seat * each):
            dealt = put(dealt, deal.plays[i])
        deal.hands[seat] = dealt
    deal.dealer = bounded(deal, 3)


@kernel
def give_contract(s: Row, deal: Row, t: Row, level: int, strain: int) -> None:
    """Begin a hand that seat 0 has won with this bid, everybody else having passed."""
    s.dealer = deal.dealer
    begin_hand(s)
    for seat in range(4):
        s.hands[seat] = deal.hands[seat]
        s.calls[seat] = 0
        s.call_strains[seat] = -1
    s.calls[0] = 1 + level
    s.calls_made = 4
    s.declarer = 0
    s.level = level
    s.strain = strain
    if t.alone[level]:
        s.sitting_out = 2
    begin_cards(s, t)


@kernel
def play_out(s: Row, table: Table) -> None:
    """Let the rule player play the hand to its end, or until a lone declarer loses a trick."""
    t = table.work.tables[0]
    observation, mask = row_of(table.observations, 0), row_of(table.masks, 0)
    alone = s.sitting_out >= 0
    while s.phase < DEAL and not (alone and s.tricks_won[1] > 0):
        bits = legal_bits(s, t)
        if bits & (bits - 1) == 0:  # forced
            apply(s, t, t.card_offset + lowest_bit(bits))
        else:
            act_by_rule(s, observation, mask, table.work)


if __name__ == "__main__":
    sys.exit(run(main, Args))
