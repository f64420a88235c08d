"""A person claims the tricks left in a session and at the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support.playthroughs import VARIANTS, rows_bytes
from support.terminal_games import to_a_claim

from bideuchre_env import make
from bideuchre_env.errors import IllegalActionError
from bideuchre_env.play.saved import seated
from bideuchre_env.play.session import Session
from bideuchre_env.play.terminal import Terminal


def begin(variant="cincinnati_v0", path=None, seed=1, **options):
    """A game of one person with a rule player opposite and two that act at random beside."""
    players = seated([0], "rule", ["cautious", "random"])
    return Session(make(variant, **options), [0], players, seed=seed, path=path)


def place(session):
    """The row and the record of a game in progress."""
    return rows_bytes(session.row.reshape(1)), session.record().to_dict()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_claim_takes_all_tricks_left_and_is_saved(variant, tmp_path):
    """At once, and on record as if every card had been played."""
    options = {} if variant == "simplified_v0" else {"max_hands": 30}
    session = to_a_claim(begin(variant, path=tmp_path / "game.json", seed=2, **options))
    left, side, moves = session.rules.tricks - session.row["trick"], session.seat & 1, []
    won, hand = int(session.row["tricks_won"][side]), session.hand
    with pytest.raises(IllegalActionError, match="a claim is for the seat to act"):
        session.claim(1)
    session.claim(0, moves.append)
    assert session.hand_over or session.over
    assert session.row["tricks_won"][side] == won + left
    assert len(moves) >= 3 * left - 3
    session.record().verify()
    session.close()
    with Session.resume(tmp_path / "game.json") as again:
        assert place(again) == place(session)
        assert again.hand == hand


def test_a_trick_that_may_be_lost_is_not_claimed():
    """Neither by the person to act nor between hands; nothing changes."""
    session = begin()
    session.advance()
    assert session.waits_for_person
    assert not session.can_claim
    before = place(session)
    with pytest.raises(IllegalActionError, match="if it takes every trick left"):
        session.claim(0)
    assert place(session) == before
    while not session.hand_over:
        session.advance()
        if session.waits_for_person:
            session.act(0, session.legal()[0])
    assert not session.can_claim
    with pytest.raises(IllegalActionError, match="if it takes every trick left"):
        session.claim(0)


def test_a_claim_is_offered_where_all_tricks_left_are_certain():
    """`c` plays the hand out; where a trick may be lost it says so."""
    out, lines = io.StringIO(), ["c", "q"]
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    session = Session(make("barrie_v0"), [0], seated([0], "rule", ["rule"]), seed=4)
    terminal = Terminal(session, console, read=lambda: lines.pop(0), pause=5, sleep=None)
    session.advance()
    assert not terminal.run()
    assert "c claims them" not in out.getvalue()
    assert "a claim is for the seat to act, if it takes every trick left" in out.getvalue()
    hand = to_a_claim(session).hand
    lines = ["c", "q"]
    assert not terminal.run()
    assert "All tricks left are yours for certain: c claims them." in out.getvalue()
    assert session.hand_over
    assert session.hand == hand
    assert session.row["trick"] == session.rules.tricks
