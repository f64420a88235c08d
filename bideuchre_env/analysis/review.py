"""A review: the decisions of a game, hand by hand and summed up, and the same in words."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any

from bideuchre_env._columns import html_table
from bideuchre_env.agents.advice.holding import number_word
from bideuchre_env.analysis.decision import Decision
from bideuchre_env.analysis.words import counted, named, par_text, tricks
from bideuchre_env.solver.par import Par

WIDTH = 80


@dataclass(frozen=True)
class HandReview:
    """A hand of the record, what the deal is worth with all hands open, and its decisions."""

    number: int
    """Of the record, from 0."""
    result: str
    """What came of it, in a sentence."""
    par: Par
    decisions: tuple[Decision, ...]

    @property
    def mistakes(self) -> list[Decision]:
        """The decisions that were mistakes, in order."""
        return [each for each in self.decisions if each.mistake]

    @property
    def head(self) -> str:
        """The hand, its result and par, in a paragraph."""
        worth = f"With all hands open it is worth {par_text(self.par)}."
        return f"Hand {self.number + 1}: {self.result} {worth}"

    def __str__(self) -> str:
        lines = [f"- {each.place.capitalize()}: {each.sentence}" for each in self.mistakes]
        lines = lines or ["- No mistake."]
        return "\n".join(_folded(line) for line in (self.head, *lines))


@dataclass(frozen=True)
class Player:
    """A seat's decisions summed up."""

    seat: int
    name: str | None
    hands: int
    decisions: int
    mistakes: int
    lost: float
    """Points that the mistakes gave away, in all, by what was known,"""
    wins_lost: float
    """and chances to win the game, in games."""
    open: int
    """Tricks given away with all hands open."""
    unlucky: int
    """Those of them that no mistake gave away: bad luck, or too little to be sure of."""

    @property
    def lost_per_hand(self) -> float:
        """Points given away per hand."""
        return self.lost / self.hands if self.hands else 0.0

    def __str__(self) -> str:
        text = (
            f"{named(self.seat, self.name)}: {counted(self.mistakes, 'mistake')} in "
            f"{counted(self.decisions, 'decision')}"
        )
        if self.mistakes:
            text += f", which gave away {self.lost_per_hand:.2f} points per hand"
            text += f" and {self.wins_lost:.2f} games in all"
        if not self.open:
            return f"{text}; no tricks lost with all hands open."
        luck = "by no clear mistake" if self.unlucky else "by mistake"
        if 0 < self.unlucky < self.open:
            luck = f"{number_word(self.unlucky)} of them by no clear mistake"
        return f"{text}; {tricks(self.open)} lost with all hands open, {luck}."


@dataclass(frozen=True)
class Review:
    """A game gone over by an agent; `str()` tells the mistakes of each hand, and sums up."""

    title: str
    agent: str
    hands: tuple[HandReview, ...]
    players: tuple[Player, ...]
    plies: tuple[int, ...]
    """How many actions each hand of the record has, reviewed or not."""

    @property
    def mistakes(self) -> list[Decision]:
        """Every mistake, in order."""
        return [each for hand in self.hands for each in hand.mistakes]

    def notes(self) -> dict[str, Any]:
        """What a page shows beside each action, as JSON values.

        `hands` has an entry for each of the record: `par`, None where the hand was not reviewed,
        and `plies`, in which an action without a choice is None.
        """
        hands: list[dict[str, Any]] = [{"par": None, "plies": [None] * n} for n in self.plies]
        for hand in self.hands:
            hands[hand.number]["par"] = f"par: {par_text(hand.par)}"
            for each in hand.decisions:
                hands[hand.number]["plies"][each.ply] = _note(each)
        players = [
            {
                "seat": each.seat,
                "name": each.name or f"seat {each.seat}",
                "decisions": each.decisions,
                "mistakes": each.mistakes,
                "lost": round(each.lost, 2),
                "wins_lost": round(each.wins_lost, 3),
                "words": str(each),
            }
            for each in self.players
        ]
        return {"agent": self.agent, "hands": hands, "players": players}

    def __str__(self) -> str:
        sums = "\n".join(_folded(f"- {each}") for each in self.players)
        return "\n\n".join([_folded(self._head), *map(str, self.hands), sums])

    @property
    def _head(self) -> str:
        return f"{self.title}, reviewed by {self.agent}"

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{escape(self._head)}</b></p>"]
        parts += [f"<p>{escape(hand.head)}</p>{_listed(hand.mistakes)}" for hand in self.hands]
        heads = ("seat", "player", "decisions", "mistakes", "points per hand")
        rows = [(*heads, "games", "tricks lost, all hands open", "by no mistake")]
        for each in self.players:
            lost = (f"{each.lost_per_hand:.2f}", f"{each.wins_lost:.2f}")
            more = map(str, (each.decisions, each.mistakes, *lost, each.open, each.unlucky))
            rows.append((str(each.seat), each.name or "", *more))  # type: ignore[arg-type]
        return "".join([*parts, html_table(rows, "llrrrrrr")])


def _listed(mistakes: list[Decision]) -> str:
    lines = "".join(f"<li>{escape(str(each))}</li>" for each in mistakes)
    return f"<ul>{lines}</ul>" if lines else ""


def _note(decision: Decision) -> dict[str, Any]:
    """What a page shows beside an action."""
    return {
        "lost": round(decision.lost, 3),
        "error": round(decision.error, 3),
        "best": decision.best,
        "mistake": decision.mistake,
        "why": decision.why,
        "open": decision.open,
        "points": round(decision.points, 3),
        "made": None if decision.made is None else round(decision.made, 3),
        "chance_of": decision.chance_of,
        "wins": round(decision.wins, 3),
    }


def _folded(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
