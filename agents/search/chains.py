"""Annealed Metropolis chains over worlds, in independent groups.

Tempered sequential Monte Carlo: groups of chains begin at worlds drawn, and the exponent of the
likelihood rises from 0 to 1 while the chains are resampled by their weights and walk on. A step of
a chain swaps some pairs of cards by a cheap guess alone, the *leanings* of the cards to the seats
(`fit_leanings`); the resulting world is weighed once, and accepted as often as it is likelier than
guessed (Liu 2001, the surrogate transition method). So the guess affects the speed only.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from bideuchre_env.agents.search.likelihood import UNLIKELY, seat_log
from bideuchre_env.agents.search.past import take_down
from bideuchre_env.agents.search.proposals import IMPOSSIBLE, random_below
from bideuchre_env.agents.search.workspace import MOST_SAMPLES, SearchWorkspace
from bideuchre_env.agents.search.worlds import copy_hidden, draw_world
from bideuchre_env.core.hands import held, put, take
from bideuchre_env.core.observation.resample import GIVEN_PILE, PASSED_PILE, PLACES, played_by
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.state import PLAY
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import COPY_SHIFT, MAX_TRICKS, N_SEATS, NO_TRUMP
from bideuchre_env.runtime.intrinsics import lowest_bit, nth_bit, popcount
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel

NO_LIMIT = -1e18
LOWEST = -16.0  # a hand that makes what its seat did less likely than this is not looked at further
BISECTIONS = 12  # to find the next exponent
LEAST_RISE = 0.02  # of the exponent
RIDGE = 1.0
NEWTON_STEPS = 3
MOST_STEP = 3.0
MOST_SUM = 12.0
_ULP = 2.0**-53


@kernel
def log_uniform(mixing: Row) -> float:
    """The logarithm of a uniform number between 0 and 1."""
    mixing.word += GOLDEN
    return log((float(mix(mixing.word) >> np.uint64(11)) + 0.5) * _ULP)


@entry_kernel
def weigh_draws(space: SearchWorkspace, logs: Array, first: int, last: int) -> None:
    """Draw worlds `first` to `last` - 1 and keep them with the log-likelihoods of their seats.

    `logs`, float64, gets their log-weights: `UNLIKELY` for a proposal that is no world.
    """
    world = space.worlds[0]
    if first == 0:
        take_down(space)
        space.mixings[0].n_samples[:] = 0
    for j in range(first, last):
        row = space.kept[j]
        row.density = draw_world(space, j)
        copy_hidden(world, row)
        possible = row.density < IMPOSSIBLE
        logs[j] = -row.density if possible else UNLIKELY
        for seat in range(1, N_SEATS):
            row.logs[seat] = UNLIKELY
            if possible:
                row.logs[seat] = note_seat(space, seat, LOWEST)
                logs[j] += row.logs[seat]


def fit_leanings(space: SearchWorkspace, kinds: int) -> None:
    """Fill in how cards lean to seats 1 to 3, by the hands weighed so far."""
    mixing, powers = space.mixings[0], space.mixings["powers"][0]
    samples = space.samples.reshape(N_SEATS, MOST_SAMPLES)
    for seat in range(1, N_SEATS):
        rows = samples[seat, : min(int(mixing["n_samples"][seat]), MOST_SAMPLES)]
        found = logistic_fit(rows["hand"], powers[seat] * rows["log"], kinds)
        space.mixings["leanings"][0, seat, :kinds] = found[:kinds]
        space.mixings["constants"][0, seat] = found[kinds]


def logistic_fit(hands: Array, logs: Array, kinds: int) -> Array:
    """What each kind of card adds to a sum whose logistic function is how likely a hand is.

    Float64 (kinds + 1,), the last a constant: a ridge regression by Newton's steps on hands, int64
    (n,), and the logarithms of how likely they are; the likeliest is taken to be certain.
    """
    places = np.arange(kinds)
    cards = np.ones((len(hands), kinds + 1))
    hands = hands[:, np.newaxis]
    cards[:, :kinds] = (hands >> places & 1) + (hands >> (places + COPY_SHIFT) & 1)
    mean = cards[:, :kinds].mean(axis=0)
    cards[:, :kinds] -= mean
    chances = np.exp(logs - logs.max())
    share = min(max(float(chances.mean()), 0.001), 0.999)
    found: Array = np.zeros(kinds + 1)
    found[kinds] = np.log(share / (1.0 - share))
    ridge = np.append(np.full(kinds, RIDGE), 0.001)
    for _ in range(NEWTON_STEPS):
        guess = 1.0 / (1.0 + np.exp(-(cards @ found).clip(-MOST_SUM, MOST_SUM)))
        slope = (chances - guess) @ cards - ridge * found
        curve = (cards * (guess * (1.0 - guess) + 0.001)[:, np.newaxis]).T @ cards
        found += np.linalg.solve(curve + np.diag(ridge), slope).clip(-MOST_STEP, MOST_STEP)
    found[kinds] -= found[:kinds] @ mean
    return found


@entry_kernel
def weigh_chains(space: SearchWorkspace, n_chains: int) -> None:
    """Fill in the exact log-likelihoods of the first chains, which keep no world yet."""
    space.mixings[0].word = mix(space.plans[0].stream + GOLDEN)
    space.mixings[0].n_kept = 0
    find_places(space)
    for i in range(n_chains):
        chain = space.chains[i]
        copy_hidden(chain, space.worlds[0])
        for seat in range(1, N_SEATS):
            chain.logs[seat] = seat_log(space, seat, NO_LIMIT)
        chain.kept_at = -1


def next_power(fixed: Array, rest: Array, most: float, share: float) -> float:
    """By how much the exponent of annealing may rise to leave this effective share of particles.

    The log-weight of a particle is `fixed` and the rise, `most` at most, times `rest`.
    """

    def effective_share(rise: float) -> float:
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
    """Systematic resampling: n indices in proportion to `weights`, offset from 0 to 1."""
    reached = np.cumsum(weights)
    marks = (np.arange(n) + offset) * (reached[-1] / n)
    return np.minimum(np.searchsorted(reached, marks), len(weights) - 1)


@kernel
def note_seat(space: SearchWorkspace, seat: int, least: float) -> float:
    """The same as `seat_log`; what it says is noted for `fit_leanings`, in turn over the oldest."""
    mixing, found = space.mixings[0], seat_log(space, seat, least)
    sample = space.samples[seat * MOST_SAMPLES + mixing.n_samples[seat] % MOST_SAMPLES]
    sample.hand = space.worlds[0].hands[seat]
    sample.log = found
    mixing.n_samples[seat] += 1
    return found


@kernel
def find_places(space: SearchWorkspace) -> None:
    """Note where the unknown cards lie, and whether it is unknown what the declarer was passed."""
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
    space: SearchWorkspace,
    n_chains: int,
    first: int,
    last: int,
    swaps: int,
    weights: Array,
    keep: bool,
) -> None:
    """Take steps `first` to `last` - 1 in the first chains; with `keep`, keep where they end.

    In every other step `swaps` pairs of cards change places, and a quarter of them between. A world
    kept is one more of the workspace's; `weights` counts how often it was come to.
    """
    mixing = space.mixings[0]
    for i in range(n_chains):
        chain = space.chains[i]
        copy_hidden(chain, space.worlds[0])
        for step in range(first, last):
            take_step(space, chain, swaps if step & 1 == 0 else (swaps + 3) // 4)
        if not keep:
            continue
        if chain.kept_at < 0:
            chain.kept_at = mixing.n_kept
            space.kept[mixing.n_kept] = chain
            mixing.n_kept += 1
        weights[chain.kept_at] += 1.0


def load_chains(space: SearchWorkspace) -> None:
    """Load what is compiled, or compile it, by doing nothing."""
    nothing = np.zeros(1)
    weigh_draws(space, nothing, 1, 1)
    weigh_chains(space, 0)
    run_chains(space, 0, 0, 0, 0, nothing, False)


@kernel
def guess_of(total: float) -> float:
    """The logarithm of the logistic function of what the cards of a hand lean to its seat."""
    return -log(1.0 + exp(-total)) if total > -MOST_SUM else total


@kernel
def add_leanings(world: Row, mixing: Row) -> None:
    """Fill in what the cards of each hand lean to its seat; to a pile no card leans."""
    mixing.gained = 0.0
    for seat in range(1, N_SEATS):
        total, hand = mixing.constants[seat], world.hands[seat]
        while hand:
            total += mixing.leanings[seat, lowest_bit(hand) % COPY_SHIFT]
            hand &= hand - 1
        mixing.sums[seat] = total


@kernel
def take_step(space: SearchWorkspace, chain: Row, swaps: int) -> None:
    """Move cards of the world, which is the chain's; undo it where it is not taken."""
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
            mixing.logs[seat] = note_seat(space, seat, (least - total) / powers[seat])
            total += powers[seat] * mixing.logs[seat]
            if total < least:
                copy_hidden(chain, world)
                return
    for seat in range(1, N_SEATS):
        if changed >> seat & 1:
            chain.logs[seat] = mixing.logs[seat]
    chain.kept_at = -1
    copy_hidden(world, chain)


@kernel
def swap_cards(space: SearchWorkspace, world: Row, mixing: Row) -> int:
    """Let two cards of different places change places as they lean; the seats changed, as bits.

    0 where nothing changes, or a seat would get a card of a suit that it is out of. Every two
    cards come up alike, and the two copies of a card count as different ones.
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
def pick_card(world: Row, redeal: Row, mixing: Row, place: int) -> int:
    """Which of the unknown cards of a place to move: a kind, or its index in a pile."""
    if place >= GIVEN_PILE:
        return random_below(mixing, redeal.room[place])
    hand, fixed = world.hands[place], redeal.known[place]
    while fixed:
        bit = nth_bit(fixed, 0)
        fixed &= fixed - 1
        hand = take(hand, bit % COPY_SHIFT)
    return nth_bit(hand, random_below(mixing, popcount(hand))) % COPY_SHIFT


@kernel
def kind_at(world: Row, place: int, i: int) -> int:
    """The kind that `pick_card` has picked."""
    if place == GIVEN_PILE:
        return int(world.given[i])
    if place == PASSED_PILE:
        return int(world.passed[i])
    return i


@kernel
def replace(world: Row, mixing: Row, place: int, i: int, kind: int) -> int:
    """Put a card of this kind in the stead of the one picked; the seats this may matter to.

    Where it is unknown which cards the declarer was passed, the new card is one if the old was.
    """
    declarer = world.declarer
    if place == GIVEN_PILE:
        world.given[i] = kind
        return 1 << declarer
    if place == PASSED_PILE:
        world.passed[i] = kind
        return 1 << ((declarer + 2) & 3)
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
def was_passed(world: Row, mixing: Row, kind: int) -> bool:
    """Whether a copy of this kind that the declarer has or had was passed, by chance if one was."""
    n = 0
    for i in range(MAX_EXCHANGE):
        n += 1 if world.passed[i] == kind else 0
    if n == 0:
        return False
    declarer = world.declarer
    copies = held(world.hands[declarer], kind) + played_by(world, declarer, kind)
    return random_below(mixing, copies) < n


@kernel
def change_passed(world: Row, mixing: Row) -> int:
    """Let another card that the declarer has or had be one that was passed; as `swap_cards`."""
    declarer, n = world.declarer, 0
    for i in range(MAX_EXCHANGE):
        n += 1 if world.passed[i] >= 0 else 0
    in_hand = popcount(world.hands[declarer])
    i, j = random_below(mixing, n), random_below(mixing, in_hand + played_cards(world, declarer))
    if j < in_hand:
        kind = nth_bit(world.hands[declarer], j) % COPY_SHIFT
    else:
        kind = int(world.plays[declarer * MAX_TRICKS + j - in_hand])
    if kind == world.passed[i] or was_passed(world, mixing, kind):
        return 0
    world.passed[i] = kind
    return 1 << declarer | 1 << ((declarer + 2) & 3)


@kernel
def played_cards(world: Row, seat: int) -> int:
    """How many cards a seat has played in this hand."""
    n = 0
    while n < MAX_TRICKS and world.plays[seat * MAX_TRICKS + n] >= 0:
        n += 1
    return n
