"""Workspace of a search agent's kernels: the arrays of one decision, caches and scratch memory.

Each dtype below describes the record of one array in `SearchWorkspace`. A log-likelihood is that of
a seat's actions, given the hands of a world.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.agents.expert.decision import PlayerWorkspace
from bideuchre_env.agents.expert.endgame import SAMPLED_DEAL
from bideuchre_env.agents.protocols import Goal
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.resample import PLACES, new_redeal
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import new_states
from bideuchre_env.core.view import VIEW, new_view
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import MAX_BIDS, MAX_EXCHANGE
from bideuchre_env.rules.cards import MAX_KINDS, MAX_KITTY, MAX_TRICKS, N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row, Word, new_rows
from bideuchre_env.solver.transpositions import Searcher, new_searcher

MOST_WORLDS = 10_000
GROUPS = 8  # independent groups of Metropolis chains: their spread gives the error
CHAINS = 96  # in all groups together
MOST_SAMPLES = 512  # maximum number of hands of a seat from which leanings are fitted
MOST_LISTED = 1 << 15  # maximum number of listed hands of the caller (`CALLER`)
MOST_CANDIDATES = 2 * MAX_BIDS + 2
CACHED_HANDS = 1 << 13
CACHED_CALLS = 1 << 18
MOST_UNKNOWN = 13  # unknown cards up to which all worlds can be enumerated
MOST_MOMENTS = 128  # of three seats: calls (`MOST_CALLS` of four), a strain, exchange, 36 cards
SOLVER_MEGABYTES = 16

# The decision: its candidates and their results so far.
PLAN = np.dtype(
    [
        ("stream", np.uint64),  # random seed of the worlds
        ("expert_action", np.int64),  # the expert's action, or the net's card after `lean_on_net`
        ("certain", np.int64),  # 1: `expert_action` is certain to take every trick left
        ("n", np.int64),  # number of candidates; 0: play as the expert does
        ("actions", np.int64, (MOST_CANDIDATES,)),
        ("sums", np.float64, (MOST_CANDIDATES,)),  # weighted sums of the values over worlds
        ("squares", np.float64, (MOST_CANDIDATES,)),  # sums of (gain over `expert_action`)^2
        ("values", np.float64, (MOST_CANDIDATES,)),  # in the current world
        ("total", np.float64),  # weight of the worlds tried
        ("total_squares", np.float64),  # `design_effect` times the sum of the squared weights
        ("design_effect", np.float64),  # worlds per independent world
        ("all_worlds", np.float64),  # weight of all worlds, if all are to be tried; else 0
        ("priors", np.float64, (MOST_CANDIDATES,)),  # values estimated without worlds
        ("prior_errors", np.float64, (MOST_CANDIDATES,)),  # errors of gains over `expert_action`
        ("has_priors", np.int64),  # 1: `priors` are filled in
        ("prior_unit", np.float64),  # value of a point in priors of cards; 1 in those of calls
        ("by_tricks", np.float64, (MAX_TRICKS + 1,)),  # value of the hand, by our side's tricks
        ("solver_ready", np.int64),  # 1: the solver's table holds worlds of this decision
        ("solved", np.int64),  # tricks left that the solver plays; earlier tricks are played out
        ("plays_net", np.int64),  # 1: the net plays the cards of a world; 0: the expert does
        ("moves", np.int8, (MAX_KINDS,)),  # by kind played: tricks of side 0 from now on, or -1
    ],
    align=True,
)
Plan: TypeAlias = Row  # of PLAN

# Model of how a seat chooses its actions, relative to the expert's values; see `likelihood.py`.
CHOICE_MODEL = np.dtype(
    [
        # softmax temperatures: a choice worse by this much is 1/e as likely
        ("points", np.float64),  # of calls, in points
        ("tricks", np.float64),  # of strains, in tricks
        ("chance", np.float64),  # of strains for a lone bid, in its chance
        ("error_rate", np.float64),  # share of calls and strains that are errors
        ("error_points", np.float64),  # temperature of erroneous calls, in points
        ("lead", np.float64),  # share of leads that differ from the expert's card
        ("follow", np.float64),  # the same for cards played to others' leads
        # penalties of mismatches, as log-likelihoods; the first three if calls are not weighed
        ("level", np.float64),  # for each level that a bid is higher or lower
        ("pass_", np.float64),  # a bid for a pass, or a pass for a bid
        ("strain", np.float64),  # for another strain
        ("giving", np.float64),  # per kind that the expert prefers to give up
        ("passing", np.float64),  # per kind that the expert prefers to pass
        ("reads_cards", np.int64),  # 1: cards played count too; 0: only calls and exchange
        # by relative seat: the chance that its calls are a person's (`people.py`), not an agent's
        ("people", np.float64, (N_SEATS,)),
        ("spread", np.float64),  # standard deviation of the tricks that people count
        ("taste", np.float64),  # softmax temperature of people's strains, in tricks
        ("own", np.float64),  # share of people who count only their own tricks
        ("lowest", np.float64),  # share of people who make the lowest bid, not the highest
        ("careless_lead", np.float64),  # as `lead` and `follow`, of people
        ("careless_follow", np.float64),
        ("daring", np.float64),  # chance of all tricks at which half of the people bid alone
        ("doubt", np.float64),  # softmax temperature of lone bids, in that chance
    ]
)
ChoiceModel: TypeAlias = Row  # of CHOICE_MODEL

# Another seat's action and the cards played before it; `moment_views` has the rest.
MOMENT = np.dtype(
    [
        # a call or strain, the kind of a played card, the index of a card given up or passed, or
        # MAX_EXCHANGE plus that of a card laid away
        ("action", np.int64),
        ("legal", np.int64),  # legal calls: bit 0 a pass, bit 1 + level that bid; else meaningless
        ("played", np.int64),  # kinds played before, as bits
        ("played_twice", np.int64),  # kinds played twice before
        ("before", np.int64),  # index of the seat's previous moment, or -1
    ],
    align=True,
)

# The moments of the hand so far.
HISTORY = np.dtype(
    [
        ("last", np.int64, (N_SEATS,)),  # by seat: its last moment, or -1
        ("call_hashes", np.uint64, (N_SEATS,)),  # by seat: `calls_hash`, a hash
    ],
    align=True,
)

# Log-likelihoods of a seat's actions by its hand, in one decision; index: low bits of the key.
HAND_CACHE = np.dtype(
    [
        ("keys", np.uint64, (CACHED_HANDS,)),  # `hand_key`; 0: empty
        ("logs", np.float64, (CACHED_HANDS,)),
        ("complete", np.int8, (CACHED_HANDS,)),  # 0: `logs` is an upper bound (cut off early)
    ]
)

# Log-likelihoods of all calls of a seat, given its hand; index: low bits of the key. Never cleared.
CALL_CACHE = np.dtype(
    [
        ("keys", np.uint64, (CACHED_CALLS,)),  # hash of `HISTORY.call_hashes` and hand; 0: empty
        ("logs", np.float64, (CACHED_CALLS,)),
    ]
)


# Hidden cards of a world: the state of a chain, or a stored world.
STORED_WORLD = np.dtype(
    [
        ("hands", np.int64, (N_SEATS,)),
        ("logs", np.float64, (N_SEATS,)),  # by seat: log-likelihood of its actions
        ("given", np.int8, (MAX_EXCHANGE,)),
        ("passed", np.int8, (MAX_EXCHANGE,)),
        ("kitty", np.int8, (MAX_KITTY,)),
        ("laid", np.int8, (MAX_KITTY,)),
        ("stored_at", np.int64),  # of a chain: index of its state in `stored`, or -1
        ("group", np.int64),  # index of the group of chains
        ("density", np.float64),  # log-density of its proposal, relative to uniform deals
    ],
    align=True,
)

# The chains of one decision.
MIXING = np.dtype(
    [
        ("word", np.uint64),  # state of the random stream
        ("powers", np.float64, (N_SEATS,)),  # by seat: annealing exponent of its likelihood
        ("n_stored", np.int64),  # number of stored worlds; 0: worlds are drawn by number
        ("n_places", np.int64),  # number of `places`
        ("places", np.int64, (PLACES,)),  # hands and piles with unknown cards
        ("hides_passed", np.int64),  # 1: the declarer's hand and the cards passed are unknown
        ("logs", np.float64, (N_SEATS,)),  # of the world that a step proposes
        ("leanings", np.float64, (PLACES, MAX_KINDS)),  # see `logistic_fit`; 0 for piles
        ("constants", np.float64, (N_SEATS,)),
        ("sums", np.float64, (PLACES,)),  # by place: summed leanings of its cards; 0 for piles
        ("gained", np.float64),  # log-ratio of the surrogate likelihoods, in this step
        ("n_samples", np.int64, (N_SEATS,)),  # hands weighed so far, by seat
    ],
    align=True,
)
Mixing: TypeAlias = Row  # of MIXING


# Likely dealt hands of the seat with the rarest calls; see `callers.py`.
CALLER = np.dtype(
    [
        ("seat", np.int64),
        ("n", np.int64),  # number of listed hands; 0: worlds are drawn uniformly
        ("hands", np.int64, (MOST_LISTED,)),
        ("reached", np.float64, (MOST_LISTED,)),  # cumulative weights
        ("logs", np.float64, (MOST_LISTED,)),  # log-density relative to uniform deals
        ("pool", np.int8, (4 * MAX_TRICKS,)),  # scratch: the unknown cards
        ("excess", np.int8, (MAX_TRICKS + MAX_EXCHANGE,)),  # scratch of `swap_differences`
        ("given", np.int8, (MAX_EXCHANGE,)),  # scratch: the cards given up
        ("word", np.uint64),  # state of the random stream
    ],
    align=True,
)
Caller: TypeAlias = Row  # of CALLER

# A hand with its log-likelihood, from which leanings are fitted.
SAMPLE = np.dtype([("hand", np.int64), ("log", np.float64)], align=True)

# Enumeration of all worlds of one decision, if they are few.
LISTING = np.dtype(
    [
        ("n", np.int64),  # number of unknown cards
        ("kinds", np.int64, (MOST_UNKNOWN,)),  # by number of the unknown card: its kind
        ("seconds", np.int64),  # cards that are second copies of the card before, as bits
        ("allowed", np.int64, (N_SEATS,)),  # by seat: cards of suits that it may have, as bits
        ("chances", np.float64, (N_SEATS, 1 << MOST_UNKNOWN)),  # by seat and hand: likelihood
        ("total", np.float64),  # weight of all worlds
        ("n_worlds", np.int64),  # number of possible worlds
        ("least", np.float64),  # a world must weigh more to be stored, if there is room for all
        ("reached", np.float64),  # weight enumerated so far, in the second pass
        ("n_stored", np.int64),  # stored worlds, or sampling marks passed; -1: the first pass
        ("stride", np.int64),  # between the places of worlds stored one after another
    ],
    align=True,
)
Listing: TypeAlias = Row  # of LISTING


class SearchWorkspace(NamedTuple):
    """The arrays that the kernels of a search agent share; most have one row.

    Seats are relative to the observation of the decision: 0 is the seat to act.
    """

    expert: PlayerWorkspace  # for the decision; holds its view
    players: PlayerWorkspace  # for all seats in a world; without the search of the last tricks
    replays: Array  # state: the hand so far, as a replay (`core/replay.py`)
    worlds: Array  # state: the current world, a position that gives the observation
    simulated: Array  # state: a world or a replay that is being played
    observations: Array  # int8 (1, D): that of the seat to act in `worlds`, to check it
    masks: Array  # int8 (1, A): that of the same seat
    plans: Array
    choice_models: Array
    histories: Array
    moments: Array  # `MOMENT` (MOST_MOMENTS,)
    moment_views: Array  # views of the seats at those moments; their cards are rewritten
    hand_caches: Array
    call_caches: Array
    redeals: Array
    mixings: Array
    chains: Array  # `STORED_WORLD` (CHAINS,)
    stored: Array  # `STORED_WORLD` (MOST_WORLDS,)
    listings: Array
    callers: Array  # `CALLER` (1,)
    samples: Array  # `SAMPLE` (N_SEATS * MOST_SAMPLES,)
    solver: Searcher
    low: Word  # the seed
    high: Word


def new_workspace(rules: Rules, seed: int | None, goal: Goal) -> SearchWorkspace:
    """Allocate a search agent's workspace; the caller fills in the plan and the choice model.

    `seed` None draws a random seed.
    """
    low, high = split_seed(seed)
    expert = ExpertAgent(rules, goal=goal).workspace()
    moment_views = new_rows(VIEW, MOST_MOMENTS)
    moment_views["for_points"] = goal == "points"
    return SearchWorkspace(
        expert,
        players=expert._replace(views=new_view(goal == "points"), deals=new_rows(SAMPLED_DEAL, 1)),
        replays=new_states(1),
        worlds=new_states(1),
        simulated=new_states(1),
        observations=np.zeros((1, layout_of(rules).size), np.int8),
        masks=np.zeros((1, actions.of(rules).n), np.int8),
        plans=new_rows(PLAN, 1),
        choice_models=new_rows(CHOICE_MODEL, 1),
        histories=new_rows(HISTORY, 1),
        moments=new_rows(MOMENT, MOST_MOMENTS),
        moment_views=moment_views,
        hand_caches=new_rows(HAND_CACHE, 1),
        call_caches=new_rows(CALL_CACHE, 1),
        redeals=new_redeal(),
        mixings=new_rows(MIXING, 1),
        chains=new_rows(STORED_WORLD, CHAINS),
        stored=new_rows(STORED_WORLD, MOST_WORLDS),
        listings=new_rows(LISTING, 1),
        callers=new_rows(CALLER, 1),
        samples=new_rows(SAMPLE, N_SEATS * MOST_SAMPLES),
        solver=new_searcher(SOLVER_MEGABYTES),
        low=low,
        high=high,
    )
