"""`LiveTable`: a session played in browsers, the views of its seats, and updates of their pages."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar
from zlib import crc32

from bideuchre_env._checks import brief
from bideuchre_env.agents.registry import names
from bideuchre_env.analysis import Review, review
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.envs.registration import Variant, variants
from bideuchre_env.errors import (
    AgentError,
    BidEuchreError,
    IllegalActionError,
    OptionError,
    OutputError,
)
from bideuchre_env.evaluation.kernel_parts import agent_parts, compile_notice
from bideuchre_env.play.levels import LEVELS, PERSON
from bideuchre_env.play.lines import addressed
from bideuchre_env.play.session import Session
from bideuchre_env.records.look import Look
from bideuchre_env.records.page.page import plain, replay_page
from bideuchre_env.records.page.view import game_view, table_view
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.web.connections import LOG
from bideuchre_env.web.presence import GRACE, PATIENCE, Presence, ReadySeats

T = TypeVar("T")
State = dict[str, Any]
AGAIN = 5.0  # seconds until a retry of a move that could not be saved
MOST_PAUSE = 60.0  # seconds
TRICK_PAUSES = 2.5  # length of the pause after a complete trick, in pauses


class StaleError(IllegalActionError):
    """A request about an outdated version of the game."""


class LiveTable:
    """A session that people play in several browsers; it runs in one event loop.

    Before each move of an agent there is a pause of `pause` seconds. `version` counts the published
    states: a client that has the last one waits for the next, and a command for an outdated one
    raises `StaleError`. `again(old, agents, game)` returns the session of the next game; `agents`
    are four names by seat, `game` its variant.
    The session works in a single worker thread, so that the server can answer meanwhile. After a
    hand or a game, `ReadySeats` decides when the table continues. After each hand the replay of the
    game so far is available, and with `reviewed` a review by the `adviser`: of the hand, and at the
    end of the whole game.
    """

    def __init__(
        self,
        session: Session,
        again: Callable[[Session, Sequence[str], Variant], Session],
        *,
        pause: float = 0.6,
        adviser: str = "inference",
        reviewed: bool = True,
        patience: float = PATIENCE,
        grace: float = GRACE,
    ) -> None:
        self.session, self.version, self._since = session, 0, 0
        self._ready = ReadySeats(session.people, patience)
        self.presence = Presence(self._notice_presence, grace)
        self._again, self._pause, self._adviser, self._reviewed = again, pause, adviser, reviewed
        self._lock, self._wake, self._changed = asyncio.Lock(), asyncio.Event(), asyncio.Event()
        self._row: Any = None
        self._fault: str | None
        self._record: GameRecord | None = None
        self._replay: str | None = None
        self._review: Review | str | None = None
        self._agents: Sequence[str]
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._tasks: set[asyncio.Task[None]] = set()
        self.closing = False
        self.invitation: State | None = None
        """The short `address` of the table, and its QR `code`, rows of "0" and "1"."""
        self.replays: dict[str, str] = {}
        """The page of the game up to the last finished hand, by a random key."""
        self._begin()

    def start(self) -> None:
        """Start the play of the agents."""
        self._spawn(self._drive())
        self._wake.set()

    async def close(self) -> None:
        """Answer waiting requests, stop agents and review, and close the session."""
        self.closing = True
        self._show()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._work(self.session.close)  # after the running task
        self._worker.shutdown()

    def state(self, seat: int) -> State:
        """Return the state of a seat's page, as JSON values.

        `version`, and `since`, the first version with the same position: commands for it are
        accepted; `view` (see `table_view`); `presence` of the people by seat: "free" before they
        have joined, "here" or "away", None for an agent; `next`: the next hand may be requested;
        `over`: a new game may be requested; `asked`: this seat is ready; `waits`: the seats that
        are not ready, as text, and `patience`, the seconds until the game may continue without
        them, both None unless a seat is ready; `undo`, `hint`, `claim` (of all remaining tricks):
        whether these are allowed; `fault`: the error of an agent, or None; `notice`: the time to
        compile agents of the next game, or ""; `replay`: the path of the replay, `review`: a
        sentence on this seat, `sheet`: the result of each hand, and `hands`: the four hands as
        dealt, all None before the end of a hand; `agents`: those of the seats; `levels`: the agent
        and the words of each level; `game`: see `game_id`. For the host, None for other seats:
        `host`: the pause of agents and `invitation`; `choices`: the agents for each seat in the
        next game (none for a person), None before the end of the game.
        """
        session = self.session
        names = ["you" if who == seat else name for who, name in enumerate(session.names)]
        view = table_view(self._row, session.rules, seat, names)
        if not session.asks(self._row):
            view["legal"] = []
        mine, over = bool(view["legal"]), bool(self._row["phase"] == Phase.OVER)
        return {
            "version": self.version,
            "since": self._since,
            "view": view,
            "presence": [self._presence(who) for who in range(N_SEATS)],
            "next": bool(self._row["phase"] == Phase.DEAL),
            "undo": self._can_undo,
            "hint": mine,
            "claim": mine and self._can_claim,
            "over": over,
            "asked": seat in self._ready.ready_at,
            "waits": self._waits(seat),
            "patience": self._ready.seconds_left,
            "fault": self._fault,
            "notice": self._notice,
            "replay": self._replay,
            "review": self._review_of(seat),
            "sheet": self._sheet(seat & 1) if self._record else None,
            "hands": self._open_hands() if self._record else None,
            "game": game_id(session.rules),
            "host": self._for_host() if seat == self.host else None,
            "agents": session.agents,
            "choices": self._choices() if over and seat == self.host else None,
            "levels": {name: list(level) for name, level in LEVELS.items()},
        }

    def _presence(self, seat: int) -> str | None:
        if seat not in self.session.people:
            return None
        if seat not in self.session.seats.names:
            return "free"
        return "here" if seat in self.presence.here else "away"

    def taken(self) -> list[str | None]:
        """Return the names at the four seats; None for a seat that a guest may take."""
        return [None if self._is_free(s) else name for s, name in enumerate(self.session.names)]

    def _is_free(self, seat: int) -> bool:
        """Whether a guest may take a seat: not the host's, nor that of an open page."""
        is_open = seat == self.host or seat in self.presence.here
        return self._presence(seat) == "free" and not is_open

    def _for_host(self) -> State:
        invitation = self.invitation if None in self.taken() else None
        return {"pause": self._pause, "invitation": invitation}

    def _notice_presence(self, seat: int) -> None:
        """Update the pages when a person comes or leaves, except the host before joining."""
        if seat in self.session.seats.names or seat != self.host:
            self._publish()

    def _review_of(self, seat: int) -> str | None:
        """Return the review of a seat's decisions in a sentence; None before the review."""
        if not isinstance(self._review, Review):
            return self._review
        return str(self._review.players[seat]).partition(": ")[2]

    def _sheet(self, side: int) -> list[State]:
        """Return the contract and the result of each hand; pairs of numbers begin with `side`."""
        assert self._record is not None
        return [
            {name: hand[name] for name in ("contract", "declarer")}
            | {name: hand[name][:: 1 - 2 * side] for name in ("tricks", "points", "score")}
            for hand in self._record.hands
        ]

    def _open_hands(self) -> list[list[str]]:
        """Return the hands dealt in the last hand, which must be over, by seat."""
        assert self._record is not None
        look = Look(self._row, self.session.rules, None)
        return [look.fanned(cards) for cards in self._record.hands[-1]["deal"]]

    def _choices(self) -> list[list[str]]:
        """Return the agents that may play at each seat in the next game; [] for a person."""
        session = self.session
        return [
            []
            if seat in session.people
            else list(dict.fromkeys((name, *names(), *(level.agent for level in LEVELS.values()))))
            for seat, name in enumerate(session.agents)
        ]

    def _waits(self, viewer: int) -> str | None:
        """Return a sentence with the seats that are not ready; None if none or all are ready."""
        if self._ready.seconds_left is None or not self._ready.missing:
            return None
        look, names = Look(self._row, self.session.rules, viewer), self.session.seats.names
        missing = sorted(self._ready.missing, key=lambda seat: (seat - viewer) % N_SEATS)
        words = [names.get(s, look.who(s)) if s != viewer else "you" for s in missing]
        return f"Waiting for {' and '.join(words)}."

    async def later(self, version: int, seconds: float) -> None:
        """Wait until a newer version than `version` is published, at most `seconds`.

        Return at once if `version` is not the current one.
        """
        if version == self.version and not self.closing:
            try:
                await asyncio.wait_for(self._changed.wait(), seconds)
            except asyncio.TimeoutError:
                return

    async def act(self, seat: int, version: int, action: str) -> None:
        """Apply a person's action; `IllegalActionError` if illegal or not this seat's turn."""
        await self._change(version, lambda session: session.act(seat, action))

    async def undo(self, seat: int, version: int) -> None:
        """Undo the person's last action and all later moves; errors as `Session.undo`."""
        await self._change(version, lambda session: session.undo())

    async def claim(self, seat: int, version: int) -> None:
        """Play out the hand for a seat that is certain to take every trick left.

        Raises `IllegalActionError` for any other seat.
        """
        await self._change(version, lambda session: session.claim(seat))

    async def join(self, seat: int, name: str, token: str | None = None) -> None:
        """Set the name of the person of a seat; errors as `Session.join`.

        A `token` is that of a guest, and replaces the seat's. With it, raise `OptionError` unless
        the seat is free or has this token already.
        """
        async with self._lock:
            has_token = self.session.seats.seat_of(f"Bearer {token}") == seat
            if token is not None and not (has_token or self._is_free(seat)):
                raise OptionError(f"seat={brief(seat)}: expected a free seat")
            if token is None and self.session.seats.names.get(seat) == name:
                return
            await self._work(lambda: self.session.join(seat, name, token))
            self._publish()

    @property
    def host(self) -> int:
        """The seat of the host, the first person: it may begin other games and set the speed."""
        return self.session.people[0]

    def _check_host(self, seat: int) -> None:
        if seat != self.host:
            raise OptionError(f"seat={seat}: expected the host, seat {self.host}")

    async def set_pause(self, seat: int, pause: float) -> None:
        """Set the pause before a move of an agent, in seconds, for the host.

        Raises `OptionError` for another seat, and unless it is from 0 to `MOST_PAUSE`.
        """
        self._check_host(seat)
        if not 0 <= pause <= MOST_PAUSE:
            raise OptionError(f"pause={pause}: expected 0 to {MOST_PAUSE:g} seconds")
        self._pause = pause
        self._publish()

    async def begin_game(self, seat: int, version: int, variant: str, level: str) -> None:
        """Begin a new game of a variant with agents of a level, for the host, at any time.

        "" leaves the rules, or the agents, as they are. The old game stays in its file. Raises
        `OptionError` for another seat, variant or level.
        """
        for name, value, allowed in (("variant", variant, variants), ("level", level, LEVELS)):
            if value and value not in allowed:
                raise OptionError(f"{name}={brief(value)}: expected {', '.join(allowed)}")
        async with self._lock:
            self._check_host(seat)
            self._check(version)
            agent = LEVELS[level].agent if level else None
            await self._replace(
                [agent or name for name in self.session.agents], variants.get(variant)
            )

    async def next_hand(self, seat: int, version: int) -> None:
        """Mark a seat as ready; deal the next hand if `ReadySeats` allows it."""
        async with self._lock:
            self._check(version)
            if not self.session.hand_over or self._ready.add(seat):
                await self._work(self.session.next_hand)
                self._fault = None
            self._show()
        self._wake.set()

    async def hint(self, seat: int, version: int) -> State:
        """Return advice for `seat` as JSON values; `IllegalActionError` unless it is to act.

        `choice` is an action, `phase` the kind of decision (`Advice.phase`), `why` and `headline`
        are texts; `heads` and `rows` are a table of the options, best first.
        """
        async with self._lock:
            self._check(version)
            if self.session.seat != seat:
                raise IllegalActionError("a hint is available only on your turn")
            advice = await self._work(lambda: self.session.advice(self._adviser))
        heads, *rows = advice.table()
        return {
            "choice": advice.choice.name,
            "phase": advice.phase,
            "why": advice.why,
            "headline": addressed(advice.headline, seat),
            "heads": ["option", *heads[1:]],
            "rows": rows,
        }

    async def new_game(self, seat: int, version: int, agents: Any = None) -> None:
        """Mark a seat as ready; begin a new game if `ReadySeats` allows it.

        `agents` are four names by seat, from the host; by default the agents stay. Names at
        people's seats are ignored. Raises `IllegalActionError` unless the game is over, and
        `OptionError` for agents from another seat, or not among the `choices` of `state`.
        """
        async with self._lock:
            self._check(version)
            if not self.session.over:
                raise IllegalActionError("a new game begins when this one is over")
            if agents is not None:
                self._check_host(seat)
                choices = self._choices()
                if not isinstance(agents, list) or len(agents) != len(choices):
                    raise OptionError(f"agents={brief(agents)}: expected four names")
                for name, allowed in zip(agents, choices, strict=True):
                    if allowed and name not in allowed:
                        raise OptionError(f"agent={brief(name)}: expected {', '.join(allowed)}")
                chosen = zip(agents, choices, strict=True)
                self._agents = [name if allowed else PERSON for name, allowed in chosen]
            if not self._ready.add(seat):
                self._show()
                return
            await self._replace(self._agents)

    async def _replace(self, agents: Sequence[str], game: Variant | None = None) -> None:
        """Begin the next game with these agents, by default with the same rules."""
        old = self.session
        game = game or Variant(old.variant, old.rules)
        others = [name for s, name in enumerate(agents) if s not in old.people]
        self._notice = compile_notice(agent_parts(others))
        if self._notice:
            self._show()
        try:
            self.session = await self._work(lambda: self._again(old, agents, game))
            old.close()
        finally:
            self._begin()
            self._wake.set()

    async def _change(self, version: int, change: Callable[[Session], object]) -> None:
        async with self._lock:
            self._check(version)
            await self._work(lambda: change(self.session))
            self._fault = None
            self._show()
        self._wake.set()

    def _check(self, version: int) -> None:
        """Raise `StaleError` unless this version has the current position."""
        if not self._since <= version <= self.version:
            raise StaleError("version: expected the current one; the game has changed meanwhile")

    async def _work(self, work: Callable[[], T]) -> T:
        """Run a function in the worker thread, which is the only one that uses the session."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _begin(self) -> None:
        self._fault, self._notice, self._agents = None, "", self.session.agents
        self._show()

    def _show(self) -> None:
        """Publish the current state; requests are answered from a copy of it."""
        row = rows_of([self.session.row.tobytes()])[0]
        self._can_undo = self.session.can_undo
        self._can_claim = self.session.can_claim
        if self._row is None or row.tobytes() != self._row.tobytes():
            self._row, self._since = row, self.version + 1
        if self.session.seat is not None:  # in the middle of a hand
            self._ready.ready_at.clear()
            self._record = self._replay = self._review = None
        self._publish()

    def _publish(self) -> None:
        """Answer the requests that wait for a newer version."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drive(self) -> None:
        """Let agents act when it is their turn, and publish the replay after each hand."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                while self.session.seat is not None and not self.session.waits_for_person:
                    await asyncio.sleep(self._pause * _pauses(self._row))
                    async with self._lock:
                        if await self._work(self.session.step) is not None:
                            self._fault = None
                            self._show()
            except OutputError as error:  # for example, a full disk: retry later
                self._fault = str(error)
                self._show()
                asyncio.get_running_loop().call_later(AGAIN, self._wake.set)
            except Exception as error:
                LOG.error("%s: %s", type(error).__name__, error)
                of_agent = isinstance(error, AgentError)  # its message names no cards
                self._fault = str(error) if of_agent else "the game has failed: see the log"
                self._show()
            if self.session.seat is None and self._record is None:
                self._record = self.session.record()
                if not self.session.over:
                    self._record.seed = None  # it determines the deals to come
                self._spawn(self._keep_replay(self._record))

    async def _keep_replay(self, record: GameRecord) -> None:
        """Publish the replay at once, and later with the review, which takes longer.

        It has the names of people, which the record does not have.
        """
        key, last = secrets.token_urlsafe(16), len(record.hands) - 1
        hands = range(last + 1) if self.session.over else [last]
        players = zip(self.session.agents, self.session.names, strict=True)
        agents = [name if agent == PERSON else agent for agent, name in players]
        named = replace(record, agents=agents)
        page = await asyncio.to_thread(replay_page, named)
        if self._record is not record:  # the game has continued meanwhile
            return
        place = "" if self.session.over else f"#hand={last + 1}"
        self.replays, self._replay = {key: page}, f"/replay/{key}{place}"
        self._show()
        if not self._reviewed:
            return

        def check_current(done: int, total: int, decisions: int) -> None:
            if self.closing or self._record is not record:
                raise asyncio.CancelledError

        def make_review() -> tuple[Review, str]:
            result = review(record, self._adviser, hands=hands, progress=check_current)
            return result, replay_page(named, result.notes())

        result: Review | str
        try:
            result, page = await asyncio.to_thread(make_review)
        except BidEuchreError as error:
            result = f"failed: {error}"
        if self._record is record:
            self._review, self.replays[key] = result, page
            self._show()


@lru_cache(maxsize=4)
def game_id(rules: Rules) -> int:
    """Return a number for the constants of a page; with another number it must be loaded again."""
    return crc32(plain(game_view(rules)).encode())


def _pauses(row: Any) -> float:
    """Return the number of pauses before a move; more after the last card of a trick."""
    whole = row["phase"] == Phase.PLAY and row["led"] < 0 and row["trick"] > 0
    return TRICK_PAUSES if whole else 1.0
