"""How the calls of an agent are fitted to its game: pairs of calls, played out both ways.

The agent plays against itself and another. In every hand one of its calls, at a random turn, is
replaced by another that looks nearly as good (`WIDTH`) or, in about a sixth of the pairs, by any
other it weighs (`ANY`), and the hand is played out both ways. The network learns the points the
caller's side got beyond what the contract of the call should bring. As only the difference of two
calls decides, and luck strikes both of a pair alike, the loss weighs the differences of the pairs
more than their sums, by how alike the luck is.

Each round starts from the weights of the one before. The first `SETTLING`, of fewer hands, also fit
by least squares what the hand and the auction tell of tricks beyond the table's; that is kept, and
a later round learns from the hands of the last `KEEP`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.expert.agent import (
    NO_SEARCH,
    ExpertAgent,
    ExpertWorkspace,
    weigh_hand,
)
from bideuchre_env.agents.expert.auction import NOT_WEIGHED, best_call, plain_points, weigh_calls
from bideuchre_env.agents.expert.call_features import N_HAND, N_INPUTS
from bideuchre_env.agents.expert.call_training import drawn_network, train
from bideuchre_env.agents.rule.agent import RuleAgent, call_bits
from bideuchre_env.agents.rule.bidding import (
    N_AUCTION_FEATURES,
    N_STRAINS,
    call_action,
    describe_auction,
)
from bideuchre_env.core.phases.deal import mix, split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import AUCTION, DEAL, new_states
from bideuchre_env.learning.view import read_view
from bideuchre_env.rules.cards import NO_TRUMP
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel, new_rows

WIDTH = (3.0, 2.0)  # points below the best call that are still tried: while settling, and after
SETTLING, SHARE = 3, 4  # first rounds, of a quarter of the hands
ANY = 12  # of 100 turns to call, those where any call may be tried, however bad it looks
KEEP = 4  # rounds whose hands are learned from together
RIDGE = 50.0
AT_ONCE = 20_000
N_TOLD = 1 + N_HAND + N_AUCTION_FEATURES

Players: TypeAlias = Callable[[Array], tuple[ExpertWorkspace, RowAgent, RowAgent]]
Report: TypeAlias = Callable[[str], None]
Progress: TypeAlias = Callable[[int, int, int], None]


def unseen(done: int, total: int, count: int) -> None:
    """Shows nothing of how far it is."""


TRIAL = np.dtype(
    [
        ("inputs", np.float32, (2, N_INPUTS)),  # of the best call and of another
        ("action", np.int64, (2,)),
        ("plain", np.float64, (2,)),  # points of its contract
        ("points", np.float64, (2,)),  # points it brought
        ("level", np.int64, (2,)),
        ("strain", np.int64, (2,)),
        ("beyond", np.float64, (2,)),  # tricks won more than the table's
        ("stood", np.int8, (2,)),  # whether it became the contract
        ("told", np.float64, (2, N_TOLD)),  # what `trick_shift` weighs
        ("seat", np.int64),
    ]
)
"""A turn to call at which two calls were tried."""


def expert_calls(
    rules: Rules,
    hands: int,
    rounds: int,
    rng: np.random.Generator,
    report: Report,
    *,
    wanted: tuple[int, ...] = NO_SEARCH,
    progress: Progress = unseen,
) -> Array:
    """The network of the expert's calls in a game, from nothing: one `NETWORK` record.

    It plays against itself and the rule player, with a search of the last tricks as `wanted`.
    Raises `DivergedError` where training does not come to anything.
    """

    def players(network: Array) -> tuple[ExpertWorkspace, RowAgent, RowAgent]:
        agent = ExpertAgent(rules, network=network, wanted=wanted, goal="points")
        return agent.workspace(), agent, RuleAgent(rules)

    return fit_calls(drawn_network(rng), players, hands, rounds, rng, report, progress=progress)


def fit_calls(
    network: Array,
    players: Players,
    hands: int,
    rounds: int,
    rng: np.random.Generator,
    report: Report,
    *,
    settle: int = SETTLING,
    progress: Progress = unseen,
) -> Array:
    """The network after so many rounds; `report` is given a line on each.

    `players(network)` gives a workspace of an expert that calls by it, the agent that plays so, and
    whom it plays against by turns with itself. The first `settle` rounds are as told above.
    """
    kept: list[Array] = []
    share = max(100, hands // SHARE)
    total, done = sum(share if turn < settle else hands for turn in range(rounds)), 0
    for turn in range(rounds):
        settling = turn < settle
        width = WIDTH[0 if settling else 1]
        work, agent, other = players(network)
        whom = (agent, other)
        some = share if settling else hands
        n, parts = min(AT_ONCE, max(1, some // 8)), []
        for part in range(some // n):
            progress(done + part * n, total, done + part * n)
            parts.append(try_calls(work, agent, whom[part % 2], n, part // 2 % 4, width, rng))
        done += some
        kept = [*([] if settling else kept[1 - KEEP :]), np.concatenate(parts)]
        network = network.copy()
        said = train(network, kept, rng)
        if turn < settle - 1:
            refit_shifts(network, kept[-1])
        if turn == settle - 1:
            kept = []
        report(f"round {turn + 1}: {said}")
    return network


def try_calls(
    work: ExpertWorkspace,
    agent: RowAgent,
    other: RowAgent,
    n: int,
    call: int,
    width: float,
    rng: np.random.Generator,
) -> Array:
    """Deal `n` hands and try two calls at this turn of those that have two: `TRIAL` records."""
    tables = agent.tables
    states = new_states(n)
    seed_rows(states, *split_seed(int(rng.integers(2**62))))
    start_rows(states, tables, np.arange(n) % 4)
    deal_rows(states, tables)
    seats = (states["dealer"] + 1 + call) & 3
    for _ in range(call):
        step(states, np.arange(n), seats, agent, other)
    observations, masks = seen(states, np.arange(n), agent)
    trials = new_rows(TRIAL, n)
    trials["seat"] = seats
    try_rows(work, observations, masks, rng.integers(0, 2**62, n), width, trials)
    two = np.flatnonzero((trials["action"][:, 1] >= 0) & (states["phase"] == AUCTION))
    trials = trials[two]
    for which in range(2):
        played = states[two]
        apply_rows(played, tables, np.arange(len(two)), trials["action"][:, which].copy())
        while len(rows := np.flatnonzero(played["phase"] < DEAL)):
            step(played, rows, trials["seat"], agent, other)
        note(trials, which, played)
    return trials


def seen(states: Array, rows: Array, agent: RowAgent) -> tuple[Array, Array]:
    """What the seat to act observes in these rows, and its masks."""
    observations = np.zeros((len(rows), agent.layout.size), np.int8)
    masks = np.zeros((len(rows), agent.n_actions), np.int8)
    encode_rows(states, agent.tables, agent.layout.offsets, rows, observations, masks)
    return observations, masks


def step(states: Array, rows: Array, seats: Array, agent: RowAgent, other: RowAgent) -> None:
    """Let the seat to act in these rows act: the agent on the side of `seats`, else the other."""
    observations, masks = seen(states, rows, agent)
    choices = np.zeros(len(rows), np.int64)
    theirs = (states["turn"][rows] ^ seats[rows]) & 1 == 1
    for mine, player in ((~theirs, agent), (theirs, other)):
        if mine.any():
            choices[mine] = player.act_rows(observations[mine], masks[mine])
    apply_rows(states, agent.tables, rows, choices)


def note(trials: Array, which: int, played: Array) -> None:
    """Enter what came of one of the two calls."""
    everyone, seats = np.arange(len(trials)), trials["seat"]
    points = played["points"].astype(float)
    trials["points"][:, which] = points[everyone, seats & 1] - points[everyone, 1 - (seats & 1)]
    tricks = played["tricks_won"][everyone, seats & 1]
    trials["beyond"][:, which] = tricks - trials["told"][:, which, 0]
    ours = (played["declarer"] == seats) & (played["level"] == trials["level"][:, which])
    trials["stood"][:, which] &= ours


@entry_kernel
def try_rows(
    work: ExpertWorkspace,
    observations: Array,
    masks: Array,
    words: Array,
    width: float,
    trials: Array,
) -> None:
    """Find for every row the best call and, by `words`, another that looks good, or action -1."""
    t, view, calls, learned = work.tables[0], work.views[0], work.calls[0], work.learned
    for i in range(len(observations)):
        read_view(row_of(observations, i), t, work.offsets[0], view)
        trials[i].action[1] = -1
        if not weigh_hand(view, t, learned, work.scratch[0], calls):
            continue
        weigh_calls(view, t, learned, call_bits(view, row_of(masks, i), t), calls)
        best = max(best_call(t, calls), 0)
        most = calls.worth[best >> 3, best & 7]
        other, best_draw = -1, -1
        least = most - width * calls.slope if words[i] % 100 >= ANY else NOT_WEIGHED + 1.0
        for call in range(8 * (1 + t.n_levels)):
            if call & 7 < N_STRAINS and call != best:
                draw = int(mix(np.uint64(words[i]) + np.uint64(call)) >> np.uint64(2))
                if calls.worth[call >> 3, call & 7] >= least and draw > best_draw:
                    other, best_draw = call, draw
        note_call(work, best, 0, trials[i])
        if other >= 0:
            note_call(work, other, 1, trials[i])


@kernel
def note_call(work: ExpertWorkspace, call: int, which: int, trial: Row) -> None:
    """Enter a call, 8 * (1 + level) + the place of its strain, in a trial."""
    t, view, calls = work.tables[0], work.views[0], work.calls[0]
    level, strain = (call >> 3) - 1, calls.ranked[call & 7]
    trial.plain[which] = plain_points(view, t, work.learned, level, strain, calls)
    for i in range(N_INPUTS):
        trial.inputs[which, i] = calls.inputs[i]
    trial.action[which] = call_action(t, level, strain)
    trial.level[which] = level
    trial.strain[which] = strain
    trial.stood[which] = 1 - t.alone[level] if level >= 0 else 0
    trial.told[which, 0] = calls.table_mean[strain]
    for i in range(N_HAND):
        trial.told[which, 1 + i] = calls.features[strain, i]
    features = work.scratch[0].features
    describe_auction(view, t, strain, features)
    for i in range(N_AUCTION_FEATURES):
        trial.told[which, 1 + N_HAND + i] = features[i]


def refit_shifts(network: Array, trials: Array) -> None:
    """Least squares of the tricks beyond the table's on what is told of the hand and the calls."""
    stood = trials["stood"] == 1
    strains, beyond, told = (trials[name][stood] for name in ("strain", "beyond", "told"))
    for kind in range(2):
        these = (strains == NO_TRUMP) == bool(kind)
        x = told[these]
        left = x.T @ x + RIDGE * np.eye(N_TOLD)
        network["shifts"][0, kind] = np.linalg.solve(left, x.T @ beyond[these])
