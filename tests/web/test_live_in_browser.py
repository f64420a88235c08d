"""A live game in a real browser: played through by clicking and by keyboard, small and dark."""

from __future__ import annotations

import pytest

pytest.importorskip("aiohttp")

from support.browser import browser, complaints, requests, screen, spoken
from support.live_tables import live, served, session

STATE = "return document.getElementById('words').textContent"
BUSY = (
    "return [...document.querySelectorAll('button, a')].filter("
    "(one) => one.offsetParent && !one.disabled && one.matches(arguments[0]))"
)
CHOICES = "#table button[data-action]"


@pytest.fixture(scope="module")
def chromium():
    with browser() as driver:
        yield driver


@pytest.fixture
def sat(chromium):
    """Sits down at a live game; in the end nothing was wrong, and only the server was asked."""
    from selenium.webdriver.support.ui import WebDriverWait

    complaints(chromium), requests(chromium)

    def until(condition):
        return WebDriverWait(chromium, 600, poll_frequency=0.02).until(condition)

    def sit(link, width=1100, height=900, dark=False):
        chromium.get("about:blank")
        screen(chromium, width, height, dark=dark)
        chromium.get(link)
        until(lambda driver: driver.execute_script(STATE) != "Getting the cards.")
        return chromium, until

    yield sit
    assert complaints(chromium) == []
    assert all(url.startswith(("http://127.0.0.1:", "about:")) for url in requests(chromium))


def first(driver, until, table):
    """The first thing that may be done: a choice on the table, the next hand; None at the end."""

    def found(_):
        state = table.state(0)
        shown = driver.execute_script("return document.getElementById('score').textContent")
        if state["over"] and driver.execute_script(BUSY, "#new"):
            return "over"
        if shown != state["score"] or driver.execute_script(STATE) != state["view"]["words"]:
            return None  # what is new is on its way
        buttons = driver.execute_script(BUSY, f"{CHOICES}, #next")
        return buttons[0] if buttons else None

    button = until(found)
    return None if button == "over" else button


def goes_on(until, table, version):
    """Wait until something newer is shown."""
    until(lambda _: table.version > version)


def wide(driver):
    """How much wider the page is than its window."""
    ask = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return driver.execute_script(ask)


def test_a_whole_game_by_clicking_on_a_phone_in_the_dark(sat, tmp_path):
    """With a hint, the last trick and a card taken back; then the replay, and another game."""
    from selenium.common.exceptions import StaleElementReferenceException

    with served(lambda: live(session("barrie_v0", seed=6))) as (table, links):
        driver, until = sat(links[0], width=390, height=844, dark=True)
        done = 0
        while (button := first(driver, until, table)) is not None:
            assert wide(driver) <= 0
            version = table.version
            if done == 1:
                [hint] = driver.execute_script(BUSY, "#hint")
                hint.click()
                until(lambda _: driver.find_element("id", "options").text)
                assert wide(driver) <= 0
            if done == 4:
                [undo] = driver.execute_script(BUSY, "#undo")
                undo.click()
            else:
                try:
                    button.click()
                except StaleElementReferenceException:  # it was drawn anew meanwhile
                    continue
            goes_on(until, table, version)
            done += 1
        record = table.session.record()
        record.verify()
        assert record.outcome != "unfinished"
        assert done > 10
        until(lambda d: d.execute_script(BUSY, "#replay"))
        [again] = driver.execute_script(BUSY, "#new")
        again.click()
        until(lambda _: not table.session.over)
        first(driver, until, table)
        driver.get("about:blank")  # before the server ends


def test_a_whole_game_by_keyboard(sat):
    """Arrows and Enter, digits for cards, letters for the rest; what is done is said."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def press(*keys):
        ActionChains(driver, duration=0).send_keys(*keys).perform()

    with served(lambda: live(session("cincinnati_v0", seed=5))) as (table, links):
        driver, until = sat(links[0])
        done = 0
        while (button := first(driver, until, table)) is not None:
            version, state = table.version, table.state(0)
            if state["next"]:
                press("n")
            elif button.get_attribute("data-card") and done % 2:
                hand = state["view"]["hands"][0]
                press(str(hand.index(state["view"]["legal"][0]) + 1))
            else:
                driver.execute_script("document.activeElement.blur()")
                press(Keys.ARROW_RIGHT)
                press(Keys.ENTER)
            goes_on(until, table, version)
            done += 1
            if done == 3:
                first(driver, until, table)
                version = table.version
                press("u")
                goes_on(until, table, version)
        assert table.session.over
        table.session.record().verify()
        until(lambda d: d.execute_script(BUSY, "#replay"))
        roles = spoken(driver)
        assert any(role == "button" and "New game" in name for role, name in roles)
        assert any(role == "link" and "Replay" in name for role, name in roles)
        driver.get("about:blank")


def test_a_link_that_is_none_is_said(sat):
    """A page without a token, and one with another's, ask for a seat's link."""
    with served(lambda: live(session("cincinnati_v0"))) as (_, links):
        page = links[0].split("#")[0]
        driver, until = sat(page)
        until(lambda d: "needs the link of a seat" in d.execute_script(STATE))
        sat(f"{page}?#seat=nonsense")
        until(lambda d: "This link is of no seat" in d.execute_script(STATE))
        [line] = complaints(driver)  # the browser's own
        assert "401" in line
