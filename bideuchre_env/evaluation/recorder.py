"""Records of games that are played in lock step, written board by board, in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TypeAlias

from bideuchre_env._files import PathLike
from bideuchre_env._quitting import before_quitting
from bideuchre_env.core.phases.deal import SEED_LIMIT
from bideuchre_env.core.state import new_states
from bideuchre_env.errors import OutputError
from bideuchre_env.records import transcript
from bideuchre_env.records.files import LONGEST, RecordWriter
from bideuchre_env.records.record import GameLines, GameRecord
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

Lines: TypeAlias = tuple[bytes, bytes]
"""The records of a board: of the table with agent A in seats 0 and 2, and of the other one."""


class TableRecorder:
    """Formats the records of boards as their hands end; `seed` is the seed of board 0."""

    def __init__(
        self, rules: Rules, variant: str, names: tuple[str, str], seed: int, n_slots: int
    ) -> None:
        self._seed, self._writing = seed, transcript.of(rules)
        self._hands: list[list[bytes]] = [[] for _ in range(n_slots)]
        self._sizes = [0] * n_slots
        self._lines = [
            GameLines(
                GameRecord.from_sound_rows(new_states(0), rules, variant, agents=[*order, *order])
            )
            for order in (names, names[::-1])
        ]

    def hands_ended(self, states: Array, slots: Array) -> None:
        """Format the hand that has ended in each of these slots, for the record of its game."""
        texts = self._writing.texts(states, slots)
        for slot, text in zip(slots.tolist(), texts, strict=True):
            if self._sizes[slot] <= LONGEST:  # else its line will be rejected
                self._hands[slot].append(text)
                self._sizes[slot] += len(text)

    def lines(self, states: Array, pairs: Array, boards: Array) -> list[Lines]:
        """Return the records of the finished boards in these pairs of slots."""
        return [
            (self._line(states, 2 * pair, board), self._line(states, 2 * pair + 1, board))
            for pair, board in zip(pairs.tolist(), boards.tolist(), strict=True)
        ]

    def _line(self, states: Array, slot: int, board: int) -> bytes:
        hands, self._hands[slot], self._sizes[slot] = self._hands[slot], [], 0
        seed = (self._seed + board) % SEED_LIMIT
        return self._lines[slot & 1].line(seed, hands, states[slot])


@contextmanager
def recording(path: PathLike | None, overwrite: bool) -> Iterator[Recorder | None]:
    """Context manager: yield the recorder of a new file, or None without a path.

    At its end, also if the program is interrupted, all finished boards are written.
    """
    if path is None:
        yield None
        return
    with RecordWriter(path, overwrite=overwrite) as writer:
        recorder = Recorder(writer)
        with before_quitting(recorder.close), closing(recorder):
            yield recorder


class Recorder:
    """Writes the records of boards in order, each when all earlier boards are finished.

    So a file does not depend on the number of boards played at a time, or of workers. After a
    failed write, `error` is the reason, and play continues unrecorded.
    """

    def __init__(self, writer: RecordWriter) -> None:
        self._writer = writer
        self.error: str | None = None
        self._waiting: dict[int, Lines] = {}
        self._writing_at = -1, 0
        """The board being written, and the size of the file before it."""

    def add(self, boards: Array, lines: list[Lines]) -> None:
        """Queue the records of finished boards with these numbers."""
        self._waiting.update(zip(boards.tolist(), lines, strict=True))

    def write(self, boards: range) -> None:
        """Write these boards, which are queued."""
        for board in boards:
            self._write(board)

    @property
    def lines(self) -> int:
        """Number of records written."""
        return self._writer.lines

    def end_part(self, *, drop: bool) -> None:
        """Write the boards that still wait for an earlier one, or `drop` them."""
        for board in [] if drop else sorted(self._waiting):
            self._write(board)
        self._waiting.clear()
        self._writing_at = -1, 0

    def close(self) -> None:
        """End the part, and close the file; a file without a board is discarded.

        Ctrl-C that ends the program may call this in the middle of any other method.
        """
        if self._writer.size > self._writing_at[1]:  # already written, but still in `_waiting`
            self._waiting.pop(self._writing_at[0], None)
        self.end_part(drop=False)
        if not self._writer.lines and (self.error or not self._writer.size):
            self._writer.discard()
        try:
            self._writer.close()
        except OutputError as error:
            self.error = self.error or str(error)

    def _write(self, board: int) -> None:
        if self.error is None:
            self._writing_at = board, self._writer.size
            try:
                self._writer.write_lines(self._waiting[board])
            except OutputError as error:
                self.error = str(error)
        del self._waiting[board]
