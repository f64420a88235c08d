"""How objects show themselves: a line by `repr`, a table in a notebook."""

from html.parser import HTMLParser

import pytest
from support.playthroughs import VARIANTS, Chooser, finish, start

import bideuchre_env
from bideuchre_env import GameRecord, agents, match, selfplay
from bideuchre_env.agents.expert.hand_worth import hand_worth
from bideuchre_env.records.page.page import replay_page

NAMES = ["<script>alert(1)</script>", "a & b", '"c"', "rule"]


class Page(HTMLParser):
    """Checks that every tag is closed, and keeps the tags and the text of every table cell."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.rows, self.text = [], set(), [], ""
        self.feed(text)
        assert not self.open
        assert self.tags <= {"table", "tr", "th", "td", "p", "b", "details", "summary"}
        assert "color" not in text
        assert "background" not in text

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", VARIANTS)
def test_rules_are_their_sheet(name):
    """The same parts in the same order, line by line, and no others."""
    rules = bideuchre_env.variants[name].rules
    page = Page(rules._repr_html_())
    sheet: list[tuple[str, list[str]]] = []
    for line in str(rules).splitlines():
        title, said = line[:10].strip(), line[10:]
        if title:
            sheet.append((title, []))
        sheet[-1][1].append(said)
    assert page.rows[0] == ["", "Rules"]
    assert page.rows[1:] == [[title.rstrip(":"), "\n".join(lines)] for title, lines in sheet]
    assert len(sheet) == 7


def test_a_layout_is_its_table():
    layout = bideuchre_env.barrie_v0.raw_env().observation_layout
    page = Page(layout._repr_html_())
    assert [row[0] for row in page.rows] == ["block", *(block.name for block in layout.blocks)]
    lines = str(layout).splitlines()
    assert [" ".join(row) for row in page.rows] == [" ".join(line.split()) for line in lines]


class Frame(HTMLParser):
    """A line of text, and under it a frame with a page of its own."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.frame = [], "", {}
        self.feed(text)
        assert self.tags == ["p", "b", "iframe"]

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "iframe":
            self.frame = dict(attributes)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", VARIANTS)
def test_a_record_is_its_replay(name):
    """In a frame that reaches nothing; names of agents are no markup."""
    record = finish(start(name, 5, max_hands=6), Chooser(5)).record
    record.agents = NAMES
    shown = Frame(record._repr_html_())
    assert shown.text.startswith(f"{name}: {len(record.hands)} hands, score ")
    assert shown.frame["sandbox"] == "allow-scripts"
    assert shown.frame["srcdoc"] == replay_page(record)


def test_records_that_are_odd():
    """A game in progress, one not begun, and one that does not replay."""
    env = start("barrie_v0", 3)
    assert "in progress" in Frame(env.record._repr_html_()).frame["srcdoc"]
    assert "0 hands" in Frame(GameRecord("club_v0")._repr_html_()).text
    assert repr(GameRecord("club_v0", hands=5)) == "<GameRecord that makes no game>"
    assert "makes no game" in Page(GameRecord("club_v0", hands=5)._repr_html_()).text
    broken = env.record
    broken.hands[0]["actions"] = ["<b>"]
    assert "does not replay: hand 1: action 1, player_" in Page(broken._repr_html_()).text


def test_results_show_their_figures():
    played = match.play("six_card_v0", "rule", "random", boards=6, games=2)
    page = Page(played._repr_html_())
    assert page.text.startswith("rule against random, six_card_v0, seed 0")
    assert sum(row[0] == "points per hand" for row in page.rows) == 2
    assert [row[0] for row in page.rows if len(row) == 6] == ["contracts", "rule", "random"] * 2
    assert str(played).count("\n") > 5
    alone = selfplay.play("six_card_v0", "rule", "rule", boards=3)
    assert "rule#2" in Page(alone._repr_html_()).text


def test_a_hand_is_worth_a_table():
    rules = bideuchre_env.cincinnati_v0.rules
    page = Page(hand_worth("JH JD AH KH QS 9C", rules)._repr_html_())
    assert "JH" in page.text
    assert page.rows[0][:2] == ["", "H"]
    assert page.rows[1][0] == "tricks"
    assert page.rows[2][0] == "3"


def test_reprs_are_a_line():
    game = bideuchre_env.cincinnati_v0
    raw, wrapped, solo, many = (
        game.raw_env(),
        game.env(),
        game.solo(seat=2, partner="rule"),
        game.solo_vec(3),
    )
    for env in (raw, wrapped):
        assert repr(env) == "<cincinnati_v0: nothing dealt yet>"
        env.reset(seed=1, options={"dealer": 0, "score": (5, -3)})
        assert repr(env) == "<cincinnati_v0: hand 1, player_1 to act, score 5 to -3>"
    raw.step(1)
    assert "player_2 to act" in repr(raw)
    wrapped.step(30)
    assert repr(wrapped) == "<cincinnati_v0: hand 1, over, score 5 to -3>"
    assert repr(solo) == "<cincinnati_v0, one learner with rule against random: nothing dealt yet>"
    solo.reset(seed=1, options={"score": (5, -3)})
    at = "in seat 2, score 5 to -3"
    assert repr(solo) == f"<cincinnati_v0, one learner with rule against random: {at}>"
    assert repr(many) == "<cincinnati_v0 x 3, one learner each with random against random>"
    assert repr(game.vec(3)) == "<cincinnati_v0 x 3, 1 threads>"
    assert repr(raw.record) == "<GameRecord cincinnati_v0: 1 hand, score 5 to -3, unfinished>"
    won = finish(start("cincinnati_v0", 2, target=4), Chooser(2)).record
    words = f"score {won.hands[-1]['score'][0]} to {won.hands[-1]['score'][1]}, won by side"
    assert f"{words} {won.winner}>" in repr(won)
    assert agents.make("rule", game.rules).name == "rule"
