"""An observation back in words: derived from the same blocks that wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bideuchre_env import actions
from bideuchre_env.cards import CARD_NAMES, STRAINS, SUITS
from bideuchre_env.errors import OptionError
from bideuchre_env.state import Phase

if TYPE_CHECKING:
    from bideuchre_env._jit import Array
    from bideuchre_env.observation import Layout


def decode(layout: Layout, observation: Array) -> dict[str, Any]:
    """An int8 observation of shape (size,) as a dict of words, by block.

    Seats are relative to the observer; "to_act", "dealer", "declarer", "sitting_out" and
    "winning" are such a seat or None. "calls", "trick", "played" and "voids" are lists by seat.
    """
    values = np.asarray(observation)
    if values.shape != (layout.size,):
        raise OptionError(f"an observation of shape {values.shape}: this game's is {layout.size}")
    if values.dtype.kind not in "iu" or (values < layout.low).any() or (values > layout.high).any():
        raise OptionError(
            f"an observation of {values.dtype} from {values.min()} to {values.max()}: whole "
            "numbers within layout.low and layout.high are wanted"
        )
    part = {b.name: values[layout.slices[b.name]].reshape(b.shape) for b in layout.blocks}
    rules = layout.rules
    bids = [bid.name for bid in rules.ladder]
    played = _played(part["played"], rules.tricks)
    trick = [_one(row, CARD_NAMES) for row in part["trick"]]
    led = _one(part["led"], tuple(SUITS))
    current = int(part["tricks_won"].sum())
    own = played[0][current] if led is not None and current < rules.tricks else None
    no_cards = np.zeros(rules.kinds, np.int8)
    return {
        "phase": _one(part["phase"], tuple(p.name.lower() for p in Phase)) or "over",
        "to_act": _seat(part["to_act"]),
        "hand": _cards(part["hand"]),
        "dealer": _seat(part["dealer"]),
        "calls": _calls(part, actions.of(rules)),
        "bid": _one(part["bid"], tuple(bids)),
        "strain": _one(part["strain"], STRAINS),
        "declarer": _seat(part["declarer"]),
        "sitting_out": _seat(part["sitting_out"]) if "sitting_out" in part else None,
        "trick": [own, *trick],
        "led": led,
        "winning": _seat(part["winning"]),
        "played": played,
        "discarded": _cards(part.get("discarded", no_cards)),
        "passed": _cards(part.get("passed", no_cards)),
        "voids": ["".join(SUITS[i] for i in np.flatnonzero(row)) for row in part["voids"]],
        "tricks_won": part["tricks_won"].tolist(),
        "score": part["score"].tolist(),
        "to_go": part["to_go"].tolist() if "to_go" in part else None,
        "target": int(part["target"][0]) if "target" in part else None,
        "hands_left": int(part["hands_left"][0]),
    }


def _one(flags: Array, words: tuple[str, ...]) -> str | None:
    where = np.flatnonzero(flags)
    return words[where[0]] if where.size else None


def _seat(flags: Array) -> int | None:
    where = np.flatnonzero(flags)
    return int(where[0]) if where.size else None


def _cards(counts: Array) -> list[str]:
    return sorted(CARD_NAMES[kind] for kind in np.repeat(np.arange(counts.size), counts))


def _calls(part: dict[str, Array], acts: actions.Actions) -> list[str | None]:
    calls: list[str | None] = []
    for seat in range(4):
        said = _seat(part["calls"][seat])
        if said is None:
            calls.append(None)
        elif said == 0:
            calls.append("pass")
        else:
            strain = _seat(part["call_strains"][seat]) if "call_strains" in part else None
            contract = acts.contract(said - 1, -1 if strain is None else strain)
            calls.append(f"bid {contract}")
    return calls


def _played(planes: Array, tricks: int) -> list[list[str | None]]:
    seats: list[list[str | None]] = [[None] * tricks for _ in range(4)]
    for seat, _copy, kind in zip(*np.nonzero(planes), strict=True):
        seats[seat][int(planes[seat, _copy, kind]) - 1] = CARD_NAMES[kind]
    return seats
