"""Paired differences: what another action would have gained, the rest of the hand played alike.

A policy plays hands in all four seats: the main lines. At a decision, some other legal action is
carried out instead, and the policy finishes that line, too: a branch. Both lines hold the same
cards, so the difference between them is far less a matter of luck than either result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from bideuchre_env._checks import is_integer, shown, to_list, whole_numbers
from bideuchre_env.core.legality import illegal
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import STATE, Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.learning.lines import (
    Kept,
    carry_out,
    draw_others,
    keep_decisions,
    next_decisions,
)
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

CARDS = (Phase.GIVING, Phase.PASSING, Phase.PLAY)
BLOCK = 4096
"""Hands played at once, and branches."""
MOST_HANDS = 1 << 62
_WORDS = STATE.itemsize // 8


class Policy(Protocol):
    """Whoever chooses actions for rows of observations: every agent of the package, and a net."""

    def act_rows(self, observations: Array, action_masks: Array, /) -> Array:
        """Actions, whole numbers (n,), for observations, int8 (n, D), and masks, int8 (n, A)."""
        ...


class Pool(Protocol):
    """Workers elsewhere, as `evaluation.ray_pool.RayPool`."""

    def in_order(self, function: Any, shared: Any, blocks: Iterable[Any], /) -> Iterator[Any]:
        """`function(shared, block)` of each block, in order."""
        ...


Propose: TypeAlias = Callable[[Array, Array, Array], Array]
"""Which other action to try: from observations, int8 (m, D), masks of the legal actions but the
chosen ones, int8 (m, A), and the chosen ones, int64 (m,), to whole numbers (m,)."""


class Pairs(NamedTuple):
    """Decisions with two actions each, and how much better the second came out; m rows.

    They stand in the order of the hands, and within a hand in the order of its decisions.
    """

    observations: Array  # int8 (m, D): what the seat to act saw
    masks: Array  # int8 (m, A): its legal actions
    chosen: Array  # int64 (m,): what the policy did
    other: Array  # int64 (m,): another legal action
    gain: Array  # float32 (m,): points of its side less theirs, after `other` less after `chosen`
    hand: Array  # int64 (m,): the number of the hand; differences of one hand go together


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
    """The pairs of these hands: `hands` of them from the first, or those of a range.

    What hand i holds follows from `seed` and i alone; each starts at 0-0, its dealer drawn. Every
    decision of `phases` with more than one legal action gives a pair, or a random `share` of them.
    The other action is drawn alike from the other legal ones, or by `propose`. With an `opponent`,
    the policy has seats 0 and 2 alone, and gives pairs there; the opponent plays the other two, in
    both lines. Policies that go by observations alone give the same pairs whatever hands are played
    together.

    Raises `OptionError` for arguments that make no sense, and `IllegalActionError` for an action
    that is not legal. For more pairs than fit in memory, see `pair_blocks`.
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
    """The same pairs, `block` hands at a time, in new arrays each time.

    They are made here, or by the workers of a `pool`, where every block begins with copies of
    `policy`, `opponent` and `propose`: those that go by their observations alone give the same
    pairs.
    """
    phases = tuple(phases) if isinstance(phases, Iterator) else phases  # it is gone through twice
    if pool is not None and not callable(getattr(pool, "in_order", None)):
        raise OptionError(f"pool={shown(pool)}: expected workers with in_order, or None")
    how = policy, rules, seed, phases, share, propose, opponent, block
    maker, numbers = _Maker(*how), _hands(hands)
    parts = (numbers[i : i + block] for i in range(0, len(numbers), block))
    return map(maker.block, parts) if pool is None else pool.in_order(_made, how, parts)


def _made(how: tuple[Any, ...], hands: range) -> Pairs:
    """A block of pairs, on a worker."""
    return _Maker(*how).block(hands)


def _hands(hands: Any) -> range:
    """The numbers of the hands; `OptionError` unless it is a number or a range of them."""
    numbers = range(int(hands)) if is_integer(hands) else hands
    sound = isinstance(numbers, range) and numbers.step == 1
    if not sound or not 0 <= numbers.start < numbers.stop <= MOST_HANDS:
        raise OptionError(
            f"hands={shown(hands)}: a number of hands from 1 on, or a range of their numbers"
        )
    return range(numbers.start, numbers.stop)


class _Maker:
    """Plays main lines and branches of up to `block` rows."""

    def __init__(
        self,
        policy: Policy,
        rules: Rules,
        seed: Any,
        phases: Any,
        share: Any,
        propose: Propose | None,
        opponent: Policy | None,
        block: Any,
    ) -> None:
        if not isinstance(rules, Rules):
            raise OptionError(f"rules={shown(rules)}: a Rules value")
        players = {"policy": policy} | ({} if opponent is None else {"opponent": opponent})
        for name, player in players.items():
            if not callable(getattr(player, "act_rows", None)):
                raise OptionError(
                    f"{name}={shown(player)}: it has no act_rows(observations, masks)"
                )
        if propose is not None and not callable(propose):
            raise OptionError(f"propose={shown(propose)}: a function, or None")
        if not is_integer(block) or not 1 <= block <= 1 << 20:
            raise OptionError(f"block={shown(block)}: hands at once, from 1 to 1,048,576")
        if seed is None:
            raise OptionError("seed=None: a whole number, for pairs are made to be made again")
        self.policy, self.rules, self.propose, self.opponent = policy, rules, propose, opponent
        self.wanted, self.share = _wanted(phases), _share(share)
        if opponent is not None:
            self.wanted[1] = 0
        words = np.random.SeedSequence([int(word) for word in split_seed(seed)])
        self.deals, self.draws = words.generate_state(2, np.uint64)
        self.tables, layout = compile_tables(rules), layout_of(rules)
        self.offsets, self.shape = layout.offsets, (layout.size, actions.of(rules).n)
        self.at_once = n = int(block)
        self.states, self.branches = new_states(n), new_states(n)
        self.observations, self.masks = (np.empty((n, width), np.int8) for width in self.shape)
        most = n * (N_SEATS * rules.tricks + N_SEATS + 1 + 2 * MAX_EXCHANGE)
        self.kept = Kept(  # memory is taken as far as they are filled
            states=np.empty((most, STATE.itemsize // 8), np.uint64),
            rows=np.empty(most, np.int64),
            chosen=np.empty(most, np.int64),
            words=np.empty(most, np.uint64),
        )

    def block(self, hands: range) -> Pairs:
        """The pairs of these hands, of which there are as many as rows, or fewer."""
        lines = self.states[: len(hands)]
        seed_rows(lines, np.uint64(hands.start), self.deals)
        start_rows(lines, self.tables, np.full(len(lines), -1))
        deal_rows(lines, self.tables)
        count = self._main_lines(lines, hands.start)
        kept = Kept(*(array[:count] for array in self.kept))
        order = np.argsort(kept.rows, kind="stable")
        made = Pairs(
            observations=np.empty((len(order), self.shape[0]), np.int8),
            masks=np.empty((len(order), self.shape[1]), np.int8),
            chosen=kept.chosen[order],
            other=np.empty(len(order), np.int64),
            gain=np.empty(len(order), np.float32),
            hand=kept.rows[order] + hands.start,
        )
        results = _side_0_points(lines)
        for start in range(0, len(order), self.at_once):
            part = order[start : start + self.at_once]
            some = Pairs(*(array[start : start + self.at_once] for array in made))
            self._branch(kept.states[part], kept.words[part], some, results[kept.rows[part]])
        return made

    def _main_lines(self, lines: Array, first: int) -> int:
        """Play these hands to their end, and keep their decisions; how many."""
        words, count = _as_words(lines), 0
        made = np.zeros(len(lines), np.int64)
        for live, choices in self._play(lines):
            count = keep_decisions(
                lines, words, live, choices, made, first, self.draws, self.wanted, self.share,
                self.kept, count,
            )  # fmt: skip
        return count

    def _branch(self, states: Array, words: Array, some: Pairs, results: Array) -> None:
        """Fill in the observations, masks, other actions and gains of `some` of the pairs."""
        lines, index = self.branches[: len(states)], np.arange(len(states))
        _as_words(lines)[:] = states
        encode_rows(lines, self.tables, self.offsets, index, some.observations, some.masks)
        sides = np.where(lines["turn"] & 1, -1, 1)
        if self.propose is None:
            draw_others(some.masks, some.chosen, words, some.other)
        else:
            masks = some.masks.copy()
            masks[index, some.chosen] = 0
            answer = self.propose(some.observations.copy(), masks, some.chosen.copy())
            some.other[:] = whole_numbers("propose", answer, len(states))
            same = np.flatnonzero(some.other == some.chosen)
            if len(same):
                raise IllegalActionError(f"propose, row {same[0]}: it is the action chosen")
        self._carry_out("propose", lines, index, some.other)
        for _ in self._play(lines):
            pass
        some.gain[:] = sides * (_side_0_points(lines) - results)

    def _play(self, lines: Array) -> Iterator[tuple[Array, Array]]:
        """Let the policy play the lines to their end; each time who decides what, before it is."""
        live, n = np.arange(len(lines)), len(lines)
        while True:
            n = next_decisions(
                lines, self.tables, self.offsets, live[:n], self.observations, self.masks
            )
            if n == 0:
                return
            choices = self._choices(lines["turn"][live[:n]])
            yield live[:n], choices
            self._carry_out("act_rows", lines, live[:n], choices)

    def _choices(self, seats: Array) -> Array:
        """What the players choose in the first rows of observations, where these seats act."""
        n, choices = len(seats), np.empty(len(seats), np.int64)
        if self.opponent is None:
            answer = self.policy.act_rows(self.observations[:n], self.masks[:n])
            return whole_numbers("act_rows", answer, n)
        for side, player in enumerate((self.policy, self.opponent)):
            rows = np.flatnonzero(seats & 1 == side)
            if len(rows):
                answer = player.act_rows(self.observations[rows], self.masks[rows])
                choices[rows] = whole_numbers("act_rows", answer, len(rows))
        return choices

    def _carry_out(self, asked: str, lines: Array, live: Array, choices: Array) -> None:
        at = int(carry_out(lines, self.tables, live, choices))
        if at >= 0:
            names, choice = actions.of(self.rules).names, int(choices[at])
            given = names[choice] if 0 <= choice < len(names) else choice
            where = f"{asked}, row {at}: "
            raise IllegalActionError(illegal(lines[live[at]], self.rules, given, where))


def _as_words(states: Array) -> Array:
    """State rows as uint64 (n, W), a view: numpy copies structured rows field by field."""
    words: Array = states.view(np.ndarray).view(np.uint64).reshape(len(states), -1)
    return words


def _side_0_points(states: Array) -> Array:
    """What side 0 made of the hands that are over less what side 1 made, int32 (n,)."""
    points: Array = states["points"][:, 0] - states["points"][:, 1]
    return points


def _wanted(phases: Any) -> Array:
    """1 for every phase whose decisions are asked for, of either side, int8 (2, 7)."""
    chosen = to_list("phases", phases, "some of Phase.AUCTION to Phase.PLAY")
    if not chosen or not all(is_integer(each) and 0 <= each < Phase.DEAL for each in chosen):
        raise OptionError(f"phases={shown(phases)}: some of Phase.AUCTION to Phase.PLAY")
    wanted = np.zeros((2, len(Phase)), np.int8)
    wanted[:, [int(each) for each in chosen]] = 1
    return wanted


def _share(share: Any) -> float:
    """The share of the decisions that is asked for; `OptionError` unless above 0, and 1 at most."""
    number = isinstance(share, Real) and not isinstance(share, bool)
    if not number or not 0 < float(share) <= 1:
        raise OptionError(f"share={shown(share)}: above 0, and 1 at most")
    return float(share)
