"""The rows of both Gymnasium environments: a learner and three other players in each."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.agents import Goal
from bideuchre_env.agents.rule.agent import many_workspaces, rule_workspace
from bideuchre_env.agents.rule.bidding import WEIGHTS
from bideuchre_env.core.legality import illegal
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import encode_rows, seed_rows
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.face import default_illegal_reward
from bideuchre_env.envs.forms import Form
from bideuchre_env.envs.options import SoloOptions, learners_seat
from bideuchre_env.envs.pool import OPPONENTS, PARTNER
from bideuchre_env.envs.rendering import render_table
from bideuchre_env.envs.solo.players import BUILT_IN, Assignment, Place, Player
from bideuchre_env.envs.solo.rows import (
    CAUTIOUS,
    KERNEL_NETS,
    MOVING,
    SETUP,
    SOLO,
    SOMEBODY,
    Draws,
    SoloRows,
    SoloScratch,
    Turn,
    begin_rows,
    list_asked_rows,
    play_rows,
    play_rows_by_rule,
    seed_solos,
)
from bideuchre_env.errors import BidEuchreError, IllegalActionError, OptionError
from bideuchre_env.learning.lines import carry_out
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.parse import parse_deal, parse_dealer, parse_score
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.devices import memory_of
from bideuchre_env.runtime.jit import Array, direct, new_rows
from bideuchre_env.runtime.threads import ThreadPool

Streams: TypeAlias = tuple[Array, Array, list[int]]
"""New random streams, the rows that use them (bool (n,)), and their seeds."""
PLACES = {"left": 1, "partner": 2, "right": 3}
"""The other seats, relative to the learner's."""
SOLO_RESET_OPTIONS = ("seat", OPPONENTS, PARTNER)
"""Reset options that only environments of one learner have."""
ARRAYS = ["states", "solos", "observations", "masks", "seats"]
ARRAYS += ["rewards", "terminated", "truncated", "done"]
DERIVED = {"actions", "tables", "layout", "every", "none", "names", "_no_choices", "_nothing"}
DERIVED |= {"form", "_rows", "_draws", "_weights", "_scratch", "_play_rows"}
"""Attributes that are derived again in a copy, not copied."""


class SoloBatch:
    """`n` games with a learner in each.

    `restart` and `step` write the learners' `observations` (n, D) and `masks` (n, A), int8, their
    `seats` (n,), int64, and `done` (n,), bool, whether the episode is over; `step` also writes
    `rewards` (n,) float64, `terminated` and `truncated` (n,) bool. The arrays are in the `memory`
    of the device.

    Callers set `complete` to True after a change of games, and to False after an error in it: then
    all rows must be restarted.
    """

    def __init__(
        self, rules: Rules, n: int, options: SoloOptions, *, threads: int = 1, device: str = "cpu"
    ) -> None:
        self.rules, self.n, self.memory = rules, n, memory_of(device)
        self.goal: Goal = "points" if options.episode == "hand" else "game"
        self._observation = options.observation
        self._entropy: list[int] = []  # the last seeds; agents made later are seeded from them
        self._changes = 0  # number of changes of players since then
        players = {OPPONENTS: options.opponents, PARTNER: options.partner}
        empty = Assignment([], np.full((n, 2), -1))
        self.assignment = empty.changed(players, np.ones(n, bool), {}, self._player)
        self.setup = new_rows(SETUP, 1)
        setup = self.setup[0]
        penalty = options.illegal_reward
        if penalty is None:
            penalty = default_illegal_reward(rules, options.episode, options.reward)
        setup["illegal_reward"] = penalty
        setup["seat"] = -1 if options.seat is None else options.seat
        setup["by_hand"] = options.episode == "hand"
        setup["by_points"] = options.reward == "points"
        setup["skip_forced"] = options.skip_forced
        self._pool = ThreadPool(threads)
        width, size = actions.of(rules).n, layout_of(rules).size
        self.states, self.solos = new_states(n), new_rows(SOLO, n)
        self.observations = np.zeros((n, size), np.int8)
        self.masks = np.zeros((n, width), np.int8)
        self.rewards = np.zeros(n, np.float64)
        self.seats = np.zeros(n, np.int64)
        self.terminated, self.truncated, self.done = np.zeros((3, n), bool)
        self.dealt, self.complete = False, True
        self._index = np.zeros(n, np.int64)
        self._derive()

    def _player(self, option: str, spec: Any, place: Place) -> Player:
        if self.memory.name != "cpu" and (not isinstance(spec, str) or spec not in BUILT_IN):
            raise OptionError(
                f"{option}={brief(spec)} with device={self.memory.name!r}: expected one of "
                f"{', '.join(map(repr, BUILT_IN))}"
            )
        entropy = self._entropy_of(place, self._changes + 1)
        return Player(option, spec, self.rules, self.goal, entropy, self._observation)

    def _entropy_of(self, place: Place, changes: int = 0) -> list[int] | None:
        """Return the entropy of an agent's seed: the last seeds, its place, and later changes.

        None before the first seed.
        """
        if not self._entropy:
            return None
        number, row = place
        return [*self._entropy, number, *((row, changes) if row or changes else ())]

    def _derive(self) -> None:
        """Compute the derived attributes, and move the arrays to the memory."""
        n, put = self.n, self.memory.put
        self.actions = actions.of(self.rules)
        self.tables = compile_tables(self.rules)
        self.layout = layout_of(self.rules)
        for name in ARRAYS:
            setattr(self, name, put(getattr(self, name)))
        kind, arrays = self._observation, (self.observations, self.masks)
        self.form = Form(self.rules, kind, *arrays, self.memory, self._pool)
        self.every, self.none = put(np.ones(n, bool)), put(np.zeros(n, bool))
        self._no_choices = put(np.zeros(n, np.int64))
        self._nothing = {  # default arguments of `begin_rows`
            "dealers": put(np.full(n, -1, np.int64)),
            "scores": put(np.zeros((n, 2), np.int64)),
            "deals": put(np.zeros((0, N_SEATS), np.int64)),
            "seats": put(np.full(n, -1, np.int64)),
        }
        self._seat_players()

    def _seat_players(self) -> None:
        """Compute the kernels' arguments from the assignment, and choose the kernel."""
        assignment, memory = self.assignment, self.memory
        self.names = np.full(len(assignment.kinds), None, object)
        for number, player in assignment.players.items():
            self.names[number] = player.name
        self._rows: SoloRows = memory.put(
            SoloRows(
                self.tables,
                self.layout.offsets,
                self.setup,
                self.states,
                self.solos,
                self.observations,
                self.masks,
                self.seats,
                self.rewards,
                self.terminated,
                self.truncated,
                self.done,
                assignment.kinds,
            )
        )
        self._draws: Draws = memory.put(assignment.draws())
        # weights that no kernel reads are empty
        self._weights = None if assignment.has_rule else new_rows(WEIGHTS, 1)
        # by the first row of a thread
        self._scratch: dict[int, tuple[Any, ...]] = defaultdict(self._new_scratch)
        if assignment.nets:
            from bideuchre_env.envs.solo.net_rows import play_rows_by_net

            self._play_rows: Any = play_rows_by_net
        else:
            self._play_rows = play_rows_by_rule if assignment.has_rule else play_rows
        if memory.name == "cpu":
            turn = Turn(self.none, self._no_choices, self.none, False)
            self._play_rows = direct(self._play_rows, self._rows, turn, *self._scratch[0], 0, 0)

    def player_names(self) -> dict[str, Array]:
        """Return the names of the players by row, objects (n,): "left", "partner" and "right".

        Before the first reset, these are the players that it seats; `OptionError` if it draws them.
        """
        if not self.dealt and not self.assignment.drawn.any():
            entries, spans, rows = self.assignment.draws()
            opponents, partners = entries[spans[rows, 0]].T
            numbers = opponents["left"], partners["left"], opponents["right"]
            return {place: self.names[each] for place, each in zip(PLACES, numbers, strict=True)}
        self.require_games()
        numbers = self.memory.to_host(self.solos)["player"]
        return {place: self.names[numbers[:, seat]] for place, seat in PLACES.items()}

    def _new_scratch(self) -> tuple[Any, ...]:
        """Return scratch for one thread, or for all rows of a GPU, then workspaces of the nets.

        There are `KERNEL_NETS` workspaces if a kernel plays any net, else none.
        """
        assignment = self.assignment
        ruled = masked = 1
        if self.memory.name != "cpu":
            ruled = self.n if assignment.has_rule else 1
            masked = self.n if (assignment.kinds == CAUTIOUS).any() else 1
        scratch = SoloScratch(
            np.zeros((masked, self.actions.n), np.int8),
            np.zeros((masked, 2)),
            np.zeros(masked, np.int64),
            many_workspaces(rule_workspace(self.rules, self._weights), ruled),
        )
        nets = [net.workspace() for net in assignment.nets]
        nets += nets[:1] * (KERNEL_NETS - len(nets)) if nets else []
        return self.memory.put(scratch), *nets

    def _streams(self, seed: int | list[int | None], chosen: Array) -> Streams:
        """Return fresh streams, the rows that take them, and the seeds, for `_take_streams`.

        `seed` is a base seed, or a list by row in which None continues the row's stream, or draws
        one before the first deal.
        """
        fresh = new_states(self.n)
        if not isinstance(seed, list):
            seed_rows(fresh, *split_seed(seed))
            return np.array(fresh["rng"]), chosen, [int(seed)]
        picked = chosen.copy()
        for i, each in enumerate(seed):
            seed_rows(fresh[i : i + 1], *split_seed(each))
            if each is None and self.dealt:
                picked[i] = False
        return np.array(fresh["rng"]), picked, [int(each) for each in seed if each is not None]

    def _take_streams(self, streams: Array, chosen: Array, entropy: list[int]) -> None:
        """Seed game and players in chosen rows (`seed_solos`), and the agents made here."""
        self._entropy, self._changes = entropy, 0
        for player, place in self.assignment.places.items():
            player.renew(self._entropy_of(place))
        arguments = map(self.memory.put, (streams, chosen))
        self.memory.run(seed_solos, self.n, self.states, self.solos, *arguments)

    def opening(
        self, options: dict[str, Any], chosen: Array, seed: int | list[int | None] | None
    ) -> dict[str, Any]:
        """Return the argument `begin` of `restart` for a reset of `chosen` rows, bool (n,).

        Raises `OptionError` for invalid arguments. No game changes, but new agents are made.
        """
        n, put = self.n, self.memory.put
        begin: dict[str, Any] = {}
        if options:
            begin["dealers"] = put(np.full(n, parse_dealer(options.get("dealer")), np.int64))
            begin["scores"] = put(np.full((n, 2), parse_score(options.get("score")), np.int64))
        if options.get("deal") is not None:
            hands = parse_deal(options["deal"], self.rules)
            begin["deals"] = put(np.tile(hands, (n, 1)))
        if options.get("seat") is not None:
            begin["seats"] = put(np.full(n, learners_seat(options["seat"]), np.int64))
        if options.get(OPPONENTS) is not None or options.get(PARTNER) is not None:
            begin["assignment"] = self.assignment.changed(
                options, chosen, self._staying(chosen), self._player
            )
        if seed is not None:
            begin["streams"] = self._streams(seed, chosen)
        return begin

    def _staying(self, chosen: Array) -> dict[int, Player]:
        """The players, by number, of games in progress in rows that are not chosen."""
        running = ~chosen & self.dealt
        numbers = np.unique(self.memory.to_host(self.solos)["player"][running, 1:])
        return {number: self.assignment.players[number] for number in numbers.tolist()}

    def restart(self, chosen: Any, begin: dict[str, Any] | None = None) -> None:
        """Start an episode in each chosen row, and play up to the learner's turn.

        `begin` is the result of `opening`; None deals at random and continues all streams.
        """
        begin = begin or {}
        if "assignment" in begin:
            self._changes += 1
            self.assignment = begin["assignment"]
            self._seat_players()
        if "streams" in begin:
            self._take_streams(*begin["streams"])
        arguments = [begin.get(name, usual) for name, usual in self._nothing.items()]
        self.memory.run(begin_rows, self.n, self._rows, self._draws, chosen, *arguments)
        self._play(Turn(self.none, self._no_choices, chosen, False))
        self.dealt = True

    def step(self, choices: Any, acting: Any) -> None:
        """Apply the learners' actions, int64 (n,), where `acting`, bool (n,); then the others act.

        Writes observations, masks, rewards and ends of all rows. An illegal action ends its
        episode.
        """
        self._play(Turn(acting, choices, self.every, True))

    def _play(self, turn: Turn) -> None:
        """Apply the learners' actions, let the others act, and write the results."""
        if self.assignment.asks:
            self._run(turn._replace(seen=self.none, pays=False))
            while self._ask():
                self._run(Turn(self.none, turn.choices, self.none, False))
            turn = turn._replace(acting=self.none)
        self._run(turn)

    def _run(self, turn: Turn) -> None:
        """Run a turn of all rows on the device, or in threads."""
        if self.memory.name == "cpu":
            self._pool.share(self.n, partial(self._run_part, turn), whole=True)
        else:
            self.memory.run(self._play_rows, self.n, self._rows, turn, *self._scratch[0])

    def _run_part(self, turn: Turn, start: int, stop: int) -> None:
        self._play_rows(self._rows, turn, *self._scratch[start], start, stop)

    def _ask(self) -> bool:
        """Call the players that rows wait for; return whether there were any.

        Raises `IllegalActionError` for an illegal action of a player.
        """
        called = False
        for number, player in self.assignment.players.items():
            if self.assignment.kinds[number] == SOMEBODY and (
                m := int(list_asked_rows(self.solos, number, self._index))
            ):
                called = True
                self._ask_player(player, self._index[:m])
        return called

    def _ask_player(self, player: Player, index: Array) -> None:
        m = len(index)
        observations = np.empty((m, self.layout.size), np.int8)
        masks = np.empty((m, self.actions.n), np.int8)
        encode_rows(self.states, self.tables, self.layout.offsets, index, observations, masks)
        choices = player.answers(observations, masks)
        at = int(carry_out(self.states, self.tables, index, choices))
        if at >= 0:
            where = f"{player.option}: agent {player.name!r}, row {index[at]}: "
            choice, names = int(choices[at]), self.actions.names
            action = names[choice] if 0 <= choice < len(names) else choice
            raise IllegalActionError(illegal(self.states[index[at]], self.rules, action, where))
        self.solos["stage"][index] = MOVING

    def render(self, i: int, mode: str, view: str | int) -> str | Array | None:
        """Render the table of row i, see `render_table`; the view "actor" is the learner's."""
        state, solo = (
            self.memory.to_host(array[i : i + 1])[0] for array in (self.states, self.solos)
        )
        seat = int(solo["seat"])
        return render_table(mode, state, self.rules, view, seat, learner=seat)

    @property
    def ready(self) -> bool:
        """Whether games have been dealt, and no error has interrupted the last change."""
        return self.dealt and self.complete

    def require_games(self, error: type[BidEuchreError] = OptionError) -> None:
        """Raise `error` unless the games are `ready`."""
        if not self.complete:
            raise error(
                "an error has interrupted the last step or reset: call reset() for all rows"
            )
        if not self.dealt:
            raise error("nothing has been dealt yet: call reset() first")

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in DERIVED}
        return state | {name: self.memory.to_host(getattr(self, name)) for name in ARRAYS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._derive()
        self.form.update()
