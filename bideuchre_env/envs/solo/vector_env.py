"""The Gymnasium vector environment of one learner at each of many tables, stepped together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import logger, spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from bideuchre_env._checks import shown
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.envs.checks import RESET_MASK, parse_count, parse_reset_mask, reset_options
from bideuchre_env.envs.face import Face, Observation, row_space
from bideuchre_env.envs.options import SoloVecKeywords, SoloVecOptions
from bideuchre_env.envs.pool import OPPONENTS, Pool
from bideuchre_env.envs.rendering import NO_MODE
from bideuchre_env.envs.solo.batch import PLACES, SOLO_RESET_OPTIONS, SoloBatch
from bideuchre_env.envs.solo.env import drawn_seed, table_of
from bideuchre_env.envs.solo.looks import Looks
from bideuchre_env.errors import IllegalActionError, OptionError, OutOfBoundsError
from bideuchre_env.rules.rules import Rules, check_game
from bideuchre_env.runtime.jit import Array
from bideuchre_env.runtime.threads import OneAtATime, one_at_a_time

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SoloVectorEnv(Face, VectorEnv[Observation, Any, Array]):
    """`num_envs` tables with a learner at each: row i seeded with s is `SoloEnv` seeded with s + i.

    That is so where what others do follows from what they see, and for "random" and "cautious". An
    agent made here that draws lots of its own draws them for all its rows, from the seed s.

    Partner and opponents act inside the batch: named "random", "cautious", "rule" or "net" they are
    part of the kernels, anybody else's `act_rows` is given all the rows where it is its turn. They
    may be other ones in every row.

    Everything is as Gymnasium's `SyncVectorEnv` of `SoloEnv`s gives it: `obs["observation"]`
    (n, D) and `obs["action_mask"]` (n, A) int8, or with `observation="flat"` `obs` (n, D) float32;
    rewards (n,) float64, `terminated` and `truncated` (n,) bool, infos as arrays with masks
    `_key`, `final_obs` and `final_info` in the mode that restarts within a step. What
    `SyncVectorEnv` cannot do is refuse bad actions whole: here no row moves unless there is an
    action of the game for every row that takes one.

    With `device="cuda"` (experimental) the rows are on a GPU, and so are all these arrays, as
    `BidEuchreVec` has them, masks of rows too; but names of players are numpy's. `final_obs` is
    like an observation there, zeros in the rows that go on.
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
            "autoreset_mode": self.autoreset_mode,
        }
        self.rules, self.copy = rules, chosen.copy
        self.render_mode, self.view = chosen.render_mode, chosen.view
        self.episode, self.reward = chosen.episode, chosen.reward
        self.device, self.observation = chosen.device, chosen.observation
        self._alone = OneAtATime()
        self._rows: SoloBatch
        if chosen.device == "cpu":
            self._rows = SoloBatch(rules, n, chosen, threads=chosen.threads)
            self._looks = Looks(self._rows, chosen)
        else:
            from bideuchre_env.envs.solo.on_device import DeviceBatch, DeviceLooks

            self._rows = batch = DeviceBatch(rules, n, chosen)
            self._looks = DeviceLooks(batch, chosen)
        self.single_observation_space = row_space(rules, self.observation)
        self.single_action_space = spaces.Discrete(self._rows.actions.n)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec by which Gymnasium made this environment; None otherwise.

        Its JSON gives back the same players. JSON has no pairs, only lists, and a list is by row;
        a pair is therefore stored as a `Pool` of one pair. The autoreset mode is stored by name.
        """
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            if isinstance(pair := spec.kwargs.get(OPPONENTS), tuple):
                spec.kwargs[OPPONENTS] = Pool(pair)
            if "autoreset_mode" in spec.kwargs:
                spec.kwargs["autoreset_mode"] = self.autoreset_mode.value
        self._spec = spec

    @property
    def seats(self) -> Array:
        """The learners' seats, int8 (n,); a new array."""
        self._rows.require_games()
        return self._looks.seats()

    @property
    def players(self) -> dict[str, Array]:
        """The names of the players now, by row, objects (n,): "left", "partner" and "right"."""
        self._rows.require_games()
        names, numbers = self._rows.names, self._rows.at_hand(self._rows.solos)["player"]
        return {place: names[numbers[:, seat]] for place, seat in PLACES.items()}

    @one_at_a_time
    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode in every row, or where `options["reset_mask"]`, bool (n,), is True.

        `seed` seeds row i with seed + i, or with `seed[i]` of a list, None leaving it its stream.
        The other options are those of `SoloEnv.reset`, for every row that is reset; "opponents" and
        "partner" may be lists of n, by row, in which None leaves a row what it has.
        """
        rows, options = self._rows, reset_options(options, *SOLO_RESET_OPTIONS, RESET_MASK)
        chosen = self._reset_mask(options.pop(RESET_MASK, None))
        ones = chosen.astype(np.int64)
        seeds = self._seeds(seed)
        begin = rows.opening(options, ones, seeds)
        if isinstance(seeds, int):
            super().reset(seed=seeds)
        with rows.changing():
            rows.restart(ones, begin)
        looks = self._looks
        of = looks.all if chosen.all() else looks.mask(chosen)
        return looks.observations(), looks.infos(of) | self._names(of)

    @one_at_a_time
    def step(self, actions: Any) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """One action for every row, whole numbers (n,); those of rows that only restart are unused.

        Raises `IllegalActionError`, and no row has moved, before the first reset, for anything but
        an action of the game, and in mode "Disabled" while an ended row has not been reset. An
        error of a player leaves the games incomplete, as in `SoloEnv.step`: then all rows have to
        be reset.
        """
        looks = self._looks
        self._rows.require_games(IllegalActionError)
        done = looks.done()
        choices = self._checked(actions, done)
        with self._rows.changing():
            if done is not None:
                looks.restart(done)
            looks.step(choices)
            ended = looks.done()
            infos: dict[str, Any] = {}
            if ended is not None:
                infos = looks.results(ended)
                if self.autoreset_mode == AutoresetMode.SAME_STEP:
                    infos = {
                        "final_obs": looks.finals(ended),
                        "_final_obs": looks.copied(ended),
                        "final_info": infos | looks.infos(ended) | self._names(ended),
                        "_final_info": looks.copied(ended),
                    }
                    looks.restart(ended)
        infos |= looks.infos(looks.all)
        infos |= self._names(done, ended)
        return looks.observations(), *looks.ends(), infos

    def action_masks(self) -> Array:
        """Which actions are legal now, bool (n, A): none where an episode is over; a new array."""
        self._rows.require_games()
        return self._looks.action_masks()

    def render(self) -> tuple[Any, ...] | None:
        """Every table, as `SoloEnv.render` gives it: as text, or as a picture."""
        if self.render_mode is None:
            logger.warn(NO_MODE)
            return None
        self._rows.require_games()
        mode, view = self.render_mode, self.view
        return tuple(table_of(self._rows, i, mode, view) for i in range(self.num_envs))

    def __repr__(self) -> str:
        name = f"{self.metadata['name']} x {self.num_envs}"
        return f"<{name}, one learner each with {self._rows.seating.words()}>"

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads go."""
        if "_rows" in self.__dict__:  # Gymnasium closes what could not be made, too
            self._rows.close()

    def _names(self, *masks: Any) -> dict[str, Any]:
        """Who has been drawn to play in the rows of these masks: nothing where nobody was."""
        infos: dict[str, Any] = {}
        rows, drawn = self._rows, self._rows.seating.drawn
        if not drawn.any():
            return infos
        chosen = np.zeros(self.num_envs, bool)
        for mask in masks:
            if mask is not None:
                chosen |= rows.at_hand(mask) & drawn
        if not chosen.any():
            return infos
        at = np.flatnonzero(chosen)
        names = rows.names[rows.at_hand(rows.solos)["player"][at]]
        for place, seat in PLACES.items():
            infos[place], infos[f"_{place}"] = np.empty(self.num_envs, object), chosen.copy()
            infos[place][at] = names[:, seat]
        return infos

    def _checked(self, actions: Any, done: Any) -> Any:
        """The actions, the environment's own copy, each an action of the game."""
        looks, rows = self._looks, self._rows
        if done is not None and self.autoreset_mode != AutoresetMode.NEXT_STEP:
            raise IllegalActionError(
                f"row {int(rows.at_hand(done).argmax())}: its episode is over, and in "
                f"autoreset_mode {self.autoreset_mode.value!r} "
                "reset(options={'reset_mask': ...}) starts another"
            )
        choices, row = looks.take(actions, done)
        if row >= 0:
            action, last = looks.action_of(actions, row), rows.actions.n - 1
            raise OutOfBoundsError(f"row {row}: action {action} is out of range: 0 to {last}")
        return choices

    def _seeds(self, seed: Any) -> int | list[int | None] | None:
        """The base seed, or a list of every row's; None where the rows go on with their streams."""
        if seed is None:
            return None if self._rows.dealt else drawn_seed(self)
        if isinstance(seed, (list, tuple, np.ndarray)):
            if np.ndim(seed) != 1 or len(seed) != self.num_envs:
                raise OptionError(f"seed: a seed for each of the {self.num_envs} rows is expected")
            return list(seed)
        split_seed(seed)
        return int(seed)

    def _reset_mask(self, mask: Any) -> Array:
        """Return the rows to reset, bool (n,)."""
        chosen = parse_reset_mask(mask, self.num_envs)
        if not self._rows.ready and not chosen.all():
            raise OptionError(
                "reset_mask before the first reset(), or after an error has interrupted a step or "
                "reset: reset all rows first"
            )
        return chosen


def _mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except Exception:  # the enum formats the value in its own error, which may raise anything
        words = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise OptionError(f"autoreset_mode={shown(mode)}: one of {words}") from None
