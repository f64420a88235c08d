"""Positions by named cards and actions, an agent's choice in them, and what a seat knows of one.

Seat 0 deals by default, so seat 1 is eldest hand; cards not named are dealt from the lowest up.
"""

import numpy as np
import pytest

from bideuchre_env import agents
from bideuchre_env.core import one_row
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import GIVING, PASSING, PLAY, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import (
    CARD_NAMES,
    MAX_TRICKS,
    N_SEATS,
    STRAINS,
    hand_bits,
    hand_names,
    parse_card,
)
from bideuchre_env.rules.variants import RULES

CINCINNATI, BARRIE = RULES["cincinnati_v0"], RULES["barrie_v0"]
SIX_CARD, CLUB = RULES["six_card_v0"], RULES["club_v0"]
SIMPLIFIED = RULES["simplified_v0"]

BOTH = pytest.mark.parametrize("agent", ["rule", "expert"])
"""Run a test for the two agents that decide without a search."""


class Position:
    """A game: `do` plays actions by name, `choice` is the agent's action for the seat to act.

    `hands` has cards by seat, such as {0: "JH AH"}; `played` is the number of hands before.
    """

    def __init__(self, rules, hands, *, dealer=0, score=(0, 0), played=0, agent="rule"):
        self.rules, self.tables, self.layout = rules, compile_tables(rules), layout_of(rules)
        self.names = actions.of(rules).names
        self.states = new_states(1)
        seed_rows(self.states, *split_seed(1))
        start_rows(self.states, self.tables, np.array([dealer]))
        deal_rows(self.states, self.tables)
        self.states["hands"][0] = deal_out(rules, hands)
        self.states["score"][0] = score
        self.states["hands_played"] += played
        self.states["hands_dealt"] += played
        self.agent = agents.make(agent, rules)

    def do(self, text):
        """Carry out actions, separated by commas or, for cards, by spaces."""
        for part in filter(None, map(str.strip, text.split(","))):
            for word in part.split() if part.split()[0] in CARD_NAMES else [part]:
                action = self.names.index(word)
                _, mask = self.look()
                legal = [self.names[i] for i in np.flatnonzero(mask)]
                assert mask[action], f"{word} is not legal: {legal}"
                one_row.step_row(self.states, self.tables, action)
        return self

    def look(self):
        row = np.zeros((1, self.layout.size), np.int8)
        mask = np.zeros((1, len(self.names)), np.int8)
        encode_rows(self.states, self.tables, self.layout.offsets, np.zeros(1, np.int64), row, mask)
        return row[0], mask[0]

    def choice(self):
        return self.names[self.agent.act(*self.look())]


def deal_out(rules, hands):
    """The four hands as bits: the named cards, filled up with the lowest cards left."""
    kinds = {seat: [parse_card(card) for card in text.split()] for seat, text in hands.items()}
    left = [kind for kind in range(rules.kinds) for _ in range(rules.copies)]
    for held in kinds.values():
        for kind in held:
            left.remove(kind)
    for seat in range(4):
        held = kinds.setdefault(seat, [])
        while len(held) < rules.tricks:
            held.append(left.pop())
    return [hand_bits(kinds[seat]) for seat in range(4)]


def knowledge_of(state, rules):
    """Return the keywords of `known_position` for the knowledge of the seat to act, as a dict."""
    acts, seat, side = actions.of(rules), int(state["turn"]), int(state["turn"]) & 1
    dealer, declarer = int(state["dealer"]), int(state["declarer"])
    names = []
    for place in range(1, 1 + int(state["calls_made"])):
        who = (dealer + place) % N_SEATS
        call = int(state["calls"][who])
        bid = acts.contract(call - 1, int(state["call_strains"][who]))
        names.append("pass" if call == 0 else f"bid {bid}")
    result = {"hand": hand_names(int(state["hands"][seat])), "seat": seat, "calls": names}
    result |= {"score": (int(state["score"][side]), int(state["score"][1 - side]))}
    result |= {"deal": int(state["hands_dealt"])}
    after_calls = state["phase"] >= GIVING
    if after_calls and rules.strain_named == "after_auction":
        result["strain"] = STRAINS[int(state["strain"])]
    if (after_calls and state["given"][0] >= 0) or state["phase"] in (GIVING, PASSING):
        given_cards, passed = (
            [CARD_NAMES[kind] for kind in state[half] if kind >= 0] for half in ("given", "passed")
        )
        if seat == declarer:
            result |= {"given": given_cards, "passed": passed if state["phase"] == PLAY else []}
        elif seat == declarer ^ 2:
            result["passed"] = passed
    result["played"] = played(state)
    return result


def played(state):
    """The names of the cards played in a hand, in the order of play."""
    names = []
    for trick in range(min(int(state["trick"]) + 1, MAX_TRICKS)):
        leader = int(state["leaders"][trick])
        for place in range(N_SEATS if leader >= 0 else 0):
            kind = int(state["plays"][(leader + place) % N_SEATS * MAX_TRICKS + trick])
            names += [CARD_NAMES[kind]] if kind >= 0 else []
    return names
