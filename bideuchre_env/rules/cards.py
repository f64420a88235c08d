"""Cards, suits, strains and seats: integers internally, names in notation (`records/README.md`).

A *card kind* is `rank * 4 + suit` with ranks counted down from the ace, so a deck with fewer
ranks is a prefix of the 24 kinds (16 kinds: A K Q J; 20: down to the ten; 24: down to the nine).
Two copies of a card are one kind.

A *hand* is one integer: bit `kind` says that a copy is held, bit `kind + 24` that a second is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bideuchre_env._checks import brief, typed
from bideuchre_env.errors import NotationError

RANKS = "AKQJT9"
SUITS = "CDHS"
STRAINS = ("C", "D", "H", "S", "NT", "LOW")
STRAIN_WORDS = ("clubs", "diamonds", "hearts", "spades", "no trump", "low no trump")
N_SUITS, N_STRAINS = len(SUITS), len(STRAINS)
NO_TRUMP, LOW = 4, 5  # every strain from `NO_TRUMP` on is without trumps
JACK = RANKS.index("J")
N_SEATS = 4
MAX_KINDS = 24
MAX_TRICKS = 12
MAX_KITTY = 4
COPY_SHIFT = 24
KIND_BITS = (1 << MAX_KINDS) - 1

CARD_NAMES = tuple(rank + suit for rank in RANKS for suit in SUITS)
AGENT_NAMES = tuple(f"player_{seat}" for seat in range(N_SEATS))

_KIND_OF = {name: kind for kind, name in enumerate(CARD_NAMES)}
_SIGNS = str.maketrans("♣♧♦♢♥♡♠♤", "ccddhhss", "\ufe0e\ufe0f")
_RANK_ORDER = {rank: value for value, rank in enumerate("9TJQKA")}
_NO_CARD = "is no card: a rank of 9 T J Q K A then a suit of C D H S"


def same_colour(suit: int) -> int:
    """Return the other suit of the same colour: clubs and spades, diamonds and hearts."""
    return 3 - suit


def parse_card(name: object) -> int:
    """The kind of a card in notation, such as `"JH"`; `NotationError` for anything else."""
    kind = _KIND_OF.get(name) if isinstance(name, str) else None
    if kind is None:
        raise NotationError(f"{brief(name)} {_NO_CARD}, as 'JH'")
    return kind


def spelled_card(name: object) -> int:
    """The kind of a card as people spell it: "JH", "J♥", "10h" or "th"; `NotationError` otherwise.

    Records accept only notation, see `parse_card`.
    """
    kind = _KIND_OF.get(name) if isinstance(name, str) else None
    if kind is None and isinstance(name, str):
        kind = _KIND_OF.get(plain_letters(name).upper())
    if kind is None:
        raise NotationError(f"{typed(name)} {_NO_CARD}, as 'JH', 'J♥' or '10h'")
    return kind


def plain_letters(text: str) -> str:
    """Normalise a text to notation, in lower case and without blanks.

    Suit symbols become letters. The 10 becomes a t if the whole text is one card.
    """
    plain = "".join(text.translate(_SIGNS).casefold().split())
    return f"t{plain[2]}" if re.fullmatch("10[cdhs]", plain) else plain


def parse_strain(name: object) -> int:
    """The number of a strain name: `C D H S NT LOW` are 0 to 5; `NotationError` for others."""
    if not isinstance(name, str) or name not in STRAINS:
        raise NotationError(f"{brief(name)} is no strain: expected one of {' '.join(STRAINS)}")
    return STRAINS.index(name)


def sort_key(name: str) -> tuple[int, int]:
    """Return the sort key of a card name in a displayed hand: spades first, high cards first."""
    return (-SUITS.index(name[1]), -_RANK_ORDER[name[0]])


def hand_bits(kinds: Iterable[int]) -> int:
    """The hand integer that holds these kinds (each at most twice)."""
    hand = 0
    for kind in kinds:
        hand |= 1 << kind if not hand >> kind & 1 else 1 << (kind + COPY_SHIFT)
    return hand


def hand_kinds(hand: int) -> list[int]:
    """Return the kinds in a hand integer, in increasing order; a pair is listed twice."""
    hand = int(hand)
    return [
        kind
        for kind in range(MAX_KINDS)
        for copy in range(2)
        if hand >> (kind + COPY_SHIFT * copy) & 1
    ]


def hand_names(hand: int) -> list[str]:
    """Return the card names in a hand integer, sorted by suit (spades first), high cards first."""
    return sorted((CARD_NAMES[kind] for kind in hand_kinds(hand)), key=sort_key)
