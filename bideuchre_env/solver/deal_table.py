"""Values of a deal: tricks by declarer and strain, and the best exchange of a lone call."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, is_whole
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
from bideuchre_env.solver.solve import dealer_seat, run, spans
from bideuchre_env.solver.transpositions import Searcher


@dataclass(frozen=True)
class DealTable:
    """The tricks of the declarer's side in every contract of a deal, with best play by all.

    `partnered` and `alone` are int8 (4, strains): by declarer (a seat) and strain of the game.
    `str(table)` is a text table.
    """

    partnered: Array
    alone: Array

    def __str__(self) -> str:
        head = "   ".join(f"{strain:>2}" for strain in STRAINS[: self.partnered.shape[1]])
        lines = [f"declarer {head}   alone {head}"]
        for seat in range(N_SEATS):
            both = [
                "   ".join(f"{n:2d}" for n in part[seat]) for part in (self.partnered, self.alone)
            ]
            lines.append(f"seat {seat}   {both[0]}         {both[1]}")
        return "\n".join(lines)


def table(
    deal: Any, rules: Rules, *, dealer: int | None = None, memory: float | None = None
) -> DealTable:
    """Return the tricks of the declarer's side for every declarer and strain, partnered and alone.

    No cards are exchanged, see `best_exchange`.

    Args:
        deal: four lists of card names, by seat, or hand integers, int64 (4,).
        rules: the rules of the game.
        dealer: the dealer's seat; required if the eldest hand leads.
        memory: megabytes of transposition table, 64 by default.

    Raises:
        DealError, OptionError: for an invalid deal or argument.

    Example:
        print(solver.table(record.hands[0]["deal"], record.rules))
    """
    hands = hands_of_deal(deal, rules)
    return DealTable(*tables_of(hands, rules, dealer=dealer, threads=1, memory=memory)[0])


def tables_of(
    deals: Any,
    rules: Rules,
    *,
    dealer: int | None = None,
    threads: int | None = None,
    memory: float | None = None,
) -> Array:
    """Return the tricks of the declarer's side in every contract of many deals.

    Args:
        deals: hand integers, int64 (n, 4), or a list of deals, each of four lists of card names.
        threads: the number of threads, by default all processors.
        rules, dealer: those of `table`; the errors are the same.
        memory: megabytes of transposition table for each thread, 64 by default.

    Returns:
        int8 (n, 2, 4, strains): deal, with partner (0) or alone (1), declarer, strain.
    """
    hands = hands_of_deals(deals, rules)
    seat, tables = dealer_seat(dealer, rules), compile_tables(rules)
    out = np.zeros((len(hands), 2, N_SEATS, len(rules.strains)), np.int8)

    def work(searcher: Searcher, first: int, last: int) -> None:
        values.solve_table(searcher, tables, hands, seat, first, last, out)

    run(work, spans(len(hands), rules, cost=20), memory, threads)
    return out


@dataclass(frozen=True)
class Exchange:
    """The best exchange of a lone bid: the cards, and the tricks the declarer then wins alone.

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
    """Return the exchange of `cards` cards that gives a lone declarer the most tricks.

    Declarer and partner choose with all hands seen, and all seats play their best. Of equal
    exchanges the first in card order is returned.

    Args:
        deal, rules, dealer, memory: those of `table`; the errors are the same.
        declarer: the declarer's seat.
        strain: the strain of the contract: "C", "D", "H", "S", "NT" or "LOW".
        cards: the number of cards exchanged, 0 to 3, and no more than a hand has.
    """
    hands = hands_of_deal(deal, rules)
    seat, suit = parse_seat("declarer", declarer), parse_strain(strain)
    most = min(MAX_EXCHANGE, rules.tricks)
    if not is_whole(cards) or not 0 <= cards <= most:
        raise OptionError(f"cards={brief(cards)}: expected a whole number from 0 to {most}")
    dealt, tables = dealer_seat(dealer, rules), compile_tables(rules)
    held, partners = (hand_kinds(hands[0, player]) for player in (seat, seat ^ 2))
    given, passed = (sorted(set(combinations(kinds, cards))) for kinds in (held, partners))
    if rules.exchange_seen == "open" and cards:
        return _best_open_exchange(hands[0], rules, seat, strain, cards, dealer, memory)
    rests = [hand_bits((Counter(held) - Counter(chosen)).elements()) for chosen in given]
    best = np.zeros(2, np.int64)

    def work(searcher: Searcher, *_: int) -> int:
        values.set_contracts(searcher.states, tables, hands, dealt, seat, suit, 1)
        choices = np.array(rests), np.array(passed, np.int64)
        return int(values.best_exchange(searcher, tables, *choices, best))

    tricks = run(work, [(0, 1)], memory)[0]
    gives, passes = (
        tuple(hand_names(hand_bits(kinds))) for kinds in (given[best[0]], passed[best[1]])
    )
    return Exchange(gives, passes, tricks)


def _best_open_exchange(
    hands: Array, rules: Rules, seat: int, strain: str, cards: int, dealer: Any, memory: Any
) -> Exchange:
    """Return the result of `best_exchange` if partner may return some of the cards given.

    It is the best exchange of at most `cards` cards; further cards are given and returned.
    """
    blind = rules.replace(exchange_seen="blind")
    options: dict[str, Any] = {"declarer": seat, "strain": strain, "dealer": dealer}
    exchanges = [
        best_exchange(hands, blind, cards=n, memory=memory, **options) for n in range(cards, -1, -1)
    ]
    best = max(exchanges, key=lambda exchange: exchange.tricks)
    left = Counter(hand_names(hands[seat])) - Counter(best.given)
    returned = tuple(left.elements())[: cards - len(best.given)]
    return Exchange(best.given + returned, best.passed + returned, best.tricks)
