"""The PettingZoo AEC environment of any `Rules`: a batch of one row, and PettingZoo's books.

`raw_env` raises `IllegalActionError` for an action that is not legal; `env` wraps it as PettingZoo
does, so that an illegal action ends the game instead.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from bideuchre_env import actions
from bideuchre_env._jit import Array
from bideuchre_env.batch import (
    deal_given_row,
    deal_row,
    global_row,
    mask_row,
    observe_row,
    seed_rows,
    start_rows,
    step_row,
)
from bideuchre_env.cards import AGENT_NAMES
from bideuchre_env.deal import split_seed
from bideuchre_env.deals import parse_deal, parse_dealer, parse_score, parse_seat
from bideuchre_env.errors import IllegalActionError, OptionError, OutOfBoundsError, shown
from bideuchre_env.observation import Layout, layout_of
from bideuchre_env.record import GameRecord, illegal
from bideuchre_env.resample import new_scratch, resample_row
from bideuchre_env.rules import Rules
from bideuchre_env.state import DEAL, OVER, Outcome, new_states
from bideuchre_env.tables import compile_tables

EPISODES = ("game", "hand")
REWARDS = ("win", "points")
VIEWS = ("all", "actor", 0, 1, 2, 3)


class BidEuchreEnv(AECEnv[str, dict[str, Array], Any]):
    """One table of Bid Euchre: four agents `player_0` to `player_3`, partners opposite.

    An observation is `{"observation": (D,) int8, "action_mask": (A,) int8}`; the mask is all zeros
    for a seat that is not to act. `episode` is a whole "game" or one "hand"; `reward` is "win"
    (+1 and -1 to the sides at the end of a won game, 0 otherwise) or "points" (after each hand, the
    side's points minus the other's). Partners get the same reward and the two sides sum to zero.
    """

    def __init__(
        self,
        rules: Rules,
        name: str,
        *,
        episode: str = "game",
        reward: str | None = None,
        render_mode: str | None = None,
        view: str | int = "all",
    ) -> None:
        super().__init__()
        if reward is None:
            reward = "win" if episode == "game" else "points"
        _check_choice("episode", episode, EPISODES)
        _check_choice("reward", reward, REWARDS)
        _check_choice("view", view, VIEWS)
        _check_choice("render_mode", render_mode, (None, "human", "ansi"))
        self.metadata = {
            "name": name,
            "render_modes": ["human", "ansi"],
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.rules, self.episode, self.reward = rules, episode, reward
        self.render_mode, self.view = render_mode, view
        self.possible_agents = list(AGENT_NAMES)
        self._derive()
        layout = self.observation_layout
        box = spaces.Box(layout.low, layout.high, dtype=np.int8)
        mask = spaces.Box(0, 1, (self._actions.n,), np.int8)
        self.state_space = spaces.Box(*layout.state_bounds(), dtype=np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": box, "action_mask": mask}) for agent in AGENT_NAMES
        }
        self.action_spaces = {agent: spaces.Discrete(self._actions.n) for agent in AGENT_NAMES}
        self._states = new_states(1)
        self._has_stream = False
        self._seed: int | None = None
        self._start = (0, 0)
        self._finished: list[Array] = []
        self._mask = np.zeros(self._actions.n, np.int8)

    def _derive(self) -> None:
        """What follows from the rules and is not part of the game's state."""
        self._actions = actions.of(self.rules)
        self._tables = compile_tables(self.rules)
        self._offsets = self.observation_layout.offsets

    @property
    def observation_layout(self) -> Layout:
        """The blocks of the observation; prints as a table, `decode(obs)` gives words."""
        return layout_of(self.rules)

    @property
    def action_names(self) -> list[str]:
        """The name of every action, by index."""
        return list(self._actions.names)

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same space object for an agent every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The same `Discrete` object for an agent every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        `seed` (0 to 2**128 - 1) restarts the stream that deals; None goes on with it. `options`
        may hold "dealer" (a seat), "deal" (four lists of card names, by seat, for the first hand)
        and "score" (both sides' points to start from); other keys are left alone.
        """
        if options is not None and not isinstance(options, Mapping):
            raise OptionError(f"options={shown(options)}: a mapping as {{'dealer': 0}}, or None")
        chosen = dict(options or {})
        dealer = parse_dealer(chosen.get("dealer"))
        score = parse_score(chosen.get("score"))
        given = chosen.get("deal")
        hands = None if given is None else parse_deal(given, self.rules)
        if seed is not None or not self._has_stream:
            seed_rows(self._states, *split_seed(seed))
            self._has_stream = True
        self._seed = None if seed is None or hands is not None else int(seed)
        self._start = score
        self._finished = []
        start_rows(self._states, self._tables, np.array([dealer], np.int64))
        self._states["score"][0] = score
        if hands is None:
            deal_row(self._states, self._tables)
        else:
            deal_given_row(self._states, self._tables, hands)
        self.agents = list(AGENT_NAMES)
        self.rewards = dict.fromkeys(AGENT_NAMES, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENT_NAMES, 0.0)
        self.terminations = dict.fromkeys(AGENT_NAMES, False)
        self.truncations = dict.fromkeys(AGENT_NAMES, False)
        self._skip_agent_selection = None
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENT_NAMES}
        self._call_on(int(self._states[0]["turn"]))

    def _call_on(self, seat: int) -> None:
        """Make a seat the one to act, its mask in its observation and info and in no other's."""
        mask = np.empty(self._actions.n, np.int8)
        mask_row(self._states, self._tables, mask)
        self._mask = mask
        for agent in self.agents:
            self.infos[agent] = {}
        self.agent_selection = AGENT_NAMES[seat]
        self.infos[self.agent_selection] = {"action_mask": mask.copy()}  # `_mask` guards kernels

    def _require_game(self) -> None:
        """Raise `OptionError` before the first reset, when there is nothing to look at."""
        if not self._has_stream:
            raise OptionError("nothing has been dealt yet: reset() deals a game")

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, Array] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last action, termination, truncation and info of the agent
        to act."""
        self._require_game()
        return super().last(observe)  # type: ignore[no-any-return]

    def observe(self, agent: str) -> dict[str, Array]:
        """What an agent sees now; for any agent at any time, new arrays every time."""
        self._require_game()
        seat = _seat_of(agent)
        observation = np.empty(self.observation_layout.size, np.int8)
        observe_row(self._states, self._tables, self._offsets, seat, observation)
        acts = agent == self.agent_selection and not self._over
        mask = self._mask.copy() if acts else np.zeros(self._actions.n, np.int8)
        return {"observation": observation, "action_mask": mask}

    @property
    def _over(self) -> bool:
        """Whether the episode is over: nobody is left, or everybody left is done."""
        return not self.agents or any(self.terminations.values()) or any(self.truncations.values())

    def state(self) -> Array:
        """Everything, int8 of shape (state_size,): four seats' private blocks, then the public."""
        self._require_game()
        out = np.empty(self.observation_layout.state_size, np.int8)
        global_row(self._states, self._tables, self._offsets, out)
        return out

    def step(self, action: Any) -> None:
        """Carry out the action of `agent_selection`.

        Raises `IllegalActionError`, and changes nothing, unless `action` is a whole number that
        the mask allows (None for an agent whose game is over).
        """
        if not self.__dict__.get("agents"):
            raise IllegalActionError("no game is going on: reset() deals one")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        choice = self._checked(action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        step_row(self._states, self._tables, choice)
        if self._states[0]["phase"] >= DEAL:
            self._end_hand()
        if not self._over:
            self._call_on(int(self._states[0]["turn"]))
        self._accumulate_rewards()
        if self._over:
            self.infos = {agent: {} for agent in self.agents}
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def whole_action(self, action: Any) -> int:
        """An action as a number in range; `OutOfBoundsError` for anything else."""
        try:
            if isinstance(action, (bool, np.bool_)):
                raise TypeError
            choice = operator.index(action)
        except TypeError:
            raise OutOfBoundsError(
                f"{self.agent_selection}: action {shown(action)} is {type(action).__name__}; a "
                f"whole number from 0 to {self._actions.n - 1} is wanted"
            ) from None
        if not 0 <= choice < self._actions.n:
            raise OutOfBoundsError(
                f"{self.agent_selection}: action {shown(choice)} is out of range: 0 to "
                f"{self._actions.n - 1}"
            )
        return choice

    def _checked(self, action: Any) -> int:
        choice = self.whole_action(action)
        if not self._mask[choice]:
            given = self._actions.names[choice]
            raise IllegalActionError(illegal(self._states[0], self.rules, given))
        return choice

    def _end_hand(self) -> None:
        """Keep the hand's last row for the record, pay out, and end the episode or deal again."""
        row = self._states[0]
        self._finished.append(self._states.copy())
        over = bool(row["phase"] == OVER)
        self._pay(over)
        truncated = over and row["outcome"] == Outcome.TRUNCATED and self.episode == "game"
        if truncated:
            self.truncations = dict.fromkeys(self.agents, True)
        elif over or self.episode == "hand":
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            deal_row(self._states, self._tables)

    def _pay(self, over: bool) -> None:
        row = self._states[0]
        side_0 = float(row["points"][0] - row["points"][1])
        if self.reward == "win":
            won = over and row["outcome"] == Outcome.WON
            side_0 = float(1 - 2 * int(row["winner"])) if won else 0.0
        for seat, agent in enumerate(AGENT_NAMES):
            self.rewards[agent] = -side_0 if seat & 1 else side_0

    @property
    def record(self) -> GameRecord:
        """The game so far, every finished hand and the one in progress."""
        rows = [row[0] for row in self._finished]
        if self._states[0]["phase"] < DEAL and hasattr(self, "agents"):
            rows.append(self._states[0])
        return GameRecord.from_rows(
            np.array(rows, dtype=self._states.dtype),
            self.rules,
            str(self.metadata["name"]),
            seed=self._seed,
            start=self._start,
        )

    def clone(self) -> BidEuchreEnv:
        """An independent copy of this game as it stands, for search: it shares the spaces, and
        renders only when asked to."""
        twin = copy.copy(self)
        if twin.render_mode == "human":
            twin.render_mode = "ansi"
        twin._states = self._states.copy()
        twin._finished = list(self._finished)
        if hasattr(self, "agents"):
            twin.agents = list(self.agents)
            for name in ("rewards", "_cumulative_rewards", "terminations", "truncations"):
                setattr(twin, name, dict(getattr(self, name)))
            twin.infos = {
                agent: {name: mask.copy() for name, mask in info.items()}
                for agent, info in self.infos.items()
            }
        return twin

    def resample_hidden(self, seat: int, rng: np.random.Generator) -> BidEuchreEnv:
        """A clone in which all that `seat` cannot know is redealt, every consistent deal alike.

        The other hands, the hidden half of an exchange and the deals to come are drawn from `rng`
        uniformly among those that the seat's information allows: its cards, the cards played, the
        suits others have failed to follow, its part of an exchange. What the seat sees and may do
        is unchanged, and the clone's record replays. Hands that are over stay as they were played.
        """
        self._require_game()
        place = parse_seat("seat", seat)
        if not isinstance(rng, np.random.Generator):
            raise OptionError(f"rng={shown(rng)}: a numpy.random.Generator")
        twin = self.clone()
        if twin._over:
            return twin
        low, high = rng.integers(0, 2**64, size=2, dtype=np.uint64)
        rooms = np.zeros(3, np.int64)
        resample_row(twin._states, twin._tables, place, new_scratch(), rooms, low, high)
        twin._seed = None
        twin._call_on(int(twin._states[0]["turn"]))  # it may hold other cards now
        return twin

    def render(self) -> str | None:
        """The table as text: returned in mode "ansi", printed in mode "human"."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs render_mode='ansi' or 'human' when it is made")
            return None
        self._require_game()
        from bideuchre_env.show import table_text

        seat = self.view
        if seat == "actor":
            seat = int(self._states[0]["turn"])
        text: str = table_text(self._states[0], self.rules, None if seat == "all" else int(seat))
        if self.render_mode == "human":
            print(text)
            return None
        return text

    def close(self) -> None:
        """Nothing is held open."""

    def __getstate__(self) -> dict[str, Any]:
        derived = ("_actions", "_tables", "_offsets")
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._derive()


class BoundsWrapper(wrappers.BaseWrapper):
    """PettingZoo's bounds check in this game's words: an `OutOfBoundsError`, an assertion too."""

    def step(self, action: Any) -> None:
        """Check that the action is one of the game's, or None for an agent that is done."""
        agent = self.agent_selection
        done = self.terminations[agent] or self.truncations[agent]
        if not (done and action is None):
            self.unwrapped.whole_action(action)
        super().step(action)

    def __str__(self) -> str:
        return str(self.env)


def wrapped(env: BidEuchreEnv) -> AECEnv[str, dict[str, Array], Any]:
    """The environment inside PettingZoo's standard wrappers."""
    ending = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(BoundsWrapper(ending))


def _seat_of(agent: Any) -> int:
    try:
        return AGENT_NAMES.index(agent)
    except ValueError:
        raise OptionError(f"agent {agent!r}: one of {', '.join(AGENT_NAMES)}") from None


def _check_choice(name: str, given: Any, words: tuple[Any, ...]) -> None:
    if type(given) not in (str, int, type(None)) or given not in words:
        raise OptionError(f"{name}={shown(given)}: one of {', '.join(map(repr, words))}")
