"""The expert: calls weighed by tables and a network, the rule player's cards, the end by search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bideuchre_env._checks import shown
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.expert.auction import (
    CALLS,
    expert_call,
    expert_strain,
    find_best,
    look_up,
    start_calls,
)
from bideuchre_env.agents.expert.call_network import NETWORK
from bideuchre_env.agents.expert.call_weights import load_call_weights
from bideuchre_env.agents.expert.endgame import endgame_card
from bideuchre_env.agents.expert.hand_table import HandTable, hand_table
from bideuchre_env.agents.expert.holder_odds import leanings
from bideuchre_env.agents.expert.sampled_deals import LAYOUT
from bideuchre_env.agents.expert.win_table import win_table
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.agents.rule.bidding import SCRATCH, choose_call, choose_strain
from bideuchre_env.agents.rule.discarding import give_up, pass_over
from bideuchre_env.agents.rule.following import follow
from bideuchre_env.agents.rule.leading import lead
from bideuchre_env.agents.rule.view import VIEW, read_view
from bideuchre_env.agents.rule.weights import load_weights
from bideuchre_env.agents.rule.win_curve import read_time
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel, new_rows

WANTED = (0, 0, 40, 40, 60, 60, 0, 0, 0, 0, 0, 0, 0)
"""[cards in hand]: layouts of the unseen cards to look at; 0 where the rules decide alone."""
ERRS_BY = 0.35
"""Points by which the network's word on a call may err."""
MARGIN = 0.05
"""Points a card must gain over the one the rules would play."""
DOUBT = 0.5
"""Standard errors it must gain besides."""
LEAN = 2
"""How much likelier, in quarters, a seat holds a card of a suit it has bid; the declarer, where no
leanings are known of the deck."""

NO_TABLE = HandTable(
    np.zeros(0, np.int64), np.zeros((0, 1, 5, 1), np.uint8), np.zeros((0, 1, 4, 5), np.uint8)
)


class Book(NamedTuple):
    """What the expert knows about a game before the first card: arrays for its kernels."""

    weights: Array  # the rule player's numbers, one `hand_weights.WEIGHTS`
    keys: Array  # hands, their tricks and their chances alone: `hand_table.HandTable`
    tricks: Array
    lone: Array
    numbers: Array  # of the calls, one `call_network.NETWORK`: `call_weights.load_call_weights`
    wins: Array  # the chance to win from every score: `win_table.win_table`
    trusted: float  # points by which what calls seem worth may err; 0.0 where nothing was learned


def open_book(rules: Rules, numbers: Array | None = None, wins: Array | None = None) -> Book:
    """The book for these rules; `numbers` and `wins` instead of the package's own if given."""
    weights = load_weights(rules.kinds, rules.copies)
    table = hand_table(rules.kinds, rules.copies) or NO_TABLE
    numbers = load_call_weights(rules) if numbers is None else numbers
    wins = win_table(rules) if wins is None else wins
    trusted = ERRS_BY if numbers["last"].any() else 0.0
    return Book(weights, table.keys, table.tricks, table.lone, numbers, wins, trusted)


def check_options(numbers: Any, wins: Any, wanted: Any, margin: Any, doubt: Any, lean: Any) -> None:
    """Raise `OptionError` for an option of the expert that makes no sense."""
    if numbers is not None and not (
        isinstance(numbers, np.ndarray) and numbers.dtype == NETWORK and numbers.shape == (1,)
    ):
        raise OptionError("numbers: one record of `call_network.NETWORK`, or None")
    if wins is not None and not (
        isinstance(wins, np.ndarray) and wins.ndim == 3 and wins.dtype == np.float64
    ):
        raise OptionError("wins: a table as `win_table.win_table` makes it, or None")
    whole = isinstance(wanted, tuple) and all(type(n) is int and 0 <= n <= 10_000 for n in wanted)
    if not whole or len(wanted) != len(WANTED):
        raise OptionError(f"wanted={shown(wanted)}: {len(WANTED)} whole numbers from 0 to 10,000")
    if type(margin) not in (int, float) or not 0 <= margin <= 100:
        raise OptionError(f"margin={shown(margin)}: points from 0 to 100")
    if type(doubt) not in (int, float) or not 0 <= doubt <= 100:
        raise OptionError(f"doubt={shown(doubt)}: standard errors from 0 to 100")
    if type(lean) is not int or not 0 <= lean <= 100:
        raise OptionError(f"lean={shown(lean)}: a whole number from 0 to 100")


def new_layouts(
    rules: Rules,
    wanted: tuple[int, ...] = WANTED,
    margin: float = MARGIN,
    doubt: float = DOUBT,
    lean: int = LEAN,
) -> Array:
    """Working room for the search of the last tricks, an array of one `LAYOUT`."""
    layouts = new_rows(LAYOUT, 1)
    layouts["wanted"], layouts["margin"], layouts["doubt"] = wanted, margin, doubt
    layouts["lean_by"] = lean
    if any(wanted):
        layouts["leanings"] = leanings(rules)
    return layouts


class ExpertAgent(RowAgent):
    """Bids by tables and plays by counting; deterministic, so `seed` changes nothing."""

    name = "expert"

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        numbers: Array | None = None,
        wins: Array | None = None,
        wanted: tuple[int, ...] = WANTED,
        margin: float = MARGIN,
        doubt: float = DOUBT,
        lean: int = LEAN,
    ):
        super().__init__(rules)
        if seed is not None:
            split_seed(seed)  # refuses what is no seed
        check_options(numbers, wins, wanted, margin, doubt, lean)
        self.book = open_book(rules, numbers, wins)
        self._layouts = new_layouts(rules, wanted, margin, doubt, lean)

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """A legal action for every row; int64 (n,)."""
        choices = np.empty(len(observations), np.int64)
        expert_rows(
            observations, action_masks, self.tables, self.layout.offsets, self.book,
            new_rows(VIEW, 1), new_rows(SCRATCH, 1), new_rows(CALLS, 1), self._layouts.copy(),
            choices,
        )  # fmt: skip
        return choices


@entry_kernel
def expert_rows(
    observations: Array,
    masks: Array,
    tables: Array,
    offsets: Array,
    book: Book,
    views: Array,
    scratch: Array,
    calls: Array,
    layouts: Array,
    choices: Array,
) -> None:
    """Fill `choices` with the expert's action for every row; rewrites views to layouts."""
    for i in range(len(observations)):
        choices[i] = expert_decision(
            row_of(observations, i), row_of(masks, i), tables[0], offsets[0], book, views[0],
            scratch[0], calls[0], layouts[0],
        )  # fmt: skip


@kernel
def expert_decision(
    row: Array, mask: Array, t: Row, o: Row, book: Book, v: Row, scratch: Row, b: Row, x: Row
) -> int:
    """The expert's action for one observation, legal whatever stands in it."""
    read_view(row, t, o, v)
    if v.phase == AUCTION or v.phase == NAMING:
        choice = expert_bid(v, mask, t, book, scratch, b)
    else:
        choice = expert_card(v, mask, t, x)
    # an observation that no game can give may mislead, but never past the mask
    if choice < 0 or choice >= t.n_actions or mask[choice] == 0:
        choice = 0
        while mask[choice] == 0:
            choice += 1
    return choice


@kernel
def expert_bid(v: Row, mask: Array, t: Row, book: Book, scratch: Row, b: Row) -> int:
    """The call to make or the strain to name; by the rule player's numbers without a table."""
    naming = v.phase == NAMING
    w = book.weights[0]
    if not weigh_hand(v, t, book, scratch, b):
        if naming:
            return t.trump_offset + choose_strain(v, t, w, scratch)
        return choose_call(v, t, w, call_bits(mask, t), scratch)
    if naming:
        return t.trump_offset + expert_strain(v, t, book.wins, b)
    return expert_call(v, t, book.numbers[0], w, book.wins, call_bits(mask, t), b)


@kernel
def weigh_hand(v: Row, t: Row, book: Book, scratch: Row, b: Row) -> bool:
    """Fill what the hand and the standing bid are worth; False if no table has the hand."""
    if not look_up(v, t, book.keys, book.tricks, book.lone, book.numbers[0], scratch, b):
        return False
    read_time(v)
    find_best(b)
    if v.phase != NAMING:
        start_calls(v, t, book.numbers[0], book.weights[0], book.wins, scratch, b)
    return True


@kernel
def expert_card(v: Row, mask: Array, t: Row, x: Row) -> int:
    """The card to give up, to pass or to play."""
    first = t.card_offset
    legal = gather_bits(mask, first, t.kinds, 0)
    if legal & (legal - 1) == 0:
        return first + lowest_bit(legal)
    if v.phase == GIVING:
        return first + give_up(v, t, legal)
    if v.phase == PASSING:
        return first + pass_over(v, t, legal)
    chosen = lead(v, t, legal) if v.led < 0 else follow(v, t, legal)
    return first + endgame_card(v, t, x, legal, chosen)
