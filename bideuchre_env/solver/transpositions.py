"""The transposition table: what is known of boards met before, by their top cards only.

A result holds for every board with the same numbers of cards by seat and suit and the same owners
of the cards in `mask`, the top cards that the result rests on (partition search). Entries of one
shape form a chain, the one of use last first.

Entries are numbered by a counter that never turns back, and stand in turn at the places of a table
that is a power of two: a full one forgets its oldest entries. A new search (`forget`) only notes
where the counter stands, so nothing is ever cleared.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.runtime.intrinsics import highest_bit
from bideuchre_env.runtime.jit import Array, Row, kernel, new_rows
from bideuchre_env.solver.position import LEADER_SHIFT, field_bits

ENTRY = np.dtype(
    [
        ("key", np.int64),  # shape and leader
        ("owner_1", np.int64),  # bit 0 of the owner of each card
        ("owner_2", np.int64),  # bit 1
        ("tie", np.int64),
        ("mask", np.int64),  # the cards that must be the same
        ("older", np.int64),  # number of the next entry of the chain
        ("low", np.int32),  # side 0 takes at least so many tricks
        ("high", np.int32),  # and at most so many
        ("move", np.int64),  # bit of the card that proved it, or -1
    ],
    align=True,
)
NOTHING = -1
WON = 1 << 62  # beside a mask: side 0 reaches its goal
# Added to a key, times the number of the part, where the head of a chain is looked up. Bits 30 and
# 31 of a key are free: room for parts 0 to 3. Part 4 reaches into a count, so that chain may share
# its head with one of another shape; entries carry the whole key, so it costs steps, no answer.
PART = 1 << 30
PARTED = 10  # tricks of a deal whose chains are parted
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def new_memory(megabytes: float) -> tuple[Array, Array]:
    """A transposition table of at most so many megabytes: (heads, entries)."""
    most = int(megabytes * 2**20 / (ENTRY.itemsize + 8))
    entries = 1 << max(10, most.bit_length() - 1)
    return np.zeros(entries, np.int64), new_rows(ENTRY, entries)


@kernel
def forget(b: Row, heads: Array, entries: Array) -> None:
    """Begin a search of a new deal: entries of earlier ones count no more."""
    b.since = b.stored + 1
    b.heads = min(1 << min(2 * b.left, 16), len(heads))


@kernel
def head_of(b: Row, key: int, part: int) -> int:
    """The place of a chain of a shape among the heads."""
    spread = (np.uint64(key + part * PART) * HASH_FACTOR) >> np.uint64(40)
    return int(spread) & (b.heads - 1)


@kernel
def part_of(b: Row, depth: int, mask: int) -> int:
    """The chain, of those of a shape, of results that rest on these cards.

    Large deals have long chains, which are parted at trumps by the owner of the best trump: 1 to
    4, or 0 for results that do not rest on it.
    """
    if b.left < PARTED or b.trump < 0:
        return 0
    hands = b.hands[depth]
    owner_1, owner_2 = hands[1] | hands[3], hands[2] | hands[3]
    trumps = (owner_1 | owner_2 | hands[0]) & field_bits(b.trump)
    if trumps & mask == 0:
        return 0
    best = highest_bit(trumps)
    return 1 + (owner_1 >> best & 1) + 2 * (owner_2 >> best & 1)


@kernel
def probe(b: Row, heads: Array, entries: Array, depth: int, leader: int, goal: int) -> int:
    """What is known of whether side 0 reaches the goal: `WON` or 0, with its mask, or NOTHING.

    Writes the move of an entry that holds, or else of one of this shape, or -1, to `b.hint`.
    """
    hands = b.hands[depth]
    key = b.lengths[depth] | leader << LEADER_SHIFT
    owner_1, owner_2 = hands[1] | hands[3], hands[2] | hands[3]
    tie = b.tie[depth]
    since = b.since
    oldest = max(since, b.stored - len(entries) + 1)
    part = part_of(b, depth, -1)
    b.hint = -1
    while True:
        head = head_of(b, key, part)
        number, newer = heads[head], -1
        while number >= oldest:
            e = entries[(number - since) & (len(entries) - 1)]
            differ = (owner_1 ^ e.owner_1) | (owner_2 ^ e.owner_2) | (tie ^ e.tie)
            if key == e.key and differ & e.mask == 0:
                if e.low >= goal or e.high < goal:
                    if newer >= 0:  # what was of use once is looked at first
                        entries[(newer - since) & (len(entries) - 1)].older = e.older
                        e.older = heads[head]
                        heads[head] = number
                    return e.mask | (WON if e.low >= goal else 0)
                if e.move >= 0:
                    b.hint = e.move
            elif b.hint < 0:
                b.hint = e.move
            newer = number
            number = e.older
        if part == 0:
            break
        part = 0
    return NOTHING


@kernel
def store(
    b: Row,
    heads: Array,
    entries: Array,
    depth: int,
    leader: int,
    low: int,
    high: int,
    mask: int,
    move: int,
) -> None:
    """Keep a result for the boards that share these top cards."""
    hands = b.hands[depth]
    key = b.lengths[depth] | leader << LEADER_SHIFT
    b.stored += 1
    number = b.stored
    head = head_of(b, key, part_of(b, depth, mask))
    e = entries[(number - b.since) & (len(entries) - 1)]
    e.key = key
    e.owner_1 = hands[1] | hands[3]
    e.owner_2 = hands[2] | hands[3]
    e.tie = b.tie[depth]
    e.mask = mask
    e.older = heads[head]
    e.low = low
    e.high = high
    e.move = move
    heads[head] = number
