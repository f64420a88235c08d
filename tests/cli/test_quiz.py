"""`bideuchre quiz`: a printable page of questions, with the answers after a page break."""

import re
from math import isfinite

import numpy as np
import pytest
from support.commands import run

import bideuchre_env
from bideuchre_env.agents.advice import Advisor
from bideuchre_env.agents.advice.figures import ENOUGH
from bideuchre_env.analysis.quiz import choose, quiz_page
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.evaluation.match import match
from bideuchre_env.records.files import read_played

pytestmark = pytest.mark.search


@pytest.mark.parametrize(("kind", "asked"), [("bid", "call|Which strain"), ("play", "play|lead")])
def test_quiz_has_questions_then_answers_and_no_script(tmp_path, capsys, kind, asked):
    page, again = tmp_path / "quiz.html", tmp_path / "again.html"
    options = ["--variant", "six_card_v0", "--hands", "2", "--worlds", "80", "--kind", kind]
    assert run("quiz", *options, "--out", str(page)) == 0
    assert capsys.readouterr().out.endswith("quiz.html: 2 questions, answers at the end\n")
    text = page.read_text(encoding="utf-8")
    questions, answers = text.split('<section class="answers">')
    assert [part.count("<article") for part in (questions, answers)] == [2, 2]
    assert questions.count("<svg ") == len(re.findall(rf"<h2>\d+\. .*({asked})", questions)) == 2
    assert len(re.findall(r"<h2>\d+\. pass", answers)) <= 1
    assert ".answers { break-before: page; }" in text
    assert "<script" not in text
    lost = [float(points) for points in re.findall(r"gives away ([0-9.]+) points", answers)]
    assert len(lost) == 2
    assert all(0.2 <= points <= 4.0 for points in lost)
    if kind == "play":
        assert run("quiz", *options, "--out", str(again)) == 0
        assert again.read_text(encoding="utf-8") == text


def test_quiz_overwrites_no_file_and_checks_its_options(tmp_path, capsys):
    page = tmp_path / "quiz.html"
    page.write_text("mine")
    assert run("quiz", "--out", str(page)) == 2
    assert "exists" in capsys.readouterr().err
    assert page.read_text() == "mine"
    assert run("quiz", "--hands", "0", "--out", str(tmp_path / "other.html")) == 2
    assert "--hands 0: expected 1 to 50" in capsys.readouterr().err


@pytest.fixture(scope="module", params=["cincinnati_v0", "six_card_v0", "barrie_v0"])
def questions(request, tmp_path_factory):
    """Rules and the first questions of a variant, of both kinds."""
    game = bideuchre_env.make(request.param)
    records = tmp_path_factory.mktemp("quiz") / "games.jsonl"
    match(game, "expert", "expert", boards=80, seed=3, records=records)
    hands = [each for _, (each, *_) in read_played(records)][::2]
    advisors = [
        Advisor(game.rules, "expert:goal=points", worlds=worlds, seed=3) for worlds in (50, 200)
    ]
    tried = {kind: list(choose(hands, *advisors, kind=kind, seed=3)) for kind in ("bid", "play")}
    return game.rules, {kind: [each for each in tried[kind] if each] for kind in tried}


def test_questions_have_a_consequence(questions):
    """Later calls, strains, leads, and defence against lone bids; no choice within one suit."""
    rules, chosen = questions
    t = compile_tables(rules)[0]
    assert chosen["bid"]
    for question in chosen["bid"]:
        row = question.row[0]
        assert row["phase"] in (Phase.AUCTION, Phase.NAMING)
        assert row["calls_made"] > 0
    for question in chosen["play"]:
        row = question.row[0]
        alone = t["alone"][row["level"]] and (row["declarer"] ^ row["turn"]) & 1
        assert row["phase"] == Phase.PLAY
        assert row["led"] < 0 or alone
        kinds = [each.action - t["card_offset"] for each in question.advice.options[:2]]
        assert len({int(t["suit_of"][row["strain"], kind]) for kind in kinds}) == 2
        assert question.advice.legal > 2


def test_bids_of_a_question_mostly_become_the_contract(questions):
    rules, chosen = questions
    advisor = Advisor(rules, "expert:goal=points", worlds=200, seed=8)
    for question in chosen["bid"][:6]:
        counted = advisor.try_row(question.row).counted
        bids = [each for each in question.advice.options[:2] if each.name.startswith("bid ")]
        for option in bids[:1]:
            declares = counted.column(option.action)["declarer"] == 0
            assert np.average(declares, weights=counted.weights) > 0.4


def test_a_solution_is_clearly_best_and_has_values_with_intervals(questions):
    rules, chosen = questions
    for question in (*chosen["bid"], *chosen["play"]):
        advice = question.advice
        assert advice.exact or advice.effective >= ENOUGH
        assert all(isfinite(each.points.half) for each in advice.options)
        assert all(each.behind.low > 0.0 for each in advice.options[1:])
        assert 0.25 <= advice.options[1].loss <= 4.0
    _, answers = quiz_page(chosen["bid"], rules, "game").split('<section class="answers">')
    assert all(
        re.search(r"[+-][0-9.]+ \u00b1[0-9.]+", each) for each in answers.split("<article>")[1:]
    )
