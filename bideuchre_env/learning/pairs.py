"""Paired differences: the gain of another action if one policy plays the rest of the hand.

A policy plays hands in all four seats: the main lines. At a decision, another legal action is
applied instead, and the policy finishes that line, too: a branch. Both lines have the same cards,
so the variance of their difference is much smaller than that of either result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from bideuchre_env._checks import (
    brief,
    check_callback,
    is_integer,
    is_number,
    to_list,
    whole_numbers,
)
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.table.answers import answer_rows, continue_rows, list_rows, require_legal
from bideuchre_env.core.table.loop import CALLER, READY, new_table
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.learning.sampling import required_seed
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.runtime.jit import Array, entry_kernel

CARDS = (Phase.GIVING, Phase.PASSING, Phase.PLAY)
BLOCK = 4096
"""Hands, or branches, that are played at once."""
MOST_HANDS = 1 << 62
_SHARE = np.uint64(0xD6E8FEB86659FD93)  # separates the selection of decisions from that of actions


class Policy(Protocol):
    """Any object that chooses actions for rows of observations, such as the package's agents."""

    def act_rows(self, observations: Array, action_masks: Array, /) -> Array:
        """Return actions, whole numbers (n,), for observations, int8 (n, D), and masks (n, A)."""
        ...


class Pool(Protocol):
    """Workers in other processes, such as `evaluation.ray_pool.RayPool`."""

    def in_order(self, function: Any, shared: Any, blocks: Iterable[Any], /) -> Iterator[Any]:
        """Yield `function(shared, block)` for each block, in the order of `blocks`."""
        ...


Propose: TypeAlias = Callable[[Array, Array, Array], Array]
"""Chooses other actions, whole numbers (m,), from observations, int8 (m, D), masks of the legal
actions without the chosen ones, int8 (m, A), and the chosen actions, int64 (m,)."""


class Pairs(NamedTuple):
    """Decisions with two actions each, and the gain of the second; m rows.

    They are in the order of hands, and within a hand in the order of its decisions.
    """

    observations: Array  #: int8 (m, D): of the seat to act
    masks: Array  #: int8 (m, A): its legal actions
    chosen: Array  #: int64 (m,): the policy's action
    other: Array  #: int64 (m,): another legal action
    gain: Array  #: float32 (m,): its side's point difference after `other` minus after `chosen`
    hand: Array  #: int64 (m,): the number of the hand; pairs of one hand are dependent


def pairs(
    policy: Policy,
    rules: Rules,
    hands: int | range,
    seed: int,
    *,
    phases: Iterable[Phase] = CARDS,
    share: float = 1.0,
    propose: Propose | None = None,
    opponent: Policy | None = None,
) -> Pairs:
    """Play hands and return their `Pairs`, none or more per hand.

    For more pairs than fit in memory, use `pair_blocks`.

    Args:
        policy: plays all seats. If it depends only on observations, the pairs of a hand do not
            depend on the other hands.
        rules: the game.
        hands: a number of hands, or a range of their numbers with step 1. The cards of hand i
            depend only on `seed` and i; each hand starts at 0-0 with a random dealer.
        seed: 0 to 2**128 - 1.
        phases: the phases whose decisions become pairs, if they have at least two legal actions.
        share: the probability, above 0 up to 1, with which each of these decisions becomes a pair.
        propose: chooses the other action; by default it is uniform over the other legal actions.
        opponent: plays seats 1 and 3 in both lines, without pairs there; by default the policy.

    Raises:
        OptionError: for invalid arguments.
        IllegalActionError: for an illegal action of a policy or of `propose`.
    """
    blocks = pair_blocks(
        policy, rules, hands, seed, phases=phases, share=share, propose=propose, opponent=opponent
    )
    return Pairs(*map(np.concatenate, zip(*blocks, strict=True)))


def pair_blocks(
    policy: Policy,
    rules: Rules,
    hands: int | range,
    seed: int,
    *,
    phases: Iterable[Phase] = CARDS,
    share: float = 1.0,
    propose: Propose | None = None,
    opponent: Policy | None = None,
    block: int = BLOCK,
    pool: Pool | None = None,
) -> Iterator[Pairs]:
    """Return an iterator over the results of `pairs` for `block` hands at a time.

    Each result has new arrays. The workers of a `pool`, if any, compute them. There each block uses
    new copies of `policy`, `opponent` and `propose`; the pairs are the same if these depend only on
    observations. `block` is from 1 to 1,048,576. The other arguments and the errors are those of
    `pairs`; invalid arguments raise at the call, illegal actions during the iteration.
    """
    phases = tuple(phases) if isinstance(phases, Iterator) else phases  # it is used twice
    if pool is not None and not callable(getattr(pool, "in_order", None)):
        raise OptionError(f"pool={brief(pool)}: expected workers with in_order, or None")
    how = policy, rules, seed, phases, share, propose, opponent, block
    maker, numbers = _Maker(*how), _hands(hands)
    parts = (numbers[i : i + block] for i in range(0, len(numbers), block))
    return map(maker.block, parts) if pool is None else pool.in_order(_made, how, parts)


def _made(how: tuple[Any, ...], hands: range) -> Pairs:
    """Return the pairs of these hands, in a worker process; `how` are the arguments of `_Maker`."""
    return _Maker(*how).block(hands)


def _hands(hands: Any) -> range:
    """Return the numbers of the hands: `hands` itself, or 0 to `hands` - 1 if it is a number.

    Raises `OptionError` for anything else, an empty range, and a step other than 1.
    """
    numbers = range(int(hands)) if is_integer(hands) else hands
    sound = isinstance(numbers, range) and numbers.step == 1
    if not sound or not 0 <= numbers.start < numbers.stop <= MOST_HANDS:
        raise OptionError(f"hands={brief(hands)}: expected a number from 1 on, or a range of hands")
    return range(numbers.start, numbers.stop)


@entry_kernel
def mix_words(words: Array) -> None:
    """Mix random bits, uint64 (n,), in place."""
    for i in range(len(words)):
        words[i] = mix(words[i])


@dataclass(eq=False)
class _Maker:
    """Makes pairs for one choice of the arguments, by playing up to `block` lines at once.

    A line is one hand, played from a state to the end of the hand. At a stored decision a second
    line branches off, with another action.
    """

    policy: Policy
    rules: Rules
    seed: Any
    phases: Any
    share: Any
    propose: Propose | None
    opponent: Policy | None
    at_once: Any

    def __post_init__(self) -> None:
        """Validate the fields, and make the table."""
        check_rules(self.rules)
        check_player("policy", self.policy)
        if self.opponent is not None:
            check_player("opponent", self.opponent)
        check_callback("propose", self.propose)
        if not is_number(self.share) or not 0 < self.share <= 1:
            raise OptionError(f"share={brief(self.share)}: expected above 0, and 1 at most")
        n, rules = self.at_once, self.rules
        if not is_integer(n) or not 1 <= n <= 1 << 20:
            raise OptionError(f"block={brief(n)}: expected a whole number from 1 to 1,048,576")
        self.flags = _phase_flags(self.phases)
        if self.opponent is not None:
            self.flags[1] = 0
        words = np.random.SeedSequence([int(word) for word in required_seed(self.seed, "pairs")])
        self.deals, self.draws = words.generate_state(2, np.uint64)
        self.shape = layout_of(rules).size, actions.of(rules).n
        self.table = new_table(rules, n)
        self.tables, self.offsets = self.table.tables, layout_of(rules).offsets
        self.observations, self.masks = (np.zeros((n, width), np.int8) for width in self.shape)
        self.table.setup["pause"] = self.table.setup["skip_forced"] = 1
        self.states, self.branches = self.table.states, new_states(n)

    def block(self, hands: range) -> Pairs:
        """Return the pairs of the hands with these numbers, a range of at most `block` hands."""
        lines = self.states[: len(hands)]
        seed_rows(lines, np.uint64(hands.start), self.deals)
        start_rows(lines, self.tables, np.full(len(lines), -1))
        deal_rows(lines, self.tables)
        states, words, rows, chosen = self._main_lines(lines, hands.start)
        made = Pairs(
            observations=np.empty((len(rows), self.shape[0]), np.int8),
            masks=np.empty((len(rows), self.shape[1]), np.int8),
            chosen=chosen,
            other=np.empty(len(rows), np.int64),
            gain=np.empty(len(rows), np.float32),
            hand=rows + hands.start,
        )
        results = _side_0_points(lines)
        for start in range(0, len(rows), self.at_once):
            part = slice(start, start + self.at_once)
            some = Pairs(*(array[part] for array in made))
            self._branch(states[part], words[part], some, results[rows[part]])
        return made

    def _main_lines(self, lines: Array, first: int) -> tuple[Array, Array, Array, Array]:
        """Play dealt hands to their end, and return a random sample of their m decisions.

        The results are the states before these, uint64 (m, W), 64 random bits for each, uint64
        (m,), the indices of their lines, in rising order, and the actions chosen, int64 (m,).
        `first` is the number of the first hand. Each decision in `phases` is sampled with
        probability `share`. Its random bits depend on the seed, the number of the hand and the
        decision's number in the hand.
        """
        parts, streams = [], np.arange(first, first + len(lines), dtype=np.uint64)
        streams = self.draws + streams * GOLDEN
        mix_words(streams)
        for live, choices in self._play(lines):
            words = streams[live]
            streams[live] += GOLDEN
            mix_words(words)
            draws = words ^ _SHARE
            mix_words(draws)
            recorded = self.flags[lines["turn"][live] & 1, lines["phase"][live]] != 0
            recorded &= (draws >> np.uint64(11)) * 2.0**-53 < self.share
            rows = live[recorded]
            parts.append((_as_words(lines)[rows], words[recorded], rows, choices[recorded]))
        states, words, rows, chosen = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(rows, kind="stable")
        return states[order], words[order], rows[order], chosen[order]

    def _branch(self, states: Array, words: Array, some: Pairs, results: Array) -> None:
        """Choose the other actions of the pairs `some`, and play these branches to their end.

        Fills in the observations, masks, other actions and gains of `some`, at most `block` pairs.
        `states` and `words` are results of `_main_lines`. `results` are side 0's points minus
        side 1's at the end of their main lines. Raises `IllegalActionError` for an illegal action
        of `propose` or of a player.
        """
        lines, index = self.branches[: len(states)], np.arange(len(states))
        _as_words(lines)[:] = states
        encode_rows(lines, self.tables, self.offsets, index, some.observations, some.masks)
        sides = np.where(lines["turn"] & 1, -1, 1)
        masks = some.masks.copy()
        masks[index, some.chosen] = 0
        if self.propose is None:  # all others are equally likely
            left = (words >> np.uint64(32)) * masks.sum(axis=1, dtype=np.uint64) >> np.uint64(32)
            some.other[:] = (masks.cumsum(axis=1) > left[:, np.newaxis]).argmax(axis=1)
        else:
            answer = self.propose(some.observations.copy(), masks, some.chosen.copy())
            some.other[:] = whole_numbers("propose", answer, len(states))
            same = np.flatnonzero(some.other == some.chosen)
            if len(same):
                raise IllegalActionError(
                    f"propose, row {same[0]}: expected another action than the chosen one"
                )
        self._check("propose", lines, index, some.other)
        apply_rows(lines, self.tables, index, some.other)
        for _ in self._play(lines):
            pass
        some.gain[:] = sides * (_side_0_points(lines) - results)

    def _play(self, lines: Array) -> Iterator[tuple[Array, Array]]:
        """Play the lines to their end.

        Before each step, yields the indices of the lines that are not over, and the actions that
        the players have chosen there.
        """
        everyone, none = np.arange(len(lines)), np.zeros(0, np.int64)
        table = self.table._replace(states=lines, seating=self.table.seating[: len(lines)])
        seating, index = table.seating, everyone.copy()
        seating["player"], seating["seat"] = CALLER, -1
        seating["decided"], seating["settled"] = 1, 0
        continue_rows(table, none, everyone)
        while n := int(list_rows(seating, READY, 0, index)):
            live = index[:n]
            encode_rows(lines, self.tables, self.offsets, live, self.observations, self.masks)
            choices = self._choices(lines["turn"][live])
            yield live, choices
            self._check("act_rows", lines, live, choices)
            answer_rows(table, none, live, choices)

    def _choices(self, seats: Array) -> Array:
        """Return the players' actions for the first n observations of the table, int64 (n,).

        `seats` (n,) are the seats to act there. The legality of the actions is not checked.
        """
        n, choices = len(seats), np.empty(len(seats), np.int64)
        observations, masks = self.observations[:n], self.masks[:n]
        if self.opponent is None:
            return whole_numbers("act_rows", self.policy.act_rows(observations, masks), n)
        for side, player in enumerate((self.policy, self.opponent)):
            rows = np.flatnonzero(seats & 1 == side)
            if len(rows):
                answer = player.act_rows(observations[rows], masks[rows])
                choices[rows] = whole_numbers("act_rows", answer, len(rows))
        return choices

    def _check(self, caller: str, lines: Array, live: Array, choices: Array) -> None:
        """Raise `IllegalActionError`, which names `caller`, if an action is illegal in its line."""
        rows = lines, self.tables, live, choices
        require_legal(self.rules, *rows, lambda j, line: f"{caller}, row {j}")


def check_player(name: str, player: Any) -> None:
    """Raise `OptionError` unless a parameter has the method of `Policy`."""
    if not callable(getattr(player, "act_rows", None)):
        raise OptionError(
            f"{name}={brief(player)}: expected an agent with act_rows(observations, masks)"
        )


def _as_words(states: Array) -> Array:
    """View state rows as uint64 (n, W), because numpy copies structured rows field by field."""
    words: Array = states.view(np.ndarray).view(np.uint64).reshape(len(states), -1)
    return words


def _side_0_points(states: Array) -> Array:
    """Return side 0's points minus side 1's in finished hands, int32 (n,)."""
    points: Array = states["points"][:, 0] - states["points"][:, 1]
    return points


def _phase_flags(phases: Any) -> Array:
    """Return flags, int8 (2, 7), by side and phase: 1 for the given phases, on both sides.

    Raises `OptionError` unless there are one or more phases from `Phase.AUCTION` to `Phase.PLAY`.
    """
    chosen = to_list("phases", phases, "some of Phase.AUCTION to Phase.PLAY")
    if not chosen or not all(is_integer(each) and 0 <= each < Phase.DEAL for each in chosen):
        raise OptionError(f"phases={brief(phases)}: expected some of Phase.AUCTION to Phase.PLAY")
    flags = np.zeros((2, len(Phase)), np.int8)
    flags[:, [int(each) for each in chosen]] = 1
    return flags
