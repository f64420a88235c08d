"""Accessible names and announcements of a replay, in a real browser."""

from support.browser import accessible_nodes, browser
from support.replays import game

from bideuchre_env.records.page.page import replay_page
from bideuchre_env.records.page.view import game_view

CARDS = "return [...document.querySelectorAll('.hand .card')].map((card) => card.dataset.card)"


def test_every_control_and_card_has_a_name_and_every_step_is_announced(tmp_path):
    record = game("cincinnati_v0", 5, agents=["rule", "cautious", "rule", "expert"])
    path, words = tmp_path / "page.html", game_view(record.rules)["words"]
    path.write_text(replay_page(record), encoding="utf-8")
    with browser() as driver:
        driver.get(path.as_uri() + "#hand=1&card=8")
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
