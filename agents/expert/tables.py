"""`ExpertTables`: the expert's tables and fitted weights for a game, as arrays for its kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.data import sealed
from bideuchre_env.agents.expert.call_network import CallNetwork, load_network
from bideuchre_env.agents.expert.hand_table import STRAINS, HandTable, hand_table
from bideuchre_env.agents.expert.score_network import load_score_network
from bideuchre_env.agents.expert.win_table import win_table
from bideuchre_env.agents.protocols import Goal
from bideuchre_env.agents.rule.bidding import load_weights
from bideuchre_env.learning.network import Network
from bideuchre_env.rules.bids import N_EXCHANGES
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

NO_TABLE = HandTable(
    sealed(np.zeros(0, np.int64)),
    sealed(np.zeros((0, 1, STRAINS, 1), np.uint8)),
    sealed(np.zeros((0, 1, N_EXCHANGES, STRAINS), np.uint8)),
)


class ExpertTables(NamedTuple):
    """Tables and fitted weights for the expert's decisions."""

    weights: Array  # the rule player's, one `rule.bidding.WEIGHTS`
    hands: HandTable  # empty without a table
    estimates: bool  # whether the rule player's estimates replace a missing table
    network: CallNetwork
    score: Network  # of `score_network`; without inputs if the game was not fitted
    wins: Array  # the chance to win from every score: `win_table.win_table`; empty for points
    weighs_calls: bool  # whether `network` has trained weights of calls


def load_tables(rules: Rules, network: CallNetwork | None, goal: Goal) -> ExpertTables:
    """Return the tables for these rules and goal.

    The `network` None stands for the result of `load_network`. Without a fitted network, and
    without lone bids or with a kitty, neither a hand table nor estimates are used, because the rule
    player's calls are better then. Raises `TableError` or `WeightsError` for a damaged file.
    """
    network = load_network(rules) if network is None else network
    fitted = bool(network.layers.first.any())
    weighed = bool(rules.lone) or fitted
    has_table = weighed and not rules.kitty  # the tables are of hands without a kitty
    hands = (hand_table(rules.kinds, rules.copies) if has_table else None) or NO_TABLE
    wins = win_table(rules) if goal == "game" else np.zeros((0, 0, 0))
    return ExpertTables(
        load_weights(rules.kinds, rules.copies, rules.kitty),
        hands,
        fitted and hands is NO_TABLE,
        network,
        load_score_network(rules),
        sealed(wins),
        bool(network.layers.last.any()),
    )
