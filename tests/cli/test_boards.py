"""`bideuchre boards`: the deals of a match as a page to print, PTN text and records."""

import re
from base64 import b64decode
from html import unescape
from pathlib import Path

import pytest
from support.browser import browser, complaints
from support.commands import ROOT, run

from bideuchre_env import make, match, records_io, solver, variants
from bideuchre_env.records.files import scan

KITTY = str(ROOT / "bideuchre_env/rules/recipes/kitty_48.toml")
SEATS = ("South", "West", "North", "East")
GAMES = {name: ["--variant", name] for name in variants} | {"kitty": ["--rules", KITTY]}


def hands_of(path, game=None):
    """The only hand of each record of a file."""
    lines = list(scan(path, game=game))
    assert not [line.error for line in lines if line.error]
    return [hand for line in lines for hand in line.record.hands]


@pytest.mark.parametrize("name", GAMES)
def test_records_and_ptn_text_have_the_deals_of_a_match(name, capsys):
    words = [*GAMES[name], "--number", "5", "--seed", "3"]
    for file in ("boards.jsonl", "boards.ptn"):
        assert run("boards", *words, "--out", file) == 0
        assert capsys.readouterr().out == f"{file}: 5 boards\n"
        check = GAMES[name] if file.endswith("ptn") else []
        assert run("records", "check", file, *check) == 0
        assert "5 games, 5 hands verified, no fault" in capsys.readouterr().out
    game = make(GAMES[name][1] if name in variants else ROOT / KITTY)
    match(game, "random", "random", boards=5, seed=3, records="match.jsonl")
    expected = hands_of("match.jsonl")[::2]  # both tables of a board have the same deal
    for hands in (hands_of("boards.jsonl"), hands_of("boards.ptn", (game.name, game.rules))):
        for field in ("dealer", "deal", *["kitty"] * bool(game.rules.kitty)):
            assert [hand[field] for hand in hands] == [hand[field] for hand in expected]
    assert [hand["dealer"] for hand in hands] == [0, 1, 2, 3, 0]
    env = game.raw_env()
    env.reset(options={"dealer": 1, "deal": hands[1]["deal"]})
    assert env.record.hands[0]["deal"] == hands[1]["deal"]


@pytest.mark.search
@pytest.mark.parametrize("file", ["boards.jsonl", "boards.ptn"])
def test_advice_is_given_on_the_first_call_of_a_board(file, capsys):
    words = ["--variant", "six_card_v0"]
    assert run("boards", *words, "--number", "2", "--seed", "1", "--out", file) == 0
    options = ["--game", "2", "--agent", "rule", "--worlds", "20", *words]
    assert run("advise", file, *options) == 0
    assert "Game 2, after the last action\n\nSeat 2 is to call." in capsys.readouterr().out


def articles(page, heading):
    """The text of each article in the sections whose heading begins with these words."""
    sections = [part for part in page.split("<section")[1:] if f"<h1>{heading}" in part]
    texts = [text for part in sections for text in re.findall("<article>(.*?)</article>", part)]
    return [unescape(re.sub("<[^>]+>", " ", text)).split() for text in texts]


def cards_of(words):
    """The names of the cards in a hand: "♠ A 10 ♥ – ♦ K ♣ 9"."""
    names, suit = [], ""
    for word in words:
        if word in "♠♥♦♣":
            suit = "SHDC"["♠♥♦♣".index(word)]
        elif suit and re.fullmatch("10|[9JQKA]", word):
            names.append(word.replace("10", "T") + suit)
    return names


@pytest.mark.search
def test_the_page_has_a_card_per_hand_then_all_hands_with_par(capsys):
    words = ["--variant", "barrie_v0", "--number", "19", "--seed", "5"]
    for file in ("boards.html", "boards.jsonl"):
        assert run("boards", *words, "--out", file) == 0
    page = Path("boards.html").read_text(encoding="utf-8")
    records = list(records_io.read("boards.jsonl"))
    assert "<script" not in page
    headings = re.findall("<h1>(.*?):", page)
    assert headings == [*(seat for seat in SEATS for _ in range(2)), *["All hands"] * 4, "Results"]
    for seat, name in enumerate(SEATS):
        for card, record in zip(articles(page, name), records, strict=True):
            hand = record.hands[0]
            assert card[2:6] == ["·", name, "Dealer:", SEATS[hand["dealer"]]]
            assert cards_of(card) == hand["deal"][seat]
    for box, record in zip(articles(page, "All hands"), records, strict=True):
        hand, text = record.hands[0], " ".join(box)
        par = solver.par(hand["deal"], record.rules, hand["dealer"])
        who, points = SEATS[par.declarer], f"North-South {par.points:+d}"
        assert f"by {who}, {par.tricks} tricks: {points}" in text
        table = solver.table(hand["deal"], record.rules, dealer=hand["dealer"])
        for row in (*table.partnered, *table.alone):
            assert " ".join(map(str, row)) in text
        assert re.search(r"call-2\b.*call-1\b.*moon\b", text)
    assert "bideuchre match A B --variant barrie_v0 --boards 19 --seed 5" in page


@pytest.mark.slow
def test_every_section_fits_a_page_of_both_papers(folder):
    words = ["--variant", "barrie_v0", "--number", "19", "--seed", "5"]
    assert run("boards", *words, "--out", "boards.html") == 0
    sections = Path("boards.html").read_text(encoding="utf-8").count("<section")
    with browser() as driver:
        driver.get((folder / "boards.html").as_uri())
        assert complaints(driver) == []
        for width, height in ((8.27, 11.69), (8.5, 11)):  # A4 and US Letter, in inches
            paper = {"paperWidth": width, "paperHeight": height}
            printed = driver.execute_cdp_cmd("Page.printToPDF", paper)["data"]
            assert len(re.findall(rb"/Type /Page\b(?!s)", b64decode(printed))) == sections


def test_a_kitty_has_its_cards_and_no_par():
    assert run("boards", "--rules", KITTY, "--number", "2", "--out", "boards.html") == 0
    assert run("boards", "--rules", KITTY, "--number", "2", "--out", "boards.jsonl") == 0
    page = Path("boards.html").read_text(encoding="utf-8")
    kitties = [hand["kitty"] for hand in hands_of("boards.jsonl")]
    assert [sorted(cards_of(card)) for card in articles(page, "Kitty")] == list(
        map(sorted, kitties)
    )
    assert "no par in a game with a kitty" in page
    assert "Par</b>" not in page


def test_files_are_not_overwritten_and_options_are_checked(folder, error_of):
    (folder / "mine.ptn").write_text("mine")
    assert "mine.ptn exists: choose another file" in error_of("boards", "--out", "mine.ptn")
    assert (folder / "mine.ptn").read_text() == "mine"
    assert run("boards", "--out", "mine.ptn", "--force") == 0
    assert "expected 1 to 100" in error_of("boards", "--number", "101", "--out", "x.ptn")
    assert "ends in .html, .jsonl, .ptn or .pbn" in error_of("boards", "--out", "x.pdf")
    assert not list(folder.glob("x.*"))
