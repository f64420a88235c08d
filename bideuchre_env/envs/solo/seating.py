"""Who plays beside the learners of many rows: the players, and what each row draws them from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import numpy as np

from bideuchre_env._checks import shown
from bideuchre_env.envs.pool import OPPONENTS, PARTNER, drawn_from
from bideuchre_env.envs.solo.players import Player
from bideuchre_env.envs.solo.rows import ENTRY, KERNEL_NETS, NET, RULE, SOMEBODY, Draws
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.jit import Array, new_rows

Choice = tuple[tuple[Player, Player, float], ...]
"""What an episode draws one of: players left and right, a partner in both, and a weight."""
Place = tuple[int, int]
"""Where a player stands in what an option gives: which of a pool and which seat as one number, and
in a list the row. A lone player's is (0, 0) as opponent, (1, 0) as partner."""
Make = Callable[[str, Any, Place], Player]
"""Makes a player of an option and its value, who stands at this place."""
_LEFT, _PARTNER, _RIGHT = range(3)


class Seating:
    """The choices of n rows and all the players in them; nothing of it ever changes.

    `rows` (n, 2) says which of the `choices` a row's opponents are drawn from, and its partner;
    -1 where no option has given any. `players` are by number: the `staying` ones of games that go
    on keep theirs, the others have the lowest free ones. `places` are those of the players, by
    which the agents among them are seeded.
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
        self.nets: list[Player] = []  # those that kernels hold
        self.kinds = np.zeros(1 + max(self.players, default=-1), np.int64)
        for number, player in self.players.items():
            self.kinds[number] = self._kind(player)
        self.asks = bool((self.kinds == SOMEBODY).any())
        self.has_rule = bool((self.kinds == RULE).any())
        several = [number for number, choice in enumerate(self.choices) if len(choice) > 1]
        self.drawn: Array = np.any(np.isin(self.rows, several), axis=1)
        """Bool (n,): the rows whose players are drawn from a pool."""

    def _kind(self, player: Player) -> int:
        """Who a player is to the kernels; a net that they have no room for is asked."""
        if player.kind != NET:
            return player.kind
        for number, net in enumerate(self.nets):
            if _key(net.spec) == _key(player.spec):
                return NET + number
        if len(self.nets) == KERNEL_NETS:
            return SOMEBODY
        self.nets.append(player)
        return NET + len(self.nets) - 1

    def draws(self) -> Draws:
        """The same as kernels take it."""
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
        self, given: Mapping[str, Any], chosen: Array, staying: Mapping[int, Player], make: Make
    ) -> Seating:
        """Another, in which the chosen rows, bool (n,), draw from what the options say.

        Each of `given` is one value, or a list by row; None leaves what there is, and a partner
        that was never said is the opponents. Players that there are stay, others are made; one
        that is given has the place where it stands first, so that a seed's agents do not depend on
        who played before. Raises `OptionError` for what is no player, for a list of another
        length, and where the opponents that a partner should be are several.
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
            """The number of the choice that an option's value is, in a list the one of a row."""
            one, two = (_LEFT, _RIGHT) if option == OPPONENTS else (_PARTNER, _PARTNER)
            choice = tuple(
                (
                    player(option, left, (3 * k + one, row)),
                    player(option, right, (3 * k + two, row)),
                    weight,
                )
                for k, (left, right, weight) in enumerate(drawn_from(option, spec))
            )
            return numbers.setdefault(choice, len(numbers))

        for column, option in enumerate((OPPONENTS, PARTNER)):
            spec = given.get(option)
            if isinstance(spec, list):
                for i in np.flatnonzero(chosen & _said(option, spec, len(rows))):
                    rows[i, column] = number_of(option, spec[i], int(i))
            elif spec is not None:
                rows[chosen, column] = number_of(option, spec)
        if (rows[:, 0] < 0).any():
            raise OptionError(f"opponents={shown(given.get(OPPONENTS))}: who they are is missing")
        choices = list(numbers)
        unsaid = rows[:, 1] < 0
        for number in np.unique(rows[unsaid, 0]):
            if len({each for left, right, _ in choices[number] for each in (left, right)}) > 1:
                raise OptionError(
                    "partner=None: opponents that differ are no partner; say who it is, as "
                    "partner='rule'"
                )
        rows[unsaid, 1] = rows[unsaid, 0]
        return Seating(choices, rows, staying, self.places | places)

    def words(self) -> str:
        """Who plays with the learners and against them, for a screen: "rule against net"."""
        both = [np.unique(column) for column in self.rows.T[::-1]]
        return " against ".join(
            _words(self.choices[each[0]]) if len(each) == 1 else "different ones by row"
            for each in both
        )


def _words(choice: Choice) -> str:
    pairs = [
        left.name if left is right else f"{left.name} and {right.name}" for left, right, _ in choice
    ]
    return pairs[0] if len(pairs) == 1 else f"one of {len(pairs)}: {', '.join(pairs)}"


def _key(spec: Any) -> Any:
    """What tells players apart: the name, or else the very object."""
    return spec if isinstance(spec, str) else id(spec)


def _said(option: str, specs: list[Any], n: int) -> Array:
    """The rows of a list for which it says something, bool (n,)."""
    if len(specs) != n:
        raise OptionError(
            f"{option}={shown(specs)}: a list is by row, and there are {n}; a pair is a tuple, "
            "(left, right), and Pool(...) is drawn from"
        )
    return np.array([spec is not None for spec in specs])
