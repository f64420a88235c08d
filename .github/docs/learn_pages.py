"""Generate the section of the variants' pages that shows a hand in pictures.

Agent `expert` played the hands in `learn_hands.jsonl`; in each the left bower takes an early trick.
`LESSONS` has the reader's seat and the number of that trick, from 0. `variant_pages.py` writes the
section and the pictures.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.look import Look
from bideuchre_env.records.page.view import hand_frames, table_view
from bideuchre_env.records.record import GameRecord
from bideuchre_env.records.svg import table_svg
from bideuchre_env.records.words import STRAIN_WORDS, signed
from bideuchre_env.rules.cards import CARD_NAMES, N_SEATS, STRAINS, SUITS

HANDS = Path(__file__).with_name("learn_hands.jsonl")
PICTURES = Path(__file__).resolve().parents[2] / ".github" / "pictures"
LESSONS = {
    "cincinnati_v0": (2, 0),
    "simplified_v0": (2, 1),
    "club_v0": (2, 1),
    "barrie_v0": (1, 0),
    "six_card_v0": (1, 0),
    "double_deck_v0": (0, 0),
    "partners_best_v0": (2, 0),
    "indiana_v0": (1, 1),
    "pepper_v0": (0, 1),
}
ALT = (
    "table as dealt",
    "table with the contract",
    "table in trick {}",
    "table after trick {}",
    "table at the end",
)
"""The texts in place of the pictures; the page has the events between them."""

Lines = list[str]


class Lesson:
    """The example hand of a variant: its state rows before each action and after the last."""

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
        """Return the table as the reader sees it after `at` actions, as the page's JSON."""
        return table_view(self.rows[at][0], self.rules, self.seat)

    @property
    def start(self) -> int:
        """Number of actions before the first card is played."""
        return int(self.frames["tricks"][0]["first"])

    @property
    def steps(self) -> tuple[int, ...]:
        """Number of actions before each picture: dealt, contract, trick, trick won, end.

        The third picture precedes the reader's left bower, or follows it if that card is led.
        """
        trick = self.frames["tricks"][self.trick]
        own = int(trick["plies"][self.seat])
        about_to = own if own > trick["first"] else own + 1
        return (0, self.start, about_to, int(trick["end"]), len(self.rows) - 1)

    def events(self, start: int, stop: int) -> str:
        """Return sentences on actions `start` to `stop` - 1."""
        return " ".join(self.view(at)["happened"] for at in range(start + 1, stop + 1))


@lru_cache(maxsize=8)
def lesson(name: str) -> Lesson:
    """Return the cached hand of a variant."""
    return Lesson(name)


def pictures(name: str) -> dict[str, str]:
    """Return the SVG documents of a variant's hand by file name: five pictures in two themes."""
    hand = lesson(name)
    return {
        f"learn-{name}-{number}-{theme}.svg": table_svg(
            hand.rows[at][0], hand.rules, viewer=hand.seat, dark=theme == "dark"
        )
        for number, at in enumerate(hand.steps, 1)
        for theme in ("light", "dark")
    }


def picture(name: str, number: int) -> str:
    """Return the HTML of picture `number`, from 1, in the page of a variant."""
    file = f"../../.github/pictures/learn-{name}-{number}"
    source = f'<source media="(prefers-color-scheme: dark)" srcset="{file}-dark.svg">'
    alt = ALT[number - 1].format(lesson(name).trick + 1)
    return f'<picture>{source}<img src="{file}-light.svg" width="570" alt="{alt}"></picture>'


def learn_lines(name: str) -> Lines:
    """Return the Markdown lines of a page's section: the hand's trumps, pictures and tricks."""
    hand = lesson(name)
    dealt, start, about_to, won, _ = hand.steps
    before, first = hand.view(about_to), int(hand.frames["tricks"][hand.trick]["first"])
    return [
        f"You sit at the bottom, partner opposite. {_trumps(hand)} {hand.view(dealt)['words']}",
        "",
        picture(name, 1),
        "",
        f"**Auction.** {hand.events(0, start)}",
        "",
        picture(name, 2),
        "",
        f"**Trick {hand.trick + 1}.** {hand.events(first, about_to)} {before['remark']} "
        f"{before['to_do']}",
        "",
        picture(name, 3),
        "",
        hand.events(about_to, won),
        "",
        picture(name, 4),
        "",
        "**All tricks**, in the order of play; the winning card is bold.",
        "",
        *_trick_lines(hand),
        "",
        _result(hand),
        "",
        picture(name, 5),
    ]


def _trumps(hand: Lesson) -> str:
    """Return a sentence on the order of the trumps, and on the suit that loses its jack to them."""
    look = Look(hand.rows[-1][0], hand.rules, None)
    names = list(CARD_NAMES[: hand.rules.kinds])
    trumps = look.fanned([name for name in names if look.trump_power(name)])
    left = str(look.left_bower())
    weaker = [name for name in names if name[1] == left[1] and name != left]
    suit, other = STRAIN_WORDS[look.strain], STRAIN_WORDS[SUITS.index(left[1])]
    right, *rest = map(signed, trumps)
    assert rest[0] == signed(left)
    return (
        f"{suit.capitalize()} will be trump: {right} (right bower), {rest[0]} (left bower), "
        f"{' '.join(rest[1:])}. The {other} are then {' '.join(map(signed, weaker))}."
    )


def _trick_lines(hand: Lesson) -> Lines:
    """Return the tricks as lines of a numbered list."""
    look = Look(hand.rows[-1][0], hand.rules, hand.seat)
    lines = []
    for number, trick in enumerate(hand.frames["tricks"], 1):
        cards = []
        for turn in range(N_SEATS):
            seat = (int(trick["leader"]) + turn) % N_SEATS
            card = signed(hand.frames["plies"][trick["plies"][seat]]["action"])
            cards.append(f"**{card}**" if seat == trick["winner"] else card)
        lines.append(f"{number}. {look.who(int(trick['leader']))}: {' '.join(cards)}")
    return lines


def _result(hand: Lesson) -> str:
    """Return two sentences on the result of a hand; it must be a made contract in a suit."""
    side = hand.seat & 1
    ours, theirs = hand.hand["tricks"][side], hand.hand["tricks"][1 - side]
    bid = int(hand.hand["contract"].split()[0])
    declares = hand.hand["declarer"] & 1 == side
    who, won = ("Your side", ours) if declares else ("The other side", theirs)
    points = "{:+d} to {:+d}".format(hand.hand["points"][side], hand.hand["points"][1 - side])
    assert STRAINS.index(hand.hand["contract"].split()[1]) < len(SUITS)
    assert won >= bid
    return (
        f"{who} bid {bid} and won {won} of {hand.rules.tricks} tricks: the contract is *made*, "
        f"{points} points. With fewer than {bid} tricks it would have been *set*: -{bid} points."
    )
