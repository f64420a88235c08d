"""Two people in browsers of their own at one table; what one does, the other's page shows."""

from __future__ import annotations

import pytest

pytest.importorskip("aiohttp")

from support.browser import browser, complaints
from support.live_tables import live, served, session

HANDS = """
const shown = (seat) => [...document.querySelectorAll(`[data-seat="${seat}"] .hand [data-card]`)]
  .map((card) => card.dataset.card);
return [0, 1, 2, 3].map(shown);
"""
TEXT = "return document.getElementById(arguments[0]).textContent"
CHOICES = "#table button[data-action]"


@pytest.fixture(scope="module")
def browsers():
    """Two of them, which share nothing."""
    with browser() as one, browser() as other:
        yield {0: one, 2: other}


@pytest.fixture
def waits(browsers):
    """Waits until a page fulfils a condition."""
    from selenium.webdriver.support.ui import WebDriverWait

    def until(seat, condition):
        waiting = WebDriverWait(browsers[seat], 600, poll_frequency=0.02)
        return waiting.until(lambda driver: condition(driver))

    return until


def shows(driver, table, seat):
    """Whether a page shows the game as it stands."""
    state = table.state(seat)
    texts = [driver.execute_script(TEXT, name) for name in ("words", "score")]
    return texts == [state["view"]["words"], state["score"]]


def test_two_people_at_one_table(browsers, waits):
    """Each sees only their own cards; they play a hand by turns, and go on together."""
    with served(lambda: live(session("cincinnati_v0", (0, 2), seed=4))) as (table, links):
        for seat, driver in browsers.items():
            complaints(driver)
            driver.get(links[seat])
        acted = set()
        while not table.state(0)["next"]:
            turn = table.session.seat
            if turn not in browsers or table.state(turn)["view"]["turn"] != turn:
                continue
            for seat, driver in browsers.items():
                waits(seat, lambda d, seat=seat: shows(d, table, seat))
                hands = driver.execute_script(HANDS)
                assert sorted(hands[seat]) == sorted(table.state(seat)["view"]["hands"][seat])
                assert all(not hand for who, hand in enumerate(hands) if who != seat)
                choices = driver.find_elements("css selector", CHOICES)
                assert bool(choices) == (seat == turn)
            version = table.version
            browsers[turn].find_element("css selector", CHOICES).click()
            waits(turn, lambda _, version=version: table.version > version)
            acted.add(turn)
        assert acted == {0, 2}
        hand = table.session.hand
        for seat in browsers:
            waits(seat, lambda d, seat=seat: shows(d, table, seat))
        browsers[0].find_element("id", "next").click()
        for seat, waiting in ((0, "Waiting for seat 2."), (2, "Waiting for you.")):
            waits(seat, lambda d, waiting=waiting: d.execute_script(TEXT, "waits") == waiting)
            left = browsers[seat].execute_script(TEXT, "left")
            assert left.startswith("In ")
            assert ("you may go on without them" in left) == (seat == 0)
        assert not browsers[0].find_element("id", "next").is_enabled()
        assert table.session.hand == hand
        browsers[2].find_element("id", "next").click()
        for seat in browsers:
            waits(seat, lambda d: f"Hand {hand + 1}." in d.execute_script(TEXT, "score"))
            assert browsers[seat].execute_script(TEXT, "waits") == ""
        for driver in browsers.values():
            driver.get("about:blank")  # before the server ends
            assert complaints(driver) == []


def test_after_the_wait_one_goes_on_without_the_other(browsers, waits):
    """The button says so; and the keys that are turned off stay so when the page is opened anew."""
    from selenium.webdriver.common.action_chains import ActionChains

    def press(key):
        ActionChains(driver, duration=0).send_keys(key).perform()

    game = session("cincinnati_v0", (0, 2), seed=4)
    while not game.hand_over:
        game.advance()
        if game.waits_for_person:
            game.act(game.seat, game.legal()[0])
    with served(lambda: live(game, patience=1.0)) as (table, links):
        driver, hand = browsers[0], game.hand
        driver.get(links[0])
        waits(0, lambda d: d.find_element("id", "next").is_displayed())
        driver.find_element("id", "keys").click()
        press("n")
        driver.refresh()
        waits(0, lambda d: d.find_element("id", "next").is_displayed())
        assert driver.find_element("id", "keys").get_attribute("aria-pressed") == "false"
        press("n")
        assert not table.state(0)["asked"]
        driver.find_element("id", "keys").click()
        press("n")
        waits(0, lambda d: d.execute_script(TEXT, "next") == "Next hand without them")
        waits(0, lambda d: d.find_element("id", "next").is_enabled())
        assert driver.execute_script(TEXT, "left") == "Now you may go on without them."
        assert game.hand == hand
        press("n")
        waits(0, lambda d: f"Hand {hand + 1}." in d.execute_script(TEXT, "score"))
        driver.get("about:blank")
