"""The Gymnasium vector environment of one learner at each of many tables, stepped together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import logger, spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from bideuchre_env._checks import brief
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import FIRST, N_CELLS
from bideuchre_env.envs.checks import (
    RESET_MASK,
    action_at,
    parse_actions,
    parse_count,
    parse_reset_mask,
    reset_options,
)
from bideuchre_env.envs.face import Face, Observation, row_space
from bideuchre_env.envs.forms import Form
from bideuchre_env.envs.options import SoloVecKeywords, SoloVecOptions
from bideuchre_env.envs.pool import OPPONENTS, OpponentPool
from bideuchre_env.envs.rendering import NO_MODE
from bideuchre_env.envs.solo.batch import SOLO_RESET_OPTIONS, SoloBatch
from bideuchre_env.envs.solo.env import draw_seed
from bideuchre_env.envs.solo.rows import check_actions, pick_rows
from bideuchre_env.errors import IllegalActionError, OptionError, OutOfBoundsError
from bideuchre_env.learning.encoder import FeatureEncoder
from bideuchre_env.rules.rules import Rules, check_game
from bideuchre_env.runtime.jit import Array
from bideuchre_env.runtime.threads import OneAtATime, one_at_a_time

if TYPE_CHECKING:
    from typing_extensions import Unpack


DERIVED = {"_out", "_none", "_cells", "_check"}
"""Attributes that are derived again in a copy, not copied."""
RESULTS = ("hands", "score", "outcome", "winner", "illegal")
"""Fields of `EPISODE` that are infos."""


class SoloVectorEnv(Face, VectorEnv[Observation, Any, Array]):
    """`num_envs` tables with a learner at each: a Gymnasium vector environment.

    Description:
        `cincinnati_v0.solo_vec(n)` and `gymnasium.make_vec` make this environment. Players may
        differ by row. "random", "cautious", "rule" and "net" act inside the kernels; the `act_rows`
        of any other agent is called with all rows in which it is to act.
    Action Space:
        `Discrete(A)` for each row. An invalid action in one row raises before any row has changed.
    Observation Space:
        `obs["observation"]` (n, D) and `obs["action_mask"]` (n, A), int8; with "flat", `obs` (n, D)
        float32. Infos are as in Gymnasium's `SyncVectorEnv`: arrays with masks `_key`.
    Rewards:
        (n,) float64, see `SoloEnv`.
    Starting State:
        With seed s, row i plays as `SoloEnv` with seed s + i, if the other players are
        deterministic functions of their observations, or "random" or "cautious". Any other random
        agent that is made here has one random stream for all its rows.
    Episode End:
        `terminated` and `truncated` (n,) bool; `final_obs` and `final_info` in the mode "SameStep".
    Arguments:
        `rules`, `name`: see `BidEuchreEnv`; `options`: see `SoloVecOptions`. With `device="cuda"`
        (see `BidEuchreVec`) `final_obs` has the form of `obs`, zero where the episode continues.
    Version History:
        See `BidEuchreEnv`.
    """

    _spec: EnvSpec | None = None

    def __init__(
        self, rules: Rules, name: str, num_envs: int = 1, **options: Unpack[SoloVecKeywords]
    ) -> None:
        check_game(rules, name)
        chosen = SoloVecOptions.chosen(options, name)
        self.autoreset_mode = _mode(chosen.autoreset_mode)
        self.num_envs = n = parse_count(num_envs)
        self.metadata = {
            "name": name,
            "render_modes": list(chosen.render_modes),
            "render_fps": 2,
            "features_version": FeatureEncoder.version,
            "autoreset_mode": self.autoreset_mode,
        }
        self.rules, self.copy = rules, chosen.copy
        self.render_mode, self.view = chosen.render_mode, chosen.view
        self.episode, self.reward = chosen.episode, chosen.reward
        self.device, self.observation = chosen.device, chosen.observation
        self._alone = OneAtATime()
        self._reopens = self.autoreset_mode == AutoresetMode.SAME_STEP
        self._rows = SoloBatch(rules, n, chosen, self._reopens, chosen.threads, chosen.device)
        self._settle()
        self.single_observation_space = row_space(rules, self.observation)
        self.single_action_space = spaces.Discrete(self._rows.actions.n)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

    def _settle(self) -> None:
        """Allocate the derived arrays in the memory."""
        n, memory = self._rows.n, self._rows.memory
        self._out = memory.copy if self.copy else memory.view
        self._none, self._cells = memory.put(np.zeros(n, bool)), memory.put(np.full(N_CELLS, n))
        choices, acting = self._rows.callers.choices, self._rows.callers.acting
        like = choices, self._none, 0, choices, acting, self._cells
        self._check = memory.prepare(check_actions, n, *like)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec with which Gymnasium made this environment; None otherwise.

        It can be stored as JSON. JSON has no pairs, only lists, and a list is by row; a pair is
        therefore stored as an `OpponentPool` of one pair. The autoreset mode is stored by name.
        """
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            if isinstance(pair := spec.kwargs.get(OPPONENTS), tuple):
                spec.kwargs[OPPONENTS] = OpponentPool(pair)
            if "autoreset_mode" in spec.kwargs:
                spec.kwargs["autoreset_mode"] = self.autoreset_mode.value
        self._spec = spec

    @property
    def seats(self) -> Array:
        """The learners' seats, int8 (n,); a new array."""
        self._rows.require_games()
        memory = self._rows.memory
        seats: Array = memory.put(memory.to_host(self._rows.callers.seats).astype(np.int8))
        return seats

    @property
    def players(self) -> dict[str, Array]:
        """The current players' names by row, objects (n,), see `SoloEnv.players`."""
        return self._rows.player_names()

    @one_at_a_time
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode in every row, or where `options["reset_mask"]`, bool (n,), is True.

        Args:
            seed: seeds row i with seed + i, or with `seed[i]` of a list, in which None continues
                the row's streams.
            options: those of `SoloEnv.reset`, for every row that is reset; "opponents" and
                "partner" may be lists of length n, in which None leaves a row unchanged.

        Raises:
            OptionError: for invalid arguments; a first reset must include all rows.
        """
        rows, options = self._rows, reset_options(options, *SOLO_RESET_OPTIONS, RESET_MASK)
        chosen = self._reset_mask(options.pop(RESET_MASK, None))
        seeds = self._seeds(seed)
        begin = rows.opening(options, chosen, seeds)
        there = rows.every if chosen.all() else rows.memory.put(chosen)
        if isinstance(seeds, int):
            super().reset(seed=seeds)
        try:
            rows.restart(there, begin)
        except BaseException:
            rows.complete = False
            raise
        rows.complete = True
        return self._observations(), self._infos(there) | self._names(rows.seating, there)

    @one_at_a_time
    def step(self, actions: Any) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """Apply one action in every row; mode "NextStep" ignores those of rows that only restart.

        Args:
            actions: whole numbers (n,), 0 to A - 1; an illegal action ends its row's episode, with
                `illegal_reward`.

        Raises:
            IllegalActionError: before the first reset, for an action that does not exist, and in
                mode "Disabled" if an ended row has not been reset; no row has changed. After an
                error of a player all rows must be reset, see `SoloEnv.step`.
        """
        rows = self._rows
        rows.require_games(IllegalActionError)
        callers, begun = rows.callers, None if self._reopens else self._ended()
        self._take(actions, begun)
        try:
            if rows.form.renames:
                rows.memory.write(callers.choices, rows.form.game_actions(callers.choices))
            rows.step()
            ended, infos = self._ended(), {}
            if ended is not None:
                infos = self._last(ended) if self._reopens else self._results(ended)
        except BaseException:
            rows.complete = False
            raise
        rows.complete = True
        infos |= self._infos(rows.every)
        if begun is not None or ended is not None:
            infos |= self._names(rows.seating, begun, ended)
        ends = map(self._out, (callers.rewards, callers.terminated, callers.truncated))
        return self._observations(), *ends, infos

    def action_masks(self) -> Array:
        """Return the legal actions, bool (n, A), none where an episode is over; a new array."""
        self._rows.require_games()
        masks: Array = self._rows.memory.flags(self._rows.form.masks)
        return masks

    def render(self) -> tuple[Any, ...] | None:
        """Return every table as text or as a picture, by `render_mode`, see `SoloEnv.render`."""
        if self.render_mode is None:
            logger.warn(NO_MODE)
            return None
        self._rows.require_games()
        mode, view = self.render_mode, self.view
        return tuple(self._rows.render(i, mode, view) for i in range(self.num_envs))

    def __repr__(self) -> str:
        name = f"{self.metadata['name']} x {self.num_envs}"
        return f"<{name}, one learner each with {self._rows.assignment.words()}>"

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if "_rows" in self.__dict__:  # Gymnasium also closes environments whose construction failed
            self._rows.close()

    def _names(self, players: Any, *masks: Any) -> dict[str, Any]:
        """The infos "left", "partner", "right" of rows in any mask that draw from a pool, or {}.

        `players` are those of all rows, see `SoloBatch.names_in`.
        """
        infos: dict[str, Any] = {}
        rows, drawn = self._rows, self._rows.assignment.drawn
        chosen = np.zeros(self.num_envs, bool)
        for mask in masks:
            if mask is not None:
                chosen |= rows.memory.to_host(mask) & drawn
        if not chosen.any():
            return infos
        for place, names in rows.names_in(rows.memory.to_host(players)[chosen]).items():
            infos[place], infos[f"_{place}"] = np.empty(self.num_envs, object), chosen.copy()
            infos[place][chosen] = names
        return infos

    def _ended(self) -> Any:
        """A mask of the rows in which an episode has ended since their learner acted, or None."""
        memory, callers = self._rows.memory, self._rows.callers
        if not memory.to_host(callers.some_done)[0] or not memory.to_host(callers.done).any():
            return None
        return memory.copy(callers.done)

    def _take(self, chosen: Any, over: Any) -> None:
        """Check actions, those of rows that are `over` not (errors: see `step`); take them."""
        rows, memory = self._rows, self._rows.memory
        if over is not None and self.autoreset_mode == AutoresetMode.DISABLED:
            raise IllegalActionError(
                f"row {int(memory.to_host(over).argmax())}: its episode is over, and in "
                f"autoreset_mode {self.autoreset_mode.value!r} "
                "reset(options={'reset_mask': ...}) starts another"
            )
        n, cells, callers = rows.actions.n, self._cells, rows.callers
        actions = parse_actions(chosen, rows.n, n, memory)
        idle = self._none if over is None else over
        self._check(actions, idle, n, callers.choices, callers.acting, cells, 0, rows.n)
        row = int(memory.to_host(cells)[FIRST])
        if row < rows.n:
            memory.fill(cells, rows.n)
            memory.fill(callers.acting, False)
            action = action_at(chosen, row, memory)
            raise OutOfBoundsError(f"row {row}: action {action} is out of range: 0 to {n - 1}")

    def _observations(self) -> Observation:
        """The learners' observations; with masks, unless they are flat."""
        form = self._rows.form
        seen = self._out(form.seen)
        return seen if form.is_flat else {"observation": seen, "action_mask": self._out(form.masks)}

    def _infos(self, chosen: Any) -> dict[str, Any]:
        """The infos "action_mask" and "seat" of the rows of a mask; zeros for the others."""
        rows, every = self._rows, chosen is self._rows.every
        infos = {"action_mask": rows.form.masks, "seat": rows.callers.seats}
        if rows.form.renames:
            infos["symmetry"] = rows.form.symmetries
        there = rows.memory.copy(chosen)
        for name in tuple(infos):
            infos[name] = self._out(infos[name]) if every else self._pick(infos[name], chosen)
            infos["_" + name] = there
        return infos

    def _results(self, ended: Any) -> dict[str, Any]:
        """The results, as infos, of episodes that have `ended` in rows; zeros for others."""
        memory, picked = self._rows.memory, self._episodes(ended)
        infos = {name: memory.put(picked[name].copy()) for name in RESULTS}
        return infos | {f"_{name}": memory.copy(ended) for name in infos}

    def _episodes(self, ended: Any) -> Array:
        """The episodes that have `ended`, `EPISODE` (n,) in host memory; zeros for others."""
        memory = self._rows.memory
        at, episodes = memory.to_host(ended), memory.to_host(self._rows.callers.episodes)
        picked: Array = np.zeros_like(episodes)
        picked[at] = episodes[at]
        return picked

    def _last(self, ended: Any) -> dict[str, Any]:
        """The infos of episodes that have `ended` in rows which have begun another one."""
        rows, memory, picked = self._rows, self._rows.memory, self._episodes(ended)
        masks = np.zeros((rows.n, rows.actions.n), np.int8)
        infos: dict[str, Any] = {"action_mask": masks, "seat": picked["seat"].copy()}
        if rows.form.renames:
            infos["symmetry"] = np.zeros(rows.n, np.int64)
        infos = {name: memory.put(array) for name, array in infos.items()}
        infos |= {f"_{name}": memory.copy(ended) for name in infos}
        return {
            "final_obs": self._finals(ended),
            "_final_obs": memory.copy(ended),
            "final_info": self._results(ended) | infos | self._names(picked, ended),
            "_final_info": memory.copy(ended),
        }

    def _finals(self, ended: Any) -> Any:
        """Return the last observations of `ended` rows: objects on the CPU, arrays on a GPU.

        Other rows are None or zeros. No action is legal after the end.
        """
        rows, finals = self._rows, self._rows.callers.finals
        if on_host := rows.memory.name == "cpu":
            at = np.flatnonzero(ended)
            finals = finals[at]
        else:
            finals = self._pick(finals, ended)
        masks = rows.memory.put(np.zeros((len(finals), rows.actions.n), np.int8))
        form = Form(self.rules, self.observation, finals, masks, rows.memory).update()

        def result(seen: Any, mask: Any) -> Observation:
            return seen if form.is_flat else {"observation": seen, "action_mask": mask}

        if not on_host:
            return result(form.seen, form.masks)
        final = np.full(rows.n, None, object)
        for i, seen, mask in zip(at, form.seen, form.masks, strict=True):
            final[i] = result(seen, mask)
        return final

    def _pick(self, values: Any, chosen: Any) -> Any:
        """Copy an array of n rows, with zeros in the rows that are not `chosen`."""
        n, memory = self._rows.n, self._rows.memory
        out = memory.empty(values.shape, values.dtype)
        shape = n, values.size // n
        memory.run(pick_rows, n, values.reshape(shape), chosen, out.reshape(shape))
        return out

    def _seeds(self, seed: Any) -> int | list[int | None] | None:
        """Return the base seed, or one for each row, else `OptionError`; None continues streams."""
        if seed is None:
            return None if self._rows.dealt else draw_seed(self)
        if isinstance(seed, (list, tuple, np.ndarray)):
            if np.ndim(seed) != 1 or len(seed) != self.num_envs:
                raise OptionError(f"seed: expected a seed for each of the {self.num_envs} rows")
            return list(seed)
        split_seed(seed)
        return int(seed)

    def _reset_mask(self, mask: Any) -> Array:
        """Return the rows to reset, bool (n,); `OptionError` if the first reset leaves rows out."""
        chosen = parse_reset_mask(mask, self.num_envs)
        if not self._rows.ready and not chosen.all():
            raise OptionError(
                "reset_mask before the first reset(), or after an error has interrupted a step or "
                "reset: reset all rows first"
            )
        return chosen

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in DERIVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._settle()


def _mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except Exception:  # the enum formats the value in its own error, which may raise anything
        words = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise OptionError(f"autoreset_mode={brief(mode)}: expected one of {words}") from None
