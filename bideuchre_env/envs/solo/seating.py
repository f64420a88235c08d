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
        that was never said is the opponents. Raises `OptionError` for what is no player, for a
        list of another length, and where the opponents that a partner should be are several.
        """
        said, rows = _Given(self, make), self.rows.copy()
        for column, option in enumerate((OPPONENTS, PARTNER)):
            spec = given.get(option)
            if isinstance(spec, list):
                for i in np.flatnonzero(chosen & _said(option, spec, len(rows))):
                    rows[i, column] = said.number_of(option, spec[i], int(i))
            elif spec is not None:
                rows[chosen, column] = said.number_of(option, spec)
        if (rows[:, 0] < 0).any():
            raise OptionError(f"opponents={shown(given.get(OPPONENTS))}: who they are is missing")
        choices = list(said.numbers)
        unsaid = rows[:, 1] < 0
        for number in np.unique(rows[unsaid, 0]):
            if len({each for left, right, _ in choices[number] for each in (left, right)}) > 1:
                raise OptionError(
                    "partner=None: opponents that differ are no partner; say who it is, as "
                    "partner='rule'"
                )
        rows[unsaid, 1] = rows[unsaid, 0]
        return Seating(choices, rows, staying, said.places)

    def words(self) -> str:
        """Who plays with the learners and against them, for a screen: "rule against net"."""
        both = [np.unique(column) for column in self.rows.T[::-1]]
        return " against ".join(
            _words(self.choices[each[0]]) if len(each) == 1 else "different ones by row"
            for each in both
        )


class _Given:
    """Choices and players as one call gives them: those there are stay, others are made.

    A player that is given has the place where it stands first; so a seed's agents do not depend on
    who played before.
    """

    def __init__(self, seating: Seating, make: Make) -> None:
        self.numbers = {choice: number for number, choice in enumerate(seating.choices)}
        self._make = make
        self._players: dict[Any, Player] = {
            (each.option, _key(each.spec)): each for each in seating.places
        }
        self._before = seating.places
        self._now: dict[Player, Place] = {}

    @property
    def places(self) -> dict[Player, Place]:
        """The places of all players."""
        return self._before | self._now

    def number_of(self, option: str, spec: Any, row: int = 0) -> int:
        """The number of the choice that an option's value is, in a list the one of a row."""
        sides = (_LEFT, _RIGHT) if option == OPPONENTS else (_PARTNER, _PARTNER)
        entries: Choice = ()
        for k, (left, right, weight) in enumerate(drawn_from(option, spec)):
            pair = [
                self._player(option, each, (3 * k + side, row))
                for each, side in zip((left, right), sides, strict=True)
            ]
            entries = (*entries, (pair[0], pair[1], weight))
        return self.numbers.setdefault(entries, len(self.numbers))

    def _player(self, option: str, spec: Any, place: Place) -> Player:
        key = option, _key(spec)
        if key not in self._players:
            self._players[key] = self._make(option, spec, place)
        player = self._players[key]
        self._now.setdefault(player, place)
        return player


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
