"""History of a hand: a list of moments, each an action of another seat and its view before it.

The hand is replayed once for each decision of a search agent. The view of a moment is the same in
all worlds except for the seat's own cards. Seats are relative to the seat that decides, 0.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.search.workspace import MOST_MOMENTS, SearchWorkspace
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.phases.exchange import lays_away
from bideuchre_env.core.replay import deal_replay, next_action
from bideuchre_env.core.state import NAMING, PLAY
from bideuchre_env.core.step import apply, legal_bits
from bideuchre_env.core.view import played_kinds, see
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Word, entry_kernel, kernel

MODEL_UNIT = 1e9  # parameters of the choice model are hashed in units of 1 / MODEL_UNIT


@kernel
def calls_hash(space: SearchWorkspace, seat: int) -> Word:
    """Return a hash of all that the likelihood of a seat's calls depends on, except its hand."""
    replay, model = space.replays[0], space.choice_models[0]
    word = mix(GOLDEN + np.uint64((seat - replay.dealer) & 3))
    for after in range(1, N_SEATS + 1):
        who = (replay.dealer + after) & 3
        call = 256 * (replay.calls[who] + 1) + replay.call_strains[who] + 1
        word = mix(word + np.uint64(call))
    for bids in (replay.bidders, replay.bid_strains):
        if bids != 0:  # an auction in rounds
            word = mix(word + np.uint64(bids))
    word = mix(word + np.uint64(replay.strain + 1))
    for side in range(2):
        word = mix(word + np.uint64(np.int64(replay.score[(seat & 1) ^ side])))
    word = mix(word + np.uint64(replay.hands_dealt))
    word = mix(word + np.uint64(replay.hands_played))
    for part in (model.points, model.tricks, model.chance, model.error_rate, model.error_points):
        word = mix(word + np.uint64(part * MODEL_UNIT))
    for part in (model.spread, model.taste, model.own, model.lowest, model.daring, model.doubt):
        word = mix(word + np.uint64(part * MODEL_UNIT))
    word = mix(word + np.uint64(model.people[seat] * MODEL_UNIT))
    for part in (model.level, model.pass_, model.strain):
        word = mix(word + np.uint64(np.int64(part * MODEL_UNIT)))
    return word


@entry_kernel
def record_history(space: SearchWorkspace) -> None:
    """Record the moments of seats 1 to 3 from `space.replays`.

    Calls and strains without an alternative are left out. Also clears the cached likelihoods of
    hands; overwrites the simulated world.
    """
    s, replay, history = space.simulated[0], space.replays[0], space.histories[0]
    t, n = space.players.tables[0], 0
    space.hand_caches[0].keys[:] = np.uint64(0)
    for seat in range(N_SEATS):
        history.last[seat] = -1
        history.call_hashes[seat] = calls_hash(space, seat)
    deal_replay(replay, t, s)
    action = next_action(replay, t, s)
    while action >= 0 and n < MOST_MOMENTS:
        bits, seat, phase = legal_bits(s, t), s.turn, s.phase
        if seat != 0 and (phase > NAMING or bits & (bits - 1) != 0):
            moment = space.moments[n]
            view = space.moment_views[n]
            see(s, t, seat, view)
            moment.action = action
            if phase == PLAY:
                moment.action = action - t.card_offset
            elif phase > NAMING:
                moment.action = s.picks + (MAX_EXCHANGE if lays_away(s, t) else 0)
            moment.legal = bits
            moment.played, moment.played_twice = played_kinds(s, t)
            moment.before = history.last[seat]
            history.last[seat] = n
            n += 1
        apply(s, t, action)
        action = next_action(replay, t, s)
