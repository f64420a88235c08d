"""Generate the beginners' section of the variants' pages, with a hand in pictures.

Agent `expert` played the hands in `learn_hands.jsonl`; in each the left bower takes an early trick.
`LESSONS` has the reader's seat and the number of that trick, from 0. `variant_pages.py` writes the
section and the pictures.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from table_svg import table_svg

from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.look import Look
from bideuchre_env.records.page.view import hand_frames, table_view
from bideuchre_env.records.record import GameRecord
from bideuchre_env.records.words import STRAIN_WORDS, card_words, signed
from bideuchre_env.rules.cards import CARD_NAMES, N_SEATS, STRAINS, SUITS
from bideuchre_env.rules.rules import Rules

HANDS = Path(__file__).with_name("learn_hands.jsonl")
PICTURES = Path(__file__).resolve().parents[2] / ".github" / "pictures"
LESSONS = {
    "cincinnati_v0": (2, 0),
    "simplified_v0": (2, 1),
    "club_v0": (2, 1),
    "barrie_v0": (1, 0),
    "six_card_v0": (1, 0),
    "double_deck_v0": (0, 0),
}
Lines = list[str]


class Lesson:
    """An example hand: its state rows before each action and after the last."""

    def __init__(self, name: str) -> None:
        lines = HANDS.read_text(encoding="utf-8").splitlines()
        [record] = [GameRecord.loads(line) for line in lines if json.loads(line)["variant"] == name]
        [self.played] = record.played_hands()
        self.name, self.rules, self.hand = name, record.rules, record.hands[0]
        self.seat, self.trick = LESSONS[name]
        self.frames = hand_frames(self.played.dealt, self.played.actions, self.rules, None)
        self.rows = [rows_of([self.played.dealt])]
        for action in self.played.actions.tolist():
            self.rows.append(self.rows[-1].copy())
            step_row(self.rows[-1], compile_tables(self.rules), action)

    def view(self, at: int) -> dict[str, Any]:
        """The reader's view after `at` actions."""
        return table_view(self.rows[at][0], self.rules, self.seat)

    @property
    def start(self) -> int:
        """The number of actions before the play."""
        return int(self.frames["tricks"][0]["first"])

    @property
    def picture_plies(self) -> tuple[int, ...]:
        """The numbers of actions before each picture: deal, auction, trick, its winner, end.

        The third picture is before the reader plays the left bower, or after it if it is led.
        """
        trick = self.frames["tricks"][self.trick]
        own = int(trick["plies"][self.seat])
        about_to = own if own > trick["first"] else own + 1
        return (0, self.start, about_to, int(trick["end"]), len(self.rows) - 1)

    def happened(self, start: int, stop: int) -> str:
        """Sentences on the actions from `start` to `stop`."""
        return " ".join(self.view(at)["happened"] for at in range(start + 1, stop + 1))


@lru_cache(maxsize=8)
def lesson(name: str) -> Lesson:
    """The hand of a variant."""
    return Lesson(name)


def pictures(name: str) -> dict[str, str]:
    """The SVG documents of a variant's hand, by file name."""
    hand = lesson(name)
    return {
        f"learn-{name}-{number}-{theme}.svg": table_svg(
            hand.rows[at][0], hand.rules, viewer=hand.seat, dark=theme == "dark"
        )
        for number, at in enumerate(hand.picture_plies, 1)
        for theme in ("light", "dark")
    }


def picture(name: str, number: int) -> str:
    """The HTML of a picture of the hand."""
    hand = lesson(name)
    view = hand.view(hand.picture_plies[number - 1])
    file = f"../../.github/pictures/learn-{name}-{number}"
    source = f'<source media="(prefers-color-scheme: dark)" srcset="{file}-dark.svg">'
    alt = f"{view['title']}. {view['words']}"
    return f'<picture>{source}<img src="{file}-light.svg" width="570" alt="{alt}"></picture>'


def learn_lines(name: str) -> Lines:
    """The section of a page: tricks, jacks, and the hand."""
    return [
        *_game_lines(lesson(name).rules),
        "",
        *_jack_lines(lesson(name)),
        "",
        *_hand_lines(name),
    ]


def _game_lines(rules: Rules) -> Lines:
    """Tricks, partners and the auction."""
    alone = " Some bids are to play alone; then the partner sits out." if rules.lone else ""
    each = f"each player says once how many of the {rules.tricks} tricks the two partners will take"
    if rules.strain_named == "in_bid":
        each += ", and with which suit as trump or with none, or passes"
    else:
        each += ", or passes, and the highest bidder then names the suit that is trump, or none"
    return [
        "It is a trick-taking game like whist, spades or hearts. One player puts a card on the "
        "table, the others in turn, to the left, put one each, and the best card takes all of "
        "them: that is a *trick*. A player with a card of the suit led must play one; a player "
        "without may play any card. A card of the *trump* suit beats every card of the others. "
        "Partners sit opposite each other, and their tricks count together.",
        "",
        f"Before that there is an auction: {each}. The highest bid is played: its "
        f"side must take at least as many tricks, and the other side tries to prevent it.{alone}",
    ]


def _jack_lines(hand: Lesson) -> Lines:
    """The rank of the jacks, with the trump of the hand as example."""
    look = Look(hand.rows[-1][0], hand.rules, None)
    names = list(CARD_NAMES[: hand.rules.kinds])
    trumps = look.fanned([name for name in names if look.trump_power(name)])
    left = str(look.left_bower())
    weaker = [name for name in names if name[1] == left[1] and name != left]
    suit, other = STRAIN_WORDS[look.strain], STRAIN_WORDS[SUITS.index(left[1])]
    twice = ""
    if hand.rules.copies > 1:
        twice = " There are two of each card; of two equal cards the first played wins."
    return [
        f"New to players of other games are the jacks. With {suit} as trump the cards of that suit "
        f"are, the highest first, {' '.join(map(signed, trumps))}. The jack of {suit} is the "
        f"*right bower*; after it comes {signed(left)}, the *left bower*, which is now one of the "
        f"{suit}, so that the {other} are {' '.join(map(signed, weaker))} alone. In all other "
        "suits, and without trump, the ace is the highest and the "
        f"{_lowest(hand.rules)} the lowest.{twice}",
    ]


def _lowest(rules: Rules) -> str:
    """The lowest rank of the deck."""
    return card_words(CARD_NAMES[rules.kinds - 1]).partition(" ")[0]


def _hand_lines(name: str) -> Lines:
    """The hand with its pictures."""
    hand = lesson(name)
    dealt, start, about_to, won, _ = hand.picture_plies
    before = hand.view(about_to)
    return [
        "**A hand.** You sit at the bottom, your partner opposite, and *left* and *right* are the "
        "players beside you. Of the others you see the backs of their cards, and how many they "
        f"hold. {hand.view(dealt)['words']}",
        "",
        picture(name, 1),
        "",
        f"**The auction.** {hand.happened(0, start)} Trump stands at the right of the table. "
        f"{hand.view(start)['to_do']}",
        "",
        picture(name, 2),
        "",
        f"**Trick {hand.trick + 1}.** {hand.happened(start, about_to)} {before['remark']} "
        f"{before['to_do']}",
        "",
        picture(name, 3),
        "",
        hand.happened(about_to, won),
        "",
        picture(name, 4),
        "",
        "**The rest.** All tricks of the hand, a column for each player; ▸ led the trick, and the "
        "card in bold has won it.",
        "",
        *_trick_lines(hand),
        "",
        _result(hand),
        "",
        picture(name, 5),
    ]


def _trick_lines(hand: Lesson) -> Lines:
    """The tricks as a table, the reader first."""
    look = Look(hand.rows[-1][0], hand.rules, hand.seat)
    seats = [(hand.seat + turn) % N_SEATS for turn in range(N_SEATS)]
    lines = ["| trick | " + " | ".join(map(look.who, seats)) + " |", "| --- " * 5 + "|"]
    for number, trick in enumerate(hand.frames["tricks"], 1):
        cells = []
        for seat in seats:
            card = signed(hand.frames["plies"][trick["plies"][seat]]["action"])
            card = f"**{card}**" if seat == trick["winner"] else card
            cells.append(f"▸ {card}" if seat == trick["leader"] else card)
        lines.append(f"| {number} | {' | '.join(cells)} |")
    return lines


def _result(hand: Lesson) -> str:
    """The result of the hand, with its reason."""
    side = hand.seat & 1
    ours, theirs = hand.hand["tricks"][side], hand.hand["tricks"][1 - side]
    bid = int(hand.hand["contract"].split()[0])
    declares = hand.hand["declarer"] & 1 == side
    who, won = ("You and your partner", ours) if declares else ("The others", theirs)
    points = "{:+d} to {:+d}".format(hand.hand["points"][side], hand.hand["points"][1 - side])
    assert STRAINS.index(hand.hand["contract"].split()[1]) < len(SUITS)
    assert won >= bid
    return (
        f"{who} bid {bid} and took {won} of the {hand.rules.tricks} tricks: the bid is *made*, and "
        f"every trick is a point to the side that took it, {points}. With fewer than {bid} they "
        f"would have been *set*, and lost {bid} points."
    )
