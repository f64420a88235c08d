"""Kernels that convert decisions to the 0/1 inputs of networks (see `features`).

They list the indices of the inputs that are 1, in an array `active`, int64 (1, size + 1). About 60
of some 400 inputs are 1, so a first layer is fastest as a sum over the list; `pack_rows`
writes dense rows, as bits.

Each `put_` kernel appends indices to the list. `n` is the length of the list before, the result the
length after. `at` is the first index of a block of inputs, and `symmetry` the number (0 to 7) of
the renaming of suits (see `suits`). `t` are the game's tables. `p` are the first indices of the
blocks of inputs (`features.PLACES`). `view` is that of the seat `seat` in the state `s`.
"""

from __future__ import annotations

from typing import NamedTuple

from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.core.state import GIVING, NAMING, PLAY
from bideuchre_env.core.view import count, count_held, see_entries
from bideuchre_env.learning.suits import RENAMED, SUIT_MAPS, first_renamings, smallest
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import COPY_SHIFT, LOW, MAX_TRICKS, N_SEATS, N_SUITS, NO_TRUMP
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, inline_kernel, kernel

COUNTED = 8  # values of a count of cards: 0 to 6, and 7 for 7 or more


class Written(NamedTuple):
    """Features of n rows, from `Features.pack` with packed inputs: F inputs and O outputs a row.

    `Features.unpack` unpacks the inputs.
    """

    inputs: Array  #: uint8 (n, (F + 7) // 8)
    legal: Array  #: int8 (n, O)
    symmetries: Array  #: int64 (n,): the number of the renaming of suits, 0 to 7


class FeatureWorkspace(NamedTuple):
    """Tables and scratch for computing the inputs of decisions.

    The scratch has one row, or a row for each thread.
    """

    tables: Array
    offsets: Array  # of the observation's blocks
    places: Array  # `features.PLACES`: of one part, or of "auction" and "cards"
    renamed: Array  # int64 [symmetry, action]: the action with its suit renamed
    originals: Array  # int64 [symmetry, renamed action]: the action
    known: Array  # `STATE`: the knowledge of an observing seat, rewritten by each decision
    views: Array  # `view.VIEW`, rewritten by each decision
    active: Array  # int64 (rows, size + 1): the inputs that are 1, rewritten by each decision


@inline_kernel
def put_one(active: Array, n: int, at: int) -> int:
    """Append the index `at` to the list; return the new length of the list."""
    active[0, n] = at
    return n + 1


@inline_kernel
def put_number(active: Array, n: int, at: int, value: int, most: int) -> int:
    """Append index `at` + `value` (one-hot), with `value` clipped to the range 0 to `most`."""
    return put_one(active, n, at + min(max(value, 0), most))


@inline_kernel
def renamed_kind(kind: int, symmetry: int) -> int:
    """Return the card kind with its suit renamed by a symmetry."""
    return (kind & ~3) + SUIT_MAPS[symmetry, kind & 3]


@kernel
def put_kinds(active: Array, n: int, at: int, kinds: int, symmetry: int) -> int:
    """Append index `at` + kind for each kind of a set (bits), after renaming the suits."""
    while kinds:
        kind = lowest_bit(kinds)
        kinds &= kinds - 1
        n = put_one(active, n, at + renamed_kind(kind, symmetry))
    return n


@kernel
def put_suits(active: Array, n: int, at: int, suits: int, symmetry: int) -> int:
    """Append index `at` + suit for each suit of a set (bits), after renaming the suits."""
    suits = RENAMED[symmetry, suits & 15]
    while suits:
        n = put_one(active, n, at + lowest_bit(suits))
        suits &= suits - 1
    return n


@inline_kernel
def put_strain(active: Array, n: int, at: int, strain: int, symmetry: int) -> int:
    """Append index `at` + strain after renaming its suit; append nothing if the strain is -1."""
    if strain < 0:
        return n
    return put_one(active, n, at + strain_map(strain, symmetry))


@inline_kernel
def strain_map(strain: int, symmetry: int) -> int:
    """Return the strain after the renaming of suits; no trump is unchanged."""
    return SUIT_MAPS[symmetry, strain] if strain < NO_TRUMP else strain


@kernel
def active_inputs(observation: Array, rename: bool, work: FeatureWorkspace) -> tuple[int, int]:
    """Read an observation into `work.views`, and list its inputs that are 1 in `work.active`.

    Returns the length of the list and the number of the renaming of suits, as `list_inputs` does.
    """
    t, known, view = work.tables[0], work.known[0], work.views[0]
    see_entries(observation, t, work.offsets[0], known, view)
    return list_inputs(known, t, 0, work.places[0], view, rename, work.active)


@kernel
def list_inputs(
    s: State, t: Tables, seat: int, p: Row, view: View, rename: bool, active: Array
) -> tuple[int, int]:
    """Write the indices of all inputs that are 1 to row 0 of `active`.

    Returns how many they are, and the number of the renaming of suits. The number is 0, the
    identity, if `rename` is False. `view` must be that of the seat in state `s` (`core.view.see`).
    """
    symmetry = 0
    if rename:
        symmetry = lowest_bit(renamings(s, seat, p, view))
    n = put_kinds(active, 0, p.held, view.held, symmetry)
    if p.held_pair >= 0:
        n = put_kinds(active, n, p.held_pair, view.held_pair, symmetry)
    n = put_one(active, n, p.dealer + (max(view.dealer, 0)))
    for rel in range(N_SEATS):
        if view.calls[rel] >= 0:
            n = put_one(active, n, p.calls + rel * (1 + t.n_levels) + view.calls[rel])
        if p.call_strains >= 0:
            at = p.call_strains + t.n_strains * rel
            n = put_strain(active, n, at, view.call_strains[rel], symmetry)
    if p.cards == 1:
        n = put_contract(t, p, view, symmetry, active, n)
        n = put_exchange(s, p, view, symmetry, active, n)
        if view.phase == PLAY:
            n = put_trick(s, t, seat, p, view, symmetry, active, n)
        return n, symmetry
    return put_auction(t, p, view, symmetry, active, n), symmetry


@kernel
def renamings(s: State, seat: int, p: Row, view: View) -> int:
    """Return the renamings of suits to choose from, as bits: the inputs are the same for all.

    They map the hand to the smallest hand number and, if there are several, then the strains of the
    calls, and in the part "cards" the other cards and suits that are inputs.
    """
    strain = view.strain if p.cards == 1 else -1
    rest = smallest(first_renamings(strain), view.held | view.held_pair << COPY_SHIFT)
    if rest & (rest - 1) == 0:
        return rest
    suits = 0  # sets of suits, four bits each
    for rel in range(N_SEATS):
        if 0 <= view.call_strains[rel] < NO_TRUMP:
            suits |= 1 << (4 * rel + view.call_strains[rel])
    if p.cards == 0:
        return smallest(rest, suits)
    rest = smallest(rest, view.unseen | view.unseen_pair << COPY_SHIFT)
    if p.given >= 0:
        rest = smallest(rest, given_kinds(s, view) | view.received << COPY_SHIFT)
    if view.phase == PLAY:
        for rel in range(1, N_SEATS):
            suits |= view.void[rel] << (12 + 4 * rel)
            rest = smallest(rest, played_by(s, (seat + rel) & 3))
        if view.led >= 0:
            suits |= 1 << (28 + view.led)
    return smallest(rest, suits)


@inline_kernel
def played_by(s: State, seat: int) -> int:
    """Return the kinds that a seat has played, as bits."""
    kinds = 0
    for trick in range(s.trick + 1):
        kind = s.plays[seat * MAX_TRICKS + trick]
        kinds |= 1 << kind if kind >= 0 else 0
    return kinds


@inline_kernel
def given_kinds(s: State, view: View) -> int:
    """Return the kinds that the seat of the view has given up as declarer, as bits."""
    kinds = 0
    for i in range(MAX_EXCHANGE if view.declarer == 0 else 0):
        kinds |= 1 << s.given[i] if s.given[i] >= 0 else 0
    return kinds


@kernel
def put_auction(t: Tables, p: Row, view: View, symmetry: int, active: Array, n: int) -> int:
    """Append the inputs that only the part "auction" has.

    They say whether the strain is to be named; for each suit as trump, which bowers and how many
    trumps the hand has; and for each strain, how many side aces and side voids.
    """
    if view.phase == NAMING:
        n = put_one(active, n, p.naming)
    for suit in range(N_SUITS):
        place = SUIT_MAPS[symmetry, suit]
        trumps = count_held(view, t.suit_bits[suit, suit])
        n = put_number(active, n, p.trumps + place * (t.tricks + 1), trumps, t.tricks)
        right = view.held >> t.ranked[suit, suit, 0] & 1
        left = view.held >> t.ranked[suit, suit, 1] & 1
        n = put_one(active, n, p.bowers + 4 * place + right + 2 * left)
    for strain in range(t.n_strains):
        place = (1 + N_SUITS) * strain_map(strain, symmetry)
        aces, voids = 0, 0
        for suit in range(N_SUITS):
            if suit != strain:
                aces += view.held >> t.ranked[strain, suit, 0] & 1
                voids += 1 if view.held & t.suit_bits[strain, suit] == 0 else 0
        n = put_one(active, n, p.side_aces + place + aces)
        n = put_one(active, n, p.side_voids + place + voids)
    return n


@kernel
def put_contract(t: Tables, p: Row, view: View, symmetry: int, active: Array, n: int) -> int:
    """Append the contract, the tricks won and still needed, and the unseen cards.

    Also appends the numbers of cards held and unseen in each suit.
    """
    n = put_number(active, n, p.bid, view.level, t.n_levels - 1)
    n = put_number(active, n, p.declarer, view.declarer, 3)
    if view.strain >= NO_TRUMP:
        n = put_one(active, n, p.no_trump)
        if view.strain == LOW:
            n = put_one(active, n, p.low)
    ours, theirs = view.tricks_won[0], view.tricks_won[1]
    n = put_number(active, n, p.ours, ours, t.tricks)
    n = put_number(active, n, p.theirs, theirs, t.tricks)
    won = theirs if view.declarer & 1 else ours
    missing = t.need[max(view.level, 0)] - won
    n = put_number(active, n, p.missing, missing, t.tricks)
    left = t.tricks - ours - theirs
    n = put_number(active, n, p.spare, 1 + left - missing, t.tricks + 1)
    for suit in range(4):
        at = COUNTED * SUIT_MAPS[symmetry, suit]
        bits = t.suit_bits[max(view.strain, 0), suit]
        n = put_number(active, n, p.suit_held + at, count_held(view, bits), COUNTED - 1)
        n = put_number(active, n, p.suit_unseen + at, count(view, bits), COUNTED - 1)
    n = put_kinds(active, n, p.unseen, view.unseen, symmetry)
    if p.unseen_pair >= 0:
        n = put_kinds(active, n, p.unseen_pair, view.unseen_pair, symmetry)
    return n


@kernel
def put_exchange(s: State, p: Row, view: View, symmetry: int, active: Array, n: int) -> int:
    """Append the phase and, in games with an exchange, the exchanged cards the player knows of.

    These are the cards given up by the player and the cards that partner passed to the declarer.
    """
    n = put_number(active, n, p.phase, view.phase - GIVING, 2)
    if p.given >= 0:
        n = put_kinds(active, n, p.given, given_kinds(s, view), symmetry)
        n = put_kinds(active, n, p.received, view.received, symmetry)
    return n


@kernel
def put_trick(
    s: State, t: Tables, seat: int, p: Row, view: View, symmetry: int, active: Array, n: int
) -> int:
    """Append the current trick, and the other seats' cards played and known voids.

    Also appends which held cards are boss or nearly boss (see `features`), and which legal ones
    beat the trick.
    """
    strain, power = max(view.strain, 0), 0
    if view.led >= 0:
        n = put_one(active, n, p.led + SUIT_MAPS[symmetry, view.led])
        if view.winning_kind >= 0:
            n = put_kinds(active, n, p.winning_kind, 1 << view.winning_kind, symmetry)
            power = t.power[strain, view.led, view.winning_kind]
        n = put_number(active, n, p.winning_seat, view.winning - 1, 2)
    else:
        n = put_one(active, n, p.led + 4)
    for rel in range(1, N_SEATS):
        if view.after >> rel & 1:
            n = put_one(active, n, p.after + rel - 1)
        n = put_suits(active, n, p.voids + 4 * (rel - 1), view.void[rel], symmetry)
        played = played_by(s, (seat + rel) & 3)
        n = put_kinds(active, n, p.played + t.kinds * (rel - 1), played, symmetry)
    follow = view.held & t.suit_bits[strain, view.led] if view.led >= 0 else 0
    legal = follow if follow else view.held
    held = view.held
    while held:
        kind = lowest_bit(held)
        held &= held - 1
        place = renamed_kind(kind, symmetry)
        above = count(view, t.above[strain, kind])
        if above == 0:
            n = put_one(active, n, p.boss + place)
        elif above == 1:
            n = put_one(active, n, p.near_boss + place)
        if view.led >= 0 and legal >> kind & 1 and t.power[strain, view.led, kind] > power:
            n = put_one(active, n, p.beating + place)
    return n


@inline_kernel
def output_of(work: FeatureWorkspace, symmetry: int, action: int) -> int:
    """Return the index of the network's output for an action, after the renaming of suits.

    `work` is that of the action's part of the hand.
    """
    return work.renamed[symmetry, action] - work.places[0].cards * work.tables[0].card_offset


@inline_kernel
def action_of(work: FeatureWorkspace, symmetry: int, output: int) -> int:
    """Return the number of the action for an output's index: the inverse of `output_of`."""
    return work.originals[symmetry, output + work.places[0].cards * work.tables[0].card_offset]


@kernel
def list_legal(mask: Array, work: FeatureWorkspace, symmetry: int, legal: Array, i: int) -> None:
    """Write to row i of `legal`, int8 (n, O), 1 for outputs that an action mask allows, else 0.

    `mask`, int8 (A,), covers all actions of the game; `work` is that of a part of the hand.
    """
    t, cards = work.tables[0], work.places[0].cards == 1
    low, high = (t.card_offset, t.n_actions) if cards else (0, t.card_offset)
    for action in range(low, high):
        legal[i, output_of(work, symmetry, action)] = mask[action]


@entry_kernel
def pack_rows(
    observations: Array, masks: Array, rename: bool, out: Written, work: FeatureWorkspace
) -> None:
    """Write the features of n rows of observations and masks to `out`, as `Features.pack` does.

    The inputs, bits of uint8 (n, (F + 7) // 8), must be zero before. The first of eight inputs is
    the highest bit of a byte. The arrays are not checked.
    """
    for i in range(len(observations)):
        n, symmetry = active_inputs(row_of(observations, i), rename, work)
        for j in range(n):
            at = work.active[0, j]
            out.inputs[i, at >> 3] |= 128 >> (at & 7)
        list_legal(row_of(masks, i), work, symmetry, out.legal, i)
        out.symmetries[i] = symmetry
