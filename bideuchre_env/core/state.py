"""The whole state of a game: one row of one structured array, the same dtype for every variant.

Rows copy, compare, save and pickle as numpy does. Seats are absolute (0 to 3), sides are
`seat & 1`, cards are kinds, hands are the integers of `cards.py`. -1 stands for "none yet".
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import MAX_KINDS, MAX_KITTY, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.jit import Array, as_rows, new_rows


class Phase(IntEnum):
    """The kind of action that the seat to act chooses next; in DEAL and OVER no seat acts."""

    AUCTION = 0  # a call
    NAMING = 1  # the strain, after the auction
    GIVING = 2  # the declarer lays away a card for the kitty, or gives one up in an exchange
    PASSING = 3  # the partner passes a card
    PLAY = 4  # a card to the trick
    DEAL = 5  # no action: the hand is over and the next one is not dealt yet
    OVER = 6  # no action: the game is over


class Outcome(IntEnum):
    """Outcome of a game."""

    UNFINISHED = 0
    WON = 1
    DRAWN = 2
    TRUNCATED = 3


# The enums as plain numbers, for kernels.
AUCTION, NAMING, GIVING, PASSING, PLAY, DEAL, OVER = (int(phase) for phase in Phase)
UNFINISHED, WON, DRAWN, TRUNCATED = (int(outcome) for outcome in Outcome)

# Wide fields first, and one byte to fill the last word, so that a row has no hidden padding and
# equal rows are equal byte by byte.
STATE = np.dtype(
    [
        # the row's random stream, used for dealing only
        ("rng", np.uint64, (2,)),
        # the game
        ("score", np.int64, (2,)),  # points of each side
        ("hands_dealt", np.int64),  # deals so far, this one included
        ("hands_played", np.int64),  # hands played to the end, passed-out ones not counted
        # the hand
        ("hands", np.int64, (N_SEATS,)),  # cards held now
        # an auction in rounds, three bits for each level; 0 for a level that is not bid
        ("bidders", np.int64),  # 1 + the seat that bid the level
        ("bid_strains", np.int64),  # 1 + the strain that it named
        ("points", np.int32, (2,)),  # of this hand, once it is over, by side
        # the game
        ("outcome", np.int8),  # Outcome
        ("winner", np.int8),  # side, or -1
        # the hand
        ("phase", np.int8),  # Phase
        ("turn", np.int8),  # seat to act
        ("dealer", np.int8),  # seat
        ("declarer", np.int8),  # seat of the standing or winning bid, or -1
        ("level", np.int8),  # its place in the bid ladder, or -1
        ("strain", np.int8),  # its strain, or -1 while unnamed
        ("sitting_out", np.int8),  # a lone declarer's partner, or -1
        ("calls", np.int8, (N_SEATS,)),  # the last: -1 none yet, 0 pass, 1 + level a bid
        ("call_strains", np.int8, (N_SEATS,)),  # strain of the last bid if it names one, or -1
        ("calls_made", np.int8),  # in rounds at most 3 until the auction is over, then 4
        ("picks", np.int8),  # cards laid away, or picked in this half of the exchange
        ("given", np.int8, (MAX_EXCHANGE,)),  # kinds the declarer gave up, in order, or -1
        ("passed", np.int8, (MAX_EXCHANGE,)),  # kinds the partner passed, in order, or -1
        # the play
        ("trick", np.int8),  # tricks complete
        ("led", np.int8),  # suit led to the current trick, or -1
        ("winning", np.int8),  # seat winning the current trick, or -1
        ("winning_power", np.int8),  # power of its card
        ("tricks_won", np.int8, (2,)),  # by side
        ("voids", np.int8, (N_SEATS,)),  # bit per suit the seat has failed to follow
        ("leaders", np.int8, (MAX_TRICKS,)),  # seat that led each trick, or -1
        ("plays", np.int8, (N_SEATS * MAX_TRICKS,)),  # [seat * 12 + trick]: kind played, or -1
        # [kind, MAX_KINDS + kind for one played before]: 0, or who played it, see `tag`
        ("tags", np.int8, (2 * MAX_KINDS,)),
        # the kitty of a game that has one
        ("kitty", np.int8, (MAX_KITTY,)),  # kinds dealt to it, ascending, or -1
        ("laid", np.int8, (MAX_KITTY,)),  # kinds the declarer laid away for it, in order, or -1
        ("padding", np.int8),
    ],
    align=True,
)


def new_states(n: int) -> Array:
    """Return rows of `STATE`, shape (n,), all zero; `deal.start_game` initialises one."""
    return new_rows(STATE, n)


def rows_of(contents: Sequence[bytes]) -> Array:
    """Return rows of `STATE`, shape (n,), from the result of `tobytes()` of each row.

    numpy copies structured rows field by field; copying bytes is ten times as fast.
    """
    rows = np.frombuffer(bytearray().join(contents), STATE)
    return as_rows(rows)
