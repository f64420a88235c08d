"""The replay page in a real browser: the views of seats, steps, links and several games."""

import pytest
from support.browser import accessible_nodes, browser, complaints, requests, screen
from support.playthroughs import game

from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.page.page import replay_page, replays_page
from bideuchre_env.records.page.view import game_view, table_view
from bideuchre_env.records.words import ending

pytestmark = pytest.mark.slow

PLACES = ("bottom", "left", "top", "right")
# `look` returns the cards of each seat and of the trick, the words, the score and the position
LOOK = """
const cards = (part) => [...part.querySelectorAll(".card")].map((card) => card.dataset.card);
window.press = (key) => document.body.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
window.look = () => ({
  hands: [0, 1, 2, 3].map((seat) => {
    const part = document.querySelector(`.seat[data-seat="${seat}"]`);
    const backs = part.querySelectorAll(".back").length;
    return part.querySelector("ul.hand") ? cards(part.querySelector(".hand")) : backs;
  }),
  middle: Object.fromEntries([...document.querySelectorAll(".at")].map(
    (at) => [at.className.slice(3), cards(at)[0]])),
  words: document.getElementById("words").textContent,
  score: [...document.querySelectorAll("#score tbody tr")].map(
    (row) => [...row.children].map((cell) => cell.textContent)),
  place: [document.getElementById("hand").value, document.getElementById("slider").value],
});
"""
FROM_SEAT = """
const seat = document.getElementById("bottom");
seat.value = arguments[0];
seat.dispatchEvent(new Event("change"));
const open = document.getElementById("open");
if (open.getAttribute("aria-pressed") === "true") open.click();
"""
CARDS = "return [...document.querySelectorAll('.hand .card')].map((card) => card.dataset.card)"
STEP_THROUGH = """
press("Home");
const seen = [look()];
while (seen.length < arguments[0]) { press("ArrowRight"); seen.push(look()); }
press("ArrowRight");
return [seen, look()];
"""


@pytest.fixture(scope="module")
def chromium():
    with browser() as driver:
        yield driver


@pytest.fixture
def page(chromium, tmp_path):
    """A function that opens HTML as a file; the browser reports no error and loads nothing else."""
    complaints(chromium), requests(chromium)

    def open_page(text, place=""):
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        chromium.get("about:blank")
        screen(chromium, 360, 780)
        chromium.get((tmp_path / "page.html").as_uri() + place)
        chromium.execute_script(LOOK)
        return chromium

    yield open_page
    assert complaints(chromium) == []
    assert all(url.startswith(("file://", "about:", "data:")) for url in requests(chromium))


def find(driver, selector):
    [element] = driver.find_elements("css selector", selector)
    return element


def rows_of_game(record):
    """Yield the state rows of a game: after each deal and after each action."""
    tables = compile_tables(record.rules)
    for hand in record.played_hands():
        row = rows_of([hand.dealt])
        yield row[0].copy()
        for action in hand.actions.tolist():
            step_row(row, tables, action)
            yield row[0].copy()


@pytest.mark.parametrize("name", ["barrie_v0", "cincinnati_v0"])
def test_every_position_shows_the_view_of_the_seat(page, name):
    record = game(name, 6, hands=2)
    driver = page(replay_page(record))
    rows = list(rows_of_game(record))
    for seat in (None, 1, 2):
        if seat is not None:
            driver.execute_script(FROM_SEAT, seat)
        positions, last = driver.execute_script(STEP_THROUGH, len(rows))
        assert positions[-1] == last
        for row, display in zip(rows, positions, strict=True):
            view = table_view(row, record.rules, seat, numbered=True)
            assert display["hands"] == view["hands"]
            assert display["words"] == view["words"]
            assert [line[1:3] for line in display["score"]] == [
                [str(view[field][side]) for field in ("score", "tricks_won")] for side in (0, 1)
            ]
            trick = view["trick"] if any(view["trick"]) else view["last_trick"] or []
            cards = {PLACES[(who - (seat or 0)) % 4]: card for who, card in enumerate(trick)}
            assert display["middle"] == {place: card for place, card in cards.items() if card}
    assert find(driver, "#ending").text == ending(record)
    assert driver.execute_script("return document.documentElement.scrollWidth") == 360


def test_keys_buttons_and_links_step_through_the_games(page):
    games = [game("barrie_v0", 5), game("cincinnati_v0", 5)]
    driver = page(replays_page(games, names=["game 3", "game 8"]), "#game=2&hand=3&card=12")

    def place():
        return driver.execute_script("return look().place")

    assert find(driver, "#title").text.startswith("cincinnati_v0")
    assert place() == ["2", "12"]
    for key, expected in (("ArrowRight", "13"), ("ArrowLeft", "12"), ("Home", "0")):
        driver.execute_script("press(arguments[0])", key)
        assert place()[1] == expected
    driver.execute_script("press('End')")
    assert place() == ["3", str(len(games[1].hands[3]["actions"]))]
    for button, expected in (("hand-back", ["3", "0"]), ("card-on", ["3", "1"])):
        find(driver, f"[data-step={button}]").click()
        assert place() == expected
    find(driver, "#game").send_keys("game 3")
    assert find(driver, "#title").text.startswith("barrie_v0")


def test_every_control_and_card_has_a_name_and_every_step_is_announced(page):
    record = game("cincinnati_v0", 5, agents=["rule", "cautious", "rule", "expert"])
    words, driver = game_view(record.rules)["words"], page(replay_page(record), "#hand=1&card=8")
    nodes = accessible_nodes(driver)
    held = sorted(words[card] for card in driver.execute_script(CARDS))
    assert held
    assert sorted(name for role, name in nodes if role == "image" and name in held) == held
    controls = {name for role, name in nodes if role in ("button", "combobox", "slider")}
    assert "" not in controls
    assert controls >= {"Back by a card", "On by a hand", "Light or dark", "Open hands", "Hand"}
    status = driver.find_element("css selector", "[role=status][aria-live=polite]")
    before = status.text
    driver.find_element("css selector", "[data-step=card-on]").click()
    assert status.text != before
