"""The rows of both Gymnasium environments: a learner and three other players in each."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.agents import Goal
from bideuchre_env.agents.rule.agent import many_workspaces, rule_workspace
from bideuchre_env.agents.table.parts import AgentPart, KernelPart, Part, container_of, kinds_of
from bideuchre_env.agents.table.simple import advance_simple, new_draws
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import seed_rows
from bideuchre_env.core.state import new_states
from bideuchre_env.core.table.loop import CALLER, Callers, new_callers, new_table
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.face import default_illegal_reward
from bideuchre_env.envs.forms import Form
from bideuchre_env.envs.options import SoloOptions, learners_seat
from bideuchre_env.envs.pool import OPPONENTS, PARTNER
from bideuchre_env.envs.rendering import render_table
from bideuchre_env.envs.solo.players import BUILT_IN, Assignment, Place, Player
from bideuchre_env.envs.solo.rows import begin_rows, seed_learners
from bideuchre_env.errors import BidEuchreError, OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.parse import parse_deal, parse_dealer, parse_score
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.devices import memory_of
from bideuchre_env.runtime.jit import Array
from bideuchre_env.runtime.threads import ThreadPool

Streams: TypeAlias = tuple[Array, Array, list[int]]
"""New random streams, the rows that use them (bool (n,)), and their seeds."""
PLACES = {"left": 1, "partner": 2, "right": 3}
"""The other seats, relative to the learner's."""
SOLO_RESET_OPTIONS = ("seat", OPPONENTS, PARTNER)
"""Reset options that only environments of one learner have."""
DERIVED = {"actions", "layout", "form", "every", "names", "states", "seating", "_nothing", "_parts"}
DERIVED |= {"table", "callers"}
"""Attributes that are derived again in a copy, not copied."""


class SoloBatch:
    """`n` games with a learner in each.

    The learners are the `callers` of its `table`; `restart` and `step` write their observations and
    results. The arrays are in the `memory` of the device. With `reopen`, a new episode begins
    within the step in which one ends.

    Callers set `complete` to True after a change of games, and to False after an error in it: then
    all rows must be restarted.
    """

    def __init__(
        self, rules: Rules, n: int, options: SoloOptions, reopen: bool, threads: int, device: str
    ) -> None:
        self.rules, self.n, self.memory = rules, n, memory_of(device)
        self.goal: Goal = "points" if options.episode == "hand" else "game"
        self._observation = options.observation
        self._entropy: list[int] = []  # the last seeds; agents made later are seeded from them
        self._changes = 0  # number of changes of players since then
        players = {OPPONENTS: options.opponents, PARTNER: options.partner}
        empty = Assignment([], np.full((n, 2), -1))
        self.assignment = empty.changed(players, np.ones(n, bool), {}, self._player)
        self.callers: Callers = new_callers(rules, n, self.assignment.draws(), reopen=reopen)
        self.table = new_table(rules, n)
        setup = self.table.setup[0]
        penalty = options.illegal_reward
        if penalty is None:
            penalty = default_illegal_reward(rules, options.episode, options.reward)
        setup["illegal_reward"] = penalty
        setup["seat"] = -1 if options.seat is None else options.seat
        setup["by_hand"] = options.episode == "hand"
        setup["by_points"] = options.reward == "points"
        setup["skip_forced"] = options.skip_forced
        self._pool = ThreadPool(threads)
        self.dealt, self.complete = False, True
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
        self.layout = layout_of(self.rules)
        self.table = put(self.table._replace(tables=compile_tables(self.rules)))
        self.callers = put(self.callers._replace(offsets=self.layout.offsets))
        self.states, self.seating = self.table.states, self.table.seating
        kind, arrays = self._observation, (self.callers.observations, self.callers.masks)
        self.form = Form(self.rules, kind, *arrays, self.memory, self._pool)
        self.every = put(np.ones(n, bool))
        self._nothing = {  # default arguments of `begin_rows`
            "dealers": put(np.full(n, -1, np.int64)),
            "scores": put(np.zeros((n, 2), np.int64)),
            "deals": put(np.zeros((0, N_SEATS), np.int64)),
            "seats": put(np.full(n, -1, np.int64)),
        }
        self._seat_players()

    def _seat_players(self) -> None:
        """Compute the kernels' arguments from the assignment, and make the parts of a turn.

        The first part is that of a kernel, which applies the learners' actions.
        """
        assignment, memory, n = self.assignment, self.memory, len(self.assignment.kinds)
        self.names = np.full(n, None, object)
        for number, player in assignment.players.items():
            self.names[number] = player.name
        self.callers = self.callers._replace(draws=memory.put(assignment.draws()))
        self.table = self.table._replace(callers=self.callers)
        self._parts: list[Part] = []
        if assignment.has_simple or not assignment.contained:
            kinds = np.array(assignment.kinds)
            self._parts.append(self._kernel_part(advance_simple, kinds, self._new_scratch))
        for player, numbers in assignment.contained:
            kernel, kind, workspace = container_of(player.agent)
            kinds = kinds_of(n, dict.fromkeys(numbers, kind))
            self._parts.append(self._kernel_part(kernel, kinds, workspace))
        for number, player in assignment.called.items():
            where = partial(_where, player)
            rest = number, n, player.answers, where
            self._parts.append(AgentPart(self.table, self.rules, *rest))

    def _kernel_part(self, kernel: Any, kinds: Array, workspaces: Any) -> KernelPart:
        pool = self._pool if self._pool.threads > 1 else None
        return KernelPart(self.table, kernel, kinds, workspaces, self.memory, pool)

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
        return self.names_in(self.memory.to_host(self.seating))

    def names_in(self, row: Array) -> dict[str, Array]:
        """Return the names of the players by place, objects (m,).

        `row` (m,) are records of `SEATING`, or of `EPISODE` for those of finished episodes.
        """
        seats, every = row["seat"], np.arange(len(row))
        return {
            place: self.names[row["player"][every, seats + relative & 3]]
            for place, relative in PLACES.items()
        }

    def _new_scratch(self) -> tuple[Any, ...]:
        """Return scratch of simple players for one thread, or for all rows of a GPU."""
        on_gpu = self.memory.name != "cpu"
        draws = new_draws(self.actions.n, self.n if on_gpu else 1)
        if not (self.assignment.has_rule or on_gpu):
            return draws, None
        return draws, many_workspaces(rule_workspace(self.rules), self.n if on_gpu else 1)

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
        """Seed game and players in chosen rows (`seed_learners`), and the agents made here."""
        self._entropy, self._changes = entropy, 0
        for player, place in self.assignment.places.items():
            player.renew(self._entropy_of(place))
        arguments = map(self.memory.put, (streams, chosen))
        self.memory.run(seed_learners, self.n, self.states, self.seating, *arguments)

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
        numbers = np.unique(self.memory.to_host(self.seating)["player"][running]).tolist()
        return {n: self.assignment.players[n] for n in numbers if n != CALLER}

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
        self.memory.run(begin_rows, self.n, self.table, self.callers, chosen, *arguments)
        self._play()
        self.form.update()
        self.dealt = True

    def step(self) -> None:
        """Apply the learners' actions, `callers.choices`, where `acting`; then the others act.

        An illegal action ends its episode. A row whose episode is over begins one instead.
        """
        self.memory.fill(self.callers.some_done, False)
        self._play()
        self.form.update()

    def _play(self) -> None:
        """Let the learners that act and all others act, and write the results.

        Raises `IllegalActionError` for an illegal action of a player.
        """
        first, *others = self._parts
        first.play()
        while others and sum([part.play() for part in others]):
            first.play()

    def render(self, i: int, mode: str, view: str | int) -> str | Array | None:
        """Render the table of row i, see `render_table`; the view "actor" is the learner's."""
        state, solo = (
            self.memory.to_host(array[i : i + 1])[0] for array in (self.states, self.seating)
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
        table = self.memory.to_host(self.table)._replace(tables=None, callers=None)
        callers = self.memory.to_host(self.callers)._replace(offsets=None)
        return state | {"table": table, "callers": callers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._derive()
        self.form.update()


def _where(player: Player, j: int, row: int) -> str:
    assert player.agent is not None
    return f"{player.option}: agent {player.agent.name!r}, row {row}"
