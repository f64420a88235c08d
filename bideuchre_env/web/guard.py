"""Who may talk to the server: the names it goes by, the pages it answers, how often, which seat."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from hmac import compare_digest
from ipaddress import ip_address

LOOPBACK = ("localhost", "127.0.0.1", "::1")
PER_SECOND, BURST = 30.0, 120.0
"""Requests of one address, and how many more at once."""
_MOST_ADDRESSES = 10_000


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on a host."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Hosts:
    """The names that a server on `host` may be called by.

    On this machine alone they are those of the machine itself. Else they are IP addresses, which no
    name server can give to a foreign page (DNS rebinding), this machine's name and the host given.
    """

    def __init__(self, host: str) -> None:
        self.local = is_loopback(host)
        self.names = {*LOOPBACK, host.lower()}
        if not self.local:
            name = socket.gethostname().lower()
            self.names |= {name, f"{name}.local"}

    def allows(self, header: str | None, port: int) -> bool:
        """Whether a request's Host header is this server."""
        name, given = split_host(header or "")
        if given != port and not (given is None and port == 80):
            return False
        return name in self.names or (not self.local and _is_address(name))


def split_host(header: str) -> tuple[str, int | None]:
    """A Host header as name and port; "" for what is none."""
    name, colon, port = header.lower().rpartition(":")
    if not colon or header.endswith("]"):
        name, port = header.lower(), ""
    elif not (port.isascii() and port.isdigit() and len(port) <= 5):
        return "", None
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return name, int(port) if port else None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from another site's page, by what the browser says of it."""
    origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
    if origin is not None and origin.lower() != f"http://{headers.get('Host', '')}".lower():
        return True
    return site not in (None, "same-origin", "none")


class Seats:
    """The tokens of the seats at which people sit, drawn when it is made: 256 bits each."""

    def __init__(self, people: Sequence[int]) -> None:
        self.tokens = {seat: secrets.token_urlsafe(32) for seat in people}

    def seat_of(self, header: str | None) -> int | None:
        """The seat of an Authorization header, "Bearer TOKEN"; None of none.

        Every token is compared, each in the same time.
        """
        scheme, _, given = (header or "").partition(" ")
        found = None
        for seat, token in self.tokens.items():
            if compare_digest(token.encode(), given.encode("utf-8", "replace")):
                found = seat
        return found if scheme.lower() == "bearer" else None


class Rate:
    """How many requests each address has left: `burst` at once, `per_second` over time."""

    def __init__(
        self,
        per_second: float = PER_SECOND,
        burst: float = BURST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.per_second, self.burst, self.clock = per_second, burst, clock
        self._left: dict[str, tuple[float, float]] = {}  # by address: requests left, and when

    def allows(self, address: str) -> bool:
        """Whether an address may make one more request now; counts it."""
        now = self.clock()
        left, since = self._left.pop(address, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.per_second)
        self._left[address] = max(0.0, left - 1.0), now
        if len(self._left) > _MOST_ADDRESSES:  # forget whoever has been quiet for longest
            del self._left[next(iter(self._left))]
        return left >= 1.0
