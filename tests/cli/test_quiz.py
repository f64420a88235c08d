"""`bideuchre quiz`: a printable page of questions, with the answers after a page break."""

import re

from support.commands import run


def test_quiz_has_questions_then_answers_and_no_script(tmp_path, capsys):
    page = tmp_path / "quiz.html"
    few = ("--variant", "six_card_v0", "--hands", "3", "--worlds", "60", "--seed", "4")
    assert run("quiz", *few, "--out", str(page)) == 0
    assert capsys.readouterr().out.endswith("quiz.html: 3 questions, answers at the end\n")
    text = page.read_text(encoding="utf-8")
    questions, answers = text.split('<section class="answers">')
    assert [part.count("<article>") for part in (questions, answers)] == [3, 3]
    assert questions.count("<svg ") == 3
    assert ".answers { break-before: page; }" in text
    assert "<script></script>" in text
    for lost in re.findall(r"gives away ([0-9.]+) points", answers):
        assert 0.0 < float(lost) <= 4.0
    assert len(re.findall(r"gives away [0-9.]+ points", answers)) == 3


def test_quiz_overwrites_no_file_and_checks_its_options(tmp_path, capsys):
    page = tmp_path / "quiz.html"
    page.write_text("mine")
    assert run("quiz", "--out", str(page)) == 2
    assert "exists" in capsys.readouterr().err
    assert page.read_text() == "mine"
    assert run("quiz", "--hands", "0", "--out", str(tmp_path / "other.html")) == 2
    assert "--hands 0: expected 1 to 50" in capsys.readouterr().err
