"""How likely a world is, slowly: the whole hand replayed in it, every seat shown what it saw there.

The searchers weigh each hand alone, in views taken down once, and keep what they find.
"""

from __future__ import annotations

from math import log

from bideuchre_env.agents.expert.agent import expert_decision, weigh_hand
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.agents.search.likelihood import (
    call_chance,
    card_chance,
    mismatch_penalty,
    strain_chance,
)
from bideuchre_env.agents.search.worlds import look
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.replay import deal_replay, next_action, wind_back
from bideuchre_env.core.state import GIVING, NAMING, PASSING, PLAY
from bideuchre_env.core.step import apply, legal_bits
from bideuchre_env.learning.view import read_view
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, kernel


@entry_kernel
def replayed_log(space, replays):
    """The logarithm of how likely the world of a searcher makes what the other seats did."""
    s, replay, t, total = space.simulated[0], replays[0], space.players.tables[0], 0.0
    wind_back(t, space.worlds[0], replay)
    sort_cards(replay.given)
    sort_cards(replay.passed)
    deal_replay(replay, s)
    action = next_action(replay, t, s)
    while action >= 0:
        bits = legal_bits(s, t)
        read = s.phase != PLAY or space.choice_models[0].reads_cards == 1
        if s.turn != 0 and read and bits & (bits - 1) != 0:
            total += action_log(space, replay, action)
        apply(s, t, action)
        action = next_action(replay, t, s)
    return total


@kernel
def sort_cards(cards):
    """Sort half of an exchange by kind, what there is not, -1, last: nobody sees the order."""
    for last in range(1, len(cards)):
        i = last
        while i > 0 and 0 <= cards[i] < cards[i - 1]:
            cards[i], cards[i - 1] = cards[i - 1], cards[i]
            i -= 1


@kernel
def action_log(space, replay, action):
    """The logarithm of how likely the seat to act in the replay is to do this."""
    s, players, model = space.simulated[0], space.players, space.choice_models[0]
    t, view, learned, calls = players.tables[0], players.views[0], players.learned, players.calls[0]
    look(space)
    row, mask, phase = row_of(space.observations, 0), row_of(space.masks, 0), s.phase
    read_view(row, t, players.offsets[0], view)
    if phase <= NAMING and weigh_hand(view, t, learned, players.scratch[0], calls):
        if phase == NAMING:
            return log(strain_chance(t, s.level, action - t.trump_offset, calls, model))
        if learned.weighs_calls:
            legal = call_bits(view, mask, t)
            return log(call_chance(view, t, learned, legal, action, calls, model))
    would = expert_decision(row, mask, players)
    if phase <= NAMING:
        return mismatch_penalty(t, phase, action, would, model)
    first = t.card_offset
    if phase == PLAY:
        bits = gather_bits(mask, first, t.kinds, 0)
        return log(card_chance(view, bits, action - first, would - first, model))
    at, seat_gives = s.picks, phase == GIVING
    for i in range(at, MAX_EXCHANGE):  # any card still to go will do
        card = replay.given[i] if seat_gives else replay.passed[i]
        if card == would - first:
            return 0.0
    return float(model.exchange) if phase in (GIVING, PASSING) else 0.0
