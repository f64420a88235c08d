"""Access control of the server: connection limits, timeouts, host names, rate limits.

It also sets the headers of every response.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

LOG = logging.getLogger("bideuchre_env.web")
MOST = 256
MOST_OF_AN_ADDRESS = 64
IDLE = 60.0
"""Seconds until an idle connection is closed."""
SECONDS = 10.0
"""Timeout in seconds for the header of the first request of a connection."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST_REQUESTS, WINDOW = 120, 4.0
"""Maximum number of requests of one address, within a window in seconds."""
_LINGERS = 1.0  # seconds until a rejected connection is closed, after sending the reason
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
"""Headers of every response, including rejections and errors."""


class ConnectionLimiter:
    """Counts the open connections by address; limits them in total and per address."""

    def __init__(self, most: int = MOST, of_an_address: int = MOST_OF_AN_ADDRESS) -> None:
        self._most, self._of_an_address = most, of_an_address
        self._open = Counter[str]()

    def __len__(self) -> int:
        return sum(self._open.values())

    def enter(self, address: str) -> bool:
        """Count a new connection and return True; return False at a limit."""
        if len(self) >= self._most or self._open[address] >= self._of_an_address:
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        """Stop counting a closed connection."""
        self._open -= Counter([address])


class Connection(web.RequestHandler):  # type: ignore[misc]
    """HTTP connection of a client, counted by a `ConnectionLimiter`.

    The client may close its own side before it has the response.
    """

    ended = False
    """Whether the client has closed its side."""
    on_eof: Callable[[], object] | None = None
    """Called when the client closes its side, to end the wait of the request in progress."""

    def __init__(
        self, server: web.Server, limiter: ConnectionLimiter, seconds: float = SECONDS
    ) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(
            server,
            loop=loop,
            access_log=None,
            logger=LOG,
            keepalive_timeout=IDLE,
            auto_decompress=False,  # no request of the page is compressed
        )
        self._limiter, self._seconds = limiter, seconds
        self.has_room = False

    def connection_made(self, transport: Any) -> None:
        """Count the connection, and close it if no request arrives in time."""
        super().connection_made(transport)
        self._address = str((transport.get_extra_info("peername") or [""])[0])
        self.has_room = self._limiter.enter(self._address)
        seconds = self._seconds if self.has_room else _LINGERS
        self._timer = asyncio.get_running_loop().call_later(seconds, transport.abort)

    def admit(self) -> bool:
        """Return whether the connection is within the limits; if so, cancel its timeout."""
        if self.has_room:
            self._timer.cancel()
        return self.has_room

    def connection_lost(self, error: BaseException | None) -> None:
        """Stop counting the connection."""
        self._timer.cancel()
        if self.has_room:
            self._limiter.leave(self._address)
        super().connection_lost(error)

    async def start(self) -> None:
        """Answer requests, then close the connection."""
        try:
            await super().start()
        finally:
            if self.transport is not None:
                self.transport.close()

    def eof_received(self) -> bool:
        """Keep the connection open until the request in progress is answered.

        The client may have left. So a request that waits for a newer version is answered at once.
        """
        self.ended = True
        if self.on_eof is not None:
            self.on_eof()
        self.close()
        return True

    async def finish_response(self, request: Any, response: Any, *more: Any) -> Any:
        """Send a response with `HEADERS`, also to a request that is not HTTP."""
        response.headers.update(HEADERS)
        return await super().finish_response(request, response, *more)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether a server on this host can be reached from this machine only."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


class Hosts:
    """Allowed host names of a server on `host`, as a protection against DNS rebinding.

    They are `host` and the loopback names. Unless `host` is a loopback address, they are also all
    IP addresses and the name of this machine.
    """

    def __init__(self, host: str) -> None:
        self.local = is_loopback(host)
        self.names = {*LOOPBACK, host.lower()}
        if not self.local:
            name = socket.gethostname().lower()
            self.names |= {name, f"{name}.local"}

    def allows(self, header: str | None, port: int) -> bool:
        """Whether a request's Host header has an allowed name and this port."""
        name, value = split_host(header or "")
        if value != port and not (value is None and port == 80):
            return False
        return name in self.names or (not self.local and _address(name) is not None)


def split_host(header: str) -> tuple[str, int | None]:
    """Return the name and port in a Host header; the name is "" if it is malformed."""
    try:
        parts = urlsplit(f"//{header}")
        whole = parts.netloc == header and parts.username is None
        return (parts.hostname or "", parts.port) if whole else ("", None)
    except ValueError:
        return "", None


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from a page of another site, by its Origin and Sec-Fetch-Site."""
    origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
    if origin is not None and origin.lower() != f"http://{headers.get('Host', '')}".lower():
        return True
    return site not in (None, "same-origin", "none")


class Rate:
    """Limit on the requests of each address: `most` in each window of `seconds`."""

    def __init__(
        self,
        most: int = MOST_REQUESTS,
        seconds: float = WINDOW,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most, self.seconds, self.clock = most, seconds, clock
        self._window, self._made = -1, Counter[str]()

    def allows(self, address: str) -> bool:
        """Count a request of an address; return whether it is within the limit."""
        window = int(self.clock() // self.seconds)
        if window != self._window:
            self._window, self._made = window, Counter()
        self._made[address] += 1
        return self._made[address] <= self.most
