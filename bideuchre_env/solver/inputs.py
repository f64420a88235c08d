"""Conversion of the solver's arguments: environments, state rows, records and deals.

The results are state rows and hand integers. All of them are validated here, because kernels do not
check.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._checks import brief, is_integer
from bideuchre_env.core.one_row import replay_row
from bideuchre_env.core.state import STATE, Phase, new_states, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import NO_HANDS, NO_TRICK, NOT_IN_PLAY, ending_fault
from bideuchre_env.errors import DealError, OptionError, PositionError
from bideuchre_env.records.record import GameRecord, PlayedHand
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, MAX_KINDS, N_SEATS
from bideuchre_env.rules.parse import parse_deal
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.runtime.jit import Array, entry_kernel

FAULTS = {
    NOT_IN_PLAY: "is not in the play of the cards",
    NO_HANDS: "has hands that this deck and the tricks to come cannot give",
    NO_TRICK: "has a trick that its seats, its strain and the cards on the table do not make",
}


@entry_kernel
def first_fault(states: Array, tables: Array, scratch: Array) -> int:
    """Return `row * 16 + fault` for the first row that is no valid position of the card play.

    `row` is its index and `fault` a key of `FAULTS`. The result is -1 if all rows are valid.
    `scratch` is an array of one state row, which is overwritten.
    """
    for i in range(len(states)):
        fault = ending_fault(tables[0], states[i], scratch[0])
        if fault > 0:
            return i * 16 + fault
    return -1


def check_rows(rows: Any, rules: Rules) -> Array:
    """Return a validated copy, shape (n,), of one or more state rows in the card play.

    Raises `PositionError` for the first invalid row, and for anything but state rows.
    """
    check_rules(rules)
    if not isinstance(rows, (np.ndarray, np.void)) or rows.dtype.names != STATE.names:
        raise PositionError(f"{brief(rows)}: expected rows of the STATE dtype")
    array = np.atleast_1d(np.asarray(rows))
    if array.ndim != 1 or array.dtype.fields != STATE.fields:
        raise PositionError(f"rows of shape {array.shape}: expected STATE rows of shape (n,)")
    states = new_states(len(array))
    states[:] = array
    code = int(first_fault(states, compile_tables(rules), new_states(1)))
    if code >= 0:
        row, fault = divmod(code, 16)
        phase = int(states[row]["phase"])
        message = FAULTS[fault]
        if fault == NOT_IN_PLAY and 0 <= phase < len(Phase):
            message += f" but in phase {Phase(phase).name}: the solver begins at the opening lead"
        raise PositionError(f"position {row} {message}")
    return states


def position_of(
    position: Any, rules: Rules | None, ply: int | None, hand: int | None
) -> tuple[Array, Rules]:
    """Return a validated state row, shape (1,), and its rules.

    `position` is a `GameRecord` (with `ply`, perhaps `hand`), an environment, or a state row (with
    `rules`), see `solve`. Raises `PositionError` for any other combination.
    """
    if isinstance(position, GameRecord):
        _require(rules is None, "rules", "with a record")
        return check_rows(rows_before(position, ply, hand), position.rules), position.rules
    _require(ply is None and hand is None, "ply, hand", "without a record")
    env: Any = getattr(position, "unwrapped", None)
    if hasattr(env, "rules") and hasattr(env, "get_state"):
        _require(rules is None, "rules", "with an environment")
        return _require_one(check_rows(env.get_state(), env.rules)), env.rules
    if rules is None and not isinstance(position, (np.ndarray, np.void)):
        raise PositionError(
            f"{brief(position)}: expected an environment, a state row with its rules, or a "
            "GameRecord with a ply"
        )
    states = check_rows(position, rules)  # type: ignore[arg-type]  # check_rows rejects None
    return _require_one(states), rules  # type: ignore[return-value]


def _require_one(states: Array) -> Array:
    if len(states) != 1:
        raise PositionError(f"{len(states)} state rows: expected one (solve_batch takes many)")
    return states


def _require(holds: bool, names: str, when: str) -> None:
    if not holds:
        raise PositionError(f"{names}: expected None {when}")


def rows_before(record: GameRecord, ply: Any, hand: Any) -> Array:
    """Return the state row, shape (1,), before action `ply` of a record, or of its hand `hand`.

    Both numbers count from 0. Raises `PositionError` if there is no such action, and `RecordError`
    if the record does not replay.
    """
    hands = list(record.played_hands())
    if not is_integer(ply):
        raise PositionError(
            f"ply={brief(ply)}: expected the number of an action of the record, from 0"
        )
    number, left = (hand, ply) if hand is not None else _hand_of(hands, ply)
    if not is_integer(number) or not 0 <= number < len(hands):
        raise PositionError(f"hand={brief(number)}: expected a number from 0 to {len(hands) - 1}")
    played = hands[number].actions
    if not 0 <= left < len(played):
        raise PositionError(
            f"ply={brief(ply)}: expected 0 to {len(played) - 1}, an action of hand {number}"
        )
    states = rows_of([hands[number].dealt])
    replay_row(states, compile_tables(record.rules), played[:left])
    return states


def _hand_of(hands: list[PlayedHand], ply: Any) -> tuple[int, int]:
    """Return the number of the hand with action `ply` of the game, and the action's number in it.

    Raises `PositionError` if the game has no such action.
    """
    left = int(ply)
    for number, hand in enumerate(hands):
        if 0 <= left < len(hand.actions):
            return number, left
        left -= len(hand.actions)
    total = sum(len(hand.actions) for hand in hands)
    raise PositionError(f"ply={ply}: expected 0 to {total - 1}, an action of the record")


def hands_of_deals(deals: Any, rules: Rules) -> Array:
    """Return validated deals as hand integers, int64 (n, 4).

    `deals` is such an array, or a list of deals, each of four lists of card names. Raises
    `DealError` unless each deal gives out the whole deck, the same number of cards to each seat,
    and `OptionError` for a game with a kitty.
    """
    check_rules(rules)
    if rules.kitty:
        raise OptionError(
            f"kitty={rules.kitty}: expected 0, because the solver does not choose the cards that "
            "are laid away; it solves positions after that, see `solve`"
        )
    if not isinstance(deals, np.ndarray):
        if not isinstance(deals, (list, tuple)):
            raise DealError(
                f"deals {brief(deals)}: expected a list of deals, or int64 (n, 4) hands"
            )
        many = [parse_deal(deal, rules) for deal in deals]
        return np.array(many, np.int64).reshape(len(many), N_SEATS)
    if deals.ndim != 2 or deals.shape[1] != N_SEATS or deals.dtype.kind not in "iu":
        raise DealError(
            f"deals of {deals.dtype} {deals.shape}: expected int64 hands of shape (n, 4)"
        )
    hands = np.ascontiguousarray(deals, np.int64)
    once, twice, kinds = hands & KIND_BITS, hands >> COPY_SHIFT, np.arange(MAX_KINDS)
    copies = (once[..., None] >> kinds & 1) + (twice[..., None] >> kinds & 1)  # by deal, seat, kind
    sound = (
        (copies.sum(axis=1) == rules.copies * (kinds < rules.kinds)).all(axis=1)
        & (copies.sum(axis=2) == rules.tricks).all(axis=1)
        & (twice & ~once == 0).all(axis=1)
    )
    if not sound.all():
        raise DealError(
            f"deal {int(sound.argmin())} is not the deck of {rules.cards} dealt out equally"
        )
    return hands


def hands_of_deal(deal: Any, rules: Rules) -> Array:
    """Return one validated deal as hand integers, int64 (1, 4).

    `deal` is four lists of card names, by seat, or an int64 array (4,). Errors: `hands_of_deals`.
    """
    if isinstance(deal, np.ndarray):
        return hands_of_deals(deal.reshape(1, -1) if deal.ndim == 1 else deal, rules)
    return hands_of_deals([deal], rules)
