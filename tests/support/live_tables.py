"""Live games for tests: requests in this process, or a server in a thread."""

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any
from unittest.mock import Mock

from aiohttp import StreamReader, web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict
from support.sessions import session_of

from bideuchre_env import make
from bideuchre_env.core.state import Phase
from bideuchre_env.envs.registration import Variant
from bideuchre_env.play.saved import assign_players
from bideuchre_env.play.session import Session
from bideuchre_env.records.record import hand_of
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.web.connections import ConnectionLimiter, Rate
from bideuchre_env.web.server import Server, listening
from bideuchre_env.web.table import LiveTable

SHORT: dict[str, dict[str, Any]] = {
    **{name: {"max_hands": 2} for name in ("cincinnati_v0", "club_v0", "barrie_v0")},
    **{name: {"max_hands": 2} for name in ("partners_best_v0", "pepper_v0")},
    **{name: {"max_hands": 1} for name in ("six_card_v0", "double_deck_v0", "indiana_v0")},
    "simplified_v0": {},
}
PORT = 8765
HOST = f"127.0.0.1:{PORT}"
RANKS = {"ace": "A", "king": "K", "queen": "Q", "jack": "J", "ten": "T", "nine": "9"}
_CODES = re.compile(r'(?<=")[9TJQKA][CDHS](?=")')
_WORDS = re.compile(r"(ace|king|queen|jack|ten|nine) of (clubs|diamonds|hearts|spades)")


def session(
    variant: str,
    people: tuple[int, ...] = (0,),
    seed: int = 1,
    opponents: Sequence[str] = ("rule", "cautious"),
    **more: Any,
) -> Session:
    """A short game: people in the seats `people`, a partner `rule` and the opponents elsewhere."""
    names = assign_players(people, "rule", list(opponents))
    return session_of(make(variant, **SHORT[variant]), people, names, seed=seed, **more)


def whole_game(**more: Any) -> Session:
    """A finished short game of Cincinnati: the person makes the first legal choice."""
    game = session("cincinnati_v0", seed=4, **more)
    while not game.over:
        game.advance()
        if game.hand_over:
            game.next_hand()
        elif game.waits_for_person:
            game.act(0, game.legal()[0])
    return game


def live(game: Session, **more: Any) -> LiveTable:
    """The live table of a game, without pauses and reviews; the next game has another seed."""

    def again(old: Session, agents: Sequence[str], game: Variant) -> Session:
        seed = (old.seed or 0) + 1
        return session_of(game, old.people, agents, seed=seed, seats=old.seats)

    return LiveTable(game, again, **{"pause": 0, "reviewed": False, "adviser": "rule", **more})


class Client:
    """Requests to a server without a network."""

    def __init__(self, table: LiveTable, **more: Any) -> None:
        self.table = table
        endless = Rate(most=10**9)
        self.server = Server(table, "127.0.0.1", PORT, **{"rate": endless, "waits": 0.0, **more})
        self.app = self.server.app()
        self.app.freeze()

    async def ask(self, method, path, headers=None, body=b"", host=HOST):
        """Send a request; return status, headers and body."""
        every = CIMultiDict({**({"Host": host} if host is not None else {}), **(headers or {})})
        payload = StreamReader(Mock(), 2**16, loop=asyncio.get_running_loop())
        payload.feed_data(body)
        payload.feed_eof()
        request = make_mocked_request(
            method,
            path,
            headers=every,
            payload=payload,
            app=self.app,
            client_max_size=2048,
            protocol=Mock(ended=False, peername="127.0.0.1"),
        )
        response = await self.app._handle(request)
        assert isinstance(response, web.Response)
        return response.status, CIMultiDict(response.headers), bytes(response.body or b"")

    def token(self, seat: int) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.server.seats.tokens[seat]}"}

    async def seat(self, seat, name, body=None):
        """Send a seat's request, GET without a body, else POST; return status and JSON."""
        headers = self.token(seat)
        if body is None:
            status, _, data = await self.ask("GET", f"/api/{name}", headers)
        else:
            headers["Content-Type"] = "application/json"
            status, _, data = await self.ask(
                "POST", f"/api/{name}", headers, json.dumps(body).encode()
            )
        return status, json.loads(data)


def known_cards(game: Session, seat: int) -> set[str]:
    """The cards that a seat knows: those dealt to it, all played, and passed ones as declarer.

    After the hand it knows all cards that were dealt.
    """
    row, hand = game.row, hand_of(game.row, game.rules)
    if row["phase"] >= Phase.DEAL:
        return {name for cards in hand["deal"] for name in cards}
    cards = set(hand["deal"][seat]) | {CARD_NAMES[kind] for kind in row["plays"] if kind >= 0}
    if seat == hand["declarer"] and row["phase"] >= Phase.PLAY:
        cards |= {CARD_NAMES[kind] for kind in row["passed"] if kind >= 0}
    return cards


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Decorator: run an asynchronous test in a new event loop."""

    @wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))  # type: ignore[arg-type]

    return run


async def until_idle(table: LiveTable) -> None:
    """Wait until a person is to act, the hand's replay is published, or an agent has failed."""
    people = table.session.people
    while True:
        state = table.state(people[0])  # the session may be ahead of the displayed state
        turn = state["view"]["turn"]
        done = state["replay"] if turn is None else table.session.asks(table._row)
        if done or state["fault"]:
            return
        await asyncio.sleep(0.001)


async def play_to_the_end(client: Client, whole_game: bool) -> dict[str, int]:
    """Play to the end of the hand or of the game; return {"version": that of the state}."""
    table = client.table
    while True:
        await until_idle(table)
        state = table.state(0)
        version = {"version": state["version"]}
        if state["over"] or (state["next"] and not whole_game):
            return version
        if state["next"]:
            for seat in table.session.people:
                assert (await client.seat(seat, "next", version))[0] == 200
        else:
            action = {**version, "action": table.session.legal()[0]}
            assert (await client.seat(table.session.seat, "act", action))[0] == 200


def cards_in(text: str) -> set[str]:
    """Every card that a text names, as a code or in words."""
    words = {RANKS[rank] + suit[0].upper() for rank, suit in _WORDS.findall(text)}
    return set(_CODES.findall(text)) | words


servers: list[Server] = []
"""All servers that `served` has started."""


@contextmanager
def served(table_of: Callable[[], LiveTable], limiter: ConnectionLimiter | None = None) -> Any:
    """Context manager: start a server in a thread; yield the live table and the seats' links."""
    listener = listening("127.0.0.1", 0)
    ready, got = threading.Event(), dict[str, Any]()

    async def serve() -> None:
        table = table_of()
        server = Server(table, "127.0.0.1", listener.getsockname()[1])
        async with server.serving(listener, limiter):
            servers.append(server)
            table.start()
            stop, loop = asyncio.Event(), asyncio.get_running_loop()
            got.update(table=table, links=server.links("127.0.0.1"))
            got["stop"] = lambda: loop.call_soon_threadsafe(stop.set)
            ready.set()
            await stop.wait()
            await table.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        yield got["table"], got["links"]
    finally:
        got["stop"]()
        thread.join()


class Relay:
    """A network to a local port. It can be lost without notice, as by sleep or a change of network.

    Then it delivers nothing, but no connection is closed; connections made before stay lost.
    """

    def __init__(self, port: int) -> None:
        self._target, self._listener = port, socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._age, self.lost = 0, False
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self, lost: bool) -> None:
        """Lose all present connections and, if `lost`, also those made later."""
        self._age, self.lost = self._age + 1, lost

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                age = -1 if self.lost else self._age
                self._sockets += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._deliver, args=(*pair, age), daemon=True).start()

    def _deliver(self, source: socket.socket, target: socket.socket, age: int) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if age == self._age:
                    target.sendall(data)
            if age == self._age:
                target.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close all connections."""
        for each in (self._listener, *self._sockets):
            each.close()


AGENTS = ("--partner", "rule", "--opponents", "rule", "--adviser", "rule", "--pause", "0")


def start(folder, *arguments):
    """Start the command; return the process, the links by seat, and the output so far."""
    command = [sys.executable, "-m", "bideuchre_env", "play", "--web", "--port", "0", *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, cwd=folder, **streams)
    lines = []
    while not lines or not lines[-1].startswith("Open the link"):
        lines.append(process.stdout.readline())
        assert lines[-1], lines
    links = dict(re.findall(r"^Seat (\d): (\S+)$", "".join(lines), re.M))
    return process, {int(seat): link for seat, link in links.items()}, "".join(lines)
