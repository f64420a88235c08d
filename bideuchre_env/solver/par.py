"""Par: contract and points of a deal with best bidding and play, all hands seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from bideuchre_env.core.phases.scoring import score_hand
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS, N_STRAINS, STRAINS
from bideuchre_env.rules.parse import parse_seat
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, entry_kernel
from bideuchre_env.solver.deal_table import DealTable, best_exchange, tables_of
from bideuchre_env.solver.inputs import hands_of_deal

ALL_SEATS = (1 << N_SEATS) - 1


@dataclass(frozen=True)
class Par:
    """The result of a deal if all four seats see all cards and bid and play their best.

    `points` are side 0's (seats 0 and 2) minus side 1's. `contract` ("4 H"), `declarer` (a seat)
    and `tricks` (of the declarer's side) are None after four passes; `calls` are all calls in
    words, the eldest hand's first ("bid 4 H", or "bid 4" where the strain is named later).
    """

    points: int
    contract: str | None
    declarer: int | None
    tricks: int | None
    calls: tuple[str, ...]


def par(deal: Any, rules: Rules, dealer: int, *, memory: float | None = None) -> Par:
    """Return the result of a deal with best calls and play by all seats, all hands seen.

    Each side maximises its points in this hand minus the other side's; a passed-out hand is worth
    0. All auction rules apply (who may not pass, who may equal, the ladder's steps), and bids with
    an exchange assume the best one. Among calls of equal value a seat makes the first: a pass, then
    the lowest bid.

    Args:
        deal, rules, memory: those of `table`; the errors are the same.
        dealer: the dealer's seat.
    """
    hands = hands_of_deal(deal, rules)
    return _Auction(hands, parse_seat("dealer", dealer), rules, memory).par()


@dataclass(frozen=True)
class Makeable:
    """The par of a deal and the contracts that make if all seats see all cards.

    `table` has the tricks of every contract without an exchange. `lone` has, for each lone bid of
    the ladder by name, the strains in which it makes, by declarer (a seat): "C", "NT", ...
    """

    par: Par
    table: DealTable
    lone: dict[str, tuple[tuple[str, ...], ...]]


def makeable(deal: Any, rules: Rules, dealer: int, *, memory: float | None = None) -> Makeable:
    """Return the par of a deal and the contracts that make, all hands seen.

    It costs little more than `par`, and lone bids assume the best exchange.

    Args:
        deal, rules, dealer, memory: those of `par`; the errors are the same.
    """
    hands = hands_of_deal(deal, rules)
    auction = _Auction(hands, parse_seat("dealer", dealer), rules, memory)
    lone = {
        bid.name: tuple(tuple(auction.makes(level, seat)) for seat in range(N_SEATS))
        for level, bid in enumerate(rules.ladder)
        if bid.tricks is None
    }
    return Makeable(auction.par(), DealTable(*auction.tricks), lone)


@entry_kernel
def points_of(states: Array, tables: Array, declarer: int, level: int, tricks: int) -> int:
    """Return side 0's points minus side 1's if the declarer's side wins this many tricks.

    `level` is the index of the bid in the ladder. `states` is one row of scratch space.
    """
    s, t = states[0], tables[0]
    side = declarer & 1
    s.declarer = declarer
    s.level = level
    s.tricks_won[side] = tricks
    s.tricks_won[1 - side] = t.tricks - tricks
    score_hand(s, t)
    return s.points[0] - s.points[1]


class _Auction:
    """Minimax over the calls of a deal; `best(0, -1, -1)` is its par result with one call each.

    Contracts are evaluated only if the auction can end in them, and cached.
    """

    def __init__(self, hands: Array, dealer: int, rules: Rules, memory: Any) -> None:
        self.hands, self.dealer, self.rules, self.memory = hands, dealer, rules, memory
        self.tables, self.row = compile_tables(rules), new_states(1)
        self.tricks = tables_of(hands, rules, dealer=dealer, threads=1, memory=memory)[0]
        self.best = cache(self._best)
        self.in_rounds = cache(self._best_in_rounds)
        self.forced = rules.all_pass in ("dealer_forced", "dealer_lowest")
        self.contract = cache(self._contract)
        self.exchange_tricks = cache(self._exchange_tricks)

    def par(self) -> Par:
        """Return the par result of the deal."""
        if self.rules.auction == "once":
            return self.best(0, -1, -1)
        return self.in_rounds((self.dealer + 1) % N_SEATS, -1, -1, 0)

    def makes(self, level: int, declarer: int) -> list[str]:
        """Return the names of the strains in which the declarer makes the bid `level`."""
        need = self.tables["need"][0][level]
        strains = self._strains(level)
        return [STRAINS[each] for each in strains if self._tricks(level, declarer, each) >= need]

    def _best(self, made: int, level: int, declarer: int) -> Par:
        """Return the par result when `made` calls are made and `declarer`'s bid `level` stands.

        `level`, a ladder index, and `declarer` are -1 if all have passed. The result's `calls`
        are only the calls to come.
        """
        if made == N_SEATS:
            return Par(0, None, None, None, ()) if level < 0 else self.contract(level, declarer)
        seat = (self.dealer + 1 + made) % N_SEATS
        sign = -1 if seat & 1 else 1
        legal = int(self.tables["legal_calls"][0][made, level + 1])
        results = []
        if legal & 1:
            results.append(_with_call("pass", self.best(made + 1, level, declarer)))
        for bid in range(len(self.rules.ladder)):
            if legal >> (1 + bid) & 1:
                results.append(_with_call(self._words(bid, seat), self.best(made + 1, bid, seat)))
        return max(results, key=lambda result: sign * result.points)

    def _best_in_rounds(self, seat: int, level: int, declarer: int, out: int) -> Par:
        """Return the par result of an auction in rounds, as `best`; `seat` is to act.

        `out` has the seats that have passed since they last bid, as bits. All of them together
        pass out the hand or end the auction.
        """
        made = min(out.bit_count(), N_SEATS - 1) if level < 0 else 1
        sign = -1 if seat & 1 else 1
        legal = int(self.tables["legal_calls"][0][made, level + 1])
        results = []
        if legal & 1:
            passed = out | 1 << seat
            results.append(_with_call("pass", self._after_pass(seat, level, declarer, passed)))
        for bid in range(len(self.rules.ladder)):
            if legal >> (1 + bid) & 1:
                results.append(_with_call(self._words(bid, seat), self._after_bid(seat, bid, out)))
        return max(results, key=lambda result: sign * result.points)

    def _after_pass(self, seat: int, level: int, declarer: int, out: int) -> Par:
        if level < 0:
            if out == ALL_SEATS:
                return Par(0, None, None, None, ())
            return self.in_rounds((seat + 1) % N_SEATS, level, declarer, out)
        turn = self._turn_after(seat, out)
        if turn == declarer:
            return self.contract(level, declarer)
        return self.in_rounds(turn, level, declarer, out)

    def _after_bid(self, seat: int, level: int, out: int) -> Par:
        forced = out == ALL_SEATS & ~(1 << seat) and self.forced and seat == self.dealer
        turn = self._turn_after(seat, out & ~(1 << seat))
        if forced or turn == seat or level == len(self.rules.ladder) - 1:
            return self.contract(level, seat)
        return self.in_rounds(turn, level, seat, out & ~(1 << seat))

    def _turn_after(self, seat: int, out: int) -> int:
        turn = (seat + 1) % N_SEATS
        while self.rules.auction == "until_out" and out >> turn & 1:
            turn = (turn + 1) % N_SEATS
        return turn

    def _words(self, level: int, seat: int) -> str:
        if actions.names_strain(self.rules, self.rules.ladder[level]):
            return f"bid {self.contract(level, seat).contract}"
        return f"bid {self.rules.ladder[level].name}"

    def _contract(self, level: int, declarer: int) -> Par:
        """Return the result of the bid `level` in its declarer's best strain, without calls."""
        sign = -1 if declarer & 1 else 1
        strains = self._strains(level)
        tricks = [self._tricks(level, declarer, strain) for strain in strains]
        points = [int(points_of(self.row, self.tables, declarer, level, won)) for won in tricks]
        best = int(np.argmax(sign * np.array(points)))
        words = actions.of(self.rules).contract(level, strains[best])
        return Par(points[best], words, declarer, tricks[best], ())

    def _strains(self, level: int) -> list[int]:
        bits = int(self.tables["strain_bits"][0][level])
        return [strain for strain in range(N_STRAINS) if bits >> strain & 1]

    def _tricks(self, level: int, declarer: int, strain: int) -> int:
        bid = self.rules.ladder[level]
        if bid.exchange:
            return self.exchange_tricks(bid.exchange, declarer, STRAINS[strain])
        return int(self.tricks[int(bid.alone), declarer, strain])

    def _exchange_tricks(self, cards: int, declarer: int, strain: str) -> int:
        """Return the tricks of a lone declarer after the best exchange of this many cards."""
        return best_exchange(
            self.hands[0],
            self.rules,
            declarer=declarer,
            strain=strain,
            cards=cards,
            dealer=self.dealer,
            memory=self.memory,
        ).tricks


def _with_call(call: str, rest: Par) -> Par:
    return replace(rest, calls=(call, *rest.calls))
