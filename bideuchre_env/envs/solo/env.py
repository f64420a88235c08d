"""The Gymnasium environment of one learner; partner and opponents act inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium import spaces

from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.envs.checks import reset_options
from bideuchre_env.envs.face import Face, Observation, row_space, whole_action
from bideuchre_env.envs.options import SoloKeywords, SoloOptions
from bideuchre_env.envs.rendering import NO_MODE
from bideuchre_env.envs.solo.batch import SOLO_RESET_OPTIONS, SoloBatch
from bideuchre_env.errors import IllegalActionError
from bideuchre_env.learning.encoder import FeatureEncoder
from bideuchre_env.rules.rules import Rules, check_game
from bideuchre_env.runtime.jit import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SoloEnv(Face, gymnasium.Env[Observation, Any]):
    """A learner at a table of Bid Euchre: a Gymnasium environment.

    `help(bideuchre_env.cincinnati_v0)` prints the rules and the numbers of a variant.

    Description:
        The other three seats act inside the environment. `cincinnati_v0.solo(opponents="rule")` and
        `gymnasium.make("bideuchre/Cincinnati-v0")` make it.
    Action Space:
        `Discrete(A)`. `action_names` has the names; `step` accepts a number or a name. An action
        that does not exist raises `OutOfBoundsError`.
    Observation Space:
        `{"observation": (D,) int8, "action_mask": (A,) int8}` of the learner; the mask is all zeros
        when the episode is over. With `observation="flat"`, the vector alone, float32 (D,) in [-1,
        1]; with "features", (F,), see `EpisodeOptions.observation`. `info` has "action_mask" and
        "seat", with features also "symmetry".
    Rewards:
        The sum of the side's rewards, see `BidEuchreEnv`, up to the learner's next decision or the
        end of the episode.
    Starting State:
        `reset(seed=s)` deals as `BidEuchreEnv` with seed s; without a seed the random stream
        continues, and the first reset draws a seed (`np_random_seed`). A second stream of the same
        seed decides the learner's seat, the players drawn from an `OpponentPool`, and the choices
        of "random" and "cautious". A reset with a seed also makes and seeds again the agents that
        were given by name, class or factory; the caller seeds agent objects.
    Episode End:
        As in `BidEuchreEnv`; an illegal action also ends the episode, with `illegal_reward` (by
        default minus an upper bound of its loss), and does not change the game. `info` then has
        "hands" (the number finished, passed-out ones included), "score" (int64 (2,), by side),
        "outcome" (an `Outcome`), "winner" (a side, or -1) and "illegal" (whether an illegal action
        ended it). If players are drawn from an `OpponentPool`, it has their names at the start and
        the end of an episode: "left", "partner" and "right", like `players`.
    Arguments:
        - `rules`, `name`: see `BidEuchreEnv`.
        - `options`: `opponents`, `partner`, `seat`, `illegal_reward` and the options of
          `BidEuchreEnv`, see `SoloOptions`.
    Version History:
        See `BidEuchreEnv`.
    """

    def __init__(self, rules: Rules, name: str, **options: Unpack[SoloKeywords]) -> None:
        check_game(rules, name)
        chosen = SoloOptions.chosen(options, name)
        self.metadata = {
            "name": name,
            "render_modes": list(chosen.render_modes),
            "render_fps": 2,
            "features_version": FeatureEncoder.version,
        }
        self.rules, self.render_mode, self.view = rules, chosen.render_mode, chosen.view
        self.episode, self.reward = chosen.episode, chosen.reward
        self.observation = chosen.observation
        self._rows = SoloBatch(rules, 1, chosen, False, 1, "cpu")
        self.observation_space = row_space(rules, self.observation)
        self.action_space = spaces.Discrete(self._rows.actions.n)

    @property
    def seat(self) -> int:
        """The learner's seat in this episode; `OptionError` before the first reset."""
        self._rows.require_games()
        return int(self._rows.seating["seat"][0])

    @property
    def players(self) -> dict[str, str]:
        """The names of the players in this episode: "left" of the learner, "partner", "right".

        Raises `OptionError` before the first reset if it draws them from an `OpponentPool`.
        """
        return {place: names[0] for place, names in self._rows.player_names().items()}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode and play up to the learner's first turn.

        Args:
            seed: 0 to 2**128 - 1; None continues the random streams.
            options: may contain "dealer", "deal" and "score", see `BidEuchreEnv.reset`; "seat", the
                learner's seat in this episode; and "opponents" and "partner", which replace the
                options of these names from this episode on.

        Raises:
            OptionError: for other keys and invalid values; nothing has changed. An error of a
                player has the same effect as in `step`.
        """
        rows, chosen = self._rows, reset_options(options, *SOLO_RESET_OPTIONS)
        if seed is not None:
            split_seed(seed)
        stream = draw_seed(self) if seed is None and not rows.dealt else seed
        begin = rows.opening(chosen, rows.every, stream)
        if seed is not None:
            super().reset(seed=int(seed))
        try:
            rows.restart(rows.every, begin)
        except BaseException:
            rows.complete = False
            raise
        rows.complete = True
        if self.render_mode == "human":
            self.render()
        return self._seen(), self._info(False) | self._drawn()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply the learner's action, then the others' up to its next turn or the episode's end.

        Args:
            action: a whole number from 0 to A - 1, or an action's name ("bid 4 H", "j♥"). An
                illegal one ends the episode.

        Raises:
            IllegalActionError: for any other action, and if no episode is running; nothing has
                changed. Also, naming the player, for an illegal action of a partner or opponent.
                After that, or after any error of a player, the game is incomplete, and every call
                but `reset` raises an error that says so.
        """
        rows = self._rows
        rows.require_games(IllegalActionError)
        if rows.seating["ending"][0]:
            raise IllegalActionError("no episode in progress: call reset() first")
        callers = rows.callers
        callers.choices[0] = whole_action(action, self.rules, "", rows.states)
        if not isinstance(action, str):  # a name has the game's suit
            callers.choices[:] = rows.form.game_actions(callers.choices)
        callers.acting[0] = True
        try:
            rows.step()
        except BaseException:
            rows.complete = False
            raise
        rows.complete = True
        terminated, truncated = bool(callers.terminated[0]), bool(callers.truncated[0])
        if self.render_mode == "human":
            self.render()
        info = self._info(terminated or truncated)
        return self._seen(), float(callers.rewards[0]), terminated, truncated, info

    def action_masks(self) -> Array:
        """Return the learner's legal actions, bool (A,), in a new array; none after the end.

        sb3-contrib calls this method.
        """
        self._rows.require_games()
        mask: Array = self._rows.form.masks[0].astype(bool)
        return mask

    def render(self) -> str | Array | None:
        """The table as text: returned in mode "ansi", printed in mode "human"; or as a picture.

        In mode "rgb_array" it is a new array of pixels, uint8 (488, 760, 3), and needs the extra
        `render`: without Pillow it raises Gymnasium's `DependencyNotInstalled`. Without a render
        mode it logs a warning and returns None.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(NO_MODE)
            return None
        self._rows.require_games()
        return self._rows.render(0, self.render_mode, self.view)

    def __repr__(self) -> str:
        name, rows = self.metadata["name"], self._rows
        name = f"{name}, one learner with {rows.assignment.words()}"
        if not rows.ready:
            state = "interrupted by an error" if rows.dealt else "nothing dealt yet"
            return f"<{name}: {state}>"
        score = "{} to {}".format(*rows.states[0]["score"].tolist())
        return f"<{name}: in seat {self.seat}, score {score}>"

    def _seen(self) -> Observation:
        form = self._rows.form
        seen = form.seen[0].copy()
        return seen if form.is_flat else {"observation": seen, "action_mask": form.masks[0].copy()}

    def _drawn(self) -> dict[str, str]:
        """The players of this episode if drawn from an `OpponentPool`, else an empty dict."""
        return self.players if self._rows.assignment.drawn[0] else {}

    def _info(self, over: bool) -> dict[str, Any]:
        rows = self._rows
        info = {"action_mask": rows.form.masks[0].copy(), "seat": int(rows.callers.seats[0])}
        if rows.form.renames:
            info["symmetry"] = int(rows.form.symmetries[0])
        if over:
            episode = rows.callers.episodes[0]
            info |= {name: int(episode[name]) for name in ("hands", "outcome", "winner")}
            info["score"], info["illegal"] = episode["score"].copy(), bool(episode["illegal"])
            info |= self._drawn()
        return info


def draw_seed(env: Any) -> int:
    """Return the seed of a Gymnasium environment's `np_random`, or if unknown, a draw from it."""
    seed = int(env.np_random_seed)
    return seed if seed >= 0 else int.from_bytes(env.np_random.bytes(16), "little")
