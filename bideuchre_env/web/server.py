"""The server of a live game: routes, and access by seat; only the page itself is public.

A seat's link has its token behind `#`, which browsers do not send. The page sends the token with
each request in an Authorization header. So no request URL contains it, and pages of other sites
cannot use it. There are no cookies.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache, partial
from hmac import compare_digest
from importlib import resources
from typing import Any

import segno
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bideuchre_env._checks import brief, is_number, is_whole, printable
from bideuchre_env._files import reason
from bideuchre_env.envs.registration import Variant, variants
from bideuchre_env.errors import BidEuchreError, OptionError, OutputError
from bideuchre_env.play.seats import Seats
from bideuchre_env.play.session import Session
from bideuchre_env.records.page.page import asset, document, table_script
from bideuchre_env.records.page.view import game_view
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.web.connections import (
    LOG,
    Connection,
    ConnectionLimiter,
    Hosts,
    Rate,
    is_foreign,
    is_loopback,
)
from bideuchre_env.web.table import LiveTable, StaleError, State, game_id

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
CHANGES = {
    "act": "act",
    "claim": "claim",
    "undo": "undo",
    "next": "next_hand",
    "hint": "hint",
    "new": "new_game",
    "name": "join",
    "pause": "set_pause",
    "begin": "begin_game",
}
"""The method of `LiveTable` that a POST request calls, by the last part of its path."""
FIELDS = {
    "act": {"version", "action"},
    "name": {"name"},
    "pause": {"pause"},
    "begin": {"version", "variant", "level"},
    "join": {"name", "seat", "token"},
}
"""Fields of the POST requests that do not have `version` alone."""
KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "version": (is_whole, "a whole number"),
    "seat": (is_whole, "a whole number"),
    "pause": (is_number, "a number"),
}
"""Check and description of the fields of POST requests that are not texts."""
MOST_BYTES = 2048
"""Maximum size of the body of a request."""
WAITS = 10.0
"""Seconds that a request waits for a newer version."""
MOST_WAITING = 8
"""Maximum number of such requests of one seat at a time."""
BODY_SECONDS = 10.0
POLL_SECONDS = 0.1
CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters of the short address, without those that look alike."""


def _is_ours(entry: logging.LogRecord) -> bool:
    """Whether a log entry is about the server, not about malformed HTTP."""
    error = entry.exc_info[1] if entry.exc_info else None
    return not isinstance(error, HttpProcessingError)


LOG.addFilter(_is_ours)


class Server:
    """Answers requests about one live table, on `host` and `port`."""

    def __init__(
        self, table: LiveTable, host: str, port: int, rate: Rate | None = None, waits: float = WAITS
    ) -> None:
        self.table = table
        self.hosts, self.port, self._rate = Hosts(host), port, rate or Rate()
        self._waits = waits
        self.code = "".join(secrets.choice(CODE_LETTERS) for _ in range(8))
        """Code of the short address, for the seats that are free."""
        self._changes: set[asyncio.Task[State | None]] = set()

    @property
    def seats(self) -> Seats:
        """The seats of the present game, with their tokens."""
        return self.table.session.seats

    def app(self) -> web.Application:
        """Return the application with all its routes."""

        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guarded(request, handler)

        guards = [web.middleware(guarded)]
        app = web.Application(middlewares=guards, client_max_size=MOST_BYTES)
        app.router.add_get("/", self._page)
        app.router.add_get("/replay/{key}", self._replay)
        app.router.add_get("/api/table", self._table)
        app.router.add_get("/api/seats", self._free_seats)
        app.router.add_post("/api/join", self._join)
        for name in CHANGES:
            app.router.add_post(f"/api/{name}", partial(self._change, name))
        return app

    @asynccontextmanager
    async def serving(
        self, listener: socket.socket, limiter: ConnectionLimiter | None = None
    ) -> AsyncIterator[None]:
        """Context manager in which requests at a listening socket are answered.

        `limiter` None sets the usual limits of connections. A GET request is cancelled when its
        client leaves; `_complete` completes a change that has begun.
        """
        runner = web.AppRunner(self.app(), shutdown_timeout=1.0, handler_cancellation=True)
        await runner.setup()
        connection = partial(
            Connection, runner.server, ConnectionLimiter() if limiter is None else limiter
        )
        site = await asyncio.get_running_loop().create_server(connection, sock=listener)
        try:
            yield
        finally:
            site.close()
            await runner.cleanup()

    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Return the response to a request: limit connections, and turn errors into responses.

        `_answer` checks the host, the origin and the rate of requests before it calls `handler`.
        """
        if not request.protocol.admit():
            response = _error(503, "too many connections: close other pages of this game")
            response.headers["Retry-After"] = "5"
            response.force_close()
            return response
        request.protocol.on_eof = request.content.feed_eof
        if request.protocol.ended:
            request.content.feed_eof()
        try:
            response = await self._answer(request, handler)
        except StaleError as error:
            response = _error(409, str(error))
        except OutputError as error:
            response = _error(507, str(error))
        except BidEuchreError as error:
            response = _error(400, str(error))
        except web.HTTPException as error:
            response = _error(error.status, error.reason)
            if "Allow" in error.headers:
                response.headers["Allow"] = error.headers["Allow"]
        return response

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.table.closing:
            return _error(503, "the server is shutting down; the game is saved")
        if not self.hosts.allows(request.headers.get("Host"), self.port):
            return _error(403, "Host: expected the address of the link that the server has printed")
        # the page itself has no information, so any site may link to it
        if request.path.startswith("/api/") and is_foreign(request.headers):
            return _error(403, "Origin: expected a request of this page")
        # the rate limit of a seat does not depend on others at its address
        seat = self.seats.seat_of(request.headers.get("Authorization"))
        if not self._rate.allows((request.remote or "") if seat is None else f"seat {seat}"):
            return _error(429, "too many requests: wait a few seconds")
        return await handler(request)

    async def _page(self, request: web.Request) -> web.Response:
        return web.Response(text=game_page(self.table.session.rules), content_type="text/html")

    async def _replay(self, request: web.Request) -> web.Response:
        page = self.table.replays.get(request.match_info["key"])
        if page is None:
            return _error(404, "no such replay: only that of the last game is available")
        return web.Response(text=page, content_type="text/html")

    async def _table(self, request: web.Request) -> web.Response:
        """Answer with a seat's view; with ?after=VERSION, wait up to 10 s for a newer version."""
        seat, presence = self._seat(request), self.table.presence
        after = request.query.get("after", "0")
        if not (after.isascii() and after.isdigit() and len(after) <= 12):
            return _error(400, "after: expected a version")
        if int(after) == self.table.version and presence.polls[seat] >= MOST_WAITING:
            return _error(429, "too many open pages of this seat: close some")
        with presence.polling(seat):
            waits = 0.0 if request.protocol.ended else self._waits
            later = asyncio.ensure_future(self.table.later(int(after), waits))
            request.protocol.on_eof = later.cancel
            try:
                await asyncio.wait({later})
            finally:
                later.cancel()
        return web.json_response(self.table.state(self._seat(request)))  # its link may have ended

    async def _change(self, name: str, request: web.Request) -> web.Response:
        """Carry out a command of a seat; answer with its result, or else the seat's new state."""
        seat, fields = self._seat(request), await self._fields(request, name)
        return await self._complete(seat, getattr(self.table, CHANGES[name])(seat, **fields))

    async def _complete(self, seat: int, change: Coroutine[Any, Any, State | None]) -> web.Response:
        """Complete a change, even if the client leaves.

        Answer with its result, or else the new state of a seat.
        """
        task = asyncio.create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._finished)
        await asyncio.wait({task})  # `wait` does not cancel it
        return web.json_response(task.result() or self.table.state(seat))

    def _check_code(self, request: web.Request) -> None:
        """Respond with 401 unless a request has the code of the table in place of a token."""
        value = request.headers.get("Authorization", "").encode("utf-8", "replace")
        if not compare_digest(value, f"Bearer {self.code}".encode()):
            raise web.HTTPUnauthorized(reason="expected the address that the host's page shows")

    async def _free_seats(self, request: web.Request) -> web.Response:
        """Answer with the names at the four seats, None for a free seat."""
        self._check_code(request)
        return web.json_response({"seats": self.table.taken()})

    async def _join(self, request: web.Request) -> web.Response:
        """Give a free seat to a guest with the code; answer with the seat's state.

        The guest chooses the seat's new token, so the request may be repeated after a lost answer.
        """
        self._check_code(request)
        fields = await self._fields(request, "join")
        return await self._complete(fields["seat"], self.table.join(**fields))

    def _finished(self, task: asyncio.Task[State | None]) -> None:
        """Remove a finished change, without a log entry if it failed: the client has the error."""
        self._changes.discard(task)
        if not task.cancelled():
            task.exception()

    def _seat(self, request: web.Request) -> int:
        """Return the seat of a request's token; respond with 401 if it has none."""
        seat = self.seats.seat_of(request.headers.get("Authorization"))
        if seat is None:
            raise web.HTTPUnauthorized(reason="expected the link of a seat")
        return seat

    async def _fields(self, request: web.Request, name: str) -> dict[str, Any]:
        """Return the JSON object of a POST request, for the command `name`.

        The object has `FIELDS`, of `KINDS`; for "new" it may have `agents`, which
        `LiveTable.new_game` checks. Raises `OptionError` for another body, and an `HTTPException`
        for another content type or an incomplete body.
        """
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(reason="Content-Type: expected application/json")
        if "Content-Encoding" in request.headers:
            raise web.HTTPUnsupportedMediaType(reason="Content-Encoding: expected none")
        try:
            body = await asyncio.wait_for(request.read(), BODY_SECONDS)
        except (asyncio.TimeoutError, ConnectionError):
            raise web.HTTPRequestTimeout(reason="the body of the request is incomplete") from None
        try:
            data = json.loads(body.decode("utf-8"))
        except (ValueError, RecursionError):
            raise OptionError("body: expected JSON") from None
        expected = FIELDS.get(name, {"version"})
        optional = {"agents"} if name == "new" else set[str]()
        if not isinstance(data, dict) or set(data) - optional != expected:
            raise OptionError(f"body: expected an object with {', '.join(sorted(expected))}")
        for field in expected:
            is_sound, kind = KINDS.get(field, (lambda value: isinstance(value, str), "text"))
            if not is_sound(data[field]):
                raise OptionError(f"{field}={brief(data[field])}: expected {kind}")
        return data

    def links(self, host: str) -> dict[int, str]:
        """Return the links of people by seat, for a host name or address."""
        address = self._address(host)
        return {seat: f"{address}/#seat={token}" for seat, token in self.seats.tokens.items()}

    def invite(self, host: str) -> str:
        """Show the short address of the table on the host's page, and return it."""
        address = f"{self._address(host)}/#{self.code}"
        self.table.invitation = {"address": address, "code": qr_rows(address)}
        return address

    def _address(self, host: str) -> str:
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def _error(status: int, words: str) -> web.Response:
    return web.json_response({"error": printable(words)}, status=status)


@lru_cache(maxsize=4)
def game_page(rules: Rules) -> str:
    """Return the page for all seats; it has the rules, but no data of a game in progress."""
    assets = resources.files(__package__) / "assets"
    html, motion, script, style = (
        (assets / name).read_text(encoding="utf-8")
        for name in ("live.html", "motion.js", "live.js", "live.css")
    )
    return document(
        "Bid Euchre",
        {"game": game_view(rules) | {"id": game_id(rules), "variants": list(variants)}},
        body=html,
        script=table_script() + motion + script,
        style=asset("table.css") + style,
        connect=True,
    )


def invitation_text(address: str, local: bool) -> str:
    """Return the short address for guests as text, with its QR code unless it is a `local` one."""
    if local:
        return f"Guests: {address}, on this machine only; --host 0.0.0.0 lets phones in."
    code = io.StringIO()
    segno.make(address, micro=False).terminal(code, compact=True)
    return f"{code.getvalue()}Guests: {address}, or the code above."


def qr_rows(text: str) -> list[str]:
    """Return the QR code of a text as rows of "0" and "1"."""
    return ["".join(map(str, row)) for row in segno.make(text, micro=False).matrix]


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a host and port (0: any free); `OptionError` if it fails."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise OptionError(f"--host {host} --port {port}: {why}") from None


def reachable(host: str) -> str:
    """Return the address at which others reach the server: `host`, unless it is a wildcard.

    For "0.0.0.0" and "::" it is this machine's own address, or its name if that is unknown.
    """
    if host not in ("0.0.0.0", "::"):
        return host
    family = socket.AF_INET if host == "0.0.0.0" else socket.AF_INET6
    outside = (
        "192.0.2.1" if host == "0.0.0.0" else "2001:db8::1"
    )  # reserved for documentation; nothing is sent
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((outside, 9))
        return str(probe.getsockname()[0])
    return socket.gethostname()


def run_server(
    session: Session,
    again: Callable[[Session, Sequence[str], Variant], Session],
    host: str,
    listener: socket.socket,
    announce: Callable[[dict[int, str], str | None], None],
    *,
    pause: float,
    adviser: str,
    reviewed: bool,
) -> Session:
    """Serve a game until Ctrl-C or SIGTERM; return the last session, closed.

    `announce` is called when the server is ready, with the link of each seat and, for several
    people, the text of `invitation_text`; the other arguments are those of `LiveTable`.
    """

    async def serve(pressed: threading.Event) -> Session:
        table = LiveTable(session, again, pause=pause, adviser=adviser, reviewed=reviewed)
        server = Server(table, host, listener.getsockname()[1])
        async with server.serving(listener):
            try:
                table.start()
                here = listener.getsockname()[0] if is_loopback(host) else reachable(host)
                guests = None
                if len(session.people) > 1:
                    guests = invitation_text(server.invite(here), is_loopback(host))
                announce(server.links(here), guests)
                while not pressed.is_set():
                    await asyncio.sleep(POLL_SECONDS)
            finally:
                await table.close()
        return table.session

    with ctrl_c() as pressed:
        return asyncio.run(serve(pressed))
