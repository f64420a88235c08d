"""The replay page in a real browser: views of seats, steps, mistakes, sizes and several games."""

import pytest
from support.browser import accessible_nodes, browser, complaints, requests, screen
from support.notes import notes_on
from support.playthroughs import game

from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.page.page import game_data, replay_page, replays_page
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


# texts of the list of mistakes, the line of the position, the marks in the menu of hands
MISTAKES = """
const lines = [...document.querySelectorAll("#mistakes li")];
return {
  lines: lines.map((line) => line.textContent),
  now: lines.findIndex((line) => line.firstElementChild.getAttribute("aria-current") === "true"),
  marks: [...document.querySelectorAll("#hand option")].map(
    (option) => +(option.textContent.match(/([0-9]+) mistake/)?.[1] ?? 0)),
  note: document.getElementById("note").textContent,
};
"""
# boxes that cover a card or leave the table, at each position of the hand on the page
COVERED = """
const box = (one) => one.getBoundingClientRect();
const boxes = ".trump, .tricks, .badge, .plate, .call, .controls, .head, .said, .side section";
const seen = (one) => one.offsetParent || getComputedStyle(one).position === "fixed";
const shown = (selector) => [...document.querySelectorAll(selector)].filter(seen);
const wrong = new Set(), slider = document.getElementById("slider");
for (let card = 0; card <= +slider.max; card += 1) {
  slider.value = card;
  slider.dispatchEvent(new Event("input"));
  scrollTo(0, 0);
  const felt = box(document.querySelector(".felt"));
  const cards = shown(".card, .back");
  for (const one of cards) {
    const here = box(one);
    if (here.left < felt.left - 1 || here.right > felt.right + 1 || here.bottom > felt.bottom + 1
      || here.bottom > innerHeight) wrong.add(`${card} outside ${one.dataset.card}`);
    for (const other of shown(boxes)) {
      const there = box(other);
      const across = Math.min(here.right, there.right) - Math.max(here.left, there.left);
      const down = Math.min(here.bottom, there.bottom) - Math.max(here.top, there.top);
      if (across > 1 && down > 1) wrong.add(`${card} ${other.className} over ${one.dataset.card}`);
    }
  }
}
return [...wrong, ...(document.documentElement.scrollWidth > innerWidth ? ["too wide"] : [])];
"""
# the least contrast between a text of the page and the colour behind it
CONTRAST = """
const channels = (colour) => colour.match(/[0-9.]+/g).map(Number);
const light = (colour) => channels(colour).slice(0, 3).map((value) => value / 255)
  .map((value) => (value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4))
  .reduce((sum, value, at) => sum + value * [.2126, .7152, .0722][at], 0);
const behind = (one) => {
  const { backgroundColor } = getComputedStyle(one);
  return (channels(backgroundColor)[3] ?? 1) > .9 ? backgroundColor : behind(one.parentElement);
};
const texts = document.querySelectorAll(
  "#mistakes span, #mistakes h2, .controls span, .badge, .said p, .side span, .side td, .side th");
return Math.min(...[...texts].filter((one) => one.offsetParent && one.textContent).map((one) => {
  const [text, paper] = [light(getComputedStyle(one).color), light(behind(one))];
  return (Math.max(text, paper) + .05) / (Math.min(text, paper) + .05);
}));
"""


def reviewed(name, hands=3):
    record = game(name, 6, hands=hands, agents=["ann", "expert", "bob", "expert"])
    return record, notes_on(record)


def places_of_mistakes(record, notes, seats=range(4)):
    """Hand and number of actions, as `look` returns them, after each mistake of these seats."""
    return [
        [str(number), str(ply + 1)]
        for number, played in enumerate(game_data(record)["hands"])
        for ply, note in enumerate(notes["hands"][number]["plies"])
        if note and note["mistake"] and played["plies"][ply]["seat"] in seats
    ]


def test_keys_and_buttons_step_from_mistake_to_mistake(page):
    record, notes = reviewed("cincinnati_v0")
    driver, places = page(replay_page(record, notes)), places_of_mistakes(record, notes)
    assert len(places) > 4
    visited = []
    for _ in (*places, "one more"):
        driver.execute_script("press('n')")
        visited.append(driver.execute_script("return look().place"))
        mistakes = driver.execute_script(MISTAKES)
        assert mistakes["now"] == places.index(visited[-1])
    assert visited == [*places, places[-1]]
    find(driver, "[data-step=mistake-back]").click()
    assert driver.execute_script("return look().place") == places[-2]
    find(driver, "[data-step=mistake-on]").click()
    assert driver.execute_script("return look().place") == places[-1]
    driver.execute_script("press('Home'); press('p')")
    assert driver.execute_script("return look().place") == ["0", "0"]


def test_the_list_has_every_mistake_with_its_cost_and_leads_to_it(page):
    from selenium.webdriver.common.keys import Keys

    record, notes = reviewed("cincinnati_v0")
    driver, places = page(replay_page(record, notes)), places_of_mistakes(record, notes)
    mistakes = driver.execute_script(MISTAKES)
    assert len(mistakes["lines"]) == len(places)
    assert mistakes["marks"] == [
        sum(hand == str(number) for hand, _ in places) for number in range(len(record.hands))
    ]
    for line, (hand, card) in zip(mistakes["lines"], places, strict=True):
        note = notes["hands"][int(hand)]["plies"][int(card) - 1]
        assert f"Hand {int(hand) + 1}," in line
        assert f"{note['lost']:.1f}" in line
    button = driver.find_elements("css selector", "#mistakes button")[3]
    button.send_keys(Keys.ENTER)
    assert driver.execute_script("return look().place") == places[3]
    assert driver.switch_to.active_element == button


def test_a_seat_sees_only_its_own_mistakes(page):
    record, notes = reviewed("cincinnati_v0")
    driver = page(replay_page(record, notes))
    driver.execute_script(FROM_SEAT, 1)
    places = places_of_mistakes(record, notes, [1])
    assert len(driver.execute_script(MISTAKES)["lines"]) == len(places) > 0
    for place in places:
        driver.execute_script("press('n')")
        assert driver.execute_script("return look().place") == place


def test_without_notes_there_are_no_controls_for_mistakes(page):
    driver = page(replay_page(game("cincinnati_v0", 5)))
    shown = driver.find_elements("css selector", "#mistakes, [data-step^=mistake], #letters")
    assert not any(one.is_displayed() for one in shown)
    driver.execute_script("press('n')")
    assert driver.execute_script("return look().place") == ["0", "0"]


@pytest.mark.parametrize("name", ["cincinnati_v0", "double_deck_v0"])
@pytest.mark.parametrize("size", [(375, 667), (667, 375), (768, 1024), (1200, 900)])
def test_nothing_covers_a_card(page, name, size):
    record, notes = reviewed(name, hands=2)
    driver = page(replay_page(record, notes))
    for dark in (False, True):
        screen(driver, *size, dark=dark)
        assert driver.execute_script(COVERED) == []
        assert driver.execute_script(CONTRAST) >= 4.5
    driver.execute_script(FROM_SEAT, 1)
    assert driver.execute_script(COVERED) == []
