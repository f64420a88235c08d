"""The expert's figures for every legal call of a position."""

from __future__ import annotations

from functools import partial

import numpy as np
from support.positions import Position

from bideuchre_env.agents.expert.agent import weigh_hand
from bideuchre_env.agents.expert.auction import weigh_calls
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.learning.view import read_view
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel

expert_at = partial(Position, agent="expert")


def random_hand(rules, rng):
    """The card names of a random hand."""
    deck = np.repeat(np.array(CARD_NAMES[: rules.kinds]), rules.copies)
    return [str(card) for card in rng.permutation(deck)[: rules.tricks]]


@entry_kernel
def weigh_row(rows, masks, work):
    """Weigh every legal call of the first row; False if the hand cannot be weighed."""
    t, view, calls = work.tables[0], work.views[0], work.calls[0]
    read_view(row_of(rows, 0), t, work.offsets[0], view)
    found = weigh_hand(view, t, work.learned, work.scratch[0], calls)
    if found:
        weigh_calls(view, t, work.learned, call_bits(view, row_of(masks, 0), t), calls)
    return found


def weighed(position, agent=None):
    """The `CALLS` record after the agent, by default the position's, weighed every legal call."""
    work, (row, mask) = (agent or position.agent).workspace(), position.look()
    assert weigh_row(row[np.newaxis], mask[np.newaxis], work)
    return work.calls[0]
