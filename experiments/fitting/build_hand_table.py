"""Make the table of what every hand is worth: the whole of `agents/data/hand_tables.npz`.

    python experiments/fitting/build_hand_table.py --seed 1

For every canonical hand of the 24-card deck and of the 32-card double deck (see
`agents/hand_table.py`) the other cards are dealt at random and played out by the rule player at
all seats, the hand's holder having been given the contract: with partner in every strain, and
alone in every strain after every exchange. The 24-card hands are played once with the declarer
leading and once with another seat leading (each as often); the 32-card ones with the declarer
leading, as in every declared game of that deck.

With partner each strain is played on `--first` deals, then those within `NEAR` tricks of the best
on `--more` further ones. Alone, `--first-alone` deals, and where any was won `--more-alone` more.
Each hand has streams of its own from the seed, so the numbers do not depend on the order of work.
The file is written at the end only, after Ctrl-C there is none.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.expert.hand_table import DECKS, SCALE, canonical_key
from bideuchre_env.agents.rule.agent import rule_decision
from bideuchre_env.agents.rule.bidding import SCRATCH
from bideuchre_env.agents.rule.view import VIEW
from bideuchre_env.agents.rule.weights import load_weights
from bideuchre_env.cli.script_args import parse, run
from bideuchre_env.core.observation.encode import encode
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
from bideuchre_env.core.step import apply, begin_cards, legal, legal_bits
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, kernel, new_rows

NEAR = 0.4  # tricks below the best strain for a second look
N_EXCHANGES = 4
LEADERS = {24: ("declarer", "eldest"), 16: ("declarer",)}
LOWEST = {16: "J", 24: "9"}


@dataclass(frozen=True)
class Args:
    """What to play; every field is an option of the command line."""

    first: int = field(default=40, metadata={"help": "deals of every strain with partner"})
    more: int = field(default=120, metadata={"help": "further deals of the best strains"})
    first_alone: int = field(default=16, metadata={"help": "deals of every lone bid"})
    more_alone: int = field(default=100, metadata={"help": "further deals where one was won"})
    hands: int = field(default=0, metadata={"help": "only so many hands of a deck; 0 for all"})
    seed: int = field(default=1, metadata={"help": "same seed, same table"})
    out: Path = field(default=Path("runs/hand_tables.npz"), metadata={"help": "written at the end"})


def parse_args(arguments: list[str] | None = None) -> Args:
    """The command line as `Args`: an option a field, its default the field's."""
    return parse(Args, __doc__, arguments)


def main(args: Args) -> int:
    """Play both decks and write the file; 130, and no file, if interrupted."""
    words = split_seed(args.seed)
    if min(args.first, args.more, args.first_alone, args.more_alone) < 1 or args.hands < 0:
        raise OptionError("--first, --more, --first-alone and --more-alone: at least 1 deal")
    arrays: dict[str, Array] = {}
    try:
        for kinds, copies in DECKS:
            start = time.perf_counter()
            arrays |= make_deck(kinds, copies, args, words[0])
            print(f"{kinds}x{copies}: {time.perf_counter() - start:.0f} s", flush=True)
    except KeyboardInterrupt:
        print("interrupted: nothing is written", file=sys.stderr)
        return 130
    write_file(args.out, arrays, told(args))
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
        held = [0, 1 << kind, 1 << kind | 1 << kind + COPY_SHIFT][: copies + 1]
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
        layout, weights = layout_of(rules), load_weights(kinds, copies)
        deals = np.array([args.first, args.more, args.first_alone, args.more_alone])
        states, tables = new_states(1), compile_tables(rules)
        observation, mask = (
            np.zeros((1, size), np.int8) for size in (layout.size, tables["n_actions"][0])
        )
        own = np.uint64((int(low) + 2 * lead + 4 * copies) % (1 << 64))
        for start in range(0, n, 64):  # in parts, so that Ctrl-C is heard
            part = slice(start, min(start + 64, n))
            play_hands(
                keys[part], start, own, deals, states, tables, layout.offsets, weights,
                new_rows(VIEW, 1), new_rows(SCRATCH, 1), observation, mask,
                won[part, lead], alone[part, lead],
            )  # fmt: skip
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


@entry_kernel
def play_hands(
    keys: Array,
    first_row: int,
    low: Word,
    deals: Array,
    states: Array,
    tables: Array,
    offsets: Array,
    weights: Array,
    views: Array,
    scratch: Array,
    observations: Array,
    masks: Array,
    won: Array,
    alone: Array,
) -> None:
    """Play every hand out, and add up tricks in `won` and lone successes and deals in `alone`."""
    s, t = states[0], tables[0]
    for i in range(len(keys)):
        row = np.uint64(first_row + i)
        for j in range(deals[0] + deals[1]):
            best = -1.0
            for strain in range(N_STRAINS):
                best = max(best, mean_tricks(won[i, strain]))
            seed_stream(s, low, mix(row * GOLDEN + np.uint64(j)))
            dealer = deal_others(s, t, int(keys[i]))
            one, two, three = int(s.hands[1]), int(s.hands[2]), int(s.hands[3])
            for strain in range(N_STRAINS):
                if j < deals[0] or mean_tricks(won[i, strain]) >= best - NEAR:
                    give_contract(s, t, dealer, int(keys[i]), one, two, three, 0, strain)
                    play_out(s, t, offsets, weights, views, scratch, observations, masks)
                    won[i, strain, int(s.tricks_won[0])] += 1
        for j in range(deals[2] + deals[3]):
            seed_stream(s, low + np.uint64(1), mix(row * GOLDEN + np.uint64(j)))
            dealer = deal_others(s, t, int(keys[i]))
            one, two, three = int(s.hands[1]), int(s.hands[2]), int(s.hands[3])
            for exchange in range(N_EXCHANGES):
                for strain in range(N_STRAINS):
                    count = alone[i, exchange, strain]
                    if j < deals[2] or count[0] > 0:
                        give_contract(
                            s, t, dealer, int(keys[i]), one, two, three, 1 + exchange, strain
                        )
                        play_out(s, t, offsets, weights, views, scratch, observations, masks)
                        count[0] += 1 if int(s.tricks_won[1]) == 0 else 0
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
def deal_others(s: Row, t: Row, hand: int) -> int:
    """Deal all cards but those of seat 0 to the others; the dealer, any of those not to its right.

    A dealer to the right of seat 0 would make it lead, by whichever rule; the stream of the row
    decides the rest.
    """
    n, each = 0, int(t.tricks)
    for kind in range(int(t.kinds)):
        for copy in range(int(t.copies)):
            if hand >> (kind + COPY_SHIFT * copy) & 1 == 0:
                s.plays[n] = kind
                n += 1
    shuffle(s, n, 1)
    for seat in range(1, 4):
        dealt = 0
        for i in range((seat - 1) * each, seat * each):
            kind = int(s.plays[i])
            dealt += 1 << (kind + COPY_SHIFT * ((dealt >> kind) & 1))
        s.hands[seat] = dealt
    return bounded(s, 3)


@kernel
def give_contract(
    s: Row, t: Row, dealer: int, own: int, one: int, two: int, three: int, level: int, strain: int
) -> None:
    """Begin a hand that seat 0 has won with this bid, everybody else having passed."""
    s.dealer = dealer
    begin_hand(s)
    s.hands[0] = own
    s.hands[1] = one
    s.hands[2] = two
    s.hands[3] = three
    s.calls[:] = 0
    s.calls[0] = 1 + level
    s.call_strains[:] = -1
    s.calls_made = 4
    s.declarer = 0
    s.level = level
    s.strain = strain
    if int(t.alone[level]):
        s.sitting_out = 2
    begin_cards(s, t)


@kernel
def play_out(
    s: Row,
    t: Row,
    offsets: Array,
    weights: Array,
    views: Array,
    scratch: Array,
    observations: Array,
    masks: Array,
) -> None:
    """Let the rule player play the hand to its end, or until a lone declarer loses a trick."""
    o, w, v, x = offsets[0], weights[0], views[0], scratch[0]
    observation, mask = row_of(observations, 0), row_of(masks, 0)
    alone = int(s.sitting_out) >= 0
    while int(s.phase) < DEAL and not (alone and int(s.tricks_won[1]) > 0):
        bits = legal_bits(s, t)
        if bits & (bits - 1) == 0:  # forced
            apply(s, t, int(t.card_offset) + lowest_bit(bits))
            continue
        encode(s, t, o, int(s.turn), observation)
        legal(s, t, mask)
        apply(s, t, rule_decision(observation, mask, t, o, w, v, x))


if __name__ == "__main__":
    sys.exit(run(main, parse_args))
