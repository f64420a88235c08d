"""`Recorder`: writes games that are played in lock step as records, board by board, in order."""

from __future__ import annotations

from bideuchre_env.core.phases.deal import SEED_LIMIT
from bideuchre_env.core.state import new_states
from bideuchre_env.errors import OutputError
from bideuchre_env.records import transcript
from bideuchre_env.records.files import LONGEST, RecordWriter
from bideuchre_env.records.record import GameLines, GameRecord
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array


class Recorder:
    """Writes the records of boards in order, each when it and all earlier boards are finished.

    `seed` is the seed of board 0. The first table (agent A in seats 0 and 2) is written before the
    second, so a file does not depend on the number of boards played at a time. `close` writes the
    boards that still wait for an earlier one. After a failed write, `error` is the reason, and play
    continues unrecorded.
    """

    def __init__(
        self,
        writer: RecordWriter,
        rules: Rules,
        variant: str,
        names: tuple[str, str],
        seed: int,
        n_slots: int,
    ) -> None:
        self._writer, self._seed = writer, seed
        self.error: str | None = None
        self._writing = transcript.of(rules)
        self._hands: list[list[bytes]] = [[] for _ in range(n_slots)]
        self._sizes = [0] * n_slots
        self._lines = [
            GameLines(
                GameRecord.from_sound_rows(new_states(0), rules, variant, agents=[*order, *order])
            )
            for order in (names, names[::-1])
        ]
        self._waiting: dict[int, tuple[bytes, bytes]] = {}
        self._writing_at = -1, 0
        """The board being written, and the size of the file before it."""
        self._next = 0

    def hands_ended(self, states: Array, slots: Array) -> None:
        """Format the hand that has ended in each of these slots, for the record of its game."""
        texts = self._writing.texts(states, slots)
        for slot, text in zip(slots.tolist(), texts, strict=True):
            if self._sizes[slot] <= LONGEST:  # else its line will be rejected
                self._hands[slot].append(text)
                self._sizes[slot] += len(text)

    def pairs_finished(self, states: Array, pairs: Array, boards: Array) -> None:
        """Queue the finished boards in these pairs of slots; write those whose turn it is.

        A board is written once all boards with lower numbers are.
        """
        for pair, board in zip(pairs.tolist(), boards.tolist(), strict=True):
            self._waiting[board] = (
                self._line(states, 2 * pair, board),
                self._line(states, 2 * pair + 1, board),
            )
        while self._next in self._waiting:
            self._write(self._next)
            self._next += 1

    def close(self) -> None:
        """Write the finished boards that still wait for an earlier one, and close the file.

        A file without a board is discarded. Ctrl-C that ends the program may call this in the
        middle of any other method.
        """
        if self._writer.size > self._writing_at[1]:  # already written, but still in `_waiting`
            self._waiting.pop(self._writing_at[0], None)
        for board in sorted(self._waiting):
            self._write(board)
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

    def _line(self, states: Array, slot: int, board: int) -> bytes:
        hands, self._hands[slot], self._sizes[slot] = self._hands[slot], [], 0
        seed = (self._seed + board) % SEED_LIMIT
        return self._lines[slot & 1].line(seed, hands, states[slot])
