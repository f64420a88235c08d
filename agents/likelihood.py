"""How likely worlds are by what the other seats have done in the hand: by replaying it.

A world says what every seat held at each of its decisions, and the expert, put there, says what
it would have done. In the auction it gives every call a value, and the better one looks the
likelier it is; elsewhere a difference makes a world less likely. Nobody plays just as the expert
does: nothing makes a world impossible.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from bideuchre_env._jit import Array, Row, kernel, popcount
from bideuchre_env.agents.bidding import N_STRAINS
from bideuchre_env.agents.calls import call_worth
from bideuchre_env.agents.expert import Book, expert_decision, weigh_hand
from bideuchre_env.agents.rule import call_bits
from bideuchre_env.agents.view import read_view
from bideuchre_env.agents.worlds import deal_script, next_action, wind_back
from bideuchre_env.observation import encode
from bideuchre_env.spread import gather_bits
from bideuchre_env.state import AUCTION, NAMING, PLAY
from bideuchre_env.step import apply, legal, legal_bits

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
    ]
)


@kernel
def surprise(t: Row, phase: int, did: int, would: int, k: Row) -> float:
    """How unlikely it is that a seat did one thing where it would do another; before the play."""
    if did == would:
        return 0.0
    if phase == NAMING:
        return float(k.strain)
    if phase > NAMING:
        return float(k.exchange)
    if did == 0 or would == 0:
        return float(k.pass_)
    per_bid = int(t.strains_per_bid)
    levels = abs((did - 1) // per_bid - (would - 1) // per_bid)
    other = (did - 1) % per_bid != (would - 1) % per_bid
    return float(k.level) * min(levels, 2) + (float(k.strain) if other else 0.0)


@kernel
def call_chance(v: Row, t: Row, bits: int, did: int, book: Book, b: Row, k: Row) -> float:
    """The chance of a call among the legal ones, `bits` as for `expert_call`."""
    per_bid = int(t.strains_per_bid)
    level_did = (did - 1) // per_bid if did > 0 else -1
    most, total, own, legal_calls = -1e9, 0.0, 0.0, 0
    for level in range(-1, int(t.n_levels)):
        if bits >> (1 + level) & 1 == 0:
            continue
        legal_calls += 1
        value = call_worth(v, t, level, book.numbers, book.wins, b) / (b.slope * k.points)
        if level == level_did:
            own = value
        if value > most:
            total *= exp(most - value)
            most = value
        total += exp(value - most)
    chance = exp(own - most) / total
    if per_bid > 1 and level_did >= 0:
        chance *= strain_chance(t, level_did, (did - 1) % per_bid, b, k)
        legal_calls *= N_STRAINS
    return float(chance * (1.0 - k.slip) + k.slip / legal_calls)


@kernel
def strain_chance(t: Row, level: int, strain: int, b: Row, k: Row) -> float:
    """The chance of a strain for a bid of this level."""
    total, own, alone, exchange = 0.0, 0.0, int(t.alone[level]), int(t.exchange[level])
    for other in range(N_STRAINS):
        if alone:
            best = b.lone[exchange, int(b.best_lone[exchange])]
            part = exp((b.lone[exchange, other] - best) / k.chance)
        else:
            part = exp((b.mean[other] - b.mean[int(b.best)]) / k.tricks)
        total += part
        if other == strain:
            own = part
    return float(own / total)


@kernel
def card_chance(v: Row, bits: int, did: int, would: int, k: Row) -> float:
    """The chance of a card among the legal ones, as bits, of a seat that would play another."""
    slips = float(k.lead if int(v.led) < 0 else k.follow)
    return 1.0 - slips if did == would else slips / (popcount(bits) - 1)


@kernel
def action_log(
    s: Row,
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
    """The logarithm of how likely the seat to act in `s` is to do this, up to a constant."""
    encode(s, t, o, int(s.turn), seen)
    legal(s, t, may)
    phase = int(s.phase)
    if phase <= NAMING:
        read_view(seen, t, o, v)
        if weigh_hand(v, t, book, scratch, b):
            if phase == AUCTION:
                return log(call_chance(v, t, call_bits(may, t), action, book, b, k))
            return log(strain_chance(t, int(s.level), action - int(t.trump_offset), b, k) + 1e-3)
    would = expert_decision(seen, may, t, o, book, v, scratch, b, x)
    if phase == PLAY:
        first = int(t.card_offset)
        bits = gather_bits(may, first, int(t.kinds), 0)
        return log(card_chance(v, bits, action - first, would - first, k))
    return surprise(t, phase, action, would, k)


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
) -> float:
    """The logarithm of how likely the other seats' actions are, up to a constant.

    `script` is that of the hand; it and `s`, `v`, `seen`, `may` are rewritten.
    """
    total = 0.0
    wind_back(t, world, script)
    deal_script(script, s)
    action = next_action(script, t, s)
    while action >= 0:
        bits = legal_bits(s, t)
        if int(s.turn) != 0 and bits & (bits - 1) != 0:
            total += action_log(s, action, t, o, book, v, scratch, b, x, seen, may, k)
        apply(s, t, action)
        action = next_action(script, t, s)
    return total
