"""Connections: how many may be open, how long one may be silent, headers of every response."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web

LOG = logging.getLogger("bideuchre_env.web")
MOST = 256
MOST_OF_AN_ADDRESS = 64
IDLE = 60.0
"""Seconds after which a connection is closed that asks for nothing more."""
SECONDS = 10.0
"""How long a connection may take over the head of its first request."""
_HEAD_BYTES = 16_384  # what is longer is for the server to refuse
_LINGERS = 1.0  # seconds until a connection that is refused is closed: it reads why meanwhile
_FULL = b'{"error": "too many connections: close other pages of this game"}'
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "bideuchre",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of every response, refusals and errors included."""
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n%s\r\n%s"
) % (
    len(_FULL),
    b"".join(b"%s: %s\r\n" % (k.encode(), v.encode()) for k, v in HEADERS.items()),
    _FULL,
)


class Guests:
    """The connections that are open, by address; no more than so many, and of an address."""

    def __init__(self, most: int = MOST, of_an_address: int = MOST_OF_AN_ADDRESS) -> None:
        self._most, self._of_an_address = most, of_an_address
        self._open = Counter[str]()

    def __len__(self) -> int:
        return sum(self._open.values())

    def enter(self, address: str) -> bool:
        """Count a connection; not if there is no room for it."""
        if len(self) >= self._most or self._open[address] >= self._of_an_address:
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        """Count a connection that is closed no more."""
        self._open -= Counter([address])


class Connection(web.RequestHandler):  # type: ignore[misc]
    """HTTP connection of a client, which may close its own side before it has the response."""

    ended = False
    """Whether the client has closed its side."""
    on_eof: Callable[[], object] | None = None
    """Called when the client closes its side, to end the wait of the request in progress."""

    async def start(self) -> None:
        """Answer requests, then close the connection."""
        try:
            await super().start()
        finally:
            if self.transport is not None:
                self.transport.close()

    def eof_received(self) -> bool:
        """Keep the connection open until the request in progress is answered.

        The server cannot tell whether the client still reads. So a request that waits for a newer
        version is answered at once.
        """
        self.ended = True
        if self.on_eof is not None:
            self.on_eof()
        self.close()
        return True

    async def finish_response(self, request: Any, response: Any, *more: Any) -> Any:
        """Send a response, with `HEADERS`; also one to a request that is not HTTP."""
        response.headers.update(HEADERS)
        return await super().finish_response(request, response, *more)


class Door(asyncio.Protocol):
    """A connection: refused where there are too many, handed on with the head of a request."""

    def __init__(
        self, guests: Guests, connection: Callable[[], Connection], seconds: float
    ) -> None:
        self._guests, self._connection, self._seconds = guests, connection, seconds
        self._head, self._inside = b"", False
        self._handler: Any = None

    def connection_made(self, transport: Any) -> None:
        """Let it in, or say why not; nobody stays at the door for long."""
        self._transport = transport
        self._address = str((transport.get_extra_info("peername") or [""])[0])
        self._inside = self._guests.enter(self._address)
        seconds = self._seconds if self._inside else _LINGERS
        self._timer = asyncio.get_running_loop().call_later(seconds, transport.abort)
        if not self._inside:
            transport.write(_REFUSAL)

    def data_received(self, data: bytes) -> None:
        """Wait for the head of the first request; everything is the server's then."""
        if self._handler is not None:
            self._handler.data_received(data)
            return
        self._head += data
        whole = b"\r\n\r\n" in self._head
        if not self._inside:
            if whole or len(self._head) >= _HEAD_BYTES:
                self._transport.close()
        elif whole or len(self._head) >= _HEAD_BYTES:
            self._timer.cancel()
            self._handler = self._connection()
            self._handler.connection_made(self._transport)
            self._handler.data_received(self._head)
            self._head = b""

    def eof_received(self) -> bool:
        """Return whether the connection stays open: it does if a request has begun."""
        return self._handler is not None and bool(self._handler.eof_received())

    def connection_lost(self, error: BaseException | None) -> None:
        """Make room."""
        self._timer.cancel()
        if self._inside:
            self._guests.leave(self._address)
        if self._handler is not None:
            self._handler.connection_lost(error)

    def pause_writing(self) -> None:
        """The other side does not read."""
        if self._handler is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        """It reads again."""
        if self._handler is not None:
            self._handler.resume_writing()


class DoorSite(web.SockSite):  # type: ignore[misc]
    """A site whose connections come in by the door."""

    def __init__(
        self, runner: web.AppRunner, sock: socket.socket, guests: Guests, seconds: float = SECONDS
    ) -> None:
        super().__init__(runner, sock)
        self._guests, self._seconds = guests, seconds

    async def start(self) -> None:
        """Listen."""
        await web.BaseSite.start(self)
        loop = asyncio.get_running_loop()
        options = {"loop": loop, "access_log": None, "logger": LOG, "keepalive_timeout": IDLE}
        connection = partial(Connection, self._runner.server, **options)
        self._server = await loop.create_server(
            lambda: Door(self._guests, connection, self._seconds),
            sock=self._sock,
            backlog=self._backlog,
        )
