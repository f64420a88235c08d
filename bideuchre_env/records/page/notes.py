"""Notes of a review on a page: marks and sentences.

Notes are a dict of JSON values from any source: `agent`, the name of the reviewing agent; `hands`,
each with `par`, a line or None, and `plies`, for each action None or a dict with any of `lost`
(points lost, by the information of the seat), `error` (its standard error), `best` (the name of the
best action), `mistake`, `why` (a sentence), `open` (tricks lost with all hands open), `points`,
`made` and `wins` (chances of the action taken; `chance_of` is the event of `made`, if it is not
"made"); and `players`, each with `seat`, `name`, `decisions`, `mistakes`, `lost` and `words`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bideuchre_env._checks import brief
from bideuchre_env._intervals import Z
from bideuchre_env.errors import OptionError

Notes = Mapping[str, Any]


def check(notes: Notes, lengths: Sequence[int]) -> None:
    """Raise `OptionError` unless notes name players and have hands of these numbers of actions."""
    try:
        counts = [len(hand["plies"]) for hand in notes["hands"]]
        [player["name"] for player in notes["players"]]
    except (KeyError, TypeError) as error:
        raise OptionError(f"notes lack hands, plies, players or names: {error}") from None
    if counts != list(lengths):
        raise OptionError(
            f"notes on hands of {brief(counts)} actions, but those of the record have "
            f"{brief(list(lengths))}"
        )


def ply_note(note: Notes | None, words: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the texts of the note on an action, for a page, as a dict; None for None.

    Its keys are `mark`, `label`, `words` (sentences), `chance` and the flag `mistake`. A loss
    within its margin of error counts as 0, unless it is a mistake. The argument `words` has the
    words for every action name.
    """
    if note is None:
        return None
    lost, tricks, best = note.get("lost"), note.get("open"), note.get("best")
    mark, label, sentences = [], [], []
    if lost is not None:
        half = Z * note.get("error", 0.0)
        if lost <= half and not note.get("mistake"):
            lost = 0.0  # not significant
        mark.append(minus(lost))
        label.append(f"gives away {_points_text(lost)}")
        sure = f" (± {half:.1f})" if half and lost >= 0.05 else ""
        text = f"{label[0].capitalize()}{sure} by what was known"
        better = lost >= 0.05 and best in words
        sentences.append(f"{text}; best: {words[str(best)]}." if better else f"{text}.")
    if tricks:
        mark.append(f"({tricks:g})")
        sentences.append(f"With all hands open: {tricks:g} trick{'s' * (tricks != 1)}.")
    if why := note.get("why"):
        sentences.append(str(why))
    if chances := _chances(note):
        sentences.append(f"{chances[0].upper()}{chances[1:]}.")
    return {
        "mark": " ".join(mark),
        "label": ", ".join(label),
        "mistake": bool(note.get("mistake")),
        "words": " ".join(sentences),
        "chance": chances,
    }


def minus(points: float) -> str:
    """Format points given away as a mark: a minus sign and one decimal, or 0 below 0.05."""
    return f"\N{MINUS SIGN}{points:.1f}" if points >= 0.05 else "0"


def _points_text(points: float) -> str:
    if points < 0.05:
        return "nothing"
    return f"{points:.1f} point{'s' * (f'{points:.1f}' != '1.0')}"


def _chances(note: Notes) -> str:
    """Format the chances of the contract and of the game in a note; "" if it has none."""
    parts = []
    for name, words in (("made", note.get("chance_of", "made")), ("wins", "game won")):
        if note.get(name) is not None:
            parts.append(f"{words} {100 * note[name]:.0f} %")
    return ", ".join(parts)


def player_note(player: Notes) -> dict[str, Any]:
    """Return the cells of a player's line in the summary, by column; "" for a missing value."""
    lost = player.get("lost")
    return {
        "name": f"{player['name']} (seat {player['seat']})",
        "decisions": player.get("decisions", ""),
        "mistakes": player.get("mistakes", ""),
        "lost": "" if lost is None else f"{lost:.1f}",
        "words": player.get("words", ""),
    }
