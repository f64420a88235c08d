"""Notes of a review on a page: marks and sentences.

Notes are a dict of JSON values from any source: `agent`, the name of the reviewing agent; `hands`,
each with `par`, a line or None, and `plies`, for each action None or a dict with any of `lost`
(points lost, by the information of the seat), `error` (its standard error), `best` (the name of the
best action), `mistake`, `cost` (the loss of a mistake in words), `wins_lost` (chance to win lost),
`why` (a sentence), `open` (tricks lost with all hands open), `points`, `made` and `wins` (chances
of the action taken; `chance_of` is the event of `made`, if it is not "made"); and `players`, each
with `seat`, `name`, `decisions`, `mistakes`, `lost` and `words`.
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

    Its keys are `mark` (the losses), `badge` (a number beside the card), `label` and `words`
    (sentences), `best` (the better action), `cost`, `chance` and the flag `mistake`; all but the
    flag may be "". A loss within its margin of error counts as 0, unless it is a mistake. The
    argument `words` has the words for every action name.
    """
    if note is None:
        return None
    lost, tricks, mistake = note.get("lost"), note.get("open"), bool(note.get("mistake"))
    half = Z * note.get("error", 0.0)
    if lost is not None and lost <= half and not mistake:
        lost = 0.0  # not significant
    badge = minus(lost or 0.0)
    cost = f"{badge[1:]} ± {half:.1f} points" if badge and half else _points_text(lost or 0.0)
    if mistake:
        games = minus(100 * note.get("wins_lost", 0.0))
        badge = badge or (games and f"{games} %")
        cost = note.get("cost") or cost
    best = words.get(str(note.get("best")), "") if badge else ""
    mark = [f"{badge}{' points' * ('%' not in badge)}"] if badge else []
    label, sentences = [] if lost is None else [f"gives away {cost}"], []
    if lost is not None:
        better = f"; best: {best}" if best else ""
        sentences.append(f"Gives away {cost} by what was known{better}.")
    if tricks:
        mark.append(f"{tricks:g} trick{'s' * (tricks != 1)}")
        sentences.append(f"With all hands open: {mark[-1]}.")
        label.append(f"{mark[-1]} with all hands open")
    if why := note.get("why"):
        sentences.append(str(why))
    if chances := _chances(note):
        sentences.append(f"{chances[0].upper()}{chances[1:]}.")
    return {
        "mark": ", ".join(mark),
        "badge": badge,
        "label": ", ".join(label),
        "best": best,
        "cost": cost,
        "mistake": mistake,
        "words": " ".join(sentences),
        "chance": chances,
    }


def minus(points: float) -> str:
    """Format points given away as a mark: a minus sign and one decimal, or "" below 0.05."""
    return f"\N{MINUS SIGN}{points:.1f}" if points >= 0.05 else ""


def mistakes(
    hands: Sequence[Notes], words: Mapping[str, str], agents: Sequence[str] | None
) -> list[dict[str, Any]]:
    """Return the mistakes of a game on a page, in order.

    Each has the number of its `hand`, from 0, the number of the action in the hand as `card`, from
    1, its `seat`, and the `cells` of a line: place, player, action, better action and cost.

    Args:
        hands: each with `plies` and `tricks` of `hand_frames`, and with `notes` or None.
        words: the words for every action name.
        agents: the names of the players, if known.
    """
    return [
        {
            "hand": number,
            "card": at + 1,
            "seat": ply["seat"],
            "cells": [
                f"Hand {number + 1}, {_place(hand, at)}",
                f"{agents[ply['seat']]} ({ply['seat']})" if agents else f"seat {ply['seat']}",
                words[ply["action"]],
                note["best"],
                note["cost"],
            ],
        }
        for number, hand in enumerate(hands)
        for at, (ply, note) in enumerate(zip(hand["plies"], hand["notes"] or (), strict=False))
        if note and note["mistake"]
    ]


def _place(hand: Notes, at: int) -> str:
    """Name the part of a hand with an action, by its index: "auction", "trick 2"."""
    places = {"auction": "auction", "naming": "strain"}
    tricks = (n for n, trick in enumerate(hand["tricks"], 1) if at in trick["plies"])
    phase = hand["plies"][at]["phase"]
    return f"trick {next(tricks)}" if phase == "play" else places.get(phase, "exchange")


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
