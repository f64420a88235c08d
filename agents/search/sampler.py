"""Sampling of worlds: deals of the hidden cards, weighted by the likelihood of all actions.

If few deals are left, all are enumerated. Otherwise worlds are drawn uniformly and weighted. If the
effective sample size of the first worlds is too small, the hand of the seat with the rarest calls
(the caller) is drawn from a list of its likely hands instead, except in a game with a kitty. If it
is still too small, annealed Metropolis chains sample the posterior, in independent groups whose
spread gives the error. An effective share is the effective sample size over the number of worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from bideuchre_env.agents.search.callers import call_chances, list_caller, weigh_hands_dealt
from bideuchre_env.agents.search.chains import (
    fit_leanings,
    next_power,
    run_chains,
    systematic,
    weigh_chains,
    weigh_draws,
)
from bideuchre_env.agents.search.enumeration import list_worlds, open_listing
from bideuchre_env.agents.search.likelihood import UNLIKELY, weigh_worlds
from bideuchre_env.agents.search.workspace import CHAINS, GROUPS, SearchWorkspace
from bideuchre_env.core.state import GIVING, PASSING
from bideuchre_env.rules.cards import COPY_SHIFT, N_SEATS
from bideuchre_env.runtime.jit import Array

AT_ONCE = 4  # worlds tried between two readings of the clock
WEIGHED_AT_ONCE = 24  # worlds weighed between two readings of the clock
CHUNK = 1000  # worlds weighed between two checks for Ctrl-C, without a time limit
NEGLIGIBLE = 7.0  # a world is negligible if its log-weight is this much below another's
ENOUGH = 0.02  # effective share of the draws above which more draws are better than chains
LISTED_SHARE = 0.00375  # effective share of the draws up to which the caller's hands are listed
HANDS_LISTED = 3e4  # subsets of the unknown cards up to which all of its hands are listed
LISTED = 100_000  # worlds up to which all are enumerated
DRAWN = 0.25  # share of the worlds weighed that is drawn before the method is chosen
MOST_DRAWN = 400  # maximum of these draws
ANNEALED = 0.5  # share of the time for annealing
EFFECTIVE = 0.5  # effective share of the chains after a rise of the annealing exponent
LEAST_EFFECTIVE = 0.05  # minimum effective share of the draws after the first rise
LEAST_EVIDENCE = -20.0  # minimum log-evidence of a group relative to the best group's
STEPS = 3  # steps of each chain after a rise of the exponent

Report = Callable[[str, int, int], None]
"""Progress callback: ("weighed" or "played out", number of worlds done, total number)."""


class WorldSampler:
    """Samples the worlds of one position at a time, in the workspace of a search agent.

    `kinds` is the number of kinds in the deck; `clock` returns the time in seconds.
    """

    def __init__(self, space: SearchWorkspace, kinds: int, clock: Callable[[], float]) -> None:
        self.space, self.kinds, self.clock = space, kinds, clock
        self.report: Report | None = None
        self.enough, self.listed_share, self.hands_listed = ENOUGH, LISTED_SHARE, HANDS_LISTED

    def list_all_hands(self) -> None:
        """Make later calls of `weights` list all hands of the caller if few draws are effective."""
        self.listed_share = self.hands_listed = inf

    def weights(self, n_worlds: int, considered: int, ends: float) -> Array:
        """Sample worlds of the position in `space` and return their weights, float64 (n,).

        Index j of the array is the number of a world for `load_world`; many weights may be 0. About
        `n_worlds` x `considered` worlds are weighed, and the weights sum to `n_worlds`; both
        numbers may be smaller if the clock reaches `ends` first. All weights are 1 if `considered`
        is 0 or no seat has called yet.
        """
        space, weighed = self.space, n_worlds * considered
        space.mixings["n_stored"], space.callers["n"] = 0, 0
        if weighed == 0 or space.expert.views[0]["calls_made"] == 0:
            return np.ones(n_worlds)
        weights, drawn = np.zeros(n_worlds), self.must_draw()
        few = not drawn and ends == inf and open_listing(space) <= LISTED
        if few and list_worlds(space, n_worlds, weights):
            n = int(space.listings["n_worlds"][0])
            self.progress(n, n)
            return weights * (n_worlds / weights.sum())
        logs, share = self.draw(weighed, ends)
        rare = not drawn and not self.kitty() and share < self.enough and share <= self.listed_share
        if rare and ends == inf and list_caller(space, len(logs), self.hands_listed):
            logs, share = self.draw(weighed, ends)
            if (logs > UNLIKELY).sum() < min(GROUPS, len(logs)):  # listed hands rarely fit
                space.callers["n"] = 0
                logs, share = self.draw(weighed, ends)
        if drawn or len(logs) == weighed or (share >= self.enough and self.draws_posterior()):
            return self.weigh_draws(logs, weighed, n_worlds, considered, ends)
        return self.run_chains(logs, weighed, n_worlds, ends)

    def must_draw(self) -> bool:
        """Whether worlds can only be drawn.

        Another seat has taken up the kitty, or partner the cards of an open exchange. Lists of
        hands, enumeration and chains assume that a hand consists of the cards dealt to it.
        """
        world, tables = self.space.worlds[0], self.space.expert.tables[0]
        exchanged = world["phase"] >= PASSING and world["given"][0] >= 0
        took_kitty = self.kitty() and world["phase"] >= GIVING and world["declarer"] > 0
        return bool((tables["open_exchange"] and exchanged) or took_kitty)

    def kitty(self) -> int:
        """Return the number of cards in the game's kitty; 0 without one."""
        return int(self.space.expert.tables["kitty"][0])

    def progress(self, done: int, total: int) -> None:
        """Call `report`, if set, with the numbers of worlds weighed so far and in total."""
        if self.report is not None:
            self.report("weighed", done, total)

    def draw(self, weighed: int, ends: float) -> tuple[Array, float]:
        """Draw a part of the `weighed` worlds; return their log-weights and effective share.

        The share is 0 if the actions of some seat are very unlikely in every drawn world. Stops
        when the clock reaches `ends`.
        """
        space = self.space
        logs = np.empty(max(1, min(int(DRAWN * weighed), MOST_DRAWN)))
        for first in range(0, len(logs), WEIGHED_AT_ONCE):
            last = min(first + WEIGHED_AT_ONCE, len(logs))
            weigh_draws(space, logs, first, last)
            self.progress(last, weighed)
            if self.clock() >= ends:
                logs = logs[:last]
                break
        error = np.log(float(space.choice_models["error_rate"][0]))
        if space.stored["logs"][: len(logs), 1:].max(axis=0).min() < error:
            return logs, 0.0
        chances = np.exp(logs - logs.max())
        return logs, float(chances.sum() ** 2 / (chances @ chances) / len(logs))

    def draws_posterior(self) -> bool:
        """Whether weighted draws converge to the posterior.

        They do not if a caller's hands are listed and a known void or an exchange restricts the
        deals; see `proposals.deal_caller`.
        """
        world = self.space.worlds[0]
        constrained = world["voids"][1:].any() or world["given"][0] >= 0
        return bool(self.space.callers["n"][0] == 0 or not constrained)

    def weigh_draws(
        self, drawn: Array, weighed: int, n_worlds: int, considered: int, ends: float
    ) -> Array:
        """Weigh drawn worlds until there are `weighed`, and return whole-number weights.

        `drawn` are the log-weights of the first worlds. The weights, float64 (n,), are the numbers
        of copies in a systematic resampling of `n_worlds` worlds. If the clock reaches `ends`,
        fewer worlds are weighed and resampled.
        """
        logs = np.append(drawn, np.empty(weighed - len(drawn)))
        step = CHUNK if ends == inf else WEIGHED_AT_ONCE
        last = len(drawn)
        while last < weighed and self.clock() < ends:
            first, last = last, min(last + step, weighed)
            weigh_worlds(self.space, logs, first, last, NEGLIGIBLE)
            self.progress(last, weighed)
        logs, n_worlds = logs[:last], min(n_worlds, max(AT_ONCE, last // considered))
        reached = np.cumsum(np.exp(logs - logs.max()))
        return np.diff(np.floor(reached / reached[-1] * n_worlds + 0.5), prepend=0.0)

    def run_chains(self, drawn: Array, weighed: int, n_worlds: int, ends: float) -> Array:
        """Store worlds from annealed chains, and return their weights, float64 (n_worlds,).

        The chains start at the first draws, with log-weights `drawn`. About `weighed` worlds are
        weighed in all, fewer if the clock reaches `ends`. The weights sum to `n_worlds`. Also
        writes the plan's `design_effect`.
        """
        space, began = self.space, self.clock()
        n_groups = min(n_worlds, GROUPS)
        per_group = min(n_worlds, CHAINS) // n_groups
        n, weights = n_groups * per_group, np.zeros(n_worlds)
        evidence = self.anneal(drawn, n_groups, per_group, began + ANNEALED * (ends - began))
        rounds, steps = n_worlds // n, (weighed - len(drawn)) // n
        each = max(1, steps // rounds)
        for done in range(1, rounds + 1):
            walked = self.walk(n, each - 1, ends)
            run_chains(space, n, walked, walked + 1, weights, True)
            self.progress(weighed * done // rounds, weighed)
            if self.clock() >= ends:
                break
        n_stored = int(space.mixings["n_stored"][0])
        groups = space.stored["group"][:n_stored]
        weights[:n_stored] *= np.exp(np.maximum(evidence - evidence.max(), LEAST_EVIDENCE))[groups]
        space.plans["design_effect"] = design_effect(
            space.stored["hands"][:n_stored, 1:], weights[:n_stored], groups
        )
        return weights * (n_worlds / weights.sum())

    def anneal(self, drawn: Array, n_groups: int, per_group: int, ends: float) -> Array:
        """Anneal chains from the first stored worlds to the posterior, in `space.chains`.

        `drawn` are the log-weights of these worlds. Returns the log-evidence of each group,
        float64 (n_groups,), by which its worlds are weighted. If a caller's hands are listed, its
        likelihood has the exponent 1 from the start. Once the clock reaches `ends`, the exponent
        rises to 1 at once.
        """
        space, n = self.space, n_groups * per_group
        rng = np.random.default_rng(int(space.plans["stream"][0]))
        caller = int(space.callers["seat"][0]) if space.callers["n"][0] else 0
        others = [seat for seat in range(1, N_SEATS) if seat != caller]
        source = space.stored[: len(drawn)]
        fixed = source["logs"][:, caller] - source["density"]  # `logs` of seat 0 are 0
        groups = split_evenly(np.flatnonzero(drawn > UNLIKELY), n_groups)
        power, evidence, space.mixings["powers"] = 0.0, np.zeros(n_groups), 1.0
        while power < 1.0:
            fixed, rest = fixed[groups], source["logs"][:, others].sum(axis=1)[groups]
            share = EFFECTIVE if power else max(EFFECTIVE * n / len(drawn), LEAST_EFFECTIVE)
            late = self.clock() >= ends
            rise = 1.0 - power if late else next_power(fixed, rest, 1.0 - power, share)
            tilted = fixed + rise * rest
            most = tilted.max(axis=1, keepdims=True)
            weights = np.exp(tilted - most)
            evidence += np.log(weights.mean(axis=1)) + most[:, 0]
            chosen = [systematic(row, per_group, rng.random()) for row in weights]
            space.chains[:n] = source[np.take_along_axis(groups, np.array(chosen), 1).T.ravel()]
            if power == 0.0:
                space.chains["group"][:n] = np.arange(n) % n_groups
                weigh_chains(space, n)
            power += rise
            space.mixings["powers"][0, others] = power
            fit_leanings(space, self.kinds)
            self.walk(n, STEPS, ends)
            source, fixed = space.chains[:n], np.zeros(n)
            groups = np.arange(n).reshape(per_group, n_groups).T
        return evidence

    def walk(self, n_chains: int, steps: int, ends: float) -> int:
        """Advance the chains by `steps`, or fewer once the clock reaches `ends`.

        Returns the number of steps taken, which may be 0.
        """
        at_once = max(1, (CHUNK if ends == inf else WEIGHED_AT_ONCE) // n_chains)
        done, none = 0, np.empty(0)
        while done < steps and self.clock() < ends:
            first, done = done, min(done + at_once, steps)
            run_chains(self.space, n_chains, first, done, none, False)
        return done


def load_kernels(space: SearchWorkspace) -> None:
    """Load or compile the sampling kernels by running them on no data.

    So a time limit that starts afterwards does not include compilation.
    """
    none, zeros = np.empty(0), np.zeros(N_SEATS)
    weigh_worlds(space, none, 0, 0, 0.0)
    weigh_draws(space, zeros, 1, 1)
    weigh_chains(space, 0)
    run_chains(space, 0, 0, 0, zeros, False)
    call_chances(space, 0, zeros)
    weigh_hands_dealt(space, 0, 1.0, np.empty(0, np.int64), none, none)


def split_evenly(numbers: Array, n_groups: int) -> Array:
    """Split an array into groups of equal size, (n_groups, size); a remainder is left out.

    If there are fewer numbers than groups, each group has all of them.
    """
    size = len(numbers) // n_groups
    if size == 0:
        return np.tile(numbers, (n_groups, 1))
    groups: Array = numbers[: size * n_groups].reshape(size, n_groups).T
    return groups


def design_effect(hands: Array, weights: Array, groups: Array) -> float:
    """Design effect of the chains: worlds per independent world, at least 1.

    It is the jackknife variance (leaving out one group at a time) of the chances that seats hold
    cards, divided by the variance for independent worlds. For n worlds, `hands`, int64 (n, 3), are
    those of seats 1 to 3; `weights` and `groups`, the index of the group, are (n,).
    """
    held = (hands[:, :, np.newaxis] >> np.arange(2 * COPY_SHIFT) & 1).reshape(len(hands), -1)
    member = (groups == np.arange(groups.max() + 1)[:, np.newaxis]) * weights
    totals, sums = member.sum(axis=1), member @ held
    share = sums.sum(axis=0) / totals.sum()
    n, alone = len(totals), float((share * (1 - share)).sum())
    if n < 2 or alone <= 0.0:
        return 1.0
    moved = (sums - np.outer(totals, share)) / (1 - totals / totals.sum())[:, np.newaxis]
    between = (n - 1) / n * float((moved**2).sum())
    return max(1.0, between / alone / float(weights @ weights))
