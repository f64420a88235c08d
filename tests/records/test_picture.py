"""The picture of a hand: the cards that one seat sees, and which of them it may play."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from support.playthroughs import VARIANTS, Chooser, legal_names, plies, start

from bideuchre_env.core.state import Phase
from bideuchre_env.records.picture import Card, TablePicture
from bideuchre_env.rules.cards import CARD_NAMES, MAX_TRICKS, hand_names


def faces(row, rules, viewer):
    """The cards face up, by name, and whether each is marked."""
    for mark in TablePicture(row, rules, viewer).marks():
        if isinstance(mark, Card):
            box, rank, suit = mark.parts
            yield rank.text.replace("10", "T") + suit.suit, box.line != 1


def on_the_table(row, viewer):
    """The cards of the trick, before it those of the last one, in an exchange the viewer's own."""
    if row["phase"] in (Phase.GIVING, Phase.PASSING):
        own = {int(row["declarer"]): "given", int(row["declarer"] + 2) % 4: "passed"}.get(viewer)
        return [CARD_NAMES[kind] for kind in row[own] if kind >= 0] if own else []
    trick = int(row["trick"]) - (row["phase"] > Phase.PLAY or row["winning"] < 0)
    if row["phase"] < Phase.PLAY or trick < 0:
        return []
    return [CARD_NAMES[kind] for kind in row["plays"][trick::MAX_TRICKS] if kind >= 0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_picture_shows_the_cards_that_the_seat_sees_and_marks_those_it_may_play(variant):
    env = start(variant, 5, episode="hand")
    for _ in chain(plies(env, Chooser(5)), ["the end"]):
        row = env.get_state()[0]
        for viewer in range(4):
            shown = list(faces(row, env.rules, viewer))
            held = hand_names(int(row["hands"][viewer]))
            table, hand = shown[: len(shown) - len(held)], shown[len(shown) - len(held) :]
            assert sorted(name for name, _ in hand) == sorted(held)
            assert sorted(name for name, _ in table) == sorted(on_the_table(row, viewer))
            choosing = Phase.NAMING < row["phase"] <= Phase.PLAY and row["turn"] == viewer
            marked = {name for name, marked in hand if marked}
            assert marked == (set(legal_names(env)) if choosing else set())


def test_hidden_cards_change_nothing_in_the_picture():
    env, rng = start("barrie_v0", 8, episode="hand"), np.random.default_rng(3)
    for _ in plies(env, Chooser(8)):
        seat = int(env.agent_selection[-1])
        redealt = env.resample_hidden(seat=seat, rng=rng)
        one, other = (
            list(TablePicture(each.get_state()[0], env.rules, seat).marks())
            for each in (env, redealt)
        )
        assert one == other
