"""Requests from foreign pages, from other hosts, without a token or malformed are refused."""

import gzip
import http.client
import json
import random
import re
import socket
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("aiohttp")

from support.live_tables import (
    HOST,
    PORT,
    Client,
    cards_in,
    in_loop,
    known_cards,
    live,
    served,
    session,
    until_idle,
)

from bideuchre_env.errors import OptionError
from bideuchre_env.play.seats import Seats
from bideuchre_env.web.connections import (
    HEADERS,
    ConnectionLimiter,
    Hosts,
    Rate,
    is_foreign,
    is_loopback,
    split_host,
)
from bideuchre_env.web.server import MOST_BYTES, listening, reachable

CHANGES = tuple(f"/api/{name}" for name in ("act", "claim", "undo", "next", "hint", "new"))
CHANGES += tuple(f"/api/{name}" for name in ("name", "pause", "begin", "join"))
PATHS = ("/", "/api/table", "/api/seats", *CHANGES)
JSON = "application/json"


def short(value):
    """A test id: the first 40 characters of a value in ASCII."""
    return ascii(value)[:40]


@asynccontextmanager
async def playing(**options):
    """A `Client` of a game of people in seats 0 and 2, at a person's turn."""
    client = Client(live(session("barrie_v0", (0, 2), seed=2)), **options)
    client.table.start()
    await until_idle(client.table)
    yield client
    await client.table.close()


async def ask_every_path(client, headers, **more):
    """Yield (status, body) of a request of every path except the page."""
    for path in PATHS[1:]:
        method = "POST" if path in CHANGES else "GET"
        status, _, body = await client.ask(method, path, headers, **more)
        yield status, body.decode()


REQUESTS = [(64, b"GET / HTTP/1.1", 200), (64, b"GET /api/table HTTP/1.1", 401)]
REQUESTS += [(64, b"GET /nowhere HTTP/1.1", 404), (64, b"GET /api/act HTTP/1.1", 405)]
REQUESTS += [(64, b"GET / HTTP/1.1\r\nExpect: something", 417), (64, b"GET / HTTP/9.9", 400)]
REQUESTS += [(64, b"POST /api/act HTTP/1.1\r\nContent-Length: -5", 400)]
REQUESTS += [(64, b"POST /api/act HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz", 400)]
REQUESTS += [(64, b"GET / HTTP/1.1\r\nA: " + b"b" * 20_000, 400)]
REQUESTS += [(64, b"GET / HTTP/1.1\r\nHost: other", 400), (64, b"\x00\xff\x16\x03", 400)]
REQUESTS += [(0, b"GET / HTTP/1.1", 503)]


@pytest.mark.parametrize(("most", "request_line", "status"), REQUESTS, ids=short)
def test_every_response_has_the_headers(most, request_line, status, caplog):
    """Bytes that are not HTTP are not logged."""
    with served(lambda: live(session("cincinnati_v0")), ConnectionLimiter(most=most)) as (_, links):
        port = int(re.search(r":(\d+)/", links[0])[1])
        host = b"\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % port
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(request_line + host)
            response = http.client.HTTPResponse(connection)
            response.begin()
            headers = response.headers
    assert response.status == status
    for name, value in HEADERS.items():
        assert headers.get_all(name) == [value]
    assert "Set-Cookie" not in headers
    assert "Access-Control-Allow-Origin" not in headers
    assert "Python" not in str(headers)
    assert not caplog.records


ENCODED = [(b'{"version": 0, "action": "pass"}', "gzip")]
ENCODED += [(gzip.compress(b" " * 10**6, mtime=0), "gzip")]  # names of tests show no time
ENCODED += [(b"x" * 20, encoding) for encoding in ("deflate", "br", "gzip, gzip", "identity", "")]


@pytest.mark.parametrize(("body", "encoding"), ENCODED, ids=short)
@pytest.mark.parametrize(
    ("line", "status"), [("POST /api/act", 415), ("POST /nowhere", 404), ("GET /", 200)]
)
def test_encoded_bodies_are_refused_unread(line, status, body, encoding, caplog):
    """A false Content-Encoding is no error of the server: no status 500, nothing in the log."""
    with served(lambda: live(session("cincinnati_v0"))) as (_, links):
        address, token = links[0].split("/#seat=")
        page = http.client.HTTPConnection(address.removeprefix("http://"))
        headers = {"Authorization": f"Bearer {token}", "Content-Type": JSON}
        page.request(*line.split(), body, headers | {"Content-Encoding": encoding})
        answer = page.getresponse()
        assert answer.status == status
        if status == 415:
            assert json.load(answer) == {"error": "Content-Encoding: expected none"}
        page.close()
    assert not caplog.records


@in_loop
async def test_the_page_has_nothing_of_the_game_and_errors_are_json():
    async with playing() as client:
        _, _, body = await client.ask("GET", "/")
        page = body.decode()
        data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
        assert data.keys() == {"game"}
        assert not any(token in page for token in client.server.seats.tokens.values())
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        assert "default-src 'none'" in policy
        assert "connect-src 'self'" in policy
        assert "unsafe" not in policy
        for path, status in (("nowhere", 404), ("api/table", 401), ("api/act", 405)):
            actual, _, body = await client.ask("GET", f"/{path}")
            assert (actual, json.loads(body).keys()) == (status, {"error"})


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "", None])
@in_loop
async def test_other_hosts_are_refused(host):
    """Refusing other hosts prevents DNS rebinding: a foreign name may resolve to this address."""
    async with playing() as client:
        async for status, body in ask_every_path(client, client.token(0), host=host):
            assert (status, cards_in(body)) == (403, set())
        assert (await client.ask("GET", "/", host=host))[0] == 403


ORIGINS = ("http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:1")
FOREIGN = [{"Origin": origin} for origin in ORIGINS]
FOREIGN += [{"Sec-Fetch-Site": site} for site in ("cross-site", "same-site")]


@pytest.mark.parametrize("headers", FOREIGN)
@in_loop
async def test_foreign_pages_are_refused_even_with_a_token(headers):
    async with playing() as client:
        before = client.table.version
        async for status, body in ask_every_path(client, client.token(0) | headers):
            assert status == 403
            assert json.loads(body) == {"error": "Origin: expected a request of this page"}
        assert client.table.version == before
        ours = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
        assert (await client.ask("GET", "/api/table", client.token(0) | ours))[0] == 200


@in_loop
async def test_a_seat_needs_its_token():
    async with playing() as client:
        token = client.server.seats.tokens[0]
        others = [None, "", token, "Bearer", "Bearer ", f"Bearer {token[:-1]}", f"Bearer {token}x"]
        others += [f"Basic {token}", "Bearer é", f"Bearer {token} {token}"]
        for other in others:
            headers = {"Content-Type": JSON}
            if other is not None:
                headers["Authorization"] = other
            async for status, body in ask_every_path(client, headers, body=b"{}"):
                assert (status, cards_in(body)) == (401, set())


def test_tokens_have_256_bits_and_are_new_for_every_server():
    one, two = Seats([0, 2]), Seats([0, 2])
    tokens = {*one.tokens.values(), *two.tokens.values()}
    assert len(tokens) == 4
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)
    assert one.seat_of(f"Bearer {one.tokens[2]}") == 2
    assert one.seat_of(f"bearer {one.tokens[0]}") == 0
    assert one.seat_of(f"Bearer {two.tokens[0]}") is None


ACT = b'{"version": %b, "action": %b}'
BODIES = [(body, JSON, 400) for body in (b"", b"{", b"[]", b"\xff", b"[" * 2000)]
BODIES += [(b'{"version": 1}', JSON, 400), (ACT % (b"1", b"5"), JSON, 400)]
BODIES += [(ACT % (version, b'"pass"'), JSON, 400) for version in (b'"1"', b"true", b"1e999")]
BODIES += [(b'{"version": 1, "action": "pass", "seat": 2}', JSON, 400)]
BODIES += [(ACT % (version, b'"pass"'), JSON, 409) for version in (b"-1", b"9" * 1500)]
BODIES += [(ACT % (b"1", b'"pass"'), "text/plain", 415)]
BODIES += [(ACT % (b"1", b'"pass"'), "application/x-www-form-urlencoded", 415)]
BODIES += [(b" " * (MOST_BYTES + 1), JSON, 413)]


@pytest.mark.parametrize(("body", "kind", "status"), BODIES, ids=short)
@in_loop
async def test_odd_bodies_are_refused_in_a_line(body, kind, status):
    async with playing() as client:
        game = client.table.session
        headers, before = client.token(game.seat) | {"Content-Type": kind}, game.record().to_dict()
        actual, _, answer = await client.ask("POST", "/api/act", headers, body)
        assert actual == status, answer
        assert "\n" not in json.loads(answer)["error"]
        assert game.record().to_dict() == before


@in_loop
async def test_too_many_requests_of_an_address_are_refused_for_a_while():
    now = [0.0]
    rate = Rate(most=3, seconds=2.0, clock=lambda: now[0])
    assert [rate.allows("a") for _ in range(5)] == [True, True, True, False, False]
    assert rate.allows("b")
    now[0] = 1.9
    assert not rate.allows("a")
    now[0] = 1000.0
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
    assert "b" not in rate._made
    async with playing(rate=Rate(most=2, seconds=1e6)) as client:
        statuses = [(await client.ask("GET", "/"))[0] for _ in range(4)]
        assert statuses == [200, 200, 429, 429]
        assert (await client.seat(0, "table"))[0] == 200  # each seat has its own count


def test_host_names_of_the_server():
    """Local names are allowed; on a network also IP addresses, which DNS cannot redirect."""
    here, network = Hosts("127.0.0.1"), Hosts("0.0.0.0")
    for name in ("localhost", "::1"):
        assert is_loopback(name)
    for name in ("0.0.0.0", "evil.example"):
        assert not is_loopback(name)
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


def test_a_port_in_use_and_a_foreign_host_are_refused():
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(OptionError, match=f"--port {port}: "):
            listening("127.0.0.1", port)
    for host, port in (("192.0.2.1", 0), ("no such host", 0), ("a" * 100, 1)):
        with pytest.raises(OptionError, match="--host"):
            listening(host, port).close()
    assert reachable("10.0.0.1") == "10.0.0.1"
    assert reachable("0.0.0.0")


def fuzzed(rng, client):
    """A random request (seat, method, path, headers, body, host), mostly invalid."""
    seat = rng.choice([0, 0, 2, 2, None])
    headers = {} if seat is None else client.token(seat)
    if seat is None and rng.random() < 0.8:
        headers["Authorization"] = f"Bearer {rng.choice(['', 'x', 'é' * 9])}"
    if rng.random() < 0.7:
        headers["Content-Type"] = rng.choice([JSON] * 4 + ["text/html", ";;", ""])
    for name in rng.sample(["Origin", "Sec-Fetch-Site", "Referer", "Accept", "Cookie", "Range"], 2):
        if rng.random() < 0.3:
            headers[name] = rng.choice([f"http://{HOST}", "null", "none", "x" * 99, "\x7f", ""])
    path = rng.choice(PATHS + CHANGES + ("/replay/x", "/../etc/passwd", "/api", "/%00", "//"))
    if rng.random() < 0.3:
        path += rng.choice(["?after=1", "?after=-1", "?after=x", "?after=" + "9" * 40, "/", "%ff"])
    method = rng.choice(["GET", "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"])
    if path.startswith(CHANGES) and rng.random() < 0.9:
        method = "POST"
    actions = [*client.table.session.legal(), "pass", "JH", "bid 99", "\x00", "é", "x" * 500]
    data = {"version": rng.choice([client.table.version] * 4 + [0, -1, 2**70, None, 1.5, "1", []])}
    if rng.random() < 0.5:
        data["action"] = rng.choice([*actions, 5, None, {}, ["pass"]])
    body = json.dumps(data).encode()
    if rng.random() < 0.3:
        body = body[: rng.randrange(len(body))] + rng.randbytes(rng.randrange(9))
    host = rng.choice([HOST] * 6 + ["evil.example", "", None, "[::1", f"localhost:{PORT}"])
    return seat, method, path, headers, body, host


@pytest.mark.slow
@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.long)])
@in_loop
async def test_fuzzed_requests_crash_nothing_and_leak_nothing(count):
    """No response is 5xx or has cards without a token, and the record of the game verifies."""
    rng, statuses = random.Random(count), set()
    client = Client(live(session("cincinnati_v0", (0, 2), seed=2)))
    client.table.start()
    for _ in range(count):
        await until_idle(client.table)
        seat, *request = fuzzed(rng, client)
        status, _, answer = await client.ask(*request)
        statuses.add(status)
        assert status < 500, (request, answer)
        if answer.startswith(b"<!doctype html>"):  # the page, the same for all
            assert "/api" not in request[1]
        elif seat is None:
            assert status >= 400 or request[0] == "HEAD", (request, answer)
            assert not cards_in(answer.decode())
        elif status == 200 and request[1].startswith("/api/"):
            state = json.loads(answer or b"{}")
            view = state.get("view", {})
            view["remark"] = None  # it says which card the left bower is
            hands = view.get("hands", [])
            assert all(isinstance(hand, int) for hand in hands[:seat] + hands[seat + 1 :])
            assert cards_in(json.dumps(state)) <= known_cards(client.table.session, seat)
        assert not any(t.encode() in answer for t in client.server.seats.tokens.values())
    client.table.session.record().verify()
    assert {200, 400, 401, 403, 404, 405, 409, 415} <= statuses
    await client.table.close()
