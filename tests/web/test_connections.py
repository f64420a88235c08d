"""Connections of a live game: limits and ends; the next hand begins when all are ready."""

import gc
import http.client
import json
import re
import socket
import struct
import time
from contextlib import suppress

import pytest

pytest.importorskip("aiohttp")

from support.live_tables import Client, in_loop, live, play_to_the_end, served, session

from bideuchre_env.play.saved import new_game_path
from bideuchre_env.web import connections
from bideuchre_env.web.connections import ConnectionLimiter
from bideuchre_env.web.presence import ReadySeats
from bideuchre_env.web.server import MOST_WAITING

GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"


def port_of(links):
    return int(re.search(r":(\d+)/", links[0])[1])


def wait_until(condition):
    """Wait until a condition is true; fail after 100 seconds."""
    for _ in range(20_000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("the condition is not met")


def connected(links):
    return socket.create_connection(("127.0.0.1", port_of(links)))


def read_all(connection):
    answer = b""
    while part := connection.recv(65536):
        answer += part
    return answer


def request_bytes(links, first_line, body=b"", length=None):
    """The bytes of a request of seat 0, with this body and Content-Length."""
    head = b"%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % (first_line, port_of(links))
    head += b"Authorization: Bearer %s\r\n" % links[0].split("seat=")[1].encode()
    if length is not None:
        head += b"Content-Type: application/json\r\nContent-Length: %d\r\n" % length
    return head + b"\r\n" + body


@pytest.fixture
def served_game():
    """A live table in a thread at the turn of seat 0, and the seats' links."""
    with served(lambda: live(session("cincinnati_v0", seed=4))) as (table, links):
        wait_until(lambda: table.state(0)["view"]["turn"] == 0)
        yield table, links


def test_connections_are_counted_in_all_and_by_address():
    limiter = ConnectionLimiter(most=5, of_an_address=3)
    assert [limiter.enter("a") for _ in range(4)] == [True, True, True, False]
    assert [limiter.enter("b") for _ in range(3)] == [True, True, False]
    limiter.leave("a")
    assert (len(limiter), limiter.enter("c"), limiter.enter("a")) == (4, True, False)
    for address in "aabbc":
        limiter.leave(address)
    assert (len(limiter), limiter._open) == (0, {})


def test_too_many_connections_are_refused_until_one_is_closed():
    limiter = ConnectionLimiter(of_an_address=4)
    with served(lambda: live(session("cincinnati_v0")), limiter) as (_, links):
        inside = [connected(links) for _ in range(4)]
        wait_until(lambda: len(limiter) == 4)
        with connected(links) as silent:
            assert read_all(silent) == b""
        with connected(links) as refused:
            refused.sendall(GET % port_of(links))
            head, _, body = read_all(refused).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 Service Unavailable")
        assert "too many connections" in json.loads(body)["error"]
        inside[0].sendall(GET % port_of(links))
        assert inside[0].recv(12) == b"HTTP/1.1 200"
        inside[3].close()
        wait_until(lambda: len(limiter) == 3)
        with connected(links) as fresh:
            fresh.sendall(GET % port_of(links))
            assert fresh.recv(12) == b"HTTP/1.1 200"
        for each in inside[:3]:
            each.close()
        wait_until(lambda: len(limiter) == 0)


def test_a_silent_connection_is_closed(monkeypatch):
    monkeypatch.setattr(connections.Connection.__init__, "__defaults__", (0.3,))
    monkeypatch.setattr("bideuchre_env.web.server.BODY_SECONDS", 0.3)
    with served(lambda: live(session("cincinnati_v0"))) as (_, links):
        whole = GET % port_of(links)
        for sent in (b"", whole[:20]):
            with connected(links) as silent:
                silent.sendall(sent)
                with suppress(ConnectionResetError):
                    assert read_all(silent) == b""
        with connected(links) as slow:
            for part in (whole[:20], whole[20:-3], whole[-3:]):
                slow.sendall(part)
                time.sleep(0.02)
            assert slow.recv(12) == b"HTTP/1.1 200"
        with connected(links) as slow:
            slow.sendall(request_bytes(links, b"POST /api/act", length=9))
            assert slow.recv(12) == b"HTTP/1.1 408"


def test_the_waiting_requests_of_a_seat_are_limited_and_end_with_their_page(served_game):
    """A closed page frees its place at once, not after the 10 seconds of waiting."""
    table, links = served_game
    request = request_bytes(links, b"GET /api/table?after=%d" % table.version)
    waiting = [connected(links) for _ in range(MOST_WAITING)]
    for each in waiting:
        each.sendall(request)
    wait_until(lambda: table.presence.polls[0] == MOST_WAITING)
    with connected(links) as refused:
        refused.sendall(request)
        assert refused.recv(12) == b"HTTP/1.1 429"
    for each in waiting:
        each.close()
    wait_until(lambda: table.presence.polls[0] == 0)


def test_an_action_is_carried_out_although_its_page_is_closed(monkeypatch):
    game = session("cincinnati_v0", (0, 1, 2, 3), seed=4)
    with served(lambda: live(game)) as (table, links):
        seat = game.seat
        state = table.state(seat)
        act = game.act

        def close_and_act(*arguments):
            linger = struct.pack("ii", 1, 0)  # so that the connection is reset
            page.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            page.close()
            time.sleep(0.2)
            return act(*arguments)

        monkeypatch.setattr(game, "act", close_and_act)
        page = http.client.HTTPConnection("127.0.0.1", port_of(links))
        body = {"version": state["version"], "action": state["view"]["legal"][0]}
        token = links[seat].split("seat=")[1]
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        page.request("POST", "/api/act", json.dumps(body), headers)
        wait_until(lambda: table.version > state["version"])
        assert game.decisions == 1
        assert table.state(seat)["view"]["turn"] != seat


def test_a_half_closed_client_gets_its_answer(served_game):
    table, links = served_game
    version, legal = table.version, table.state(0)["view"]["legal"]
    action = json.dumps({"version": version, "action": legal[0]}).encode()
    for request, status in (
        (request_bytes(links, b"GET /api/table?after=%d" % version), b"200"),
        (request_bytes(links, b"POST /api/act", action[:-5], len(action)), b"400"),
        (request_bytes(links, b"POST /api/act", action, len(action)), b"200"),
    ):
        with connected(links) as connection:
            connection.settimeout(8)
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            assert read_all(connection).startswith(b"HTTP/1.1 " + status)
    assert table.version > version


@pytest.mark.parametrize("reset", [False, True])
def test_a_client_that_leaves_within_a_request_is_not_logged_and_changes_nothing(reset, caplog):
    """The client leaves before its body is complete, or while the refusal is computed."""
    limiter, stale = ConnectionLimiter(), b'{"version": 0, "action": "pass"}'
    with served(lambda: live(session("cincinnati_v0", seed=4)), limiter) as (table, links):
        wait_until(lambda: table.state(0)["view"]["turn"] == 0)
        version = table.version
        for body, length in ((b"{", 20), (stale, len(stale))):
            for seconds in (0.0, 0.05):
                with connected(links) as leaving:
                    leaving.sendall(request_bytes(links, b"POST /api/act", body, length))
                    time.sleep(seconds)
                    if reset:
                        linger = struct.pack("ii", 1, 0)
                        leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        wait_until(lambda: len(limiter) == 0)
        assert table.version == version
    gc.collect()  # unretrieved exceptions of tasks are logged here
    assert not caplog.records


def test_a_table_is_ready_when_all_ask_or_a_wait_has_passed():
    """The wait begins with the first request; after it, a seat's second request is enough."""
    now = [100.0]
    ready = ReadySeats((0, 1, 3), 30.0, lambda: now[0])
    assert (ready.seconds_left, ready.missing) == (None, [0, 1, 3])
    assert not ready.add(1)
    assert (ready.seconds_left, ready.missing, 1 in ready.ready_at) == (30.0, [0, 3], True)
    now[0] += 29
    assert not ready.add(1)
    assert ready.seconds_left == 1.0
    now[0] += 5
    assert ready.seconds_left == 0.0
    assert not ready.add(3)  # the first request of a seat does not end the wait of others
    assert ready.add(1)
    assert ready.add(0)
    ready.ready_at.clear()
    assert (ready.seconds_left, ready.missing) == (None, [0, 1, 3])
    assert ReadySeats((2,)).add(2)


@pytest.mark.parametrize(("name", "whole_game"), [("next", False), ("new", True)])
@in_loop
async def test_the_next_hand_or_game_waits_for_all_people(name, whole_game):
    """Every page shows the seats for which the table waits."""
    client = Client(live(session("cincinnati_v0", (0, 1, 2), seed=4)))
    table = client.table
    table.start()
    version = await play_to_the_end(client, whole_game)
    before, hand = table.session, table.session.hand
    for seat, waits in (
        (1, ("Waiting for you and partner.", "Waiting for left and right.")),
        (2, ("Waiting for you.", "Waiting for right.")),
        (1, ("Waiting for you.", "Waiting for right.")),  # again: it is too early
    ):
        assert (await client.seat(seat, name, version))[0] == 200
        states = [table.state(each) for each in (0, 1)]
        assert [each["asked"] for each in states] == [False, True]
        assert tuple(each["waits"] for each in states) == waits
        assert 0 < states[0]["patience"] <= 30
    assert (table.session, table.session.hand) == (before, hand)
    status, state = await client.seat(0, name, version)
    assert (status, state["asked"], state["waits"]) == (200, False, None)
    assert (table.session is not before) == whole_game
    assert table.session.hand == (1 if whole_game else hand + 1)
    assert (await client.seat(1, name, version))[0] == 409  # it is too late
    await table.close()


@in_loop
async def test_after_the_wait_a_repeated_request_deals_the_hand():
    client = Client(live(session("cincinnati_v0", (0, 2), seed=4), patience=0.0))
    table = client.table
    table.start()
    version = await play_to_the_end(client, False)
    hand = table.session.hand
    _, state = await client.seat(2, "next", version)
    assert (state["asked"], state["waits"]) == (True, "Waiting for partner.")
    assert (state["patience"], table.session.hand) == (0.0, hand)
    assert (await client.seat(2, "next", version))[0] == 200
    assert table.session.hand == hand + 1
    await table.close()


@pytest.mark.parametrize(
    "names", ["g g-2 g-3", "h-7 h-8 h-9", "x-x x-x-2 x-x-3", "20260801-120000 20260801-120000-2"]
)
def test_the_file_of_a_new_game_has_the_next_number(names, tmp_path):
    """A number of up to four digits at the end of the name is increased."""
    first, *following = (tmp_path / f"{name}.json" for name in names.split())
    first.touch()
    for expected in following:
        first = new_game_path("cincinnati_v0", first)
        assert first == expected
        first.touch()
