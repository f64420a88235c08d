"""Many tables at once for self-play: one array of rows, stepped by kernels, no Python per row."""

from __future__ import annotations

import operator
from functools import cached_property
from typing import Any

import numpy as np

from bideuchre_env import actions
from bideuchre_env._jit import Array, records
from bideuchre_env.batch import (
    TALLY,
    first_illegal,
    global_rows,
    observe_rows,
    present_rows,
    restart_rows,
    sample_rows,
    seed_rows,
)
from bideuchre_env.cards import N_SEATS
from bideuchre_env.deal import split_seed
from bideuchre_env.deals import parse_deal, parse_dealer, parse_score
from bideuchre_env.episode import check_episode
from bideuchre_env.errors import DealError, IllegalActionError, OptionError, shown
from bideuchre_env.observation import Layout, layout_of
from bideuchre_env.record import illegal
from bideuchre_env.rules import Rules
from bideuchre_env.state import DEAL, Outcome, new_states
from bideuchre_env.step_team import StepTeam
from bideuchre_env.tables import compile_tables
from bideuchre_env.team import OneAtATime
from bideuchre_env.validity import checked_states
from bideuchre_env.vector_input import (
    by_row,
    parse_count,
    parse_mask,
    parse_rows,
    parse_seats,
    whole_numbers,
)

Observation = dict[str, Array]


class BidEuchreVec:
    """`num_envs` tables of one game, all four seats of each chosen for by the caller.

    Row i seeded with s is bit for bit the AEC environment seeded with s + i, whatever the number
    of rows or `threads`. A finished episode starts anew in the same step.

    `reset` and `step` give
    - `obs["observation"]` (n, D) int8 and `obs["action_mask"]` (n, A) int8 of the seat to act,
    - `info["seat"]` (n,) int8, that seat,
    - `rewards` (n, 4) float32 by seat, `terminated` and `truncated` (n,) bool,
    - `info["_episode"]` (n,) bool, where an episode has just ended, and `info["episode"]`, by name
      the arrays of what it came to: `"r"` (n, 4) float32 its rewards by seat, `"l"` (n,) int32
      its decisions, `"hands"` (n,) int32, `"score"` (n, 2) int64, `"winner"` (n,) int8 a side or
      -1, `"outcome"` (n,) int8 an `Outcome`. Elsewhere they hold the row's episode before.

    The arrays are the environment's own and are rewritten by the next call; `copy=True` gives
    copies. Nothing a caller writes into them reaches the game.
    """

    def __init__(
        self,
        rules: Rules,
        name: str,
        num_envs: int,
        *,
        episode: str = "game",
        reward: str | None = None,
        threads: int = 1,
        copy: bool = False,
    ) -> None:
        if not isinstance(copy, bool):
            raise OptionError(f"copy={shown(copy)}: True or False")
        self.num_envs = n = parse_count(num_envs)
        self.rules, self.name = rules, name
        self.episode, self.reward = check_episode(episode, reward)
        self.copy, self._team, self._alone = copy, StepTeam(threads), OneAtATime()
        layout, width = layout_of(rules), actions.of(rules).n
        self._states = new_states(n)
        self._keys, self._choices = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._tallies, self._ended = records(TALLY, n), records(TALLY, n)
        self._observations = np.zeros((n, layout.size), np.int8)
        self._masks = np.zeros((n, width), np.int8)
        self._seats = np.zeros(n, np.int8)
        self._rewards = np.zeros((n, N_SEATS), np.float32)
        self._terminated, self._truncated = np.zeros(n, bool), np.zeros(n, bool)
        self._has_stream = False
        self._sampling = (np.uint64(0), 0)
        self._derive()

    def _derive(self) -> None:
        """What follows from the rules, and the arrays as kernels take them."""
        self._actions = actions.of(self.rules)
        self._tables = compile_tables(self.rules)
        self._offsets = layout_of(self.rules).offsets
        self._job = (
            self._states,
            self._tables,
            self._offsets,
            self.episode == "hand",
            self.reward == "points",
            self._choices,
            self._observations,
            self._masks,
            self._seats,
            self._keys,
            self._rewards,
            self._terminated,
            self._truncated,
            self._tallies,
            self._ended,
        )

    @property
    def observation_layout(self) -> Layout:
        """The blocks of an observation; prints as a table, `decode(obs)` gives words."""
        return layout_of(self.rules)

    @property
    def action_names(self) -> list[str]:
        """The name of every action, by index."""
        return list(self._actions.names)

    @cached_property
    def single_observation_space(self) -> Any:
        """The space of one row: `Dict` of `observation` and `action_mask`."""
        from gymnasium import spaces

        layout = self.observation_layout
        box = spaces.Box(layout.low, layout.high, dtype=np.int8)
        return spaces.Dict(
            {"observation": box, "action_mask": spaces.Box(0, 1, (self._actions.n,), np.int8)}
        )

    @cached_property
    def single_action_space(self) -> Any:
        """The actions of one row, `Discrete`."""
        from gymnasium import spaces

        return spaces.Discrete(self._actions.n)

    @cached_property
    def observation_space(self) -> Any:
        """The space of all rows."""
        from gymnasium.vector.utils import batch_space

        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> Any:
        """The actions of all rows, `MultiDiscrete`."""
        from gymnasium.vector.utils import batch_space

        return batch_space(self.single_action_space, self.num_envs)

    def reset(
        self,
        seed: int | None = None,
        *,
        mask: Array | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new games in every row, or in the rows where `mask`, bool (n,), is True.

        `seed` seeds row i with seed + i; without one the rows go on with their streams. `options`
        may hold "dealer", "deal" and "score" as the AEC environment's, for every chosen row.
        """
        chosen = parse_mask(mask, self.num_envs)
        given = dict(options or {})
        dealer, score = parse_dealer(given.get("dealer")), parse_score(given.get("score"))
        deal = given.get("deal")
        hands = [parse_deal(deal, self.rules)] if deal is not None else []
        words = split_seed(seed) if seed is not None or not self._has_stream else None
        if words is not None:
            if mask is not None and not self._has_stream:
                raise OptionError("reset(mask=...) before the first reset(): there are no games")
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
        return self._given()

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
            by_row(name, given, m, default)
            for name, given, default in (
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
        return self._given()

    def step(self, actions: Any) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """Carry out one action in every row: (n,), of any integer dtype.

        Raises `IllegalActionError`, and no row has moved, unless every action is legal in its row.
        """
        with self._alone:
            self._choices[:] = self._checked(actions)
            self._team.step(self.num_envs, self._job)
        observations, info = self._given()
        ends = (self._rewards, self._terminated, self._truncated)
        rewards, terminated, truncated = (self._handed(a) for a in ends)
        return observations, rewards, terminated, truncated, info

    def sample(self) -> Array:
        """A uniform legal action for every row, int64 (n,), rewritten by the next call.

        The draws follow from the last seed that `reset` was given, and are no part of any game.
        """
        self._require_games()
        low, count = self._sampling
        self._sampling = (low, count + 1)
        if not hasattr(self, "_sampled"):
            self._sampled = np.zeros(self.num_envs, np.int64)
        sample_rows(self._keys, self._tables, low, np.uint64(count), self._sampled)
        return self._handed(self._sampled)

    def observe(self, seats: Any) -> Array:
        """What a seat sees of every row: int8 (n, D), for one seat or for seats (n,)."""
        self._require_games()
        wanted = parse_seats(seats, self.num_envs)
        out = np.empty_like(self._observations)
        observe_rows(self._states, self._tables, self._offsets, wanted, out)
        return out

    def state(self) -> Array:
        """Everything, int8 (n, state_size): for critics that may see all hands; a new array."""
        self._require_games()
        out = np.empty((self.num_envs, self.observation_layout.state_size), np.int8)
        global_rows(self._states, self._tables, self._offsets, out)
        return out

    def get_state(self) -> Array:
        """The rows themselves, a copy: a structured array (n,) of `STATE`, streams included."""
        self._require_games()
        return np.array(self._states)

    def set_state(self, states: Array, rows: Any = None) -> tuple[Observation, dict[str, Any]]:
        """Put states, as `get_state` gives them, into `rows` (every row by default).

        Their episodes' tallies begin anew. Raises `OptionError`, and nothing changes, unless each
        is a position of this game with a seat to act.
        """
        places = parse_rows(rows, self.num_envs)
        fresh = checked_states(states, len(places), self._tables)
        waiting = np.flatnonzero(fresh["phase"] >= DEAL)
        if len(waiting):
            raise OptionError(f"states[{waiting[0]}]: the hand is over, no seat is to act")
        if not self._has_stream and rows is not None:
            raise OptionError("set_state(rows=...) before the first reset(): there are no games")
        self._states[places] = fresh
        self._tallies[places] = 0
        self._has_stream = True
        self._present()
        return self._given()

    def close(self) -> None:
        """Let the threads go."""
        self._team.close()

    def _seed(self, chosen: Array, words: tuple[np.uint64, np.uint64]) -> None:
        fresh = new_states(self.num_envs)
        seed_rows(fresh, *words)
        picked = chosen == 1
        self._states["rng"][picked] = fresh["rng"][picked]
        self._sampling = (words[0] ^ words[1], 0)
        self._has_stream = True

    def _restart(self, chosen: Array, dealers: Array, scores: Array, deals: Array) -> None:
        restart_rows(self._states, self._tables, chosen, dealers, scores, deals)
        self._tallies[chosen == 1] = 0
        self._rewards[:] = 0
        self._terminated[:] = self._truncated[:] = False
        self._present()

    def _present(self) -> None:
        present_rows(
            self._states,
            self._tables,
            self._offsets,
            self._observations,
            self._masks,
            self._seats,
            self._keys,
        )

    def _given(self) -> tuple[Observation, dict[str, Any]]:
        """What `reset` and `step` hand out, copied if that was asked for."""
        ended = self._terminated | self._truncated
        info: dict[str, Any] = {"seat": self._handed(self._seats), "_episode": ended}
        if ended.any():
            info["episode"] = self._episodes()
        seen, legal = self._handed(self._observations), self._handed(self._masks)
        return {"observation": seen, "action_mask": legal}, info

    def _handed(self, array: Array) -> Array:
        """An array for the caller, a copy or a view: the shape of what kernels take is ours."""
        return array.copy() if self.copy else array.view()

    def _episodes(self) -> dict[str, Array]:
        """What the last finished episode of each row came to; new arrays."""
        ended = self._ended
        side_0 = ended["reward"].astype(np.float32)
        outcome = ended["outcome"].copy()
        return {
            "r": np.stack([side_0, -side_0, side_0, -side_0], axis=1),
            "l": ended["length"].copy(),
            "hands": ended["hands"].copy(),
            "score": ended["score"].copy(),
            "winner": np.where(outcome == Outcome.WON, ended["winner"], np.int8(-1)),
            "outcome": outcome,
        }

    def _require_games(self) -> None:
        if not self._has_stream:
            raise OptionError("nothing has been dealt yet: reset() deals")

    def _checked(self, given: Any) -> Array:
        """The actions as int64 (n,), the environment's own copy, every one legal."""
        if not self._has_stream:
            raise IllegalActionError("no games are going on: reset() deals them")
        taken = whole_numbers("actions", given, self.num_envs, self._actions.n)
        row = int(first_illegal(self._keys, self._tables, taken))
        if row >= 0:
            raise IllegalActionError(self._fault(row, operator.index(np.asarray(given)[row])))
        return taken

    def _fault(self, row: int, action: int) -> str:
        names = self._actions.names
        choice = names[action] if 0 <= action < len(names) else action
        return illegal(self._states[row], self.rules, choice, f"row {row}: ")

    def __getstate__(self) -> dict[str, Any]:
        derived = ("_actions", "_tables", "_offsets", "_job")
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._derive()

    def __repr__(self) -> str:
        return f"<{self.name} x {self.num_envs}, {self._team.threads} threads>"
