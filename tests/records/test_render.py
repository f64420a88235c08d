"""A hand and a game as a person reads them: names, trumps, the left bower, the result in words."""

from __future__ import annotations

import pytest

import bideuchre_env
from bideuchre_env.records.record import GameRecord
from bideuchre_env.records.render import LEGEND, ending, record_view, table_text
from bideuchre_env.rules.cards import parse_card, same_colour

TRUMP_H = [
    *(["JH", "JD", "AH", "9S", "TS", "9C"], ["KH", "TH", "QS", "KS", "AC", "TC"]),
    *(["QH", "9H", "JS", "AS", "QC", "KC"], ["9D", "TD", "QD", "KD", "AD", "JC"]),
]


def in_hearts(*cards, **options):
    """An environment in the play of 3 in hearts by seat 0, after these cards."""
    env = bideuchre_env.cincinnati_v0.raw_env(render_mode="ansi", **options)
    env.reset(options={"deal": TRUMP_H, "dealer": 3})
    for action in ("bid 3", "pass", "pass", "pass", "trump H", *cards):
        env.step(env.action_names.index(action))
    return env


def text_of(view, width=100):
    """A view as plain text."""
    from rich.console import Console

    console = Console(width=width, color_system=None, force_jupyter=False)
    with console.capture() as out:
        console.print(view)
    return out.get()


def test_trumps_are_marked_with_the_left_bower_among_them():
    """In the hand, first and in the order in which they win; and in the tricks."""
    table = in_hearts("JD", "TH").render()
    assert "AH^" in table
    assert "JH^ AH^ TS 9S 9C" in table
    assert "QH^ 9H^ AS JS KC QC" in table
    assert ">JD^" in table
    assert LEGEND in table
    assert "JC^" not in table


@pytest.mark.parametrize("trump", range(4))
def test_a_card_is_marked_where_the_rules_have_it_in_trump(trump):
    """All 24 cards, in each suit."""
    name = "CDHS"[trump]
    env = bideuchre_env.cincinnati_v0.raw_env(render_mode="ansi")
    env.reset(seed=3)
    for action in ("pass", "pass", "pass", "bid 3", f"trump {name}"):
        env.step(env.action_names.index(action))
    words = set(env.render().split())
    for card in {card for hand in env.record.hands[0]["deal"] for card in hand}:
        suit = parse_card(card) % 4
        trumps = suit == trump or (card[0] == "J" and suit == same_colour(trump))
        assert (f"{card}^" in words) == trumps
        assert (card in words) != trumps


def test_nothing_is_marked_before_there_is_trump_nor_without():
    """During the auction, in naming, in no trump."""
    env = bideuchre_env.cincinnati_v0.raw_env(render_mode="ansi")
    env.reset(seed=3)
    for action in ("pass", "pass", "pass", "bid 3", "trump NT"):
        assert "^" not in env.render()
        env.step(env.action_names.index(action))
    assert "^" not in env.render().replace(LEGEND, "")


def test_the_state_line_says_who_is_to_do_what():
    """In words, with the suit led; the left bower leads trump."""
    assert "seat 1 to play, hearts led" in in_hearts("JD").render()
    env = bideuchre_env.barrie_v0.raw_env(render_mode="ansi")
    env.reset(seed=1)
    assert f"seat {env.agent_selection[-1]} to call" in env.render()


@pytest.mark.parametrize(
    ("agents", "winner", "words"),
    [
        (["A", "B", "A", "B"], 0, "A (seats 0 and 2) wins 33 to 21 after 2 hands."),
        (["A", "B", "A", "B"], 1, "B (seats 1 and 3) wins 21 to 33 after 2 hands."),
        (["A", "B", "C", "B"], 0, "A and C (seats 0 and 2) win 33 to 21 after 2 hands."),
        (None, 0, "Seats 0 and 2 win 33 to 21 after 2 hands."),
    ],
)
def test_a_won_game_ends_in_a_sentence(agents, winner, words):
    """The winner's agents and score first."""
    hands = [{"score": [5, 1]}, {"score": [33, 21]}]
    record = GameRecord("cincinnati_v0", {}, hands, 1, agents, winner, "won")
    assert ending(record) == words


@pytest.mark.parametrize("outcome", ["drawn", "truncated", "unfinished"])
def test_a_game_that_nobody_won_says_so(outcome):
    """With both scores."""
    record = GameRecord("cincinnati_v0", {}, [{"score": [7, 8]}], outcome=outcome)
    assert ending(record) == (
        f"The game is {outcome} after 1 hand: seats 0 and 2 have 7, seats 1 and 3 have 8."
    )
    assert "after 0 hands: seats 0 and 2 have 0" in ending(GameRecord("barrie_v0"))


def test_a_game_names_its_agents_and_says_what_its_signs_mean(tmp_path):
    """Once at its head; then each hand, or those asked for."""
    path = tmp_path / "games.jsonl"
    bideuchre_env.selfplay.play("cincinnati_v0", "rule", "cautious", games=2, seed=1, out=path)
    record = next(bideuchre_env.records_io.read(path))
    whole = text_of(record_view(record, 1))
    assert "rule (seats 0 and 2) against cautious (seats 1 and 3)" in whole
    assert whole.count(LEGEND) == 1
    assert whole.count("\nHand ") == len(record.hands) > 2
    for seat, name in enumerate(record.agents):
        assert f"{seat} {name}" in whole
    some = text_of(record_view(record, 1, {2}))
    assert some.count("\nHand ") == 1
    assert "\nHand 2" in some
    assert whole.rstrip().endswith(ending(record))
    for number, hand in enumerate(record.hands):
        shown = text_of(record_view(record, 1, {number + 1}))
        made = max(hand["points"]) > 0 and hand["points"][hand["declarer"] & 1] > 0
        assert ("\nMade." in shown) == made
        assert ("\nSet." in shown) != made


def test_the_title_says_by_which_rules():
    """What is changed of a variant; of rules of one's own no more than the deck."""
    record = GameRecord("barrie_v0", {"target": 40}, seed=3)
    assert text_of(record_view(record, 2)).startswith("Game 2: barrie_v0, target=40, seed 3\n")
    rules = bideuchre_env.club_v0.rules
    record = GameRecord("custom_v0", rules.to_dict())
    title = "Game 1: custom_v0, rules of its own with 32 cards and 8 tricks\n"
    assert text_of(record_view(record, 1)).startswith(title)


@pytest.mark.parametrize("name", bideuchre_env.variants)
def test_a_hand_fits_80_columns(name):
    """With every agent's name of usual length; twelve cards too."""
    env = bideuchre_env.make(name).raw_env(render_mode="ansi")
    env.reset(seed=2)
    assert max(map(len, table_text(env._states[0], env.rules).splitlines())) <= 80
    record = env.record
    record.agents = ["cautious", "expert", "inference", "expert"]
    assert max(map(len, text_of(record_view(record, 1), 80).splitlines())) <= 80
