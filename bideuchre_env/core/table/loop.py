"""Tables: rows with a player for each seat, and the kernels that advance them to a question.

An entry kernel of a table loops over its rows: `enter` a row, play while `next_kind` names a
player, then `show` it, again and again while a new episode follows. It contains some kinds of
players. `kinds`, int64 (p,), has the kind of each player that the call plays, else `OUTSIDE`: there
a row stops, and another kernel or Python chooses for the player. For a table without callers, the
code for them is not compiled.

A learner is the caller of a row, with three players of its own. The stream of a row's players also
draws the learner's seat and these players. So a row depends only on its seed and the learner's
actions, unless a player called from Python is random.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from bideuchre_env.core.bits import clear
from bideuchre_env.core.episode import GOES_ON, TERMINATED, TRUNCATED_THERE, ending, side_0_reward
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import bounded, deal_hand, fraction, next_word, start_game
from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import DEAL, WON, new_states
from bideuchre_env.core.step import apply, apply_forced, is_legal, legal
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, inline_kernel, kernel, new_rows

READY, DONE, MOVING, ASKED, PAUSED = range(5)
"""Stages of a row: its caller is to act; its episode is over; players in a kernel are to act; the
player `asked` is to act; a hand has ended, and the caller of the kernel has not continued it."""
CALLER = -1
"""Number of the player that acts through `Callers`; all other numbers are from 0."""
OUTSIDE = -1
"""Kind of a player that a call of a kernel does not contain."""
BID, MADE, SET, LONE_BID, LONE_MADE = range(5)

SEATING = np.dtype(  # beside each STATE
    [
        ("rng", np.uint64, (2,)),  # random stream of the players
        ("owed", np.float64),  # reward of `seat` that is not paid yet
        ("hands", np.int32),  # finished in this episode
        ("player", np.int32, (N_SEATS,)),  # number of each seat's player, or CALLER
        ("asked", np.int32),  # player whose choice is awaited
        ("seat", np.int8),  # the seat that is paid and shown its observation, or -1
        ("stage", np.int8),
        ("settled", np.int8),  # 1: the hand that is over is in `owed` and in the sums
        ("ending", np.int8),  # of an episode that is over, see `episode`
        ("illegal", np.int8),  # 1: it ended with an illegal action
        ("decided", np.int8),  # 1: the caller has acted in this episode
    ],
    align=True,
)
ENTRY = np.dtype(  # a candidate: the players of two seats; a partner is in both
    [
        ("upto", np.float64),  # upper bound of the random numbers that draw it
        ("left", np.int64),
        ("right", np.int64),
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
EPISODE = np.dtype(  # a finished episode
    [
        ("score", np.int64, (2,)),  # by side
        ("hands", np.int64),
        ("outcome", np.int64),  # `Outcome`
        ("winner", np.int64),  # a side, or -1
        ("illegal", np.bool_),  # whether an illegal action ended it
        ("seat", np.int64),  # the caller's
        ("player", np.int32, (N_SEATS,)),  # see `SEATING`
    ],
    align=True,
)
Seating: TypeAlias = Row  # SEATING
Setup: TypeAlias = Row  # SETUP


class Draws(NamedTuple):
    """The candidates from which each row draws its players."""

    entries: Array  # `ENTRY`
    spans: Array  # int64 (c, 2): first and last entry of choice c
    rows: Array  # int64 (n, 2): a row's choice of opponents, and of its partner


class Callers(NamedTuple):
    """The callers of a table, one for each row: their actions, observations and rewards.

    After a call of a kernel, `acting` is False, and `done` tells whether an episode has ended since
    the caller acted. If a new one has followed, the last observation is in `finals`.
    """

    offsets: Array
    draws: Draws
    acting: Array  # bool (n,): whether the caller acts, or begins an episode after the last one
    choices: Array  # int64 (n,): its action
    observations: Array  # int8 (n, D)
    masks: Array  # int8 (n, A)
    seats: Array  # int64 (n,)
    rewards: Array  # float64 (n,)
    terminated: Array  # bool (n,)
    truncated: Array  # bool (n,)
    done: Array  # bool (n,)
    some_done: Array  # bool (1,): set to True with any of `done`
    episodes: Array  # EPISODE (n,): the last finished one
    finals: Array  # int8 (n, D); (0, D) unless new episodes follow


class Table(NamedTuple):
    """Rows of one game."""

    tables: Array
    setup: Array  # SETUP (1,)
    states: Array  # STATE (n,)
    seating: Array  # SEATING (n,)
    sums: Array  # SUM (n,), of the episode, or (0,)
    callers: Callers | None = None


def new_table(rules: Rules, n: int, *, sums: bool = False) -> Table:
    """Return n rows, all zero, with or without sums."""
    rows = new_states(n), new_rows(SEATING, n), new_rows(SUM, n if sums else 0)
    return Table(compile_tables(rules), new_rows(SETUP, 1), *rows)


def new_callers(rules: Rules, n: int, draws: Draws, *, reopen: bool) -> Callers:
    """Return the arrays of n callers, all zero; with `reopen` new episodes follow."""
    layout, width = layout_of(rules), actions.of(rules).n
    seen, masks = np.zeros((n, layout.size), np.int8), np.zeros((n, width), np.int8)
    acting, terminated, truncated, done = np.zeros((4, n), bool)
    return Callers(
        *(layout.offsets, draws, acting, np.zeros(n, np.int64), seen, masks),
        *(np.zeros(n, np.int64), np.zeros(n, np.float64), terminated, truncated, done),
        *(np.zeros(1, bool), new_rows(EPISODE, n), seen.copy() if reopen else seen[:0]),
    )


@inline_kernel
def enter(table: Table, kinds: Array, i: int) -> bool:
    """Let the caller of row i act if it does; return whether this call advances the row."""
    row = table.seating[i]
    if row.stage == ASKED and kinds[row.asked] != OUTSIDE:
        row.stage = MOVING
    if row.stage <= DONE:
        return take_turn(table, table.callers, i)
    return bool(row.stage == MOVING)


@inline_kernel
def take_turn(table: Table, callers: Callers | None, i: int) -> bool:
    """Let the caller of row i act, or begin an episode after the last one; return whether it does.

    An illegal action ends the episode.
    """
    if callers is None:
        return False
    if not callers.acting[i]:
        return False
    callers.acting[i] = callers.done[i] = False
    s, row, t, action = table.states[i], table.seating[i], table.tables[0], callers.choices[i]
    if row.stage == DONE:
        if len(callers.finals) == 0:  # else the episode ended before a decision, and is paid now
            open_episode(table, callers.draws, i)
        return True
    row.decided = 1
    if is_legal(s, t, action):
        apply(s, t, action)
        row.stage = MOVING
    else:
        row.owed = table.setup[0].illegal_reward
        row.illegal = 1
        row.ending = TERMINATED
        row.stage = DONE
    return True


@inline_kernel
def next_kind(table: Table, kinds: Array, i: int) -> int:
    """Settle and deal hands until a contained player is to act; return its kind, else `OUTSIDE`."""
    s, row, t, setup = table.states[i], table.seating[i], table.tables[0], table.setup[0]
    while row.stage == MOVING:
        if s.phase >= DEAL:
            if row.settled == 0 and len(table.sums) > 0:
                add_hand(s, t, table.sums[i])
            settle(s, row, t, setup)
            continue
        player = row.player[s.turn]
        if player == CALLER:
            # the caller's first decision is never skipped: the episode could end before it
            if setup.skip_forced == 0 or row.decided == 0 or apply_forced(s, t) != 0:
                row.stage = READY
        elif kinds[player] != OUTSIDE:
            return kinds[player]
        else:
            row.asked = player
            row.stage = ASKED
    return OUTSIDE


@kernel
def settle(s: State, row: Seating, t: Tables, setup: Setup) -> None:
    """Add a finished hand to the reward, once; then pause, deal the next one or end the episode."""
    if row.settled == 0:
        reward = side_0_reward(s, setup.by_points == 1)
        row.owed += -reward if row.seat & 1 else reward
        row.settled = 1
        row.hands += 1
        if setup.pause == 1:
            row.stage = PAUSED
            return
    row.settled = 0
    end = ending(s, setup.by_hand == 1)
    if end == GOES_ON:
        deal_hand(s, t)
    else:
        row.ending = end
        row.stage = DONE


@kernel
def add_hand(s: State, t: Tables, total: Row) -> None:
    """Add a finished hand to `total`, a record of `SUM`."""
    total.hands += 1
    for side in range(2):
        total.points[side] += s.points[side]
    if s.level < 0:
        total.passed_out += 1
        return
    row, is_made = total.contracts[s.declarer & 1], made(s, t)
    row[BID] += 1
    row[MADE if is_made else SET] += 1
    if t.alone[s.level] == 1:
        row[LONE_BID] += 1
        row[LONE_MADE] += 1 if is_made else 0


@kernel
def clear_sum(total: Row) -> None:
    """Set a record of `SUM` to zero."""
    total.hands = total.passed_out = 0
    for side in range(2):
        total.points[side] = 0
        for i in range(5):
            total.contracts[side, i] = 0


@kernel
def begin_episode(row: Seating) -> None:
    """Begin an episode of a row whose first hand is dealt and whose players have their seats."""
    row.owed = 0.0
    row.hands = 0
    row.stage = MOVING
    row.ending = GOES_ON
    row.settled = row.illegal = row.decided = 0


@kernel
def open_episode(table: Table, draws: Draws, i: int) -> None:
    """Begin an episode in row i with a random dealer and hand, after the last one is over."""
    s, row = table.states[i], table.seating[i]
    start_game(s, -1)
    deal_hand(s, table.tables[0])
    seat_learner(row, table.setup[0].seat, draws, i)
    begin_episode(row)


@inline_kernel
def seat_learner(row: Seating, seat: int, draws: Draws, i: int) -> None:
    """Seat the learner of row i in `seat`, random for -1, and its players.

    A seat is always drawn, so that a fixed seat does not change later draws. Players are drawn if
    there are several candidates.
    """
    drawn = bounded(row, N_SEATS)
    row.seat = seat if seat >= 0 else drawn
    pair = draw_entry(row, draws, draws.rows[i, 0])
    row.player[row.seat] = CALLER
    row.player[(row.seat + 1) & 3] = draws.entries[pair].left
    row.player[(row.seat + 3) & 3] = draws.entries[pair].right
    partner = draw_entry(row, draws, draws.rows[i, 1])
    row.player[(row.seat + 2) & 3] = draws.entries[partner].left


@kernel
def draw_entry(row: Seating, draws: Draws, choice: int) -> int:
    """Return the index of an entry of `choice`, drawn from the row's stream if it has several."""
    entry: int = draws.spans[choice, 0]
    last = draws.spans[choice, 1]
    if entry < last:
        number = fraction(next_word(row))
        while entry < last and number >= draws.entries[entry].upto:
            entry += 1
    return entry


@inline_kernel
def show(table: Table, callers: Callers | None, i: int) -> bool:
    """Write the reward of the caller of row i, once in a turn, and its observation.

    Nothing is written while a player is asked.

    Returns whether a new episode follows, in which the row is advanced and shown again; if that one
    is over before the caller's first decision, its end is paid in the next turn. The mask is zero
    unless the caller is to act. The reward owed becomes 0 when it is paid.
    """
    if callers is None:
        return False
    s, row, t = table.states[i], table.seating[i], table.tables[0]
    if row.stage > DONE:
        return False
    over, paid = row.stage == DONE, callers.done[i]
    if not paid:
        callers.rewards[i] = row.owed
        row.owed = 0.0
        callers.terminated[i] = row.ending == TERMINATED
        callers.truncated[i] = row.ending == TRUNCATED_THERE
    callers.seats[i] = row.seat
    reopens = over and not paid and len(callers.finals) > 0
    seen = row_of(callers.finals, i) if reopens else row_of(callers.observations, i)
    encode(s, t, callers.offsets[0], row.seat, seen)
    if over:
        clear(row_of(callers.masks, i), 0, t.n_actions)
        if not paid:
            callers.done[i] = callers.some_done[0] = True
            close_episode(s, row, callers.episodes[i])
    else:
        legal(s, t, row_of(callers.masks, i))
    if reopens:
        open_episode(table, callers.draws, i)
    return reopens


@kernel
def close_episode(s: State, row: Seating, episode: Row) -> None:
    """Write the result of a finished episode to `episode`, a record of `EPISODE`."""
    episode.hands, episode.seat, episode.illegal = row.hands, row.seat, row.illegal == 1
    episode.outcome = s.outcome
    episode.winner = s.winner if s.outcome == WON else -1
    for side in range(2):
        episode.score[side] = s.score[side]
    for seat in range(N_SEATS):
        episode.player[seat] = row.player[seat]
