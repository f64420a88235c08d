"""Partners and opponents of the learners: players, and the choices that rows draw them from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import numpy as np

from bideuchre_env import agents
from bideuchre_env._checks import brief, whole_numbers
from bideuchre_env.agents import Agent, CompleteAgent, Goal, registry
from bideuchre_env.agents.making import acts
from bideuchre_env.agents.random_agents import RandomAgent
from bideuchre_env.agents.table.parts import is_contained, kinds_of
from bideuchre_env.agents.table.simple import CAUTIOUS, RANDOM, RULE
from bideuchre_env.core.table.loop import ENTRY, Draws
from bideuchre_env.envs.forms import Form
from bideuchre_env.envs.pool import OPPONENTS, PARTNER, candidates_of
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, new_rows

BUILT_IN = {"random": RANDOM, "cautious": CAUTIOUS, "rule": RULE}
_LEFT, _PARTNER, _RIGHT = range(3)


class Player:
    """A partner or opponent; `option` is the name in error messages.

    `spec` is the name of an agent, an agent, a function that acts, or a class or function that
    makes an agent for the `goal`; `renew` makes it again. Kernels play the `BUILT_IN` ones and
    `contained` ones; custom classes and functions may return different agents each time, so they
    are called from Python. Agents see int8 observations; a function that acts sees the learner's
    form.
    """

    def __init__(
        self,
        option: str,
        spec: Any,
        rules: Rules,
        goal: Goal | None = None,
        entropy: list[int] | None = None,
        observation: str = "dict",
    ) -> None:
        self.option, self.spec, self.rules, self.goal = option, spec, rules, goal
        self.kind = BUILT_IN.get(spec) if isinstance(spec, str) else None
        self.contained = False
        self.agent: CompleteAgent | None = None
        self._made = isinstance(spec, (str, type)) or not isinstance(spec, Agent)
        if self._made and not isinstance(spec, str) and not callable(spec):
            raise OptionError(
                f"{option}={brief(spec)}: expected an agent's name ({', '.join(agents.names())}), "
                "an agent, a function (observation, mask) -> action, or a factory of agents"
            )
        if not self._made:
            self.agent = agents.agent_of(spec, rules)
        self.renew(entropy)
        self.contained = self._is_contained()
        self._form = observation if acts(spec) else "dict"

    def _is_contained(self) -> bool:
        """Whether a kernel can play the agent made now and by every `renew`."""
        built_in = isinstance(self.spec, str) and self.spec.partition(":")[0] in registry.BUILT_IN
        fixed = not self._made or built_in or self.spec is type(self.agent)
        return fixed and is_contained(self.agent) and not isinstance(self.agent, RandomAgent)

    def renew(self, entropy: list[int] | None) -> None:
        """Recreate an agent that is called from Python; its seed is from `entropy`, None without.

        No-op for the caller's agent object, and for players that act inside kernels.
        """
        if not self._made or self.kind is not None or self.contained:
            return
        seed = None
        if entropy is not None:
            seed = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
        self.agent = agents.agent_of(self.spec, self.rules, seed=seed, goal=self.goal)

    def answers(self, observations: Array, masks: Array) -> Array:
        """Return the agent's choices for rows of observations, int64 (m,); they may be illegal.

        Raises `IllegalActionError` unless `act_rows` returns whole numbers of that shape.
        """
        assert self.agent is not None
        form = Form(self.rules, self._form, observations, masks).update()
        choices = self.agent.act_rows(form.seen, form.masks)
        where = f"{self.option}: agent {self.agent.name!r}: act_rows"
        actions: Array = form.game_actions(whole_numbers(where, choices, len(observations)))
        return actions

    @property
    def name(self) -> str:
        """The player's name."""
        return self.spec if self.agent is None else self.agent.name


Choice = tuple[tuple[Player, Player, float], ...]
"""Candidates of an episode: left player, right player and weight; a partner is both."""
Place = tuple[int, int]
"""(pool index x 3 + seat, row): seeds an agent independently of who played before. A single
opponent has (0, 0), a single partner (1, 0)."""
Make = Callable[[str, Any, Place], Player]
"""Make a player from an option's name, its value and its place."""


class Assignment:
    """The assignment of players to n rows. Immutable.

    `rows` (n, 2) has the indices of a row's choices, for its opponents and its partner, or -1. The
    `players` in `staying`, of games in progress, keep their numbers; others get the lowest free
    ones. `places` has the place of each player, for the seeds of agents.
    """

    def __init__(
        self,
        choices: list[Choice],
        rows: Array,
        staying: Mapping[int, Player] | None = None,
        places: Mapping[Player, Place] | None = None,
    ) -> None:
        used = np.unique(rows)
        used = used[used >= 0]
        self.choices = [choices[number] for number in used]
        self.rows = np.where(rows < 0, -1, np.searchsorted(used, rows))
        drawn = [each for choice in self.choices for entry in choice for each in entry[:2]]
        self.players = dict(staying or {})
        free = (number for number in count() if number not in self.players)
        for player in dict.fromkeys(drawn):
            if player not in self.players.values():
                self.players[next(free)] = player
        self.places = {player: (places or {})[player] for player in self.players.values()}
        self.called: dict[int, Player] = {}  # from Python
        self.contained: list[tuple[Player, list[int]]] = []
        """Agents that kernels contain, with the numbers of the players that are this agent."""
        simple: dict[int, int] = {}
        for number, player in self.players.items():
            if player.kind is not None:
                simple[number] = player.kind
            elif player.contained:
                self._contain(number, player)
            else:
                self.called[number] = player
        self.kinds = kinds_of(1 + max(self.players, default=-1), simple)
        """Kinds in the kernels of `agents.table.simple`, int64 (p,), by number."""
        self.has_simple, self.has_rule = bool(simple), RULE in simple.values()
        several = [number for number, choice in enumerate(self.choices) if len(choice) > 1]
        self.drawn: Array = np.any(np.isin(self.rows, several), axis=1)
        """Bool (n,): the rows whose players are drawn from a pool."""

    def _contain(self, number: int, player: Player) -> None:
        for agent, numbers in self.contained:
            if _key(agent.spec) == _key(player.spec):
                numbers.append(number)
                return
        self.contained.append((player, [number]))

    def draws(self) -> Draws:
        """Return the choices as arrays for kernels."""
        entries = new_rows(ENTRY, sum(map(len, self.choices)))
        spans, at = np.zeros((len(self.choices), 2), np.int64), 0
        numbers = {player: number for number, player in self.players.items()}
        for span, choice in zip(spans, self.choices, strict=True):
            upto = np.cumsum([weight for *_, weight in choice])
            span[:] = at, at + len(choice) - 1
            for (left, right, _), bound in zip(choice, upto / upto[-1], strict=True):
                entries[at] = bound, numbers[left], numbers[right]
                at += 1
        return Draws(entries, spans, self.rows)

    def changed(
        self, options: Mapping[str, Any], chosen: Array, staying: Mapping[int, Player], make: Make
    ) -> Assignment:
        """Return a copy with new players in the chosen rows, bool (n,).

        Args:
            options: "opponents" and "partner", each one value or a list by row. None
                leaves a row unchanged; a partner that was never set is the opponents' player.
            chosen: the rows that change.
            staying: players of games in progress, by number.
            make: called for each player that does not exist yet. Places depend only on `options`,
                so that the seeds of agents do not depend on who played before.

        Raises:
            OptionError: for an invalid player, a list of the wrong length, a row without
                opponents, and a missing partner where the opponents are several players.
        """
        rows = self.rows.copy()
        places: dict[Player, Place] = {}
        numbers = {choice: number for number, choice in enumerate(self.choices)}
        players = {(each.option, _key(each.spec)): each for each in self.places}

        def player(option: str, spec: Any, place: Place) -> Player:
            key = option, _key(spec)
            if key not in players:
                players[key] = make(option, spec, place)
            places.setdefault(players[key], place)
            return players[key]

        def number_of(option: str, spec: Any, row: int = 0) -> int:
            """Return the number of the choice that `spec` describes; add it if it is new.

            `row` is the index of `spec` in a list, for the places of its players.
            """
            one, two = (_LEFT, _RIGHT) if option == OPPONENTS else (_PARTNER, _PARTNER)
            choice = tuple(
                (
                    player(option, left, (3 * k + one, row)),
                    player(option, right, (3 * k + two, row)),
                    weight,
                )
                for k, (left, right, weight) in enumerate(candidates_of(option, spec))
            )
            return numbers.setdefault(choice, len(numbers))

        for column, option in enumerate((OPPONENTS, PARTNER)):
            spec = options.get(option)
            if isinstance(spec, list):
                for i in np.flatnonzero(chosen & _rows_with_value(option, spec, len(rows))):
                    rows[i, column] = number_of(option, spec[i], int(i))
            elif spec is not None:
                rows[chosen, column] = number_of(option, spec)
        if (rows[:, 0] < 0).any():
            raise OptionError(
                f"opponents={brief(options.get(OPPONENTS))}: expected the players of all rows"
            )
        _let_opponents_partner(list(numbers), rows)
        return Assignment(list(numbers), rows, staying, self.places | places)

    def words(self) -> str:
        """Describe the partner, then the opponents: "rule against net"."""
        both = [np.unique(column) for column in self.rows.T[::-1]]
        return " against ".join(
            _words(self.choices[each[0]]) if len(each) == 1 else "different ones by row"
            for each in both
        )


def _let_opponents_partner(choices: list[Choice], rows: Array) -> None:
    """Set the opponents' player as the partner in `rows` without a partner.

    Raises `OptionError` if the opponents of such a row are several players.
    """
    missing = rows[:, 1] < 0
    for number in np.unique(rows[missing, 0]):
        if len({each for left, right, _ in choices[number] for each in (left, right)}) > 1:
            raise OptionError(
                "partner=None: expected a player, as partner='rule', because the opponents differ"
            )
    rows[missing, 1] = rows[missing, 0]


def _words(choice: Choice) -> str:
    pairs = [
        left.name if left is right else f"{left.name} and {right.name}" for left, right, _ in choice
    ]
    return pairs[0] if len(pairs) == 1 else f"one of {len(pairs)}: {', '.join(pairs)}"


def _key(spec: Any) -> Any:
    """Return the identity of a player: its name, or the id of the object."""
    return spec if isinstance(spec, str) else id(spec)


def _rows_with_value(option: str, specs: list[Any], n: int) -> Array:
    """Return the rows for which a list has a value, bool (n,); `OptionError` unless of length n."""
    if len(specs) != n:
        raise OptionError(
            f"{option}={brief(specs)}: expected a list of {n}, one for each row; a pair is a "
            "tuple, (left, right), and a player drawn from several is an OpponentPool(...)"
        )
    return np.array([spec is not None for spec in specs])
