"""The kernels of a batch, on the CPU and on a GPU: forced moves, observations, actions, results.

Kernels with `start` and `stop` work on rows `start` to `stop` - 1, see `runtime/devices.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import NAMING
from bideuchre_env.core.step import apply, legal_bits, play_forced, write_mask
from bideuchre_env.core.view import see
from bideuchre_env.learning.feature_rows import (
    FeatureWorkspace,
    action_of,
    list_inputs,
    list_legal,
    renamed_kind,
)
from bideuchre_env.learning.sampling import first_unfit, sample_rows
from bideuchre_env.rules.cards import COPY_SHIFT, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import lower_cell, lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel
from ppo.networks import WIDTH

HIDDEN = 1 + 3 * MAX_TRICKS  # length of a list of the other seats' cards
OVER, CALLS, CARDS = range(3)
"""State of a table: its game is over, or it waits for a decision of the auction or the cards."""


class Room(NamedTuple):
    """Columns of a part's decisions, of capacity n: tensors, or arrays that share their memory."""

    inputs: Any  # int16 (n, WIDTH)
    legal: Any  # int8 (n, O)
    symmetries: Any  # int64 (n,)
    keys: Any  # int64 (n,): table * 4 + seat
    hidden: Any  # int16 (n, HIDDEN), or (1, HIDDEN) without a critic of all hands
    outputs: Any  # int64 (n,): the chosen outputs
    log_probs: Any  # float32 (n,): of the chosen outputs


class Scratch(NamedTuple):
    """Scratch space of a part's kernels: one row on the CPU, one per table on a GPU."""

    all_hands: bool  # whether the other seats' cards are recorded
    masks: Array  # int8 (m, A)
    features: FeatureWorkspace


@entry_kernel
def wait_rows(states: Array, tables: Array, waits: Array, start: int, stop: int) -> None:
    """Play forced moves; set `waits`, int64 (n,), to `OVER`, `CALLS` or `CARDS` for each table."""
    for i in range(start, stop):
        s = states[i]
        if play_forced(s, tables[0]) == 0:
            waits[i] = OVER
        else:
            waits[i] = CALLS if s.phase <= NAMING else CARDS


@entry_kernel
def enter_rows(
    states: Array,
    room: Room,
    scratch: Scratch,
    rows: Array,
    first: int,
    cells: Array,
    start: int,
    stop: int,
) -> None:
    """Write the inputs and legal outputs of table `rows[j]` to row `first + j` of `room`.

    Also write the symmetry, the key and, for a critic that sees them, the other seats' cards.
    `cells`, int64 (1,), is set to -1 if a list of inputs is too long.
    """
    work, own = scratch.features, min(start, len(scratch.masks) - 1)
    t, p, mask = work.tables[0], work.places[0], row_of(scratch.masks, own)
    view, active = work.views[own], work.active[own : own + 1]
    for j in range(start, stop):
        s, at = states[rows[j]], first + j
        write_mask(t, s.phase, legal_bits(s, t), mask)
        see(s, t, s.turn, view)
        n, symmetry = list_inputs(s, t, s.turn, p, view, True, active)
        if n >= WIDTH:
            lower_cell(cells, 0, -1)
            n = WIDTH - 1
        room.inputs[at, 0] = n
        for k in range(n):
            room.inputs[at, 1 + k] = active[0, k]
        list_legal(mask, work, symmetry, room.legal, at)
        room.symmetries[at] = symmetry
        room.keys[at] = 4 * rows[j] + s.turn
        if scratch.all_hands:
            enter_hidden(s, t, symmetry, room.hidden, at)


@kernel
def enter_hidden(s: State, t: Tables, symmetry: int, hidden: Array, at: int) -> None:
    """Write the other seats' cards to row `at` of `hidden`: their number, then an input for each.

    Inputs are numbered by seat, copy and kind; `symmetry` maps the suits.
    """
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
                hidden[at, n] = first + renamed_kind(kind, symmetry)
    hidden[at, 0] = n


@entry_kernel
def act_rows(
    states: Array,
    room: Room,
    scratch: Scratch,
    logits: Array,
    words: Array,
    first: int,
    cells: Array,
    start: int,
    stop: int,
) -> None:
    """Sample an output for each decision `first + j` from `logits[j]`, and apply its action.

    See `learning.sampling.sample`. `cells`, int64 (1,), is lowered to the first j that cannot be
    sampled, if any.
    """
    t = scratch.features.tables[0]
    low, high = first + start, first + stop
    own_logits, own_legal = logits[start:stop], room.legal[low:high]
    row = first_unfit(own_logits, own_legal)
    if row >= 0:
        lower_cell(cells, 0, start + row)
        return
    outputs, log_probs = room.outputs[low:high], room.log_probs[low:high]
    sample_rows(own_logits, own_legal, words[start:stop], outputs, log_probs)
    for at in range(low, high):
        action = action_of(scratch.features, room.symmetries[at], room.outputs[at])
        apply(states[room.keys[at] >> 2], t, action)


@entry_kernel
def result_rows(states: Array, tables: Array, scale: float, rewards: Array) -> tuple[int, int]:
    """Write the point difference of each finished hand for each seat's side to `rewards`.

    `rewards` is float32 (n, 4), in points / `scale`. Return the number of contracts played alone,
    and the number of contracts not made.
    """
    lone = set_back = 0
    for i in range(len(states)):
        s = states[i]
        points = (s.points[0] - s.points[1]) / scale
        for seat in range(N_SEATS):
            rewards[i, seat] = -points if seat & 1 else points
        if s.level >= 0:
            lone += 1 if s.sitting_out >= 0 else 0
            set_back += 0 if made(s, tables[0]) else 1
    return lone, set_back
