"""The replay in a real browser: by keys, by clicks, at a place, open and hidden, with notes.

How it looks and sounds: test_page_looks.py.
"""

from __future__ import annotations

import re

import pytest
from support.playthroughs import VARIANTS
from support.replay_pages import KEY, clicks, find, presses, seen, written
from support.replays import NASTY, few_hands, game, notes_on

from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.page.page import asset, document, game_data, replay_page, replays_page
from bideuchre_env.records.page.view import game_view, table_view
from bideuchre_env.records.words import ending

PLACES = ("bottom", "left", "top", "right")


def rows_of_game(record):
    """For each hand, the state row before each action and after the last."""
    tables = compile_tables(record.rules)
    for hand in record.played_hands():
        row = rows_of([hand.dealt])
        rows = [row[0].copy()]
        for action in hand.actions.tolist():
            step_row(row, tables, action)
            rows.append(row[0].copy())
        yield rows


@pytest.mark.parametrize("name", VARIANTS)
def test_every_place_shows_what_the_seat_sees(page, name):
    """By the arrow to the end of the game, open and from two seats: hands, trick, words, score."""
    record = game(name, 6, few_hands(name))
    driver = page(replay_page(record))
    rows = [row for hand in rows_of_game(record) for row in hand]
    for seat in (None, 1, 2):
        if seat is not None:
            driver.execute_script(
                "const seat = document.getElementById('bottom'); seat.value = arguments[0];"
                "seat.dispatchEvent(new Event('change'));"
                "const open = document.getElementById('open');"
                "if (open.getAttribute('aria-pressed') === 'true') open.click();",
                seat,
            )
        all_seen = driver.execute_script(
            KEY + "press('Home'); const seen = [look()];"
            "while (seen.length < arguments[0]) { press('ArrowRight'); seen.push(look()); }"
            "press('ArrowRight'); return [seen, look()];",
            len(rows),
        )
        assert all_seen[0][-1] == all_seen[1]
        assert all_seen[1]["last"]
        for row, shown in zip(rows, all_seen[0], strict=True):
            view = table_view(row, record.rules, seat, numbered=True)
            assert shown["hands"] == view["hands"]
            assert shown["words"] == view["words"]
            assert [line[1:3] for line in shown["score"]] == [
                [str(view[field][side]) for field in ("score", "tricks_won")] for side in (0, 1)
            ]
            trick = view["trick"] if any(view["trick"]) else view["last_trick"] or []
            cards = {PLACES[(who - (seat or 0)) % 4]: card for who, card in enumerate(trick)}
            assert shown["middle"] == {place: card for place, card in cards.items() if card}


@pytest.mark.parametrize("name", VARIANTS)
def test_to_the_end_by_keys(page, name):
    """Card by card through the first hand, then by tricks; the end is that of the record."""
    from selenium.webdriver.common.keys import Keys

    record = game(name, 5, few_hands(name))
    driver = page(replay_page(record))
    presses(driver, *[Keys.ARROW_RIGHT] * len(record.hands[0]["actions"]))
    assert seen(driver)["place"] == ["0", str(len(record.hands[0]["actions"]))]
    presses(driver, *[Keys.ARROW_DOWN] * stops(record))
    check_end(driver, record)
    presses(driver, *[Keys.PAGE_UP] * (2 * len(record.hands)))
    assert seen(driver)["place"] == ["0", "0"]
    presses(driver, Keys.END)
    check_end(driver, record)
    presses(driver, Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.PAGE_DOWN, Keys.HOME)
    assert seen(driver)["place"] == ["0", "0"]


@pytest.mark.parametrize("name", VARIANTS)
def test_to_the_end_by_clicks(page, name):
    """The same with the buttons; back again hand by hand."""
    record = game(name, 5, few_hands(name))
    driver = page(replay_page(record), width=360, height=780)
    clicks(driver, "card-on", len(record.hands[0]["actions"]))
    assert seen(driver)["place"] == ["0", str(len(record.hands[0]["actions"]))]
    clicks(driver, "trick-on", stops(record))
    check_end(driver, record)
    for step in ("card-back", "trick-back", "hand-back"):
        clicks(driver, step)
    assert seen(driver)["place"][1] == "0"


def stops(record):
    """The steps by tricks that a game has after its first hand."""
    return sum(len(hand["stops"]) for hand in game_data(record)["hands"][1:])


def check_end(driver, record):
    """The score, the last trick and the sentence are those of the record."""
    shown, hand = seen(driver), record.hands[-1]
    assert shown["place"] == [str(len(record.hands) - 1), str(len(hand["actions"]))]
    assert [line[1:] for line in shown["score"]] == [
        [str(hand[name][side]) for name in ("score", "tricks", "points")] for side in (0, 1)
    ]
    if sum(hand["tricks"]):
        cards = list(shown["middle"].values())
        assert sorted(cards) == sorted(hand["actions"][-len(cards) :])
    assert find(driver, "#ending").text == ending(record)


def test_a_link_leads_to_a_place(page):
    """At once and later; steps are written there, and what is no place leads to the nearest."""
    record = game("cincinnati_v0", 5)
    assert len(record.hands) == 4
    driver = page(replay_page(record), "#hand=3&card=12")
    assert seen(driver)["place"] == ["2", "12"]
    rows = list(rows_of_game(record))
    assert seen(driver)["words"] == table_view(rows[2][12], record.rules)["words"]
    find(driver, "[data-step=card-on]").click()
    written(driver, "#hand=3&card=13")
    lengths = [len(hand["actions"]) for hand in record.hands]
    for place, where in (
        ("hand=2&card=3", ["1", "3"]),
        ("hand=2", ["1", "0"]),
        ("hand=99&card=99", ["3", str(lengths[3])]),
        ("hand=-4&card=x", ["0", "0"]),
        ("nonsense", ["0", "0"]),
    ):
        driver.execute_script(
            "location.hash = arguments[0]; dispatchEvent(new Event('hashchange'))", place
        )
        assert seen(driver)["place"] == where


def test_hands_are_hidden_and_seen(page):
    """By the button, from the seat that is chosen; with them what is noted of their play."""
    record = game("double_deck_v0", 6, agents=NASTY)
    driver = page(replay_page(record, notes_on(record)), "#hand=1&card=9")
    assert all(isinstance(hand, list) for hand in seen(driver)["hands"])
    everything = len(driver.find_elements("css selector", ".lost"))
    find(driver, "#open").click()
    assert [isinstance(hand, list) for hand in seen(driver)["hands"]] == [True] + [False] * 3
    assert 0 < len(driver.find_elements("css selector", ".lost")) < everything
    find(driver, "#bottom").send_keys("seat 2")
    assert [isinstance(hand, list) for hand in seen(driver)["hands"]] == [False, False, True, False]
    assert NASTY[2] in find(driver, ".seat.bottom .plate").text
    find(driver, "#open").click()
    assert all(isinstance(hand, list) for hand in seen(driver)["hands"])


def test_marks_chances_par_and_summary(page):
    """On cards and calls, at the end of a hand, at the end of the game; nothing without notes."""
    record = game("barrie_v0", 4, agents=["a", "b", "c", "d"])
    notes = notes_on(record, why="</script>\u2028 <b>bold</b>")
    driver = page(replay_page(record, notes), f"#hand=1&card={len(record.hands[0]['actions'])}")
    marks = [each.text for each in driver.find_elements("css selector", "#tricks .lost")]
    first = game_data(record)["hands"][0]["tricks"][0]["first"]
    plies = notes["hands"][0]["plies"][first:]
    assert len(marks) == len([note for note in plies if note])
    bad = driver.find_elements("css selector", "#tricks .lost.bad")
    assert len(bad) == sum(note["mistake"] for note in plies if note)
    chances = [each.text for each in driver.find_elements("css selector", "#auction .chance")]
    assert chances == [
        f"made {100 * note['made']:.0f} %, game won {100 * note['wins']:.0f} %"
        for note in notes["hands"][0]["plies"][:4]
        if note
    ]
    assert find(driver, "#par").text == "par: 4 H by seat 1"
    find(driver, "[data-step=card-back]").click()
    assert find(driver, "#par").text == ""
    driver.find_elements("css selector", ".played")[0].click()
    assert "Gives away" in find(driver, "#note").text or find(driver, "#note").text == ""
    driver.execute_script(KEY + "press('End')")
    lines = driver.find_elements("css selector", "#players tbody tr")
    assert [line.text.split(" 60 ")[0] for line in lines] == [
        f"{name} (seat {seat})" for seat, name in enumerate("abcd")
    ]
    assert "</script>\u2028 <b>bold</b>" in lines[0].get_attribute("textContent")
    driver = page(replay_page(record), "#hand=1&card=20")
    assert driver.find_elements("css selector", ".lost, .badge, .chance") == []


def test_several_games_in_a_page(page):
    """One is chosen, by its list or in the address."""
    games = [game("barrie_v0", 5), game("cincinnati_v0", 5)]
    driver = page(replays_page(games, names=["game 3", "game 8"]), "#game=2&hand=2&card=5")
    assert find(driver, "#title").text.startswith("cincinnati_v0")
    assert seen(driver)["place"] == ["1", "5"]
    find(driver, "#game").send_keys("game 3")
    assert find(driver, "#title").text.startswith("barrie_v0")
    written(driver, "#game=1&hand=1&card=0")


def test_a_notebook_shows_the_same(page):
    """In a frame that may run its script and reach nothing else; where there are no frames, words.

    So it is in a notebook that is not trusted, which keeps the text of what it removes.
    """
    from selenium.webdriver.common.keys import Keys

    record = game("six_card_v0", 5)
    removed = re.sub("</?iframe[^>]*>", "", record._repr_html_())
    assert removed.endswith("The replay is shown when the cell is run, or the notebook trusted.")
    driver = page(f"<!doctype html><title>Notebook</title>{record._repr_html_()}", scripted=False)
    frame = find(driver, "iframe")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    driver.switch_to.frame(frame)
    for _ in range(3):
        find(driver, "[data-step=card-on]").click()
    assert find(driver, "#place").text.startswith("3 / ")
    find(driver, "body").send_keys(Keys.ARROW_RIGHT)
    find(driver, "#keys").click()  # which cannot be remembered there
    find(driver, "body").send_keys(Keys.ARROW_RIGHT)
    assert find(driver, "#place").text.startswith("4 / ")
    driver.switch_to.default_content()


LIVE = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const table = new bideuchre.Table(document.getElementById("table"), data.game);
window.chosen = [];
window.show = (view) => table.draw(view, { choose: (name) => window.chosen.push(name) });
"""


@pytest.mark.parametrize(
    ("name", "seed", "phases"),
    [("cincinnati_v0", 4, {"naming"}), ("barrie_v0", 6, {"giving", "passing"})],
)
def test_a_live_table_reports_what_is_chosen(page, name, seed, phases):
    """Every legal action is a button, by mouse and by key, and nothing else is one."""
    from selenium.webdriver.common.keys import Keys

    record = game(name, seed, hands=1)
    text = document(
        "Live",
        {"game": game_view(record.rules)},
        body='<main><div id="table"></div></main>',
        script=asset("table.js") + LIVE,
        style=asset("table.css"),
    )
    driver = page(text, width=360, height=780, scripted=False)
    met, words = set(), game_view(record.rules)["words"]
    for hand, rows in zip(record.hands, rows_of_game(record), strict=True):
        for row, action in zip(rows, hand["actions"], strict=False):
            view = table_view(row, record.rules, int(row["turn"]))
            met.add(view["phase"])
            names = driver.execute_script(
                "show(arguments[0]);"
                "return [...document.querySelectorAll('button')].map((b) => b.dataset.action)",
                view,
            )
            assert set(names) == set(view["legal"])
            button = driver.find_elements("css selector", f'[data-action="{action}"]')[0]
            if len(met) % 2:
                button.click()
            else:
                button.send_keys(Keys.ENTER)
            said = driver.execute_script(
                "return [chosen.pop(), arguments[0].getAttribute('aria-label')]", button
            )
            assert said == [action, words[action]]
        assert driver.execute_script("return document.documentElement.scrollWidth") == 360
    assert met == {"auction", "play"} | phases
    other = table_view(rows[0], record.rules, (int(rows[0]["turn"]) + 1) % 4)
    driver.execute_script("show(arguments[0])", other)
    assert driver.find_elements("css selector", "button") == []
