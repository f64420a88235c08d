"""The replay in a real browser: light and dark, on a phone, heard, printed, without scripts."""

from __future__ import annotations

import pytest
from support.browser import printed, spoken
from support.playthroughs import VARIANTS
from support.replay_pages import KEY, find, seen
from support.replays import game, notes_on

from bideuchre_env.records.page.page import replay_page
from bideuchre_env.records.page.view import game_view


def test_light_and_dark(page):
    """As the system has it, or by the button."""
    record = game("barrie_v0", 4, agents=["rule", "cautious", "rule", "expert"])
    text = replay_page(record, notes_on(record))
    paper = "return getComputedStyle(document.body).backgroundColor"
    driver = page(text, "#hand=2&card=15")
    assert driver.execute_script(paper) == "rgb(255, 255, 255)"
    find(driver, "#theme").click()
    assert driver.execute_script(paper) == "rgb(13, 17, 23)"
    driver = page(text, "#hand=2&card=15", dark=True)
    assert driver.execute_script(paper) == "rgb(13, 17, 23)"
    find(driver, "#theme").click()
    assert driver.execute_script(paper) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("name", VARIANTS)
def test_a_phone_shows_all_of_it(page, name):
    """360 pixels wide: nothing goes beyond the edge, whatever the agents are called."""
    agents = ["a very long name of an agent, in words", "W" * 40, "x", "./mine.py:Mine"]
    record = game(name, 8, agents=agents)
    driver = page(replay_page(record, notes_on(record)), width=360, height=780)
    widest = driver.execute_script(
        KEY + "const seen = []; for (let i = 0; i < 60; i += 1) { press('ArrowRight');"
        "seen.push(document.documentElement.scrollWidth); } press('End');"
        "seen.push(document.documentElement.scrollWidth); return Math.max(...seen);"
    )
    assert widest == 360
    size = find(driver, "[data-step=card-on]").size
    assert min(size["width"], size["height"]) >= 44


def test_it_is_told_to_who_listens(page):
    """Cards and buttons have names, each step is said, tables have heads, parts have titles."""
    record = game("cincinnati_v0", 5, agents=["rule", "cautious", "rule", "expert"])
    driver = page(replay_page(record, notes_on(record)), "#hand=1&card=8")
    told = spoken(driver)
    words = game_view(record.rules)["words"]
    images = [name for role, name in told if role == "image"]
    held = [words[card] for hand in seen(driver)["hands"] for card in hand]
    assert sorted(name for name in images if name in held) == sorted(held)
    interactive = {"button", "combobox", "slider"}
    assert all(name for role, name in told if role in interactive)
    names = {name for role, name in told if role in interactive}
    assert names >= {"Back by a card", "On by a trick", "On by a hand", "Light or dark"}
    assert names >= {"Open hands", "Hand", "Seat at the bottom", "Action of the hand"}
    roles = {role for role, _ in told}
    assert roles >= {"main", "status", "complementary", "table", "columnheader", "heading", "list"}
    assert any(role == "region" and name == "expert, seat 3" for role, name in told)
    live = find(driver, "[role=status]")
    assert live.get_attribute("aria-live") == "polite"
    before = live.text
    find(driver, "[data-step=card-on]").click()
    assert live.text != before
    assert driver.execute_script("return document.documentElement.lang") == "en"
    assert driver.title == "cincinnati_v0 · Bid Euchre"


def test_it_is_printed_hand_by_hand(page):
    """On paper there are tables of all hands, and no controls; nothing dark."""
    record = game("barrie_v0", 4)
    driver = page(replay_page(record, notes_on(record)), dark=True, media="print")
    assert not find(driver, "#app").is_displayed()
    assert len(driver.find_elements("css selector", ".sheet article")) == len(record.hands)
    assert find(driver, ".sheet").is_displayed()
    paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    assert printed(driver).startswith(b"%PDF")


def test_without_scripts_the_hands_are_read_as_tables(page, chromium):
    """They are what is printed."""
    record = game("club_v0", 4)
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver = page(replay_page(record), scripted=False)
        assert "Hand 1: " in find(driver, ".sheet").text
        assert not find(driver, "#app").is_displayed()
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_keys_can_be_turned_off_and_leave_controls_alone(page):
    """A list and a slider keep their arrows; the switch turns them off for the whole page."""
    from selenium.webdriver.common.keys import Keys

    place = "return document.getElementById('place').textContent.split(' ')[0]"
    driver = page(replay_page(game("cincinnati_v0", 4)), "#hand=1&card=3")
    body = find(driver, "body")

    def after(element, key):
        element.send_keys(key)
        return int(driver.execute_script(place))

    assert after(body, Keys.ARROW_RIGHT) == 4
    assert after(find(driver, "#slider"), Keys.ARROW_RIGHT) == 5  # its own step, and no other
    assert after(find(driver, "#bottom"), Keys.ARROW_DOWN) == 5
    assert find(driver, "#bottom").get_attribute("value") == "1"
    find(driver, "#keys").click()
    assert find(driver, "#keys").get_attribute("aria-pressed") == "false"
    for key in (Keys.ARROW_RIGHT, Keys.END, Keys.HOME):
        assert after(body, key) == 5
    find(driver, "#keys").click()
    assert after(body, Keys.ARROW_LEFT) == 4
