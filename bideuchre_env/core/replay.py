"""Replay of a hand from the actions that are recorded in a state row.

A *replay* is a state row with the calls, the strain, the exchanged cards and the cards played of a
hand, and the four hands as they were dealt. The game's own kernels apply its actions to another
row.
"""

from __future__ import annotations

from bideuchre_env.core.hands import put, put_cards, take
from bideuchre_env.core.phases.auction import at_level
from bideuchre_env.core.phases.deal import GOLDEN, begin_hand, deal_kitty, seed_stream
from bideuchre_env.core.phases.exchange import has_kitty, lays_away
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING, PLAY, UNFINISHED
from bideuchre_env.core.step import apply, is_legal
from bideuchre_env.core.tables import ONCE
from bideuchre_env.rules.cards import MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel


@kernel
def deal_replay(replay: State, t: Tables, s: State) -> None:
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
    deal_kitty(s, t)
    begin_hand(s)


@kernel
def next_action(replay: State, t: Tables, s: State) -> int:
    """Return the replay's next action for the seat to act in `s`; -1 after the last."""
    phase, turn = s.phase, s.turn
    if phase == AUCTION:
        if t.auction != ONCE:
            return next_in_rounds(replay, t, s)
        call = replay.calls[turn]
        return call if call <= 0 else bid_action(t, call - 1, replay.call_strains[turn])
    if phase == NAMING:
        return t.trump_offset + replay.strain if replay.strain >= 0 else -1
    kind = -1
    if phase == PLAY:
        kind = replay.plays[turn * MAX_TRICKS + s.trick]
    elif phase == GIVING:
        kind = replay.laid[s.picks] if lays_away(s, t) else replay.given[s.picks]
    elif phase == PASSING:
        kind = replay.passed[s.picks]
    return t.card_offset + kind if kind >= 0 else -1


@inline_kernel
def bid_action(t: Tables, level: int, strain: int) -> int:
    """Return the action of a bid of any numbers; -1 if the level or the strain is not the game's.

    `strain` has no effect if the bid does not name one.
    """
    if level >= t.n_levels:
        return -1
    action = t.first_of_bid[level]
    if t.call_strains[action] < 0:
        return action
    return action + strain if 0 <= strain < t.n_strains else -1


@kernel
def next_in_rounds(replay: State, t: Tables, s: State) -> int:
    """Return the replay's next call in an auction in rounds; -1 after the last.

    The next higher bid is the turn's, or else the turn passes until it comes to that bidder. After
    the last bid, seats pass up to the replay's turn if its auction is not over.
    """
    turn = s.turn
    for level in range(s.level + 1, t.n_levels):
        bidder = at_level(replay.bidders, level)
        if bidder == turn:
            return bid_action(t, level, at_level(replay.bid_strains, level))
        if bidder >= 0:
            return 0
    if replay.phase != AUCTION:
        return 0
    first = s.declarer if s.level >= 0 else s.dealer + 1
    return 0 if (turn - first) & 3 < (replay.turn - first) & 3 else -1


@kernel
def play_again(replay: State, t: Tables, s: State) -> None:
    """Apply the replay's remaining actions to `s`, up to the first illegal one."""
    action = next_action(replay, t, s)
    while action >= 0 and is_legal(s, t, action):
        apply(s, t, action)
        action = next_action(replay, t, s)


@entry_kernel
def last_caller_row(replays: Array, tables: Array, states: Array) -> int:
    """Return the seat of the last call in row 0 of `replays`; `states` is one row of scratch.

    The hands of the row have no effect.
    """
    s, seat = states[0], -1
    deal_replay(replays[0], tables[0], s)
    action = next_action(replays[0], tables[0], s)
    while action >= 0 and s.phase == AUCTION:
        seat = s.turn
        apply(s, tables[0], action)
        action = next_action(replays[0], tables[0], s)
    return seat


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
    for i in range(len(s.laid)):
        replay.laid[i] = s.laid[i] if s.laid[i] < t.kinds else -1
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
            if t.open_exchange and s.phase >= PASSING:
                replay.hands[partner] = take(replay.hands[partner], s.given[i])
    if has_kitty(s, t):
        hand = put_cards(replay.hands[declarer], replay.laid)
        for i in range(t.kitty):
            if 0 <= s.kitty[i] < t.kinds:
                hand = take(hand, s.kitty[i])
        replay.hands[declarer] = hand
