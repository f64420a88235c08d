"""Replay of a hand from the actions that are recorded in a state row.

A *replay* is a state row with the calls, the strain, the exchanged cards and the cards played of a
hand, and the four hands as they were dealt. The game's own kernels apply its actions to another
row.
"""

from __future__ import annotations

from bideuchre_env.core.hands import put, take
from bideuchre_env.core.phases.deal import GOLDEN, begin_hand, seed_stream
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING, PLAY, UNFINISHED
from bideuchre_env.core.step import apply, is_legal
from bideuchre_env.rules.cards import MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.jit import kernel


@kernel
def deal_replay(replay: State, s: State) -> None:
    """Deal the hands of a replay in row `s`, with its score, its dealer and its counts of hands."""
    seed_stream(s, GOLDEN, GOLDEN)  # any valid state: the next deal is not part of the hand
    s.dealer = replay.dealer
    s.outcome = UNFINISHED
    s.winner = -1
    s.hands_played = replay.hands_played
    s.hands_dealt = replay.hands_dealt - 1  # `begin_hand` counts this one
    for side in range(2):
        s.score[side] = replay.score[side]
    for seat in range(N_SEATS):
        s.hands[seat] = replay.hands[seat]
    begin_hand(s)


@kernel
def next_action(replay: State, t: Tables, s: State) -> int:
    """Return the replay's next action for the seat to act in `s`; -1 after the last."""
    phase, turn = s.phase, s.turn
    if phase == AUCTION:
        call = replay.calls[turn]
        if call <= 0:
            return call
        per_bid = t.strains_per_bid
        strain = replay.call_strains[turn] if per_bid > 1 else 0
        return 1 + (call - 1) * per_bid + strain if strain >= 0 else -1
    if phase == NAMING:
        return t.trump_offset + replay.strain if replay.strain >= 0 else -1
    kind = -1
    if phase == PLAY:
        kind = replay.plays[turn * MAX_TRICKS + s.trick]
    elif phase == GIVING:
        kind = replay.given[s.picks]
    elif phase == PASSING:
        kind = replay.passed[s.picks]
    return t.card_offset + kind if kind >= 0 else -1


@kernel
def play_again(replay: State, t: Tables, s: State) -> None:
    """Apply the replay's remaining actions to `s`, up to the first illegal one."""
    action = next_action(replay, t, s)
    while action >= 0 and is_legal(s, t, action):
        apply(s, t, action)
        action = next_action(replay, t, s)


@kernel
def wind_back(t: Tables, s: State, replay: State) -> None:
    """Write the hands as dealt, and the exchanged cards, of the hand in row `s` to `replay`."""
    for seat in range(N_SEATS):
        hand = s.hands[seat]
        for trick in range(t.tricks):
            kind = s.plays[seat * MAX_TRICKS + trick]
            if 0 <= kind < t.kinds:
                hand = put(hand, kind)
        replay.hands[seat] = hand
    for i in range(len(s.given)):
        replay.given[i] = s.given[i]
        replay.passed[i] = s.passed[i]
    if s.phase < GIVING or s.declarer < 0:
        return
    declarer, partner = s.declarer, (s.declarer + 2) & 3
    for i in range(len(s.given)):
        passed = s.passed[i]
        if 0 <= passed < t.kinds:
            if s.phase >= PLAY:
                replay.hands[declarer] = take(replay.hands[declarer], passed)
            replay.hands[partner] = put(replay.hands[partner], passed)
    for i in range(len(s.given)):
        if 0 <= s.given[i] < t.kinds:
            replay.hands[declarer] = put(replay.hands[declarer], s.given[i])
