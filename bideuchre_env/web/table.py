"""A game that is shown live: one session, what each seat is shown of it, and who is told."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from bideuchre_env.analysis import review
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.errors import BidEuchreError, IllegalActionError, OutputError
from bideuchre_env.play.lines import Lines
from bideuchre_env.play.saved import PERSON
from bideuchre_env.play.session import Move, Session
from bideuchre_env.records.page.page import replay_page
from bideuchre_env.records.page.view import table_view
from bideuchre_env.records.record import GameRecord
from bideuchre_env.web.door import LOG

T = TypeVar("T")
State = dict[str, Any]
AGAIN = 5.0  # seconds until a move that could not be saved is tried again
PATIENCE = 30.0  # seconds that people wait for those who do not ask to go on
TRICK_PAUSES = 2.5  # a trick that is complete stays so many times as long as a card


class StaleError(IllegalActionError):
    """A request about the game as it was before it went on."""


class Ready:
    """The people of a table that has come to an end of a hand or game: it goes on when all ask to.

    `patience` seconds after the first has asked, whoever has asked may go on without the others:
    one who has left blocks nobody.
    """

    def __init__(
        self,
        people: Sequence[int],
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._people, self._patience, self._clock = people, patience, clock
        self.asked: dict[int, float] = {}  # the seats, and when

    def ask(self, seat: int) -> bool:
        """Note that a seat asks to go on; whether the table does."""
        again = seat in self.asked
        self.asked.setdefault(seat, self._clock())
        return not self.missing or (again and self.seconds_left == 0)

    @property
    def missing(self) -> list[int]:
        """The seats that have not asked."""
        return [seat for seat in self._people if seat not in self.asked]

    @property
    def seconds_left(self) -> float | None:
        """How long the others are still waited for; None while nobody has asked."""
        if not self.asked:
            return None
        return max(0.0, min(self.asked.values()) + self._patience - self._clock())


class LiveTable:
    """A session that people at several browsers play; everything of it runs in one event loop.

    Agents move with `pause` seconds after each. `version` counts what has been shown: whoever knows
    the last one waits for the next. `again(old)` begins the next game. Work takes place in a
    thread, one piece after another, so that the server answers meanwhile. After a hand, and after a
    game, people go on together, or after `patience` seconds without those who do not ask to (see
    `Ready`). After a game its replay is kept, and with `reviewed` its review, by the `adviser`.
    """

    def __init__(
        self,
        session: Session,
        again: Callable[[Session], Session],
        *,
        pause: float = 0.6,
        adviser: str = "inference",
        reviewed: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        self.session, self.version = session, 0
        self._ready, self._ended = Ready(session.people, patience), 0
        self._again, self._pause, self._adviser, self._reviewed = again, pause, adviser, reviewed
        self._lock, self._wake, self._changed = asyncio.Lock(), asyncio.Event(), asyncio.Event()
        self._fault: str | None
        self._replay: str | None
        self._review: str | None
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._tasks: set[asyncio.Task[None]] = set()
        self.closing = False
        self.replays: dict[str, str] = {}
        """The pages of finished games, by a key that cannot be guessed."""
        self._begin()

    def start(self) -> None:
        """Let the agents play, from now on."""
        self._spawn(self._drive())
        self._wake.set()

    async def close(self) -> None:
        """End: whoever waits is answered, agents and review stop, the file is let go."""
        self.closing = True
        self._show()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._work(self.session.close)  # behind whatever is being done
        self._worker.shutdown()

    def state(self, seat: int) -> State:
        """All that a seat's page is told, JSON-able: its view, and what its player may do beside.

        `version`; `view` (see `table_view`); `score` in words; `next`: the next hand may be asked
        for; `over`: a new game may be; `asked`: this seat has done so; `waits`: for whom the table
        waits, in words, and `patience`, for how many seconds more, None unless somebody has;
        `undo`; `hint`; `claim`: the seat may claim all tricks left; `fault`: why an agent cannot go
        on, or None; `replay`: the path of the replay of this game, once it is over, and `review`,
        its text, None before.
        """
        session = self.session
        agents = [self._name(seat, who) for who in range(len(session.agents))]
        view = table_view(self._row, session.rules, seat, agents)
        mine = view["turn"] == seat
        return {
            "version": self.version,
            "view": view,
            "score": f"Hand {view['hand']}. {Lines(self._row, session.rules, seat).score()}",
            "next": bool(self._row["phase"] == Phase.DEAL),
            "undo": self._can_undo,
            "hint": mine,
            "claim": mine and self._can_claim,
            "over": bool(self._row["phase"] == Phase.OVER),
            "asked": seat in self._ready.asked,
            "waits": self._waits(seat),
            "patience": self._ready.seconds_left,
            "fault": self._fault,
            "replay": self._replay,
            "review": self._review,
        }

    def _waits(self, viewer: int) -> str | None:
        """For whom the table waits to go on, in words."""
        if self._ready.seconds_left is None or not self._ready.missing:
            return None
        missing = [f"seat {seat}" for seat in self._ready.missing if seat != viewer]
        you = [] if viewer in self._ready.asked else ["you"]
        return f"Waiting for {' and '.join(you + missing)}."

    def _name(self, viewer: int, seat: int) -> str:
        name = self.session.agents[seat]
        return "you" if seat == viewer else "friend" if name == PERSON else name

    async def later(self, version: int, seconds: float) -> None:
        """Wait until something newer than a version is shown, at most so many seconds."""
        if version == self.version and not self.closing:
            try:
                await asyncio.wait_for(self._changed.wait(), seconds)
            except asyncio.TimeoutError:
                return

    async def act(self, seat: int, version: int, action: str) -> None:
        """A person's action; `IllegalActionError` if it is not legal, or not this seat's turn."""
        await self._change(version, lambda session: session.act(seat, action))

    async def undo(self, seat: int, version: int) -> None:
        """Take back the last action of the one person who plays, whose seat this is."""
        await self._change(version, lambda session: session.undo())

    async def claim(self, seat: int, version: int) -> None:
        """Play the hand out for a seat that takes every trick left."""
        await self._change(version, lambda session: session.claim(seat))

    async def next_hand(self, seat: int, version: int) -> None:
        """A seat asks for the next hand: it is dealt once all people do."""
        async with self._lock:
            self._check(version, min(self._ended, self.version))
            if not self.session.hand_over or self._ready.ask(seat):
                await self._work(self.session.next_hand)
                self._fault = None
            self._show()
        self._wake.set()

    async def hint(self, seat: int, version: int) -> State:
        """Advice for a seat that is to act: `why`, and a table, `heads` above `rows`, of its
        options, best first; JSON-able.
        """
        async with self._lock:
            self._check(version)
            if self.session.seat != seat:
                raise IllegalActionError("a hint is for your own call or card")
            advice = await self._work(lambda: self.session.advice(self._adviser))
        heads, *rows = advice.table()
        return {"why": f"{advice.headline} {advice.why}", "heads": heads, "rows": rows}

    async def new_game(self, seat: int, version: int) -> None:
        """A seat asks for another game when this one is over: it is begun once all people do."""
        async with self._lock:
            self._check(version, min(self._ended, self.version))
            if not self.session.over:
                raise IllegalActionError("a new game is begun when this one is over")
            if not self._ready.ask(seat):
                self._show()
                return
            old = self.session
            self.session = await self._work(lambda: self._again(old))
            old.close()
            self._begin()
        self._wake.set()

    async def _change(self, version: int, change: Callable[[Session], object]) -> None:
        async with self._lock:
            self._check(version)
            await self._work(lambda: change(self.session))
            self._fault = None
            self._show()
        self._wake.set()

    def _check(self, version: int, since: int | None = None) -> None:
        """Raise `StaleError` unless this version is shown, or has been, from `since` on."""
        if not (self.version if since is None else since) <= version <= self.version:
            raise StaleError("the game has gone on meanwhile")

    async def _work(self, work: Callable[[], T]) -> T:
        """Do this in the one thread that touches the session."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _begin(self) -> None:
        self._fault = self._replay = self._review = None
        self._show()

    def _show(self) -> None:
        """Show the game as it stands: what pages are told comes from a copy."""
        self._row = rows_of([self.session.row.tobytes()])[0]
        self._can_undo = self.session.can_undo
        self._can_claim = self.session.can_claim
        self.version += 1
        if self.session.seat is not None:  # in the middle of a hand
            self._ready.asked.clear()
            self._ended = self.version + 1
        self._changed.set()
        self._changed = asyncio.Event()

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drive(self) -> None:
        """Let agents act whenever one is to, and keep the replay of a game that is over."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                while (move := await self._step()) is not None:
                    await asyncio.sleep(self._pause * _pauses(move))
            except OutputError as error:  # there may be room again
                self._tell(str(error))
                asyncio.get_running_loop().call_later(AGAIN, self._wake.set)
            except Exception as error:  # of an agent: what it says may name cards of its hand
                LOG.error("%s: %s", type(error).__name__, error)
                self._tell(f"seat {self.session.seat} cannot go on: see where the server runs")
            if self.session.over and self._replay is None:
                self._spawn(self._keep_replay(self.session.record()))

    def _tell(self, fault: str) -> None:
        """Show why the game stands still."""
        self._fault = fault
        self._show()

    async def _step(self) -> Move | None:
        async with self._lock:
            if self.session.seat is None or self.session.waits_for_person:
                return None
            move = await self._work(self.session.step)
            self._fault = None
            self._show()
            return move

    async def _keep_replay(self, record: GameRecord) -> None:
        """The replay at once, and once more with the review, which takes a while."""
        session, key = self.session, secrets.token_urlsafe(16)
        page = await asyncio.to_thread(replay_page, record)
        if self.session is not session:  # another game has begun meanwhile
            return
        self.replays, self._replay = {key: page}, f"/replay/{key}"
        self._show()
        if not self._reviewed:
            return

        def go_on(done: int, total: int, decisions: int) -> None:
            if self.closing or self.session is not session:
                raise asyncio.CancelledError

        def made() -> tuple[str, str]:
            made = review(record, self._adviser, progress=go_on)
            return str(made), replay_page(record, made.notes())

        try:
            text, page = await asyncio.to_thread(made)
        except BidEuchreError as error:
            text = f"No review: {error}"
        if self.session is session:
            self._review, self.replays[key] = text, page
            self._show()


def _pauses(move: Move) -> float:
    """How many pauses follow a move: more after the last card of a trick."""
    whole = move.row["phase"] == Phase.PLAY and move.row["led"] < 0 and move.row["trick"] > 0
    return TRICK_PAUSES if whole else 1.0
