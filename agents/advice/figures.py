"""Statistics of outcomes over weighted worlds (sampled deals): means, shares, differences, errors.

The effective sample size of weighted worlds is the square of the sum of the weights over the sum
of their squares, divided by the design effect, the number of worlds per independent world. The
design effect is 0 if all existing worlds are included; then there is no sampling error.

`key_cards` explains a result by a condition on the hidden hands, such as "partner has AC". It
chooses the condition that explains most of the variance of the result over the worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from bideuchre_env._intervals import Interval, t_quantile, wilson
from bideuchre_env.agents.advice.words import card_name, number_word, ranking, suit_word
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, NO_TRUMP, SUITS
from bideuchre_env.runtime.jit import Array

NO_GAP = Interval(0.0, 0.0, 0.0)
ENOUGH = 20  # effective sample size from which options are compared, and chances printed
# a condition divides the deals into two sides: those in which it is true, and the others
LEAST_SHARE = 0.1  # minimum weighted share of the deals on each side of a condition
LEAST_DEALS = 10  # minimum effective sample size of each side
LEAST_CHANCE = 0.25  # minimum difference of a chance between the two sides
LEAST_GAIN = 1.0  # minimum difference between the sides in points, or in percent of games
SURE = 4.0  # standard errors of that difference; high, because some 20 conditions are tested
NEXT, PARTNER, LAST = 1, 2, 3  # relative seats; the first and the last are the opponents


@dataclass(frozen=True)
class Counted:
    """Outcomes of the n `actions` in m worlds, which have the `weights`, float64 (m,).

    `outcomes` has the shape (m, n) and the dtype `outcomes.OUTCOMES`. `hands`, int64 (m, 4), are
    the seats' hands as bit sets, the advised seat first.
    """

    actions: list[int]
    outcomes: Array
    weights: Array
    hands: Array
    design_effect: float = 1.0

    @classmethod
    def of_all(cls, several: Sequence[Counted]) -> Counted:
        """Concatenate the worlds of several objects, for the actions that all of them have.

        The design effect is the largest of theirs.
        """
        tried = [set(each.actions) for each in several]
        common = [action for action in several[0].actions if all(action in one for one in tried)]
        columns = [[each.actions.index(action) for action in common] for each in several]
        return cls(
            common,
            np.concatenate(
                [each.outcomes[:, order] for each, order in zip(several, columns, strict=True)]
            ),
            np.concatenate([each.weights for each in several]),
            np.concatenate([each.hands for each in several]),
            max(each.design_effect for each in several),
        )

    @property
    def exact(self) -> bool:
        """Whether the worlds are all possible ones, so that there is no sampling error."""
        return self.design_effect == 0.0

    @property
    def effective(self) -> float:
        """The effective sample size, at most the number of worlds."""
        return min(effective(self.weights, self.design_effect), float(len(self.weights)))

    @property
    def few(self) -> bool:
        """Whether the worlds are too few for figures (`too_few`)."""
        return too_few(self.exact, self.effective)

    def column(self, action: int) -> Array:
        """Return the outcomes of an action, `OUTCOMES` (m,)."""
        column: Array = self.outcomes[:, self.actions.index(action)]
        return column

    def average(self, action: int, figure: str) -> float:
        """Return the weighted mean of the field `figure` of `OUTCOMES` after an action."""
        return mean(self.column(action)[figure], self.weights)

    def behind(self, action: int, best: int, figure: str = "points") -> tuple[float, float]:
        """Return the mean of figure(best) - figure(action) over worlds, and its standard error.

        `figure` is a field of `OUTCOMES`.
        """
        if action == best:
            return 0.0, 0.0
        differences = self.differences(action, best, figure)
        return mean(differences, self.weights), error(differences, self.weights, self.design_effect)

    def gap(self, action: int, best: int, figure: str) -> Interval:
        """Return the mean of figure(best) - figure(action) over worlds, with its 95 % interval."""
        if action == best:
            return NO_GAP
        return interval(self.differences(action, best, figure), self.weights, self.design_effect)

    def dominated(self, action: int, best: int, figure: str) -> bool:
        """Whether `best` is at least as good as an action in every world, and better in some.

        A sample of the possible worlds is a proof only if `best` has the same result in each of
        them, and if the effective sample size is at least `ENOUGH`.
        """
        counts = self.weights > 0
        results, gaps = self.column(best)[figure][counts], self.differences(action, best, figure)
        gaps, same = gaps[counts], results.min() == results.max() and self.effective >= ENOUGH
        return bool((self.exact or same) and gaps.min() >= 0 and gaps.max() > 0)

    def differences(self, action: int, best: int, figure: str) -> Array:
        """Return figure(best) - figure(action) in each world, float64 (m,)."""
        differences: Array = self.column(best)[figure] - self.column(action)[figure]
        return differences.astype(float)


def too_few(exact: bool, effective: float) -> bool:
    """Whether worlds are too few for figures: not all, and an effective size below `ENOUGH`."""
    return not exact and effective < ENOUGH


def effective(weights: Array, design_effect: float = 1.0) -> float:
    """Return the effective sample size; 0 if all weights are 0, else inf for `design_effect` 0."""
    total, squares = float(weights.sum()), float((weights * weights).sum())
    if not squares:
        return 0.0
    return total * total / squares / design_effect if design_effect else inf


def mean(values: Array, weights: Array) -> float:
    """Return the weighted mean."""
    return float(np.average(values, weights=weights))


def error(values: Array, weights: Array, design_effect: float = 1.0) -> float:
    """Return the standard error of the weighted mean; infinite for an effective size up to 1.

    A pseudo-observation, twice the largest absolute value away from the mean, allows for results
    that were not sampled.
    """
    others = effective(weights, design_effect) - 1
    if others < 1e-9:
        return inf
    centre = mean(values, weights)
    unseen = (2.0 * float(np.abs(values).max())) ** 2 / (others + 2.0)
    return sqrt((mean((values - centre) ** 2, weights) + unseen) / others)


def interval(values: Array, weights: Array, design_effect: float = 1.0) -> Interval:
    """Return the weighted mean with its 95 % interval by Student's t.

    The interval has no bounds for an effective size up to 1, and no width for an infinite one.
    """
    centre, size = mean(values, weights), effective(weights, design_effect)
    if size == inf:
        return Interval(centre, centre, centre)
    if size - 1 < 1e-9:
        return Interval(centre, None, None)
    half = t_quantile(max(1, round(size - 1))) * error(values, weights, design_effect)
    return Interval(centre, centre - half, centre + half)


def share(good: Array, weights: Array, design_effect: float = 1.0) -> Interval | None:
    """Return the weighted share of ones in `good` (0 or 1) with Wilson's 95 % interval.

    None if all weights are 0; an interval without width for an infinite effective size.
    """
    size = effective(weights, design_effect)
    if size == 0.0:
        return None
    if size == inf:
        return Interval(mean(good, weights), mean(good, weights), mean(good, weights))
    return wilson(mean(good, weights) * size, size)


@dataclass(frozen=True)
class KeyCards:
    """A condition on hidden cards, and the means of a value if it is true and if it is false."""

    words: str
    """The condition as in "if partner has AC", without the "if"."""
    true: float
    false: float
    share: float
    """Weighted share of the deals in which the condition is true."""


def conditions(unseen: int, strain: int, hands: Array, t: Any) -> Iterator[tuple[str, Array]]:
    """Yield conditions on the hidden hands: the words, and the truth in each deal, bool (m,).

    Conditions concern the unseen trumps and the highest unseen card of each other suit (whether
    partner has the card), voids, and numbers of trumps, which are named by their suit: options may
    have other trumps. `unseen` are the kinds that the advised seat has not seen, as bits. `hands`,
    int64 (m, 4), are the seats' hands, the advised seat first; `t` is the game's table row. Simpler
    conditions come first.
    """
    kinds = [kind for kind in range(int(t["kinds"])) if unseen >> kind & 1]
    suits = t["suit_of"][strain]
    held = (hands | hands >> COPY_SHIFT) & KIND_BITS
    tops = [kind for kind in ranking(strain, t) if kind in kinds]
    for suit in range(len(SUITS)):
        rest = [kind for kind in kinds if suits[kind] == suit != strain]
        tops += sorted(rest, key=lambda kind: -int(t["power"][strain, suit, kind]))[:1]
    for kind in tops:
        name = card_name(kind, strain, t).rstrip(",")
        yield f"partner has {name}", (held[:, PARTNER] >> kind & 1).astype(bool)
    for suit in range(len(SUITS)):
        if suit != strain:
            void = held & int(t["suit_bits"][strain, suit]) == 0
            word = suit_word(suit, 1)
            yield f"partner has no {word}", void[:, PARTNER]
            yield f"an opponent has no {word}", void[:, NEXT] | void[:, LAST]
    if strain < NO_TRUMP:
        length = lengths(hands, int(t["suit_bits"][strain, strain]))
        trump, trumps = suit_word(strain, 1), suit_word(strain)
        for n in range(1, 4):
            some = f"a {trump}" if n == 1 else f"{number_word(n)} {trumps} or more"
            yield f"partner has {some}", length[:, PARTNER] >= n
        for n in range(2, 5):
            long = length >= n
            words = f"an opponent has {number_word(n)} {trumps} or more"
            yield words, long[:, NEXT] | long[:, LAST]


def lengths(hands: Array, kinds: int) -> Array:
    """Return the number of cards of `kinds` (bits) in each hand, int64 with the shape of `hands`.

    Both copies of a card are counted.
    """
    cards = hands & (kinds | kinds << COPY_SHIFT)
    count: Array = sum((cards >> bit & 1 for bit in range(2 * COPY_SHIFT)), np.zeros_like(cards))
    return count


def key_cards(
    values: Array,
    weights: Array,
    unseen: int,
    strain: int,
    hands: Array,
    t: Any,
    least: float,
    design_effect: float = 1.0,
) -> KeyCards | None:
    """Return the condition that explains most of the variance of `values`, float64 (m,); or None.

    `values` are results in m deals. The mean where the condition is true and the mean where it is
    false must differ significantly (`SURE`), and by at least `least`. Both groups of deals must
    have at least `LEAST_SHARE` of the weight and the effective size `LEAST_DEALS`. The first
    condition wins ties. For `unseen`, `strain`, `hands` and `t` see `conditions`; deals with weight
    0 are ignored.
    """
    counts = weights > 0
    values, weights, hands = values[counts], weights[counts], hands[counts]
    total, result, most = weights.sum(), None, 0.0
    for words, true in conditions(unseen, strain, hands, t):
        share = float(weights[true].sum() / total) if total else 0.0
        if not LEAST_SHARE <= share <= 1 - LEAST_SHARE:
            continue
        sides = [(values[side], weights[side]) for side in (true, ~true)]
        if min(effective(weights, design_effect) for _, weights in sides) < LEAST_DEALS:
            continue
        (yes, no), errors = (
            [mean(*side) for side in sides],
            [error(*side, design_effect) for side in sides],
        )
        explained, apart = share * (1 - share) * (yes - no) ** 2, abs(yes - no)
        clear = apart >= least and apart > SURE * sqrt(errors[0] ** 2 + errors[1] ** 2)
        if clear and explained > most + 1e-12:
            result, most = KeyCards(words, yes, no, share), explained
    return result
