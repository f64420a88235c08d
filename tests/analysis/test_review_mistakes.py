"""A review explains the mistake that was made, and calls nothing a mistake that is none."""

from __future__ import annotations

import pytest
from support.blunders import hand_with

import bideuchre_env
from bideuchre_env import analysis, records_io, selfplay
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.page.notes import ply_note
from bideuchre_env.records.words import STRAIN_WORDS
from bideuchre_env.rules.cards import STRAINS, parse_card

Z = 1.96


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """Hands of players who err, in every variant."""
    folder, made = tmp_path_factory.mktemp("games"), []
    for variant in bideuchre_env.variants:
        out = folder / f"{variant}.jsonl"
        selfplay.play(variant, "cautious", "rule", games=1, seed=1, out=out)
        made.append(analysis.review(next(iter(records_io.read(out))), worlds=60, hands=[0, 1]))
    return made


def action_words(decision):
    """The action of a decision as a sentence names it."""
    if decision.phase == Phase.NAMING:
        return STRAIN_WORDS[STRAINS.index(decision.action.split()[1])]
    return decision.action


def test_the_sentence_of_a_mistake_explains_the_action_that_was_played(reviews):
    """Not the one that was better, which the sentence before it names."""
    phases = set()
    for mistake in [each for review in reviews for each in review.mistakes]:
        phases.add(mistake.phase)
        assert action_words(mistake) in mistake.why.lower().replace(
            mistake.action.lower(), mistake.action
        ), str(mistake)
        if mistake.phase == Phase.PLAY:
            assert mistake.why.startswith(mistake.action), str(mistake)
    assert {Phase.AUCTION, Phase.PLAY} <= phases


def test_a_difference_within_the_error_is_no_mistake_and_has_no_mark(reviews):
    """Its mark on the page is 0; the loss of a mistake exceeds its 95 % interval."""
    within = 0
    for review in reviews:
        notes = review.notes()["hands"]
        for each in [decision for hand in review.hands for decision in hand.decisions]:
            note = notes[each.hand]["plies"][each.ply]
            words = {each.best: each.best}
            mark = ply_note({**note, "open": None}, words)["mark"]
            if each.mistake:
                assert each.lost > Z * each.error or each.wins_lost > Z * each.wins_error
                assert "± " in each.amount
                assert mark != "0"
            elif 0.05 < each.lost < 0.99 * Z * each.error:
                within += 1
                assert mark == "0"
    assert within > 5


def test_a_side_whose_contract_is_set_already_makes_no_mistake():
    """The ace of hearts gives the defenders a trick more; the contract was lost before."""
    variant = "cincinnati_v0"
    rules = bideuchre_env.make(variant).rules
    t = compile_tables(rules)[0]

    def change(row, names):
        lost = row["declarer"] >= 0 and row["declarer"] & 1 == row["turn"] & 1
        most = t["tricks"] - t["need"][row["level"]]
        lost = lost and row["tricks_won"][1 - (row["turn"] & 1)] > most
        return names[0] if row["phase"] == Phase.PLAY and len(names) > 1 and lost else None

    record, (ply, action) = hand_with(variant, change, seed=72, dealer=0)
    review = analysis.review(record, "expert", worlds=100)
    [decision] = [each for each in review.hands[0].decisions if each.ply == ply]
    assert (decision.action, decision.best) == (action, "QC")
    assert decision.lost > 0.9  # a mistake in any other hand
    assert not decision.mistake


def test_a_game_as_good_as_lost_has_mistakes_for_points_alone():
    """A bower that is thrown away costs points, but no chance to win."""

    def change(row, names):
        if row["phase"] != Phase.PLAY or row["turn"] & 1 or row["strain"] == 4:
            return None
        bower = f"J{'CDHS'[row['strain']]}"
        low = [name for name in names if parse_card(name) > parse_card(bower)]
        return bower if row["winning"] == row["turn"] ^ 2 and bower in names and low else None

    for seed in range(100):
        record, changed = hand_with("cincinnati_v0", change, seed=seed, score=(-59, 31))
        if changed is None:
            continue
        points = analysis.review(record, "expert:goal=points", worlds=60)
        if changed in [(each.ply, each.action) for each in points.mistakes]:
            break
    lost = analysis.review(record, "expert", worlds=60)
    [decision] = [each for each in lost.hands[0].decisions if each.ply == changed[0]]
    assert decision.lost > 0.25
    assert not [each for each in lost.mistakes if each.seat % 2 == 0]
