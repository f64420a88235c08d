"""The Gymnasium environment of one learner: its partner and opponents are players of any kind."""

from __future__ import annotations

import operator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from bideuchre_env._jit import Array
from bideuchre_env.episode import VIEWS, check_choice
from bideuchre_env.errors import IllegalActionError, OptionError, OutOfBoundsError, shown
from bideuchre_env.observation import Layout
from bideuchre_env.rules import Rules
from bideuchre_env.solo_batch import SoloBatch
from bideuchre_env.state import Outcome

RENDER_MODES = ("human", "ansi")


class SoloEnv(gymnasium.Env[dict[str, Array], Any]):
    """One learner at a table of Bid Euchre; the other three seats act inside the environment.

    `opponents` and `partner` (the same unless given) are each the name of an agent, an agent, or
    something to call as `f(rules, seed=None)` that makes one. The learner's `seat` is 0 to 3, or
    None to draw one for every episode.

    An observation is `{"observation": (D,) int8, "action_mask": (A,) int8}` of the learner, the
    mask all zeros when the episode is over. The reward of a step is all that the learner's side
    has got, by the `reward` of the AEC environment, up to its next decision or the end of the
    `episode`. An action of the game that is not legal now ends the episode with `illegal_reward`
    and leaves the game as it was; what is no action of the game at all raises `OutOfBoundsError`.

    `reset(seed=s)` deals what the AEC environment reset with s deals, and without a seed the
    stream goes on; the first reset without one draws it (`np_random_seed` tells which). The
    learner's seat and what "random" and "cautious" players named here draw come from a second
    stream of the same seed. Agents made here are made anew, and seeded, when a seed is given;
    an agent object is the caller's to seed.

    `info` holds "action_mask" and "seat"; at the end of an episode also "hands" (how many were
    dealt), "score" (int64 (2,), by side), "outcome" (an `Outcome`), "winner" (a side, or -1) and
    "illegal" (whether an illegal action ended it).
    """

    def __init__(
        self,
        rules: Rules,
        name: str,
        *,
        opponents: Any = "random",
        partner: Any = None,
        seat: int | None = None,
        episode: str = "game",
        reward: str | None = None,
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        view: str | int = "all",
    ) -> None:
        check_choice("view", view, VIEWS)
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        self.metadata = {"name": name, "render_modes": list(RENDER_MODES), "render_fps": 2}
        self.rules, self.render_mode, self.view = rules, render_mode, view
        self._rows = SoloBatch(
            rules,
            1,
            opponents=opponents,
            partner=partner,
            seat=seat,
            episode=episode,
            reward=reward,
            illegal_reward=illegal_reward,
        )
        self.episode, self.reward = self._rows.episode, self._rows.reward
        self.observation_space = row_space(self._rows)
        self.action_space = spaces.Discrete(self._rows.actions.n)
        self._choice = np.zeros(1, np.int64)

    @property
    def observation_layout(self) -> Layout:
        """The blocks of an observation; prints as a table, `decode(obs)` gives words."""
        return self._rows.layout

    @property
    def action_names(self) -> list[str]:
        """The name of every action, by index."""
        return list(self._rows.actions.names)

    @property
    def seat(self) -> int:
        """The learner's seat in this episode."""
        self._require_game()
        return int(self._rows.solos["seat"][0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        """Start an episode and play up to the learner's first turn.

        `options` may hold "dealer", "deal" and "score" as the AEC environment's, and "seat", the
        learner's in this episode; other keys are left alone.
        """
        begin = self._rows.opening(options)
        with self._rows.undone_by_errors():
            if seed is not None:
                self._rows.seed(seed, self._rows.every)
                super().reset(seed=int(seed))
            elif not self._rows.dealt:
                self._rows.seed(drawn_seed(self), self._rows.every)
            self._rows.restart(self._rows.every, begin)
        if self.render_mode == "human":
            self.render()
        return self._seen(), self._info(False)

    def step(self, action: Any) -> tuple[dict[str, Array], float, bool, bool, dict[str, Any]]:
        """The learner's action, and the others' up to its next turn or the end of the episode.

        Raises `IllegalActionError`, and changes nothing, when no episode is going on or `action`
        is no whole number from 0 to A - 1.
        """
        rows = self._rows
        if not rows.dealt or rows.solos["ending"][0]:
            raise IllegalActionError("no episode is going on: reset() starts one")
        self._choice[0] = self._whole(action)
        rows.step(self._choice, rows.every)
        terminated, truncated = bool(rows.terminated[0]), bool(rows.truncated[0])
        if self.render_mode == "human":
            self.render()
        info = self._info(terminated or truncated)
        return self._seen(), float(rows.rewards[0]), terminated, truncated, info

    def action_masks(self) -> Array:
        """Which actions are legal now, bool (A,), as sb3-contrib asks; a new array."""
        self._require_game()
        mask: Array = self._rows.masks[0].astype(bool)
        return mask

    def render(self) -> str | None:
        """The table as text: returned in mode "ansi", printed in mode "human"."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs render_mode='ansi' or 'human' when it is made")
            return None
        self._require_game()
        text = table_of(self._rows, 0, self.view)
        if self.render_mode == "human":
            print(text)
            return None
        return text

    def close(self) -> None:
        """Nothing is held open."""

    def _whole(self, action: Any) -> int:
        n = self._rows.actions.n
        try:
            if isinstance(action, (bool, np.bool_)):
                raise TypeError
            choice = operator.index(action)
        except TypeError:
            raise OutOfBoundsError(
                f"action {shown(action)} is {type(action).__name__}; a whole number from 0 to "
                f"{n - 1} is wanted"
            ) from None
        if not 0 <= choice < n:
            raise OutOfBoundsError(f"action {shown(choice)} is out of range: 0 to {n - 1}")
        return choice

    def _require_game(self) -> None:
        if not self._rows.dealt:
            raise OptionError("nothing has been dealt yet: reset() deals a game")

    def _seen(self) -> dict[str, Array]:
        rows = self._rows
        return {"observation": rows.observations[0].copy(), "action_mask": rows.masks[0].copy()}

    def _info(self, over: bool) -> dict[str, Any]:
        rows = self._rows
        solo = rows.solos[0]
        info = {"action_mask": rows.masks[0].copy(), "seat": int(solo["seat"])}
        if over:
            row = rows.states[0]
            info["hands"], info["score"] = int(solo["hands"]), row["score"].copy()
            outcome = int(row["outcome"])
            info["outcome"] = outcome
            info["winner"] = int(row["winner"]) if outcome == Outcome.WON else -1
            info["illegal"] = bool(solo["illegal"])
        return info


def row_space(rows: SoloBatch) -> spaces.Space[Any]:
    """The space of one learner's observations."""
    box = spaces.Box(rows.layout.low, rows.layout.high, dtype=np.int8)
    mask = spaces.Box(0, 1, (rows.actions.n,), np.int8)
    return spaces.Dict({"observation": box, "action_mask": mask})


def drawn_seed(env: Any) -> int:
    """The seed of an environment that was given none: `np_random`'s own, or drawn from it."""
    seed = int(env.np_random_seed)
    return seed if seed >= 0 else int.from_bytes(env.np_random.bytes(16), "little")


def table_of(rows: SoloBatch, i: int, view: str | int) -> str:
    """The table of row i as text; "actor" sees with the learner's eyes."""
    from bideuchre_env.show import table_text

    viewer = None if view == "all" else int(rows.solos["seat"][i] if view == "actor" else view)
    return table_text(rows.states[i], rows.rules, viewer)
