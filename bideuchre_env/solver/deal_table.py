"""What a deal is worth: tricks by declarer and strain, and the best exchange of a lone call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bideuchre_env._checks import is_whole, shown
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import (
    N_SEATS,
    STRAINS,
    hand_bits,
    hand_kinds,
    hand_names,
    parse_strain,
)
from bideuchre_env.rules.parse import parse_seat
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array
from bideuchre_env.solver import values
from bideuchre_env.solver.inputs import hands_of_deal, hands_of_deals
from bideuchre_env.solver.pool import Task, run
from bideuchre_env.solver.solve import dealer_seat, spans


@dataclass(frozen=True)
class DealTable:
    """The tricks of the declarer's side in every contract of a deal, if all play their best.

    `partnered` and `alone` are int8 (4, 5): by declarer (a seat) and strain (C D H S NT).
    `str(table)` is for reading.
    """

    partnered: Array
    alone: Array

    def __str__(self) -> str:
        head = "   ".join(f"{strain:>2}" for strain in STRAINS)
        lines = [f"declarer   {head}   alone {head}"]
        for seat in range(N_SEATS):
            both = [
                "   ".join(f"{n:2d}" for n in part[seat]) for part in (self.partnered, self.alone)
            ]
            lines.append(f"player_{seat}   {both[0]}         {both[1]}")
        return "\n".join(lines)


def table(
    deal: Any, rules: Rules, *, dealer: int | None = None, memory: float | None = None
) -> DealTable:
    """The tricks of the declarer's side for every declarer and strain, with partner and alone.

    `deal` is four lists of card names, by seat, or hand integers, int64 (4,). Where the eldest
    hand leads, `dealer` says who that is. No cards are exchanged, see `best_exchange`.
    """
    hands = hands_of_deal(deal, rules)
    found = tables_of(hands, rules, dealer=dealer, threads=1, memory=memory)[0]
    return DealTable(found[0], found[1])


def tables_of(
    deals: Any,
    rules: Rules,
    *,
    dealer: int | None = None,
    threads: int | None = None,
    memory: float | None = None,
) -> Array:
    """The tables of many deals, int8 (n, 2, 4, 5): with partner or alone, declarer, strain.

    Arguments are those of `table` and `solve_batch`.
    """
    hands = hands_of_deals(deals, rules)
    dealers = np.full(len(hands), dealer_seat(dealer, rules), np.int64)
    out, tables = np.zeros((len(hands), 2, N_SEATS, len(STRAINS)), np.int8), compile_tables(rules)

    def task(first: int, last: int) -> Task:
        def work(boards: Array, heads: Array, entries: Array) -> None:
            room = new_states(1)
            values.solve_table(
                room, tables, hands, dealers, first, last, boards, heads, entries, out
            )

        return work

    run([task(*span) for span in spans(len(hands), rules, cost=20)], memory, threads)
    return out


@dataclass(frozen=True)
class Exchange:
    """The best exchange of a lone call: the cards, and what the declarer then takes alone.

    `given` are the cards the declarer gives up, `passed` those the partner passes, as names.
    """

    given: tuple[str, ...]
    passed: tuple[str, ...]
    tricks: int


def best_exchange(
    deal: Any,
    rules: Rules,
    *,
    declarer: int,
    strain: str,
    cards: int,
    dealer: int | None = None,
    memory: float | None = None,
) -> Exchange:
    """The exchange of `cards` cards (0 to 3) after which a lone declarer takes most tricks.

    Declarer and partner choose as if they saw all hands, the play is at its best for all, and of
    equal exchanges the first in order of the cards counts. `deal` and `dealer` as in `table`.
    """
    hands = hands_of_deal(deal, rules)
    seat, suit = parse_seat("declarer", declarer), parse_strain(strain)
    most = min(MAX_EXCHANGE, rules.tricks)
    if not is_whole(cards) or not 0 <= cards <= most:
        raise OptionError(f"cards={shown(cards)}: a whole number from 0 to {most}")
    contract = np.array([dealer_seat(dealer, rules), seat, suit], np.int64)
    return _search_exchanges(hands[0], rules, contract, cards, memory)


def _search_exchanges(
    hands: Array, rules: Rules, contract: Array, cards: int, memory: Any
) -> Exchange:
    seat = int(contract[1])
    tables = compile_tables(rules)
    given, passed = (_choices(int(hands[s]), cards) for s in (seat, seat ^ 2))

    def task(boards: Array, heads: Array, entries: Array) -> Exchange:
        room, found, best = new_states(1), np.zeros(2, np.int64), -1
        for first in range(len(given)):
            best = values.best_of_exchanges(
                room,
                tables,
                hands,
                given,
                passed,
                first,
                contract,
                best,
                boards,
                heads,
                entries,
                found,
            )
            if best == rules.tricks or boards["stop"][0]:
                break
        gives, passes = (
            tuple(hand_names(int(part[i, 1])))
            for part, i in zip((given, passed), found, strict=True)
        )
        return Exchange(gives, passes, int(best))

    result: Exchange = run([task], memory)[0]
    return result


def _choices(hand: int, cards: int) -> Array:
    """Every choice of so many cards of a hand: what is left, and what is chosen; int64 (n, 2)."""
    kinds = hand_kinds(hand)
    rows = [
        (hand_bits(_without(kinds, chosen)), hand_bits(chosen))
        for chosen in sorted(set(combinations(kinds, cards)))
    ]
    return np.array(rows, np.int64)


def _without(kinds: list[int], chosen: Iterable[int]) -> list[int]:
    left = list(kinds)
    for kind in chosen:
        left.remove(kind)
    return left
