"""Names of legal actions, and messages about illegal ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.core.one_row import mask_row
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import STRAIN_WORDS, hand_names
from bideuchre_env.rules.rules import Rules


def illegal(row: Any, rules: Rules, action: Any, where: str = "") -> str:
    """Return an error message that names the seat, the illegal action and the legal ones.

    For a card in the seat's hand, it also names the suit that was led. If no seat is to act, the
    message names only the action and says that the hand is over. `where` is put before the message.
    """
    if row["phase"] >= Phase.DEAL:
        return f"{where}{brief(action)}: the hand is over"
    names = legal_names(row, rules)
    legal = ", ".join(map(repr, names))
    seat, why = int(row["turn"]), ""
    if row["led"] >= 0 and action in hand_names(int(row["hands"][seat])):
        why = f", because {STRAIN_WORDS[row['led']]} were led"
    return f"{where}seat {seat} may not choose {brief(action)}{why}; legal: {legal}"


def revoked(row: Any, rules: Rules, kind: int) -> bool:
    """Return whether the seat to act did not follow the suit of a card, and so cannot hold it."""
    suit = compile_tables(rules)["suit_of"][0, row["strain"], kind]
    return bool(row["voids"][row["turn"]] >> suit & 1)


def lays_away(row: Any, rules: Rules) -> bool:
    """Return whether the seat to act in a state row is to lay away a card for the kitty."""
    kitty = rules.kitty
    return bool(kitty and row["phase"] == Phase.GIVING and row["laid"][kitty - 1] < 0)


def legal_names(row: Any, rules: Rules) -> list[str]:
    """Return the names of the legal actions of the seat to act in a state row."""
    acts = actions.of(rules)
    one = new_states(1)
    one[0] = row
    mask = np.zeros(acts.n, np.int8)
    mask_row(one, compile_tables(rules), mask)
    return [acts.names[i] for i in np.flatnonzero(mask)]
