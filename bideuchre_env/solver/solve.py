"""Solving of one position (`solve`, `solve_moves`, `can_make`) or of many (`solve_batch`).

Deals are independent and each is solved with an empty transposition table, so neither the number
of threads nor the size of the tables changes any answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, check_flag, is_number, is_whole
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError, PositionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import MAX_KINDS, N_SEATS, parse_strain
from bideuchre_env.rules.parse import parse_seat
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.jit import Array
from bideuchre_env.runtime.threads import check_threads
from bideuchre_env.solver import values
from bideuchre_env.solver.inputs import check_rows, hands_of_deals, position_of
from bideuchre_env.solver.transpositions import Searcher, new_searcher

DEFAULT_MEMORY = 64
"""Megabytes of transposition table that a thread uses by default."""
MOST_MEMORY = 1 << 16
MOST_THREADS = 256
LOOK_UP_SECONDS = 0.2

Span = tuple[int, int]
_idle_searchers: list[Searcher] = []  # of the default size, for the next call
CHUNK_WORK = 200_000
"""Approximate work of a chunk of rows, the unit that threads take (4**tricks a row)."""


def solve(
    position: Any,
    *,
    rules: Rules | None = None,
    ply: int | None = None,
    hand: int | None = None,
    memory: float | None = None,
) -> int:
    """Return the tricks the side to act still takes if all play their best with all hands seen.

    The current trick is included (double dummy).

    Args:
        position: an environment (raw or wrapped) in the play of the cards; a state row, with
            `rules`; or a `GameRecord`, with `ply`.
        rules: the rules of a state row.
        ply: the number of the next action of a record, from 0, in the whole game or in `hand`.
        hand: the number of a hand of a record, from 0. With None, `ply` counts in the whole game.
        memory: the maximum size of the transposition table in megabytes, 64 by default.

    Raises:
        PositionError: for any other position.
        RecordError: for a record that does not replay.
        OptionError: for invalid `memory`.

    Example:
        solver.solve(env)
        solver.solve(record, hand=0, ply=20)
    """
    states, game = position_of(position, rules, ply, hand)
    return int(_solve_rows(states, game, memory, 1, False)[0])


def solve_moves(
    position: Any,
    *,
    rules: Rules | None = None,
    ply: int | None = None,
    hand: int | None = None,
    memory: float | None = None,
) -> dict[int, int]:
    """Return the tricks the side to act still takes after each legal card.

    Args:
        position, rules, ply, hand, memory: those of `solve`; the errors are the same.

    Returns:
        A dict from each legal action (an integer) to the tricks, the current one included.
    """
    states, game = position_of(position, rules, ply, hand)
    by_kind = _solve_rows(states, game, memory, 1, True)[0]
    offset = actions.of(game).card_offset
    return {offset + int(kind): int(by_kind[kind]) for kind in np.flatnonzero(by_kind >= 0)}


def can_make(
    position: Any,
    tricks: int | None = None,
    *,
    rules: Rules | None = None,
    ply: int | None = None,
    hand: int | None = None,
    memory: float | None = None,
) -> bool:
    """Return whether the declarer's side can take `tricks` tricks in the hand, all hands seen.

    Args:
        tricks: the number of tricks, including those won; by default those of the contract.
        position, rules, ply, hand, memory: those of `solve`.

    Raises:
        PositionError: as `solve` does, and for a position without a contract.
        OptionError: for invalid `tricks` or `memory`.
    """
    states, game = position_of(position, rules, ply, hand)
    row = states[0]
    declarer, level = int(row["declarer"]), int(row["level"])
    if not 0 <= declarer < N_SEATS or (tricks is None and not 0 <= level < len(game.ladder)):
        raise PositionError("the position has no contract: expected one after the auction")
    if tricks is None:
        tricks = int(compile_tables(game)["need"][0][level])
    if not is_whole(tricks) or not 0 <= tricks <= game.tricks:
        raise OptionError(
            f"tricks={brief(tricks)}: expected a whole number from 0 to {game.tricks}"
        )
    side = declarer & 1
    more = tricks - int(row["tricks_won"][side])
    left = game.tricks - int(row["trick"])
    if more <= 0 or more > left:
        return more <= 0
    defends = (int(row["turn"]) & 1) != side
    if defends:  # the contract fails if the defenders take one more trick than it leaves them
        more = left - more + 1

    def work(searcher: Searcher, row: int, _: int) -> bool:
        return bool(values.reaches_row(searcher, states, compile_tables(game), row, more))

    return run(work, [(0, 1)], memory)[0] != defends


def solve_batch(
    deals: Any,
    rules: Rules,
    *,
    strain: str | None = None,
    declarer: int | None = None,
    alone: bool = False,
    dealer: int | None = None,
    moves: bool = False,
    threads: int | None = None,
    memory: float | None = None,
) -> Array:
    """Solve many positions, all hands seen. Ctrl-C stops it within a moment.

    Args:
        deals: state rows in play, shape (n,); or deals at the opening lead of the same contract:
            hand integers, int64 (n, 4), or a list of deals, each of four lists of card names.
        rules: the rules of the game.
        strain: the strain of the contract: "C", "D", "H", "S" or "NT". Deals require `strain` and
            `declarer`; with state rows, leave out `strain`, `declarer`, `alone` and `dealer`.
        declarer: the declarer's seat.
        alone: whether the declarer plays alone.
        dealer: the dealer's seat; required if the eldest hand leads.
        moves: whether to solve each legal card of a position.
        threads: the number of threads, by default all processors; it does not change results.
        memory: megabytes of transposition table for each thread, 64 by default.

    Returns:
        The tricks the side to act still takes, int8 (n,). With `moves`, the tricks after each card
            by kind, int8 (n, 24), -1 for a card that may not be played.

    Raises:
        PositionError, DealError, OptionError: for an invalid position, deal or argument.
    """
    check_flag("moves", moves)
    explicit = strain is not None or declarer is not None or alone or dealer is not None
    if isinstance(deals, np.ndarray) and deals.dtype.names:
        if explicit:
            raise OptionError(
                "strain, declarer, alone, dealer: expected only with deals, not with state rows"
            )
        return _solve_rows(check_rows(deals, rules), rules, memory, threads, moves)
    hands = hands_of_deals(deals, rules)
    states = _contracts(hands, rules, strain, declarer, alone, dealer)
    return _solve_rows(states, rules, memory, threads, moves)


def _contracts(
    hands: Array, rules: Rules, strain: Any, declarer: Any, alone: Any, dealer: Any
) -> Array:
    """Validate a contract; return a state row for each deal at the opening lead of the contract."""
    if strain is None or declarer is None:
        raise OptionError("deals: expected a contract, as strain='H' and declarer=0")
    check_flag("alone", alone)
    seat, suit = parse_seat("declarer", declarer), parse_strain(strain)
    states, tables = new_states(len(hands)), compile_tables(rules)
    values.set_contracts(states, tables, hands, dealer_seat(dealer, rules), seat, suit, int(alone))
    return states


def dealer_seat(dealer: Any, rules: Rules) -> int:
    """Return the validated dealer's seat, or -1 for None.

    Raises `OptionError` for anything but a seat or None, and for None if the rules let the eldest
    hand lead, because the dealer decides that seat.
    """
    if dealer is not None:
        return parse_seat("dealer", dealer)
    if rules.opening_lead == "eldest":
        raise OptionError(
            "dealer=None: expected a seat, because the eldest hand leads in this game"
        )
    return -1


def _solve_rows(states: Array, rules: Rules, memory: Any, threads: Any, moves: bool) -> Array:
    """Solve validated state rows; return the array that `solve_batch` describes."""
    shape = (len(states), MAX_KINDS) if moves else (len(states),)
    out, tables = np.zeros(shape, np.int8), compile_tables(rules)

    def work(searcher: Searcher, first: int, last: int) -> None:
        if moves:
            values.solve_moves_rows(searcher, states, tables, first, last, False, out)
        else:
            values.solve_rows(searcher, states, tables, first, last, out)

    run(work, spans(len(states), rules), memory, threads)
    return out


def spans(n: int, rules: Rules, cost: int = 1) -> list[Span]:
    """Split n rows into ranges (first, last), the units of work of threads.

    `cost` is the number of positions that are solved for a row.
    """
    each = max(1, CHUNK_WORK // (cost * 4**rules.tricks))
    return [(first, min(first + each, n)) for first in range(0, n, each)]


def check_memory(memory: Any) -> float:
    """Return the megabytes per thread: 64 for None; `OptionError` unless from 1 to 65,536."""
    if memory is None:
        return DEFAULT_MEMORY
    if not is_number(memory) or not 1 <= memory <= MOST_MEMORY:
        raise OptionError(
            f"memory={brief(memory)}: expected megabytes per thread, from 1 to {MOST_MEMORY}"
        )
    return float(memory)


def threads_of(threads: Any) -> int:
    """Return the number of threads: one per processor for None, up to 256.

    Raises `OptionError` for any other value than a whole number from 1 to 256.
    """
    if threads is None:
        return min(os.cpu_count() or 1, MOST_THREADS)
    return check_threads(threads, MOST_THREADS)


def run(
    work: Callable[[Searcher, int, int], Any], spans: list[Span], memory: Any, threads: Any = 1
) -> list[Any]:
    """Call `work(searcher, first, last)` for every span in threads; return results in order.

    Each span is a pair (first, last), and each thread has its own searcher. `memory` (megabytes for
    each thread) and `threads` are validated here. Ctrl-C, or an error in `work`, stops the running
    searches and is raised.
    """
    size, n = check_memory(memory), threads_of(threads)
    searchers = [_searcher(size) for _ in range(min(n, max(1, len(spans))))]
    free = searchers.copy()

    def task(span: Span) -> Any:
        searcher = free.pop()
        try:
            return work(searcher, *span)
        finally:
            free.append(searcher)

    pool = ThreadPoolExecutor(len(searchers), thread_name_prefix="bideuchre-solver")
    try:
        with ctrl_c() as pressed:
            futures = [pool.submit(task, span) for span in spans]
            pending = set(futures)
            while pending:
                done, pending = wait(pending, LOOK_UP_SECONDS, FIRST_EXCEPTION)
                if pressed.is_set():
                    raise KeyboardInterrupt
                for future in done:
                    future.result()
    finally:
        for searcher in searchers:
            searcher.position["stop"] = 1
        pool.shutdown(wait=True, cancel_futures=True)
        if size == DEFAULT_MEMORY:
            _idle_searchers.extend(searchers)
    return [future.result() for future in futures]


def _searcher(memory: float) -> Searcher:
    try:
        searcher = _idle_searchers.pop() if memory == DEFAULT_MEMORY else new_searcher(memory)
    except IndexError:
        searcher = new_searcher(memory)
    searcher.position["stop"] = 0
    return searcher
