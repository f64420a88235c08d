"""Kernel and tables that turn an observation into words, for `Layout.decode`.

The kernel writes everything as numbers first: reading the vector entry by entry in Python would
take ten times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._checks import to_array
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.phases.play import opening_leader
from bideuchre_env.core.records import Offsets, Tables
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import (
    CARD_NAMES,
    MAX_KINDS,
    MAX_TRICKS,
    N_SEATS,
    N_STRAINS,
    STRAINS,
    SUITS,
)
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel

# Positions in the numbers that `read_words` writes, uint8. An index is stored plus one, so that 0
# stands for none, and for None in the tables of words.
PHASE, TO_ACT, DEALER, BID, STRAIN, DECLARER, SITTING_OUT, LED, WINNING = range(9)
CALLS = 9  # by seat: an action
VOIDS = CALLS + N_SEATS  # by seat: suits as bits
WON = VOIDS + N_SEATS  # tricks of our side, theirs
SCORES = WON + 2  # points of our side, theirs; to go, ours, theirs: each plus 128
TARGET = SCORES + 4
HANDS_LEFT = TARGET + 1
PILES = HANDS_LEFT + 1  # number of cards in hand, discarded, passed
TRICKS = PILES + 3  # number of tricks begun
LEADERS = TRICKS + 1  # by trick: the seat that leads; the next one's wins it
KINDS = LEADERS + MAX_TRICKS + 1
# From here on cards: by seat that of the current trick; by seat and trick of the game those played;
# the piles; the tricks in the order of play.
SIZE = KINDS + N_SEATS * (1 + 2 * MAX_TRICKS) + 6 * MAX_KINDS

ALPHABETICAL = np.array(sorted(range(MAX_KINDS), key=CARD_NAMES.__getitem__))
CARDS = (None, *CARD_NAMES)
SEATS = (None, *range(N_SEATS))
VOID_SUITS = tuple("".join(SUITS[i] for i in range(4) if bits >> i & 1) for bits in range(16))
PHASES = ("over", *(phase.name.lower() for phase in Phase if phase < Phase.DEAL))
_STRAINS = (None, *STRAINS)  # suits are the first four


class Decoder:
    """Reads the observations of a game with these bounds, int8 (D,), and offsets of blocks."""

    def __init__(self, rules: Rules, low: Array, high: Array, offsets: Array) -> None:
        self._rules, self._size = rules, len(low)
        self._arguments = low, high, compile_tables(rules), offsets
        self._calls = (None, *actions.of(rules).names)
        self._bids = (None, *(bid.name for bid in rules.ladder))

    def words(self, observation: Any) -> dict[str, Any]:
        """Return the words of an observation, see `Layout.decode`."""
        at, n = self._numbers(observation), self._rules.tricks
        cards = [CARDS[kind] for kind in at[KINDS:]]
        played = [cards[first : first + n] for first in range(N_SEATS, N_SEATS * (1 + n), n)]
        held = N_SEATS * (1 + n)
        discarded = held + at[PILES]
        passed = discarded + at[PILES + 1]
        first = passed + at[PILES + 2]
        seats = N_SEATS - (at[SITTING_OUT] > 0)
        aims = self._rules.target is not None
        return {
            "hand": cards[held:discarded],
            "discarded": cards[discarded:passed],
            "passed": cards[passed:first],
            "phase": PHASES[at[PHASE]],
            "to_act": SEATS[at[TO_ACT]],
            "dealer": SEATS[at[DEALER]],
            "calls": [self._calls[call] for call in at[CALLS:VOIDS]],
            "bid": self._bids[at[BID]],
            "strain": _STRAINS[at[STRAIN]],
            "declarer": SEATS[at[DECLARER]],
            "sitting_out": SEATS[at[SITTING_OUT]],
            "trick": cards[:N_SEATS],
            "led": _STRAINS[at[LED]],
            "winning": SEATS[at[WINNING]],
            "played": played,
            "tricks": [
                {
                    "leader": at[LEADERS + trick] - 1,
                    "cards": cards[first + seats * trick : first + seats * (trick + 1)],
                    "winner": SEATS[at[LEADERS + trick + 1]],
                }
                for trick in range(at[TRICKS])
            ],
            "voids": [VOID_SUITS[suits] for suits in at[VOIDS:WON]],
            "tricks_won": [at[WON], at[WON + 1]],
            "score": [at[SCORES] - 128, at[SCORES + 1] - 128],
            "to_go": [at[SCORES + 2] - 128, at[SCORES + 3] - 128] if aims else None,
            "target": at[TARGET] if aims else None,
            "hands_left": at[HANDS_LEFT],
        }

    def _numbers(self, observation: Any) -> bytes:
        """Return the numbers of `read_words` as bytes; errors are those of `Layout.decode`."""
        values = to_array("observation", observation)
        if values.shape != (self._size,):
            raise OptionError(f"an observation of shape {values.shape}: expected ({self._size},)")
        rows = values.astype(np.int8)[np.newaxis]  # a copy that is contiguous and writable
        same = values.dtype == np.int8 or (values.dtype.kind in "iu" and (rows == values).all())
        numbers = np.zeros(SIZE, np.uint8)
        size = read_words(rows, *self._arguments, numbers) if same else 0
        if not size:
            raise OptionError(
                f"an observation of {values.dtype} from {values.min()} to {values.max()}: expected "
                "whole numbers within layout.low and layout.high"
            )
        return numbers[:size].tobytes()


@inline_kernel
def index_of(observation: Array, at: int, n: int) -> int:
    """Return the index of the first entry above 0 among n from `at` on, plus one; 0 if none is."""
    for i in range(n):
        if observation[at + i] > 0:
            return i + 1
    return 0


@entry_kernel
def read_words(
    observations: Array, low: Array, high: Array, tables: Array, offsets: Array, out: Array
) -> int:
    """Write the numbers of an observation, int8 (1, D), to `out`, uint8 (SIZE,) of zeros.

    Returns the number of numbers. Returns 0, and writes nothing, unless the observation is within
    the bounds `low` and `high`, int8 (D,). An impossible observation within them is safe to read.
    """
    observation, outside = row_of(observations, 0), False
    for i in range(len(low)):
        outside |= (observation[i] < low[i]) | (observation[i] > high[i])
    if outside:
        return 0
    t, o = tables[0], offsets[0]
    public = o.private
    read_table(observation, public, t, o, out)
    read_calls(observation, public, t, o, out)
    read_game(observation, public, o, out)
    read_played(observation, public, t, o, out)
    end = read_piles(observation, t, o, out)
    return read_tricks(t, out, end)


@inline_kernel
def read_piles(observation: Array, t: Tables, o: Offsets, out: Array) -> int:
    """Write the cards in hand, discarded and passed, each sorted by name; return their end."""
    end = KINDS + N_SEATS * (1 + t.tricks)
    for pile in range(3):
        first, start = o.hand if pile == 0 else o.discarded if pile == 1 else o.passed, end
        if first < 0:
            continue
        for kind in ALPHABETICAL:
            if kind < t.kinds:
                for _ in range(observation[first + kind]):
                    out[end] = kind + 1
                    end += 1
        out[PILES + pile] = end - start
    return end


@inline_kernel
def read_table(observation: Array, public: int, t: Tables, o: Offsets, out: Array) -> None:
    """Write phase, seats, contract and the suit led."""
    out[PHASE] = index_of(observation, public + o.phase, 5)
    out[TO_ACT] = index_of(observation, public + o.to_act, 4)
    out[DEALER] = index_of(observation, public + o.dealer, 4)
    out[BID] = index_of(observation, public + o.bid, t.n_levels)
    out[STRAIN] = index_of(observation, public + o.strain, N_STRAINS)
    out[DECLARER] = index_of(observation, public + o.declarer, 4)
    if o.sitting_out >= 0:
        out[SITTING_OUT] = index_of(observation, public + o.sitting_out, 4)
    out[LED] = index_of(observation, public + o.led, 4)
    out[WINNING] = index_of(observation, public + o.winning, 4)


@inline_kernel
def read_calls(observation: Array, public: int, t: Tables, o: Offsets, out: Array) -> None:
    """Write the call of each seat, and the suits that it has failed to follow."""
    width, voids = 1 + t.n_levels, gather_bits(observation, public + o.voids, 16, 0)
    for seat in range(N_SEATS):
        call = index_of(observation, public + o.calls + seat * width, width)
        if call > 1 and t.strains_per_bid > 1:
            strain = index_of(observation, public + o.call_strains + seat * N_STRAINS, N_STRAINS)
            call = 2 + (call - 2) * t.strains_per_bid + max(strain - 1, 0)
        out[CALLS + seat] = call
        out[VOIDS + seat] = voids >> 4 * seat & 15


@inline_kernel
def read_game(observation: Array, public: int, o: Offsets, out: Array) -> None:
    """Write tricks won, scores, target and hands left."""
    for side in range(2):
        out[WON + side] = observation[public + o.tricks_won + side]
        out[SCORES + side] = int(observation[public + o.score + side]) + 128
        if o.to_go >= 0:
            out[SCORES + 2 + side] = int(observation[public + o.to_go + side]) + 128
    if o.target >= 0:
        out[TARGET] = observation[public + o.target]
    out[HANDS_LEFT] = observation[public + o.hands_left]


@inline_kernel
def read_played(observation: Array, public: int, t: Tables, o: Offsets, out: Array) -> None:
    """Write the cards played, by seat and trick."""
    at, first = public + o.played, KINDS + N_SEATS - 1
    for seat in range(N_SEATS):
        for _ in range(t.copies):
            played = gather_bits(observation, at, t.kinds, 0)
            while played:
                kind = lowest_bit(played)
                played &= played - 1
                out[first + seat * t.tricks + observation[at + kind]] = kind + 1
            at += t.kinds


@inline_kernel
def read_tricks(t: Tables, out: Array, end: int) -> int:
    """Write the tricks, with leaders and winners, from `end` on; return the end of their cards."""
    strain, dealer, declarer = int(out[STRAIN]) - 1, int(out[DEALER]) - 1, int(out[DECLARER]) - 1
    if strain < 0 or dealer < 0 or declarer < 0:
        return end
    done = int(out[WON]) + int(out[WON + 1])
    tricks = min(done + (1 if out[LED] > 0 else 0), t.tricks)
    leader = opening_leader(t, dealer, declarer, int(out[SITTING_OUT]) - 1)
    out[TRICKS], out[LEADERS] = tricks, leader + 1
    for trick in range(tricks):
        winner, led, most = leader, -1, 0
        for turn in range(N_SEATS):
            seat = (leader + turn) & 3
            card = int(out[KINDS + N_SEATS + seat * t.tricks + trick])
            if trick == done:
                out[KINDS + seat] = card
            if card > 0:
                led = t.suit_of[strain, card - 1] if led < 0 else led
                if t.power[strain, led, card - 1] > most:
                    winner, most = seat, t.power[strain, led, card - 1]
                out[end] = card
                end += 1
        leader = winner
        if trick < done:
            out[LEADERS + trick + 1] = leader + 1
    return end
