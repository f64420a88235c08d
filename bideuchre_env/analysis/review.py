"""The result of a review: `Review`, with decisions by hand, totals by player, and their text.

"With all hands open" means: if all four seats saw all cards and played their best.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any

from bideuchre_env._columns import html_table
from bideuchre_env._intervals import Z
from bideuchre_env.agents.advice.words import number_word
from bideuchre_env.core.state import Phase
from bideuchre_env.records.look import Look
from bideuchre_env.records.words import SIDES
from bideuchre_env.rules.cards import STRAIN_WORDS, STRAINS
from bideuchre_env.solver.par import Par

WIDTH = 80
# A mistake loses at least POINTS or WINS and, unless the goal is points, at least LEAST_WINS.
# Each of these losses must be more than SURE standard errors of one set of worlds.
POINTS = 0.25  # expected points of the hand
WINS = 0.02  # chance to win the game
LEAST_WINS = 0.001  # chance to win the game
SURE = 3.0
LEAST_CHANCE = 0.03  # minimum difference of chances that a sentence mentions


@dataclass(frozen=True)
class Decision:
    """A player's decision between two or more legal actions, compared with the agent's choice.

    Points and chances are expectations over sampled deals of the cards that the player did not see,
    for the player's side ("ours"). `str()` words the decision as a mistake even if it is none; see
    `mistake`.
    """

    hand: int
    """Number of the hand in the record, from 0."""
    ply: int
    """Number of the action in its hand, from 0."""
    seat: int
    player: str | None
    """Name of the player; None if the record has no names."""
    phase: Phase
    trick: int
    """Number of complete tricks; 0 before the play."""
    action: str
    """The action that the player took, by name."""
    best: str
    """The reviewing agent's own choice, by name."""
    lost: float
    """Expected points of the hand lost by the action taken against `best`; at least 0."""
    error: float
    """Standard error of `lost`, a paired difference in the same deals."""
    wins_lost: float
    """Chance to win the game lost by the action taken against `best`; at least 0."""
    wins_error: float
    """Standard error of `wins_lost`."""
    points: float
    """Expected points of the hand after the action taken, ours minus theirs."""
    made: float | None
    """Chance, after the action taken, that our contract is made or theirs is set; for a bid, the
    chance that it is made. None if no deal has such a contract."""
    wins: float
    """Chance to win the game after the action taken."""
    few: bool
    """Whether the deals are too few for these figures (`Advice.few`), so that none are printed."""
    best_made: float | None
    """The same as `made`, after `best`."""
    open: int | None
    """Tricks given away with all hands open; None if the action is not a card played."""
    mistake: bool
    """Whether the loss is large and significant (see `review`)."""
    defends: bool
    """Whether the contract is the other side's."""
    why: str
    """A sentence: the effect of the action taken, or the reason why a mistake loses."""

    @property
    def place(self) -> str:
        """The place of the decision in its hand: "auction", "strain", "exchange" or "trick 2"."""
        if self.phase == Phase.PLAY:
            return f"trick {self.trick + 1}"
        return {Phase.AUCTION: "auction", Phase.NAMING: "strain"}.get(self.phase, "exchange")

    def __str__(self) -> str:
        return f"Hand {self.hand + 1}, {self.place}: {self.sentence}"

    @property
    def sentence(self) -> str:
        """Up to three sentences that word the decision as a mistake.

        They have the two actions with loss and chances, the reason if there is one, and for a card
        the tricks lost with all hands open.
        """
        who = player_text(self.seat, self.player)
        sentences = [
            f"{who} {action_verb(self.phase, self.action)}; "
            f"{action_noun(self.phase, self.best)} was better by {self.amount}{self._chances}.",
            self.why,
        ]
        if self.open is not None:
            cost = tricks(self.open) if self.open else "no trick"
            sentences.append(f"With all hands open it cost {cost}.")
        return " ".join(each for each in sentences if each)

    @property
    def amount(self) -> str:
        """The loss in points and in % of games: "0.6 ± 0.2 points and 2.1 ± 0.8 % of games".

        Each has the half-width of its 95 % interval. A loss is left out if it is below `POINTS` or
        `LEAST_WINS`, or at most twice that half-width; the text is "" if both are.
        """
        parts = []
        if self.lost >= POINTS and self.lost > 2 * Z * self.error:
            parts.append(f"{self.lost:.1f} ± {Z * self.error:.1f} points")
        if self.wins_lost >= LEAST_WINS and self.wins_lost > 2 * Z * self.wins_error:
            parts.append(f"{100 * self.wins_lost:.1f} ± {100 * Z * self.wins_error:.1f} % of games")
        return " and ".join(parts)

    @property
    def chance_of(self) -> str:
        """The event whose chance is `made`: "made" for our contract, "set" for theirs.

        In the auction, it is "made" for a bid and "made or set" for a pass.
        """
        if self.phase == Phase.AUCTION:
            return "made or set" if self.action == "pass" else "made"
        return "set" if self.defends else "made"

    @property
    def _chances(self) -> str:
        """A clause that compares `made`, as a number of 100 deals, with `best_made`.

        It is "" in the auction, without both chances, and unless `made` is lower by `LEAST_CHANCE`
        or more.
        """
        if self.made is None or self.best_made is None or self.phase == Phase.AUCTION:
            return ""
        if self.best_made - self.made < LEAST_CHANCE:
            return ""
        best, own = round(100 * self.best_made), round(100 * self.made)
        return f": the contract is {self.chance_of} in {best} of 100 deals instead of {own}"


@dataclass(frozen=True)
class HandReview:
    """The review of a hand; `str()` has its result, par and mistakes."""

    number: int
    """Number of the hand in the record, from 0."""
    result: str
    """Result of the hand in a sentence."""
    par: Par | None
    """Value of the deal with all hands open and best play; None in a game with a kitty."""
    decisions: tuple[Decision, ...]

    @property
    def mistakes(self) -> list[Decision]:
        """The decisions that were mistakes, in order."""
        return [each for each in self.decisions if each.mistake]

    @property
    def head(self) -> str:
        """A line with the number of the hand, counted from 1, its result and par."""
        line = f"Hand {self.number + 1}: {self.result}"
        return line + (f" Par, with all hands open: {par_text(self.par)}." if self.par else "")

    def __str__(self) -> str:
        lines = [f"- {each.place.capitalize()}: {each.sentence}" for each in self.mistakes]
        lines = lines or ["- No mistake."]
        return "\n".join(_folded(line) for line in (self.head, *lines))


@dataclass(frozen=True)
class Player:
    """Totals of a seat's decisions in the hands reviewed; `str()` puts them in a sentence."""

    seat: int
    name: str | None
    """Name of the player; None if the record has no names."""
    hands: int
    """Number of hands reviewed."""
    decisions: int
    """Number of decisions between two or more actions."""
    mistakes: int
    lost: float
    """Total of points lost by mistakes, judged by the information of the player."""
    wins_lost: float
    """Total of chances to win lost by mistakes, in games."""
    open: int
    """Tricks given away with all hands open."""
    unlucky: int
    """Tricks of `open` without a mistake: bad luck, or losses that are not significant."""

    @property
    def lost_per_hand(self) -> float:
        """Points lost by mistakes per hand reviewed; 0.0 if no hands were reviewed."""
        return self.lost / self.hands if self.hands else 0.0

    def __str__(self) -> str:
        text = (
            f"{player_text(self.seat, self.name)}: {counted(self.mistakes, 'mistake')} in "
            f"{counted(self.decisions, 'decision')}"
        )
        if self.mistakes:
            text += f", which cost {self.lost_per_hand:.2f} points per hand"
            text += f" and {self.wins_lost:.2f} games in all"
        if not self.open:
            return f"{text}; no tricks lost with all hands open."
        luck = "without a clear mistake" if self.unlucky else "by mistakes"
        if 0 < self.unlucky < self.open:
            luck = f"{number_word(self.unlucky)} of them without a clear mistake"
        return f"{text}; {tricks(self.open)} lost with all hands open, {luck}."


@dataclass(frozen=True)
class Review:
    """The review of a game by an agent; `str()` lists the mistakes by hand, and a summary."""

    title: str
    agent: str
    hands: tuple[HandReview, ...]
    players: tuple[Player, ...]
    plies: tuple[int, ...]
    """Number of actions of each hand of the record, reviewed or not."""

    @property
    def mistakes(self) -> list[Decision]:
        """The mistakes in all hands reviewed, in order."""
        return [each for hand in self.hands for each in hand.mistakes]

    def notes(self) -> dict[str, Any]:
        """Return the notes on each action for a page of the record, as a dict of JSON values.

        Its keys are `agent` (the agent's name), `players` (the totals of each seat) and `hands`, a
        list with a dict for each hand of the record. In that dict, `par` is a text, or None if the
        hand was not reviewed or has no par. `plies` has a dict for each action, or None if the
        action was forced or not reviewed.
        """
        hands: list[dict[str, Any]] = [{"par": None, "plies": [None] * n} for n in self.plies]
        for hand in self.hands:
            hands[hand.number]["par"] = f"par: {par_text(hand.par)}" if hand.par else None
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
        """A line with the title of the record and the agent's name."""
        return f"{self.title}, reviewed by {self.agent}"

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{escape(self._head)}</b></p>"]
        parts += [
            f"<p>{escape(hand.head)}</p>{_mistake_list(hand.mistakes)}" for hand in self.hands
        ]
        heads = ("seat", "player", "decisions", "mistakes", "points per hand")
        rows = [(*heads, "games", "tricks lost, all hands open", "without a mistake")]
        for each in self.players:
            lost = (f"{each.lost_per_hand:.2f}", f"{each.wins_lost:.2f}")
            more = map(str, (each.decisions, each.mistakes, *lost, each.open, each.unlucky))
            rows.append((str(each.seat), each.name or "", *more))  # type: ignore[arg-type]
        return "".join([*parts, html_table(rows, "llrrrrrr")])


def _mistake_list(mistakes: list[Decision]) -> str:
    """Format mistakes as an HTML list; "" if there are none."""
    lines = "".join(f"<li>{escape(str(each))}</li>" for each in mistakes)
    return f"<ul>{lines}</ul>" if lines else ""


def _note(decision: Decision) -> dict[str, Any]:
    """Return a dict of fields of a `Decision` for `Review.notes`, with rounded numbers.

    Expectations are left out if the deals are too `few`.
    """
    note = {
        "best": decision.best,
        "mistake": decision.mistake,
        "why": decision.why,
        "open": decision.open,
        "cost": decision.amount if decision.mistake else "",
    }
    if decision.few:
        return note
    return note | {
        "lost": round(decision.lost, 3),
        "error": round(decision.error, 3),
        "wins_lost": round(decision.wins_lost, 4),
        "points": round(decision.points, 3),
        "made": None if decision.made is None else round(decision.made, 3),
        "chance_of": decision.chance_of,
        "wins": round(decision.wins, 3),
    }


def _folded(text: str) -> str:
    """Wrap a text at `WIDTH` characters; lines after the first are indented by two blanks."""
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def tricks(number: int) -> str:
    """Format a number of tricks in words: "one trick", "no tricks"."""
    return f"{number_word(number)} trick{'s' * (number != 1)}"


def counted(number: int, noun: str) -> str:
    """Format a number with a noun: "no points", "1 point", "12 points"."""
    return f"{number or 'no'} {noun}{'s' * (number != 1)}"


def player_text(seat: int, name: str | None) -> str:
    """Format a seat, with the name of its player if known."""
    return f"seat {seat} ({name})" if name else f"seat {seat}"


def action_verb(phase: Phase, action: str) -> str:
    """Format an action as a verb: "passed", "bid 4 H", "named hearts trump", "played JH".

    `action` is its name in notation.
    """
    if phase == Phase.AUCTION:
        return "passed" if action == "pass" else action
    if phase == Phase.NAMING:
        strain = STRAIN_WORDS[STRAINS.index(action.split()[1])]
        return f"named {strain}" + " trump" * (strain != "no trump")
    verb = {Phase.GIVING: "gave up", Phase.PASSING: "passed on", Phase.PLAY: "played"}[phase]
    return f"{verb} {action}"


def action_noun(phase: Phase, action: str) -> str:
    """Format an action as a noun: "a pass", "bid 4 H", "hearts", "JH".

    `action` is its name in notation.
    """
    if phase == Phase.AUCTION:
        return "a pass" if action == "pass" else action
    if phase == Phase.NAMING:
        return STRAIN_WORDS[STRAINS.index(action.split()[1])]
    return action


def par_text(par: Par) -> str:
    """Describe par: "4 H by seat 1 with five tricks, 4 points to seats 1 and 3"; or "all pass"."""
    if par.contract is None:
        return "all pass"
    words = f"{par.contract} by seat {par.declarer} with {tricks(par.tricks or 0)}"
    if not par.points:
        return f"{words}, no points to either side"
    return f"{words}, {counted(abs(par.points), 'point')} to {SIDES[par.points < 0]}"


def result_text(played: dict[str, Any], ended: Look) -> str:
    """Describe the result of a hand: "4 H by seat 1 (rule), made with five tricks ...".

    A hand may also be "passed out." or unfinished. `played` is the hand's dict in
    `GameRecord.hands`, `ended` the table at its end.
    """
    if played["declarer"] is None:
        return "passed out." if len(played["actions"]) >= 4 else "the auction is unfinished."
    seat, score = played["declarer"], "{} to {}".format(*played["score"])
    name = ended.agents[seat] if ended.agents else None
    contract = f"{played['contract']} by {player_text(seat, name)}"
    won = played["tricks"][seat & 1]
    if sum(played["tricks"]) < ended.rules.tricks:
        return f"{contract}, unfinished."
    outcome = "made" if ended.made else "set"
    points = "points {:+d} to {:+d}".format(*played["points"])
    return f"{contract}, {outcome} with {tricks(won)}; {points}, score {score}."
