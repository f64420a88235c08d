"""Live games in a real browser, by mouse and keyboard; the command `bideuchre play --web`."""

import json
import re
import signal
import time
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("aiohttp")

from support import live_tables
from support.browser import CHOICES, Page, complaints, requests, screen
from support.commands import run
from support.live_tables import AGENTS, Relay, live, served, session, start

from bideuchre_env.core.state import Phase
from bideuchre_env.play.session import Session

pytestmark = pytest.mark.slow

HANDS = """
const shown = (seat) => [...document.querySelectorAll(`[data-seat="${seat}"] .hand [data-card]`)]
  .map((card) => card.dataset.card);
return [0, 1, 2, 3].map(shown);
"""


@pytest.fixture
def pages(drivers):
    """A page in each browser; the console stays empty, and all requests go to the server."""
    for driver in drivers:
        complaints(driver), requests(driver)
    yield [Page(driver) for driver in drivers]
    for driver in drivers:
        driver.get("about:blank")
        assert complaints(driver) == []
        assert all(url.startswith(("http://127.0.0.1:", "about:")) for url in requests(driver))


def test_a_whole_game_is_played_by_clicks_and_keys_on_a_small_screen(pages):
    from selenium.webdriver.common.keys import Keys

    page = pages[0]
    screen(page.driver, 390, 844, dark=True)
    with served(lambda: live(session("barrie_v0", seed=6))) as (table, links):
        page.open(links[0])
        done = 0
        while page.has_a_choice(table):
            version, state = table.version, table.state(0)
            legal, hand = state["view"]["legal"], state["view"]["hands"][0]
            if done == 1:
                page.click("#hint")
                page.wait(lambda: page.text("options"))
                [marked] = page.driver.find_elements("css selector", "#table .advised")
                assert marked.get_attribute("data-action") in legal
            if done == 4:
                page.click("#undo")
            elif state["next"]:
                page.press("n")
            elif done % 3 == 0 and legal[0] in hand:
                page.press(str(hand.index(legal[0]) + 1))
            elif done % 3 == 1:
                page.driver.execute_script("document.activeElement.blur()")
                page.press(Keys.ARROW_RIGHT)
                page.press(Keys.ENTER)
            else:
                page.click(CHOICES)
            page.wait(lambda version=version: table.version > version)
            done += 1
        record = table.session.record()
        record.verify()
        assert record.outcome != "unfinished"
        assert done > 10
        page.wait(lambda: page.enabled("#replay"))
        page.click("#new")
        page.wait(lambda: not table.session.over)
        page.has_a_choice(table)
        page.driver.get("about:blank")  # before the server ends


def test_keys_that_are_turned_off_do_nothing(pages):
    """Keys stay off after a reload. With a patience of 0 the second press deals the next hand."""
    page, game = pages[0], session("cincinnati_v0", (0, 2), seed=4)
    while not game.hand_over:
        game.advance()
        if game.waits_for_person:
            game.act(game.seat, game.legal()[0])
    with served(lambda: live(game, patience=0.0)) as (table, links):
        page.open(links[0])
        page.wait(lambda: page.enabled("#next"))
        page.click("#keys")
        page.press("n")
        page.driver.refresh()
        page.wait(lambda: page.enabled("#next"))
        page.press("n")
        assert not table.state(0)["asked"]
        page.click("#keys")
        page.press("n")
        page.wait(lambda: page.text("next") == "Next hand without them")
        page.wait(lambda: page.enabled("#next"))
        hand = game.hand
        page.press("n")
        page.wait(lambda: f"hand {hand + 1}" in page.text("score"))
        page.driver.get("about:blank")


def test_two_people_see_only_their_own_cards_and_continue_together(pages):
    with served(lambda: live(session("cincinnati_v0", (0, 2), seed=4))) as (table, links):
        seats = dict(zip((0, 2), pages, strict=True))
        for seat, page in seats.items():
            page.open(links[seat])
        acted = set()
        while not table.state(0)["next"]:
            turn = table.session.seat
            if turn not in seats or not table.state(turn)["view"]["legal"]:
                continue
            for seat, page in seats.items():
                page.wait(lambda page=page, seat=seat: page.shows(table, seat))
                hands = page.driver.execute_script(HANDS)
                assert sorted(hands[seat]) == sorted(table.state(seat)["view"]["hands"][seat])
                assert all(not hand for who, hand in enumerate(hands) if who != seat)
                assert bool(page.enabled(CHOICES)) == (seat == turn)
            version = table.version
            seats[turn].click(CHOICES)
            seats[turn].wait(lambda version=version: table.version > version)
            acted.add(turn)
        assert acted == {0, 2}
        hand = table.session.hand
        for page in pages:
            page.wait(lambda page=page: page.enabled("#next"))
        pages[0].click("#next")
        partner = table.session.names[2]
        for page, waits in zip(pages, (f"Waiting for {partner}.", "Waiting for you."), strict=True):
            page.wait(lambda page=page, waits=waits: page.text("waits") == waits)
        assert not pages[0].enabled("#next")
        assert table.session.hand == hand
        pages[1].click("#next")
        for page in pages:
            page.wait(lambda page=page: f"hand {hand + 1}" in page.text("score"))
            page.driver.get("about:blank")


QUICK = "const real = setTimeout; window.setTimeout = (work, time) => real(work, %s);"
POLLS = "time < 50000 ? time / 20 : 1e9"  # of 35 s
COMMANDS = "time > 50000 ? time / 20 : time"  # hints, new games
EVENTS = {
    "online": "dispatchEvent(new Event('online'))",
    "visible": "document.dispatchEvent(new Event('visibilitychange'))",
}
WAYS = (*EVENTS, "click", "timeout")


@pytest.fixture
def short_timeouts(drivers, request):
    """Some timeouts of the first browser's page are 20 times as short."""
    call = drivers[0].execute_cdp_cmd
    script = {"source": QUICK % getattr(request, "param", POLLS)}
    added = call("Page.addScriptToEvaluateOnNewDocument", script)
    yield
    call("Page.removeScriptToEvaluateOnNewDocument", added)


@contextmanager
def relayed():
    """Context manager: a relay to the last server, and the link of seat 0 that leads through it."""
    server = live_tables.servers[-1]
    relay = Relay(server.port)
    server.port = relay.port  # which the server expects in requests
    yield relay, server.links("127.0.0.1")[0]
    relay.close()


@pytest.mark.parametrize("way", WAYS)
def test_a_page_recovers_from_a_connection_that_is_lost_without_notice(way, pages, request):
    """The present poll is never answered; another follows as soon as there is a sign of life."""
    page, driver = pages[0], pages[0].driver
    if way == "timeout":
        request.getfixturevalue("short_timeouts")
    game = session("cincinnati_v0", seed=4)
    with served(lambda: live(game)) as (table, _), relayed() as (relay, link):
        page.open(link)
        page.wait(lambda: page.enabled(CHOICES))
        page.wait(lambda: live_tables.servers[-1].table.presence.polls[0] == 1)
        relay.lose(False)
        action = {"version": table.version, "action": game.legal()[0]}
        ask(link, "/api/act", action)  # by another page of the seat
        assert not page.shows(table)
        if way == "click":
            page.click(CHOICES)
        elif way in EVENTS:
            driver.execute_script(EVENTS[way])
        page.wait(lambda: page.shows(table))
        driver.get("about:blank")
        if way == "click":
            [line] = complaints(driver)  # the browser's own message
            assert "409" in line


def test_a_click_without_a_connection_says_so(pages, short_timeouts):
    page, driver = pages[0], pages[0].driver
    game = session("cincinnati_v0", seed=4)
    with served(lambda: live(game)) as (table, _), relayed() as (relay, link):
        page.open(link)
        page.wait(lambda: page.enabled(CHOICES))
        relay.lose(True)
        page.click(CHOICES)
        page.click(CHOICES)
        assert page.text("fault") == "Not sent: the server has not answered yet."
        words = "No answer from the server: check the connection, then choose again."
        page.wait(lambda: page.text("fault") == words)
        page.wait(lambda: page.text("words") == "The server does not answer; trying again.")
        assert page.text("fault") == words
        decisions = game.decisions
        relay.lose(False)
        page.wait(lambda: page.shows(table))
        assert page.text("fault") == ""
        page.click(CHOICES)
        page.wait(lambda: game.decisions > decisions)
        driver.get("about:blank")


@pytest.mark.parametrize("short_timeouts", [COMMANDS], indirect=True)
def test_the_first_hint_may_take_minutes(pages, short_timeouts):
    """It compiles kernels: 4 s with short timeouts are 80 s without."""
    page, game = pages[0], session("cincinnati_v0", seed=4)
    advice = game.advice
    game.advice = lambda adviser: time.sleep(4) or advice("rule")
    with served(lambda: live(game)) as (_, links):
        page.open(links[0])
        page.wait(lambda: page.enabled("#hint"))
        page.click("#hint")
        page.wait(lambda: page.text("options") or page.text("fault"))
        assert page.text("fault") == ""
        page.driver.get("about:blank")


def test_a_hint_ends_when_the_connection_is_lost(pages, short_timeouts):
    page, game = pages[0], session("cincinnati_v0", seed=4)
    with served(lambda: live(game)) as (table, _), relayed() as (relay, link):
        page.open(link)
        page.wait(lambda: page.enabled("#hint"))
        relay.lose(True)
        page.click("#hint")
        page.wait(lambda: page.text("fault").startswith("No answer from the server"))
        relay.lose(False)
        page.wait(lambda: page.shows(table))
        page.click(CHOICES)
        page.wait(lambda: game.decisions)
        page.driver.get("about:blank")


# the visible text of the first cell of each row, with the letters of suits for their signs
ROWS = """
const shapes = JSON.parse(document.getElementById("data").textContent).game.shapes;
const letter = (path) => Object.keys(shapes).find((suit) => shapes[suit] === path);
const text = (node) => node.nodeType === 3 ? node.data
  : node.matches("path") ? letter(node.getAttribute("d"))
  : node.matches(".heard") ? "" : [...node.childNodes].map(text).join("");
return [...document.querySelectorAll("#options tbody tr")].map((row) => text(row.cells[0]));
"""


@pytest.mark.parametrize(
    ("variant", "phase"),
    [
        *(("cincinnati_v0", phase) for phase in (Phase.AUCTION, Phase.NAMING, Phase.PLAY)),
        *(("barrie_v0", phase) for phase in (Phase.AUCTION, Phase.GIVING, Phase.PLAY)),
    ],
)
def test_the_rows_of_a_hint_are_named_as_their_actions(variant, phase, pages):
    """A call without a strain has no sign: "bid 3" and "pass" are not "NT"."""
    page, game = pages[0], session(variant, seed=6)
    game.advance()
    while game.row["phase"] != phase:
        exchanges = [name for name in game.legal() if name.startswith("bid call-1")]
        game.act(0, (exchanges or game.legal())[-1])
        game.advance()
    with served(lambda: live(game)) as (_, links):
        page.open(links[0])
        page.wait(lambda: page.enabled("#hint"))
        page.click("#hint")
        page.wait(lambda: page.text("options"))
        names = [row[0] for row in game.advice("rule").table()[1:]]
        rows = page.driver.execute_script(ROWS)
        assert [row.replace("10", "T") for row in rows] == names
        assert set(names) <= set(game.legal())
        page.driver.get("about:blank")


def test_a_page_without_a_valid_token_says_so(drivers):
    page = Page(drivers[0])
    with served(lambda: live(session("cincinnati_v0"))) as (_, links):
        address = links[0].split("#")[0]
        page.open(address)
        page.wait(lambda: "by the link of a seat" in page.text("words"))
        page.open(f"{address}?#seat=nonsense")
        page.wait(lambda: "This link is no longer valid" in page.text("words"))
        page.driver.get("about:blank")
        [line] = complaints(page.driver)  # the browser's own message
        assert "401" in line


def ask(link, path, body=None):
    """Send a request of a seat's page, POST if there is a `body`; return the JSON response."""
    address, token = link.split("/#seat=")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{address}{path}", data, headers)) as answer:
        return json.load(answer)


def how_to_resume(link):
    """The last line of a server that was given a port: the links work again at the same port."""
    port = re.search(r":(\d+)/", link)[1]
    command = f"bideuchre play --web --port {port} --file runs/play-cincinnati_v0.json"
    return f"The game is saved. Resume it with: {command}\n"


def test_a_game_of_two_people_is_saved_and_resumed_after_ctrl_c(tmp_path):
    process, links, printed = start(tmp_path, *AGENTS, "--people", "0,1")
    first = re.sub(r"^Compiling kernels, once: about \d+ s left\n", "", printed)
    assert first.startswith("New game in runs/play-cincinnati_v0.json\n")
    assert links.keys() == {0, 1}
    for link in links.values():
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#seat=[\w-]{43}", link)
    states = {seat: ask(link, "/api/table") for seat, link in links.items()}
    while (seat := states[0]["view"]["turn"]) not in links:
        states[0] = ask(links[0], f"/api/table?after={states[0]['version']}")
    state = ask(links[seat], "/api/table")
    action = {"version": state["version"], "action": state["view"]["legal"][0]}
    with pytest.raises(HTTPError, match="400"):
        ask(links[1 - seat], "/api/act", action)
    assert ask(links[seat], "/api/act", action)["version"] > state["version"]
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert (process.wait(), "Traceback" in rest) == (0, False)
    assert rest == how_to_resume(links[0])
    with Session.resume(tmp_path / "runs/play-cincinnati_v0.json") as game:
        assert game.people == (0, 1)
        assert action["action"] in game.record().hands[0]["actions"]
    process, again, printed = start(tmp_path, "--file", "runs/play-cincinnati_v0.json")
    assert printed.startswith("Resuming runs/play-cincinnati_v0.json\n")
    tokens = [[link.split("#")[1] for link in each.values()] for each in (again, links)]
    assert tokens[0] == tokens[1]
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == how_to_resume(again[0])
    assert process.wait() == 143


def test_the_terminal_refuses_a_game_of_several_people(capsys, tmp_path):
    """A terminal would show the hands of all people."""
    path = tmp_path / "game.json"
    session("cincinnati_v0", (0, 2), path=path).close()
    assert run("play", "--file", str(path)) == 2
    assert "has several people: add --web" in capsys.readouterr().err


def test_a_game_of_several_people_has_no_seed(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("play", "--web", "--people", "0,2", "--seed", "5") == 2
    expected = " --seed 5: expected only with one person, because it determines every deal "
    assert expected in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
