"""The rows behind both Gymnasium faces: a learner each, and the others at the table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bideuchre_env.agents import Goal
from bideuchre_env.agents.rule.agent import rule_workspace
from bideuchre_env.agents.rule.weights import WEIGHTS
from bideuchre_env.core.legality import illegal
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import encode_rows, restart_rows, seed_rows
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.options import SoloOptions, learners_seat
from bideuchre_env.envs.pool import OPPONENTS, PARTNER
from bideuchre_env.envs.solo.players import Player
from bideuchre_env.envs.solo.rows import (
    DONE,
    KERNEL_NETS,
    SETUP,
    SOLO,
    SOMEBODY,
    Draws,
    SoloRows,
    SoloScratch,
    answer_rows,
    asked_rows,
    pay_rows,
    play_rows,
    play_rows_by_rule,
    seat_learners,
    seed_solos,
    show_rows,
    take_rows,
)
from bideuchre_env.envs.solo.seating import Place, Seating
from bideuchre_env.errors import BidEuchreError, IllegalActionError, OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.parse import parse_deal, parse_dealer, parse_score
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row, direct, new_rows
from bideuchre_env.runtime.threads import ThreadPool

if TYPE_CHECKING:
    from bideuchre_env.agents.learned.net import NetWorkspace

Streams: TypeAlias = tuple[Array, Array, list[int]]
"""States with fresh streams, the rows that take them (1 of int64 (n,)), and the seeds given."""
PLACES = {"left": 1, "partner": 2, "right": 3}
"""The seats beside a learner, counted from its own."""
SOLO_RESET_OPTIONS = ("seat", OPPONENTS, PARTNER)
"""The reset options of a learner's environment besides those of every environment."""


class SoloBatch:
    """`n` games with a learner at each; the faces hand actions in and take what these arrays hold.

    After `restart` and `step`: `observations` (n, D) and `masks` (n, A) int8 of the learners,
    `rewards` (n,) float64, `terminated` and `truncated` (n,) bool. `solos` tells the rest.
    """

    def __init__(self, rules: Rules, n: int, options: SoloOptions, *, threads: int = 1) -> None:
        self.rules, self.n = rules, n
        self.goal: Goal = "points" if options.episode == "hand" else "game"
        self._observation = options.observation
        self._entropy: list[int] = []  # of the last seeds: those of agents made later come from it
        self._changes = 0  # of the players since then
        said = {OPPONENTS: options.opponents, PARTNER: options.partner}
        nobody = Seating([], np.full((n, 2), -1))
        self.seating = nobody.changed(said, np.ones(n, bool), {}, self._player)
        self.setup = new_rows(SETUP, 1)
        setup = self.setup[0]
        setup["illegal_reward"] = options.illegal_reward
        setup["seat"] = -1 if options.seat is None else options.seat
        setup["by_hand"] = options.episode == "hand"
        setup["by_points"] = options.reward == "points"
        self._pool = ThreadPool(threads)
        width, size = actions.of(rules).n, layout_of(rules).size
        self.states, self.solos = new_states(n), new_rows(SOLO, n)
        self.observations = np.zeros((n, size), np.int8)
        self.masks = np.zeros((n, width), np.int8)
        self.rewards = np.zeros(n, np.float64)
        self.terminated, self.truncated = np.zeros(n, bool), np.zeros(n, bool)
        self.dealt, self.complete = False, True
        self._index = np.zeros(n, np.int64)
        self._asked_observations = np.zeros((0, size), np.int8)
        self._asked_masks = np.zeros((0, width), np.int8)
        self.every = np.ones(n, np.int64)
        self._nothing: dict[str, Any] = {  # that a new episode has to begin with
            "dealers": np.full(n, -1, np.int64),
            "scores": np.zeros((n, 2), np.int64),
            "deals": np.zeros((0, N_SEATS), np.int64),
            "seats": np.full(n, -1, np.int64),
            "seating": None,
            "streams": None,
        }
        self._derive()

    def _player(self, option: str, spec: Any, place: Place) -> Player:
        entropy = self._entropy_of(place, self._changes + 1)
        return Player(option, spec, self.rules, self.goal, entropy, self._observation)

    def _entropy_of(self, place: Place, changes: int = 0) -> list[int] | None:
        """What an agent's seed is drawn from: the last seeds, its place, and what came since."""
        if not self._entropy:
            return None
        number, row = place
        return [*self._entropy, number, *((row, changes) if row or changes else ())]

    @property
    def players(self) -> list[Player]:
        """All who play somewhere beside a learner."""
        return list(self.seating.players.values())

    def _derive(self) -> None:
        """Compute from the rules whatever is no part of any game's state."""
        self.actions = actions.of(self.rules)
        self.tables = compile_tables(self.rules)
        self.layout = layout_of(self.rules)
        self._scratch: dict[int, SoloScratch] = {}
        self._nets: dict[int, tuple[NetWorkspace, ...]] = {}
        self._seat_players()

    def _seat_players(self) -> None:
        """Compute from the seating what kernels go by."""
        self.names = np.full(len(self.seating.kinds), None, object)
        for number, player in self.seating.players.items():
            self.names[number] = player.name
        self._asks = self.seating.asks
        # weights that nobody reads are none
        self._weights = None if self.seating.has_rule else new_rows(WEIGHTS, 1)
        self._bind(self._rows_now(), self.seating.draws())

    def _rows_now(self) -> SoloRows:
        return SoloRows(
            self.tables,
            self.layout.offsets,
            self.setup,
            self.states,
            self.solos,
            self.observations,
            self.masks,
            self.seating.kinds,
        )

    def _bind(self, rows: SoloRows, draws: Draws) -> None:
        """Go on with these rows, and players drawn like this, by the kernels for them."""
        self._rows, self._draws, seating = rows, draws, self.seating
        if self._asks and not len(self._asked_masks):
            self._asked_observations, self._asked_masks = self.observations * 0, self.masks * 0
        self._scratch.clear()
        self._nets.clear()
        play: Any = play_rows_by_rule if seating.has_rule else play_rows
        if seating.nets:
            from bideuchre_env.envs.solo.net_rows import play_rows_by_net

            play = play_rows_by_net
        arguments = self._rows, 0, 0, self._scratch_of(0), *self._nets_of(0)
        self._play_rows: Any = direct(play, *arguments)
        self._take_rows = direct(take_rows, self._rows, self.every, self.every, 0, 0)
        self._show_rows = direct(show_rows, self._rows, self.every, 0, 0)

    def at_hand(self, array: Array) -> Array:
        """One of the batch's arrays for numpy to read: this very one."""
        return array

    def _scratch_of(self, start: int) -> SoloScratch:
        """The scratch of the thread whose rows begin at `start`."""
        scratch = self._scratch.get(start)
        if scratch is None:
            scratch = self._scratch[start] = SoloScratch(
                np.zeros((1, self.layout.size), np.int8),
                np.zeros((1, self.actions.n), np.int8),
                np.zeros((1, 2)),
                np.zeros(1, np.int64),
                rule_workspace(self.rules, self._weights),
            )
        return scratch

    def _nets_of(self, start: int) -> tuple[NetWorkspace, ...]:
        """The workspaces of the nets, if there are any, for the thread of these rows.

        As many as the kernels take; where there are fewer nets, nobody uses the others.
        """
        nets = self._nets.get(start)
        if nets is None:
            made = [net.workspace() for net in self.seating.nets]
            nets = (*made, *[made[0]] * (KERNEL_NETS - len(made))) if made else ()
            self._nets[start] = nets
        return nets

    def _streams(self, seed: int | list[int | None], chosen: Array) -> Streams:
        """Return fresh streams by a base seed, or by every row's own seed.

        None leaves a row its stream, if it has one. Raises `OptionError` for an unsound seed.
        """
        fresh = new_states(self.n)
        if not isinstance(seed, list):
            seed_rows(fresh, *split_seed(seed))
            return fresh, chosen, [int(seed)]
        picked = chosen.copy()
        for i, each in enumerate(seed):
            seed_rows(fresh[i : i + 1], *split_seed(each))
            if each is None and self.dealt:
                picked[i] = 0
        return fresh, picked, [int(each) for each in seed if each is not None]

    def _take_streams(self, fresh: Array, chosen: Array, entropy: list[int]) -> None:
        """Give chosen rows these streams, lots and all, and seed the agents made here."""
        self._entropy, self._changes = entropy, 0
        for player, place in self.seating.places.items():
            player.renew(self._entropy_of(place))
        self._reseed(fresh, chosen)

    def _reseed(self, fresh: Array, chosen: Array) -> None:
        self.states["rng"][chosen == 1] = fresh["rng"][chosen == 1]
        seed_solos(self.states, self.solos, chosen)

    def opening(
        self, options: dict[str, Any], chosen: Array, seed: int | list[int | None] | None
    ) -> dict[str, Any]:
        """Return how an episode begins in the chosen rows (1 in `chosen`, int64 (n,)).

        The reset options may hold "dealer", "deal" and "score" as the AEC environment's, "seat",
        the learner's, and "opponents" and "partner" from now on. `seed` seeds row i with seed + i,
        or with its own of n seeds, None leaving it its stream. Raises `OptionError`, and changes
        nothing.
        """
        n, begin = self.n, dict(self._nothing)
        if options:
            begin["dealers"] = np.full(n, parse_dealer(options.get("dealer")), np.int64)
            begin["scores"] = np.full((n, 2), parse_score(options.get("score")), np.int64)
        if options.get("deal") is not None:
            hands = parse_deal(options["deal"], self.rules)
            begin["deals"] = np.array(np.broadcast_to(hands, (n, N_SEATS)))
        if options.get("seat") is not None:
            begin["seats"] = np.full(n, learners_seat(options["seat"]), np.int64)
        if options.get(OPPONENTS) is not None or options.get(PARTNER) is not None:
            begin["seating"] = self.seating.changed(
                options, chosen == 1, self._staying(chosen), self._player
            )
        if seed is not None:
            begin["streams"] = self._streams(seed, chosen)
        return begin

    def _staying(self, chosen: Array) -> dict[int, Player]:
        """The players, by number, of the games that go on beside those of the chosen rows."""
        going_on = (chosen == 0) & self.dealt
        numbers = np.unique(self.at_hand(self.solos)["player"][going_on, 1:])
        return {number: self.seating.players[number] for number in numbers.tolist()}

    def restart(self, chosen: Array, begin: dict[str, Any] | None = None) -> None:
        """Start a new episode in every chosen row (1 in `chosen`), up to its learner's turn.

        `begin` comes from `opening`. Rewards and endings stay as they are.
        """
        begin = begin or self._nothing
        if begin["seating"] is not None:
            self._changes += 1
            self.seating = begin["seating"]
            self._seat_players()
        if begin["streams"] is not None:
            self._take_streams(*begin["streams"])
        self._deal(chosen, **begin)
        self.dealt = True

    def _deal(
        self, chosen: Array, *, dealers: Array, scores: Array, deals: Array, seats: Array, **_: Any
    ) -> None:
        restart_rows(self.states, self.tables, chosen, dealers, scores, deals)
        seat_learners(self.solos, self.setup, chosen, seats, self._draws)
        self._go(None, chosen, chosen)

    def step(self, choices: Array, acting: Array) -> None:
        """Carry out the learners' actions, int64 (n,), where `acting`, (n,), is 1; then the others.

        A row whose learner's action is illegal ends at the price of `illegal_reward`.
        """
        self._go(choices, acting, self.every)
        self._pool.share(self.n, self._pay, whole=True)

    def _go(self, choices: Array | None, acting: Array, seen: Array) -> None:
        """Take the learners' actions, if any, let the others act, and show the rows to be seen."""

        def work(start: int, stop: int) -> None:
            if choices is not None:
                self._take_rows(self._rows, acting, choices, start, stop)
            self._play(start, stop)
            if not self._asks:
                self._show_rows(self._rows, seen, start, stop)

        self._pool.share(self.n, work, whole=True)
        if self._asks:
            self._ask()
            self._show_rows(self._rows, seen, 0, self.n)

    def _play(self, start: int, stop: int) -> None:
        self._play_rows(self._rows, start, stop, self._scratch_of(start), *self._nets_of(start))

    def _pay(self, start: int, stop: int) -> None:
        pay_rows(self.solos, start, stop, self.rewards, self.terminated, self.truncated)

    def _ask(self) -> None:
        """Put rows that wait for somebody's answer to them, batch by batch, until none waits."""
        waiting = True
        while waiting:
            waiting = False
            for number, player in self.seating.players.items():
                if self._rows.kinds[number] == SOMEBODY and (
                    m := int(asked_rows(self.solos, number, self._index))
                ):
                    waiting = True
                    self._ask_player(player, self._index[:m])
            if waiting:
                self._pool.share(self.n, self._play, whole=True)

    def _ask_player(self, player: Player, index: Array) -> None:
        m = len(index)
        observations, masks = self._asked_observations[:m], self._asked_masks[:m]
        encode_rows(self.states, self.tables, self.layout.offsets, index, observations, masks)
        choices = player.answers(observations, masks)
        at = int(answer_rows(self.states, self.solos, self.tables, index, choices))
        if at >= 0:
            where = f"{player.option}: agent {player.name!r}, row {index[at]}: "
            choice, row = int(choices[at]), self.states[index[at]]
            raise IllegalActionError(illegal(row, self.rules, self.named(choice), where))

    def named(self, action: int) -> str | int:
        """An action by name, or a number that is none as it is."""
        names = self.actions.names
        return names[action] if 0 <= action < len(names) else action

    @property
    def done(self) -> Array:
        """Whether each row's episode is over, bool (n,)."""
        over: Array = self.at_hand(self.solos)["stage"] == DONE
        return over

    def position(self, i: int) -> tuple[Row, int]:
        """The state of row i and its learner's seat."""
        return self.states[i], int(self.solos["seat"][i])

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Mark the games as incomplete if the block raises, as a player who is asked may.

        They stay so until a `restart` of all rows.
        """
        try:
            yield
        except BaseException:
            self.complete = False
            raise
        self.complete = True

    @property
    def ready(self) -> bool:
        """Whether there are games, and no error has interrupted the last change of them."""
        return self.dealt and self.complete

    def require_games(self, error: type[BidEuchreError] = OptionError) -> None:
        """Raise `error` unless the games are `ready`."""
        if not self.complete:
            raise error(
                "an error has interrupted the last step or reset: call reset() for all rows"
            )
        if not self.dealt:
            raise error("nothing has been dealt yet: reset() deals")

    def close(self) -> None:
        """Let the threads go."""
        self._pool.close()

    def __getstate__(self) -> dict[str, Any]:
        derived = {"actions", "tables", "layout", "_rows", "_scratch", "_nets", "_draws"}
        derived |= {"_take_rows", "_play_rows", "_show_rows"}
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._derive()
