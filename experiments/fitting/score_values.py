"""Estimate the chance to win from every score, from the hands of an agent's games.

A side that is behind bids differently from one that is ahead, so the result of a hand depends on
the score. Hands are counted by the score before them. The counts are smoothed over nearby scores
and, where hands are few, mixed with those of wider neighbourhoods. Backward induction then gives
the chance to win, as in `win_table.py`.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.expert.win_table import ALMOST, BELOW, LEAD, SETTLED, after_hand
from bideuchre_env.agents.table.parts import play_hands
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.rows import deal_rows, seed_rows, start_rows
from bideuchre_env.core.state import DEAL, OVER, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, entry_kernel

# smoothing widths in points: in games to a target, and in games of a fixed number of hands
WIDE, NEAR = (10.0, 12.0), (2.0, 1.5)
PRIOR = 30.0  # weight of the wider neighbourhood, in hands
SWEEPS = 80  # maximum number of iterations
DIGITS = 4  # decimals of a chance

SCORE, PLAYED, POINTS, MADE = slice(0, 2), 2, slice(3, 5), 5
"""Columns of a hand: the scores before it of the declarer's and the other side, the number of hands
before it, the points of the hand of both sides in this order, whether the contract was made."""


def played_hands(agent: RowAgent, games: int, rng: np.random.Generator) -> Array:
    """Let the agent play `games` games against itself; return their hands, int64 (n, 6).

    The columns are `SCORE`, `PLAYED`, `POINTS` and `MADE`; hands passed out are left out.
    """
    states, tables = new_states(games), agent.tables
    seed_rows(states, *split_seed(int(rng.integers(2**62))))
    start_rows(states, tables, np.full(games, -1))
    parts = []
    while len(live := np.flatnonzero(states["phase"] == DEAL)):
        before = states[live]
        deal_rows(states, tables)
        play_hands(agent.rules, states, (agent,), np.zeros((games, 4), np.int64))
        parts.append(hands_of(before, states[live], tables))
    assert (states["phase"] == OVER).all()
    return np.concatenate(parts)


def hands_of(before: Array, after: Array, tables: Array) -> Array:
    """Return the hands played from states `before` to `after`, int64 (n, 6), as `played_hands`.

    Hands passed out are left out.
    """
    done = np.zeros(len(after), np.int64)
    fill_made(after, tables, done)
    bid = after["level"] >= 0
    before, after, done = before[bid], after[bid], done[bid]
    rows, side = np.arange(len(after)), after["declarer"] & 1
    columns = [table[name][rows, each] for table, name in ((before, "score"), (after, "points"))
               for each in (side, 1 - side)]  # fmt: skip
    return np.column_stack([*columns[:2], before["hands_played"], *columns[2:], done])


@entry_kernel
def fill_made(states: Array, tables: Array, done: Array) -> None:
    """Fill `done` with whether each contract was made; hands passed out are skipped."""
    for i in range(len(states)):
        if states[i].level >= 0:
            done[i] = 1 if made(states[i], tables[0]) else 0


def score_values(rules: Rules, hands: Array) -> Array:
    """Return the chance to win at every score, rounded, with the shape of `win_table.win_table`.

    `hands`, int64 (n, 6), is a result of `played_hands`.
    """
    table = by_rounds(rules, hands) if rules.win_rule == "rounds" else to_target(rules, hands)
    return np.round(table, DIGITS)


def by_rounds(rules: Rules, hands: Array) -> Array:
    """Return the chance to win a game of a fixed number of hands, float64 (layers, leads, 1).

    The index is [hands left, `LEAD` + our lead, 0].
    """
    total, span = int(compile_tables(rules)["hands_to_play"][0]), 2 * LEAD + 1
    lead = hands[:, 0] - hands[:, 1]
    gain = hands[:, 3] - hands[:, 4]
    lead, gain = np.concatenate([lead, -lead]), np.concatenate([gain, -gain])  # for both sides
    played = np.tile(hands[:, PLAYED], 2)
    gains, place = np.unique(gain, return_inverse=True)
    to = np.clip(np.arange(span)[:, None] + gains, 0, span - 1)
    table = np.zeros((total + 1, span, 1))
    table[0, :, 0] = 0.5 + 0.5 * np.sign(np.arange(span) - LEAD)
    for layer in range(1, total + 1):
        counts, here = np.zeros((span, len(gains))), played == total - layer
        np.add.at(counts, (np.clip(lead[here] + LEAD, 0, span - 1), place[here]), 1.0)
        value = (shares(counts, (WIDE[1], NEAR[1])) * table[layer - 1, :, 0][to]).sum(axis=1)
        value = np.maximum.accumulate(0.5 * (value + 1.0 - value[::-1]))
        table[layer, :, 0] = 0.5 * (value + 1.0 - value[::-1])
    return table


def to_target(rules: Rules, hands: Array) -> Array:
    """Return our chance to win a game to a target before a hand, float64 (1, points, points).

    The index is [0, target - 1 - ours, target - 1 - theirs]; `hands` are as of `played_hands`.
    """
    size = rules.target + BELOW
    other = hands[:, [1, 0, 2, 4, 3, 5]]
    both = np.concatenate([hands, other])
    us = np.repeat([1, 0], len(hands))  # whether our side declares
    ends, place = np.unique(
        np.column_stack([both[:, POINTS], us, both[:, MADE]]), axis=0, return_inverse=True
    )
    at = np.clip(rules.target - 1 - both[:, SCORE], 0, size - 1)
    counts = np.zeros((size, size, len(ends)))
    np.add.at(counts, (at[:, 0], at[:, 1], place.reshape(-1)), 1.0)
    share = shares(counts, (WIDE[0], NEAR[0]))
    table, swept = np.full((1, size, size), 0.5), np.zeros((1, size, size))
    tables = compile_tables(rules)
    for _ in range(SWEEPS):
        change = sweep_ends(tables, ends, share, table, swept)
        table, swept = swept, table
        if change < SETTLED:
            break
    table = 0.5 * (table + 1.0 - table.transpose(0, 2, 1))
    return np.clip(table, 1.0 - ALMOST, ALMOST)


def shares(counts: Array, widths: tuple[float, ...]) -> Array:
    """Return the smoothed share of each result of a hand at each score, from its `counts`.

    Both arrays are (scores..., results). `widths` runs from wide to narrow: the shares smoothed
    with one width are the prior for the next.
    """
    total = counts.sum(axis=tuple(range(counts.ndim - 1)))
    share = np.broadcast_to(total / total.sum(), counts.shape)
    for width in widths:
        near = counts
        for axis in range(counts.ndim - 1):
            near = blur(near, width, axis)
        share = (near + PRIOR * share) / (near.sum(axis=-1, keepdims=True) + PRIOR)
    return share


def blur(counts: Array, width: float, axis: int) -> Array:
    """Return sums of nearby counts along an axis, with Gaussian weights: 1 at distance 0."""
    apart = np.subtract.outer(np.arange(counts.shape[axis]), np.arange(counts.shape[axis]))
    weights = np.where(abs(apart) <= int(4 * width) + 1, np.exp(-0.5 * (apart / width) ** 2), 0.0)
    return np.moveaxis(np.tensordot(weights, counts, (1, axis)), 0, axis)


@entry_kernel
def sweep_ends(tables: Array, ends: Array, share: Array, table: Array, out: Array) -> float:
    """Fill `out` with the chances to win one hand before `table`; return the largest change.

    `table` and `out` are indexed as the result of `to_target`. `ends` (k, 4), int64, are the
    results of a hand: our points, theirs, whether we declared, whether the contract was made.
    `share` (points, points, k) is the frequency of each result by score.
    """
    t, size, change = tables[0], table.shape[1], 0.0
    for ours in range(size):
        for theirs in range(size):
            total = 0.0
            for k in range(len(ends)):
                us, done = ends[k, 2] > 0, ends[k, 3] > 0
                chance = after_hand(
                    t, table, ours + 1 - ends[k, 0], theirs + 1 - ends[k, 1], us, done
                )
                total += share[ours, theirs, k] * chance
            change = max(change, abs(total - table[0, ours, theirs]))
            out[0, ours, theirs] = total
    return change
