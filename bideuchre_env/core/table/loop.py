"""Tables: rows with a player for each seat, and the kernels that advance them to a question.

An entry kernel of a table loops over its rows: `enter` a row, play while `next_kind` names a
player, then `show` it. It contains some kinds of players. `kinds`, int64 (p,), has the kind of each
player that the call plays, else `OUTSIDE`: there a row stops, and another kernel or Python chooses
for the player.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bideuchre_env.core.bits import clear
from bideuchre_env.core.episode import GOES_ON, TERMINATED, TRUNCATED_THERE, ending, side_0_reward
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import deal_hand, seed_stream
from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.step import apply, is_legal, legal, legal_bits, only_one, pick_legal
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
"""Number of the player that acts through `Turn`; all other numbers are from 0."""
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


@inline_kernel
def enter(table: Table, turn: Turn, kinds: Array, i: int) -> bool:
    """Apply the caller's action in row i if it acts; return whether this call advances the row.

    An illegal action ends the episode. Only the first call of a turn advances rows whose caller is
    to act, so that it is paid once.
    """
    row = table.seating[i]
    if row.stage == ASKED and kinds[row.asked] != OUTSIDE:
        row.stage = MOVING
    if row.stage != READY:
        return row.stage == MOVING
    if turn.opens and turn.acting[i]:
        s, t = table.states[i], table.tables[0]
        row.decided = 1
        if is_legal(s, t, turn.choices[i]):
            apply(s, t, turn.choices[i])
            row.stage = MOVING
        else:
            row.owed = table.setup[0].illegal_reward
            row.illegal = 1
            row.ending = TERMINATED
            row.stage = DONE
    return turn.opens


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
            if setup.skip_forced == 0 or row.decided == 0 or not apply_forced(s, t):
                row.stage = READY
        elif kinds[player] != OUTSIDE:
            return kinds[player]
        else:
            row.asked = player
            row.stage = ASKED
    return OUTSIDE


@inline_kernel
def apply_forced(s: State, t: Tables) -> bool:
    """Apply the action of the seat to act if only one is legal; return whether it is."""
    bits = legal_bits(s, t)
    if not only_one(t, s.phase, bits):
        return False
    apply(s, t, pick_legal(t, s.phase, bits, 0))
    return True


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


@inline_kernel
def seed_players(s: State, row: Seating) -> None:
    """Seed the stream of a row's players from that of its game, before anything is drawn.

    The swapped words seed a second stream, far from the first.
    """
    seed_stream(row, s.rng[1], s.rng[0])


@inline_kernel
def show(table: Table, turn: Turn, i: int) -> None:
    """Write the caller's view of row i if `turn.seen[i]`, its reward and ends if `turn.pays`.

    Nothing is written while another player is asked. The mask is zero unless the caller is to act.
    The reward owed becomes 0 when it is paid.
    """
    s, row, t = table.states[i], table.seating[i], table.tables[0]
    if row.seat < 0 or row.stage > DONE:
        return
    if turn.seen[i]:
        mask = row_of(table.masks, i)
        encode(s, t, table.offsets[0], row.seat, row_of(table.observations, i))
        if row.stage == READY:
            legal(s, t, mask)
        else:
            clear(mask, 0, t.n_actions)
        table.seats[i] = row.seat
        table.done[i] = row.stage == DONE
    if turn.pays:
        table.rewards[i] = row.owed
        row.owed = 0.0
        table.terminated[i] = row.ending == TERMINATED
        table.truncated[i] = row.ending == TRUNCATED_THERE
