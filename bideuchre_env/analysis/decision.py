"""A decision of a game, beside what the reviewing agent would have done, and the same in words."""

from __future__ import annotations

from dataclasses import dataclass

from bideuchre_env._intervals import Z
from bideuchre_env.analysis.words import did, named, tricks, what
from bideuchre_env.core.state import Phase

POINTS = 0.25  # expected points that a mistake gives away at least,
WINS = 0.02  # or such a chance to win the game,
LEAST_WINS = 0.001  # and, unless playing for points, at least this chance to win the game,
SURE = 3.0  # by so many standard errors of one set of worlds
TELLING = 0.03  # a difference of chances that is told


@dataclass(frozen=True)
class Decision:
    """A decision between two or more actions.

    Points and chances are expected by what the player knew, over deals of the cards not seen. `str`
    is the sentence of a mistake.
    """

    hand: int
    """Of the record, from 0."""
    ply: int
    """Of the actions of its hand, from 0."""
    seat: int
    player: str | None
    phase: Phase
    trick: int
    """Tricks complete: 0 before the play too."""
    action: str
    best: str
    """The reviewing agent's own choice."""
    lost: float
    """Points of the hand that the action taken is expected to be behind that; 0.0 if none."""
    error: float
    """The standard error of `lost`, which compares the two in the same deals."""
    wins_lost: float
    """The chance to win the game that it is behind; 0.0 if none."""
    wins_error: float
    points: float
    """Of the hand after the action taken, ours minus theirs."""
    made: float | None
    """The chance that our contract is made or theirs set; None where nobody ever plays one."""
    wins: float
    """The chance to win the game."""
    best_made: float | None
    open: int | None
    """Tricks given away with all hands open; None of what is no card played."""
    mistake: bool
    defends: bool
    """Whether the contract is the other side's."""
    why: str
    """A sentence: the effect of the action taken, and of a mistake the reason why it loses."""

    @property
    def place(self) -> str:
        """Where in its hand it was: "trick 2"."""
        if self.phase == Phase.PLAY:
            return f"trick {self.trick + 1}"
        return {Phase.AUCTION: "auction", Phase.NAMING: "strain"}.get(self.phase, "exchange")

    def __str__(self) -> str:
        return f"Hand {self.hand + 1}, {self.place}: {self.sentence}"

    @property
    def sentence(self) -> str:
        """What was wrong, why, and what it cost with all hands open."""
        who = named(self.seat, self.player)
        sentences = [
            f"{who} {did(self.phase, self.action)}; "
            f"{what(self.phase, self.best)} was better by {self.amount}{self._chances}.",
            self.why,
        ]
        if self.open is not None:
            cost = tricks(self.open) if self.open else "nothing"
            sentences.append(f"With all hands open it cost {cost}.")
        return " ".join(each for each in sentences if each)

    @property
    def amount(self) -> str:
        """The significant losses, in points and in % of games, each with half its 95 % interval."""
        parts = []
        if self.lost >= POINTS and self.lost > 2 * Z * self.error:
            parts.append(f"{self.lost:.1f} ± {Z * self.error:.1f} points")
        if self.wins_lost >= LEAST_WINS and self.wins_lost > 2 * Z * self.wins_error:
            parts.append(f"{100 * self.wins_lost:.1f} ± {100 * Z * self.wins_error:.1f} % of games")
        return " and ".join(parts)

    @property
    def chance_of(self) -> str:
        """What `made` is the chance of: "made", "set", or of either before there is a contract."""
        if self.phase == Phase.AUCTION:
            return "made or set" if self.action == "pass" else "made"
        return "set" if self.defends else "made"

    @property
    def _chances(self) -> str:
        if self.made is None or self.best_made is None or self.phase == Phase.AUCTION:
            return ""
        if self.best_made - self.made < TELLING:
            return ""
        best, taken = round(100 * self.best_made), round(100 * self.made)
        return f": the contract is {self.chance_of} in {best} of 100 deals, not in {taken}"
