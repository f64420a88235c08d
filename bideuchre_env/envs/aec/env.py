"""The PettingZoo AEC environment of any `Rules`: a batch of one row, and PettingZoo's bookkeeping.

`raw_env` raises `IllegalActionError` for an illegal action; `env` (`wrapped.py`) ends the game
instead, as PettingZoo's wrappers do. Each step writes the observation and the mask of the next seat
to new arrays, which `last()` returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from bideuchre_env._checks import check_flag
from bideuchre_env.core.episode import GOES_ON, TRUNCATED_THERE
from bideuchre_env.core.legality import illegal
from bideuchre_env.core.one_row import (
    NOT_LEGAL,
    deal_given_row,
    direct_kernels,
    global_row,
    mask_row,
    start_row,
)
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import seed_rows
from bideuchre_env.core.state import DEAL, new_states, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.aec.bookkeeping import Bookkeeping
from bideuchre_env.envs.aec.copies import Copies
from bideuchre_env.envs.checks import reset_options
from bideuchre_env.envs.face import Face, Observation, fresh_rows, item_of, row_space, whole_action
from bideuchre_env.envs.options import ViewKeywords, ViewOptions
from bideuchre_env.envs.rendering import NO_MODE, render_table
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.learning.encoder import FeatureEncoder, decision_encoder_of
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import AGENT_NAMES
from bideuchre_env.rules.parse import parse_deal, parse_dealer, parse_score
from bideuchre_env.rules.rules import Rules, check_game
from bideuchre_env.runtime.jit import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack

_INT64 = np.int64
_SEATS = {agent: seat for seat, agent in enumerate(AGENT_NAMES)}


class BidEuchreEnv(Copies, Bookkeeping, Face):
    """A table of Bid Euchre: a PettingZoo AEC environment without wrappers.

    `help(bideuchre_env.cincinnati_v0)` prints the rules and the numbers of a variant.

    Description:
        Agents `player_0` to `player_3` act in turn; 0 and 2 are partners, 1 and 3 are partners.
        `cincinnati_v0.raw_env()` makes this environment; `cincinnati_v0()` is a `WrappedEnv` of it.
    Action Space:
        `Discrete(A)`. `action_names` has the names; `step` accepts a number or a name.
    Observation Space:
        `{"observation": (D,) int8, "action_mask": (A,) int8}`, without hidden information; the mask
        is all zeros for a seat that is not to act. With `observation="flat"`, the vector alone,
        float32 (D,) in [-1, 1], and every agent's info has its "action_mask". With "features",
        (F,), see `EpisodeOptions.observation`; the info of the agent to act also has "symmetry".
        The mask in the info of the agent to act is the array that the first `last()` returns.
        `observation_layout` and `features` describe the vectors.
    Rewards:
        With `reward="win"`, 1 to the winners and -1 to the losers at the end of a won game; with
        "points", after each hand the side's points minus those of the other side. Partners get the
        same reward, and the two sides sum to zero.
    Starting State:
        A random dealer and random hands; `reset` can set the dealer, the hands and the score.
        Before the first `reset`, methods that need a game raise `OptionError`.
    Episode End:
        Terminated when the game is won or drawn, or with `episode="hand"` when a hand is over. A
        game is truncated after `rules.max_hands` deals. An illegal action raises
        `IllegalActionError`.
    Arguments:
        - `rules`: the `Rules` of the game; `name`: the name of the variant.
        - `options`: `episode`, `reward`, `observation`, `render_mode` and `view`, see
          `ViewOptions`.
    Version History:
        Variants are versioned: `cincinnati_v0` is the initial version.
    """

    def __init__(self, rules: Rules, name: str, **options: Unpack[ViewKeywords]) -> None:
        super().__init__()
        check_game(rules, name)
        chosen = ViewOptions.chosen(options, name)
        self.metadata = {
            "name": name,
            "render_modes": list(chosen.render_modes),
            "is_parallelizable": False,
            "render_fps": 2,
            "features_version": FeatureEncoder.version,
        }
        self.rules, self.episode, self.reward = rules, chosen.episode, chosen.reward
        self.observation = chosen.observation
        self.render_mode, self.view = chosen.render_mode, chosen.view
        self.possible_agents = list(AGENT_NAMES)
        self._derive()
        layout, width = self.observation_layout, actions.of(rules).n
        self.state_space = spaces.Box(*layout.state_bounds(), dtype=np.int8)
        self.observation_spaces = {
            agent: row_space(rules, self.observation) for agent in AGENT_NAMES
        }
        self.action_spaces = {agent: spaces.Discrete(width) for agent in AGENT_NAMES}
        self._states = new_states(1)
        self._has_stream = False
        self._seed: int | None = None
        self._start = (0, 0)
        self._finished: list[bytes] = []  # the last state row of every finished hand
        self._symmetry = 0  # of the actor's features
        self._legal = np.zeros(0, np.int8)  # renamed mask of the actor; never overwritten

    def _derive(self) -> None:
        """Compute the attributes that depend only on the rules and options."""
        self._is_flat = self.observation != "dict"
        self._encoder = decision_encoder_of(self.rules) if self.observation == "features" else None
        self._tables = compile_tables(self.rules)
        layout = self.observation_layout
        self._offsets, self._scale = layout.offsets, layout.scale
        self._play, self._deal, self._look, self._observe, self._reward, self._ending = (
            direct_kernels()
        )
        self._n_actions = actions.of(self.rules).n
        self._fresh = zip(fresh_rows(layout.size), fresh_rows(self._n_actions), strict=False)
        # view (until `last` returns it) and mask of the actor; callers may overwrite both
        self._seen: Array | None = None
        self._mask: Array | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return an agent's observation space, always the same object; `OptionError` if unknown."""
        return item_of(self.observation_spaces, agent)

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return an agent's action space, always the same object; `OptionError` if unknown."""
        return item_of(self.action_spaces, agent)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: 0 to 2**128 - 1, starts the random stream of deals; None continues the stream.
            options: may contain "dealer" (a seat), "deal" (four lists of card names, by seat, for
                the first hand) and "score" (the first scores of both sides).

        Raises:
            OptionError: for any other key, except "options", which PettingZoo's own tests pass, and
                for an invalid value.
        """
        chosen = reset_options(options, ignored=("options",))
        dealer = parse_dealer(chosen.get("dealer"))
        score = parse_score(chosen.get("score"))
        deal = chosen.get("deal")
        hands = None if deal is None else parse_deal(deal, self.rules)
        if seed is not None or not self._has_stream:
            seed_rows(self._states, *split_seed(seed))
            self._has_stream = True
        self._seed = None if seed is None or hands is not None else int(seed)
        self._start = score
        self._finished = []
        start_row(self._states, dealer, *score)
        self._begin_bookkeeping()
        if hands is None:
            self._call_on(self._deal)
        else:
            deal_given_row(self._states, self._tables, hands)
            self._call_on(self._look)

    def _call_on(self, kernel: Callable[..., int]) -> None:
        """Let a kernel write the view and mask of the next seat, and select that seat."""
        seen, mask = next(self._fresh)
        seat = kernel(self._states, self._tables, self._offsets, seen, mask)
        self._seen, self._mask = seen, mask
        self.agent_selection = self._actor = agent = AGENT_NAMES[seat]
        self.infos[agent] = {"action_mask": mask}
        if self._is_flat:
            self._convert(agent, seen, mask)

    def _convert(self, agent: str, seen: Array, mask: Array) -> None:
        """Convert the view of the agent to act to the form of observations."""
        if self._encoder is None:
            self._seen = seen * self._scale
        else:
            self._seen, self._legal, self._symmetry = self._encoder.encode(seen, mask)
            self.infos[agent] = {"action_mask": self._legal.copy(), "symmetry": self._symmetry}

    def _require_game(self) -> None:
        """Raise `OptionError` before the first reset."""
        if not self._has_stream:
            raise OptionError("nothing has been dealt yet: call reset() first")

    def last(self, observe: bool = True) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, termination, truncation and info of the agent to act.

        The reward is the sum since its last action. Raises `OptionError` if no agent is left.

        Args:
            observe: False returns None as the observation.
        """
        if self._actor is None:
            self._require_game()
            if not self.agents:
                raise OptionError("no game in progress: call reset() first")
        if observe is not True and observe is not False:
            check_flag("observe", observe)  # type: ignore[unreachable]
        agent = self.agent_selection
        ended, cut = self.terminations[agent], self.truncations[agent]
        seen: Observation = None
        if observe:
            seen = self._seen
            if seen is None or ended or cut or agent is not self._actor:
                seen = self.observe(agent)
            else:
                self._seen = None
                if not self._is_flat:
                    seen = {"observation": seen, "action_mask": self._mask}
        return seen, self._cumulative_rewards[agent], ended, cut, self.infos[agent]

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation, in new arrays; also for an agent that is not to act."""
        self._require_game()
        seat, (observation, mask) = item_of(_SEATS, agent), next(self._fresh)
        if self._is_flat or AGENT_NAMES[seat] != self._actor or self._over:
            self._observe(self._states, self._tables, self._offsets, seat, observation)
            mask[:] = 0
        else:
            self._look(self._states, self._tables, self._offsets, observation, mask)
        if self._encoder is not None:
            return self._encoder.encode(observation, mask)[0]
        if self._is_flat:
            return observation * self._scale
        return {"observation": observation, "action_mask": mask}

    def _info(self) -> dict[str, Any]:
        if self._is_flat:
            return {"action_mask": np.zeros(self._n_actions, np.int8)}
        return {}

    @property
    def _over(self) -> bool:
        """Whether no agent may act: the episode has ended, or a caller has ended it."""
        agent = self._actor
        return agent is None or self.terminations[agent] or self.truncations[agent]

    def action_masks(self) -> Array:
        """Return the legal actions of the agent to act, bool (A,); a new array.

        All entries are False if no agent is to act.
        """
        self._require_game()
        mask = np.zeros(self._n_actions, np.int8)
        if self._encoder is not None and not self._over:
            mask = self._legal
        elif not self._over:
            mask_row(self._states, self._tables, mask)
        return mask.astype(bool)

    def state(self) -> Array:
        """Return the global state, int8 (state_size,): private blocks by seat, then public ones."""
        self._require_game()
        out = np.empty(self.observation_layout.state_size, np.int8)
        global_row(self._states, self._tables, self._offsets, out)
        return out

    def get_state(self) -> Array:
        """Return a copy of the state row with its random stream: a `STATE` array of shape (1,)."""
        self._require_game()
        return np.array(self._states)

    def step(self, action: Any) -> None:
        """Apply the action of `agent_selection`.

        Args:
            action: the number or the name ("bid 4 H", "j♥") of a legal action; None for an agent
                whose game is over.

        Raises:
            IllegalActionError: for any other action, and if no agent is left; nothing has changed.
            ValueError: for an action other than None of an agent whose game is over.
        """
        agent = self._actor
        if agent is None or self.terminations[agent] or self.truncations[agent]:
            if not self.__dict__.get("agents"):
                raise IllegalActionError("no game in progress: call reset() first")
            self._was_dead_step(action)
            return
        kind = type(action)
        if kind is not _INT64 and not (kind is int and 0 <= action < self._n_actions):
            action = whole_action(action, self.rules, f"{agent}: ", self._states)
        if self._encoder is not None and not issubclass(kind, str):  # a name is not renamed
            action = self._encoder.action(action, self._symmetry)
        seen, mask = next(self._fresh)
        turn = self._play(self._states, self._tables, self._offsets, action, seen, mask)
        if turn == NOT_LEGAL:
            self._refuse(action)
        if self._paid:
            self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        infos = self.infos
        infos[agent] = self._info() if self._is_flat else {}  # `_info`, in place
        if turn >= 0:  # `_call_on`, in place
            self._seen, self._mask = seen, mask
            self.agent_selection = self._actor = agent = AGENT_NAMES[turn]
            infos[agent] = {"action_mask": mask}
            if self._is_flat:
                self._convert(agent, seen, mask)
        else:
            self._end_hand()
        if self.render_mode == "human":
            self.render()

    def _refuse(self, action: Any) -> None:
        name = self.action_names[whole_action(action, self.rules, f"{self.agent_selection}: ")]
        raise IllegalActionError(illegal(self._states[0], self.rules, name))

    def _end_hand(self) -> None:
        """Save the hand's last row for the record, pay rewards, then end the episode or deal."""
        states = self._states
        self._finished.append(states.tobytes())
        earned = self._reward(states, self.reward == "points")
        if earned:
            self._pay(earned)
        end = self._ending(states, self.episode == "hand")
        if end != GOES_ON:
            self._end_bookkeeping(truncated=end == TRUNCATED_THERE)
        else:
            self._call_on(self._deal)

    @property
    def record(self) -> GameRecord:
        """The record of the game: all finished hands and the hand in progress."""
        rows = list(self._finished)
        if self._states[0]["phase"] < DEAL and hasattr(self, "agents"):
            rows.append(self._states.tobytes())
        return GameRecord.from_sound_rows(
            rows_of(rows),
            self.rules,
            str(self.metadata["name"]),
            seed=self._seed,
            start=self._start,
        )

    def render(self) -> str | Array | None:
        """The table as text: returned in mode "ansi", printed in mode "human"; or as a picture.

        In mode "rgb_array" it is a new array of pixels, uint8 (488, 760, 3); without Pillow (extra
        `render`) it raises `DependencyNotInstalled`. Without a mode: a warning and None.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(NO_MODE)
            return None
        self._require_game()
        row = self._states[0]
        return render_table(self.render_mode, row, self.rules, self.view, int(row["turn"]))

    def __repr__(self) -> str:
        name = self.metadata["name"]
        if not self._has_stream:
            return f"<{name}: nothing dealt yet>"
        row = self._states[0]
        score = "{} to {}".format(*row["score"].tolist())
        turn = "over" if self._over else f"{self.agent_selection} to act"
        return f"<{name}: hand {row['hands_dealt']}, {turn}, score {score}>"

    def close(self) -> None:
        """Do nothing: nothing is open. PettingZoo's API test requires the method."""
