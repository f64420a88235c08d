"""The kernels of a batch: they play forced moves and enter decisions as networks see them."""

from __future__ import annotations

from typing import Any, NamedTuple

from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.state import NAMING
from bideuchre_env.core.step import legal_bits, write_mask
from bideuchre_env.learning.feature_rows import FeatureWorkspace, active_inputs, list_legal
from bideuchre_env.learning.lines import play_forced
from bideuchre_env.learning.suits import SUIT_MAPS
from bideuchre_env.rules.cards import COPY_SHIFT, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel
from ppo.networks import WIDTH

HIDDEN = 1 + 3 * MAX_TRICKS  # of a list of the others' cards
OVER, CALLS, CARDS = range(3)
"""What a table is waiting for: nothing, or a decision of either part."""


class Seen(NamedTuple):
    """Observations of a part's decisions: tensors, or arrays of the same memory."""

    inputs: Any  # int16 (n, WIDTH)
    legal: Any  # int8 (n, O)
    symmetries: Any  # int64 (n,)
    keys: Any  # int64 (n,): table * 4 + seat
    hidden: Any  # int16 (n, HIDDEN), or (1, HIDDEN) without a critic of all hands


class Room(NamedTuple):
    """Room for a part's decisions, and the scratch space of encoding them."""

    seen: Seen
    with_hidden: bool
    observation: Array  # int8 (1, D)
    mask: Array  # int8 (1, A)
    features: FeatureWorkspace


@entry_kernel
def play_on(states: Array, live: Array, auction: Room, cards: Room, counts: Array) -> None:
    """Play forced moves in the rows `live[:counts[0]]`, and enter the decisions that are due.

    `counts` (3,): the rows still live, which move to the front of `live`, and how many decisions
    of each part its room has; new decisions are entered after these. `counts[0]` is set to -1 if
    a list was too long.
    """
    t, n = cards.features.tables[0], 0
    for j in range(counts[0]):
        i = live[j]
        s = states[i]
        waits = waits_for(s, t)
        if waits == OVER:
            continue
        live[n] = i
        n += 1
        if waits == CALLS:
            fits = enter(s, t, i, auction, counts[1])
        else:
            fits = enter(s, t, i, cards, counts[2])
        counts[waits] += 1
        if not fits:
            counts[0] = -1
            return
    counts[0] = n


@kernel
def waits_for(s: Row, t: Row) -> int:
    """Play forced moves; return what the table is waiting for then."""
    if play_forced(s, t) == 0:
        return OVER
    return CALLS if s.phase <= NAMING else CARDS


@kernel
def enter(s: Row, t: Row, i: int, room: Room, at: int) -> bool:
    """Enter the decision of table i as number `at` of the room; False if its list is too long."""
    seen, work = room.seen, room.features
    observation, mask = row_of(room.observation, 0), row_of(room.mask, 0)
    encode(s, t, work.offsets[0], s.turn, observation)
    write_mask(t, s.phase, legal_bits(s, t), mask)
    n, symmetry = active_inputs(observation, True, work)
    if n >= WIDTH:
        return False
    seen.inputs[at, 0] = n
    for j in range(n):
        seen.inputs[at, 1 + j] = work.active[0, j]
    list_legal(mask, t, work.places[0].cards, symmetry, seen.legal, at)
    seen.symmetries[at] = symmetry
    seen.keys[at] = 4 * i + s.turn
    if room.with_hidden:
        enter_hidden(s, t, symmetry, seen.hidden, at)
    return True


@kernel
def enter_hidden(s: Row, t: Row, symmetry: int, hidden: Array, at: int) -> None:
    """List the cards that the three others hold, by seat and copy, their suits renamed."""
    n = 0
    for rel in range(1, N_SEATS):
        hand = s.hands[(s.turn + rel) & 3]
        for copy in range(2):
            kinds = (hand >> (copy * COPY_SHIFT)) & ((1 << COPY_SHIFT) - 1)
            while kinds:
                kind = lowest_bit(kinds)
                kinds &= kinds - 1
                n += 1
                first = (2 * (rel - 1) + copy) * t.kinds
                hidden[at, n] = first + (kind & ~3) + SUIT_MAPS[symmetry, kind & 3]
    hidden[at, 0] = n


class Outcomes(NamedTuple):
    """Results of hands, all (n,)."""

    points: Array  # int64: side 0's less side 1's
    lone: Array  # bool: the contract was played alone
    set_back: Array  # bool: it was not made


@entry_kernel
def outcome_rows(states: Array, tables: Array, outcomes: Outcomes) -> None:
    """Enter the results of all rows, whose hands are over."""
    for i in range(len(states)):
        s = states[i]
        played = s.level >= 0
        outcomes.points[i] = s.points[0] - s.points[1]
        outcomes.lone[i] = played and s.sitting_out >= 0
        outcomes.set_back[i] = played and not made(s, tables[0])
