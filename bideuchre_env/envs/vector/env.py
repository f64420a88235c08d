"""Many tables at once for self-play: one array of rows, stepped by kernels, no Python per row."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from bideuchre_env.core.legality import illegal
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import SOME_ENDED
from bideuchre_env.core.state import DEAL
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.envs.checks import (
    RESET_MASK,
    by_row,
    parse_count,
    parse_rows,
    parse_seats,
    reset_options,
    rows_to_reset,
)
from bideuchre_env.envs.face import Face, Observation, row_space
from bideuchre_env.envs.options import VecKeywords, VecOptions
from bideuchre_env.envs.vector.host import HostRows
from bideuchre_env.errors import DealError, IllegalActionError, OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.parse import parse_deal, parse_dealer, parse_score
from bideuchre_env.rules.rules import Rules, check_game
from bideuchre_env.runtime.jit import Array
from bideuchre_env.runtime.threads import OneAtATime, one_at_a_time

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bideuchre_env.envs.vector.on_device import DeviceRows


class BidEuchreVec(Face):
    """`num_envs` tables of one game, all four seats of each chosen for by the caller.

    Row i seeded with s is bit for bit the AEC environment seeded with s + i, whatever the number
    of rows or `threads`. A finished episode starts anew in the same step.

    `reset` and `step` give
    - `obs["observation"]` (n, D) int8 and `obs["action_mask"]` (n, A) int8 of the seat to act; with
      `observation="flat"`, `obs` (n, D) float32 in [-1, 1],
    - `info["seat"]` (n,) int8, that seat, and `info["action_mask"]`, the mask again, with
      `info["_seat"]` and `info["_action_mask"]` (n,) bool, True, as Gymnasium has it,
    - `rewards` (n, 4) float32 by seat, `terminated` and `truncated` (n,) bool,
    - `info["_episode"]` (n,) bool, where an episode has just ended, and `info["episode"]`, by name
      the arrays of what it came to: `"r"` (n, 4) float32 its rewards by seat, `"l"` (n,) int32
      its decisions, `"hands"` (n,) int32, `"score"` (n, 2) int64, `"winner"` (n,) int8 a side or
      -1, `"outcome"` (n,) int8 an `Outcome`. Elsewhere they hold the row's episode before.

    The arrays are copies; with `copy=False` they are the environment's own and are rewritten by the
    next call. Nothing a caller writes into them reaches the game. The keywords are those of
    `VecOptions`.

    With `device="cuda"` (experimental) the rows are on a GPU, and so are all these arrays, those of
    `sample`, `observe`, `action_masks`, `state` and `info["episode"]` too: numba's, which torch,
    CuPy and JAX take without a copy by their `__cuda_array_interface__`; `copy_to_host()` gives
    numpy's. Actions may be on the GPU, in any such library's array, or not; `get_state` and
    `set_state` give and take numpy's. Every answer is the same.
    """

    def __init__(
        self, rules: Rules, name: str, num_envs: int, **options: Unpack[VecKeywords]
    ) -> None:
        check_game(rules, name)
        chosen = VecOptions.chosen(options, name)
        self.num_envs = n = parse_count(num_envs)
        self.rules, self.name = rules, name
        self.episode, self.reward = chosen.episode, chosen.reward
        self.observation = chosen.observation
        self.copy, self.device = chosen.copy, chosen.device
        self._alone = OneAtATime()
        self._games: HostRows | DeviceRows
        if chosen.device == "cpu":
            self._games = HostRows(rules, n, chosen)
        else:
            from bideuchre_env.envs.vector.on_device import DeviceRows

            self._games = DeviceRows(rules, n, chosen)
        self.changes = 0
        """How often its rows have changed, by whatever call."""
        self._has_stream = False
        self._sampling = (np.uint64(0), 0)

    @cached_property
    def single_observation_space(self) -> spaces.Space[Any]:
        """The space of one row: `observation` and `action_mask`, or a box where it is flat."""
        return row_space(self.rules, self.observation)

    @cached_property
    def single_action_space(self) -> spaces.Discrete:
        """The actions of one row."""
        return spaces.Discrete(actions.of(self.rules).n)

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:
        """The space of all rows."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> spaces.Space[Any]:
        """The actions of all rows."""
        return batch_space(self.single_action_space, self.num_envs)

    @one_at_a_time
    def reset(
        self,
        seed: int | None = None,
        *,
        mask: Array | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new games in every row, or in the rows where `mask`, bool (n,), is True.

        `seed` seeds row i with seed + i; without one the rows go on with their streams. `options`
        may hold "dealer", "deal" and "score" as the AEC environment's, for every chosen row, and
        "reset_mask", Gymnasium's name for `mask`. Raises `OptionError`, and changes nothing, for
        other keys and unsound values.
        """
        options = reset_options(options, RESET_MASK)
        rows = rows_to_reset(mask, options.get(RESET_MASK), self.num_envs)
        chosen = rows.astype(np.int64)
        dealer, score = parse_dealer(options.get("dealer")), parse_score(options.get("score"))
        deal = options.get("deal")
        hands = [parse_deal(deal, self.rules)] if deal is not None else []
        words = split_seed(seed) if seed is not None or not self._has_stream else None
        if words is not None:
            if not self._has_stream and not rows.all():
                raise OptionError("a mask before the first reset(): reset all rows first")
            self._seed(chosen, words)
        n = self.num_envs
        self._restart(
            chosen,
            np.full(n, dealer, np.int64),
            np.full((n, 2), score, np.int64),
            np.ascontiguousarray(np.broadcast_to(np.array(hands, np.int64).reshape(-1, 4), (n, 4)))
            if hands
            else np.zeros((0, N_SEATS), np.int64),
        )
        return self._looks()

    @one_at_a_time
    def set_deal(
        self, deals: Any, rows: Any = None, *, dealers: Any = None, scores: Any = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a game with a given first deal in each of `rows` (every row by default).

        `deals`, `dealers` and `scores` go by row as `rows` does: deals as four lists of card
        names, dealers as seats or None for one drawn, scores as pairs. Nothing changes unless all
        of them are sound.
        """
        self._require_games()
        places = parse_rows(rows, self.num_envs)
        m = len(places)
        deals, dealers, scores = (
            by_row(name, values, m, default)
            for name, values, default in (
                ("deals", deals, ()),
                ("dealers", dealers, None),
                ("scores", scores, None),
            )
        )
        n = self.num_envs
        chosen, hands = np.zeros(n, np.int64), np.zeros((n, N_SEATS), np.int64)
        seats, points = np.full(n, -1, np.int64), np.zeros((n, 2), np.int64)
        for j, row in enumerate(places):
            try:
                hands[row] = parse_deal(deals[j], self.rules)
                seats[row], points[row] = parse_dealer(dealers[j]), parse_score(scores[j])
            except DealError as error:
                raise DealError(f"row {row}: {error}") from None
            chosen[row] = 1
        self._restart(chosen, seats, points, hands)
        return self._looks()

    @one_at_a_time
    def step(self, actions: Any) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """Carry out one action in every row: (n,), of any integer dtype.

        Raises `IllegalActionError`, and no row has moved, unless every action is legal in its row.
        """
        if not self._has_stream:
            raise IllegalActionError("no games are going on: reset() deals them")
        games = self._games
        taken = games.whole(actions)
        self.changes += 1
        row = games.step(taken)
        if row >= 0:
            self.changes -= 1
            raise IllegalActionError(self._fault(row, games.action_of(actions, row)))
        return self._shown(row == SOME_ENDED)

    @one_at_a_time
    def sample(self) -> Array:
        """A uniform legal action for every row, int64 (n,), a copy as `copy` says.

        The draws follow from the last seed that `reset` was given, and are no part of any game.
        """
        self._require_games()
        low, count = self._sampling
        self._sampling = (low, count + 1)
        return self._games.sample(low, count)

    def observe(self, seats: Any) -> Array:
        """The observation of every row, (n, D), for one seat or for seats (n,); a new array.

        int8, or float32 where observations are flat.
        """
        self._require_games()
        return self._games.observe(parse_seats(seats, self.num_envs))

    def action_masks(self) -> Array:
        """Which actions of the seat to act are legal now, bool (n, A); a new array."""
        self._require_games()
        return self._games.masks()

    def state(self) -> Array:
        """Everything, int8 (n, state_size): for critics that may see all hands; a new array."""
        self._require_games()
        return self._games.everything()

    def get_state(self) -> Array:
        """The rows themselves, a copy: a structured array (n,) of `STATE`, streams included."""
        self._require_games()
        return self._games.states()

    @one_at_a_time
    def set_state(self, states: Array, rows: Any = None) -> tuple[Observation, dict[str, Any]]:
        """Put states, as `get_state` gives them, into `rows` (every row by default).

        Their episodes' tallies begin anew. Raises `OptionError`, and nothing changes, unless each
        is a position of this game with a seat to act, one that legal play comes to.
        """
        places = parse_rows(rows, self.num_envs)
        fresh = checked_states(states, len(places), compile_tables(self.rules))
        waiting = np.flatnonzero(fresh["phase"] >= DEAL)
        if len(waiting):
            raise OptionError(f"states[{waiting[0]}]: the hand is over, no seat is to act")
        if not self._has_stream and rows is not None:
            raise OptionError("set_state(rows=...) before the first reset(): there are no games")
        self._has_stream = True
        self.changes += 1
        self._games.put(places, fresh)
        return self._looks()

    def close(self) -> None:
        """Let the threads go."""
        self._games.close()

    def _seed(self, chosen: Array, words: tuple[np.uint64, np.uint64]) -> None:
        self._games.seed(chosen, words)
        self._sampling = (words[0] ^ words[1], 0)
        self._has_stream = True

    def _restart(self, chosen: Array, dealers: Array, scores: Array, deals: Array) -> None:
        self.changes += 1
        self._games.restart(chosen, dealers, scores, deals)

    def _looks(self) -> tuple[Observation, dict[str, Any]]:
        """What `reset` gives."""
        observations, _, _, _, info = self._shown(self._games.some_ended())
        return observations, info

    def _shown(self, some_ended: bool) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """What `step` gives."""
        seen, mask, seat, rewards, terminated, truncated, ended, known = self._games.handed()
        info: dict[str, Any] = {
            "seat": seat,
            "_seat": known,
            "action_mask": mask,
            "_action_mask": known,
            "_episode": ended,
        }
        if some_ended:
            info["episode"] = self._games.episodes()
        flat = self.observation == "flat"
        observations = seen if flat else {"observation": seen, "action_mask": mask}
        return observations, rewards, terminated, truncated, info

    def _require_games(self) -> None:
        if not self._has_stream:
            raise OptionError("nothing has been dealt yet: reset() deals")

    def _fault(self, row: int, action: int) -> str:
        names = actions.of(self.rules).names
        choice = names[action] if 0 <= action < len(names) else action
        return illegal(self._games.state_of(row), self.rules, choice, f"row {row}: ")

    def __repr__(self) -> str:
        return f"<{self.name} x {self.num_envs}, {self._games}>"
