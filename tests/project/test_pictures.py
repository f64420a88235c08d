"""The picture of the table shows the cards that a seat sees, and no others."""

import numpy as np
import pytest
from support.playthroughs import VARIANTS

import bideuchre_env
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.state import Phase
from bideuchre_env.records.picture import Card, TablePicture
from bideuchre_env.rules.cards import CARD_NAMES, MAX_TRICKS, hand_names


def faces(row, rules, viewer):
    """A list of (card name, whether it is marked) of all face-up cards of a picture of the table.

    The hand of seat `viewer` comes last.
    """
    cards = [mark for mark in TablePicture(row, rules, viewer).marks() if isinstance(mark, Card)]
    names = [card.parts[1].text.replace("10", "T") + card.parts[2].suit for card in cards]
    return [(name, card.parts[0].edge == "mark") for name, card in zip(names, cards, strict=True)]


def cards_in_the_middle(row, viewer):
    """The cards of the current or last trick; in an exchange those that the viewer exchanged."""
    if row["phase"] in (Phase.GIVING, Phase.PASSING):
        own = {int(row["declarer"]): "given", int(row["declarer"] + 2) % 4: "passed"}.get(viewer)
        return [CARD_NAMES[kind] for kind in row[own] if kind >= 0] if own else []
    trick = int(row["trick"]) - (row["phase"] > Phase.PLAY or row["winning"] < 0)
    if row["phase"] < Phase.PLAY or trick < 0:
        return []
    return [CARD_NAMES[kind] for kind in row["plays"][trick::MAX_TRICKS] if kind >= 0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_picture_shows_the_viewers_cards_and_the_trick_and_marks_legal_cards(variant):
    rules = bideuchre_env.variants[variant].rules
    env = bideuchre_env.variants[variant].raw_env(episode="hand")
    env.reset(seed=5)
    rng, over = np.random.default_rng(5), False
    while not over:
        row = env.get_state()[0]
        for viewer in range(4):
            cards, held = faces(row, rules, viewer), hand_names(int(row["hands"][viewer]))
            middle, own = cards[: len(cards) - len(held)], cards[len(cards) - len(held) :]
            assert sorted(name for name, _ in own) == sorted(held)
            assert sorted(name for name, _ in middle) == sorted(cards_in_the_middle(row, viewer))
            choosing = Phase.NAMING < row["phase"] <= Phase.PLAY and row["turn"] == viewer
            legal = set(legal_names(row, rules)) if choosing else set()
            assert {name for name, marked in own if marked} == legal
        over = env.terminations[env.agent_selection]
        if not over:
            env.step(int(rng.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
