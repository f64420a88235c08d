"""How likely worlds are by what the other seats have done in the hand: by replaying it.

A world says what every seat held at each of its decisions; the rule player, put there, would have
done the same or not. Nobody plays just as the rule player does, so a difference makes a world
less likely and never impossible.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env._jit import Array, Row, kernel
from bideuchre_env.agents.rule import rule_decision
from bideuchre_env.agents.worlds import deal_script, next_action, wind_back
from bideuchre_env.observation import encode
from bideuchre_env.state import NAMING, PLAY
from bideuchre_env.step import apply, legal, legal_bits

# Logarithms of how much less likely a difference is than agreement, by kind of difference.
TRUST = np.dtype(
    [
        ("level", np.float64),  # each level a bid is higher or lower, two at most
        ("pass_", np.float64),  # a bid for a pass, or a pass for a bid
        ("strain", np.float64),  # another strain, in a bid or named after the auction
        ("exchange", np.float64),  # another card given or passed
        ("card", np.float64),  # another card played
    ]
)


@kernel
def surprise(t: Row, phase: int, did: int, would: int, k: Row) -> float:
    """The logarithm of how unlikely it is that a seat did one thing where it would do another."""
    if did == would:
        return 0.0
    if phase == PLAY:
        return float(k.card)
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
def log_likelihood(
    world: Row,
    script: Row,
    s: Row,
    t: Row,
    o: Row,
    w: Row,
    v: Row,
    bidding: Row,
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
            encode(s, t, o, int(s.turn), seen)
            legal(s, t, may)
            would = rule_decision(seen, may, t, o, w, v, bidding)
            total += surprise(t, int(s.phase), action, would, k)
        apply(s, t, action)
        action = next_action(script, t, s)
    return total
