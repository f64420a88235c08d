"""Play a hand on random deals until its chances are precise, for `build_hand_table.py`.

The hand is always seat 0's, and seat 0 is the declarer.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.expert.hand_table import SCALE, STRAINS
from bideuchre_env.agents.rule.agent import RuleWorkspace, act_by_rule, rule_workspace
from bideuchre_env.core.hands import put
from bideuchre_env.core.phases.deal import GOLDEN, begin_hand, bounded, mix, seed_stream, shuffle
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.step import begin_cards
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, kernel

BEST = 3  # number of strains that are played to the required precision
NEAR = 0.05  # mean tricks: rounding in the table may reverse a smaller difference of two strains
LOOK = 64  # deals between two checks of the precision
N_EXCHANGES = 4  # 0 to 3 cards
Z2 = 1.959963984540054**2  # squared normal quantile of a 95 % interval
LOWEST = {16: "J", 20: "10", 24: "9"}  # [kinds]: the lowest rank of the deck


class Table(NamedTuple):
    """Workspace and state rows for playing hands."""

    work: RuleWorkspace
    states: Array  # (2,): the deal, and the hand played from it


class Precision(NamedTuple):
    """The deals of a strain: `first` to `most`, until the half width of each chance is small."""

    first: int
    most: int
    partnered: float  # half width with partner
    lone: float  # half width alone


def new_table(rules: Rules) -> Table:
    """Return a new workspace for hands of a game."""
    return Table(rule_workspace(rules), new_states(2))


def game(kinds: int, copies: int, leader: str) -> Rules:
    """Return rules with a bid for half the tricks and a lone bid for each exchange of 0 to 3 cards.

    `leader` is the value of `Rules.opening_lead`.
    """
    half = kinds * copies // 8
    lone = tuple(Bid(f"call-{k}", value=1, exchange=k) for k in range(N_EXCHANGES))
    return Rules(
        ranks=LOWEST[kinds],
        copies=copies,
        partnered=(half, half),
        lone=lone,
        opening_lead=leader,
        target=10,
    )


def play_block(
    shared: tuple[int, int, str, Word, Precision], block: tuple[int, Array]
) -> dict[str, Array]:
    """Play one block of hands: the row of the first one in the deck, and keys, int64 (n,).

    `shared` are kinds and copies of cards, the leader, the seed of row 0, and the precision. Return
    chances in units of 1 / `SCALE`: `tricks`, uint8 (n, 5, tricks + 1), by strain and number of
    tricks, and `lone`, uint8 (n, 4, 5), by exchange and strain.
    """
    (kinds, copies, leader, low, precision), (start, keys) = shared, block
    n, tricks = len(keys), kinds * copies // 4
    table = new_table(game(kinds, copies, leader))
    won = np.zeros((n, STRAINS, tricks + 1), np.int64)
    alone = np.zeros((n, N_EXCHANGES, STRAINS, 2), np.int64)
    for i in range(0, n, 8):  # Ctrl-C cannot interrupt a kernel, so each call plays few hands
        part = slice(i, min(i + 8, n))
        hands = (table, keys[part], start + i, low)
        play_partnered(*hands, precision, won[part])
        play_alone(*hands, precision, won[part], alone[part])
    lone = np.round(SCALE * alone[..., 1] / alone.sum(axis=-1)).astype(np.uint8)
    ups = np.cumsum(won, axis=-1) * SCALE / won.sum(axis=-1, keepdims=True)
    shares = np.diff(np.round(ups), axis=-1, prepend=0).astype(np.uint8)  # their sum is `SCALE`
    return {"tricks": shares, "lone": lone}


@entry_kernel
def play_partnered(
    table: Table, keys: Array, first_row: int, low: Word, deals: Precision, won: Array
) -> None:
    """Play each of the hands `keys`, int64 (n,), with partner, and count the results in `won`.

    `won` (n, 5, tricks + 1): the deals by strain and number of tricks of the declarer's side. Each
    strain is played on the `first` deals; the best three, and any nearly equal, continue until
    their `half_width` is small enough, or to `most` deals. `low` and `first_row` + i seed the deals
    of hand i.
    """
    first, most, limit = deals.first, deals.most, deals.partnered
    for i in range(len(keys)):
        row, every = np.uint64(first_row + i), (1 << STRAINS) - 1
        play_deals(table, keys[i], row, low, every, 0, first, 0.0, won[i])
        playing = unsure(won[i], best_strains(won[i], 0.0), most, limit)
        play_deals(table, keys[i], row, low, playing, first, most, limit, won[i])
        playing = unsure(won[i], best_strains(won[i], NEAR), most, limit)
        while playing:
            play_deals(table, keys[i], row, low, playing, first, most, limit, won[i])
            playing = unsure(won[i], best_strains(won[i], NEAR), most, limit)


@kernel
def play_deals(
    table: Table,
    hand: int,
    row: Word,
    low: Word,
    playing: int,
    start: int,
    stop: int,
    limit: float,
    won: Array,
) -> None:
    """Play one hand in the strains `playing`, as bits, on deals `start` to `stop` - 1.

    A strain ends early once its half-width is at most `limit`. `won` (5, tricks + 1) counts the
    deals by strain and number of tricks of the declarer's side. `row` and `low` seed the deals.
    """
    deal, s, t = table.states[0], table.states[1], table.work.tables[0]
    for j in range(start, stop):
        if j > start and (j - start) % LOOK == 0:
            playing = unsure(won, playing, stop, limit)
        if playing == 0:
            return
        seed_stream(deal, low, mix(row * GOLDEN + np.uint64(j)))
        deal_others(deal, t, hand)
        for strain in range(STRAINS):
            if playing >> strain & 1:
                give_contract(s, deal, t, 0, strain)
                play_out(s, table)
                won[strain, s.tricks_won[0]] += 1


@entry_kernel
def play_alone(
    table: Table, keys: Array, first_row: int, low: Word, deals: Precision, won: Array, alone: Array
) -> None:
    """Play each of the hands `keys`, int64 (n,), alone after each exchange; count the results.

    `alone` (n, exchanges, 5, 2): the deals by exchange and strain; the last index is 1 if the
    declarer won all the tricks, else 0. All strains are played on the `first` deals. The best
    strains with partner, by `won` of `play_partnered`, continue as there.
    """
    deal, s, t = table.states[0], table.states[1], table.work.tables[0]
    for i in range(len(keys)):
        row, best = np.uint64(first_row + i), best_strains(won[i], NEAR)
        playing = (1 << STRAINS * N_EXCHANGES) - 1
        for j in range(deals.most):
            if j >= deals.first and (j - deals.first) % LOOK == 0:
                for place in range(STRAINS * N_EXCHANGES):
                    exchange, strain = place // STRAINS, place % STRAINS
                    behind = best >> strain & 1 == 0
                    if behind or half_width(alone[i, exchange, strain]) <= deals.lone:
                        playing &= ~(1 << place)
            if playing == 0:
                break
            seed_stream(deal, low + np.uint64(1), mix(row * GOLDEN + np.uint64(j)))
            deal_others(deal, t, keys[i])
            for place in range(STRAINS * N_EXCHANGES):
                if playing >> place & 1:
                    exchange, strain = place // STRAINS, place % STRAINS
                    give_contract(s, deal, t, 1 + exchange, strain)
                    play_out(s, table)
                    alone[i, exchange, strain, 1 if s.tricks_won[1] == 0 else 0] += 1


@kernel
def best_strains(won: Array, near: float) -> int:
    """Return, as bits, the `BEST` strains by mean tricks, and any less than `near` behind those.

    The chances in the table are rounded, so a strain just behind may be among the best there.
    """
    third, best = 0.0, 0
    for strain in range(STRAINS):
        if ahead_of(won, strain) == BEST - 1:
            third = mean_tricks(won[strain])
    for strain in range(STRAINS):
        if ahead_of(won, strain) < BEST or mean_tricks(won[strain]) > third - near:
            best |= 1 << strain
    return best


@kernel
def unsure(won: Array, strains: int, most: int, limit: float) -> int:
    """Return the bits of `strains` with a half-width above `limit` and fewer than `most` deals."""
    left = 0
    for strain in range(STRAINS):
        wide = half_width(won[strain]) > limit and won[strain].sum() < most
        left |= (strains >> strain & int(wide)) << strain
    return left


@kernel
def mean_tricks(counts: Array) -> float:
    """Return the mean of a histogram of tricks; 0 if it is empty."""
    total, n = 0.0, 0.0
    for tricks in range(len(counts)):
        total += tricks * counts[tricks]
        n += counts[tricks]
    return total / n if n > 0.0 else 0.0


@kernel
def ahead_of(won: Array, strain: int) -> int:
    """Return the number of strains with more mean tricks than `strain`, or equal and before it."""
    own, ahead = mean_tricks(won[strain]), 0
    for other in range(STRAINS):
        mean = mean_tricks(won[other])
        ahead += 1 if mean > own or (mean == own and other < strain) else 0
    return ahead


@kernel
def half_width(counts: Array) -> float:
    """Return the largest half-width of the 95 % Wilson intervals of P(at least k), over all k.

    `counts` is a histogram: the number of deals with each result k.
    """
    n = 0.0
    for number in range(len(counts)):
        n += counts[number]
    widest, reached = 0.0, n
    for number in range(len(counts) - 1):
        reached -= counts[number]
        share = reached / n
        half = sqrt(Z2 * (share * (1.0 - share) / n + Z2 / (4.0 * n * n))) / (1.0 + Z2 / n)
        widest = max(widest, half)
    return widest


@kernel
def deal_others(deal: Row, t: Tables, hand: int) -> None:
    """Give seat 0 its hand, deal the other cards to the other seats, and draw a dealer.

    The dealer is not seat 3: seat 0 would then be the eldest hand, and lead by either lead rule.
    """
    n, each = 0, t.tricks
    for kind in range(t.kinds):
        for copy in range(t.copies):
            if hand >> (kind + COPY_SHIFT * copy) & 1 == 0:
                deal.plays[n] = kind
                n += 1
    shuffle(deal, n, 1)
    deal.hands[0] = hand
    for seat in range(1, 4):
        dealt = 0
        for i in range((seat - 1) * each, seat * each):
            dealt = put(dealt, deal.plays[i])
        deal.hands[seat] = dealt
    deal.dealer = bounded(deal, 3)


@kernel
def give_contract(s: State, deal: Row, t: Tables, level: int, strain: int) -> None:
    """Set `s` to the end of an auction on `deal`: seat 0 won it, all others passing.

    `level` is the place of its bid in the bid ladder, from 0. The next phase, exchange or card
    play, has begun.
    """
    s.dealer = deal.dealer
    begin_hand(s)
    for seat in range(4):
        s.hands[seat] = deal.hands[seat]
        s.calls[seat] = 0
        s.call_strains[seat] = -1
    s.calls[0] = 1 + level
    s.calls_made = 4
    s.declarer = 0
    s.level = level
    s.strain = strain
    if t.alone[level]:
        s.sitting_out = 2
    begin_cards(s, t)


@kernel
def play_out(s: State, table: Table) -> None:
    """Let the rule player play the hand to its end; a lone hand stops at the first lost trick."""
    alone = s.sitting_out >= 0
    while s.phase < DEAL and not (alone and s.tricks_won[1] > 0):
        act_by_rule(s, table.work)
