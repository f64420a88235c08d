"""Fit the network of the expert's calls to a game, by playing hands out with two calls each.

The agent plays against itself and other agents. In every hand one of its calls (the four turns
rotate) is replaced by another with nearly the same value (`WIDTH`), in about a sixth of the pairs
by any other that it evaluates (`ANY`). In `LONE` of 100 turns, a lone bid is compared with another
kind of call if possible. The hand is played out with both calls. The network learns the
points of the hand, the caller's side minus the other, less those expected from the contract. The
luck of a pair is correlated, so the loss weighs differences of pairs more than their sums.

Each round starts from the weights of the previous one. Training from random weights begins with
`SETTLING` rounds, which have fewer hands. All of them but the last also fit `shifts`, a linear
correction of the expert's table of mean tricks by the features of the hand and the auction; that
fit stays in the network. Each later round learns from the hands of the last `KEEP` rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from bideuchre_env.agents import CompleteAgent
from bideuchre_env.agents.base import KernelAgent
from bideuchre_env.agents.expert.agent import NO_SEARCH, ExpertAgent
from bideuchre_env.agents.expert.auction import NOT_WEIGHED, best_call, plain_points, weigh_calls
from bideuchre_env.agents.expert.call_features import N_HAND, N_INPUTS
from bideuchre_env.agents.expert.call_network import SCALE, SHIFTS, CallNetwork, new_network
from bideuchre_env.agents.expert.decision import PlayerWorkspace, weigh_hand
from bideuchre_env.agents.rule.agent import RuleAgent, useful_calls
from bideuchre_env.agents.rule.bidding import N_AUCTION_FEATURES, call_action, describe_auction
from bideuchre_env.agents.table.parts import play_hands
from bideuchre_env.core.phases.deal import mix, split_seed
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.rows import apply_rows, deal_rows, seed_rows, start_rows
from bideuchre_env.core.state import AUCTION, new_states
from bideuchre_env.core.step import legal_bits
from bideuchre_env.core.table.loop import CALLER
from bideuchre_env.core.view import see
from bideuchre_env.errors import DivergedError
from bideuchre_env.learning.fitting import descend
from bideuchre_env.learning.network import Network, forward
from bideuchre_env.rules.cards import NO_TRUMP
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, kernel, new_rows

WIDTH = (3.0, 2.0)  # maximum of points below the best call: while settling, and later
SETTLING, SHARE = 3, 4  # the number of settling rounds; each has 1 / SHARE of the hands
ANY = 12  # of 100 turns to call, the number in which any call may be tried
LONE = 50  # of 100 turns to call, the number in which a lone bid and another call are compared
LONE_WIDTH = 4.0  # in multiples of `WIDTH`: how far the other call may then be below the best
KEEP = 4  # rounds whose hands are used for training
RIDGE = 50.0  # ridge penalty of `refitted_shifts`
PAIRS = 1024  # per minibatch
WORSE = 2.0  # limit on the squared error after training, in multiples of that before
LATER = 2  # times that an auction in rounds may be played on to the next call of the same seat
AT_ONCE = 20_000
EPOCHS = 2
RATE = 2e-3  # learning rate of Adam, decaying to 0 in every round

Players: TypeAlias = Callable[[CallNetwork], tuple[KernelAgent, tuple[CompleteAgent, ...]]]
Report: TypeAlias = Callable[[str], None]
Progress: TypeAlias = Callable[[int, int, int], None]


def no_progress(done: int, total: int, count: int) -> None:
    """Ignore a progress report: the units done, their total, and a count for the rate."""


TRIAL = np.dtype(
    [
        ("inputs", np.float32, (2, N_INPUTS)),  # of the network
        ("action", np.int64, (2,)),
        ("plain", np.float64, (2,)),  # points expected from the call's contract
        ("points", np.float64, (2,)),  # caller's side minus the other, after the hand
        ("level", np.int64, (2,)),
        ("strain", np.int64, (2,)),
        ("beyond", np.float64, (2,)),  # tricks won minus the mean of the expert's table
        ("stood", np.int8, (2,)),  # 1 if the call became the contract, with a partner
        ("shift", np.float64, SHIFTS),  # inputs of `trick_shift`
    ]
)
"""A turn in an auction with two calls tried: entry 0 of a field is of the best, 1 of the other."""


def expert_players(rules: Rules, wanted: tuple[int, ...] = NO_SEARCH) -> Players:
    """Return the players for `fit_calls` to fit the expert: itself and the rule player.

    `wanted` is that of `ExpertAgent`.
    """

    def players(network: CallNetwork) -> tuple[KernelAgent, tuple[CompleteAgent, ...]]:
        agent = expert_with(network, rules, wanted)
        return agent, (agent, RuleAgent(rules))

    return players


def expert_with(
    network: CallNetwork, rules: Rules, wanted: tuple[int, ...] = NO_SEARCH
) -> ExpertAgent:
    """Return an `ExpertAgent` with these calls and its option `wanted`; its goal is points."""
    return ExpertAgent(rules, network=network, wanted=wanted, goal="points")


def fit_calls(
    network: CallNetwork | None,
    players: Players,
    hands: int,
    rounds: int,
    rng: np.random.Generator,
    report: Report,
    progress: Progress = no_progress,
) -> CallNetwork:
    """Train a network of calls for `rounds`, and return it; `report` gets a line after each.

    A round has `hands` hands, a settling round fewer. If `network` is None, training starts from
    random weights, with settling rounds first. `players(network)` returns the expert or net that
    calls by the network, and its opponents, which take turns. Raises `DivergedError` if training
    diverges.
    """
    settle = 0 if network else SETTLING
    network = network or drawn_network(rng)
    history: list[Array] = []
    share = max(100, hands // SHARE)
    total, done = sum(share if turn < settle else hands for turn in range(rounds)), 0
    for turn in range(rounds):
        settling = turn < settle
        width = WIDTH[0 if settling else 1]
        agent, others = players(network)
        some, cycle = share if settling else hands, len(others)
        n, parts = min(AT_ONCE, max(1, some // (4 * cycle))), []
        for part in range(some // n):
            progress(done + part * n, total, done + part * n)
            other, call = others[part % cycle], part // cycle % 4
            parts.append(try_calls(agent, other, n, call, width, rng))
        done += some
        history = [*([] if settling else history[1 - KEEP :]), np.concatenate(parts)]
        layers, message = train(network.layers, history, rng)
        network = network._replace(layers=layers)
        if turn < settle - 1:
            network = network._replace(shifts=refitted_shifts(history[-1]))
        if turn == settle - 1:
            history = []
        report(f"round {turn + 1}: {message}")
    return network


def try_calls(
    agent: KernelAgent,
    other: CompleteAgent,
    n: int,
    call: int,
    width: float,
    rng: np.random.Generator,
    lone: int = LONE,
) -> Array:
    """Play `n` hands out with each of two calls at turn `call` (0 to 3); return rows of `TRIAL`.

    In an auction in rounds, `call` is the first turn of the seat; later ones are tried, too.
    `agent` values calls and plays for the caller's side, `other` for the opponents; `width` and
    `lone` are those of `two_calls`. Hands without a second call are left out, so there may be no
    rows.
    """
    work, tables, states = caller_of(agent), agent.tables, new_states(n)
    seed_rows(states, *split_seed(int(rng.integers(2**62))))
    start_rows(states, tables, np.arange(n) % 4)
    deal_rows(states, tables)
    seats = (states["dealer"] + 1 + call) & 3
    players = (np.arange(4) + seats[:, np.newaxis]) & 1  # 0: the caller's side
    callers, every = players.copy(), np.arange(n)
    callers[every, seats] = CALLER
    play_hands(agent.rules, states, (agent, other), callers)
    if agent.rules.auction != "once":
        for _ in range(LATER):
            play_to_next_call(agent, other, states, callers, rng)
    trials = new_rows(TRIAL, n)
    try_rows(work, states, rng.integers(0, 2**62, n), width, lone, trials)
    two = np.flatnonzero((trials["action"][:, 1] >= 0) & (states["phase"] == AUCTION))
    trials, everyone, seats, players = trials[two], np.arange(len(two)), seats[two], players[two]
    for which in range(2):
        played = states[two]
        apply_rows(played, tables, everyone, trials["action"][:, which].copy())
        play_hands(agent.rules, played, (agent, other), players)
        points = played["points"].astype(float)
        trials["points"][:, which] = points[everyone, seats & 1] - points[everyone, 1 - (seats & 1)]
        tricks = played["tricks_won"][everyone, seats & 1]
        trials["beyond"][:, which] = tricks - trials["shift"][:, which, 0]
        ours = (played["declarer"] == seats) & (played["level"] == trials["level"][:, which])
        trials["stood"][:, which] &= ours
    return trials


def caller_of(agent: KernelAgent) -> PlayerWorkspace:
    """Return a workspace that values calls as an expert or net does, without a network of cards."""
    work: PlayerWorkspace = agent.workspace()._replace(cards=None)
    return work


def play_to_next_call(
    agent: KernelAgent,
    other: CompleteAgent,
    states: Array,
    callers: Array,
    rng: np.random.Generator,
) -> None:
    """Play half of the hands on to the next call of their caller, if there is one, in place.

    The caller makes the best call first. `states` are at a call of the caller, or over; `callers`
    are the players of `play_hands`.
    """
    trials = new_rows(TRIAL, len(states))
    trials["action"] = -1
    try_rows(caller_of(agent), states, np.zeros(len(states), np.int64), 0.0, 0, trials)
    on = np.flatnonzero((trials["action"][:, 0] >= 0) & (states["phase"] == AUCTION))
    on = on[rng.random(len(on)) < 0.5]
    later = states[on]
    apply_rows(later, agent.tables, np.arange(len(on)), trials["action"][on, 0].copy())
    play_hands(agent.rules, later, (agent, other), callers[on])
    again = later["phase"] == AUCTION
    states[on[again]] = later[again]


@entry_kernel
def try_rows(
    work: PlayerWorkspace, states: Array, words: Array, width: float, lone: int, trials: Array
) -> None:
    """Write the `two_calls` of each row to `trials`; without a second call, its action is -1."""
    for i in range(len(states)):
        trials[i].action[1] = -1
        best, other = two_calls(work, states[i], words[i], width, 0.0, ANY, lone)
        if best >= 0:
            note_call(work, best, 0, trials[i])
        if other >= 0:
            note_call(work, other, 1, trials[i])


@kernel
def two_calls(
    work: PlayerWorkspace, s: State, word: Word, width: float, margin: float, wild: int, lone: int
) -> tuple[int, int]:
    """Return the expert's best call in `s`, and another chosen by the random `word`; -1 for none.

    Both are -1 if the hand has no values. A call is 8 * (1 + level) + the place of its strain in
    `calls.ranked`. The other's worth is at most `width` points (times `calls.slope`) plus `margin`
    below the best; in `wild` of 100 cases it is any evaluated call. In `lone` of 100 cases, a lone
    bid is preferred if the best call is not one, otherwise a call that is not a lone bid; these may
    be `LONE_WIDTH` times as far below the best.
    """
    t, view, calls, learned = work.tables[0], work.views[0], work.calls[0], work.learned
    see(s, t, s.turn, view)
    if not weigh_hand(view, t, learned, work.scratch[0], calls):
        return -1, -1
    weigh_calls(view, t, learned, useful_calls(view, t, legal_bits(s, t)), calls)
    best = max(best_call(t, calls), 0)
    top, alone = calls.worth[best >> 3, best & 7] - margin, is_lone(t, best)
    least, far = top - width * calls.slope, top - LONE_WIDTH * width * calls.slope
    if word % 100 < wild:
        least = far = NOT_WEIGHED + 1.0
    of_other_kind = word // 100 % 100 < lone
    other, best_draw = -1, -1
    for call in range(8 * (1 + t.n_levels)):
        if call & 7 < t.n_strains and call != best:
            draw = int(mix(np.uint64(word) + np.uint64(call)) >> np.uint64(2))
            preferred = of_other_kind and is_lone(t, call) != alone
            draw += 1 << 62 if preferred else 0
            enough = calls.worth[call >> 3, call & 7] >= (far if preferred else least)
            if enough and draw > best_draw:
                other, best_draw = call, draw
    return best, other


@kernel
def is_lone(t: Tables, call: int) -> bool:
    """Whether a call of `two_calls` is a lone bid."""
    return call >= 8 and t.alone[(call >> 3) - 1] != 0


@kernel
def note_call(work: PlayerWorkspace, call: int, which: int, trial: Row) -> None:
    """Write a call of `two_calls`, with its inputs, to entry `which` (0 or 1) of a trial."""
    t, view, calls = work.tables[0], work.views[0], work.calls[0]
    level, strain = (call >> 3) - 1, calls.ranked[call & 7]
    trial.plain[which] = plain_points(view, t, work.learned, level, strain, calls)
    for i in range(N_INPUTS):
        trial.inputs[which, i] = calls.inputs[i]
    trial.action[which] = call_action(t, level, strain)
    trial.level[which] = level
    trial.strain[which] = strain
    trial.stood[which] = 1 - t.alone[level] if level >= 0 else 0
    trial.shift[which, 0] = calls.table_mean[strain]
    for i in range(N_HAND):
        trial.shift[which, 1 + i] = calls.features[strain, i]
    features = work.scratch[0].features
    describe_auction(view, t, strain, features)
    for i in range(N_AUCTION_FEATURES):
        trial.shift[which, 1 + N_HAND + i] = features[i]


def refitted_shifts(trials: Array) -> Array:
    """Return `CallNetwork.shifts` fitted by ridge regression to the trials that `stood`."""
    stood, shifts = trials["stood"] == 1, np.zeros(SHIFTS)
    strains, beyond, inputs = (trials[name][stood] for name in ("strain", "beyond", "shift"))
    for kind in range(2):
        these = (strains >= NO_TRUMP) == bool(kind)
        x = inputs[these]
        left = x.T @ x + RIDGE * np.eye(SHIFTS[1])
        shifts[kind] = np.linalg.solve(left, x.T @ beyond[these])
    return shifts


def drawn_network(rng: np.random.Generator) -> CallNetwork:
    """Return an untrained network: hidden weights are random, all others are 0."""
    network, shifts = new_network()
    first = rng.normal(0, np.sqrt(1 / 16), network.first.shape).astype(np.float32)
    second = rng.normal(0, np.sqrt(2 / len(network.second)), network.second.shape)
    network = network._replace(first=first, second=second.astype(np.float32))
    return CallNetwork(network, shifts)


def train(network: Network, history: list[Array], rng: np.random.Generator) -> tuple[Network, str]:
    """Train on `TRIAL` arrays, newest last; return the new network and a summary.

    Raises `DivergedError` if training diverges.
    """
    x = np.concatenate([trials["inputs"] for trials in history])
    y = np.concatenate([(trials["points"] - trials["plain"]) / SCALE for trials in history])
    used, newest = np.ones(y.shape), len(history[-1])
    network, before = fit_pairs(network, x, y, used, newest, rng, EPOCHS, RATE)
    whole, apart = SCALE**2 * np.mean(before**2), SCALE**2 * np.mean(np.diff(before) ** 2)
    return network, (
        f"{len(x)} pairs, squared error before {whole:.2f}, of differences {apart:.2f}"
    )


def fit_pairs(
    network: Network,
    x: Array,
    y: Array,
    used: Array,
    newest: int,
    rng: np.random.Generator,
    epochs: int,
    rate: float,
) -> tuple[Network, Array]:
    """Train on pairs: `x` (n, 2, inputs), `y` (n, 2); outputs are multiplied by `used` (n, 2).

    The residuals of a pair are correlated; the loss weighs them by the inverse of the correlation,
    and so their difference more than their sum. Returns the new network, and the residuals of the
    last `newest` pairs before training. Raises `DivergedError` if their squared error has exceeded
    `WORSE` times that before.
    """

    def inputs(rows: Any) -> Array:
        """Return the inputs of both calls of these pairs."""
        both: Array = x[rows].reshape(-1, x.shape[2])
        return both

    def residuals(outputs: Array, rows: Any) -> Array:
        """Return outputs minus targets of these pairs, (n, 2)."""
        result: Array = outputs.reshape(-1, 2) * used[rows] - y[rows]
        return result

    def slopes(outputs: Array, rows: Array) -> Array:
        """Return the gradient of the loss with respect to the outputs."""
        slope = residuals(outputs, rows) @ precision * used[rows] / len(rows)
        return slope.reshape(-1, 1).astype(np.float32)

    new = slice(-newest, None)
    before = residuals(forward(network, inputs(new)), new)
    try:
        precision = np.linalg.inv(np.corrcoef(before.T))
    except np.linalg.LinAlgError:
        raise DivergedError("training diverged: the residuals of both calls are equal") from None
    trained = descend(
        network, len(x), inputs, slopes, rng, epochs=epochs, batch=PAIRS, learning_rate=rate
    )
    after = np.mean(residuals(forward(trained, inputs(new)), new) ** 2)
    if not after <= WORSE * np.mean(before**2):
        errors = f"squared error {after:.3g}, before it {np.mean(before**2):.3g}"
        raise DivergedError(f"training diverged: {errors}; nothing is written")
    return trained, before
