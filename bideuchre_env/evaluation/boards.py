"""Kernels of duplicate boards: many tables in lock step, two tables per board.

Slots 2p and 2p + 1 hold the two tables of a board. Both are dealt from the same random stream, so
they have the same cards. Agent 0 has seats 0 and 2 at the first table, seats 1 and 3 at the second
(`agent = side ^ slot & 1`). A slot whose phase is OVER is idle.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.core.phases.deal import deal_hand, seed_stream, start_game
from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.records import State
from bideuchre_env.core.state import DEAL, DRAWN, OVER, WON
from bideuchre_env.core.step import is_legal
from bideuchre_env.runtime.jit import Array, Word, entry_kernel, kernel

BID, MADE, SET, LONE_BID, LONE_MADE = range(5)

TABLE_TALLY = np.dtype(
    [
        ("points", np.int64),  # agent 0's minus agent 1's
        ("hands", np.int64),  # passed-out ones included
        ("contracts", np.int64, (2, 5)),  # [agent]: BID, MADE, SET, LONE_BID, LONE_MADE
    ],
    align=True,
)
NO_GAME, A_WON, B_WON, GAME_DRAWN, GAME_TRUNCATED = range(5)

BOARD = np.dtype(
    [
        ("board", np.int64),  # its number
        ("points", np.int64, (2,)),  # [table]: agent 0's minus agent 1's
        ("hands", np.int32, (2,)),  # [table]: passed-out ones included
        ("game_ends", np.int32, (2,)),  # [table]: NO_GAME for a single hand, or how the game ended
        ("contracts", np.int32, (2, 5)),  # [agent], both tables together
    ],
    align=True,
)
TOTALS = np.dtype(
    [
        ("boards", np.int64),  # or pairs of games
        ("points", np.int64),
        ("hands", np.int64),
        ("points_points", np.float64),  # sums of squares and products over boards
        ("points_hands", np.float64),
        ("hands_hands", np.float64),
        ("table_points_points", np.float64),  # the same over tables, two to a board
        ("table_points_hands", np.float64),
        ("table_hands_hands", np.float64),
        ("ties", np.int64),  # boards with the same result at both tables
        ("contracts", np.int64, (2, 5)),
        ("won", np.int64, (2,)),  # games, by agent
        ("drawn", np.int64),
        ("truncated", np.int64),
    ],
    align=True,
)


@entry_kernel
def open_boards(
    states: Array, tables: Array, pairs: Array, boards: Array, low: Word, high: Word, single: bool
) -> None:
    """Start board `boards[j]` in the pair of slots `pairs[j]`, and deal its first hand.

    Board i has the random stream of seed `high:low` + i. The dealer of a single hand is seat i % 4;
    the first dealer of a game is drawn at random.
    """
    for j in range(len(pairs)):
        word = low + np.uint64(boards[j])
        carry = np.uint64(1) if word < low else np.uint64(0)
        for table in range(2):
            s = states[2 * pairs[j] + table]
            seed_stream(s, word, high + carry)
            start_game(s, boards[j] & 3 if single else -1)
            deal_hand(s, tables[0])


@entry_kernel
def to_act(states: Array, slots: Array, counts: Array) -> None:
    """Write the slots where agent k (0 or 1) is to act to `slots[k]`, their number to `counts[k]`.

    `slots` is int64 (2, n), `counts` int64 (2,).
    """
    counts[0] = 0
    counts[1] = 0
    for i in range(len(states)):
        if states[i].phase < DEAL:
            agent = (states[i].turn ^ i) & 1
            slots[agent, counts[agent]] = i
            counts[agent] += 1


@entry_kernel
def first_illegal(states: Array, tables: Array, slots: Array, choices: Array) -> int:
    """Return the first j whose choice is illegal in slot `slots[j]`, or -1.

    Legality is computed from the state, because an agent may have changed its mask.
    """
    for j in range(len(slots)):
        if not is_legal(states[slots[j]], tables[0], choices[j]):
            return j
    return -1


@entry_kernel
def ended_hands(states: Array, slots: Array, ended: Array, count: int) -> int:
    """Append those of `slots` whose hand has ended to `ended[count:]`; return the new count."""
    for j in range(len(slots)):
        if states[slots[j]].phase >= DEAL:
            ended[count] = slots[j]
            count += 1
    return count


@entry_kernel
def tally_hands(states: Array, tables: Array, ended: Array, tallies: Array) -> None:
    """Add the hands that have ended to the tallies of their slots."""
    for j in range(len(ended)):
        slot = ended[j]
        s, tally = states[slot], tallies[slot]
        swapped = slot & 1
        tally.points += s.points[swapped] - s.points[1 - swapped]
        tally.hands += 1
        level = s.level
        if level < 0:
            continue
        row = tally.contracts[(s.declarer & 1) ^ swapped]
        is_made, alone = made(s, tables[0]), tables[0].alone[level] == 1
        row[BID] += 1
        row[MADE if is_made else SET] += 1
        if alone:
            row[LONE_BID] += 1
            row[LONE_MADE] += 1 if is_made else 0


@entry_kernel
def close_tables(states: Array, ended: Array) -> None:
    """Set the phase of the slots `ended` to OVER after one hand, even if the game is not over."""
    for j in range(len(ended)):
        states[ended[j]].phase = OVER


@entry_kernel
def finished_pairs(states: Array, tallies: Array, pairs: Array) -> int:
    """Write the pairs of slots whose tables are both over, but not settled yet, to `pairs`.

    Returns their number.
    """
    count = 0
    for pair in range(len(states) // 2):
        slot = 2 * pair
        over = states[slot].phase == OVER and states[slot + 1].phase == OVER
        if over and tallies[slot].hands > 0:
            pairs[count] = pair
            count += 1
    return count


@entry_kernel
def settle_pairs(
    states: Array, tallies: Array, pairs: Array, boards: Array, single: bool, rows: Array
) -> None:
    """Write the results of finished pairs of slots to `rows` (`BOARD`), and clear their tallies.

    The pair of slots `pairs[j]` holds the board with number `boards[j]`.
    """
    for j in range(len(pairs)):
        row = rows[j]
        row.board = boards[j]
        row.contracts[:] = 0
        for table in range(2):
            slot = 2 * pairs[j] + table
            tally = tallies[slot]
            row.points[table] = tally.points
            row.hands[table] = tally.hands
            row.game_ends[table] = NO_GAME if single else game_end(states[slot], table)
            for agent in range(2):
                for i in range(5):
                    row.contracts[agent, i] += tally.contracts[agent, i]
                    tally.contracts[agent, i] = 0
            tally.points = 0
            tally.hands = 0


@kernel
def game_end(s: State, swapped: int) -> int:
    """Return how a finished game ended: `A_WON`, `B_WON`, `GAME_DRAWN` or `GAME_TRUNCATED`.

    `swapped` is the side of agent A (agent 0): 0 at the first table of a board, 1 at the second.
    """
    if s.outcome == WON:
        return A_WON if s.winner == swapped else B_WON
    return GAME_DRAWN if s.outcome == DRAWN else GAME_TRUNCATED


@entry_kernel
def add_boards(rows: Array, totals: Array) -> None:
    """Add boards, rows of `BOARD`, to the one row of `totals` (`TOTALS`)."""
    total = totals[0]
    for j in range(len(rows)):
        row = rows[j]
        points, hands = 0, 0
        for table in range(2):
            p, h = row.points[table], row.hands[table]
            points += p
            hands += h
            total.table_points_points += float(p) * p
            total.table_points_hands += float(p) * h
            total.table_hands_hands += float(h) * h
            end = row.game_ends[table]
            if end == A_WON:
                total.won[0] += 1
            elif end == B_WON:
                total.won[1] += 1
            elif end == GAME_DRAWN:
                total.drawn += 1
            elif end == GAME_TRUNCATED:
                total.truncated += 1
        for agent in range(2):
            for i in range(5):
                total.contracts[agent, i] += row.contracts[agent, i]
        total.boards += 1
        total.points += points
        total.hands += hands
        total.points_points += float(points) * points
        total.points_hands += float(points) * hands
        total.hands_hands += float(hands) * hands
        total.ties += 1 if points == 0 else 0
