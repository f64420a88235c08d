"""How likely worlds are by what the other seats have done in the hand: by replaying it.

A world says what every seat held at each of its decisions, and the expert, put there, says what
it would have done. In the auction it gives every call a value, and the better one looks the
likelier it is; elsewhere a difference makes a world less likely. Nobody plays just as the expert
does: nothing makes a world impossible.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from bideuchre_env.agents.expert.agent import Book, expert_decision, weigh_hand
from bideuchre_env.agents.expert.auction import NOT_WEIGHED, weigh_calls
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.agents.rule.bidding import N_STRAINS
from bideuchre_env.agents.rule.view import read_view
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.replay import deal_replay, next_action, wind_back
from bideuchre_env.core.state import GIVING, NAMING, PASSING, PLAY
from bideuchre_env.core.step import apply, legal, legal_bits
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import popcount
from bideuchre_env.runtime.jit import Array, Row, Word, kernel

UNLIKELY = -1e9  # the logarithm of no chance worth counting

# How a seat is taken to decide.
TRUST = np.dtype(
    [
        ("points", np.float64),  # a call this much worse, in points, is 1/e as likely
        ("tricks", np.float64),  # a strain with so many tricks fewer is
        ("chance", np.float64),  # a strain with so much less chance alone is
        ("slip", np.float64),  # the share of calls made for no reason seen
        ("lead", np.float64),  # the share of leads that are another card
        ("follow", np.float64),  # the share of cards played to others' leads that are
        # logarithms of how much less likely a difference is than agreement
        ("level", np.float64),  # each level a bid is higher or lower, where there is no table
        ("pass_", np.float64),  # a bid for a pass, or a pass for a bid, where there is none
        ("strain", np.float64),  # another strain, where there is none
        ("exchange", np.float64),  # another card given or passed
        ("cards", np.int64),  # 1: the cards played are read too, 0: what came before them alone
    ]
)

HANDS_KEPT = 1 << 13

# What the hands weighed in one decision came to, by the low bits of their keys.
KEPT = np.dtype(
    [
        ("keys", np.uint64, (HANDS_KEPT,)),  # `hand_key`; 0 where there is none
        ("logs", np.float64, (HANDS_KEPT,)),  # how likely the seat's actions are with this hand
        ("whole", np.int8, (HANDS_KEPT,)),  # 0: at most so likely, for it was left early
        ("key", np.uint64, (N_SEATS,)),  # of this world, by seat
        ("sum", np.float64, (N_SEATS,)),  # the same as logs, as far as replayed
    ]
)


@kernel
def surprise(t: Row, phase: int, did: int, would: int, k: Row) -> float:
    """How unlikely it is that a seat did one thing where it would do another; up to the naming."""
    if did == would:
        return 0.0
    if phase == NAMING:
        return float(k.strain)
    if did == 0 or would == 0:
        return float(k.pass_)
    per_bid = t.strains_per_bid
    levels = abs((did - 1) // per_bid - (would - 1) // per_bid)
    other = (did - 1) % per_bid != (would - 1) % per_bid
    return float(k.level) * min(levels, 2) + (float(k.strain) if other else 0.0)


@kernel
def call_chance(t: Row, did: int, b: Row, k: Row) -> float:
    """The chance of a call, after `weigh_calls`: a softmax of what the calls weighed are worth.

    One that was not worth weighing is left the share of calls made for no reason seen.
    """
    per_bid = t.strains_per_bid
    level_did, strain_did = -1, b.ranked[0]
    if did > 0:
        level_did = (did - 1) // per_bid
        if per_bid > 1:
            strain_did = (did - 1) % per_bid
    most = NOT_WEIGHED
    for level in range(-1, t.n_levels):
        for place in range(N_STRAINS):
            most = max(most, b.worth[1 + level, place])
    total, own, heat = 0.0, 0.0, b.slope * k.points
    for level in range(-1, t.n_levels):
        for place in range(N_STRAINS):
            value = b.worth[1 + level, place]
            if value > NOT_WEIGHED:
                part = exp((value - most) / heat)
                total += part
                if level == level_did and (per_bid == 1 or b.ranked[place] == strain_did):
                    own = part
    return float(own / total * (1.0 - k.slip) + k.slip / t.n_actions)


@kernel
def strain_chance(t: Row, level: int, strain: int, b: Row, k: Row) -> float:
    """The chance of a strain named for a contract of this level."""
    total, own, alone, exchange = 0.0, 0.0, t.alone[level], t.exchange[level]
    for other in range(N_STRAINS):
        if alone:
            best = b.lone[exchange, b.best_lone[exchange]]
            part = exp((b.lone[exchange, other] - best) / k.chance)
        else:
            part = exp((b.mean[other] - b.mean[b.ranked[0]]) / k.tricks)
        total += part
        if other == strain:
            own = part
    return float(own / total * (1.0 - k.slip) + k.slip / N_STRAINS)


@kernel
def card_chance(v: Row, bits: int, did: int, would: int, k: Row) -> float:
    """The chance of a card among the legal ones, as bits, of a seat that would play another."""
    slips = float(k.lead if v.led < 0 else k.follow)
    return 1.0 - slips if did == would else slips / (popcount(bits) - 1)


@kernel
def exchange_log(s: Row, script: Row, would: int, k: Row) -> float:
    """How unlikely it is that a card put aside or passed now is not the one it would be.

    They go in the order of the script, which is not the seat's: any card still to go will do.
    `would` is a kind.
    """
    cards = script.given if s.phase == GIVING else script.passed
    for i in range(s.picks, MAX_EXCHANGE):
        if cards[i] == would:
            return 0.0
    return float(k.exchange)


@kernel
def action_log(
    s: Row,
    script: Row,
    action: int,
    t: Row,
    o: Row,
    book: Book,
    v: Row,
    scratch: Row,
    b: Row,
    x: Row,
    seen: Array,
    may: Array,
    k: Row,
) -> float:
    """The logarithm of how likely the seat to act in `s` is to do this, up to a constant.

    `script` is that of the hand, the exchange included.
    """
    encode(s, t, o, s.turn, seen)
    legal(s, t, may)
    phase = s.phase
    if phase <= NAMING:
        read_view(seen, t, o, v)
        if weigh_hand(v, t, book, scratch, b):
            if phase == NAMING:
                return log(strain_chance(t, s.level, action - t.trump_offset, b, k))
            if book.trusted > 0.0:
                bits = call_bits(may, t)
                weigh_calls(v, t, book.numbers[0], book.weights[0], book.wins, bits, b)
                return log(call_chance(t, action, b, k))
    would, first = expert_decision(seen, may, t, o, book, v, scratch, b, x), t.card_offset
    if phase in (GIVING, PASSING):
        return exchange_log(s, script, would - first, k)
    if phase == PLAY:
        bits = gather_bits(may, first, t.kinds, 0)
        return log(card_chance(v, bits, action - first, would - first, k))
    return surprise(t, phase, action, would, k)


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
def recall(world: Row, kept: Row) -> tuple[int, float, float]:
    """The seats, as bits, whose hands are yet to be weighed, the sum over the others, and what the
    sum over all is at most.
    """
    missing, total, most = 0, 0.0, 0.0
    for seat in range(1, N_SEATS):
        key = hand_key(world, seat)
        place = int(key & np.uint64(HANDS_KEPT - 1))
        known = kept.keys[place] == key
        if known:
            most += kept.logs[place]
        if known and kept.whole[place] == 1:
            total += kept.logs[place]
        else:
            missing |= 1 << seat
        kept.key[seat] = key
        kept.sum[seat] = 0.0
    return missing, total, most


@kernel
def keep(kept: Row, missing: int, whole: bool) -> None:
    """Keep what the hands of these seats came to, or how likely they are at most."""
    for seat in range(1, N_SEATS):
        if missing >> seat & 1:
            place = int(kept.key[seat] & np.uint64(HANDS_KEPT - 1))
            kept.keys[place] = kept.key[seat]
            kept.logs[place] = kept.sum[seat]
            kept.whole[place] = 1 if whole else 0


@kernel
def log_likelihood(
    world: Row,
    script: Row,
    s: Row,
    t: Row,
    o: Row,
    book: Book,
    v: Row,
    scratch: Row,
    b: Row,
    x: Row,
    seen: Array,
    may: Array,
    k: Row,
    kept: Row,
    floor: float,
) -> float:
    """The logarithm of how likely the other seats' actions are; `UNLIKELY` if below `floor`.

    What a seat does depends on its own hand alone, so each of its hands is weighed once and `kept`.
    `script` is that of the hand; it and `s`, `v`, `seen`, `may` are rewritten.
    """
    missing, total, most = recall(world, kept)
    if most < floor:
        return UNLIKELY
    if missing:
        wind_back(t, world, script)
        put_in_order(script.given)
        put_in_order(script.passed)
        deal_replay(script, s)
        action = next_action(script, t, s)
        while action >= 0 and total >= floor and (k.cards == 1 or s.phase != PLAY):
            bits, turn = legal_bits(s, t), s.turn
            if missing >> turn & 1 and bits & (bits - 1) != 0:
                found = action_log(s, script, action, t, o, book, v, scratch, b, x, seen, may, k)
                kept.sum[turn] += found
                total += found
            apply(s, t, action)
            action = next_action(script, t, s)
        keep(kept, missing, total >= floor)
    return total if total >= floor else UNLIKELY
