"""Connections are bounded, and end when nothing is asked, or whoever asked has gone."""

from __future__ import annotations

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

from support import live_tables
from support.live_tables import live, served, session

from bideuchre_env.web import door
from bideuchre_env.web.door import Guests
from bideuchre_env.web.server import MOST_WAITING

GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"


def port_of(links):
    return int(re.search(r":(\d+)/", links[0])[1])


def until(condition):
    for _ in range(20_000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it does not come about")


def connected(links):
    return socket.create_connection(("127.0.0.1", port_of(links)))


def all_of(connection):
    """Everything that comes until the other side ends."""
    answer = b""
    while part := connection.recv(65536):
        answer += part
    return answer


def table(links, after):
    """A request of seat 0 for what is new, sent and not read: the connection."""
    asked = http.client.HTTPConnection("127.0.0.1", port_of(links))
    token = links[0].split("seat=")[1]
    asked.request("GET", f"/api/table?after={after}", headers={"Authorization": f"Bearer {token}"})
    return asked


def test_guests_are_counted_in_all_and_by_address():
    guests = Guests(most=5, of_an_address=3)
    assert [guests.enter("a") for _ in range(4)] == [True, True, True, False]
    assert [guests.enter("b") for _ in range(3)] == [True, True, False]
    guests.leave("a")
    assert (len(guests), guests.enter("c"), guests.enter("a")) == (4, True, False)
    for address in "aabbc":
        guests.leave(address)
    assert (len(guests), guests._open) == (0, {})


def test_too_many_connections_are_refused_in_words_until_one_is_closed():
    """Silent ones count, too; whoever is in is answered as before."""
    guests = Guests(of_an_address=4)
    with served(lambda: live(session("cincinnati_v0")), guests) as (_, links):
        inside = [connected(links) for _ in range(4)]
        until(lambda: len(guests) == 4)
        with connected(links) as silent:
            assert all_of(silent) == b""
        with connected(links) as refused:
            refused.sendall(GET % port_of(links))
            head, _, body = all_of(refused).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 Service Unavailable")
        assert "too many connections" in json.loads(body)["error"]
        inside[0].sendall(GET % port_of(links))
        assert inside[0].recv(12) == b"HTTP/1.1 200"
        inside[3].close()
        until(lambda: len(guests) == 3)
        with connected(links) as fresh:
            fresh.sendall(GET % port_of(links))
            assert fresh.recv(12) == b"HTTP/1.1 200"
        for each in inside[:3]:
            each.close()
        until(lambda: len(guests) == 0)


def test_a_connection_that_asks_for_nothing_is_closed(monkeypatch):
    """Also one that sends half a head, or its body never; a request in parts is answered."""
    monkeypatch.setattr(door.Connection.__init__, "__defaults__", (0.3,))
    monkeypatch.setattr("bideuchre_env.web.server.BODY_SECONDS", 0.3)
    with served(lambda: live(session("cincinnati_v0"))) as (_, links):
        whole = GET % port_of(links)
        for sent in (b"", whole[:20]):
            with connected(links) as silent:
                silent.sendall(sent)
                with suppress(ConnectionResetError):
                    assert all_of(silent) == b""
        with connected(links) as slow:
            for part in (whole[:20], whole[20:-3], whole[-3:]):
                slow.sendall(part)
                time.sleep(0.02)
            assert slow.recv(12) == b"HTTP/1.1 200"
        token = links[0].split("seat=")[1].encode()
        head = b"POST /api/act HTTP/1.1\r\nAuthorization: Bearer %s\r\n" % token
        more = b"Content-Type: application/json\r\nContent-Length: 9\r\n"
        with connected(links) as slow:
            slow.sendall(head + more + whole[16:])
            assert slow.recv(12) == b"HTTP/1.1 408"


def test_a_closed_page_waits_no_more():
    """Its place is free at once: not after the 25 seconds that it would have waited."""
    with served(lambda: live(session("cincinnati_v0", seed=4))) as (live_table, links):
        server = live_tables.servers[-1]
        until(lambda: live_table.state(0)["view"]["turn"] == 0)
        waiting = [table(links, live_table.version) for _ in range(MOST_WAITING)]
        until(lambda: server.waiting[0] == MOST_WAITING)
        refused = table(links, live_table.version).getresponse()
        assert refused.status == 429
        assert "too many pages of this seat wait" in json.loads(refused.read())["error"]
        for each in waiting:
            each.close()
        until(lambda: server.waiting[0] == 0)


def test_what_is_begun_goes_on_when_the_page_is_closed(monkeypatch):
    """An action whose page is gone before the answer is carried out, and shown to all."""
    with served(lambda: live(session("cincinnati_v0", (0, 1, 2, 3), seed=4))) as (
        live_table,
        links,
    ):
        state = live_table.state(live_table.session.seat)
        act, seat = live_table.session.act, live_table.session.seat

        def slow(*what):
            asked.close()
            time.sleep(0.2)
            return act(*what)

        monkeypatch.setattr(live_table.session, "act", slow)
        asked = http.client.HTTPConnection("127.0.0.1", port_of(links))
        body = {"version": state["version"], "action": state["view"]["legal"][0]}
        token = links[seat].split("seat=")[1]
        kind = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        asked.request("POST", "/api/act", json.dumps(body), kind)
        until(lambda: live_table.version > state["version"])
        assert live_table.session.decisions == 1
        assert live_table.state(seat)["view"]["turn"] != seat


def leave(connection, *, reset):
    """Close a connection, with a reset instead of an orderly end if `reset`."""
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def posted(links, name, body, length):
    """The bytes of a POST request of seat 0 with this body and Content-Length."""
    head = GET.replace(b"GET / ", b"POST /api/%s " % name)[:-2] % port_of(links)
    token = links[0].split("seat=")[1].encode()
    head += b"Authorization: Bearer %s\r\nContent-Type: application/json\r\n" % token
    return head + b"Content-Length: %d\r\n\r\n" % length + body


def test_a_client_that_leaves_in_mid_request_leaves_no_trace_in_the_log(caplog):
    """Before the body is there, while the answer is computed; by an orderly end or a reset."""
    guests = Guests()
    with served(lambda: live(session("cincinnati_v0", seed=4)), guests) as (live_table, links):
        server = live_tables.servers[-1]
        until(lambda: live_table.state(0)["view"]["turn"] == 0)
        version = live_table.version
        stale = b'{"version": 0, "action": "pass"}'
        hint = b'{"version": %d}' % version
        requests = [
            posted(links, b"act", b"{", 20),
            posted(links, b"act", stale, len(stale)),
            posted(links, b"hint", hint, len(hint)),
            GET[:-2] % port_of(links),
            2 * GET % (port_of(links), port_of(links)),
        ]
        for request in requests:
            for reset in (False, True):
                for seconds in (0.0, 0.02, 0.1):
                    connection = connected(links)
                    connection.sendall(request)
                    time.sleep(seconds)
                    leave(connection, reset=reset)
        until(lambda: len(guests) == 0)
        assert server.waiting[0] == 0
        assert live_table.version == version
    gc.collect()  # where a task reports an exception that was never retrieved
    assert not caplog.records


def test_a_half_closed_client_gets_its_answer():
    """It has sent its request and closes its side; one that waits for news is answered at once."""
    with served(lambda: live(session("cincinnati_v0", seed=4))) as (live_table, links):
        until(lambda: live_table.state(0)["view"]["turn"] == 0)
        version, legal = live_table.version, live_table.state(0)["view"]["legal"]
        action = json.dumps({"version": version, "action": legal[0]}).encode()
        token = links[0].split("seat=")[1].encode()
        poll = GET.replace(b"GET /", b"GET /api/table?after=%d" % version)[:-2] % port_of(links)
        poll += b"Authorization: Bearer %s\r\n\r\n" % token
        for request, status in (
            (GET % port_of(links), b"200"),
            (poll, b"200"),
            (posted(links, b"act", action[:-5], len(action)), b"400"),
            (posted(links, b"act", action, len(action)), b"200"),
        ):
            begun = time.monotonic()
            with connected(links) as connection:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                answer = all_of(connection)
            assert answer.startswith(b"HTTP/1.1 " + status), answer
            assert time.monotonic() - begun < 8
        assert live_table.version > version
        with connected(links) as connection:  # one that has its answer is closed at once
            connection.sendall(GET % port_of(links))
            assert connection.recv(12) == b"HTTP/1.1 200"
            connection.shutdown(socket.SHUT_WR)
            assert all_of(connection)
