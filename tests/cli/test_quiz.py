"""`bideuchre quiz`: a printable page of questions, with the answers after a page break."""

import re

import pytest
from support.commands import run

pytestmark = pytest.mark.search


@pytest.mark.parametrize(
    ("kind", "asked"), [("bid", "call|Which strain"), ("play", "play|lead|give up|pass to")]
)
def test_quiz_has_questions_then_answers_and_no_script(tmp_path, capsys, kind, asked):
    page, again = tmp_path / "quiz.html", tmp_path / "again.html"
    options = ["--variant", "six_card_v0", "--hands", "2", "--worlds", "80", "--kind", kind]
    assert run("quiz", *options, "--out", str(page)) == 0
    assert capsys.readouterr().out.endswith("quiz.html: 2 questions, answers at the end\n")
    text = page.read_text(encoding="utf-8")
    questions, answers = text.split('<section class="answers">')
    assert [part.count("<article>") for part in (questions, answers)] == [2, 2]
    assert questions.count("<svg ") == len(re.findall(rf"<h2>\d+\. .*({asked})", questions)) == 2
    assert len(re.findall(r"<h2>\d+\. pass", answers)) <= 1
    assert ".answers { break-before: page; }" in text
    assert "<script" not in text
    lost = [float(points) for points in re.findall(r"gives away ([0-9.]+) points", answers)]
    assert len(lost) == 2
    assert all(0.0 < points <= 4.0 for points in lost)
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
