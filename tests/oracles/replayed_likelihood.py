"""Slow likelihood of a world: the whole hand is replayed in it, with each seat's observations.

The searchers instead weigh each hand separately, in views recorded once, and cache results.
"""

from math import log

from bideuchre_env.agents.expert.decision import decide, weigh_hand
from bideuchre_env.agents.rule.agent import useful_calls
from bideuchre_env.agents.search.likelihood import (
    LEAST_EXCHANGE,
    call_chance,
    card_chance,
    mismatch_penalty,
    strain_chance,
)
from bideuchre_env.core.phases.exchange import lays_away
from bideuchre_env.core.replay import deal_replay, next_action, wind_back
from bideuchre_env.core.state import GIVING, NAMING, PASSING, PLAY
from bideuchre_env.core.step import apply, legal_bits
from bideuchre_env.core.view import see
from bideuchre_env.runtime.jit import entry_kernel, kernel


@entry_kernel
def replayed_log(space, replays):
    """The log-likelihood of the other seats' actions in the world `space.worlds[0]`.

    `replays[0]` has the actions of the hand. Before the replay it gets the cards of the world.
    """
    s, replay, t, total = space.simulated[0], replays[0], space.players.tables[0], 0.0
    model, preferred, n_new, exchanged = space.choice_models[0], 0, 0, 0.0
    wind_back(t, space.worlds[0], replay)
    deal_replay(replay, t, s)
    action = next_action(replay, t, s)
    while action >= 0:
        bits = legal_bits(s, t)
        read = s.phase != PLAY or model.reads_cards == 1
        if s.turn != 0 and read and bits & (bits - 1) != 0:
            if s.phase == GIVING or s.phase == PASSING:
                if s.picks == 0:
                    preferred, exchanged = 0, 0.0
                action, preferred, n_new = next_of(space, replay, preferred)
                before = max(exchanged, LEAST_EXCHANGE)
                exchanged += n_new * (model.giving if s.phase == GIVING else model.passing)
                total += max(exchanged, LEAST_EXCHANGE) - before
            else:
                total += action_log(space, replay, action)
        apply(s, t, action)
        action = next_action(replay, t, s)
    return total


@kernel
def next_of(space, replay, preferred):
    """`next_pick` among the cards laid away, given up or passed in the replay."""
    s = space.simulated[0]
    if s.phase != GIVING:
        return next_pick(space, replay.passed, preferred)
    if lays_away(s, space.players.tables[0]):
        return next_pick(space, replay.laid, preferred)
    return next_pick(space, replay.given, preferred)


@kernel
def next_pick(space, cards, preferred):
    """Move the one of the `cards` that the expert would pick first to the front of the remaining.

    `preferred` has, as bits, the kinds that the expert would have picked before the cards so far.
    Return the card's action, the new `preferred`, and the number of kinds added to it.
    """
    s, players = space.simulated[0], space.players
    t, view, n_new = players.tables[0], players.views[0], 0
    see(s, t, s.turn, view)
    while True:
        legal = legal_bits(s, t) & ~preferred
        pick = decide(s, s.turn, view, legal, players) - t.card_offset
        for i in range(s.picks, len(cards)):
            if cards[i] == pick:
                cards[i], cards[s.picks] = cards[s.picks], cards[i]
                return t.card_offset + pick, preferred, n_new
        preferred |= 1 << pick
        n_new += 1


@kernel
def action_log(space, replay, action):
    """The log-likelihood of an action of the seat to act in the replay."""
    s, players, model = space.simulated[0], space.players, space.choice_models[0]
    t, view, learned, calls = players.tables[0], players.views[0], players.learned, players.calls[0]
    phase, legal = s.phase, legal_bits(s, t)
    see(s, t, s.turn, view)
    if phase <= NAMING and weigh_hand(view, t, learned, players.scratch[0], calls):
        if phase == NAMING:
            return log(strain_chance(t, s.level, action - t.trump_offset, calls, model))
        if learned.weighs_calls:
            useful = useful_calls(view, t, legal)
            return log(call_chance(view, t, learned, useful, action, calls, model))
    would = decide(s, s.turn, view, legal, players)
    if phase <= NAMING:
        return mismatch_penalty(t, phase, action, would, model)
    first = t.card_offset
    people = model.people[s.turn]
    return log(card_chance(view, legal, action - first, would - first, model, people))
