"""Rows of state from outside: only positions of the game reach the kernels."""

import numpy as np
import pytest
from support.playthroughs import VARIANTS
from support.vector_actions import choose

import bideuchre_env
from bideuchre_env.core.state import PASSING, PLAY
from bideuchre_env.errors import OptionError


def lowest(hand):
    """The lowest kind in a hand."""
    return (int(hand) & -int(hand)).bit_length() - 1


def put_aside(row):
    """A card of the eldest hand, in the auction, as if it had been given up."""
    seat = row["turn"]
    kind = lowest(row["hands"][seat])
    row["hands"][seat] -= 1 << kind
    row["given"][0], row["passed"][0] = kind, 0


def move_a_card(row):
    """A card in another hand than it was dealt to."""
    for giver, taker in ((0, 1), (1, 0), (2, 3)):
        kinds = int(row["hands"][giver]) & ~int(row["hands"][taker]) & (1 << 24) - 1
        single = kinds & ~(int(row["hands"][giver]) >> 24)
        if single:
            row["hands"][giver] -= 1 << lowest(single)
            row["hands"][taker] += 1 << lowest(single)
            return


def play_early(row):
    """Tricks that are over before the auction is."""
    row["trick"], row["tricks_won"][0] = 1, 1


FORGERIES = {  # the change, and what the error names
    "a card put aside": (put_aside, "hands"),
    "a card in another hand": (move_a_card, "hands"),
    "a trick too early": (play_early, "trick"),
    "no stream": (lambda row: row["rng"].fill(0), "rng"),
    "another turn": (lambda row: row.__setitem__("turn", (row["turn"] + 1) & 3), "turn"),
    "a strain": (lambda row: row.__setitem__("strain", 2), "strain"),
    "four passes": (lambda row: row["calls"].fill(0), "calls_made"),
    "a power with nothing led": (lambda row: row.__setitem__("winning_power", 9), "winning_power"),
    "a declarer out of range": (lambda row: row.__setitem__("declarer", 100), "declarer"),
    "a score out of range": (lambda row: row["score"].fill(2**60), "score"),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_rows_are_refused(variant, forgery):
    """What no hand comes to, number by number in range, would lead a kernel astray."""
    vec = bideuchre_env.variants[variant].vec(3)
    vec.reset(seed=4)
    states = vec.get_state()
    change, fault = FORGERIES[forgery]
    change(states[1])
    assert not np.array_equal(states, vec.get_state())
    with pytest.raises(
        OptionError, match=rf"states\[1\] is no position of this game: .*\b{fault}\b"
    ):
        vec.set_state(states)


@pytest.mark.parametrize("variant", VARIANTS)
def test_positions_are_taken(variant):
    """Every position that play comes to, exchanges among them, may be put back."""
    vec = bideuchre_env.variants[variant].vec(200)
    obs, _ = vec.reset(seed=8)
    seen = set()
    for step in range(90):
        states = vec.get_state()
        seen |= set(states["phase"].tolist())
        vec.set_state(states)
        obs, *_ = vec.step(choose(obs["action_mask"], step))
    assert PLAY in seen
    assert (PASSING in seen) == (vec.rules.exchange > 0)
