"""A match as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bideuchre_env.report import (
    contract_lines,
    label_width,
    part_of,
    points_of,
    row,
    share_of,
)

if TYPE_CHECKING:
    from bideuchre_env.match import Match
    from bideuchre_env.scores import Scores


def match_report(match: Match) -> str:
    """A heading, points per hand, the test, games, contracts and how long decisions took."""
    a, b = match.keys
    boards, games = match.boards, match.games
    options = "".join(f" {name}={value!r}" for name, value in match.options.items())
    lines = [f"{a} against {b}, {match.variant}{options}, seed {match.seed}"]
    if not boards.boards and not games.boards:
        return f"{lines[0]}\n\nInterrupted before both tables of a board were finished."
    if match.interrupted:
        lines += ["", "Interrupted: this is what was finished at both tables of a board."]
    width = label_width(match.keys)
    if boards.boards:
        lines += ["", f"{boards.boards:,} boards of two tables, {boards.hands:,} hands"]
        lines += _board_lines(match, boards, width)
        lines += ["", *contract_lines(dict(zip(match.keys, boards.contracts, strict=True)), width)]
    if games.boards:
        lines += ["", f"{games.games:,} games ({games.boards:,} pairs), {games.hands:,} hands"]
        lines += _game_lines(match, games, width)
        lines += ["", *contract_lines(dict(zip(match.keys, games.contracts, strict=True)), width)]
    took = [
        f"{name} {ms:.2g} ms"
        for name, ms in zip(match.keys, match.ms_per_decision, strict=True)
        if ms is not None
    ]
    return "\n".join([*lines, "", row("a decision", "   ".join(took), width)])


def _board_lines(match: Match, boards: Scores, width: int) -> list[str]:
    reduction = boards.variance_reduction
    saved = "no board differs" if reduction is None else f"variance / {reduction:.2f}"
    lines = [row("points per hand", points_of(boards.points_per_hand, match.keys[0]), width)]
    if match.test is not None:
        verdict, _, ratio = str(match.test).partition(" (")
        lines += [row("test", verdict, width), row("", ratio.rstrip(")"), width)]
    lines += [row("tie boards", part_of(boards.ties, boards.boards), width)]
    return [*lines, row("duplication", saved, width)]


def _game_lines(match: Match, games: Scores, width: int) -> list[str]:
    a, b = match.keys
    counts = f"{a} {games.a_won:,}   {b} {games.b_won:,}   drawn {games.drawn:,}"
    return [
        row("games won", f"{counts}   truncated {games.truncated:,}", width),
        row("", f"{a} {share_of(games.win_rate)}", width),
        row("points per hand", points_of(games.points_per_hand, a), width),
    ]
