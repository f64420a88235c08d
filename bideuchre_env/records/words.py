"""The words of tables, as text and as pictures."""

from __future__ import annotations

from bideuchre_env.core.state import Phase

STRAIN_WORDS = ("clubs", "diamonds", "hearts", "spades", "no trump")
TO_DO = {
    Phase.AUCTION: "to call",
    Phase.NAMING: "to name the strain",
    Phase.GIVING: "to give up a card",
    Phase.PASSING: "to pass a card",
    Phase.PLAY: "to play",
}
