"""Kernels of `pairs`: they store decisions of lines to branch from, and draw other actions.

A line is one hand, played from the state in one row of `states` to the end of the hand. At a stored
decision, `pairs` later branches: it plays a second line from there with another action.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.runtime.jit import Array, Word, entry_kernel

_SHARE = np.uint64(0xD6E8FEB86659FD93)  # separates the selection of decisions from that of actions


class Decisions(NamedTuple):
    """m stored decisions of lines: the state before each, and the action chosen there."""

    states: Array  # uint64 (m, W): the state row before the decision, as 64-bit words
    rows: Array  # int64 (m,): the index of the line
    chosen: Array  # int64 (m,): the action
    words: Array  # uint64 (m,): 64 random bits for each decision


@entry_kernel
def keep_decisions(
    states: Array,
    state_words: Array,
    live: Array,
    choices: Array,
    made: Array,
    first: int,
    draws: Word,
    phases: Array,
    share: float,
    decisions: Decisions,
    count: int,
) -> int:
    """Append a random sample of the lines' next actions to `decisions`, before they are applied.

    Line `live[j]` has chosen `choices[j]`. `decisions` has `count` entries before the call; the new
    count is returned. A decision is eligible if `phases`, int8 (2, 7), is not 0 for its side and
    phase. Each eligible decision is stored with probability `share`.

    `state_words` are the states as uint64 (n, W). `made`, int64 (n,), counts the decisions of each
    line so far, stored or not; it is increased. The random bits of a decision depend on the seed
    `draws`, the number of the hand (`first` for row 0) and the decision's number in the hand.
    """
    for j in range(len(live)):
        i = live[j]
        word = mix(draws + np.uint64(first + i) * GOLDEN)
        word = mix(word + np.uint64(made[i]) * GOLDEN)
        made[i] += 1
        if phases[states[i].turn & 1, states[i].phase]:
            part = float(mix(word ^ _SHARE) >> np.uint64(11)) * 2.0**-53
            if part < share:
                for k in range(state_words.shape[1]):
                    decisions.states[count, k] = state_words[i, k]
                decisions.rows[count] = i
                decisions.chosen[count] = choices[j]
                decisions.words[count] = word
                count += 1
    return count


@entry_kernel
def draw_others(masks: Array, chosen: Array, words: Array, others: Array) -> None:
    """Fill `others`, int64 (m,), with a random legal action other than the chosen one in each row.

    These actions are equally likely. Each row of `masks`, int8 (m, A), must have at least two legal
    actions, and `chosen`, int64 (m,), must be one of them. `words`, uint64 (m,), are the random
    numbers.
    """
    for j in range(len(masks)):
        n = 0
        for action in range(masks.shape[1]):
            n += masks[j, action]
        left = int((words[j] >> np.uint64(32)) * np.uint64(n - 1) >> np.uint64(32))
        for action in range(masks.shape[1]):
            if masks[j, action] and action != chosen[j]:
                if left == 0:
                    others[j] = action
                left -= 1
