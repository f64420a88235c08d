"""Copies of a table: clones for search, redealt hidden cards, and pickling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.parse import parse_seat
from bideuchre_env.runtime.jit import Array

if TYPE_CHECKING:
    from typing_extensions import Self

DERIVED = {"_encoder", "_tables", "_scale", "_offsets", "_play", "_deal", "_look", "_observe"}
DERIVED |= {"_reward", "_ending", "_fresh", "_seen", "_mask"}
"""Attributes that are derived again in a pickled copy."""


class Copies:
    """The methods of `BidEuchreEnv` that copy it."""

    render_mode: str | None
    _states: Array
    _tables: Array
    _seen: Array | None
    _finished: list[bytes]
    _seed: int | None
    _look: Any
    _copy_bookkeeping: Callable[[Any], None]
    _require_game: Callable[[], None]
    _call_on: Callable[[Any], None]
    _derive: Callable[[], None]

    @property
    def _over(self) -> bool:
        """Whether no agent may act."""
        raise NotImplementedError

    def clone(self) -> Self:
        """Return an independent copy of the game, for search.

        It shares the spaces. In it, `render_mode` "human" becomes "ansi": it prints nothing."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if twin.render_mode == "human":
            twin.render_mode = "ansi"
        twin._states = rows_of([self._states.tobytes()])
        twin._seen = None
        twin._finished = self._finished.copy()
        if hasattr(self, "agents"):
            twin._copy_bookkeeping(self)
        return twin

    def resample_hidden(self, seat: int, rng: np.random.Generator) -> Self:
        """Return a clone in which the cards hidden from `seat` are redealt uniformly.

        The other hands, the hidden half of an exchange and the next deals are drawn. All deals that
        fit the seat's information are equally likely: its cards, the cards played, the suits others
        have failed to follow, its part of an exchange. The two copies in a double deck count as
        different cards, as when cards are dealt. The others' calls and plays are not used as
        evidence. The seat's observation and mask and the finished hands do not change, and the
        clone's record is valid. After the end of an episode nothing is redealt.

        Args:
            seat: the seat that sees its own cards, 0 to 3; `OptionError` for any other.
            rng: the source of the draws; `OptionError` for any other type.
        """
        self._require_game()
        place = parse_seat("seat", seat)
        if not isinstance(rng, np.random.Generator):
            raise OptionError(f"rng={brief(rng)}: expected a numpy.random.Generator")
        twin = self.clone()
        if twin._over:
            return twin
        low, high = rng.integers(0, 2**64, size=2, dtype=np.uint64)
        resample_row(twin._states, twin._tables, place, new_redeal(), low, high)
        twin._seed = None
        twin._call_on(twin._look)  # it may hold other cards now
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in DERIVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._derive()
