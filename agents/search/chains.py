"""Annealed Metropolis chains over worlds, in independent groups.

Tempered sequential Monte Carlo: groups of chains start at drawn worlds, and the exponent of the
likelihood rises from 0 to 1 while the chains are resampled by their weights and moved. A step of a
chain swaps some pairs of cards by a cheap surrogate of the likelihood, the *leanings* of cards to
seats (`fit_leanings`). The resulting world is weighed once, and accepted by the ratio of its
likelihood to the surrogate (Liu 2001, surrogate transition method). So the surrogate affects only
the speed of convergence. A *place* is a hidden hand, by its seat, a pile of exchanged cards
(`GIVEN_PILE`, `PASSED_PILE`), or a kitty that is not taken up yet (`KITTY_PILE`). `mixing` is the
record `MIXING`.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from bideuchre_env.agents.search.history import record_history
from bideuchre_env.agents.search.likelihood import UNLIKELY, seat_log
from bideuchre_env.agents.search.proposals import IMPOSSIBLE, ULP, random_below, random_share
from bideuchre_env.agents.search.workspace import MOST_SAMPLES, Mixing, SearchWorkspace
from bideuchre_env.agents.search.worlds import copy_hidden, draw_world, n_played
from bideuchre_env.core.hands import held, put, take
from bideuchre_env.core.observation.resample import (
    GIVEN_PILE,
    KITTY_PILE,
    PASSED_PILE,
    PLACES,
    Redeal,
    count_played,
    sort_kinds,
)
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.records import State
from bideuchre_env.core.state import PLAY
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import COPY_SHIFT, MAX_TRICKS, N_SEATS, NO_TRUMP
from bideuchre_env.runtime.intrinsics import lowest_bit, nth_bit, popcount
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel

NO_LIMIT = -1e18
LOWEST = -16.0  # weighing of a drawn hand stops below this log-likelihood
BISECTIONS = 12  # bisection steps for the next exponent
LEAST_RISE = 0.02  # minimum rise of the exponent
SWAPS = 6  # swaps of two cards in a step
RIDGE = 1.0  # ridge penalty of the leanings
NEWTON_STEPS = 3
MOST_STEP = 3.0  # limit of a coefficient's change in a Newton step
MOST_SUM = 12.0  # limit of a hand's summed leanings


@kernel
def log_uniform(mixing: Mixing) -> float:
    """Return the logarithm of a uniform random number between 0 and 1."""
    return log(random_share(mixing) + 0.5 * ULP)


@entry_kernel
def weigh_draws(space: SearchWorkspace, logs: Array, first: int, last: int) -> None:
    """Draw worlds `first` to `last` - 1, store them, and write their log-weights to `logs`.

    The log-weight is `UNLIKELY` if the drawn world is impossible. Weighed hands are recorded as
    samples for `fit_leanings`. The first call for a position must have `first` 0, which also
    records the history.
    """
    world = space.worlds[0]
    if first == 0:
        record_history(space)
        space.mixings[0].n_samples[:] = 0
    for j in range(first, last):
        row = space.stored[j]
        row.density = draw_world(space, j)
        copy_hidden(world, row)
        possible = row.density < IMPOSSIBLE
        logs[j] = -row.density if possible else UNLIKELY
        for seat in range(1, N_SEATS):
            row.logs[seat] = UNLIKELY
            if possible:
                row.logs[seat] = record_seat(space, seat, LOWEST)
                logs[j] += row.logs[seat]


def fit_leanings(space: SearchWorkspace, kinds: int) -> None:
    """Fit the leanings of cards to seats 1 to 3 from the samples of `record_seat`.

    They are written to `MIXING`. `kinds` is the number of kinds in the deck.
    """
    mixing, powers = space.mixings[0], space.mixings["powers"][0]
    samples = space.samples.reshape(N_SEATS, MOST_SAMPLES)
    for seat in range(1, N_SEATS):
        rows = samples[seat, : min(int(mixing["n_samples"][seat]), MOST_SAMPLES)]
        weights = logistic_fit(rows["hand"], powers[seat] * rows["log"], kinds)
        space.mixings["leanings"][0, seat, :kinds] = weights[:kinds]
        space.mixings["constants"][0, seat] = weights[kinds]


def logistic_fit(hands: Array, logs: Array, kinds: int) -> Array:
    """Fit a logistic model of a hand's likelihood, relative to the largest, from its cards.

    `hands`, int64 (n,), have the log-likelihoods `logs`, float64 (n,). The inputs are the copies
    held of each kind. Returns the coefficients of the kinds, then a constant, float64 (kinds + 1,).
    The fit is ridge-penalised, by Newton's method.
    """
    places = np.arange(kinds)
    cards = np.ones((len(hands), kinds + 1))
    hands = hands[:, np.newaxis]
    cards[:, :kinds] = (hands >> places & 1) + (hands >> (places + COPY_SHIFT) & 1)
    mean = cards[:, :kinds].mean(axis=0)
    cards[:, :kinds] -= mean
    chances = np.exp(logs - logs.max())
    share = min(max(float(chances.mean()), 0.001), 0.999)
    weights: Array = np.zeros(kinds + 1)
    weights[kinds] = np.log(share / (1.0 - share))
    ridge = np.append(np.full(kinds, RIDGE), 0.001)
    for _ in range(NEWTON_STEPS):
        guess = 1.0 / (1.0 + np.exp(-(cards @ weights).clip(-MOST_SUM, MOST_SUM)))
        slope = (chances - guess) @ cards - ridge * weights
        curve = (cards * (guess * (1.0 - guess) + 0.001)[:, np.newaxis]).T @ cards
        weights += np.linalg.solve(curve + np.diag(ridge), slope).clip(-MOST_STEP, MOST_STEP)
    weights[kinds] -= weights[:kinds] @ mean
    return weights


@entry_kernel
def weigh_chains(space: SearchWorkspace, n_chains: int) -> None:
    """Write the exact log-likelihoods of the first `n_chains` chains' worlds to `space.chains`.

    Also seeds the random stream, finds the places of unknown cards and clears the stored worlds.
    """
    space.mixings[0].word = mix(space.plans[0].stream + GOLDEN)
    space.mixings[0].n_stored = 0
    find_places(space)
    for i in range(n_chains):
        chain = space.chains[i]
        copy_hidden(chain, space.worlds[0])
        for seat in range(1, N_SEATS):
            chain.logs[seat] = seat_log(space, seat, NO_LIMIT)
        chain.stored_at = -1


def next_power(fixed: Array, rest: Array, most: float, share: float) -> float:
    """Return the rise of the annealing exponent after which the effective share is `share`.

    The effective share is the effective sample size over the number of particles, whose log-weights
    are `fixed` + rise * `rest`. The rise is at most `most` and, if `most` allows, at least
    `LEAST_RISE`.
    """

    def effective_share(rise: float) -> float:
        """Return the effective share of the particles after this rise."""
        logs = fixed + rise * rest
        weights = np.exp(logs - logs.max())
        return float(weights.sum() ** 2 / (weights * weights).sum() / weights.size)

    low, high = 0.0, most
    if effective_share(high) >= share:
        return most
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if effective_share(middle) >= share else (low, middle)
    return min(max(low, LEAST_RISE), most)


def systematic(weights: Array, n: int, offset: float) -> Array:
    """Systematic resampling: return n indices, int64, drawn in proportion to `weights`.

    `offset`, a random number in [0, 1), decides the draw. The indices are in rising order.
    """
    reached = np.cumsum(weights)
    marks = (np.arange(n) + offset) * (reached[-1] / n)
    return np.minimum(np.searchsorted(reached, marks), len(weights) - 1)


@kernel
def record_seat(space: SearchWorkspace, seat: int, least: float) -> float:
    """Return the result of `seat_log`; store it with the hand as a sample for `fit_leanings`.

    The samples are a ring buffer.
    """
    mixing, total = space.mixings[0], seat_log(space, seat, least)
    sample = space.samples[seat * MOST_SAMPLES + mixing.n_samples[seat] % MOST_SAMPLES]
    sample.hand = space.worlds[0].hands[seat]
    sample.log = total
    mixing.n_samples[seat] += 1
    return total


@kernel
def find_places(space: SearchWorkspace) -> None:
    """Record in `MIXING` the places of unknown cards, and whether the passed cards are hidden.

    The passed cards are hidden from the defenders once the play begins.
    """
    world, mixing, redeal = space.worlds[0], space.mixings[0], space.redeals[0]
    mixing.n_places = 0
    for place in range(1, PLACES):
        if redeal.room[place] > 0:
            mixing.places[mixing.n_places] = place
            mixing.n_places += 1
    defends = world.declarer >= 0 and world.declarer & 1 == 1
    hidden = defends and world.phase >= PLAY and world.passed[0] >= 0
    mixing.hides_passed = 1 if hidden else 0


@entry_kernel
def run_chains(
    space: SearchWorkspace, n_chains: int, first: int, last: int, weights: Array, keep: bool
) -> None:
    """Take the steps numbered `first` to `last` - 1 in each of the first `n_chains` chains.

    Even steps try `SWAPS` swaps, odd steps fewer. With `keep`, each chain's final world is stored,
    unless it is stored already, and its weight in `weights` increases by 1.
    """
    mixing = space.mixings[0]
    for i in range(n_chains):
        chain = space.chains[i]
        copy_hidden(chain, space.worlds[0])
        for step in range(first, last):
            take_step(space, chain, SWAPS if step & 1 == 0 else (SWAPS + 3) // 4)
        if not keep:
            continue
        if chain.stored_at < 0:
            chain.stored_at = mixing.n_stored
            space.stored[mixing.n_stored] = chain
            mixing.n_stored += 1
        weights[chain.stored_at] += 1.0


@kernel
def guess_of(total: float) -> float:
    """Return the log of the surrogate likelihood of a hand whose leanings sum to `total`.

    The surrogate is the logistic function of the sum.
    """
    return -log(1.0 + exp(-total)) if total > -MOST_SUM else total


@kernel
def add_leanings(world: State, mixing: Mixing) -> None:
    """Begin a step: set `sums` to constant plus leanings of each hidden hand, `gained` to 0."""
    mixing.gained = 0.0
    for seat in range(1, N_SEATS):
        total, hand = mixing.constants[seat], world.hands[seat]
        while hand:
            total += mixing.leanings[seat, lowest_bit(hand) % COPY_SHIFT]
            hand &= hand - 1
        mixing.sums[seat] = total


@kernel
def take_step(space: SearchWorkspace, chain: Row, swaps: int) -> None:
    """Make one Metropolis step of `swaps` swaps; the current world must be the chain's state.

    If the new world is accepted, it is written to `chain`; else the current world is restored.
    """
    world, mixing, changed, old = space.worlds[0], space.mixings[0], 0, 0.0
    add_leanings(world, mixing)
    for _ in range(swaps):
        if mixing.hides_passed == 1 and random_below(mixing, 4) == 0:
            changed |= change_passed(world, mixing)
        else:
            changed |= swap_cards(space, world, mixing)
    if changed == 0:
        return
    total, powers = 0.0, mixing.powers
    for seat in range(1, N_SEATS):
        old += powers[seat] * chain.logs[seat]
        if changed >> seat & 1 == 0:
            total += powers[seat] * chain.logs[seat]
    least = old + mixing.gained + log_uniform(mixing)
    for seat in range(1, N_SEATS):
        if changed >> seat & 1:
            mixing.logs[seat] = record_seat(space, seat, (least - total) / powers[seat])
            total += powers[seat] * mixing.logs[seat]
            if total < least:
                copy_hidden(chain, world)
                return
    for seat in range(1, N_SEATS):
        if changed >> seat & 1:
            chain.logs[seat] = mixing.logs[seat]
    chain.stored_at = -1
    copy_hidden(world, chain)


@kernel
def swap_cards(space: SearchWorkspace, world: State, mixing: Mixing) -> int:
    """Swap a random card of one place with one of another, if the surrogate accepts the swap.

    Returns the seats whose likelihood may change, as bits; 0 without a swap. Places and cards are
    chosen uniformly; copies of a card count as different cards.
    """
    if mixing.n_places < 2:
        return 0
    t, redeal, lean = space.players.tables[0], space.redeals[0], mixing.leanings
    one = random_below(mixing, mixing.n_places)
    other = random_below(mixing, mixing.n_places - 1)
    other += 1 if other >= one else 0
    one, other = mixing.places[one], mixing.places[other]
    i, j = pick_card(world, redeal, mixing, one), pick_card(world, redeal, mixing, other)
    first, second = kind_at(world, one, i), kind_at(world, other, j)
    strain = world.strain if world.strain >= 0 else NO_TRUMP
    if first == second:
        return 0
    if one < N_SEATS and world.voids[one] >> t.suit_of[strain, second] & 1:
        return 0
    if other < N_SEATS and world.voids[other] >> t.suit_of[strain, first] & 1:
        return 0
    new_one = mixing.sums[one] + lean[one, second] - lean[one, first]
    new_other = mixing.sums[other] + lean[other, first] - lean[other, second]
    gain = guess_of(new_one) + guess_of(new_other)
    gain -= guess_of(mixing.sums[one]) + guess_of(mixing.sums[other])
    if gain < 0.0 and log_uniform(mixing) > gain:
        return 0
    mixing.gained += gain
    mixing.sums[one] = new_one
    mixing.sums[other] = new_other
    return replace(world, mixing, one, i, second) | replace(world, mixing, other, j, first)


@kernel
def pick_card(world: State, redeal: Redeal, mixing: Mixing, place: int) -> int:
    """Choose a random unknown card of a place; return its kind, or its index if it is in a pile."""
    if place >= GIVEN_PILE:
        return random_below(mixing, redeal.room[place])
    hand, fixed = world.hands[place], redeal.known[place]
    while fixed:
        bit = nth_bit(fixed, 0)
        fixed &= fixed - 1
        hand = take(hand, bit % COPY_SHIFT)
    return nth_bit(hand, random_below(mixing, popcount(hand))) % COPY_SHIFT


@kernel
def kind_at(world: State, place: int, i: int) -> int:
    """Return the kind of the card that `pick_card` has chosen in a place; `i` is its result."""
    if place == GIVEN_PILE:
        return int(world.given[i])
    if place == PASSED_PILE:
        return int(world.passed[i])
    if place == KITTY_PILE:
        return int(world.kitty[i])
    return i


@kernel
def replace(world: State, mixing: Mixing, place: int, i: int, kind: int) -> int:
    """Replace the card that `pick_card` has chosen, `i`, by a card of this kind.

    Returns the seats whose likelihood may change, as bits. If the declarer's card was a hidden
    passed card, so is the new one.
    """
    declarer = world.declarer
    if place == GIVEN_PILE:
        world.given[i] = kind
        return 1 << declarer
    if place == PASSED_PILE:
        world.passed[i] = kind
        return 1 << ((declarer + 2) & 3)
    if place == KITTY_PILE:
        world.kitty[i] = kind
        sort_kinds(world.kitty)
        return 0
    changed = 1 << place
    if mixing.hides_passed == 1 and place == declarer and was_passed(world, mixing, i):
        for n in range(MAX_EXCHANGE):
            if world.passed[n] == i:
                world.passed[n] = kind
                changed |= 1 << ((declarer + 2) & 3)
                break
    world.hands[place] = put(take(world.hands[place], i), kind)
    return changed


@kernel
def was_passed(world: State, mixing: Mixing, kind: int) -> bool:
    """Whether a random copy of a kind, among those the declarer holds or played, was passed."""
    n = 0
    for i in range(MAX_EXCHANGE):
        n += 1 if world.passed[i] == kind else 0
    if n == 0:
        return False
    declarer = world.declarer
    copies = held(world.hands[declarer], kind) + count_played(world, declarer, kind)
    return random_below(mixing, copies) < n


@kernel
def change_passed(world: State, mixing: Mixing) -> int:
    """Replace a hidden passed card by another card that the declarer holds or has played.

    Returns the seats whose likelihood may change, as bits; 0 without a change.
    """
    declarer, n = world.declarer, 0
    for i in range(MAX_EXCHANGE):
        n += 1 if world.passed[i] >= 0 else 0
    in_hand = popcount(world.hands[declarer])
    i, j = random_below(mixing, n), random_below(mixing, in_hand + n_played(world, declarer))
    if j < in_hand:
        kind = nth_bit(world.hands[declarer], j) % COPY_SHIFT
    else:
        kind = int(world.plays[declarer * MAX_TRICKS + j - in_hand])
    if kind == world.passed[i] or was_passed(world, mixing, kind):
        return 0
    world.passed[i] = kind
    return 1 << declarer | 1 << ((declarer + 2) & 3)
