"""A recorded game as plain HTML tables, for printing and for browsers without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from bideuchre_env.records.page.view import SEATS, View
from bideuchre_env.records.words import Game, ending, signed, title
from bideuchre_env.rules.cards import N_SEATS

LEGEND = "> led, * won the trick."
MARKS = (
    " \N{MINUS SIGN}0.8 points: given away by what was known; 1 trick: given away with all hands "
    "open."
)


MISTAKES = ("mistake", "player", "action", "better", "gives away")


def game_sheet(game: Game, data: View) -> str:
    """Return a game as an HTML section: its hands and result, the mistakes and the players' totals.

    `data` is that of `page.game_data`.
    """
    hands, players = data["hands"], data["players"]
    legend = LEGEND + MARKS if players else LEGEND
    parts = [f"<h2>{escape(title(game))}</h2><p>{escape(legend)}</p>"]
    for number, (hand, frames) in enumerate(zip(game.hands, hands, strict=True), 1):
        head = f"Hand {number}: {_contract(hand)}"
        parts.append(f"<article><h3>{escape(head)}</h3>{_seats(hand, frames, game.agents)}")
        parts.append(_tricks(frames))
        pairs = ("{} {} to {}".format(name, *hand[name]) for name in ("tricks", "points", "score"))
        parts.append(f"<p>{escape(' · '.join((*pairs, 'seats 0 and 2 first')))}</p>")
        if frames["par"]:
            parts.append(f"<p>{escape(frames['par'])}</p>")
        parts.append("</article>")
    parts.append(f"<p><b>{escape(ending(game))}</b></p>")
    if data["mistakes"]:
        parts.append(table(MISTAKES, (each["cells"] for each in data["mistakes"])))
    if players:
        heads = ("player", "decisions", "mistakes", "points given away", "")
        parts.append(table(heads, ([str(cell) for cell in each.values()] for each in players)))
    return f"<section>{''.join(parts)}</section>"


def _contract(hand: dict[str, Any]) -> str:
    if hand["contract"] is not None:
        return f"{signed(hand['contract'])} by seat {hand['declarer']}"
    return "passed out" if len(hand["actions"]) == N_SEATS else "in progress"


def _marked(frames: View, ply: int) -> str:
    """Format an action with its mark, and a call also with its chances."""
    text = signed(frames["plies"][ply]["action"].removeprefix("bid "))
    note = frames["notes"] and frames["notes"][ply]
    if not note:
        return text
    chance = note["chance"] if frames["plies"][ply]["phase"] in ("auction", "naming") else ""
    return " ".join(filter(None, (text, note["mark"], chance)))


def _seats(hand: dict[str, Any], frames: View, agents: list[str] | None) -> str:
    """Table with a line per seat, eldest hand first: its player, its call, the cards dealt.

    A paragraph after it has the named strain and the exchange, if any.
    """
    lines = []
    for turn in SEATS:
        seat = (hand["dealer"] + 1 + turn) % N_SEATS
        who = f"{seat} {agents[seat]}" if agents else str(seat)
        call = _marked(frames, turn) if turn < len(hand["actions"]) else ""
        lines.append((who, call, " ".join(map(signed, hand["deal"][seat]))))
    between = [
        f"seat {ply['seat']}: {_marked(frames, at)}"
        for at, ply in enumerate(frames["plies"])
        if ply["phase"] in ("naming", "giving", "passing")
    ]
    paragraph = f"<p>{escape(', '.join(between))}</p>" if between else ""
    return table(("seat", "call", "cards dealt"), lines) + paragraph


def _tricks(frames: View) -> str:
    """Table with a line per trick and a column per seat; > led, * won the trick; "" if no trick."""
    lines = []
    for number, trick in enumerate(frames["tricks"], 1):
        cells = ["" if ply is None else _marked(frames, ply) for ply in trick["plies"]]
        cells[trick["leader"]] = f"> {cells[trick['leader']]}"
        if trick["winner"] is not None:
            cells[trick["winner"]] += " *"
        lines.append((str(number), *cells))
    heads = ("trick", *(f"seat {seat}" for seat in SEATS))
    return table(heads, lines) if lines else ""


def table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows of text cells as an HTML table; a row's first cell is its header."""
    cells = [f'<th scope="col">{escape(head)}</th>' for head in heads]
    lines = [f"<thead><tr>{''.join(cells)}</tr></thead><tbody>"]
    for row in rows:
        first = f'<th scope="row">{escape(row[0])}</th>'
        others = (f"<td>{escape(cell)}</td>" for cell in row[1:])
        lines.append(f"<tr>{first}{''.join(others)}</tr>")
    return f"<table>{''.join(lines)}</tbody></table>"
