"""Tables, hands and games as text and as pictures: names, order, marks, and hidden cards."""

import numpy as np
import pytest
from rich.console import Console
from support.playthroughs import RED_BOWERS, VARIANTS, Chooser, plies, start

import bideuchre_env
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.state import Phase
from bideuchre_env.records.look import Look
from bideuchre_env.records.page.view import table_view
from bideuchre_env.records.picture import Card, TablePicture
from bideuchre_env.records.record import GameRecord
from bideuchre_env.records.render import LEGEND, ending, record_view
from bideuchre_env.records.words import card_words
from bideuchre_env.rules.cards import CARD_NAMES, MAX_TRICKS, hand_names


def text_of(view, width=100):
    console = Console(width=width, color_system=None, force_jupyter=False)
    with console.capture() as out:
        console.print(view)
    return out.get()


def test_hands_and_tricks_are_in_the_order_in_which_cards_win():
    """A led left bower calls for trumps, and it ranks second among them."""
    env = start("cincinnati_v0", 1, render_mode="ansi")
    env.reset(options={"deal": RED_BOWERS, "dealer": 3})
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
    bideuchre_env.match(game, "rule", "cautious", games=2, seed=1, records=path)
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


SHAPE = (488, 760, 3)
cincinnati = bideuchre_env.cincinnati_v0


@pytest.mark.parametrize("name", VARIANTS)
def test_a_seat_sees_no_hidden_card(name):
    pytest.importorskip("PIL")
    rng, differ = np.random.default_rng(2), 0
    env = bideuchre_env.variants[name].raw_env(render_mode="rgb_array", episode="hand")
    env.reset(seed=4)
    for at, _ in enumerate(plies(env, Chooser(4))):
        if at % 6:
            continue
        seat = int(env.agent_selection[-1])
        world = env.resample_hidden(seat=seat, rng=rng)
        frame = env.render()
        assert (frame.shape, frame.dtype) == (SHAPE, np.uint8)
        assert len(np.unique(frame[::4, ::4, 0])) > 8  # not blank
        differ += not np.array_equal(frame, world.render())
        for view in (seat, "actor"):
            env.view = world.view = view
            assert np.array_equal(env.render(), world.render())
        env.view = "all"
    assert differ


def faces(row, rules, viewer):
    """(name, whether it is marked) of the face-up cards of a picture; the viewer's hand is last."""
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


def test_only_the_declarer_and_the_open_view_see_the_kitty():
    env = bideuchre_env.barrie_v0.raw_env(kitty=4, partnered=(1, 7))
    env.reset(options={"dealer": 3}, seed=1)
    row, rules = env.get_state()[0], env.rules
    dealt = sorted(env.record.hands[0]["kitty"])
    for viewer in range(4):
        assert Look(row, rules, viewer).kitty() == ([*Look(row, rules, None).kitty()[0]], False)
    assert sorted(Look(row, rules, None).kitty()[0]) == dealt
    assert Look(row, rules, None).kitty()[1]
    for name in ("bid 3 C", "pass", "pass", "pass"):
        env.step(env.action_names.index(name))
    for laid in range(5):
        row = env.get_state()[0]
        looks = [Look(row, rules, viewer) for viewer in range(4)]
        assert [look.kitty()[1] for look in looks] == [True, False, False, False]
        assert [look.laid_away()[1] for look in looks] == [True, False, False, False]
        assert all(len(look.laid_away()[0]) == laid for look in looks)
        assert looks[1].lays_away == (laid < 4)
        words = [table_view(row, rules, seat)["words"] for seat in range(2)]
        if laid < 4:
            assert all(text.endswith("to lay away a card.") for text in words)
            card = int(np.flatnonzero(env.last()[0]["action_mask"])[laid])
            env.step(card)
            done = [table_view(env.get_state()[0], rules, s)["words"] for s in range(2)]
            assert card_words(env.action_names[card]) in done[0]
            assert "lays away a card" in done[1]
            assert card_words(env.action_names[card]) not in done[1]


@pytest.mark.parametrize("seen", ["blind", "open"])
def test_partner_sees_the_given_cards_of_an_open_exchange(seen):
    env = bideuchre_env.barrie_v0.raw_env(exchange_seen=seen)
    env.reset(options={"dealer": 3}, seed=1)
    for name in ("bid call-2 C", "pass", "pass", "pass"):
        env.step(env.action_names.index(name))
    while not env.terminations[env.agent_selection]:
        row = env.get_state()[0]
        if row["phase"] > Phase.PLAY:
            break
        views = [Look(row, env.rules, viewer).exchanged()[0] for viewer in range(4)]
        taken_up = seen == "open" and row["phase"] >= Phase.PASSING
        assert [known for _, known in views] == [True, False, taken_up, False]
        if row["phase"] == Phase.PLAY:
            break
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert row["phase"] == Phase.PLAY
