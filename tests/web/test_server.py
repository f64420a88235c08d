"""Who is answered, and how: foreign pages, other names, odd requests, too many, 10,000 fuzzed."""

from __future__ import annotations

import http.client
import json
import random
import re
import socket

import pytest

pytest.importorskip("aiohttp")

from support.live_tables import HOST, PORT, Asking, known, live, named, quiet, run, served, session

from bideuchre_env.errors import OptionError
from bideuchre_env.web.door import (
    HEADERS,
    Guests,
    Hosts,
    Rate,
    Seats,
    is_foreign,
    is_loopback,
    split_host,
)
from bideuchre_env.web.server import MOST_BYTES, listening, reachable

CHANGES = tuple(f"/api/{name}" for name in ("act", "claim", "undo", "next", "hint", "new"))
PATHS = ("/", "/api/table", *CHANGES)


@pytest.fixture
def asking():
    """A server whose agents have played up to a person's turn, and what is asked of it."""

    def do(work):
        async def all_of_it():
            asked = Asking(live(session("barrie_v0", (0, 2), seed=2)))
            asked.table.start()
            await quiet(asked.table)
            try:
                return await work(asked)
            finally:
                await asked.table.close()

        return run(all_of_it)

    return do


def test_every_answer_has_its_headers_and_nothing_is_kept():
    """The page, a refusal by the server, by the HTTP library, for too many connections."""
    requests = [
        (b"GET / HTTP/1.1", 200),
        (b"GET /api/table HTTP/1.1", 401),
        (b"GET /nowhere HTTP/1.1", 404),
        (b"GET /api/act HTTP/1.1", 405),
        (b"GET / HTTP/1.1\r\nExpect: something", 417),
        (b"GET / HTTP/9.9", 400),
        (b"nonsense", 400),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 20_000, 400),
        (b"POST /api/act HTTP/1.1\r\nContent-Length: -5", 400),
    ]
    for guests, expected in ((None, requests), (Guests(most=0), [(b"GET / HTTP/1.1", 503)])):
        with served(lambda: live(session("cincinnati_v0")), guests) as (_, links):
            port = int(re.search(r":(\d+)/", links[0])[1])
            for request, status in expected:
                host = b"\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % port
                with socket.create_connection(("127.0.0.1", port)) as connection:
                    connection.sendall(request + host)
                    answer = http.client.HTTPResponse(connection)
                    answer.begin()
                    assert answer.status == status, request
                    headers = answer.headers
                assert {name: headers.get_all(name) for name in HEADERS} == {
                    name: [value] for name, value in HEADERS.items()
                }
                assert "Set-Cookie" not in headers
                assert "Access-Control-Allow-Origin" not in headers
                assert "Python" not in str(headers)


@pytest.mark.parametrize(
    ("path", "status"),
    [("nowhere", 404), ("api/nothing", 404), ("api/table", 401), ("api/act", 405)],
)
def test_a_refusal_is_json_with_an_error(path, status, asking):
    """One line, for the page to show."""

    async def work(asked):
        got, _, body = await asked.ask("GET", f"/{path}")
        assert (got, json.loads(body).keys()) == (status, {"error"})

    asking(work)


def test_the_page_tells_nothing_of_the_game(asking):
    """It is the same for everybody; what may run in it is said by a hash."""

    async def work(asked):
        _, _, body = await asked.ask("GET", "/")
        page = body.decode()
        data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
        assert data.keys() == {"game"}
        assert not any(token in page for token in asked.server.seats.tokens.values())
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        assert "default-src 'none'" in policy
        assert "connect-src 'self'" in policy
        assert "unsafe" not in policy

    asking(work)


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "", None])
def test_other_names_are_refused(host, asking):
    """As a foreign page would use that a name server has pointed here; for the page itself too."""

    async def work(asked):
        token = {"Authorization": f"Bearer {asked.server.seats.tokens[0]}"}
        for path in PATHS:
            method = "POST" if path in CHANGES else "GET"
            status, _, body = await asked.ask(method, path, token, host=host)
            assert status == 403
            assert not named(body.decode())

    asking(work)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://{HOST}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_foreign_pages_are_refused(headers, asking):
    """Whatever they ask of a seat, with its token even; our own page is not."""

    async def work(asked):
        token = {"Authorization": f"Bearer {asked.server.seats.tokens[0]}"}
        before = asked.table.version
        for path in PATHS[1:]:
            method = "POST" if path in CHANGES else "GET"
            status, _, body = await asked.ask(method, path, token | headers)
            assert (status, json.loads(body)) == (403, {"error": "not from this page"})
        assert asked.table.version == before
        ours = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
        assert (await asked.ask("GET", "/api/table", token | ours))[0] == 200

    asking(work)


def test_a_seat_needs_its_token(asking):
    """No token, half of one, another server's, one behind another scheme: 401, and no cards."""

    async def work(asked):
        token = asked.server.seats.tokens[0]
        others = ["", token, "Bearer", "Bearer ", f"Bearer {token[:-1]}", f"Bearer {token}x"]
        others += [f"Basic {token}", "Bearer é", f"Bearer {token} {token}"]
        for other in (None, *others):
            headers = {"Content-Type": "application/json"}
            if other is not None:
                headers["Authorization"] = other
            for path in PATHS[1:]:
                method = "POST" if path in CHANGES else "GET"
                status, _, body = await asked.ask(method, path, headers, b"{}")
                assert (status, named(body.decode())) == (401, set())

    asking(work)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[" * 2000, "application/json", 400),
        (b'{"version": 1}', "application/json", 400),
        (b'{"version": 1, "action": 5}', "application/json", 400),
        (b'{"version": "1", "action": "pass"}', "application/json", 400),
        (b'{"version": true, "action": "pass"}', "application/json", 400),
        (b'{"version": 1, "action": "pass", "seat": 2}', "application/json", 400),
        (b'{"version": -1, "action": "pass"}', "application/json", 409),
        (b'{"version": 1e999, "action": "pass"}', "application/json", 400),
        (b'{"version": ' + b"9" * 1500 + b', "action": "pass"}', "application/json", 409),
        (b'{"version": 1, "action": "pass"}', "text/plain", 415),
        (b'{"version": 1, "action": "pass"}', "application/x-www-form-urlencoded", 415),
        (b" " * (MOST_BYTES + 1), "application/json", 413),
    ],
)
def test_odd_bodies_are_refused(body, kind, status, asking):
    """With what is wrong in a line."""

    async def work(asked):
        seat = asked.table.session.seat
        token = {"Authorization": f"Bearer {asked.server.seats.tokens[seat]}", "Content-Type": kind}
        before = asked.table.session.record().to_dict()
        got, _, said = await asked.ask("POST", "/api/act", token, body)
        assert got == status, said
        assert "\n" not in json.loads(said)["error"]
        assert asked.table.session.record().to_dict() == before

    asking(work)


def test_too_many_requests_are_refused_until_time_has_passed(asking):
    """Each address by itself."""
    now = [0.0]
    rate = Rate(most=3, seconds=2.0, clock=lambda: now[0])
    assert [rate.allows("a") for _ in range(5)] == [True, True, True, False, False]
    assert rate.allows("b")
    now[0] = 1.9
    assert not rate.allows("a")
    now[0] = 1000.0
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
    assert "b" not in rate._made

    async def work(asked):
        asked.server._rate = Rate(most=2, seconds=1e6)
        got = [(await asked.ask("GET", "/"))[0] for _ in range(4)]
        assert got == [200, 200, 429, 429]

    asking(work)


def test_names_of_the_server():
    """Its own on this machine; with others on the network addresses, which nobody can redirect."""
    here, network = Hosts("127.0.0.1"), Hosts("0.0.0.0")
    assert is_loopback("localhost")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("evil.example")
    for name in ("127.0.0.1:80", "LOCALHOST:80", "[::1]:80", "localhost", "127.0.0.1"):
        assert here.allows(name, 80)
        assert network.allows(name, 80)
    for name in ("192.168.1.5:80", "[fe80::1]:80", f"{socket.gethostname()}:80"):
        assert network.allows(name, 80)
        assert not here.allows(name, 80) or "localhost" in name
    for name in ("evil.example:80", "127.0.0.1.evil.example:80", "127.0.0.1:81", ":80", "80"):
        assert not here.allows(name, 80)
        assert not network.allows(name, 80)
    assert not here.allows("localhost", 8765)
    assert Hosts("my.box").allows("my.box:8765", 8765)
    assert split_host("a:b") == ("", None)
    assert split_host("[::1]") == ("::1", None)
    assert not is_foreign({"Host": "Localhost:1", "Origin": "http://localhost:1"})


def test_tokens_are_long_and_differ():
    """256 bits each, new ones for every server."""
    one, two = Seats([0, 2]), Seats([0, 2])
    tokens = {*one.tokens.values(), *two.tokens.values()}
    assert len(tokens) == 4
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)
    assert one.seat_of(f"Bearer {one.tokens[2]}") == 2
    assert one.seat_of(f"bearer {one.tokens[0]}") == 0
    assert one.seat_of(f"Bearer {two.tokens[0]}") is None


def test_places_to_listen():
    """A port that is taken, a host that is not here: one line."""
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OptionError, match=f"--port {port}: "):
            listening("127.0.0.1", port)
    for host, port in (("192.0.2.1", 0), ("no such host", 0), ("a" * 100, 1)):
        with pytest.raises(OptionError, match="--host"):
            listening(host, port).close()
    assert reachable("10.0.0.1") == "10.0.0.1"
    assert reachable("0.0.0.0")


def fuzzed(rng, asked):
    """A request of anybody: method, path, headers, body, host; some of it sound, most not."""
    seat = rng.choice([0, 0, 2, 2, None])
    tokens = asked.server.seats.tokens
    headers = {}
    if rng.random() < 0.8:
        token = rng.choice(["", "x", "é" * 9]) if seat is None else tokens[seat]
        headers["Authorization"] = f"Bearer {token}"
    if rng.random() < 0.7:
        headers["Content-Type"] = rng.choice(["application/json"] * 4 + ["text/html", ";;", ""])
    for name in rng.sample(["Origin", "Sec-Fetch-Site", "Referer", "Accept", "Cookie", "Range"], 2):
        if rng.random() < 0.3:
            headers[name] = rng.choice([f"http://{HOST}", "null", "none", "x" * 99, "\x7f", ""])
    path = rng.choice(PATHS + CHANGES + ("/replay/x", "/../etc/passwd", "/api", "/%00", "//"))
    if rng.random() < 0.3:
        path += rng.choice(
            ["?after=1", "?after=-1", "?after=x", "?after=" + "9" * 40, "/", "%ff", "?"]
        )
    method = (
        "POST"
        if path.startswith(CHANGES) and rng.random() < 0.9
        else rng.choice(["GET", "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"])
    )
    actions = [*asked.table.session.legal(), "pass", "JH", "bid 99", "\x00", "é", "x" * 500]
    data = {"version": rng.choice([asked.table.version] * 4 + [0, -1, 2**70, None, 1.5, "1", []])}
    if rng.random() < 0.5:
        data["action"] = rng.choice([*actions, 5, None, {}, ["pass"]])
    body = json.dumps(data).encode()
    if rng.random() < 0.3:
        cut = rng.randrange(len(body))
        body = body[:cut] + bytes(rng.randrange(256) for _ in range(rng.randrange(9)))
    host = rng.choice([HOST] * 6 + ["evil.example", "", None, "[::1", f"localhost:{PORT}"])
    return method, path, headers, body, host


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_fuzzed_requests_crash_nothing_and_leak_nothing(count):
    """No answer of 5xx; no card for whoever has no token; a game that is still sound."""

    async def work():
        rng, statuses = random.Random(count), set()
        asked = Asking(live(session("cincinnati_v0", (0, 2), seed=2)))
        asked.table.start()
        for _ in range(count):
            await quiet(asked.table)
            method, path, headers, body, host = fuzzed(rng, asked)
            status, _, answer = await asked.ask(method, path, headers, body, host)
            statuses.add(status)
            assert status < 500, (method, path, headers, body, host, answer)
            tokens = asked.server.seats.tokens
            mine = {f"Bearer {token}": seat for seat, token in tokens.items()}
            seat = mine.get(headers.get("Authorization"))
            if answer.startswith(b"<!doctype html>"):  # the same for everybody, see above
                assert "/api" not in path
            elif seat is None:
                assert status >= 400 or method == "HEAD", (method, path, headers, answer)
                assert not named(answer.decode())
            elif status == 200 and path.startswith("/api/"):
                state = json.loads(answer or b"{}")
                view = state.get("view", {})
                view["remark"] = None  # which card the left bower is, whoever holds it
                hands = view.get("hands", [])
                assert all(isinstance(hand, int) for hand in hands[:seat] + hands[seat + 1 :])
                if not state.get("review"):  # which goes over all hands of a game that is over
                    assert named(json.dumps(state)) <= known(asked.table.session, seat)
            for token in tokens.values():
                assert token.encode() not in answer
        asked.table.session.record().verify()
        assert {200, 400, 401, 403, 404, 405, 409, 415} <= statuses
        await asked.table.close()

    run(work)


def test_what_is_no_http_is_answered_or_hung_up_on(caplog):
    """Over a real connection; the server goes on."""
    rng = random.Random(1)
    with served(lambda: live(session("cincinnati_v0"))) as (_, links):
        port = int(re.search(r":(\d+)/", links[0])[1])

        def send(data, whole=False):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(data)
                if not whole:
                    connection.shutdown(socket.SHUT_WR)
                answer = b""
                try:
                    while part := connection.recv(65536):
                        answer += part
                except ConnectionResetError:
                    pass
                return answer

        host = b"Host: 127.0.0.1:%d\r\n" % port
        odd = [bytes(rng.randrange(256) for _ in range(rng.randrange(1, 300))) for _ in range(30)]
        odd += [
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + host * 2 + b"\r\n",
            b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"GET / HTTP/1.1\r\nA: " + b"b" * 20_000 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + host + b"Content-Length: -5\r\n\r\n",
            b"POST /api/act HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"POST /api/act HTTP/1.1\r\n" + host + b"Content-Length: 10\r\n\r\n{",
            b"GET http://evil.example/ HTTP/1.1\r\n" + host + b"\r\n",
            b"CONNECT evil.example:80 HTTP/1.1\r\n\r\n",
        ]
        for data in odd:
            answer = send(data)
            assert not answer.startswith(b"HTTP/1.1 5"), (data, answer)
            assert b"Traceback" not in answer
        page = send(b"GET / HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n", whole=True)
        assert page.startswith(b"HTTP/1.1 200")
    assert not caplog.records
