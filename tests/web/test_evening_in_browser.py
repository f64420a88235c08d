"""An evening with phones: people join in browsers, lose their connection, and come back."""

import signal

import pytest

pytest.importorskip("aiohttp")

from support import live_tables
from support.browser import CHOICES, Page, complaints, screen
from support.live_tables import AGENTS, live, served, session, start

from bideuchre_env.core.state import Phase

pytestmark = pytest.mark.slow

SIZES = [(375, 667), (667, 375), (768, 1024), (1200, 900)]
# names of the cards, in hands and on the table, of which no strip is on top of everything
COVERED = """
return [...document.querySelectorAll("#table .card")].filter((card) => {
  const box = card.getBoundingClientRect();
  const spots = [.1, .3, .5, .7, .9].flatMap((x) => [.1, .3, .5, .7, .9].map((y) => [x, y]));
  return !spots.some(([x, y]) => card.contains(
    document.elementFromPoint(box.left + x * box.width, box.top + y * box.height)));
}).map((card) => card.dataset.card);
"""
PLATE = """
return document.querySelector(`[data-seat="${arguments[0]}"] .plate`)?.innerText ?? "";
"""
STATE = "return document.getElementById('app').innerText"
SIZE = "const all = document.documentElement; return [all.scrollWidth, all.scrollHeight]"


@pytest.fixture
def pages(drivers):
    yield [Page(driver) for driver in drivers]
    for driver in drivers:
        driver.get("about:blank")
        complaints(driver)


def plate(page, seat):
    return page.driver.execute_script(PLATE, seat)


def at_turn(variant, people, phase, seed):
    """A game at the first decision of seat 0 in a phase."""
    game = session(variant, people, seed=seed)
    while game.row["phase"] != phase or game.seat != 0:
        game.advance()
        if game.hand_over:
            game.next_hand()
        elif game.row["phase"] != phase or game.seat != 0:
            game.act(game.seat, game.legal()[-1 if phase == Phase.PLAY else 0])
    return game


def play_a_turn(pages):
    """Make a choice on the page that has one, and wait until the page displays it."""
    pages[0].wait(lambda: any(page.enabled(f"{CHOICES}, #next") for page in pages))
    for page in pages:
        if page.enabled(f"{CHOICES}, #next"):
            before = page.driver.execute_script(STATE)
            page.click(f"{CHOICES}, #next")
            page.wait(lambda page=page, before=before: page.driver.execute_script(STATE) != before)
            return


def test_a_guest_joins_by_the_short_address_and_plays(pages):
    host, guest = pages
    with served(lambda: live(session("cincinnati_v0", (0, 2), seed=4))) as (table, links):
        address = live_tables.servers[-1].invite("127.0.0.1")
        host.open(links[0], name="")
        assert not host.enabled(CHOICES)
        host.join("Ana")
        host.wait(lambda: "not here yet" in plate(host, 2))
        host.click("#open")
        assert host.text("address") == address
        assert host.driver.find_elements("css selector", "#code svg path")
        host.click("#open")
        guest.open(address, name="")
        guest.wait(lambda: guest.enabled("#join button"))
        guest.driver.find_element("id", "name").send_keys("<i>Bo</i>")
        guest.click("#join button")
        guest.wait(lambda: "without" in guest.text("refused"))
        guest.driver.find_element("id", "name").clear()
        guest.join("Bo")
        guest.wait(lambda: guest.shows(table, 2))
        assert bool(guest.enabled(CHOICES)) == bool(table.state(2)["view"]["legal"])
        assert "seat=" in guest.driver.execute_script("return location.hash")
        host.wait(lambda: "Bo" in plate(host, 2) and "not here" not in plate(host, 2))
        guest.wait(lambda: "Ana" in plate(guest, 0))
        host.driver.get("about:blank")
        guest.driver.get("about:blank")


def test_keys_wait_for_the_form_and_the_slider_stays_under_a_finger(pages):
    host, guest = pages
    game = at_turn("cincinnati_v0", (0, 2), Phase.PLAY, 8)
    decisions = game.decisions
    with served(lambda: live(game)) as (_, links):
        host.open(links[0], name="")
        host.driver.execute_script("document.activeElement.blur()")
        host.press(*"123456")
        host.join("Ana")
        assert game.decisions == decisions
        host.click("#open")
        pause = host.driver.find_element("id", "pause")
        host.driver.execute_script("arguments[0].focus(); arguments[0].value = 2", pause)
        guest.open(links[2], name="Bo")
        host.wait(lambda: "Bo" in plate(host, 2))
        assert pause.get_property("value") == "2"
        host.driver.execute_script("document.activeElement.blur()")
        host.press(*"123456")
        host.wait(lambda: game.decisions > decisions)
        host.driver.get("about:blank")
        guest.driver.get("about:blank")


ONLINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
LOSSES = {  # commands of the browser: a page is lost, and comes back
    "frozen": ("Page.setWebLifecycleState", {"state": "frozen"}, {"state": "active"}),
    "offline": ("Network.emulateNetworkConditions", ONLINE | {"offline": True}, ONLINE),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_page_without_a_connection_is_away_until_it_comes_back(loss, pages):
    host, guest = pages
    command, lost, back = LOSSES[loss]
    with served(lambda: live(session("cincinnati_v0", (0, 2), seed=4), grace=1.0)) as (
        table,
        links,
    ):
        live_tables.servers[-1]._waits = 1.0
        host.open(links[0], name="Ana")
        guest.open(links[2], name="Bo")
        host.wait(lambda: "Bo" in plate(host, 2) and "away" not in plate(host, 2))
        guest.driver.execute_cdp_cmd("Network.enable", {})
        guest.driver.execute_cdp_cmd(command, lost)
        host.wait(lambda: "away" in plate(host, 2))
        assert table.state(0)["presence"] == ["here", None, "away", None]
        guest.driver.execute_cdp_cmd(command, back)
        host.wait(lambda: "away" not in plate(host, 2))
        guest.wait(lambda: guest.shows(table, 2))
        host.driver.get("about:blank")
        guest.driver.get("about:blank")


def test_the_pages_continue_after_a_restart_of_the_server(pages, tmp_path):
    host, guest = pages
    file = ("--file", "game.json")
    process, links, _ = start(tmp_path, *AGENTS, "--people", "0,2", *file)
    port = links[0].split("/#")[0].rpartition(":")[2]
    host.open(links[0], name="Ana")
    guest.open(links[2], name="Bo")
    for _ in range(6):
        play_a_turn(pages)
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    process.wait()
    lost = "The server does not answer; trying again."
    host.wait(
        lambda: host.text("words") in (lost, "the server is shutting down; the game is saved")
    )
    process, again, _ = start(tmp_path, *file, "--port", port)
    assert again == links
    for page, seat, name in ((host, 2, "Bo"), (guest, 0, "Ana")):
        page.wait(lambda page=page: "waiting" not in page.driver.execute_script(
            "return document.body.className"))  # fmt: skip
        page.wait(lambda page=page, seat=seat, name=name: name in plate(page, seat))
    play_a_turn(pages)
    for page in pages:
        page.driver.get("about:blank")
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait() == 0


def test_the_host_begins_another_variant_on_all_pages(pages):
    host, guest = pages
    with served(lambda: live(session("cincinnati_v0", (0, 2), seed=4))) as (table, links):
        host.open(links[0], name="Ana")
        guest.open(links[2], name="Bo")
        guest.click("#open")
        assert not guest.enabled("#begin")
        host.click("#open")
        host.driver.find_element("id", "variant").send_keys("barrie")
        host.driver.find_element("id", "level").send_keys("easy")
        host.click("#begin")
        host.driver.switch_to.alert.dismiss()
        assert table.session.variant == "cincinnati_v0"
        host.click("#begin")
        host.driver.switch_to.alert.accept()
        for page in pages:
            page.wait(lambda page=page: "to 52" in page.text("score"))
            page.wait(lambda page=page: page.shows(table, 0 if page is host else 2))
            page.driver.get("about:blank")
        assert (table.session.variant, table.session.agents[1]) == ("barrie_v0", "beginner")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_covers_a_card_or_scrolls_sideways(size, dark, pages):
    page = pages[0]
    touch = {"enabled": size[0] < 700, "maxTouchPoints": 1}
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", touch)
    screen(page.driver, *size, dark=dark)
    for variant, phase, seed in (
        ("cincinnati_v0", Phase.AUCTION, 4),
        ("barrie_v0", Phase.PLAY, 6),
        ("double_deck_v0", Phase.PLAY, 3),
    ):
        game = at_turn(variant, (0,), phase, seed)
        with served(lambda game=game: live(game)) as (_, links):
            page.open(links[0])
            page.wait(lambda: page.enabled(CHOICES))
            page.settle()
            assert page.driver.execute_script(COVERED) == []
            extent = page.driver.execute_script(SIZE)
            assert all(a <= b for a, b in zip(extent, size, strict=True))
            assert page.enabled("#keys") == (size[0] >= 700)
            for part in ("words", "hint", "undo"):
                box = page.driver.execute_script(
                    "return document.getElementById(arguments[0]).getBoundingClientRect()", part
                )
                assert 0 <= box["top"] < box["bottom"] <= size[1], part
            page.driver.get("about:blank")
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_the_browser_keeps_the_deck_of_four_colours(pages):
    page = pages[0]
    screen(page.driver, 1200, 900)
    colour = "return getComputedStyle(document.querySelector('#table .card .pip')).fill"
    with served(lambda: live(session("cincinnati_v0", seed=4))) as (_, links):
        page.open(links[0])
        pips = "return [...new Set([...document.querySelectorAll('#table .suit-D .pip,"
        pips += " #table .suit-C .pip')].map((pip) => getComputedStyle(pip).fill))].sort()"
        page.wait(lambda: page.driver.execute_script(colour))
        before = page.driver.execute_script(pips)
        page.click("#open")
        page.click("#colours")
        four = page.driver.execute_script(pips)
        assert not set(four) & set(before)
        page.driver.refresh()
        page.wait(lambda: page.driver.execute_script(pips) == four)
        page.click("#open")
        page.click("#colours")
        page.driver.get("about:blank")
