"""The pages: what a seat may know of a table and nothing more; a game as one file.

What they do in a browser: test_page_in_browser.py.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from support.playthroughs import VARIANTS, Chooser, legal_names, plies, start
from support.replays import NASTY, Caller, game, notes_on

from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.records.page.page import game_data, plain, replay_page, replays_page
from bideuchre_env.records.page.view import covered, game_view, hand_frames, table_view
from bideuchre_env.records.picture import DARK, LIGHT
from bideuchre_env.rules.cards import CARD_NAMES

SEATS = (None, 0, 1, 2, 3)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_view_has_nothing_that_the_seat_cannot_know(name):
    """Hidden cards drawn anew change nothing: in all phases, exchange and double deck included."""
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
            json.dumps(view, allow_nan=False)
    exchange = {"giving", "passing"} if env.rules.exchange else set()
    naming = {"naming"} if env.rules.strain_named == "after_auction" else set()
    assert phases == {"auction", "play"} | exchange | naming


@pytest.mark.parametrize("name", VARIANTS)
def test_legal_actions_are_sent_to_whom_they_belong(name):
    """To the seat to act and to the all-seeing; each has words."""
    env = start(name, 3, episode="hand")
    words = game_view(env.rules)["words"]
    assert sorted(words) == sorted(env.action_names)
    for _ in plies(env, Chooser(2)):
        row, turn = env.get_state()[0], int(env.agent_selection[-1])
        for seat in SEATS:
            legal = table_view(row, env.rules, seat)["legal"]
            assert legal == (legal_names(env) if seat in (None, turn) else [])


def test_hands_are_sorted_with_trumps_first():
    """From the right bower down, the left bower among them; the rest by suit, high cards first."""
    deal = [
        *(["JH", "JD", "AH", "9S", "TS", "9C"], ["KH", "TH", "QS", "KS", "AC", "TC"]),
        *(["QH", "9H", "JS", "AS", "QC", "KC"], ["9D", "TD", "QD", "KD", "AD", "JC"]),
    ]
    env = start("cincinnati_v0", 1)
    env.reset(options={"deal": deal, "dealer": 3})
    for action in ("bid 3", "pass", "pass", "pass", "trump D"):
        env.step(env.action_names.index(action))
    view = table_view(env.get_state()[0], env.rules, 0)
    assert view["hands"] == [["JD", "JH", "TS", "9S", "AH", "9C"], 6, 6, 6]
    assert view["remark"] == "The jack of hearts, the left bower, is one of the diamonds."
    assert view["words"] == (
        "You name diamonds. The contract is 3 in diamonds by you. You to play."
    )
    assert (view["contract"], view["strain"], view["need"]) == ("3 D", "D", 3)
    env.step(env.action_names.index("JH"))
    view = table_view(env.get_state()[0], env.rules, 2)
    assert view["words"] == "Partner plays the jack of hearts. Right to play, diamonds led."


def test_words_name_every_action():
    """As they are said."""
    words = game_view(start("barrie_v0", 1).rules)["words"]
    assert words["JH"] == "jack of hearts"
    assert words["bid 4 NT"] == "bid 4 in no trump"
    assert words["bid call-2 S"] == "bid call-2 in spades"
    words = game_view(start("cincinnati_v0", 1).rules)["words"]
    assert words["trump NT"] == "name no trump"
    assert words["bid double moon"] == "bid double moon"
    assert set(words) >= set(CARD_NAMES)


def test_a_seat_is_a_seat():
    """Anything else is refused."""
    env = start("barrie_v0", 1)
    for wrong in (4, -1, "0", True, 1.0):
        with pytest.raises(OptionError, match=r"seat .*: a seat from 0 to 3"):
            table_view(env.get_state()[0], env.rules, wrong)


def after(value, changes):
    """What the page's script makes of a value and its changes, from their JSON."""
    if not isinstance(value, list) or not isinstance(changes, dict):
        return changes
    return [
        after(old, changes[str(i)]) if str(i) in changes else old for i, old in enumerate(value)
    ]


@pytest.mark.parametrize("name", VARIANTS)
def test_frames_are_the_views_of_every_seat(name):
    """Each of them, told as changes of the open view, is what `table_view` gives."""
    record = game(name, 7)
    for hand in record.played_hands():
        frames = json.loads(json.dumps(hand_frames(hand.dealt, hand.actions, record.rules, None)))
        view, row = frames["first"], rows_of([hand.dealt])
        for card in range(len(hand.actions) + 1):
            if card:
                made = frames["changes"][card - 1]
                view = view | {key: after(view[key], made[key]) for key in made}
                step_row(row, compile_tables(record.rules), int(hand.actions[card - 1]))
            for seat in SEATS:
                told = table_view(row[0], record.rules, seat, numbered=True)
                shown = view
                if seat is not None:
                    shown = covered(view, seat) | frames["seen"][card].get(str(seat), {})
                for key in shown:
                    calls = key == "legal" and told["phase"] in ("auction", "naming")
                    assert shown[key] == ([] if calls else told[key]), (key, seat)


@pytest.mark.parametrize("name", VARIANTS)
def test_tricks_and_stops_are_those_of_the_record(name):
    """Every card played is in its trick; a part ends with the auction and with each trick."""
    record = game(name, 9)
    for hand, data in zip(record.hands, game_data(record)["hands"], strict=True):
        assert [ply["action"] for ply in data["plies"]] == hand["actions"]
        won = [trick["winner"] for trick in data["tricks"]]
        assert [sum(who % 2 == side for who in won) for side in (0, 1)] == hand["tricks"]
        played = [ply for trick in data["tricks"] for ply in trick["plies"] if ply is not None]
        first = data["tricks"][0]["first"] if data["tricks"] else len(data["plies"])
        assert sorted(played) == list(range(first, len(data["plies"])))
        assert data["stops"][0] == 0
        assert data["stops"][-1] == len(data["plies"])
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


def test_what_stands_in_a_record_or_a_note_stays_text():
    """No name and no sentence becomes markup or script; the data are read as they were."""
    record = game("barrie_v0", agents=NASTY)
    why = "</script><script>bad()</script>\u2028\u2029<!--"
    page = Page(replay_page(record, notes_on(record, why), title="</title><script>bad()"))
    plain_page = Page(replay_page(game("barrie_v0")))
    assert page.tags.count("script") == plain_page.tags.count("script") == 2
    assert page.tags.count("title") == 1
    assert "b" not in page.tags[: page.tags.index("div")]
    data = json.loads(page.raw[1])
    assert data["games"][0]["agents"] == NASTY
    assert why in data["games"][0]["hands"][0]["notes"][1]["words"]
    assert plain("</script>\u2028&") == r'"\u003c/script\u003e\u2028\u0026"'
    assert not any(name.startswith("on") for each in page.attributes for name in each)
    assert not any("style" in each for each in page.attributes)  # which the policy would refuse


def test_a_page_needs_nothing_from_elsewhere():
    """No address in it leads anywhere; the policy lets nothing load."""
    text = replay_page(game("club_v0"))
    policy = next(each for each in Page(text).attributes if "http-equiv" in each)["content"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "connect-src 'none'" in policy
    assert set(re.findall(r"https?://[^\"]*", text)) == {"http://www.w3.org/2000/svg"}  # a name
    assert not re.search(r"url\(|@import|src=", text)


def test_a_whole_game_is_small():
    """Of twelve cards each, over many hands, with notes: under a megabyte."""
    record = game("double_deck_v0", 3, hands=14)
    assert len(record.hands) > 7
    assert len(replay_page(record, notes_on(record))) < 1_000_000


def test_the_sheet_has_every_hand():
    """What is printed: each card dealt and played, each call, with the marks of the notes."""
    record = game("cincinnati_v0", 4, agents=["a", "b", "c", "d"])
    text = Page(replay_page(record, notes_on(record))).text
    for number, hand in enumerate(record.hands, 1):
        assert f"Hand {number}: " in text
        for cards in hand["deal"]:
            said = " ".join(card.replace("T", "10") for card in cards)
            assert said.translate(str.maketrans("CDHS", "♣♦♥♠")) in text
    assert text.count("par: 4 H by seat 1") == 2 * len(record.hands)  # in the data, too
    assert re.search(r"[♣♦♥♠] \N{MINUS SIGN}\d", text)


def test_several_games_are_chosen_by_name():
    """Each with its own rules."""
    games = [game("barrie_v0"), game("cincinnati_v0")]
    data = json.loads(Page(replays_page(games, names=["game 3", "game 8"])).raw[1])["games"]
    assert [each["name"] for each in data] == ["game 3", "game 8"]
    assert [each["view"]["tricks"] for each in data] == [8, 6]
    assert [each["name"] for each in json.loads(Page(replays_page(games)).raw[1])["games"]] == [
        "game 1",
        "game 2",
    ]


def test_a_game_without_an_end_or_a_beginning_has_a_page():
    """In progress, and not begun; one that does not replay has none."""
    env = start("barrie_v0", 3)
    env.step(0)
    assert "in progress" in Page(replay_page(env.record)).text
    assert "0 hands" in replay_page(type(env.record)("club_v0"))
    broken = env.record
    broken.hands[0]["actions"] = ["JH"]
    with pytest.raises(RecordError, match="action 1"):
        replay_page(broken)


def test_notes_on_another_game_are_refused():
    """In one line, before anything is drawn."""
    record, other = game("barrie_v0"), game("cincinnati_v0")
    with pytest.raises(
        OptionError, match=r"notes on hands of \[.*\] actions, but those of the rec"
    ):
        replay_page(record, notes_on(other))
    with pytest.raises(OptionError, match=r"notes lack .*: 'players'"):
        replay_page(record, {"hands": notes_on(record)["hands"]})
    for wrong in ({}, {"hands": 5}, {"hands": [3]}):
        with pytest.raises(OptionError, match="notes lack"):
            replay_page(record, wrong)


def luminance(colour):
    """Of a colour as "#rrggbb", as the guidelines for accessible pages have it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_colours_can_be_told_apart(theme):
    """Contrast as AA asks for: 4.5 for text, on paper, on felt and on cards."""
    for letters, ground in (
        *(("ink", ground) for ground in ("paper", "felt")),
        *(("dim", ground) for ground in ("paper", "felt")),
        *(("mark", "paper"), ("red", "card"), ("black", "card")),
    ):
        light, dark = sorted((luminance(theme[letters]), luminance(theme[ground])))[::-1]
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (letters, ground)
