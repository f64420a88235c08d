"""Per-seat lambda-returns of four seats that take turns.

A seat's reward for a decision is the sum of its rewards until its own next decision or the end of
the episode. It bootstraps from its own value at that next decision. Other seats' values and other
episodes are not used. `gamma` and `lambda_` apply once per decision of the seat, not per step of
the table.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env._checks import brief, check_array, is_number
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array, entry_kernel


class Returns(NamedTuple):
    """Returns and advantages of decisions, all (T, n): by step and row.

    Without a decision, all are 0 or False. A decision whose return is unknown has its value
    estimate as return and the advantage 0.
    """

    returns: Array  #: float32: of the acting seat
    advantages: Array  #: float32: the return minus the value estimate
    complete: Array  #: bool: True for a decision whose return is known


def lambda_returns(
    seats: Array,
    rewards: Array,
    ended: Array,
    values: Array,
    bootstrap: Array | None = None,
    *,
    gamma: float = 1.0,
    lambda_: float = 0.95,
) -> Returns:
    """Return the lambda-returns of T steps of n rows of a vector environment; new arrays.

    A truncated episode is treated as a terminated one: nothing is bootstrapped after its end.

    Args:
        seats: int8 (T, n): the seat that acted, or -1 to exclude a decision (a forced move, a
            frozen opponent). Such a step has no return; its rewards count for each seat's previous
            decision.
        rewards: float32 (T, n, 4): by seat, as `step` returned them after that action.
        ended: bool (T, n): whether that action ended the episode (terminated or truncated).
        values: float32 (T, n): the acting seat's value estimate; ignored where `seats` is -1.
        bootstrap: float32 (n, 4): the value of each seat's next decision after step T - 1 in the
            running episode. NaN, or None for all, means unknown: the seat's last decision in that
            episode is then not `complete`, its return is its value, and earlier decisions bootstrap
            from it.
        gamma: the discount, 0 to 1.
        lambda_: the weight of longer returns, 0 to 1.

    Raises:
        OptionError: for arrays of another dtype or shape, invalid seats, numbers that are not
            finite, and rates outside 0 to 1.
    """
    check_array("seats", seats, np.int8, (-1, -1))
    check_array("rewards", rewards, np.float32, (*seats.shape, N_SEATS))
    check_array("ended", ended, np.bool_, seats.shape)
    check_array("values", values, np.float32, seats.shape)
    if bootstrap is None:
        bootstrap = np.full((seats.shape[1], N_SEATS), np.nan, np.float32)
    check_array("bootstrap", bootstrap, np.float32, (seats.shape[1], N_SEATS))
    odd = np.argwhere((seats < -1) | (seats >= N_SEATS))
    if len(odd):
        t, i = odd[0]
        raise OptionError(f"seats[{t}, {i}]={seats[t, i]}: expected a seat from 0 to 3, or -1")
    if not np.isfinite(rewards).all() or np.isinf(bootstrap).any():
        raise OptionError("rewards, bootstrap: expected finite numbers")
    if not (np.isfinite(values) | (seats < 0)).all():
        raise OptionError("values: expected finite numbers")
    made = Returns(
        returns=np.zeros(seats.shape, np.float32),
        advantages=np.zeros(seats.shape, np.float32),
        complete=np.zeros(seats.shape, np.bool_),
    )
    carried = np.zeros((3, seats.shape[1], N_SEATS))
    carried[NEXT_VALUE] = bootstrap
    rates = checked_rate("gamma", gamma), checked_rate("lambda_", lambda_)
    return_rows(seats, rewards, ended, values, carried, *rates, made)
    return made


def checked_rate(name: str, rate: Any) -> float:
    """Return the rate as a float; `OptionError` unless it is a number from 0 to 1."""
    if not is_number(rate) or not 0 <= rate <= 1:
        raise OptionError(f"{name}={brief(rate)}: expected a number from 0 to 1")
    return float(rate)


# First indices of `carried`, the state of the backward pass: (3, n, 4), by row and seat.
NEXT_VALUE, NEXT_ADVANTAGE, PAID = range(3)


@entry_kernel
def return_rows(
    seats: Array,
    rewards: Array,
    ended: Array,
    values: Array,
    carried: Array,
    gamma: float,
    lambda_: float,
    made: Returns,
) -> None:
    """Write the `lambda_returns` of validated arrays to `made`, whose arrays are zero.

    `carried`, float64 (3, n, 4), must be `bootstrap` (NaN: unknown) at [NEXT_VALUE], and zero
    elsewhere; it is overwritten.
    """
    steps, n = seats.shape
    for t in range(steps - 1, -1, -1):
        for i in range(n):
            for seat in range(N_SEATS):
                if ended[t, i]:
                    for part in range(3):
                        carried[part, i, seat] = 0.0
                carried[PAID, i, seat] += rewards[t, i, seat]
            seat = seats[t, i]
            if seat < 0:
                continue
            value, following = np.float64(values[t, i]), carried[NEXT_VALUE, i, seat]
            advantage = 0.0
            if not math.isnan(following):  # `math` also works on a GPU
                made.complete[t, i] = True
                advantage = carried[PAID, i, seat] + gamma * following - value
                advantage += gamma * lambda_ * carried[NEXT_ADVANTAGE, i, seat]
            made.advantages[t, i] = advantage
            made.returns[t, i] = advantage + value
            carried[NEXT_VALUE, i, seat] = value
            carried[NEXT_ADVANTAGE, i, seat] = advantage
            carried[PAID, i, seat] = 0.0
