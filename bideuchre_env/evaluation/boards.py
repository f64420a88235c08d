"""Kernels of duplicate boards: two rows of a table for each board.

Rows 2p and 2p + 1 hold the two tables of a board. Both are dealt from the same random stream, so
they have the same cards. Agent 0 has seats 0 and 2 at the first table, seats 1 and 3 at the second
(`agent = side ^ row & 1`).
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.core.phases.deal import deal_hand, seed_players, start_game
from bideuchre_env.core.records import State
from bideuchre_env.core.rows import seed_row
from bideuchre_env.core.state import DRAWN, WON
from bideuchre_env.core.table.loop import DONE, Table, begin_episode, clear_sum
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array, Word, entry_kernel, kernel

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
    table: Table, players: Array, pairs: Array, boards: Array, low: Word, high: Word, single: bool
) -> None:
    """Start board `boards[j]` in the pair of rows `pairs[j]`, and deal its first hand.

    Board i has the random stream of seed `high:low` + i. The dealer of a single hand is seat i % 4;
    the first dealer of a game is drawn at random. `players`, int64 (2, 4), are the numbers of the
    players by table and seat. The first players are not asked yet.
    """
    for j in range(len(pairs)):
        for second in range(2):
            i = 2 * pairs[j] + second
            s, row = table.states[i], table.seating[i]
            seed_row(s, low, high, boards[j])
            seed_players(s, row)
            start_game(s, boards[j] & 3 if single else -1)
            deal_hand(s, table.tables[0])
            for seat in range(N_SEATS):
                row.player[seat] = players[second, seat]
            row.seat = -1
            clear_sum(table.sums[i])
            begin_episode(row)


@entry_kernel
def close_boards(table: Table, board_of: Array, single: bool, pairs: Array, rows: Array) -> int:
    """Write finished boards to `rows` (`BOARD`) and their pairs of rows to `pairs`.

    Returns their number. Their sums are cleared, so that they are not written again. The pair of
    rows p holds the board with number `board_of[p]`.
    """
    count = 0
    for pair in range(len(board_of)):
        first, second = 2 * pair, 2 * pair + 1
        over = table.seating[first].stage == DONE and table.seating[second].stage == DONE
        if not over or table.sums[first].hands == 0:
            continue
        row = rows[count]
        row.board = board_of[pair]
        row.contracts[:] = 0
        for swapped in range(2):
            s, total = table.states[first + swapped], table.sums[first + swapped]
            row.points[swapped] = total.points[swapped] - total.points[1 - swapped]
            row.hands[swapped] = total.hands
            row.game_ends[swapped] = NO_GAME if single else game_end(s, swapped)
            for agent in range(2):
                for i in range(5):
                    row.contracts[agent, i] += total.contracts[agent ^ swapped, i]
            clear_sum(total)
        pairs[count] = pair
        count += 1
    return count


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
