"""Kernels for exact tricks: of a position, after each legal card, and of every contract of a deal.

They take a `Searcher`, and validated state rows in the card play with the tables of their rules.
Positions of one strain in which the same seats play may share the transposition table: call
`forget` before the first, and whenever the strain or the seats change.
"""

from __future__ import annotations

from bideuchre_env.core.hands import put
from bideuchre_env.core.phases.deal import begin_hand
from bideuchre_env.core.phases.play import begin_play
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.tables import ELDEST_LEADS
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel
from bideuchre_env.solver.move_order import equal_to_below, playable
from bideuchre_env.solver.position import Position, end_trick, put_down, set_up
from bideuchre_env.solver.search import search
from bideuchre_env.solver.transpositions import Searcher, forget


@kernel
def first_guess(position: Position) -> int:
    """Estimate the remaining tricks of side 0, the first goal that `solve_position` searches."""
    left = position.left
    if position.places == 3:
        return left // 3 if position.hands[0, 0] == 0 or position.hands[0, 2] == 0 else left
    return (left + 1) // 2 + (0 if position.seat & 1 else 1) * (left // 4)


@kernel
def tricks_from(searcher: Searcher, depth: int, place: int, seat: int, guess: int) -> int:
    """Return the tricks that side 0 still takes of those not complete at `depth`.

    `seat` is to play; the cards of the trick before `place` are on the table. `guess` is the first
    number tried.
    """
    low, high = 0, searcher.position[0].left - depth
    goal = min(max(guess, 1), high)
    while low < high:
        if search(searcher, depth, place, seat, goal):
            low = goal
            goal = low + 1
        else:
            high = goal - 1
            goal = high
    return low


@kernel
def solve_position(searcher: Searcher) -> int:
    """Return the tricks that side 0 still takes from the root position, the current one included.

    `set_up` must have initialised `searcher.position`.
    """
    position = searcher.position[0]
    return tricks_from(searcher, 0, position.place, position.seat, first_guess(position))


@kernel
def of_side(position: Position, seat: int, tricks: int) -> int:
    """Convert the number of remaining tricks that side 0 takes to the number for a seat's side."""
    return position.left - tricks if seat & 1 else tricks


@kernel
def play_at_root(position: Position, card: int) -> tuple[int, int, int, int]:
    """Let the seat to act play this card at the root.

    Returns the depth, place and seat of the search that follows, and the tricks that side 0 has
    won.
    """
    place = position.place
    put_down(position, 0, place, position.seat, card)
    if place + 1 < position.places:
        return 0, place + 1, position.next[position.seat], 0
    end_trick(position, 0)
    winner = position.best_seats[0, place + 1]
    return 1, 0, winner, 1 - (winner & 1)


@kernel
def value_after(searcher: Searcher, card: int, value: int) -> int:
    """Return the tricks that side 0 still takes if the seat to act plays this card at the root.

    The current trick is included. `value` is the number after the seat's best card; the search
    starts there.
    """
    position = searcher.position[0]
    depth, place, after, won = play_at_root(position, card)
    most = position.left - depth
    rest = min(max(value - won, 0), most)
    if position.seat & 1 == 0:  # side 0 takes `value` at most
        while rest > 0 and not search(searcher, depth, place, after, rest):
            rest -= 1
    else:
        while rest < most and search(searcher, depth, place, after, rest + 1):
            rest += 1
    return rest + won


@kernel
def tricks_after(searcher: Searcher, card: int, guess: int) -> int:
    """Return the tricks that side 0 still takes after any card of the seat to act.

    `guess` is the first number tried.
    """
    depth, place, after, won = play_at_root(searcher.position[0], card)
    return won + tricks_from(searcher, depth, place, after, guess - won)


@kernel
def solve_moves(searcher: Searcher, s: State, t: Tables, fresh: bool, out: Array) -> int:
    """Return the most tricks the side to act can still win, the current trick included.

    Writes the tricks after each card, by kind, to `out`, int8 (24,); -1 for an illegal card.
    `fresh` clears the transposition table; without it, the entries in the table must be of the same
    strain and the same seats playing.
    """
    position = searcher.position[0]
    set_up(position, t, s)
    if fresh:
        forget(searcher)
    out[:] = -1
    seat = position.seat
    value = solve_position(searcher)
    cards = playable(position, 0, position.place, seat)
    equal = equal_to_below(position.hands[0, seat], position.tie[0])
    after = value
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if equal >> card & 1 == 0:
            after = value_after(searcher, card, value)
        out[position.kind_at[card]] = of_side(position, seat, after)
    return of_side(position, seat, value)


@entry_kernel
def solve_rows(
    searcher: Searcher, states: Array, tables: Array, first: int, last: int, out: Array
) -> None:
    """Write the tricks that the side to act still takes to `out`, int8 (n,), for rows `first:last`.

    The transposition table is cleared for each row.
    """
    position = searcher.position[0]
    for i in range(first, last):
        set_up(position, tables[0], states[i])
        forget(searcher)
        out[i] = of_side(position, position.seat, solve_position(searcher))


@entry_kernel
def solve_moves_rows(
    searcher: Searcher,
    states: Array,
    tables: Array,
    first: int,
    last: int,
    shared: bool,
    out: Array,
) -> None:
    """Write the tricks after each card to `out`, int8 (n, 24), for rows `first:last`.

    See `solve_moves`. `shared` keeps the transposition table from row to row; it is correct only if
    all rows have the same strain and the same seats playing.
    """
    for i in range(first, last):
        solve_moves(searcher, states[i], tables[0], i == first or not shared, out[i])


@entry_kernel
def reaches_row(searcher: Searcher, states: Array, tables: Array, row: int, tricks: int) -> bool:
    """Whether the side to act can still win this many tricks (1 to those left) in a state row."""
    position = searcher.position[0]
    set_up(position, tables[0], states[row])
    forget(searcher)
    return reaches(searcher, position.seat & 1, tricks)


@kernel
def reaches(searcher: Searcher, side: int, tricks: int) -> bool:
    """Whether a side can still win this many tricks from the root that `set_up` initialised."""
    position = searcher.position[0]
    place, seat = position.place, position.seat
    if side == 0:
        return search(searcher, 0, place, seat, tricks)
    return not search(searcher, 0, place, seat, position.left - tricks + 1)


@kernel
def set_contract(
    s: State, t: Tables, hands: Array, dealer: int, declarer: int, strain: int, alone: int
) -> None:
    """Write a state row at the opening lead of a contract, with these hands, int64 (4,).

    `dealer` may be -1 if the declarer leads. `alone` is 1 for a lone declarer. `s.level` is -1.
    """
    for seat in range(N_SEATS):
        s.hands[seat] = hands[seat]
    s.dealer = max(dealer, 0)
    begin_hand(s)
    s.declarer = declarer
    s.strain = strain
    s.level = -1
    if alone:
        s.sitting_out = declarer ^ 2
    begin_play(s, t)


@entry_kernel
def set_contracts(
    states: Array, tables: Array, hands: Array, dealer: int, declarer: int, strain: int, alone: int
) -> None:
    """Write a state row for each deal, `hands` int64 (n, 4), all with the same contract."""
    for i in range(len(states)):
        set_contract(states[i], tables[0], hands[i], dealer, declarer, strain, alone)


@entry_kernel
def solve_table(
    searcher: Searcher, tables: Array, hands: Array, dealer: int, first: int, last: int, out: Array
) -> None:
    """Write the tricks of the declarer's side in every contract to `out`, for deals `first:last`.

    `hands` are int64 (n, 4). `out` is int8 (n, 2, 4, strains): deal, with partner (0) or alone (1),
    declarer, strain.
    """
    position, s, t = searcher.position[0], searcher.states[0], tables[0]
    for i in range(first, last):
        for strain in range(t.n_strains):
            for alone in range(2):
                value = 0
                for declarer in range(N_SEATS):
                    # if the eldest hand leads to four, the result does not depend on the declarer
                    if declarer == 0 or alone or t.opening_lead != ELDEST_LEADS:
                        set_contract(s, t, hands[i], dealer, declarer, strain, alone)
                        set_up(position, t, s)
                        if alone or declarer == 0:
                            forget(searcher)
                        value = solve_position(searcher)
                    out[i, alone, declarer, strain] = of_side(position, declarer, value)


@entry_kernel
def best_exchange(
    searcher: Searcher, tables: Array, rests: Array, passed: Array, best: Array
) -> int:
    """Return the most tricks that the lone declarer of `searcher.states` takes after an exchange.

    `rests`, int64 (n,), are declarer's hands without the cards given up; `passed`, int64 (m, c),
    are the kinds that partner may pass. The first best exchange, `rests[i]` and `passed[j]`, is
    written to `best` as (i, j). The declarer's hand in `searcher.states` is overwritten.
    """
    position, s, most = searcher.position[0], searcher.states[0], -1
    side = s.declarer & 1
    for i in range(len(rests)):
        for j in range(len(passed)):
            hand = rests[i]
            for c in range(passed.shape[1]):
                hand = put(hand, passed[j, c])
            s.hands[s.declarer] = hand
            set_up(position, tables[0], s)
            if i == 0 and j == 0:  # later exchanges leave the same enemies and the same strain
                forget(searcher)
            while most < position.left and reaches(searcher, side, most + 1):
                most += 1
                best[0] = i
                best[1] = j
            if most == position.left or position.stop:
                return most
    return most
