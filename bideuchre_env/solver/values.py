"""Exact values: of a position, of each card that may be played in it, of every contract.

Kernels for other kernels: they take a state row in play, its tables, a board (`new_board`) and a
transposition table (`new_memory`). Every position of one strain with the same seats playing may
share what the table holds; `forget` before the first, and whenever either changes.
"""

from __future__ import annotations

from bideuchre_env.core.phases.deal import begin_hand
from bideuchre_env.core.phases.play import begin_play
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel
from bideuchre_env.solver.move_order import equal_to_below, playable
from bideuchre_env.solver.position import end_trick, put_down, set_up
from bideuchre_env.solver.search import search
from bideuchre_env.solver.transpositions import forget


@kernel
def value_from(
    b: Row, heads: Array, entries: Array, depth: int, place: int, seat: int, guess: int
) -> int:
    """The tricks side 0 takes of those not complete, sought from a guess on."""
    low, high = 0, b.left - depth
    goal = min(max(guess, 1), high)
    while low < high:
        if search(b, heads, entries, depth, place, seat, goal):
            low = goal
            goal = low + 1
        else:
            high = goal - 1
            goal = high
    return low


@kernel
def first_guess(b: Row) -> int:
    """What side 0 may take of the tricks left, near enough to start from."""
    left = b.left
    if b.places == 3:
        return left // 3 if b.hands[0, 0] == 0 or b.hands[0, 2] == 0 else left
    return (left + 1) // 2 + (0 if b.seat & 1 else 1) * (left // 4)


@kernel
def solve_position(b: Row, heads: Array, entries: Array) -> int:
    """The tricks side 0 still takes on a board that is set up, the current one included."""
    return value_from(b, heads, entries, 0, b.place, b.seat, first_guess(b))


@kernel
def value_after(b: Row, heads: Array, entries: Array, card: int, value: int) -> int:
    """The tricks side 0 takes of those not complete at the root once this card is played.

    `value` is what it takes if the seat to act plays its best card.
    """
    seat, place = b.seat, b.place
    put_down(b, 0, place, seat, card)
    depth, won, after = 0, 0, b.next[seat]
    if place + 1 < b.places:
        place += 1
    else:
        end_trick(b, 0)
        after = b.best_seats[0, place + 1]
        won, depth, place = 1 - (after & 1), 1, 0
    most = b.left - depth
    rest = min(max(value - won, 0), most)
    if seat & 1 == 0:  # side 0 takes `value` at most
        while rest > 0 and not search(b, heads, entries, depth, place, after, rest):
            rest -= 1
    else:
        while rest < most and search(b, heads, entries, depth, place, after, rest + 1):
            rest += 1
    return rest + won


@kernel
def solve_moves(
    s: Row, t: Row, b: Row, heads: Array, entries: Array, fresh: bool, out: Array
) -> int:
    """The tricks the side to act still takes after each card, the current trick included.

    Writes them by kind to `out`, int8 (24,), -1 where the card may not be played; gives the best.
    `fresh` forgets what the table holds, which must be of this strain and these seats otherwise.
    """
    set_up(b, t, s)
    if fresh:
        forget(b, heads, entries)
    out[:] = -1
    left, seat = b.left, b.seat
    value = solve_position(b, heads, entries)
    cards = playable(b, 0, b.place, seat)
    equal = equal_to_below(b.hands[0, seat], b.tie[0])
    known = value
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if equal >> card & 1 == 0:
            known = value_after(b, heads, entries, card, value)
        out[b.kind_at[card]] = left - known if seat & 1 else known
    return left - value if seat & 1 else value


@entry_kernel
def solve_rows(
    states: Array,
    tables: Array,
    first: int,
    last: int,
    boards: Array,
    heads: Array,
    entries: Array,
    out: Array,
) -> None:
    """For state rows in play: tricks the side to act still takes, to `out`, int8 (n,)."""
    b = boards[0]
    for i in range(first, last):
        set_up(b, tables[0], states[i])
        forget(b, heads, entries)
        value = solve_position(b, heads, entries)
        out[i] = b.left - value if b.seat & 1 else value


@entry_kernel
def solve_moves_rows(
    states: Array,
    tables: Array,
    first: int,
    last: int,
    boards: Array,
    heads: Array,
    entries: Array,
    shared: bool,
    out: Array,
) -> None:
    """The same after each card: to `out`, int8 (n, 24), see `solve_moves`.

    `shared` keeps what the table holds from row to row: for rows of one strain, in which the same
    seats play.
    """
    for i in range(first, last):
        fresh = i == first or not shared
        solve_moves(states[i], tables[0], boards[0], heads, entries, fresh, out[i])


@entry_kernel
def reaches_row(
    states: Array,
    tables: Array,
    row: int,
    wanted: int,
    boards: Array,
    heads: Array,
    entries: Array,
) -> bool:
    """Whether the side to act can still take so many tricks (1 to those left) in a state row."""
    b = boards[0]
    set_up(b, tables[0], states[row])
    forget(b, heads, entries)
    return reaches(b, heads, entries, b.seat & 1, wanted)


@kernel
def reaches(b: Row, heads: Array, entries: Array, side: int, wanted: int) -> bool:
    """Whether a side can still take so many tricks on a board that is set up."""
    place, seat = b.place, b.seat
    if side == 0:
        return search(b, heads, entries, 0, place, seat, wanted)
    return not search(b, heads, entries, 0, place, seat, b.left - wanted + 1)


@kernel
def set_contract(
    s: Row, t: Row, hands: Array, dealer: int, declarer: int, strain: int, alone: int
) -> None:
    """Make a state row of four hands, int64 (4,), and a contract, at the opening lead.

    `dealer` may be -1 where the declarer leads.
    """
    for seat in range(4):
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
    """The same for every deal, hands int64 (n, 4), in its row."""
    for i in range(len(states)):
        set_contract(states[i], tables[0], hands[i], dealer, declarer, strain, alone)


@entry_kernel
def solve_table(
    states: Array,
    tables: Array,
    hands: Array,
    dealers: Array,
    first: int,
    last: int,
    boards: Array,
    heads: Array,
    entries: Array,
    out: Array,
) -> None:
    """For deals, int64 (n, 4): tricks of the declarer's side by contract, int8 (n, 2, 4, 5).

    The axes are with partner or alone, declarer, strain. `dealers`, int64 (n,). `states` is one
    row of working room.
    """
    s, t, b = states[0], tables[0], boards[0]
    eldest = t.eldest_leads == 1
    for i in range(first, last):
        for strain in range(5):
            for alone in range(2):
                for declarer in range(4):
                    if eldest and alone == 0 and declarer > 0:  # the same lead, whoever declares
                        all_tricks, first_out = t.tricks, out[i, 0, 0, strain]
                        value = all_tricks - first_out if declarer & 1 else first_out
                        out[i, 0, declarer, strain] = value
                        continue
                    set_contract(s, t, hands[i], dealers[i], declarer, strain, alone)
                    set_up(b, t, s)
                    if alone or declarer == 0:
                        forget(b, heads, entries)
                    value = solve_position(b, heads, entries)
                    out[i, alone, declarer, strain] = b.left - value if declarer & 1 else value


@entry_kernel
def best_of_exchanges(
    states: Array,
    tables: Array,
    hands: Array,
    given: Array,
    passed: Array,
    first: int,
    contract: Array,
    best: int,
    boards: Array,
    heads: Array,
    entries: Array,
    found: Array,
) -> int:
    """The most tricks a lone declarer takes after any of these exchanges, `best` at least.

    `given` and `passed`, int64 (n, 2) and (m, 2), are the declarer's and the partner's hands after
    (column 0) and the cards that changed places (1). The exchange `given[i]` with `passed[j]`,
    i = `first`, that takes more than `best` is written to `found`, int64 (2,). `contract` is
    (dealer, declarer, strain).
    """
    s, t, b = states[0], tables[0], boards[0]
    dealer, declarer, strain = contract[0], contract[1], contract[2]
    for j in range(len(passed)):
        set_contract(s, t, hands, dealer, declarer, strain, 1)
        s.hands[declarer] = join(given[first, 0], passed[j, 1])
        set_up(b, t, s)
        if first == 0 and j == 0:  # later exchanges leave the same enemies and the same strain
            forget(b, heads, entries)
        while best < b.left and reaches(b, heads, entries, declarer & 1, best + 1):
            best += 1
            found[0] = first
            found[1] = j
        if best == b.left or b.stop:
            break
    return best


@kernel
def join(hand: int, cards: int) -> int:
    """Two hand integers as one; no card is held more than twice."""
    low = (1 << 24) - 1
    once, more = hand & low, cards & low
    pairs = (hand >> 24) | (cards >> 24) | (once & more)
    return (once | more) | pairs << 24
