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
from bideuchre_env.agents.calls import NOT_WEIGHED, weigh_calls
from bideuchre_env.agents.expert import Book, expert_decision, weigh_hand
from bideuchre_env.agents.rule import call_bits
from bideuchre_env.agents.view import read_view
from bideuchre_env.agents.worlds import deal_script, next_action, wind_back
from bideuchre_env.observation import encode
from bideuchre_env.spread import gather_bits
from bideuchre_env.state import NAMING, PLAY
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
def call_chance(t: Row, did: int, b: Row, k: Row) -> float:
    """The chance of a call, after `weigh_calls`: a softmax of what the calls weighed are worth.

    One that was not worth weighing is left the share of calls made for no reason seen.
    """
    per_bid = int(t.strains_per_bid)
    level_did, strain_did = -1, int(b.ranked[0])
    if did > 0:
        level_did = (did - 1) // per_bid
        if per_bid > 1:
            strain_did = (did - 1) % per_bid
    most = NOT_WEIGHED
    for level in range(-1, int(t.n_levels)):
        for place in range(N_STRAINS):
            most = max(most, b.worth[1 + level, place])
    total, own, heat = 0.0, 0.0, b.slope * k.points
    for level in range(-1, int(t.n_levels)):
        for place in range(N_STRAINS):
            value = b.worth[1 + level, place]
            if value > NOT_WEIGHED:
                part = exp((value - most) / heat)
                total += part
                if level == level_did and (per_bid == 1 or int(b.ranked[place]) == strain_did):
                    own = part
    return float(own / total * (1.0 - k.slip) + k.slip / int(t.n_actions))


@kernel
def strain_chance(t: Row, level: int, strain: int, b: Row, k: Row) -> float:
    """The chance of a strain named for a contract of this level."""
    total, own, alone, exchange = 0.0, 0.0, int(t.alone[level]), int(t.exchange[level])
    for other in range(N_STRAINS):
        if alone:
            best = b.lone[exchange, int(b.best_lone[exchange])]
            part = exp((b.lone[exchange, other] - best) / k.chance)
        else:
            part = exp((b.mean[other] - b.mean[int(b.ranked[0])]) / k.tricks)
        total += part
        if other == strain:
            own = part
    return float(own / total * (1.0 - k.slip) + k.slip / N_STRAINS)


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
            if phase == NAMING:
                return log(strain_chance(t, int(s.level), action - int(t.trump_offset), b, k))
            if book.trusted > 0.0:
                bits = call_bits(may, t)
                weigh_calls(v, t, book.numbers[0], book.weights[0], book.wins, bits, b)
                return log(call_chance(t, action, b, k))
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
    floor: float,
) -> float:
    """The logarithm of how likely the other seats' actions are; less than `floor` if below it.

    `script` is that of the hand; it and `s`, `v`, `seen`, `may` are rewritten.
    """
    total = 0.0
    wind_back(t, world, script)
    deal_script(script, s)
    action = next_action(script, t, s)
    while action >= 0 and total >= floor:
        bits = legal_bits(s, t)
        if int(s.turn) != 0 and bits & (bits - 1) != 0:
            total += action_log(s, action, t, o, book, v, scratch, b, x, seen, may, k)
        apply(s, t, action)
        action = next_action(script, t, s)
    return total
