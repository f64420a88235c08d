"""Text of a game at a terminal: messages for one player, and parsing of typed lines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bideuchre_env._checks import typed
from bideuchre_env.core.state import Phase
from bideuchre_env.errors import NotationError
from bideuchre_env.records.look import Look
from bideuchre_env.records.render import card_text
from bideuchre_env.rules.actions import Actions
from bideuchre_env.rules.cards import CARD_NAMES, N_SEATS, STRAIN_WORDS, STRAINS, plain_letters

BID, TRUMP, PASS = "bid ", "trump ", "pass"
_MOST_LISTED = 12


@dataclass(frozen=True)
class Lines(Look):
    """Messages about the table in a state row, for the viewer."""

    def name(self, seat: int) -> str:
        """Name a seat and its player: "you", "left (Ben)"."""
        agent = f" ({self.agents[seat]})" if self.agents and seat != self.viewer else ""
        return f"{self.who(seat)}{agent}"

    def verb(self, seat: int, verb: str) -> str:
        """Combine a seat with a verb: "you play", "left (Ben) plays"."""
        first, space, rest = verb.partition(" ")
        ending = "" if seat == self.viewer else "es" if first.endswith("s") else "s"
        return f"{self.name(seat)} {first}{ending}{space}{rest}"

    def card(self, name: str) -> Text:
        """Format a card in its colour; a trump is marked."""
        return card_text(name, self.row, self.rules)

    def score(self) -> str:
        """Both sides' points, and the target or the number of hands of the game."""
        ours, theirs = self.pair("score")
        goal = f"game to {self.rules.target}"
        if self.rules.target is None:
            goal = f"{self.rules.hands_to_play} hands"
        return f"Score: you {ours}, they {theirs}; {goal}."

    def title(self) -> str:
        """The number of the hand, its dealer, the score."""
        hand = int(self.row["hands_dealt"])
        return f"Hand {hand}: {self.verb(int(self.row['dealer']), 'deal')}. {self.score()}"

    def so_far(self) -> list[str]:
        """Lines of the auction and the contract, for a resumed hand."""
        dealer = int(self.row["dealer"])
        order = [(dealer + 1 + turn) % N_SEATS for turn in range(N_SEATS)]
        calls = [f"  {self.name(seat)}: {self.call(seat)}" for seat in order if self.call(seat)]
        return calls + ([self.contract_line()] if self.strain >= 0 and not self.over else [])

    def contract_line(self) -> str:
        """The contract, the declarer and the trump suit; the strain must be known."""
        trumps = STRAIN_WORDS[self.strain]
        also = "" if self.left_bower() is None else f": {trumps} are trumps"
        return f"Contract: {self.contract()} by {self.name(int(self.row['declarer']))}{also}."

    def move(self, seat: int, name: str) -> Text:
        """Line on the action `name`, just made by a seat; hidden cards are called "a card"."""
        if name not in CARD_NAMES:
            return Text(f"  {self.name(seat)}: {spoken(name)}")
        if any(name == self.trick(number)[seat] for number in range(self.rules.tricks)):
            return Text(f"  {self.verb(seat, 'play')} ").append_text(self.card(name))
        does = "give up" if seat == self.row["declarer"] else "pass"
        if self.rules.kitty and self.row["given"][0] < 0:
            does = "lay away"
        text = Text(f"  {self.verb(seat, does)} ")
        return text.append_text(self.card(name) if self.seen(seat) else Text("a card"))

    def seat_numbers(self) -> str:
        """The numbers of the seats, for texts that use them: "you are seat 0, ..."."""
        order = [(self.bottom + turn) % N_SEATS for turn in range(N_SEATS)]
        others = ", ".join(f"{self.who(seat)} {seat}" for seat in order[1:])
        return f"You are seat {self.bottom}; {others}."

    def result_lines(self, name: str) -> list[RenderableType]:
        """Lines on the result of the action `name`, just made: the contract, trick or hand, if any.

        After an exchange, a declarer who views the table also sees the cards received.
        """
        row, lines = self.row, list[RenderableType]()
        last = int(row["trick"]) - 1
        if name not in CARD_NAMES:
            if self.over:
                lines.append(Text("  All four pass."))
            elif row["phase"] > Phase.NAMING:
                lines.append(self.contract_line())
                lines += self.kitty_lines()
        elif last >= 0 and row["led"] < 0:
            lines.append(self.trick_line(last))
        elif row["phase"] == Phase.PLAY and row["led"] < 0:
            names, visible = self.exchanged()[1]
            if names and visible and row["declarer"] == self.viewer:
                cards = Text(" ").join(map(self.card, names))
                lines.append(Text("  you get ").append_text(cards))
        if self.over:
            lines.append(Text(" ".join((*self.hand_result(), self.score())), style="bold"))
        return lines

    def kitty_lines(self) -> list[RenderableType]:
        """Line on the kitty that the declarer has taken up, with its cards if visible; or none."""
        (names, visible), declarer = self.kitty(), int(self.row["declarer"])
        if not names:
            return []
        text = Text(f"  {self.verb(declarer, 'take up')} the kitty")
        cards = Text(" ").join(map(self.card, self.fanned(names)))
        return [text.append(": ").append_text(cards) if visible else text]

    def hand_result(self) -> list[str]:
        """Whether the contract was made, and the points; empty for a passed-out hand."""
        if self.row["level"] < 0:
            return []
        ours, theirs = self.pair("points")
        who = self.name(int(self.row["declarer"]))
        done = "made" if self.made else "set"
        return [
            f"{self.contract().capitalize()} by {who} is {done}: you {ours:+d}, they {theirs:+d}."
        ]

    def trick_line(self, number: int) -> Text:
        """Line on a complete trick, by number from 0: cards, winner, tricks of both sides."""
        line = Text(f"  Trick {number + 1}: ").append_text(self.on_table(number))
        won = "{} to {}".format(*self.pair("tricks_won"))
        return line.append(f"; won by {self.who(self.winner(number))}, {won}", style="bold")

    def on_table(self, number: int) -> Text:
        """The cards of a trick in the order in which they were played."""
        cards, leader = self.trick(number), int(self.row["leaders"][number])
        parts = []
        for seat in ((leader + turn) % N_SEATS for turn in range(N_SEATS)):
            if name := cards[seat]:
                parts.append(Text(f"{self.who(seat)} ").append_text(self.card(name)))
        return Text(", ").join(parts)

    def to_decide(self, legal: Sequence[str], hand: Sequence[str]) -> list[RenderableType]:
        """Lines for a decision: the trick, the hand with keys, the legal strains or calls."""
        lines: list[RenderableType] = [Text()]
        if self.row["winning"] >= 0:
            table = Text("On the table: ").append_text(self.on_table(int(self.row["trick"])))
            lines.append(table.append(f"; {self.who(int(self.row['winning']))} winning"))
        cards = legal[0] in CARD_NAMES
        lines.append(self.keyed(hand, legal if cards else None))
        if legal[0].startswith(TRUMP):
            keys = (f"{key} {spoken(name)}" for key, name in enumerate(legal, start=1))
            lines.append(Text(f"You may name: {', '.join(keys)}"))
        elif not cards:
            lines.append(Text(f"You may call: {calls_text(legal)}"))
        return lines

    def keyed(self, hand: Sequence[str], legal: Sequence[str] | None) -> Table:
        """Format a hand; `legal` cards have a key (a number) above them, others a "-".

        With None for `legal`, no keys are shown.
        """
        grid = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
        for _ in hand:
            grid.add_column(justify="center", no_wrap=True, min_width=4)
        if legal is not None:
            keys = (str(key) if name in legal else "-" for key, name in enumerate(hand, start=1))
            grid.add_row(*keys)
        grid.add_row(*map(self.card, hand))
        return grid

    def ending(self) -> str:
        """The result of the game, which must be over, for the viewer."""
        hands = int(self.row["hands_dealt"])
        return f"{self.game_result()}, after {hands} hand{'s' * (hands != 1)}."


def action_typed(
    text: str, legal: Sequence[str], hand: Sequence[str], acts: Actions, led: int = -1
) -> str:
    """Return the name of the legal action that was typed; `led` is the suit led, or -1.

    A card is typed as its name ("jh", "10♥") or its place in `hand`, from 1; a strain as its name,
    a word, or its place among the legal ones; a call as its words with or without "bid" ("4 h",
    "moon nt", "pass"), or a unique beginning ("p"). Raises `NotationError` with a message for the
    player.
    """
    if legal[0] == PASS or legal[0].startswith(BID):
        return _legal(_action_by_name(text, BID, acts) or _call_by_prefix(text, legal), legal)
    if legal[0].startswith(TRUMP):
        return _legal(_action_by_name(text, TRUMP, acts) or _by_key(text, legal, legal), legal)
    name = _action_by_name(text, "", acts) or _by_key(text, legal, hand)
    if name not in legal and name in CARD_NAMES:
        if name not in hand:
            raise NotationError(f"{name} is not in your hand: expected {actions_text(legal)}")
        if led >= 0:
            suit = STRAIN_WORDS[led]
            raise NotationError(f"{suit} were led: play a {suit[:-1]}, {actions_text(legal)}")
    return _legal(name, legal)


def addressed(text: str, seat: int) -> str:
    """Address advice to its player: "You are to call" instead of "Seat 0 is to call"."""
    return text.replace(f"Seat {seat} is to", "You are to", 1)


def spoken(name: str) -> str:
    """Return the short name of an action: "4 H" of "bid 4 H", "H" of "trump H"."""
    return name.removeprefix(BID).removeprefix(TRUMP)


def _legal(name: str, legal: Sequence[str]) -> str:
    """Return an action; `NotationError` if it is not legal now."""
    if name not in legal:
        raise NotationError(f"{spoken(name)} is not legal now: expected {actions_text(legal)}")
    return name


def _action_by_name(text: str, prefix: str, acts: Actions) -> str | None:
    """Return the action of this name, with or without its first word; None for other text."""
    for name in (f"{prefix}{text}", text):  # "10h" is a bid before it is a card
        with suppress(NotationError):
            return acts.names[acts.parse(name)]
    return None


def _by_key(text: str, legal: Sequence[str], keys: Sequence[str]) -> str:
    """Return the action typed as its number in `keys`, from 1; `NotationError` for other text."""
    plain = text.strip()
    if not (plain.isascii() and plain.isdigit()):
        raise NotationError(f"{typed(text)}: expected {actions_text(legal)}")
    if not 1 <= int(plain[:4]) <= len(keys):
        raise NotationError(f"key {plain[:4]}: expected 1 to {len(keys)}")
    return keys[int(plain[:4]) - 1]


def _call_by_prefix(text: str, legal: Sequence[str]) -> str:
    """Return the one legal call that begins with a text; `NotationError` if none or several.

    A whole bid without its strain stands only for itself: "1" for "1 H", not for "10 H".
    """
    plain = plain_letters(text)
    if plain == "p" and PASS in legal:
        return PASS
    spelled = {plain_letters(spoken(name)): name for name in legal}
    level = [name for name in legal if plain_letters(spoken(name).rpartition(" ")[0]) == plain]
    close = level or [name for begun, name in spelled.items() if plain and begun.startswith(plain)]
    if len(close) == 1:
        return close[0]
    if close:
        raise NotationError(f"{typed(text)} is ambiguous: expected {actions_text(close)}")
    raise NotationError(f"{typed(text)}: expected {calls_text(legal)}")


def actions_text(names: Sequence[str]) -> str:
    """List actions in a sentence: "4 H, 4 S or pass"; of many, only the first few."""
    words = list(dict.fromkeys(map(spoken, names)))
    if len(words) > _MOST_LISTED:
        return f"{', '.join(words[: _MOST_LISTED - 1])} ..."
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def calls_text(legal: Sequence[str]) -> str:
    """List the legal calls in a line; bids that differ only by strain appear once."""
    bids = [spoken(name) for name in legal if name != PASS]
    strains = [bid.rpartition(" ")[2] for bid in bids]
    levels = [bid.rpartition(" ")[0] for bid in bids]
    if bids and all(strain in STRAINS for strain in strains):
        choice = ", ".join(dict.fromkeys(levels))
        bids = [f"{choice} with {' '.join(dict.fromkeys(strains))}, as {bids[0]}"]
    return ", ".join([PASS] * (PASS in legal) + bids)
