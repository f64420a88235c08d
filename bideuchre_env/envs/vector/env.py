"""Many tables at once for self-play: one array of rows, stepped by kernels, no Python per row."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from bideuchre_env.core.legality import illegal
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import (
    SOME_ENDED,
    Rows,
    global_rows,
    observe_rows,
    present_rows,
    restart_rows,
    sample_rows,
    seed_chosen_rows,
)
from bideuchre_env.core.state import DEAL
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.envs.checks import (
    RESET_MASK,
    action_at,
    by_row,
    parse_actions,
    parse_count,
    parse_rows,
    parse_seats,
    reset_options,
    rows_to_reset,
)
from bideuchre_env.envs.face import Face, Observation, row_space
from bideuchre_env.envs.forms import Form
from bideuchre_env.envs.options import VecKeywords, VecOptions
from bideuchre_env.envs.vector.rows import DeviceSteps, blank_rows
from bideuchre_env.envs.vector.threads import StepPool
from bideuchre_env.errors import DealError, IllegalActionError, OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.parse import parse_deal, parse_dealer, parse_score
from bideuchre_env.rules.rules import Rules, check_game
from bideuchre_env.runtime.devices import memory_of
from bideuchre_env.runtime.jit import Array
from bideuchre_env.runtime.threads import OneAtATime, ThreadPool, one_at_a_time

if TYPE_CHECKING:
    from typing_extensions import Unpack


class BidEuchreVec(Face):
    """`num_envs` tables of one game, stepped together; the caller acts for all four seats.

    Description:
        `cincinnati_v0.vec(n)` makes this environment, and `help(cincinnati_v0)` prints the rules.
        With seed s, row i plays exactly as `BidEuchreEnv` with seed s + i, for any number of rows.
    Action Space:
        `Discrete(A)` for each row: `step` takes an array (n,). `sample` draws legal actions.
    Observation Space:
        - `obs["observation"]` (n, D) and `obs["action_mask"]` (n, A), int8, of the seat to act;
          with "flat" and "features", `obs` (n, D or F) float32, see `EpisodeOptions.observation`.
        - `info["seat"]` (n,) int8, that seat, and `info["action_mask"]`, the mask again, with
          `info["_seat"]` and `info["_action_mask"]` (n,) bool, True, as Gymnasium has it.
    Rewards:
        (n, 4) float32 by seat, see `BidEuchreEnv`.
    Starting State:
        `reset` deals in all rows, or in the rows of a mask. Before it, `step` raises
        `IllegalActionError`, and any other method that needs games `OptionError`.
    Episode End:
        `terminated` and `truncated` (n,) bool. After the end of an episode the same step starts the
        next one (autoreset). `info["_episode"]` (n,) bool is True where an episode has just ended.
        `info["episode"]` has its results: `"r"` (n, 4) float32 rewards by seat, `"l"` (n,) int32
        steps, `"hands"` (n,) int32, `"score"` (n, 2) int64, `"winner"` (n,) int8 a side or -1,
        `"outcome"` (n,) int8 an `Outcome`. Other rows hold those of their last finished episode.
    Arguments:
        - `rules`, `name`: see `BidEuchreEnv`; `options`: see `VecOptions`.
        - `copy=False`: writing to the returned arrays does not affect the game.
        - `device="cuda"` (experimental): all returned arrays are numba's, on the GPU. torch, CuPy
          and JAX use them without a copy; `copy_to_host()` returns numpy's. Actions may be on
          either device. `get_state` and `set_state` use numpy arrays. Results equal the CPU's.
    Version History:
        See `BidEuchreEnv`.
    """

    def __init__(
        self, rules: Rules, name: str, num_envs: int, **options: Unpack[VecKeywords]
    ) -> None:
        check_game(rules, name)
        chosen = VecOptions.chosen(options, name)
        self.num_envs = n = parse_count(num_envs)
        self.rules, self.name = rules, name
        self.episode, self.reward = chosen.episode, chosen.reward
        self.observation, self.copy, self.device = chosen.observation, chosen.copy, chosen.device
        self._alone = OneAtATime()
        self._memory = memory_of(chosen.device)
        on_host = chosen.device == "cpu"
        self._pool: Any = StepPool(chosen.threads) if on_host else DeviceSteps(self._memory, n)
        self._threads = ThreadPool(chosen.threads)  # for the form of observations
        self._settle(blank_rows(rules, n, chosen))
        self.changes = 0
        """The number of calls that have changed its rows."""
        self._has_stream, self._sampling = False, (np.uint64(0), 0)

    def _settle(self, rows: Rows) -> None:
        """Move rows to the memory, and allocate the derived arrays there."""
        n, memory = self.num_envs, self._memory
        self._rows: Rows = memory.put(rows)
        self._form = self._form_of(self._rows.observations)
        self._sampled, self._known = memory.empty((n,), np.int64), memory.empty((n,), bool)
        memory.fill(self._known, True)
        ends = (self._rows.rewards, self._rows.terminated, self._rows.truncated, self._rows.ended)
        self._own = (self._form.seen, self._form.masks, self._rows.seats, *ends, self._known)
        self._out = memory.copy if self.copy else memory.view
        self._draw: Callable[..., None] | None = None

    def _form_of(self, observations: Any) -> Form:
        """Return the chosen form of observations, int8 (n, D), with the rows' masks."""
        arrays, where = (observations, self._rows.masks), (self._memory, self._threads)
        return Form(self.rules, self.observation, *arrays, *where)

    def _run(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel on all rows."""
        self._memory.run(kernel, self.num_envs, *arguments)

    @cached_property
    def single_observation_space(self) -> spaces.Space[Any]:
        """Space of one row: `observation` and `action_mask`, or a `Box` if flat."""
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

        Args:
            seed: seeds row i with seed + i; None continues the rows' random streams.
            mask: the rows to reset; None resets all. The first reset must reset all rows.
            options: may contain "dealer", "deal" and "score", see `BidEuchreEnv.reset`, for every
                row that is reset, and "reset_mask", Gymnasium's name for `mask`: not both.

        Raises:
            OptionError: for other keys and invalid values; nothing has changed.
        """
        options = reset_options(options, RESET_MASK)
        chosen = rows_to_reset(mask, options.get(RESET_MASK), self.num_envs)
        dealer, score = parse_dealer(options.get("dealer")), parse_score(options.get("score"))
        deals = np.zeros((0, N_SEATS), np.int64)
        if options.get("deal") is not None:
            hands = parse_deal(options["deal"], self.rules)
            deals = np.tile(hands, (self.num_envs, 1))
        words = split_seed(seed) if seed is not None or not self._has_stream else None
        if words is not None:
            if not self._has_stream and not chosen.all():
                raise OptionError("mask: expected all rows, or None, in the first reset()")
            self._run(seed_chosen_rows, self._rows.states, self._memory.put(chosen), *words)
            self._sampling = (words[0] ^ words[1], 0)
            self._has_stream = True
        n = self.num_envs
        dealers, scores = np.full(n, dealer, np.int64), np.full((n, 2), score, np.int64)
        self._restart(chosen, dealers, scores, deals)
        return self._seen()

    @one_at_a_time
    def set_deal(
        self, deals: Any, rows: Any = None, *, dealers: Any = None, scores: Any = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a game with a given first deal in some rows; return as `reset` does.

        Args:
            deals: four lists of card names, by seat, for each of `rows`.
            rows: numbers of rows, each once; None means all rows in order.
            dealers: a seat for each of `rows`; None, also as an entry, draws one.
            scores: the first points of both sides for each of `rows`; None means 0-0.

        Raises:
            DealError, OptionError: for invalid values; nothing has changed.
        """
        self._require_games()
        places = parse_rows(rows, self.num_envs)
        m = len(places)
        deals = by_row("deals", deals, m, ())
        dealers, scores = by_row("dealers", dealers, m, None), by_row("scores", scores, m, None)
        n = self.num_envs
        chosen, hands = np.zeros(n, bool), np.zeros((n, N_SEATS), np.int64)
        seats, points = np.full(n, -1, np.int64), np.zeros((n, 2), np.int64)
        for j, row in enumerate(places):
            try:
                hands[row] = parse_deal(deals[j], self.rules)
                seats[row], points[row] = parse_dealer(dealers[j]), parse_score(scores[j])
            except DealError as error:
                raise DealError(f"row {row}: {error}") from None
            chosen[row] = True
        self._restart(chosen, seats, points, hands)
        return self._seen()

    @one_at_a_time
    def step(self, actions: Any) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """Apply one action in every row.

        Args:
            actions: the number of a legal action for each row, (n,), of any integer dtype.

        Raises:
            IllegalActionError: for any other action; no row has changed.
        """
        if not self._has_stream:
            raise IllegalActionError("no games in progress: call reset() first")
        checked = parse_actions(actions, self.num_envs, self._rows.masks.shape[1], self._memory)
        checked = self._form.game_actions(checked)
        self.changes += 1
        self._form.stale = True
        row = self._pool.step(self._rows, checked)
        if row >= 0:
            self.changes -= 1
            chosen = checked if self._form.renames else actions
            raise IllegalActionError(self._fault(row, action_at(chosen, row, self._memory)))
        return self._results(row == SOME_ENDED)

    @one_at_a_time
    def sample(self) -> Array:
        """Return a uniform legal action for every row, int64 (n,), a copy if `copy` is True.

        The draws depend on the last seed of `reset` and the calls since; they do not affect games.
        """
        self._require_games()
        low, count = self._sampling
        self._sampling = (low, count + 1)
        rows, sampled = self._rows, self._sampled
        if self._draw is None:
            like = rows.keys, rows.tables, low, low, sampled
            self._draw = self._memory.prepare(sample_rows, self.num_envs, *like)
        self._draw(rows.keys, rows.tables, low, count, sampled, 0, self.num_envs)
        return self._out(self._form.callers_actions(self._sampled))

    def observe(self, seats: Any) -> Array:
        """Return the observation of every row for one seat, or for a seat per row; a new array.

        Args:
            seats: a seat, or seats (n,), 0 to 3.

        Returns:
            (n, D), int8, or float32 of the width of the chosen form of observations.
        """
        self._require_games()
        rows, places = self._rows, self._memory.put(parse_seats(seats, self.num_envs))
        out = self._memory.empty(rows.observations.shape, np.int8)
        self._run(observe_rows, rows.states, rows.tables, rows.offsets, places, out)
        seen: Array = self._form_of(out).update().seen
        return seen

    def action_masks(self) -> Array:
        """Return the legal actions of each row's seat to act, bool (n, A); a new array."""
        self._require_games()
        masks: Array = self._memory.flags(self._form.refreshed().masks)
        return masks

    def state(self) -> Array:
        """Return the global states, int8 (n, state_size), for centralised critics; a new array."""
        self._require_games()
        rows = self._rows
        out = self._memory.empty((self.num_envs, layout_of(self.rules).state_size), np.int8)
        self._run(global_rows, rows.states, rows.tables, rows.offsets, out)
        return out

    def get_state(self) -> Array:
        """Return a copy of the state rows with their random streams: a `STATE` array (n,)."""
        self._require_games()
        return np.array(self._memory.to_host(self._rows.states))

    @one_at_a_time
    def set_state(self, states: Array, rows: Any = None) -> tuple[Observation, dict[str, Any]]:
        """Write states to some rows, whose running totals start at zero; return as `reset` does.

        Args:
            states: a `STATE` array with an entry for each of `rows`, as `get_state` returns it.
            rows: see `set_deal`; must be None before the first `reset` or `set_state`.

        Raises:
            OptionError: unless each state is a position of this game with a seat to act that legal
                play can reach; nothing has changed.
        """
        places = parse_rows(rows, self.num_envs)
        fresh = checked_states(states, len(places), compile_tables(self.rules))
        waiting = np.flatnonzero(fresh["phase"] >= DEAL)
        if len(waiting):
            raise OptionError(f"states[{waiting[0]}]: the hand is over, no seat is to act")
        if not self._has_stream and rows is not None:
            raise OptionError("rows: expected None before the first reset()")
        self._has_stream = self._form.stale = True
        self.changes += 1
        for array, values in ((self._rows.states, fresh), (self._rows.tallies, 0)):
            changed = self._memory.to_host(array)
            changed[places] = values
            self._memory.write(array, changed)
        self._run(present_rows, self._rows)
        return self._seen()

    def close(self) -> None:
        """End the threads; a later step starts new ones."""
        self._pool.close()
        self._threads.close()

    def _restart(self, chosen: Array, dealers: Array, scores: Array, deals: Array) -> None:
        self.changes, self._form.stale = self.changes + 1, True
        arguments = map(self._memory.put, (chosen, dealers, scores, deals))
        self._run(restart_rows, self._rows, *arguments)
        self._run(present_rows, self._rows)

    def _seen(self) -> tuple[Observation, dict[str, Any]]:
        """Return the result of `reset`."""
        observations, *_, info = self._results(bool(self._memory.to_host(self._rows.ended).any()))
        return observations, info

    def _results(self, some_ended: bool) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """Return the result of `step`."""
        self._form.update()
        if not self.copy:  # a caller may have written into it
            self._memory.fill(self._known, True)
        out = self._out
        seen, mask, seat, rewards, terminated, truncated, ended, present = map(out, self._own)
        info: dict[str, Any] = {
            "seat": seat,
            "_seat": present,
            "action_mask": mask,
            "_action_mask": present,
            "_episode": ended,
        }
        if self._form.renames:
            info |= {"symmetry": self._memory.copy(self._form.symmetries), "_symmetry": present}
        if some_ended:
            episodes = self._rows.episodes._asdict()
            info["episode"] = {name: self._memory.copy(array) for name, array in episodes.items()}
        observations = seen if self._form.is_flat else {"observation": seen, "action_mask": mask}
        return observations, rewards, terminated, truncated, info

    def _require_games(self) -> None:
        if not self._has_stream:
            raise OptionError("nothing has been dealt yet: call reset() first")

    def _fault(self, row: int, action: int) -> str:
        acts = actions.of(self.rules)
        choice = acts.names[action] if 0 <= action < acts.n else action
        state = self._memory.to_host(self._rows.states[row : row + 1])[0]
        return illegal(state, self.rules, choice, f"row {row}: ")

    def __getstate__(self) -> dict[str, Any]:
        derived = {"_form", "_sampled", "_known", "_own", "_out", "_draw"}
        state = {name: value for name, value in self.__dict__.items() if name not in derived}
        return state | {"_rows": self._memory.to_host(self._rows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        tables, offsets = compile_tables(self.rules), layout_of(self.rules).offsets
        self._settle(state["_rows"]._replace(tables=tables, offsets=offsets))  # read-only ones
        self._form.update()

    def __repr__(self) -> str:
        return f"<{self.name} x {self.num_envs}, {self._pool}>"
