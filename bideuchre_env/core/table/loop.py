"""The loop of tables: `enter` a row, play while `next_kind` names a player, then `show` it.

An entry kernel with this loop contains some kinds of players. `kinds`, int64 (p,), has the kind of
each player that the call plays, else `OUTSIDE`: there a row stops, and another kernel or Python
chooses for the player.
"""

from __future__ import annotations

from bideuchre_env.core.bits import clear
from bideuchre_env.core.episode import (
    GOES_ON,
    TERMINATED,
    TRUNCATED_THERE,
    ending,
    side_0_reward,
)
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.phases.deal import deal_hand, seed_stream
from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import DEAL
from bideuchre_env.core.step import apply, is_legal, legal, legal_bits, only_one, pick_legal
from bideuchre_env.core.table.records import (
    ASKED,
    BID,
    CALLER,
    DONE,
    LONE_BID,
    LONE_MADE,
    MADE,
    MOVING,
    OUTSIDE,
    PAUSED,
    READY,
    SET,
    Seating,
    Setup,
    Table,
    Turn,
)
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, inline_kernel, kernel


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
