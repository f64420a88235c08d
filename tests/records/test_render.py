"""Hands and games as text: names, trumps, the left bower, and the result in words."""

import pytest
from rich.console import Console
from support.playthroughs import start

import bideuchre_env
from bideuchre_env.records.record import GameRecord
from bideuchre_env.records.render import LEGEND, ending, record_view

TRUMP_H = [
    *(["JH", "JD", "AH", "9S", "TS", "9C"], ["KH", "TH", "QS", "KS", "AC", "TC"]),
    *(["QH", "9H", "JS", "AS", "QC", "KC"], ["9D", "TD", "QD", "KD", "AD", "JC"]),
]


def text_of(view, width=100):
    console = Console(width=width, color_system=None, force_jupyter=False)
    with console.capture() as out:
        console.print(view)
    return out.get()


def test_hands_and_tricks_are_in_the_order_in_which_cards_win():
    """A led left bower calls for trumps, and it ranks second among them."""
    env = start("cincinnati_v0", 1, render_mode="ansi")
    env.reset(options={"deal": TRUMP_H, "dealer": 3})
    for action in ("bid 3", "pass", "pass", "pass", "trump H", "JD"):
        env.step(env.action_names.index(action))
    assert "seat 1 to play, hearts led" in env.render()
    env.step(env.action_names.index("TH"))
    table = env.render()
    assert "JH^ AH^ TS 9S 9C" in table
    assert "QH^ 9H^ AS JS KC QC" in table
    assert ">JD^" in table
    assert LEGEND in table


@pytest.mark.parametrize(
    ("agents", "outcome", "winner", "words"),
    [
        (["A", "B", "A", "B"], "won", 0, "A (seats 0 and 2) wins 33 to 21 after 2 hands."),
        (["A", "B", "C", "B"], "won", 0, "A and C (seats 0 and 2) win 33 to 21 after 2 hands."),
        (None, "won", 0, "Seats 0 and 2 win 33 to 21 after 2 hands."),
        (None, "drawn", None, "drawn after 2 hands: seats 0 and 2 have 33, seats 1 and 3 have 21."),
        (None, "unfinished", None, "unfinished after 2 hands: seats 0 and 2 have 33, seats"),
    ],
)
def test_a_game_ends_in_a_sentence_with_winner_and_score(agents, outcome, winner, words):
    hands = [{"score": [5, 1]}, {"score": [33, 21]}]
    assert words in ending(GameRecord("cincinnati_v0", {}, hands, 1, agents, winner, outcome))


def test_a_game_is_printed_with_its_agents_options_and_results(tmp_path):
    path = tmp_path / "games.jsonl"
    game = bideuchre_env.make("cincinnati_v0", target=30)
    bideuchre_env.selfplay.play(game, "rule", "cautious", games=2, seed=1, out=path)
    record = next(bideuchre_env.records_io.read(path))
    whole = text_of(record_view(record, 1))
    assert whole.startswith("Game 1: cincinnati_v0, target=30, seed 1")
    assert "rule (seats 0 and 2) against cautious (seats 1 and 3)" in whole
    assert whole.count(LEGEND) == 1
    assert whole.count("\nHand ") == len(record.hands) > 2
    assert whole.rstrip().endswith(ending(record))
    for number, hand in enumerate(record.hands, 1):
        hand_text = text_of(record_view(record, 1, {number}))
        assert hand_text.count("\nHand ") == 1
        assert f"\nHand {number}" in hand_text
        made = max(hand["points"]) > 0 and hand["points"][hand["declarer"] & 1] > 0
        assert ("\nMade." in hand_text) == made
        assert ("\nSet." in hand_text) != made
