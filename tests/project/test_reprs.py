"""The `repr` of objects is one line; notebooks display a table or a replay."""

from html.parser import HTMLParser

from support.playthroughs import Chooser, finish, start

import bideuchre_env
from bideuchre_env import GameRecord, match
from bideuchre_env.agents.expert.hand_worth import hand_worth
from bideuchre_env.records.page.page import replay_page


class Page(HTMLParser):
    """The tags of a piece of HTML, its text, the cells of its tables, and its frame."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.rows, self.text, self.frame = [], set(), [], "", {}
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "iframe":
            self.frame = dict(attributes)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_rules_and_layouts_are_displayed_as_tables():
    env = bideuchre_env.barrie_v0.raw_env()
    for each in (env.rules, env.observation_layout):
        words = " ".join(" ".join(row) for row in Page(each._repr_html_()).rows).split()
        assert words[-5:] == str(each).split()[-5:]


def test_a_match_and_a_hand_worth_are_displayed_as_tables():
    played = match.play("six_card_v0", "rule", "random", boards=6, games=2)
    page = Page(played._repr_html_())
    assert page.text.startswith("rule against random, six_card_v0, seed 0")
    assert sum(row[0] == "points per hand" for row in page.rows) == 2
    page = Page(hand_worth("JH JD AH KH QS 9C", bideuchre_env.cincinnati_v0.rules)._repr_html_())
    assert page.rows[0][:2] == ["", "H"]
    assert [row[0] for row in page.rows[1:3]] == ["tricks", "3"]


def test_a_record_is_displayed_as_its_replay_in_a_frame():
    """The frame is sandboxed; names of agents are not markup."""
    record = finish(start("barrie_v0", 5, max_hands=6), Chooser(5)).record
    record.agents = ["<script>alert(1)</script>", "a & b", '"c"', "rule"]
    page = Page(record._repr_html_())
    assert page.tags == {"p", "b", "iframe"}
    assert page.text.startswith(f"barrie_v0: {len(record.hands)} hands, score ")
    assert page.frame["sandbox"] == "allow-scripts"
    assert page.frame["srcdoc"] == replay_page(record)


def test_incomplete_and_broken_records_are_displayed():
    env = start("barrie_v0", 3)
    assert "in progress" in Page(env.record._repr_html_()).frame["srcdoc"]
    assert "0 hands" in Page(GameRecord("club_v0")._repr_html_()).text
    assert repr(GameRecord("club_v0", hands=5)) == "<GameRecord that makes no game>"
    assert "makes no game" in Page(GameRecord("club_v0", hands=5)._repr_html_()).text
    broken = env.record
    broken.hands[0]["actions"] = ["<b>"]
    assert "does not replay: hand 1: action 1, player_" in Page(broken._repr_html_()).text


def test_reprs_are_one_line():
    game = bideuchre_env.cincinnati_v0
    raw, wrapped, solo = game.raw_env(), game.env(), game.solo(seat=2, partner="rule")
    for env in (raw, wrapped):
        assert repr(env) == "<cincinnati_v0: nothing dealt yet>"
        env.reset(seed=1, options={"dealer": 0, "score": (5, -3)})
        assert repr(env) == "<cincinnati_v0: hand 1, player_1 to act, score 5 to -3>"
    wrapped.step(30)
    assert repr(wrapped) == "<cincinnati_v0: hand 1, over, score 5 to -3>"
    assert repr(solo) == "<cincinnati_v0, one learner with rule against random: nothing dealt yet>"
    solo.reset(seed=1, options={"score": (5, -3)})
    assert repr(solo).endswith("rule against random: in seat 2, score 5 to -3>")
    many = game.solo_vec(3)
    assert repr(many) == "<cincinnati_v0 x 3, one learner each with random against random>"
    assert repr(game.vec(3)) == "<cincinnati_v0 x 3, 1 threads>"
    assert repr(raw.record) == "<GameRecord cincinnati_v0: 1 hand, score 5 to -3, unfinished>"
    won = finish(start("cincinnati_v0", 2, target=4), Chooser(2)).record
    us, them = won.hands[-1]["score"]
    assert f"score {us} to {them}, won by side {won.winner}>" in repr(won)
