"""Rows with one learner each: the other three seats act until it is the learner's turn again.

Random players, the rule player and the net (`net_rows.py`) act inside the kernels; for any other
player the row waits for a choice from Python. Players are numbers, and each row has its own three.
Each row has a second random stream for its players, from the same seed. So a row depends only on
its seed and the learner's actions, unless a player called from Python is random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.random_agents import cautious_rows
from bideuchre_env.agents.rule.agent import RuleWorkspace, act_by_rule, own_workspace
from bideuchre_env.core.bits import clear
from bideuchre_env.core.episode import (
    GOES_ON,
    TERMINATED,
    TRUNCATED_THERE,
    ending,
    side_0_reward,
)
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.phases.deal import bounded, deal_hand, next_word, seed_stream
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.rows import restart_row
from bideuchre_env.core.state import DEAL
from bideuchre_env.core.step import apply, is_legal, legal, legal_bits, only_one, pick_legal
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, inline_kernel, kernel

# Stage of a row: the learner is to act, the episode is over, the others are to act, or the row
# waits for the choice of the player `asked`.
READY, DONE, MOVING, ASKED = range(4)
# Kind of a player: built in, called from Python, or the net with number `kind - NET`.
RANDOM, CAUTIOUS, RULE, SOMEBODY, NET = range(5)
KERNEL_NETS = 2  # nets that kernels can play; each costs every call some microseconds, used or not

SOLO = np.dtype(
    [
        ("rng", np.uint64, (2,)),  # random stream of the learner's seat and the players
        ("owed", np.float64),  # the learner's reward since its last decision
        ("hands", np.int32),  # hands finished in this episode
        ("player", np.int32, (N_SEATS,)),  # by seat relative to the learner's, which is unused
        ("asked", np.int32),  # the player whose choice is awaited
        ("seat", np.int8),  # the learner's
        ("stage", np.int8),
        ("ending", np.int8),  # of an episode that is over: see `episode`
        ("illegal", np.int8),  # 1: it ended with an illegal action
        ("decided", np.int8),  # 1: the learner has acted in this episode
    ],
    align=True,
)
SETUP = np.dtype(
    [
        ("illegal_reward", np.float64),
        ("seat", np.int64),  # the learner's, -1 to draw it
        ("by_hand", np.int64),  # an episode is a hand
        ("by_points", np.int64),
        ("skip_forced", np.int64),  # the learner's decisions without a choice are played here
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
_ONE_53RD = 2.0**-53


class Draws(NamedTuple):
    """The candidates from which each row draws its players."""

    entries: Array  # `ENTRY`
    spans: Array  # int64 (c, 2): first and last entry of choice c
    rows: Array  # int64 (n, 2): a row's choice of opponents, and of its partner


@inline_kernel
def seat_learner(solo: Row, setup: Row, seat: int, draws: Draws, i: int) -> None:
    """Begin an episode of row i with the learner in `seat`, or for -1 in the seat of `setup`.

    If that is -1 too, the seat is random. A seat is always drawn, so that a fixed seat does not
    change later draws. Players are drawn if there are several candidates.
    """
    drawn = bounded(solo, N_SEATS)
    fixed = seat if seat >= 0 else setup.seat
    solo.seat = fixed if fixed >= 0 else drawn
    pair = draw_entry(solo, draws, draws.rows[i, 0])
    solo.player[1] = draws.entries[pair].left
    solo.player[3] = draws.entries[pair].right
    solo.player[2] = draws.entries[draw_entry(solo, draws, draws.rows[i, 1])].left
    solo.owed = 0.0
    solo.hands = 0
    solo.stage = MOVING
    solo.ending = GOES_ON
    solo.illegal = 0
    solo.decided = 0


@kernel
def draw_entry(solo: Row, draws: Draws, choice: int) -> int:
    """Return the index of an entry of `choice`, drawn from the row's stream if it has several."""
    entry: int = draws.spans[choice, 0]
    last = draws.spans[choice, 1]
    if entry < last:
        number = draw_fraction(solo)
        while entry < last and number >= draws.entries[entry].upto:
            entry += 1
    return entry


@inline_kernel
def draw_fraction(solo: Row) -> float:
    """Return a random number from the row's stream, in [0, 1)."""
    return float(next_word(solo) >> np.uint64(11)) * _ONE_53RD


class SoloRows(NamedTuple):
    """The rows of a batch: games, learners, and the results of the learners' steps."""

    tables: Array
    offsets: Array
    setup: Array  # `SETUP`
    states: Array
    solos: Array  # `SOLO`
    observations: Array  # int8 (n, D)
    masks: Array  # int8 (n, A)
    seats: Array  # int64 (n,)
    rewards: Array  # float64 (n,)
    terminated: Array  # bool (n,)
    truncated: Array  # bool (n,)
    done: Array  # bool (n,): whether the episode is over
    kinds: Array  # int64 (p,): kind of each player


class Turn(NamedTuple):
    """The learners' actions in a turn, and the results that are written after it."""

    acting: Array  # bool (n,): whether the learner acts
    choices: Array  # int64 (n,): its action
    seen: Array  # bool (n,): whether the observation is written
    pays: bool  # whether the rewards and the ends of all rows are written


class SoloScratch(NamedTuple):
    """Scratch for the others' decisions: one row for a thread, or one for each game."""

    masks: Array
    draws: Array  # float64 (1 or n, 2)
    choices: Array
    rule: RuleWorkspace


@inline_kernel
def own_scratch(scratch: SoloScratch, start: int) -> SoloScratch:
    """Return the scratch of the thread whose rows begin at `start`: that row, or the only row."""
    i = min(start, len(scratch.masks) - 1)
    return SoloScratch(
        scratch.masks[i : i + 1],
        scratch.draws[i : i + 1],
        scratch.choices[i : i + 1],
        own_workspace(scratch.rule, start),
    )


@entry_kernel
def seed_solos(
    states: Array, solos: Array, streams: Array, chosen: Array, start: int, stop: int
) -> None:
    """Set the game's random stream of the `chosen` rows, bool (n,), to `streams`, uint64 (n, 2).

    The stream of the learner's seat and the players is derived from it.
    """
    for i in range(start, stop):
        if chosen[i]:
            s = states[i]
            s.rng[0], s.rng[1] = streams[i, 0], streams[i, 1]
            # the swapped words seed a second stream, far from the first
            seed_stream(solos[i], s.rng[1], s.rng[0])


@entry_kernel
def begin_rows(
    rows: SoloRows,
    draws: Draws,
    chosen: Array,
    dealers: Array,
    scores: Array,
    deals: Array,
    seats: Array,
    start: int,
    stop: int,
) -> None:
    """Start a game in the `chosen` rows; the others have not acted yet.

    For -1 in `dealers` the dealer is random; for -1 in `seats` see `seat_learner`. `deals` has no
    rows if hands are random.
    """
    for i in range(start, stop):
        if chosen[i]:
            restart_row(rows.states[i], rows.tables[0], dealers[i], scores, deals, i)
            seat_learner(rows.solos[i], rows.setup[0], seats[i], draws, i)


@entry_kernel
def play_rows(rows: SoloRows, turn: Turn, scratch: SoloScratch, start: int, stop: int) -> None:
    """Apply the learners' actions, let random and cautious players act, and write the views.

    A row stops at the learner's turn, at the end of the episode, or at any other player's turn.
    """
    own = own_scratch(scratch, start)
    for i in range(start, stop):
        take_action(rows, turn, i)
        play_on(rows, i, own)
        show_row(rows, turn, i)


@entry_kernel
def play_rows_by_rule(
    rows: SoloRows, turn: Turn, scratch: SoloScratch, start: int, stop: int
) -> None:
    """Like `play_rows`, and the rule player acts too."""
    kinds, t, own = rows.kinds, rows.tables[0], own_scratch(scratch, start)
    for i in range(start, stop):
        s, solo = rows.states[i], rows.solos[i]
        take_action(rows, turn, i)
        play_on(rows, i, own)
        while solo.stage == ASKED and kinds[solo.asked] == RULE:
            if not apply_forced(s, t):
                act_by_rule(s, own.rule)
            solo.stage = MOVING
            play_on(rows, i, own)
        show_row(rows, turn, i)


@inline_kernel
def take_action(rows: SoloRows, turn: Turn, i: int) -> None:
    """Apply the learner's action in row i if it acts; an illegal one ends the episode."""
    s, solo, t = rows.states[i], rows.solos[i], rows.tables[0]
    if turn.acting[i] and solo.stage == READY:
        solo.decided = 1
        if is_legal(s, t, turn.choices[i]):
            apply(s, t, turn.choices[i])
            solo.stage = MOVING
        else:
            solo.owed = rows.setup[0].illegal_reward
            solo.illegal = 1
            solo.ending = TERMINATED
            solo.stage = DONE


@inline_kernel
def show_row(rows: SoloRows, turn: Turn, i: int) -> None:
    """Write the learner's view of row i if `turn.seen[i]`, its reward and ends if `turn.pays`.

    The mask is zero unless the learner is to act. The reward owed becomes 0 when it is paid.
    """
    s, solo, t, mask = rows.states[i], rows.solos[i], rows.tables[0], row_of(rows.masks, i)
    if turn.seen[i]:
        encode(s, t, rows.offsets[0], solo.seat, row_of(rows.observations, i))
        if solo.stage == READY:
            legal(s, t, mask)
        else:
            clear(mask, 0, t.n_actions)
        rows.seats[i] = solo.seat
        rows.done[i] = solo.stage == DONE
    if turn.pays:
        rows.rewards[i] = solo.owed
        solo.owed = 0.0
        rows.terminated[i] = solo.ending == TERMINATED
        rows.truncated[i] = solo.ending == TRUNCATED_THERE


@inline_kernel
def apply_forced(s: State, t: Tables) -> bool:
    """Apply the action of the seat to act if only one is legal; return whether it is."""
    bits = legal_bits(s, t)
    if not only_one(t, s.phase, bits):
        return False
    apply(s, t, pick_legal(t, s.phase, bits, np.uint64(0)))
    return True


@inline_kernel
def play_on(rows: SoloRows, i: int, scratch: SoloScratch) -> None:
    """Let random and cautious players act in row i while its stage is MOVING; deal new hands.

    The stage becomes READY at the learner's turn, ASKED at another player's, DONE at the end.
    Inlined: passing both workspaces for each row took a tenth of the time.
    """
    s, solo, t, setup = rows.states[i], rows.solos[i], rows.tables[0], rows.setup[0]
    masks, draws, choices = scratch.masks, scratch.draws, scratch.choices
    while solo.stage == MOVING:
        if s.phase >= DEAL:
            settle_hand(s, solo, t, setup)
            continue
        relative = (s.turn - solo.seat) & 3
        player = solo.player[relative]
        kind = rows.kinds[player]
        if relative == 0:
            # the learner's first decision is never skipped: the episode could end before it
            if setup.skip_forced == 0 or solo.decided == 0 or not apply_forced(s, t):
                solo.stage = READY
        elif kind == RANDOM:
            apply(s, t, pick_legal(t, s.phase, legal_bits(s, t), next_word(solo)))
        elif kind == CAUTIOUS:
            legal(s, t, row_of(masks, 0))
            for j in range(2):
                draws[0, j] = draw_fraction(solo)
            cautious_rows(masks, draws, rows.tables, choices)
            apply(s, t, choices[0])
        else:
            solo.asked = player
            solo.stage = ASKED


@kernel
def settle_hand(s: State, solo: Row, t: Tables, setup: Row) -> None:
    """Add the reward of a finished hand, and deal the next one or end the episode."""
    reward = side_0_reward(s, setup.by_points == 1)
    solo.owed += -reward if solo.seat & 1 else reward
    solo.hands += 1
    end = ending(s, setup.by_hand == 1)
    if end == GOES_ON:
        deal_hand(s, t)
    else:
        solo.ending = end
        solo.stage = DONE


@entry_kernel
def list_asked_rows(solos: Array, player: int, index: Array) -> int:
    """Write the rows that wait for a player to `index` (n,), int64; return their number."""
    count = 0
    for i in range(len(solos)):
        if solos[i].stage == ASKED and solos[i].asked == player:
            index[count] = i
            count += 1
    return count
