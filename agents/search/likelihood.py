"""How likely a world makes what the other seats have done: by replaying the hand in it.

A world gives every seat a hand at each of its decisions, and the expert chooses for it there. In
the auction the expert gives every call a value, and a better call is a likelier one; elsewhere
another choice than the expert's makes the world less likely. The choice model (`workspace.py`)
says by how much. Nobody plays just as the expert does, so nothing makes a world impossible.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from bideuchre_env.agents.expert.agent import weigh_hand
from bideuchre_env.agents.expert.auction import NOT_WEIGHED, weigh_calls
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.agents.rule.bidding import N_STRAINS, call_action
from bideuchre_env.agents.search.workspace import CACHED_HANDS, SearchWorkspace
from bideuchre_env.agents.search.worlds import draw_world, look, players_action
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.replay import deal_replay, next_action, wind_back
from bideuchre_env.core.state import GIVING, NAMING, PASSING, PLAY
from bideuchre_env.core.step import apply, legal_bits
from bideuchre_env.learning.view import read_view
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import popcount, row_of
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, kernel

UNLIKELY = -1e9  # the logarithm of no chance worth counting


@kernel
def mismatch_penalty(t: Row, phase: int, did: int, would: int, model: Row) -> float:
    """How unlikely a call or a strain is, as a logarithm, where the expert chooses another."""
    if did == would:
        return 0.0
    if phase == NAMING:
        return float(model.strain)
    if did == 0 or would == 0:
        return float(model.pass_)
    per_bid = t.strains_per_bid
    levels = abs((did - 1) // per_bid - (would - 1) // per_bid)
    other = (did - 1) % per_bid != (would - 1) % per_bid
    return float(model.level) * min(levels, 2) + (float(model.strain) if other else 0.0)


@kernel
def call_chance(t: Row, did: int, calls: Row, model: Row) -> float:
    """The chance of a call, after `weigh_calls`: a softmax of what the calls weighed are worth.

    A call not worth weighing is left its part of the error rate.
    """
    most = NOT_WEIGHED
    for level in range(-1, t.n_levels):
        for place in range(N_STRAINS):
            most = max(most, calls.worth[1 + level, place])
    total, own, heat = 0.0, 0.0, calls.slope * model.points
    for level in range(-1, t.n_levels):
        for place in range(N_STRAINS):
            value = calls.worth[1 + level, place]
            if value > NOT_WEIGHED:
                part = exp((value - most) / heat)
                total += part
                if call_action(t, level, calls.ranked[place]) == did:
                    own = part
    return float(own / total * (1.0 - model.error_rate) + model.error_rate / t.n_actions)


@kernel
def strain_chance(t: Row, level: int, strain: int, calls: Row, model: Row) -> float:
    """The chance of a strain named for a contract of this level."""
    total, own, alone, exchange = 0.0, 0.0, t.alone[level], t.exchange[level]
    for other in range(N_STRAINS):
        if alone:
            best = calls.lone[exchange, calls.best_lone[exchange]]
            part = exp((calls.lone[exchange, other] - best) / model.chance)
        else:
            part = exp((calls.means[other] - calls.means[calls.ranked[0]]) / model.tricks)
        total += part
        if other == strain:
            own = part
    return float(own / total * (1.0 - model.error_rate) + model.error_rate / N_STRAINS)


@kernel
def card_chance(view: Row, bits: int, did: int, would: int, model: Row) -> float:
    """The chance of a card among the legal ones, as bits, where the expert plays `would`."""
    errors = float(model.lead if view.led < 0 else model.follow)
    return 1.0 - errors if did == would else errors / (popcount(bits) - 1)


@kernel
def exchange_penalty(s: Row, replay: Row, would: int, model: Row) -> float:
    """The penalty of a card given or passed where the expert chooses the kind `would`.

    They go in the order of the replay, which is not the seat's: any card still to go will do.
    """
    cards = replay.given if s.phase == GIVING else replay.passed
    for i in range(s.picks, MAX_EXCHANGE):
        if cards[i] == would:
            return 0.0
    return float(model.exchange)


@kernel
def action_log(space: SearchWorkspace, action: int) -> float:
    """The logarithm of how likely the seat to act is to do this, up to a constant.

    The hand is replayed in `simulated`, by a replay with the exchange.
    """
    s, players, model = space.simulated[0], space.players, space.choice_models[0]
    t, view, learned, calls = players.tables[0], players.views[0], players.learned, players.calls[0]
    look(space)
    mask, phase = row_of(space.masks, 0), s.phase
    if phase <= NAMING:
        read_view(row_of(space.observations, 0), t, players.offsets[0], view)
        if weigh_hand(view, t, learned, players.scratch[0], calls):
            if phase == NAMING:
                return log(strain_chance(t, s.level, action - t.trump_offset, calls, model))
            if learned.call_error > 0.0:
                weigh_calls(view, t, learned, call_bits(mask, t), calls)
                return log(call_chance(t, action, calls, model))
    would, first = players_action(space), t.card_offset
    if phase in (GIVING, PASSING):
        return exchange_penalty(s, space.replays[0], would - first, model)
    if phase == PLAY:
        bits = gather_bits(mask, first, t.kinds, 0)
        return log(card_chance(view, bits, action - first, would - first, model))
    return mismatch_penalty(t, phase, action, would, model)


@kernel
def put_in_order(cards: Array) -> None:
    """Sort one half of an exchange, in place, by kind; what there is not, -1, is at the end.

    Nobody else knows in which order they went.
    """
    for last in range(1, len(cards)):
        i = last
        while i > 0 and 0 <= cards[i] < cards[i - 1]:
            cards[i], cards[i - 1] = cards[i - 1], cards[i]
            i -= 1


@kernel
def hand_key(world: Row, seat: int) -> Word:
    """A number for what a seat knows that differs between worlds: its hand and its exchange.

    The declarer's cards were those it put aside and not those it was passed, its partner's those
    it passed; in any order.
    """
    key = mix(np.uint64(world.hands[seat]) + np.uint64(seat) * GOLDEN)
    declarer = world.declarer
    if declarer < 0 or (seat ^ declarer) & 1:
        return key
    for i in range(MAX_EXCHANGE):
        if world.passed[i] >= 0:
            key += mix(np.uint64(1 + world.passed[i]))
        if world.given[i] >= 0 and seat == declarer:
            key += mix(np.uint64(256 + world.given[i]))
    return key


@kernel
def look_up_hands(world: Row, cache: Row) -> tuple[int, float, float]:
    """The seats, as bits, whose hands are yet to be weighed, the sum over the others, and the most
    that the sum over all can be.
    """
    missing, total, most = 0, 0.0, 0.0
    for seat in range(1, N_SEATS):
        key = hand_key(world, seat)
        place = int(key & np.uint64(CACHED_HANDS - 1))
        known = cache.keys[place] == key
        if known:
            most += cache.logs[place]
        if known and cache.complete[place] == 1:
            total += cache.logs[place]
        else:
            missing |= 1 << seat
        cache.world_keys[seat] = key
        cache.world_logs[seat] = 0.0
    return missing, total, most


@kernel
def store_hands(cache: Row, missing: int, complete: bool) -> None:
    """Enter what the hands of these seats came to, or how likely they are at most."""
    for seat in range(1, N_SEATS):
        if missing >> seat & 1:
            place = int(cache.world_keys[seat] & np.uint64(CACHED_HANDS - 1))
            cache.keys[place] = cache.world_keys[seat]
            cache.logs[place] = cache.world_logs[seat]
            cache.complete[place] = 1 if complete else 0


@entry_kernel
def log_likelihood(space: SearchWorkspace, floor: float) -> float:
    """The logarithm of how likely the world makes what the others did; `UNLIKELY` below `floor`.

    What a seat does depends on its own hand alone, so each of its hands is weighed once and cached.
    Rewrites the hands and the exchange of the replay.
    """
    world, replay, cache = space.worlds[0], space.replays[0], space.hand_caches[0]
    missing, total, most = look_up_hands(world, cache)
    if most < floor:
        return UNLIKELY
    if missing:
        s, t = space.simulated[0], space.players.tables[0]
        reads_cards = space.choice_models[0].reads_cards
        wind_back(t, world, replay)
        put_in_order(replay.given)
        put_in_order(replay.passed)
        deal_replay(replay, s)
        action = next_action(replay, t, s)
        while action >= 0 and total >= floor and (reads_cards == 1 or s.phase != PLAY):
            bits, turn = legal_bits(s, t), s.turn
            if missing >> turn & 1 and bits & (bits - 1) != 0:
                found = action_log(space, action)
                cache.world_logs[turn] += found
                total += found
            apply(s, t, action)
            action = next_action(replay, t, s)
        store_hands(cache, missing, total >= floor)
    return total if total >= floor else UNLIKELY


@entry_kernel
def weigh_worlds(
    space: SearchWorkspace, logs: Array, first: int, last: int, negligible: float
) -> None:
    """Write how likely worlds `first` to `last` - 1 are, as logarithms, to `logs`, float64.

    Those before `first` are there; a world so far behind another is not looked at to the end.
    """
    most = UNLIKELY
    if first == 0:
        space.hand_caches[0].keys[:] = np.uint64(0)
    for j in range(first):
        most = max(most, logs[j])
    for j in range(first, last):
        draw_world(space, j)
        logs[j] = log_likelihood(space, most - negligible)
        most = max(most, logs[j])
