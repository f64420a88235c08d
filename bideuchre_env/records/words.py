"""The words of tables, as text and as pictures."""

from __future__ import annotations

from bideuchre_env.core.state import Phase
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import STRAINS, SUITS
from bideuchre_env.rules.rules import Rules

STRAIN_WORDS = ("clubs", "diamonds", "hearts", "spades", "no trump")
TO_DO = {
    Phase.AUCTION: "to call",
    Phase.NAMING: "to name the strain",
    Phase.GIVING: "to give up a card",
    Phase.PASSING: "to pass a card",
    Phase.PLAY: "to play",
}
_SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_RANK_WORDS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten", "9": "nine"}


def card_words(name: str) -> str:
    """A card as it is said: "JH" is "jack of hearts"."""
    return f"{_RANK_WORDS[name[0]]} of {STRAIN_WORDS[SUITS.index(name[1])]}"


def signed(name: str) -> str:
    """A card, a call or a contract with the sign of its suit: "10♥", "4 ♥"."""
    sign = _SIGNS.get(name[-1:])
    return f"{name[:-1].replace('T', '10')}{sign}" if sign else name


def action_words(rules: Rules) -> dict[str, str]:
    """Every action of a game by its name, as it is said: "bid 4 H" is "bid 4 in hearts"."""
    acts = actions.of(rules)
    words = {name: card_words(name) for name in acts.names[acts.card_offset :]}
    for name in acts.names[: acts.card_offset]:
        first, _, last = name.rpartition(" ")
        if last not in STRAINS:
            words[name] = name
        elif first == "trump":
            words[name] = f"name {STRAIN_WORDS[STRAINS.index(last)]}"
        else:
            words[name] = f"{first} in {STRAIN_WORDS[STRAINS.index(last)]}"
    return words
