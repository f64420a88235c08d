"""Likelihood of the other seats' actions in a world, given their hands and views.

The expert chooses for every seat at each of its decisions. In the auction it values every call, and
a better call is more likely; elsewhere an action that differs from the expert's choice reduces the
likelihood. The choice model (`CHOICE_MODEL`, argument `model`) sets by how much; no action has
likelihood 0. Public information is recorded once (`history.py`), as a list of moments; for a world
only the seat's cards in the view of each moment change. Calls and `calls` are as in
`expert/auction.py`.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from bideuchre_env.agents.expert.auction import NOT_WEIGHED, call_worth, weigh_calls
from bideuchre_env.agents.expert.call_features import Calls
from bideuchre_env.agents.expert.decision import expert_bid, weigh_hand
from bideuchre_env.agents.expert.tables import ExpertTables
from bideuchre_env.agents.rule.agent import rule_card, useful_calls
from bideuchre_env.agents.rule.bidding import call_action
from bideuchre_env.agents.search.history import record_history
from bideuchre_env.agents.search.people import people_chance, strain_share
from bideuchre_env.agents.search.proposals import IMPOSSIBLE
from bideuchre_env.agents.search.workspace import (
    CACHED_CALLS,
    CACHED_HANDS,
    ChoiceModel,
    SearchWorkspace,
)
from bideuchre_env.agents.search.worlds import draw_world
from bideuchre_env.core.hands import held, put, take, take_cards
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.phases.exchange import has_kitty
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.state import GIVING, NAMING, PASSING, PLAY
from bideuchre_env.core.view import add_kind, add_kinds, show_hand
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import popcount
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, kernel

UNLIKELY = -1e9  # log-likelihood of a negligible or impossible world
FAR = 8.0  # a call that is worse by more than this many softmax temperatures counts as an error
LOWEST_ERROR = -30.0  # minimum exponent of an error's chance, so that no call is impossible
LEAST_CHANCE = 1e-9  # of a person's call, so that none is impossible
LEAST_EXCHANGE = -8.0  # minimum log-likelihood of cards given or passed: players differ


@kernel
def mismatch_penalty(t: Tables, phase: int, did: int, would: int, model: ChoiceModel) -> float:
    """Return the log-likelihood of a call or strain `did` if the expert chooses `would`.

    Both are actions. It is 0 if they are equal, else negative, by the difference of their levels
    and strains. `phase` is `AUCTION` or `NAMING`.
    """
    if did == would:
        return 0.0
    if phase == NAMING:
        return float(model.strain)
    if did == 0 or would == 0:
        return float(model.pass_)
    levels = abs(t.call_levels[did] - t.call_levels[would])
    other = t.call_strains[did] != t.call_strains[would]
    return float(model.level) * min(levels, 2) + (float(model.strain) if other else 0.0)


@kernel
def call_chance(
    view: View,
    t: Tables,
    learned: ExpertTables,
    legal: int,
    did: int,
    calls: Calls,
    model: ChoiceModel,
) -> float:
    """Return the chance that a seat makes the call `did`, an action, of the `legal` calls (bits).

    It is a softmax over the calls' worths, mixed with errors. Call `weigh_hand` before.
    """
    level, strain = call_of(t, did, calls)
    if did == 0:  # a pass is rarely an error, so all calls are weighed now, each only once
        weigh_calls(view, t, learned, legal, calls)
        own = calls.worth[0, 0]
    else:
        own = call_worth(view, t, learned, level, strain, calls)
    gain = own - usual_worth(view, t, learned, legal, did == 0, calls)
    heat = calls.slope * model.points
    if gain < -FAR * heat:
        return error_chance(t, gain, calls, model)
    if did != 0:
        weigh_calls(view, t, learned, legal, calls)
    most, total, weighed = own, 0.0, False
    for level in range(-1, t.n_levels):
        for place in range(t.n_strains):
            most = max(most, calls.worth[1 + level, place])
    for level in range(-1, t.n_levels):
        for place in range(t.n_strains):
            value = calls.worth[1 + level, place]
            if value > NOT_WEIGHED:
                total += exp((value - most) / heat)
                weighed = weighed or call_action(t, level, calls.ranked[place]) == did
    chance = exp((own - most) / heat) / total if weighed else 0.0
    return chance * (1.0 - model.error_rate) + error_chance(t, own - most, calls, model)


@kernel
def error_chance(t: Tables, gain: float, calls: Calls, model: ChoiceModel) -> float:
    """Return the chance that a call is made by error.

    `gain` is its worth minus that of a better call: the more negative, the less likely.
    """
    cost = max(gain / (calls.slope * model.error_points), LOWEST_ERROR)
    return float(model.error_rate / t.n_actions * exp(cost))


@kernel
def usual_worth(
    view: View, t: Tables, learned: ExpertTables, legal: int, weighed: bool, calls: Calls
) -> float:
    """Return the worth of a pass or of the lowest legal bid in the best strain, the higher of them.

    If `weighed`, `weigh_calls` has filled in the worths; else they are computed here.
    """
    most = NOT_WEIGHED
    for level in range(-1, t.n_levels):
        if legal >> (1 + level) & 1:
            worth = calls.worth[1 + level, 0] if weighed else NOT_WEIGHED
            if worth == NOT_WEIGHED:
                worth = call_worth(view, t, learned, level, calls.ranked[0], calls)
            most = max(most, worth)
            if level >= 0:
                break
    return most


@kernel
def call_of(t: Tables, action: int, calls: Calls) -> tuple[int, int]:
    """Return the level and the strain of a call.

    A pass has level -1 and the hand's best strain. If bids have no strain, the strain is the hand's
    best one for the bid.
    """
    if action == 0:
        return -1, calls.ranked[0]
    level, strain = t.call_levels[action], t.call_strains[action]
    if strain >= 0:
        return level, strain
    return level, calls.best_lone[t.exchange[level]] if t.alone[level] else calls.ranked[0]


@kernel
def strain_chance(t: Tables, level: int, strain: int, calls: Calls, model: ChoiceModel) -> float:
    """Return the chance that a seat names this strain for a contract of this level.

    It is `strain_share`, mixed with errors.
    """
    share = strain_share(t, level, strain, calls, model.tricks, model.chance)
    return float(share * (1.0 - model.error_rate) + model.error_rate / t.n_strains)


@kernel
def card_chance(
    view: View, bits: int, did: int, would: int, model: ChoiceModel, people: float
) -> float:
    """Return the chance that a seat plays the kind `did` if the expert plays `would`.

    `bits` are the legal kinds, at least two. The seat is a person with the chance `people`.
    """
    errors = float(model.lead if view.led < 0 else model.follow)
    if people > 0.0:
        careless = float(model.careless_lead if view.led < 0 else model.careless_follow)
        errors += people * (careless - errors)
    return 1.0 - errors if did == would else errors / (popcount(bits) - 1)


@kernel
def call_log(space: SearchWorkspace, moment: Row, view: View) -> float:
    """Return the log-likelihood of a moment's call or named strain, for the hand in `view`.

    `view` is the moment's view. The caller is an agent.
    """
    players, model = space.players, space.choice_models[0]
    t, learned = players.tables[0], players.learned
    calls, scratch = players.calls[0], players.scratch[0]
    naming, did = view.phase == NAMING, moment.action
    legal = 0 if naming else useful_calls(view, t, moment.legal)
    if (naming or learned.weighs_calls) and weigh_hand(view, t, learned, scratch, calls):
        if naming:
            return log(strain_chance(t, view.level, did - t.trump_offset, calls, model))
        return log(call_chance(view, t, learned, legal, did, calls, model))
    would = expert_bid(view, legal, t, learned, scratch, calls)
    return mismatch_penalty(t, view.phase, did, would, model)


@kernel
def person_log(space: SearchWorkspace, moment: Row, view: View) -> float:
    """Like `call_log`, for a caller who is a person."""
    players, model = space.players, space.choice_models[0]
    t, calls, did = players.tables[0], players.calls[0], moment.action
    if not weigh_hand(view, t, players.learned, players.scratch[0], calls):
        return call_log(space, moment, view)
    if view.phase == NAMING:
        chance = strain_share(t, view.level, did - t.trump_offset, calls, model.taste, model.doubt)
    else:
        chance = people_chance(t, moment.legal, did, calls, model)
    return log(max(chance, LEAST_CHANCE))


@kernel
def card_log(view: View, t: Tables, kind: int, model: ChoiceModel, people: float) -> float:
    """Return the log-likelihood of playing this kind, for the hand in `view`; 0 if forced.

    `people` is as in `card_chance`.
    """
    legal = view.held
    if view.led >= 0 and legal & t.suit_bits[view.strain, view.led]:
        legal &= t.suit_bits[view.strain, view.led]
    if legal & (legal - 1) == 0:
        return 0.0
    return log(card_chance(view, legal, kind, rule_card(view, t, legal), model, people))


@kernel
def exchange_log(
    view: View, t: Tables, hand: int, cards: Array, seen: int, seen_pair: int, penalty: float
) -> float:
    """Return the log-likelihood of the `cards` laid away, given up or passed.

    It is `penalty` times the number of kinds that the expert prefers to them, but at least
    `LEAST_EXCHANGE`. The expert picks card
    by card from `hand`, the hand before the exchange. A pick that is not among the remaining
    `cards` is a preferred kind, and is excluded afterwards. `seen` and `seen_pair` are as in
    `show_hand`.
    """
    remaining, preferred, total = 0, 0, 0.0
    for card in cards:
        if card >= 0:
            remaining = put(remaining, card)
    while remaining != 0 and total > LEAST_EXCHANGE:
        show_hand(view, t, hand, seen, seen_pair)
        pick = rule_card(view, t, view.held & ~preferred)
        if held(remaining, pick) == 0:
            preferred |= 1 << pick
            total += penalty
            continue
        remaining, hand = take(remaining, pick), take(hand, pick)
        seen, seen_pair = add_kind(seen, seen_pair, pick)
    return max(total, LEAST_EXCHANGE)


@kernel
def weigh_seat(space: SearchWorkspace, seat: int, least: float) -> tuple[float, bool]:
    """Return the log-likelihood of a seat's actions in the current world, and whether it is exact.

    Actions are weighed from the last to the first, because calls take longest. The sum stops early,
    and is then only an upper bound, once it is below `least`.
    """
    world, model, total, undone = space.worlds[0], space.choice_models[0], 0.0, False
    t, hand, i = space.players.tables[0], world.hands[seat], space.histories[0].last[seat]
    while i >= 0:
        moment, view = space.moments[i], space.moment_views[i]
        phase, seen, seen_pair = view.phase, moment.played, moment.played_twice
        if phase != PLAY and not undone:
            undone = True
            if seat == world.declarer and world.phase >= PLAY:  # take out the cards passed to it
                for j in range(MAX_EXCHANGE):
                    if world.passed[j] >= 0:
                        hand = take(hand, world.passed[j])
        if phase == PLAY:
            hand = put(hand, moment.action)
            if model.reads_cards == 1:
                if seat == world.declarer:
                    seen, seen_pair = add_kinds(seen, seen_pair, world.given)
                    seen, seen_pair = add_kinds(seen, seen_pair, world.laid)
                show_hand(view, t, hand, seen, seen_pair)
                total += card_log(view, t, moment.action, model, model.people[seat])
        elif phase == GIVING and moment.action >= MAX_EXCHANGE:
            hand = put(hand, world.laid[moment.action - MAX_EXCHANGE])
            if moment.action == MAX_EXCHANGE:
                total += exchange_log(view, t, hand, world.laid, seen, seen_pair, model.giving)
        elif phase == GIVING:
            hand = put(hand, world.given[moment.action])
            if moment.action == 0:
                seen, seen_pair = add_kinds(seen, seen_pair, world.laid)
                total += exchange_log(view, t, hand, world.given, seen, seen_pair, model.giving)
        elif phase == PASSING:
            hand = put(hand, world.passed[moment.action])
            if moment.action == 0:
                total += exchange_log(view, t, hand, world.passed, seen, seen_pair, model.passing)
        else:
            if t.open_exchange and seat ^ world.declarer == 2 and world.phase >= PLAY:
                for j in range(MAX_EXCHANGE):  # take out the cards that the declarer gave up
                    hand = take(hand, world.given[j]) if world.given[j] >= 0 else hand
            if seat == world.declarer and has_kitty(world, t):
                hand = take_cards(hand, world.kitty)
            total += calls_log(space, seat, i, hand)
            return total, True
        if total < least:
            return total, False
        i = moment.before
    return total, True


@kernel
def calls_log(space: SearchWorkspace, seat: int, last: int, hand: int) -> float:
    """Return the log-likelihood of a seat's calls and strain, for the dealt hand `hand`.

    `last` is the index of the seat's last call or strain in `space.moments`; -1 for none. Results
    are cached across decisions by hand and public information, because calls are slow to weigh.
    """
    cache, key = (
        space.call_caches[0],
        mix(space.histories[0].call_hashes[seat] + np.uint64(hand) * GOLDEN),
    )
    place = int(key & np.uint64(CACHED_CALLS - 1))
    if cache.keys[place] == key:
        return float(cache.logs[place])
    t, total, person, i = space.players.tables[0], 0.0, 0.0, last
    people = space.choice_models[0].people[seat]
    while i >= 0:
        moment, view = space.moments[i], space.moment_views[i]
        show_hand(view, t, hand, 0, 0)
        total += call_log(space, moment, view)
        if people > 0.0:
            person += person_log(space, moment, view)
        i = moment.before
    if people > 0.0:
        total = mixed_log(total, person, people)
    cache.keys[place] = key
    cache.logs[place] = total
    return total


@kernel
def mixed_log(agent: float, person: float, people: float) -> float:
    """Return the log-likelihood of calls by a seat that is a person with the chance `people`.

    `agent` and `person` are the log-likelihoods if it is an agent, and if it is a person.
    """
    most = max(agent, person)
    return most + log((1.0 - people) * exp(agent - most) + people * exp(person - most))


@kernel
def hand_key(space: SearchWorkspace, seat: int) -> Word:
    """Return a hash of all hidden cards on which the likelihood of a seat's actions depends.

    These are its hand, and the cards that it took up, laid away, gave up, passed or was passed, in
    any order.
    """
    world, t = space.worlds[0], space.players.tables[0]
    key, declarer = mix(np.uint64(world.hands[seat]) + np.uint64(seat) * GOLDEN), world.declarer
    if declarer < 0 or (seat ^ declarer) & 1:
        return key
    for i in range(MAX_EXCHANGE):
        if world.passed[i] >= 0:
            key += mix(np.uint64(1 + world.passed[i]))
        if world.given[i] >= 0 and (seat == declarer or t.open_exchange):
            key += mix(np.uint64(256 + world.given[i]))
    if seat == declarer and has_kitty(world, t):
        for i in range(t.kitty):
            key += mix(np.uint64(512 + world.laid[i])) + mix(np.uint64(768 + world.kitty[i]))
    return key


@kernel
def seat_log(space: SearchWorkspace, seat: int, least: float) -> float:
    """Return the log-likelihood of a seat's actions in the current world, from a cache if possible.

    It is exact if it is at least `least`, else an upper bound may be returned.
    """
    cache, key = space.hand_caches[0], hand_key(space, seat)
    place = int(key & np.uint64(CACHED_HANDS - 1))
    if cache.keys[place] == key and (cache.complete[place] == 1 or cache.logs[place] < least):
        return float(cache.logs[place])
    total, complete = weigh_seat(space, seat, least)
    cache.keys[place] = key
    cache.logs[place] = total
    cache.complete[place] = 1 if complete else 0
    return total


@entry_kernel
def log_likelihood(space: SearchWorkspace, floor: float) -> float:
    """Return the log-likelihood of all actions of seats 1 to 3 in the current world.

    The result is `UNLIKELY` if it is below `floor`.
    """
    total = 0.0
    for seat in range(1, N_SEATS):
        total += seat_log(space, seat, floor - total)
        if total < floor:
            return UNLIKELY
    return total


@entry_kernel
def weigh_worlds(
    space: SearchWorkspace, logs: Array, first: int, last: int, negligible: float
) -> None:
    """Draw worlds `first` to `last` - 1, and write their log-weights to `logs`, float64.

    `logs[:first]` are already filled in; `first` 0 also records the history. A world whose
    log-weight is more than `negligible` below the best so far is not weighed to its end; its
    log-weight is about `UNLIKELY`.
    """
    most = UNLIKELY
    if first == 0:
        record_history(space)
    for j in range(first):
        most = max(most, logs[j])
    for j in range(first, last):
        density = draw_world(space, j)
        logs[j] = UNLIKELY
        if density < IMPOSSIBLE:
            logs[j] = log_likelihood(space, most - negligible + density) - density
        most = max(most, logs[j])
