"""The transposition table: results of positions that the search has finished.

A result holds for every position with the same leader, the same numbers of cards by seat and suit
(the shape), and the same owners and ties of the cards in `mask`, the top cards that it depends on
(partition search). Entries of one shape and leader form a chain, the most recently used first;
shapes with the same hash share it.

Entries are numbered by a counter that only increases, and stored in a ring buffer whose size is a
power of two: a full table overwrites its oldest entries. A new search (`forget`) only records the
counter, so the table is never cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.core.state import new_states
from bideuchre_env.runtime.intrinsics import highest_bit
from bideuchre_env.runtime.jit import Array, kernel, new_rows
from bideuchre_env.solver.position import LEADER_SHIFT, POSITION, Position, field_bits

ENTRY = np.dtype(
    [
        ("key", np.int64),  # shape and leader
        ("owner_1", np.int64),  # bit 0 of the owner of each card
        ("owner_2", np.int64),  # bit 1
        ("tie", np.int64),
        ("mask", np.int64),  # the cards that must be the same
        ("older", np.int64),  # number of the next entry of the chain
        ("low", np.int32),  # least tricks of side 0
        ("high", np.int32),  # most tricks of side 0
        ("move", np.int64),  # bit of the card that proved it, or -1
    ],
    align=True,
)
NOTHING = -1  # instead of a mask: no result
WON = 1 << 62  # flag added to a mask: side 0 reaches its goal
# Added to a key, times the number of the part, to look up the head of a chain. Bits 30 and 31 of a
# key are free: room for parts 0 to 3. Part 4 overflows into a card count, so its chain may share
# a head with another shape's. Entries hold the whole key, so this costs time but no correctness.
PART = 1 << 30
PARTED = 10  # chains of deals with at least this many tricks are split
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Searcher(NamedTuple):
    """Working arrays of one search at a time.

    `position` is one `POSITION`. `heads` (the number of each chain's newest entry) and `entries`
    (`ENTRY`) are the transposition table. `states` is one scratch row for setting up contracts.
    """

    position: Array  # one `POSITION`
    heads: Array  # of the transposition table: the number of each chain's newest entry
    entries: Array  # `ENTRY`
    states: Array  # one state row, for contracts to be set up in


def new_searcher(megabytes: float) -> Searcher:
    """Return a reusable searcher with a transposition table of at most `megabytes`.

    The table has at least 1024 entries.
    """
    most = int(megabytes * 2**20 / (ENTRY.itemsize + 8))
    n = 1 << max(10, most.bit_length() - 1)
    return Searcher(new_rows(POSITION, 1), np.zeros(n, np.int64), new_rows(ENTRY, n), new_states(1))


@kernel
def forget(searcher: Searcher) -> None:
    """Invalidate all entries; call it after `set_up`, before the first search of a deal.

    It also sets the number of chains, which depends on the number of tricks left.
    """
    position = searcher.position[0]
    position.since = position.stored + 1
    position.heads = min(1 << min(2 * position.left, 16), len(searcher.heads))


@kernel
def head_of(position: Position, key: int, part: int) -> int:
    """Return the index in `heads` of a chain, from its key (shape and leader) and its part."""
    spread = (np.uint64(key + part * PART) * HASH_FACTOR) >> np.uint64(40)
    return int(spread) & (position.heads - 1)


@kernel
def part_of(position: Position, depth: int, mask: int) -> int:
    """Return the part of a shape's chain (0 to 4) that has results which depend on `mask`.

    Chains of large deals are long. If there are trumps and at least `PARTED` tricks at the root,
    they are split by the seat with the best trump: 1 + seat, or 0 for results that do not depend on
    that card. Chains of other deals have only part 0.
    """
    if position.left < PARTED or position.trump < 0:
        return 0
    hands = position.hands[depth]
    owner_1, owner_2 = hands[1] | hands[3], hands[2] | hands[3]
    trumps = (owner_1 | owner_2 | hands[0]) & field_bits(position.trump)
    if trumps & mask == 0:
        return 0
    best = highest_bit(trumps)
    return 1 + (owner_1 >> best & 1) + 2 * (owner_2 >> best & 1)


@kernel
def probe(searcher: Searcher, depth: int, leader: int, goal: int) -> int:
    """Look up whether side 0 takes at least `goal` of the tricks from `depth` on.

    Returns the mask of cards that the result depends on, with `WON` if side 0 does; `NOTHING` if no
    entry decides it. Writes a likely best card to `position.hint`: that of an entry for these top
    cards, else of another entry of the same chain, else -1.
    """
    position, heads, entries = searcher.position[0], searcher.heads, searcher.entries
    hands = position.hands[depth]
    key = position.lengths[depth] | leader << LEADER_SHIFT
    owner_1, owner_2 = hands[1] | hands[3], hands[2] | hands[3]
    tie = position.tie[depth]
    since = position.since
    oldest = max(since, position.stored - len(entries) + 1)
    part = part_of(position, depth, -1)
    position.hint = -1
    while True:
        head = head_of(position, key, part)
        number, newer = heads[head], -1
        while number >= oldest:
            entry = entries[(number - since) & (len(entries) - 1)]
            differ = (owner_1 ^ entry.owner_1) | (owner_2 ^ entry.owner_2) | (tie ^ entry.tie)
            if key == entry.key and differ & entry.mask == 0:
                if entry.low >= goal or entry.high < goal:
                    if newer >= 0:  # move the entry to the front of the chain
                        entries[(newer - since) & (len(entries) - 1)].older = entry.older
                        entry.older = heads[head]
                        heads[head] = number
                    return entry.mask | (WON if entry.low >= goal else 0)
                if entry.move >= 0:
                    position.hint = entry.move
            elif position.hint < 0:
                position.hint = entry.move
            newer = number
            number = entry.older
        if part == 0:
            break
        part = 0
    return NOTHING


@kernel
def store(
    searcher: Searcher, depth: int, leader: int, low: int, high: int, mask: int, move: int
) -> None:
    """Store that side 0 takes `low` to `high` tricks from `depth` on.

    This holds for all positions with the same leader and shape, and the same owners and ties of the
    cards in `mask`. `move` is the card that proves it, or -1.
    """
    position, heads, entries = searcher.position[0], searcher.heads, searcher.entries
    hands = position.hands[depth]
    key = position.lengths[depth] | leader << LEADER_SHIFT
    position.stored += 1
    number = position.stored
    head = head_of(position, key, part_of(position, depth, mask))
    entry = entries[(number - position.since) & (len(entries) - 1)]
    entry.key = key
    entry.owner_1 = hands[1] | hands[3]
    entry.owner_2 = hands[2] | hands[3]
    entry.tie = position.tie[depth]
    entry.mask = mask
    entry.older = heads[head]
    entry.low = low
    entry.high = high
    entry.move = move
    heads[head] = number
