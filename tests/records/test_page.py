"""The content of pages: a seat's view of a table, and a game as one file."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from support.notes import notes_on
from support.playthroughs import (
    DIFFERENT,
    EACH,
    RED_BOWERS,
    Caller,
    Chooser,
    game,
    legal_names,
    plies,
    start,
)

from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.records.page.notes import ply_note
from bideuchre_env.records.page.page import game_data, plain, replay_page
from bideuchre_env.records.page.view import covered, game_view, hand_frames, table_view

SEATS = (None, 0, 1, 2, 3)
NASTY = ["</script><script>bad()</script>", "<b>&amp;", "\"'{sheets}", "rule"]


SOME = [DIFFERENT[0], *(pytest.param(name, marks=pytest.mark.slow) for name in DIFFERENT[1:])]


@pytest.mark.parametrize("name", SOME)
def test_a_view_has_nothing_that_the_seat_cannot_know(name):
    rng, phases = np.random.default_rng(4), set()
    env = start(name, 6, max_hands=8)
    for _ in plies(env, Caller(9)):
        row = env.get_state()[0]
        phases.add(table_view(row, env.rules)["phase"])
        for seat in range(4):
            other = env.resample_hidden(seat=seat, rng=rng).get_state()[0]
            view = table_view(row, env.rules, seat)
            assert view == table_view(other, env.rules, seat)
            assert [seat for seat in range(4) if isinstance(view["hands"][seat], list)] == [seat]
    exchange = {"giving", "passing"} if env.rules.exchange else set()
    naming = {"naming"} if env.rules.strain_named == "after_auction" else set()
    assert phases == {"auction", "play"} | exchange | naming


@pytest.mark.parametrize("name", EACH)
def test_legal_actions_are_in_the_view_of_the_seat_to_act_and_in_the_open_one(name):
    env = start(name, 3, episode="hand")
    assert sorted(game_view(env.rules)["words"]) == sorted(env.action_names)
    for _ in plies(env, Chooser(2)):
        row, turn = env.get_state()[0], int(env.agent_selection[-1])
        for seat in SEATS:
            legal = table_view(row, env.rules, seat)["legal"]
            assert legal == (legal_names(env) if seat in (None, turn) else [])


def test_hands_are_sorted_with_trumps_first_and_actions_are_in_words():
    """Trumps include the left bower; other cards are sorted by suit, high cards first."""
    env = start("cincinnati_v0", 1)
    env.reset(options={"deal": RED_BOWERS, "dealer": 3})
    for action in ("bid 3", "pass", "pass", "pass", "trump D"):
        env.step(env.action_names.index(action))
    view = table_view(env.get_state()[0], env.rules, 0)
    assert view["hands"] == [["JD", "JH", "TS", "9S", "AH", "9C"], 6, 6, 6]
    assert view["remark"] == "The jack of hearts, the left bower, is one of the diamonds."
    assert (view["contract"], view["strain"], view["need"]) == ("3 D", "D", 3)
    env.step(env.action_names.index("JH"))
    view = table_view(env.get_state()[0], env.rules, 2)
    assert view["words"] == "Partner plays the jack of hearts. Right to play, diamonds led."


def after(value, changes):
    """A value after the page's script has applied changes to it."""
    if not isinstance(value, list) or not isinstance(changes, dict):
        return changes
    return [after(old, changes.get(str(i), old)) for i, old in enumerate(value)]


@pytest.mark.parametrize("name", SOME)
def test_frames_give_the_view_of_every_seat_at_every_position(name):
    record = game(name, 7)
    for hand in record.played_hands():
        frames = json.loads(json.dumps(hand_frames(hand.dealt, hand.actions, record.rules, None)))
        view, row = frames["first"], rows_of([hand.dealt])
        for card in range(len(hand.actions) + 1):
            if card:
                changes = frames["changes"][card - 1]
                view = view | {key: after(view[key], changes[key]) for key in changes}
                step_row(row, compile_tables(record.rules), int(hand.actions[card - 1]))
            for seat in SEATS:
                expected = table_view(row[0], record.rules, seat, numbered=True)
                frame = view
                if seat is not None:
                    frame = covered(view, seat) | frames["seen"][card].get(str(seat), {})
                for key in frame:
                    calls = key == "legal" and expected["phase"] in ("auction", "naming")
                    assert frame[key] == ([] if calls else expected[key]), (key, seat)


@pytest.mark.parametrize("name", EACH)
def test_tricks_and_stops_equal_the_record(name):
    record = game(name, 9)
    for hand, data in zip(record.hands, game_data(record)["hands"], strict=True):
        assert [ply["action"] for ply in data["plies"]] == hand["actions"]
        won = [trick["winner"] for trick in data["tricks"]]
        assert [sum(who % 2 == side for who in won) for side in (0, 1)] == hand["tricks"]
        played = [ply for trick in data["tricks"] for ply in trick["plies"] if ply is not None]
        first = data["tricks"][0]["first"] if data["tricks"] else len(data["plies"])
        assert sorted(played) == list(range(first, len(data["plies"])))
        assert (data["stops"][0], data["stops"][-1]) == (0, len(data["plies"]))
        assert set(data["stops"]) >= {trick["end"] for trick in data["tricks"]}


class Page(HTMLParser):
    """The tags of a page, and the text in each script and style."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.raw, self.text, self.inside = [], [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside = tag
        self.tags.append(tag)
        self.attributes.append(dict(attributes))

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside in ("script", "style"):
            self.raw.append(data)
        self.text += data


def test_names_and_notes_stay_text_and_the_page_loads_nothing():
    record = game("barrie_v0", agents=NASTY)
    why = "</script><script>bad()</script>\u2028\u2029<!--"
    text = replay_page(record, notes_on(record, why), title="</title><script>bad()")
    page, plain_page = Page(text), Page(replay_page(game("barrie_v0")))
    assert page.tags.count("script") == plain_page.tags.count("script") == 2
    assert page.tags.count("title") == 1
    assert "b" not in page.tags[: page.tags.index("div")]
    data = json.loads(page.raw[1])
    assert data["games"][0]["agents"] == NASTY
    assert why in data["games"][0]["hands"][0]["notes"][1]["words"]
    assert plain("</script>\u2028&") == r'"\u003c/script\u003e\u2028\u0026"'
    assert not any(name.startswith("on") for each in page.attributes for name in each)
    policy = next(each for each in page.attributes if "http-equiv" in each)["content"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "connect-src 'none'" in policy
    assert not re.search(r"url\(|@import|src=", text)


def test_the_printed_sheet_has_every_hand_and_the_notes():
    record = game("cincinnati_v0", 4, agents=["a", "b", "c", "d"])
    text = Page(replay_page(record, notes_on(record))).text
    for number, hand in enumerate(record.hands, 1):
        assert f"Hand {number}: " in text
        for cards in hand["deal"]:
            names = " ".join(card.replace("T", "10") for card in cards)
            assert names.translate(str.maketrans("CDHS", "♣♦♥♠")) in text
    assert text.count("par: 4 H by seat 1") == 2 * len(record.hands)  # in the data, too


def test_losses_are_said_in_words():
    """Tricks given away with open hands are named, and a loss that counts as 0 has no mark."""
    words = {"JH": "jack of hearts"}
    right = ply_note({"lost": 0.0, "error": 0.1, "open": 1, "best": "JH"}, words)
    assert right["mark"] == "1 trick"
    assert "With all hands open: 1 trick." in right["words"]
    assert "1 trick with all hands open" in right["label"]
    both = ply_note({"lost": 0.8, "error": 0.1, "open": 2, "best": "JH", "mistake": True}, words)
    assert both["mark"] == "\N{MINUS SIGN}0.8 points, 2 tricks"
    assert both["best"] == "jack of hearts"
    games = {"lost": 0.0, "wins_lost": 0.021, "cost": "2.1 \u00b1 0.4 % of games", "mistake": True}
    assert ply_note(games, words)["badge"] == "\N{MINUS SIGN}2.1 %"
    assert ply_note(games, words)["cost"] == games["cost"]
    assert ply_note({"lost": 0.1, "error": 0.2, "open": 0}, words)["mark"] == ""


def test_an_unfinished_game_has_a_page_and_one_that_does_not_replay_has_none():
    env = start("barrie_v0", 3)
    env.step(0)
    assert "in progress" in Page(replay_page(env.record)).text
    assert "0 hands" in replay_page(type(env.record)("club_v0"))
    broken = env.record
    broken.hands[0]["actions"] = ["JH"]
    with pytest.raises(RecordError, match="action 1"):
        replay_page(broken)


def test_notes_on_another_game_are_refused():
    record, other = game("barrie_v0"), game("cincinnati_v0")
    for notes, message in (
        (notes_on(other), r"notes on hands of \[.*\] actions, but those of the rec"),
        ({}, "notes lack"),
    ):
        with pytest.raises(OptionError, match=message):
            replay_page(record, notes)
