"""Parsing and validation of deals, seats and scores, before a kernel uses them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import brief, is_integer
from bideuchre_env.errors import DealError, NotationError
from bideuchre_env.rules.cards import CARD_NAMES, N_SEATS, hand_bits, parse_card, spelled_card
from bideuchre_env.rules.rules import Rules

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SCORE_LIMIT = 10**15


def parse_deal(deal: Any, rules: Rules, *, notation: bool = False) -> npt.NDArray[np.int64]:
    """Return four lists of card names, by seat, as hand integers, int64 (4,).

    Cards may be spelled as in `spelled_card`, with `notation` only as in records. Raises
    `DealError` unless they are exactly the deck of these rules, dealt out equally. The cards of a
    kitty are those that no hand has.
    """
    read = parse_card if notation else spelled_card
    if not isinstance(deal, (list, tuple)) or len(deal) != N_SEATS:
        raise DealError(f"deal {brief(deal)}: expected four lists of card names, by seat")
    hands = []
    for seat, hand in enumerate(deal):
        if not isinstance(hand, (list, tuple)):
            raise DealError(f"deal, seat {seat}: {brief(hand)}: expected a list of card names")
        try:
            kinds = [read(name) for name in hand]
        except NotationError as error:
            raise DealError(f"deal, seat {seat}: {error}") from None
        if len(kinds) != rules.tricks:
            raise DealError(
                f"deal, seat {seat}: {len(kinds)} cards: expected {rules.tricks} in this deck"
                + f" with a kitty of {rules.kitty}" * bool(rules.kitty)
            )
        hands.append(kinds)
    most = "at most " if rules.kitty else ""
    counts = Counter(kind for kinds in hands for kind in kinds)
    for kind in sorted(counts.keys() | set(range(rules.kinds))):
        copies = rules.copies if kind < rules.kinds else 0
        if counts[kind] != copies and not (rules.kitty and counts[kind] < copies):
            raise DealError(
                f"deal: {CARD_NAMES[kind]} {counts[kind]} times: expected {most}{copies} in this "
                f"deck of {rules.cards} cards"
            )
    import numpy as np

    return np.array([hand_bits(kinds) for kinds in hands], np.int64)


def parse_dealer(dealer: Any) -> int:
    """A seat 0 to 3, or -1 for None (the first dealer is drawn); `DealError` otherwise."""
    return -1 if dealer is None else parse_seat("dealer", dealer)


def parse_seat(name: str, seat: Any) -> int:
    """Return a seat 0 to 3; otherwise raise `DealError` with the parameter's `name`."""
    if not is_integer(seat) or not 0 <= seat < N_SEATS:
        raise DealError(f"{name} {brief(seat)}: expected a seat from 0 to 3")
    return int(seat)


def parse_score(score: Any) -> tuple[int, int]:
    """Return the two sides' first scores as integers; (0, 0) for None.

    Raises `DealError` unless they are two whole numbers of at most 10**15 either way.
    """
    if score is None:
        return 0, 0
    import numpy as np

    sequence = isinstance(score, (list, tuple)) or (isinstance(score, np.ndarray) and score.ndim)
    values = list(score) if sequence else []
    if (
        len(values) != 2
        or not all(map(is_integer, values))
        or any(abs(int(v)) > SCORE_LIMIT for v in values)
    ):
        raise DealError(
            f"score {brief(score)}: expected two whole numbers of at most 10**15 either way"
        )
    return int(values[0]), int(values[1])
