"""`Session`: a game between people and agents, saved after every action."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from bideuchre_env._checks import brief, check_type, is_integer, printable, typed
from bideuchre_env._files import PathLike, only_run_at, write_file
from bideuchre_env._inputs import check_size, read_file
from bideuchre_env.agents.advice import Advice
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.one_row import next_row, start_row, step_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import seed_rows
from bideuchre_env.core.state import Phase, new_states, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import IllegalActionError, NotationError, OutputError, RecordError
from bideuchre_env.play.levels import NAMES, PERSON
from bideuchre_env.play.players import Players
from bideuchre_env.play.saved import (
    SavedGame,
    check_alone,
    check_free,
    check_names,
    check_people,
    check_trusted,
    read_game,
)
from bideuchre_env.play.seats import Seats
from bideuchre_env.records import files as records_io
from bideuchre_env.records.files import LONGEST, free_path, short_name
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules import actions
from bideuchre_env.runtime.jit import Array


class Move(NamedTuple):
    """An action that has been applied."""

    seat: int
    name: str
    row: Any
    """The state row after it, before any next deal."""


class Session:
    """A game between people and agents.

    People play by `act`, agents by `advance`; `next_hand` deals after a hand. With a `path`, every
    change is saved there atomically, and no other process can open the file until `close`; `resume`
    continues the game. If saving fails, `OutputError` is raised and nothing changes.

    Each deal is drawn from the operating system when it is due, so that nothing in the game, its
    file or its record determines a later deal. One person alone may give a `seed` instead, which
    fixes every deal and the random choices of agents. After an undo the same actions lead to the
    same cards and replies; with a seed also after a resume. (A custom agent with memory or a clock
    may reply differently.) It is a context manager.
    """

    def __init__(
        self,
        game: Variant,
        people: Sequence[int],
        agents: Sequence[str],
        *,
        seed: int | None = None,
        path: PathLike | None = None,
        seats: Seats | None = None,
    ) -> None:
        """Begin a game: `agents` are four names, by seat; names at people's seats are ignored.

        Without a `path` nothing is saved. `seats` are those of another game of the same people,
        whose links continue to work. Raises `OptionError` for invalid arguments, among them a
        `seed` with several people, and for a path that exists.
        """
        self._set_up(game, people, agents, seed)
        self.seats = seats or Seats(self.people)
        self.path = path
        with ExitStack() as stack:
            if path is not None:
                stack.enter_context(only_run_at(path))
                check_free(path)
            self._deal()
            self._save()
            self._stack = stack.pop_all()

    @classmethod
    def resume(cls, path: PathLike, trusted: Collection[str] = ()) -> Session:
        """Resume the game of a file at its last action.

        Agents from files or modules, whose code would run, must be among `trusted`. Raises
        `OptionError` or `RecordError`, and does not change the file, if they are not, if the file
        cannot be read or is not a saved game, or if another process uses it.
        """
        session = cls.__new__(cls)
        with ExitStack() as stack:
            read_game(path)  # raises before a lock file is made
            stack.enter_context(only_run_at(path))
            people, record, seats = read_game(path)
            assert record.agents is not None  # checked by `read_game`
            check_trusted(record.agents, trusted, path)
            game = Variant(record.variant, record.rules)
            # older versions saved games of several people with a seed, which pages have shown
            seed = record.seed if len(people) == 1 else None
            dealer = record.hands[0]["dealer"] if seed is None else -1
            session._set_up(game, people, record.agents, seed, dealer)
            session.path, session.seats = path, seats
            try:
                session._replay(record)
            except RecordError as error:
                raise RecordError(f"{printable(str(path))} is no saved game: {error}") from None
            with suppress(OSError):  # another user's
                Path(path).chmod(0o600)  # it has all hands and links
            session._stack = stack.pop_all()
        return session

    def _set_up(
        self,
        game: Variant,
        people: Sequence[int],
        agents: Sequence[str],
        seed: int | None,
        dealer: int = -1,
    ) -> None:
        """Set up a game before its first deal; a `dealer` of -1 is drawn."""
        check_type("game", game, Variant, "a Variant")
        self.variant, self.rules, self.people = game.name, game.rules, check_people(people)
        check_names(agents)
        self.record_path: Path | None = None
        """Path of the record of a finished game."""
        self.agents = [PERSON if s in self.people else name for s, name in enumerate(agents)]
        check_alone(seed, self.people)
        words = split_seed(seed)
        self.seed = None if seed is None else int(seed)
        self._states, self._tables = new_states(1), compile_tables(self.rules)
        self._acts = actions.of(self.rules)
        # not part of any deal, because the choices of agents are seen
        chance = secrets.randbits(128) if self.seed is None else self.seed
        others = {s: name for s, name in enumerate(self.agents) if s not in self.people}
        self._players = Players(others, self.rules, chance, self._states, self._tables)
        self._before: list[bytes] = []  # state row before each action of the game
        self._ended: list[bytes] = []  # state row at the end of each hand
        self._hands: list[Array] = []  # the cards dealt in each hand, also if undone
        self._stack = ExitStack()
        seed_rows(self._states, *words)
        start_row(self._states, dealer, 0, 0)

    def _replay(self, record: GameRecord) -> None:
        """Replay a verified record; `RecordError` if a deal is not that of the seed."""
        played = list(record.played_hands())
        dealt = [rows_of([hand.dealt])[0] for hand in played]
        if self.seed is None:
            self._hands = [row["hands"] for row in dealt]
        for number, (row, hand) in enumerate(zip(dealt, played, strict=True), start=1):
            self._deal()
            if self.row["dealer"] != row["dealer"] or (self.row["hands"] != row["hands"]).any():
                raise RecordError(f"hand {number}: not the deal of this game")
            for action in hand.actions.tolist():
                self._apply(action)

    def _deal(self) -> None:
        """Deal the next hand; after an undo, the same cards again."""
        number, again = self.hand, self.hand < len(self._hands)
        if self.seed is None and not again:
            seed_rows(self._states, *split_seed(None))
        next_row(self._states, self._tables, *self._players.view)
        if again:
            self._states["hands"] = self._hands[number]
        else:
            self._hands.append(self.row["hands"].copy())

    @property
    def row(self) -> Any:
        """The current state row, with all hands; it must not be changed."""
        return self._states[0]

    @property
    def names(self) -> list[str]:
        """The names of the players at the table, by seat; people who have not joined: `PERSON`."""
        people = dict.fromkeys(self.people, PERSON) | self.seats.names
        return [people.get(seat, name) for seat, name in enumerate(NAMES)]

    def join(self, seat: int, name: str, token: str | None = None) -> None:
        """Set the name of a person, and a new token if it is not None, and save the game.

        Errors as `Seats.checked_name` and `Seats.checked_token`.
        """
        with self._change():
            seats = self.seats
            seats.names = seats.names | {seat: seats.checked_name(seat, name)}
            if token is not None:
                seats.tokens = seats.tokens | {seat: seats.checked_token(seat, token)}

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(self.row["phase"] == Phase.OVER)

    @property
    def hand_over(self) -> bool:
        """Whether a hand is over and the next one is due."""
        return bool(self.row["phase"] == Phase.DEAL)

    @property
    def seat(self) -> int | None:
        """The seat to act; None between hands and after the game."""
        return int(self.row["turn"]) if self.row["phase"] < Phase.DEAL else None

    @property
    def waits_for_person(self) -> bool:
        """Whether a person is to choose an action."""
        return self.asks(self.row)

    def asks(self, row: Any) -> bool:
        """Whether a person is to choose in a state row; the last card of a hand plays itself."""
        last = row["phase"] == Phase.PLAY and row["trick"] == self.rules.tricks - 1
        return row["phase"] < Phase.DEAL and int(row["turn"]) in self.people and not last

    @property
    def decisions(self) -> int:
        """Number of actions so far."""
        return len(self._before)

    @property
    def hand(self) -> int:
        """Number of the hand, from 1; passed-out hands count."""
        return int(self.row["hands_dealt"])

    def legal(self) -> list[str]:
        """Return the names of the legal actions of the seat to act."""
        return legal_names(self.row, self.rules)

    def act(self, seat: int, name: str) -> Move:
        """Apply a person's action, by name; see `Actions.parse` for the spelling.

        Raises `IllegalActionError`, and changes nothing, for an illegal action, and unless the seat
        is a person's and to act.
        """
        if not is_integer(seat) or seat != self.seat or seat not in self.people:
            raise IllegalActionError(f"seat {brief(seat)} is not to act{self._whose_turn()}")
        try:
            number = self._acts.parse(name)
        except NotationError:
            number = -1
        if number < 0 or self._acts.names[number] not in self.legal():
            raise IllegalActionError(
                f"{typed(name)} is not legal now: expected {', '.join(self.legal())}"
            )
        return self._carry_out(number)

    def _whose_turn(self) -> str:
        if self.seat is None:
            return ": the game is over" if self.over else ": the hand is over"
        return f": it is the turn of seat {self.seat}"

    def advance(self, watch: Callable[[Move], object] | None = None) -> None:
        """Let agents act until a person is to choose or the hand is over; `watch` gets every move.

        Raises `AgentError`, whose message names no cards, if an agent fails; earlier moves stay.
        """
        while (move := self.step()) is not None:
            if watch is not None:
                watch(move)

    def step(self) -> Move | None:
        """Make an agent's move, or play a person's last card, and return the move.

        Return None if a person is to choose, or the hand is over. Errors as `advance`.
        """
        seat = self.seat
        if seat is None or self.waits_for_person:
            return None
        if seat in self.people:
            return self._carry_out(self._players.lowest())
        return self._carry_out(self._players.decision(seat, self.hand, self.decisions))

    @property
    def can_claim(self) -> bool:
        """Whether the person to act has a choice, and is certain to take every trick left."""
        return self.waits_for_person and len(self.legal()) > 1 and self._players.certain() >= 0

    def claim(self, seat: int, watch: Callable[[Move], object] | None = None) -> None:
        """Play out the hand for a person who is certain to take every trick; others play low.

        `watch` gets every move.
        Raises `IllegalActionError`, and changes nothing, unless the seat is to act and `can_claim`;
        and before a card of the seat that is no longer certain to win.
        """
        if seat != self.seat or not self.can_claim:
            raise IllegalActionError(
                "claim: expected the seat to act, certain to take every trick left"
            )
        while self.seat is not None:
            number = self._players.certain() if self.seat == seat else self._players.lowest()
            if number < 0:
                raise IllegalActionError("claim: the tricks left are not certain: play them")
            move = self._carry_out(number)
            if watch is not None:
                watch(move)

    def _carry_out(self, number: int) -> Move:
        seat = int(self.row["turn"])
        with self._change():
            self._apply(number)
        return Move(seat, self._acts.names[number], rows_of([self._states.tobytes()])[0])

    def _apply(self, number: int) -> None:
        self._before.append(self._states.tobytes())
        step_row(self._states, self._tables, number)
        if self.row["phase"] >= Phase.DEAL:
            self._ended.append(self._states.tobytes())

    def next_hand(self) -> None:
        """Deal the next hand; `IllegalActionError` unless one is over and the game is not."""
        if not self.hand_over:
            raise IllegalActionError("the next hand is dealt when this one is over")
        with self._change():
            self._deal()

    def undo(self) -> None:
        """Undo the person's last action and all moves of agents after it.

        It can go back to the previous hand. Raises `IllegalActionError`, and changes nothing, if
        there is no action to undo, if the game is over, or if several people play, because the
        others have seen the action.
        """
        if len(self.people) > 1:
            raise IllegalActionError(
                "undo: expected a game with one person, not with several people"
            )
        if self.over:
            raise IllegalActionError("undo: the game is over")
        at = self._last_decision()
        if at < 0:
            raise IllegalActionError("undo: you have not acted yet")
        with self._change():
            self._states[:] = rows_of([self._before[at]])
            del self._before[at:], self._ended[self.hand - 1 :]

    @property
    def can_undo(self) -> bool:
        """Whether `undo` is possible."""
        return len(self.people) == 1 and not self.over and self._last_decision() >= 0

    def _last_decision(self) -> int:
        """Return the index of the last action that a person has chosen, or -1."""
        for at in range(self.decisions - 1, -1, -1):
            if self.asks(rows_of([self._before[at]])[0]):
                return at
        return -1

    def advice(self, agent: str = "inference") -> Advice:
        """Return an agent's advice for the person to act, from that seat's information.

        Raises `IllegalActionError` if no person is to act.
        """
        if not self.waits_for_person:
            raise IllegalActionError(f"advice: expected the turn of a person{self._whose_turn()}")
        ended = list(self.record().played_hands())[: len(self._ended)]
        return self._players.advice(agent, ended)

    def record(self) -> GameRecord:
        """Return the record of the game so far, with the hand in progress."""
        rows = list(self._ended)
        if self.row["phase"] < Phase.DEAL:
            rows.append(self._states.tobytes())
        return GameRecord.from_sound_rows(
            rows_of(rows), self.rules, self.variant, seed=self.seed, agents=list(self.agents)
        )

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Context manager: save the changes made in it; undo them if saving fails."""
        states, before, ended = self._states.tobytes(), list(self._before), list(self._ended)
        names, tokens = self.seats.names, self.seats.tokens
        try:
            yield
            self._save()
        except BaseException:
            self._states[:] = rows_of([states])
            self._before, self._ended = before, ended
            self.seats.names, self.seats.tokens = names, tokens
            raise

    def _save(self) -> None:
        if self.path is None:
            return
        line = SavedGame(self.people, self.record(), self.seats).line()
        check_size(self.path, len(line), LONGEST)
        write_file(self.path, line, private=True)
        if self.over:
            with suppress(OutputError):  # the game itself is saved; `save_record` can be retried
                self.save_record()

    def save_record(self) -> None:
        """Write the record of a finished game to the folder of its file, unless it exists there.

        Without a `path`, and before the end of the game, it does nothing. Raises `OutputError` if
        the record cannot be written.
        """
        if self.path is None or not self.over:
            return
        folder, stem = Path(self.path).parent, short_name(Path(self.path).stem)
        path, record = folder / f"{stem}.jsonl", self.record()
        with suppress(OSError):
            if read_file(path, LONGEST) == f"{record.dumps()}\n".encode():
                self.record_path = path
        if self.record_path is None:
            copy = free_path(folder, stem)
            records_io.write(copy, [record])
            self.record_path = copy

    def close(self) -> None:
        """Release the file for other processes. Idempotent."""
        self._stack.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
