"""Descriptions in words of cards, actions and recorded games, for text and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from bideuchre_env.core.legality import lays_away
from bideuchre_env.core.state import Phase
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import STRAIN_WORDS, STRAINS, SUITS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

TO_DO = {
    Phase.AUCTION: "to call",
    Phase.NAMING: "to name the strain",
    Phase.GIVING: "to give up a card",
    Phase.PASSING: "to pass a card",
    Phase.PLAY: "to play",
}
LAY_AWAY = "to lay away a card"  # in phase GIVING, for a kitty


def action_to_do(row: Any, rules: Rules) -> str:
    """Return the kind of action of the seat to act in a state row, "to call"."""
    return LAY_AWAY if lays_away(row, rules) else TO_DO[Phase(int(row["phase"]))]


_SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_RANK_WORDS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten", "9": "nine"}


def card_words(name: str) -> str:
    """Describe a card in words: "JH" is "jack of hearts"."""
    return f"{_RANK_WORDS[name[0]]} of {STRAIN_WORDS[SUITS.index(name[1])]}"


def signed(name: str) -> str:
    """Return a card, call or contract with a suit symbol: "10♥", "4 ♥"; others as they are."""
    sign = _SIGNS.get(name[-1:])
    return f"{name[:-1].replace('T', '10')}{sign}" if sign else name


def action_words(rules: Rules) -> dict[str, str]:
    """Map the name of every action of a game to words: "bid 4 H" to "bid 4 in hearts"."""
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


SIDES = ("seats 0 and 2", "seats 1 and 3")


class Game(Protocol):
    """The attributes of a `GameRecord` that are used here."""

    variant: str
    options: dict[str, Any]
    hands: list[dict[str, Any]]
    seed: int | None
    agents: list[str] | None
    winner: int | None
    outcome: str
    start: tuple[int, int]

    @property
    def rules(self) -> Rules:
        """The rules the game was played by."""

    def played_hands(self) -> Iterator[Any]:
        """Replayed hands: deal, actions and final state of each."""


def title(game: Game) -> str:
    """Describe a game in a line: its variant, changed options, and seed if known.

    A custom game has its numbers of cards and tricks instead of options.
    """
    words = [game.variant]
    if game.variant in RULES:
        words += [f"{name}={value}" for name, value in game.options.items()]
    else:
        rules = game.rules
        words.append(f"rules of its own with {rules.cards} cards and {rules.tricks} tricks")
    if game.seed is not None:
        words.append(f"seed {game.seed}")
    return ", ".join(words)


def side_name(game: Game, side: int) -> str:
    """Name a side: "rule (seats 0 and 2)", or only its seats if the record has no agents."""
    if game.agents is None:
        return SIDES[side]
    names = dict.fromkeys((game.agents[side], game.agents[side + 2]))
    return f"{' and '.join(names)} ({SIDES[side]})"


def ending(game: Game) -> str:
    """Describe a result in a sentence: "rule (seats 0 and 2) wins 33 to 21 after 9 hands."."""
    score = game.hands[-1]["score"] if game.hands else list(game.start)
    after = f"after {len(game.hands)} hand{'s' * (len(game.hands) != 1)}"
    if game.winner is not None:
        side = game.winner
        one_agent = game.agents is not None and game.agents[side] == game.agents[side + 2]
        name = side_name(game, side)
        if game.agents is None:
            name = name.capitalize()
        verb = "wins" if one_agent else "win"
        return f"{name} {verb} {score[side]} to {score[1 - side]} {after}."
    word = {"drawn": "The game is drawn", "truncated": "The game is truncated"}.get(
        game.outcome, "The game is unfinished"
    )
    return f"{word} {after}: {SIDES[0]} have {score[0]}, {SIDES[1]} have {score[1]}."
