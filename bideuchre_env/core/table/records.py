"""Records of a table: the players of its seats, the setup of all rows, and sums of hands."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row, new_rows

READY, DONE, MOVING, ASKED, PAUSED = range(5)
"""Stages of a row: its caller is to act; its episode is over; players in a kernel are to act; the
player `asked` is to act; a hand has ended, and the caller of the kernel has not continued it."""
CALLER = -1
"""Number of the player that acts through `Turn`; all other numbers are from 0."""
OUTSIDE = -1
"""Kind of a player that a call of a kernel does not contain."""
BID, MADE, SET, LONE_BID, LONE_MADE = range(5)

SEATING = np.dtype(  # beside each STATE
    [
        ("rng", np.uint64, (2,)),  # random stream of the players
        ("owed", np.float64),  # reward of `seat` that is not paid yet
        ("hands", np.int32),  # finished in this episode
        ("player", np.int16, (N_SEATS,)),  # number of each seat's player, or CALLER
        ("asked", np.int16),  # player whose choice is awaited
        ("seat", np.int8),  # the seat that is paid and shown its observation, or -1
        ("stage", np.int8),
        ("settled", np.int8),  # 1: the hand that is over is in `owed` and in the sums
        ("ending", np.int8),  # of an episode that is over, see `episode`
        ("illegal", np.int8),  # 1: it ended with an illegal action
        ("decided", np.int8),  # 1: the caller has acted in this episode
    ],
    align=True,
)
SUM = np.dtype(  # of finished hands
    [
        ("points", np.int64, (2,)),  # by side
        ("hands", np.int64),  # passed-out ones included
        ("passed_out", np.int64),
        ("contracts", np.int64, (2, 5)),  # by side: BID, MADE, SET, LONE_BID, LONE_MADE
    ],
    align=True,
)
SETUP = np.dtype(
    [
        ("illegal_reward", np.float64),
        ("seat", np.int64),  # the caller's, -1 to draw it
        ("by_hand", np.int64),  # an episode is a hand
        ("by_points", np.int64),
        ("skip_forced", np.int64),  # the caller's decisions without a choice are played here
        ("pause", np.int64),  # rows stop at the end of each hand
    ],
    align=True,
)
Seating: TypeAlias = Row  # SEATING
Setup: TypeAlias = Row  # SETUP


class Table(NamedTuple):
    """Rows of one game, with sums or with arrays for their callers; the others have no rows."""

    tables: Array
    offsets: Array
    setup: Array  # SETUP (1,)
    states: Array  # STATE (n,)
    seating: Array  # SEATING (n,)
    sums: Array  # SUM (n,), of the episode, or (0,)
    observations: Array  # int8 (n, D)
    masks: Array  # int8 (n, A)
    seats: Array  # int64 (n,)
    rewards: Array  # float64 (n,)
    terminated: Array  # bool (n,)
    truncated: Array  # bool (n,)
    done: Array  # bool (n,): whether the episode is over


class Turn(NamedTuple):
    """The callers' actions, and the results that are written for them."""

    acting: Array  # bool (n,): whether the caller acts
    choices: Array  # int64 (n,): its action
    seen: Array  # bool (n,): whether the observation is written
    pays: bool  # whether the rewards and the ends of all rows are written
    opens: bool  # whether this is the turn's first call of a kernel, which applies the actions


def new_table(rules: Rules, n: int, *, with_callers: bool) -> Table:
    """Return n rows, all zero, with arrays for a caller in each, or without callers with sums."""
    layout, callers = layout_of(rules), n if with_callers else 0
    return Table(
        compile_tables(rules),
        layout.offsets,
        new_rows(SETUP, 1),
        new_states(n),
        new_rows(SEATING, n),
        new_rows(SUM, n - callers),
        np.zeros((callers, layout.size), np.int8),
        np.zeros((callers, actions.of(rules).n), np.int8),
        np.zeros(callers, np.int64),
        np.zeros(callers, np.float64),
        *np.zeros((3, callers), bool),
    )


def no_turn() -> Turn:
    """Return the turn of a table without callers."""
    none: Any = np.zeros(0, bool)
    return Turn(none, np.zeros(0, np.int64), none, False, False)
