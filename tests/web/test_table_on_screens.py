"""The live table on a phone and on a desktop: sizes, two-step bids, hints, the end of a game."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytest.importorskip("aiohttp")

from support.browser import Page, browser, screen
from support.live_tables import live, served, session, whole_game

from bideuchre_env.core.state import Phase
from bideuchre_env.play.levels import LEVELS

pytestmark = pytest.mark.slow

BOXES = """
return [...document.querySelectorAll(arguments[0])].filter((one) => one.offsetParent).map((one) => {
  const box = one.getBoundingClientRect();
  return [box.left, box.top, box.right, box.bottom];
});
"""
# visible buttons whose names lack their labels, then ids that occur twice
UNNAMED = """
const plain = (text) => text.toLowerCase().replace(/\\s+/g, " ").trim();
const buttons = [...document.querySelectorAll("button:not(.card), a")];
const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
return [
  ...buttons.filter((one) => one.offsetParent &&
    !plain(one.getAttribute("aria-label") ?? one.innerText).includes(plain(one.innerText)))
    .map((one) => one.outerHTML),
  ...ids.filter((id, at) => ids.indexOf(id) !== at),
];
"""


@pytest.fixture(scope="module")
def page():
    with browser() as driver:
        yield Page(driver)


def at_choice(variant, phase, **more):
    """A game at the first decision of seat 0 in a phase; before that it makes the last call."""
    game = session(variant, **more)
    while True:
        game.advance()
        if game.row["phase"] == phase:
            return game
        game.act(0, game.legal()[-1])


def boxes(page, selector):
    return page.driver.execute_script(BOXES, selector)


def assert_on_screen(page, width, height):
    """Nothing is scrolled, controls are large, and their names have their labels."""
    size = "return [document.body.scrollWidth, document.body.scrollHeight]"
    assert page.driver.execute_script(size) <= [width, height]
    shown = [*boxes(page, ".controls > *, .choice, .head button"), *boxes(page, "#words")]
    assert shown
    assert all(bottom <= height and right <= width for _, _, right, bottom in shown)
    large = boxes(page, ".controls > *, .choice, button.card, .head button")
    assert all(x - left >= 44 and y - top >= 44 for left, top, x, y in large)
    assert page.driver.execute_script(UNNAMED) == []


def test_a_bid_on_a_phone_has_two_steps_by_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    screen(page.driver, 375, 667)
    with served(lambda: live(at_choice("barrie_v0", Phase.AUCTION, seed=4))) as (table, links):
        page.open(links[0])
        page.wait(lambda: page.enabled(".choice"))
        page.settle()
        assert_on_screen(page, 375, 667)
        lefts = sorted(left for left, *_ in boxes(page, ".bottom .card"))
        assert all(after - before > 43 for before, after in pairwise(lefts))
        page.press("4")
        focused = page.driver.switch_to.active_element
        assert focused.get_attribute("aria-label") == "bid 4 in clubs"
        assert_on_screen(page, 375, 667)
        page.press(Keys.ARROW_RIGHT, Keys.ENTER)
        page.wait(lambda: table.session.record().hands[0]["actions"][-1:] != [])
        page.wait(lambda: "bid 4 D" in table.session.record().hands[0]["actions"])
        page.driver.get("about:blank")


@pytest.mark.parametrize("size", [(375, 667), (1200, 900)])
def test_twelve_cards_are_readable_and_reached_by_keys(page, size):
    from selenium.webdriver.common.keys import Keys

    screen(page.driver, *size)
    with served(lambda: live(at_choice("double_deck_v0", Phase.PLAY, seed=3))) as (table, links):
        page.open(links[0])
        page.wait(lambda: page.enabled(".card"))
        page.settle()
        assert_on_screen(page, *size)
        cards = boxes(page, ".bottom .card")
        strip = 0.6 * (cards[0][2] - cards[0][0])
        for at, (left, top, *_) in enumerate(cards):
            assert all(
                abs(left - other[0]) > strip or abs(top - other[1]) > 50 for other in cards[:at]
            )
        legal, reached = table.state(0)["view"]["legal"], set()
        for _ in range(12):
            page.press(Keys.ARROW_RIGHT)
            reached.add(page.driver.switch_to.active_element.get_attribute("data-action"))
        assert reached == set(legal)
        page.click("#hint")
        page.wait(lambda: page.text("advised"))
        [(_, top, _, bottom)] = boxes(page, "#table .advised")
        assert 0 <= top < bottom <= size[1]
        assert not boxes(page, "#advice details[open]")
        page.driver.get("about:blank")


def test_a_game_ends_with_its_score_sheet_and_a_rematch_with_another_agent(page):
    game = whole_game()
    screen(page.driver, 375, 667)
    media = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    with served(lambda: live(game)) as (table, links):
        page.open(links[0])
        page.wait(lambda: page.enabled("#replay"))
        assert_on_screen(page, 375, 667)
        rows = page.driver.find_elements("css selector", "#sheet tbody tr")
        assert len(rows) == len(game.record().hands)
        assert rows[-1].text.endswith("{}\N{EN DASH}{}".format(*game.record().hands[-1]["score"]))
        level = page.driver.find_element("css selector", "#players select:not([data-seat])")
        assert level.get_property("value") == ""  # the players have several levels
        options = level.text.splitlines()
        for option, (name, each) in zip(options[1:], LEVELS.items(), strict=True):
            assert option.strip() == f"{name}: {each.words}"
        level.send_keys("easy")
        page.driver.find_element("css selector", "#players [data-seat='1']").send_keys("random")
        page.click("#new")
        page.wait(lambda: table.session is not game and page.enabled(".choice, #next"))
        assert table.session.agents == ["person", "random", *[LEVELS["easy"].agent] * 2]
        assert not page.driver.execute_script("return document.getAnimations().length")
        page.driver.get("about:blank")


def test_the_level_of_all_players_is_chosen_already(page):
    game = whole_game(opponents=["rule", "rule"])
    with served(lambda: live(game)) as (table, links):
        page.open(links[0])
        page.wait(lambda: page.enabled("#new"))
        level = page.driver.find_element("css selector", "#players select:not([data-seat])")
        assert level.get_property("value") == "rule"
        page.click("#open")
        page.driver.find_element("id", "level").send_keys("easy")
        page.click("#begin")
        page.wait(lambda: not table.state(0)["over"] and page.shows(table))
        assert not page.driver.find_elements("css selector", "#players *")  # of the old game
        page.driver.get("about:blank")
