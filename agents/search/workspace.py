"""What the kernels of a searcher work on: the arrays of one decision, and the room to search in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.expert.agent import ExpertAgent, ExpertWorkspace
from bideuchre_env.agents.expert.sampled_deals import SAMPLED_DEAL
from bideuchre_env.agents.learned.net import NetAgent, NetWorkspace, no_net
from bideuchre_env.agents.protocols import Goal
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.resample import PLACES, new_redeal
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import new_states
from bideuchre_env.learning.view import VIEW, new_view
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import MAX_BIDS, MAX_EXCHANGE
from bideuchre_env.rules.cards import MAX_KINDS, MAX_TRICKS, N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Word, new_rows
from bideuchre_env.solver.transpositions import Searcher, new_searcher

MOST_WORLDS = 10_000
GROUPS = 8  # independent groups of Metropolis chains: their spread tells the error
CHAINS = 96  # in all groups
MOST_SAMPLES = 512  # hands of a seat that the leanings are fitted to
MOST_LISTED = 1 << 15  # hands of a caller
MOST_CANDIDATES = 2 * MAX_BIDS + 2
CACHED_HANDS = 1 << 13
CACHED_CALLS = 1 << 18
MOST_UNKNOWN = 13  # cards, where all worlds are listed
MOST_MOMENTS = 64  # three seats: four calls at most, a strain, two halves of an exchange, 36 cards
SOLVER_MEGABYTES = 16

# The decision: what is tried, and what it has come to so far.
PLAN = np.dtype(
    [
        ("stream", np.uint64),  # that the worlds are drawn from
        ("expert_action", np.int64),  # or the net's card, where that comes first
        ("certain", np.int64),  # 1: `expert_action` takes every trick left for certain
        ("n", np.int64),  # candidates; 0: play as the expert does
        ("actions", np.int64, (MOST_CANDIDATES,)),
        ("sums", np.float64, (MOST_CANDIDATES,)),  # worth over worlds
        ("squares", np.float64, (MOST_CANDIDATES,)),  # of the gain on `expert_action`
        ("values", np.float64, (MOST_CANDIDATES,)),  # in this world
        ("total", np.float64),  # worlds, by their weight
        ("total_squares", np.float64),  # of the weights, as many times as worlds are alike
        ("alike", np.float64),  # so many worlds tell as much as one drawn by itself
        ("all_worlds", np.float64),  # the weight of all there are, if all are to be tried; else 0
        ("priors", np.float64, (MOST_CANDIDATES,)),  # worth by what is known without worlds
        ("prior_errors", np.float64, (MOST_CANDIDATES,)),  # of their gains on `expert_action`
        ("has_priors", np.int64),  # 1 where something is known without worlds
        ("prior_unit", np.float64),  # a point, in priors of cards; 1 in those of calls
        ("by_tricks", np.float64, (MAX_TRICKS + 1,)),  # worth of the hand, by our side's tricks
        ("solver_ready", np.int64),  # 1: the solver's table holds worlds of this decision
        ("solved", np.int64),  # tricks left that the solver finishes; until then it is played out
        ("plays_net", np.int64),  # 1: the net plays the cards of a world; 0: the expert does
        ("moves", np.int8, (MAX_KINDS,)),  # the solver's answer
    ],
    align=True,
)

# How a seat is taken to decide.
CHOICE_MODEL = np.dtype(
    [
        ("points", np.float64),  # a call this much worse, in points, is 1/e as likely
        ("tricks", np.float64),  # a strain with so many tricks fewer is
        ("chance", np.float64),  # a strain with so much less chance alone is
        ("error_rate", np.float64),  # the share of calls and strains that are errors
        ("error_points", np.float64),  # an error this much worse, in points, is 1/e as likely
        ("lead", np.float64),  # the share of leads that are another card than the expert's
        ("follow", np.float64),  # the share of cards played to others' leads that are
        # mismatch penalties, added to the logarithm; the first three where calls are not weighed
        ("level", np.float64),  # each level a bid is higher or lower
        ("pass_", np.float64),  # a bid for a pass, or a pass for a bid
        ("strain", np.float64),  # another strain
        ("giving", np.float64),  # per kind that the expert prefers to give up
        ("passing", np.float64),  # per kind that the expert prefers to pass
        ("reads_cards", np.int64),  # 1: the cards played count too, 0: what came before alone
    ]
)

# What another seat did, and what all had seen before; a view tells the rest.
MOMENT = np.dtype(
    [
        ("action", np.int64),  # a call or a strain; of the play the kind, of an exchange the pick
        ("legal", np.int64),  # calls: bit 0 a pass, bit 1 + level that bid
        ("gone", np.int64),  # kinds played before, as bits
        ("gone_pair", np.int64),  # kinds played twice before
        ("before", np.int64),  # the moment at which the seat acted before, or -1
    ],
    align=True,
)

# The moments of the hand so far.
PAST = np.dtype(
    [
        ("last", np.int64, (N_SEATS,)),  # by seat: its last moment, or -1
        ("heard", np.uint64, (N_SEATS,)),  # by seat: a number for what its calls follow from
    ],
    align=True,
)

# How likely the hands weighed in one decision make what their seats did, by the low bits of a key.
HAND_CACHE = np.dtype(
    [
        ("keys", np.uint64, (CACHED_HANDS,)),  # `hand_key`; 0 where there is none
        ("logs", np.float64, (CACHED_HANDS,)),
        ("complete", np.int8, (CACHED_HANDS,)),  # 0: at most so likely, for it was left early
    ]
)

# How likely hands make all the calls of their seats, by the low bits of a key; of many decisions.
CALL_CACHE = np.dtype(
    [
        ("keys", np.uint64, (CACHED_CALLS,)),  # of what was heard, and the hand; 0 where none is
        ("logs", np.float64, (CACHED_CALLS,)),
    ]
)


# What the seat to act cannot see of a world: the end of a chain, or a world kept.
KEPT_WORLD = np.dtype(
    [
        ("hands", np.int64, (N_SEATS,)),
        ("logs", np.float64, (N_SEATS,)),  # by seat: how likely it is to have done what it did
        ("given", np.int8, (MAX_EXCHANGE,)),
        ("passed", np.int8, (MAX_EXCHANGE,)),
        ("kept_at", np.int64),  # of a chain: where its world is kept, or -1
        ("group", np.int64),  # of chains
        ("density", np.float64),  # log-density at which it was drawn, relative to uniform deals
    ],
    align=True,
)

# The chains of one decision.
MIXING = np.dtype(
    [
        ("word", np.uint64),  # of the random stream
        ("powers", np.float64, (N_SEATS,)),  # by seat: the exponent of its likelihood in chains
        ("n_kept", np.int64),  # worlds kept; 0: worlds are drawn by their numbers
        ("n_places", np.int64),
        ("places", np.int64, (PLACES,)),  # where unknown cards lie
        ("hides_passed", np.int64),  # 1: the declarer's hand is unknown, and what it was passed
        ("logs", np.float64, (N_SEATS,)),  # of the world that a step leads to
        ("leanings", np.float64, (PLACES, MAX_KINDS)),  # see `logistic_fit`; 0 for piles
        ("constants", np.float64, (N_SEATS,)),
        ("sums", np.float64, (PLACES,)),  # of what the cards of a place lean to it; 0 for piles
        ("gained", np.float64),  # by the guess, in this step
        ("n_samples", np.int64, (N_SEATS,)),  # hands weighed so far, by seat
    ],
    align=True,
)


# Likely hands, as dealt, of the seat whose call was rarest; see `callers.py`.
CALLER = np.dtype(
    [
        ("seat", np.int64),
        ("n", np.int64),  # hands; 0: the worlds are uniform
        ("hands", np.int64, (MOST_LISTED,)),
        ("reached", np.float64, (MOST_LISTED,)),  # sums of the weights
        ("logs", np.float64, (MOST_LISTED,)),  # log-density relative to uniform deals
        ("pool", np.int8, (4 * MAX_TRICKS,)),  # scratch: the unknown cards
        ("excess", np.int8, (MAX_TRICKS + MAX_EXCHANGE,)),
        ("given", np.int8, (MAX_EXCHANGE,)),
        ("word", np.uint64),  # of the random stream
    ],
    align=True,
)

# A hand weighed, for the leanings.
SAMPLE = np.dtype([("hand", np.int64), ("log", np.float64)], align=True)

# All worlds of one decision, where they are few.
LISTING = np.dtype(
    [
        ("n", np.int64),  # cards that are not known
        ("kinds", np.int64, (MOST_UNKNOWN,)),
        ("seconds", np.int64),  # those that are second copies of the one before, as bits
        ("allowed", np.int64, (N_SEATS,)),  # by seat: those of suits that it may have, as bits
        ("chances", np.float64, (N_SEATS, 1 << MOST_UNKNOWN)),  # by seat: of a hand
        ("total", np.float64),  # of the weights of all worlds
        ("n_worlds", np.int64),
        ("least", np.float64),  # a world has to weigh more to be kept, where all that count are
        ("reached", np.float64),  # of the total so far, the second time
        ("kept", np.int64),  # worlds so far, or marks
        ("stride", np.int64),  # between the places of worlds kept one after another
    ],
    align=True,
)


class SearchWorkspace(NamedTuple):
    """The arrays that the kernels of a searcher share; most have one row."""

    expert: ExpertWorkspace  # at the decision, whose view it holds
    players: ExpertWorkspace  # of all seats in a world; they search no last tricks
    net: NetWorkspace  # whose cards come first, and are played in worlds; of no use without a net
    replays: Array  # state: the hand so far
    worlds: Array  # state: a position that gives the observation
    simulated: Array  # state: a world played on, or a replay on its way
    observations: Array  # int8 (1, D): of whoever acts in `simulated`
    masks: Array  # int8 (1, A)
    plans: Array
    choice_models: Array
    pasts: Array
    moments: Array  # `MOMENT` (MOST_MOMENTS,)
    moment_views: Array  # what the seats saw; their cards are rewritten
    hand_caches: Array
    call_caches: Array
    redeals: Array
    mixings: Array
    chains: Array  # `KEPT_WORLD` (CHAINS,)
    kept: Array  # the same (MOST_WORLDS,)
    listings: Array
    callers: Array  # `CALLER` (1,)
    samples: Array  # `SAMPLE` (N_SEATS * MOST_SAMPLES,)
    solver: Searcher
    low: Word  # the seed
    high: Word


def new_workspace(
    rules: Rules, seed: int | None, goal: Goal, net: NetAgent | None
) -> SearchWorkspace:
    """Room for one searcher's decisions; plan and choice model are still to be filled in."""
    low, high = split_seed(seed)
    expert = ExpertAgent(rules, goal=goal).workspace()
    moment_views = new_rows(VIEW, MOST_MOMENTS)
    moment_views["for_points"] = goal == "points"
    return SearchWorkspace(
        expert,
        players=expert._replace(views=new_view(goal == "points"), deals=new_rows(SAMPLED_DEAL, 1)),
        net=no_net(rules, expert) if net is None else net.workspace(),
        replays=new_states(1),
        worlds=new_states(1),
        simulated=new_states(1),
        observations=np.zeros((1, layout_of(rules).size), np.int8),
        masks=np.zeros((1, actions.of(rules).n), np.int8),
        plans=new_rows(PLAN, 1),
        choice_models=new_rows(CHOICE_MODEL, 1),
        pasts=new_rows(PAST, 1),
        moments=new_rows(MOMENT, MOST_MOMENTS),
        moment_views=moment_views,
        hand_caches=new_rows(HAND_CACHE, 1),
        call_caches=new_rows(CALL_CACHE, 1),
        redeals=new_redeal(),
        mixings=new_rows(MIXING, 1),
        chains=new_rows(KEPT_WORLD, CHAINS),
        kept=new_rows(KEPT_WORLD, MOST_WORLDS),
        listings=new_rows(LISTING, 1),
        callers=new_rows(CALLER, 1),
        samples=new_rows(SAMPLE, N_SEATS * MOST_SAMPLES),
        solver=new_searcher(SOLVER_MEGABYTES),
        low=low,
        high=high,
    )
