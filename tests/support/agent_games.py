"""Hands and games of agents on state rows, the decisions in them, certain actions, positions.

A `Position` is made from named cards and actions. Seat 0 deals by default, so seat 1 is eldest
hand; cards not named are dealt from the lowest up.
"""

import numpy as np
import pytest

from bideuchre_env import agents, match
from bideuchre_env.agents.data import parts_of
from bideuchre_env.agents.rule.agent import certain_action, useful_calls
from bideuchre_env.agents.rule.discards import worth_trying
from bideuchre_env.agents.search.sampler import WorldSampler
from bideuchre_env.core import one_row
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import AUCTION, DEAL, GIVING, OVER, PASSING, PLAY, new_states
from bideuchre_env.core.step import read_mask
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view, see_observation
from bideuchre_env.rules import actions as rule_actions
from bideuchre_env.rules.cards import (
    CARD_NAMES,
    MAX_TRICKS,
    N_SEATS,
    STRAINS,
    hand_bits,
    hand_kinds,
    hand_names,
    parse_card,
)
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel

SEARCH = ("pimc", "inference")
LEARNED = ("ppo", "net")
CINCINNATI, BARRIE = RULES["cincinnati_v0"], RULES["barrie_v0"]
SIX_CARD, CLUB = RULES["six_card_v0"], RULES["club_v0"]
SIMPLIFIED = RULES["simplified_v0"]

BOTH = pytest.mark.parametrize("agent", ["rule", "expert"])
"""Run a test for the two agents that decide without a search."""


def shipped(name):
    """The variants for which a learned agent has weights in the package."""
    return tuple(variant for variant in RULES if name in parts_of(variant))


def start(rules, n, seed=5, first_dealer=0):
    """Return the states of n games with cards dealt; game k has dealer (k + first_dealer) % 4."""
    states, tables = new_states(n), compile_tables(rules)
    seed_rows(states, *split_seed(seed))
    start_rows(states, tables, (np.arange(n) + first_dealer) % 4)
    deal_rows(states, tables)
    return states


def look(rules, states, index):
    """Observations, int8 (n, D), and masks, int8 (n, A), of the seats to act in `states[index]`."""
    tables, layout = compile_tables(rules), layout_of(rules)
    rows = np.zeros((len(index), layout.size), np.int8)
    masks = np.zeros((len(index), int(tables["n_actions"][0])), np.int8)
    encode_rows(states, tables, layout.offsets, index, rows, masks)
    return rows, masks


def live_rows(states):
    """The indices of the states whose hand is not over."""
    return np.flatnonzero(np.asarray(states["phase"]) < DEAL)


def redeals(rules, row, n, seed=0):
    """Copies (n,) of a state row, with hidden cards redealt by the seeds `seed`, `seed` + 1, ..."""
    rows, scratch = new_states(n), new_redeal()
    rows[:] = row
    for i in range(n):
        low, high = split_seed(seed + i)
        resample_row(rows[i : i + 1], compile_tables(rules), int(row["turn"]), scratch, low, high)
    return rows


def play_on(rules, states, sides, hands=1, watch=None):
    """Play `hands` hands of every state to their end, and deal a hand after each.

    Check that every action is legal. The states change in place.

    `sides` has the agents of seats 0 and 2 and of seats 1 and 3. `watch(observations, masks,
    actions)` is called with the decisions of each side in each step.
    """
    tables = compile_tables(rules)
    for _ in range(hands):
        while len(live := live_rows(states)):
            side = np.asarray(states["turn"])[live] & 1
            for k, agent in enumerate(sides):
                index = live[side == k]
                if len(index):
                    rows, masks = look(rules, states, index)
                    actions = agent.act_rows(rows, masks)
                    assert masks[np.arange(len(index)), actions].all(), agent.name
                    if watch is not None:
                        watch(rows, masks, actions)
                    apply_rows(states, tables, index, actions)
        deal_rows(states, tables)


def play_games(rules, sides, games):
    """Play whole games to their end; `play_on` checks that every action is legal."""
    states = start(rules, games, seed=7)
    play_on(rules, states, sides, hands=rules.max_hands)
    assert (np.asarray(states["phase"]) == OVER).all()


def per_hand(rules, one, other, boards, seed=1):
    """Points per hand of `one` minus `other` on duplicate boards, and half their 95 % interval."""
    points = match(rules, one, other, boards=boards, seed=seed).points_per_hand
    return points.mean, (points.high - points.low) / 2


def searcher(name, rules, **options):
    """A search agent with two worlds for cards and 20 for calls, unless `options` change them."""
    return agents.make(name, rules, **{"seed": 1, "worlds": 2, "played_out": 20} | options)


def decisions(rules, n, seed, hands=1, every=1):
    """A list of (observation, mask, state row) for decisions in n games, `hands` hands of each.

    The games take turns in lock step. The rule player acts in all seats, except that in every
    seventh turn the cautious player acts. Only every `every`th turn is in the result.
    """
    result, tables = [], compile_tables(rules)
    states = start(rules, n, seed=seed)
    players = [agents.make(name, rules, seed=seed) for name in ("rule", "cautious")]
    for _ in range(hands):
        turn = 0
        while len(live := live_rows(states)):
            rows, masks = look(rules, states, live)
            if turn % every == 0:
                result += [(rows[j], masks[j], states[g].copy()) for j, g in enumerate(live)]
            apply_rows(states, tables, live, players[turn % 7 == 3].act_rows(rows, masks))
            turn += 1
        deal_rows(states, tables)
    return result


def lone_decisions(rules, bid, n, seed):
    """Choices of n hands in which eldest hand bids `bid` and others pass, as in `decisions`."""
    states, tables, result = start(rules, n, seed=seed), compile_tables(rules), []
    rule, level = agents.make("rule", rules), [b.name for b in rules.ladder].index(bid)
    while len(live := live_rows(states)):
        rows, masks = look(rules, states, live)
        result += [(rows[j], masks[j], states[g].copy()) for j, g in enumerate(live)]
        choices = rule.act_rows(rows, masks)
        auction = np.asarray(states["phase"])[live] == AUCTION
        first = np.asarray(states["calls_made"])[live] == 0
        call = 1 + level * int(tables["strains_per_bid"][0])
        choices[auction] = np.where(first, call, 0)[auction]
        apply_rows(states, tables, live, choices)
    return [d for d in result if d[1].sum() > 1 and d[2]["calls_made"] > 0]


def varied_decisions(rules, n, seed):
    """At most n choices of each phase, as in `decisions`, with every exchange."""
    candidates = decisions(rules, 3, seed=seed, hands=2)
    for bid in rules.lone:
        if bid.exchange:
            candidates += lone_decisions(rules, bid.name, 1, seed=seed)
    chosen = []
    for phase in range(PLAY + 1):
        some = [d for d in candidates if d[2]["phase"] == phase and d[1].sum() > 1]
        chosen += some[:: max(1, len(some) // n)][:n]
    return chosen


@entry_kernel
def settle(observations, masks, tables, offsets, known, views, certain, reduced):
    """Write certain actions, or -1, to `certain`; clear dominated actions in masks `reduced`."""
    t, view = tables[0], views[0]
    for i in range(len(observations)):
        mask = row_of(masks, i)
        legal = see_observation(row_of(observations, i), mask, t, offsets[0], known[0], view)
        certain[i] = certain_action(view, t, legal)
        bits = useful_calls(view, t, legal)
        for action in range(t.trump_offset if view.phase == AUCTION else 0):
            call = 0 if action == 0 else 1 + (action - 1) // t.strains_per_bid
            if bits >> call & 1 == 0:
                reduced[i, action] = 0
        cards = worth_trying(view, t, read_mask(t, PLAY, mask))
        for kind in range(t.kinds):
            if cards >> kind & 1 == 0:
                reduced[i, t.card_offset + kind] = 0


def settled(rules, rows, masks):
    """Return actions that certainly win the rest, or -1, and masks without dominated actions."""
    certain, reduced = np.zeros(len(rows), np.int64), masks.copy()
    rows, masks = np.ascontiguousarray(rows), np.ascontiguousarray(masks)
    tables, offsets = compile_tables(rules), layout_of(rules).offsets
    settle(rows, masks, tables, offsets, new_states(1), new_view(), certain, reduced)
    return certain, reduced


def wins_the_rest(rules, agent, row, deals=40):
    """Whether an agent takes all tricks left in each redeal, against random seats."""
    states, tables = redeals(rules, row, deals, seed=2), compile_tables(rules)
    seat, side, rng = int(row["turn"]), int(row["turn"]) & 1, np.random.default_rng(4)
    while len(live := live_rows(states)):
        rows, masks = look(rules, states, live)
        own = np.asarray(states["turn"])[live] == seat
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        if own.any():
            actions[own] = agent.act_rows(rows[own], masks[own])
        apply_rows(states, tables, live, actions)
    lost = rules.tricks - row["tricks_won"][side] - len(hand_kinds(int(row["hands"][seat])))
    return bool((np.asarray(states["tricks_won"])[:, 1 - side] == lost).all())


class Position:
    """A game: `do` plays actions by name, `choice` is the agent's action for the seat to act.

    `hands` has cards by seat, such as {0: "JH AH"}; `played` is the number of hands before.
    """

    def __init__(self, rules, hands, *, dealer=0, score=(0, 0), played=0, agent="rule"):
        self.rules, self.tables = rules, compile_tables(rules)
        self.names = rule_actions.of(rules).names
        self.states = start(rules, 1, seed=1, first_dealer=dealer)
        self.states["hands"][0], kitty = deal_out(rules, hands)
        self.states["kitty"][0, : rules.kitty] = kitty
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
        rows, masks = look(self.rules, self.states, np.zeros(1, np.int64))
        return rows[0], masks[0]

    def choice(self):
        return self.names[self.agent.act(*self.look())]


def deal_out(rules, hands):
    """The four hands as bits, the named cards filled up with the lowest left, and the rest."""
    kinds = {seat: [parse_card(card) for card in text.split()] for seat, text in hands.items()}
    left = [kind for kind in range(rules.kinds) for _ in range(rules.copies)]
    for held in kinds.values():
        for kind in held:
            left.remove(kind)
    for seat in range(4):
        held = kinds.setdefault(seat, [])
        while len(held) < rules.tricks:
            held.append(left.pop())
    return [hand_bits(kinds[seat]) for seat in range(4)], sorted(left)


def knowledge_of(state, rules):
    """Return the keywords of `known_position` for the knowledge of the seat to act, as a dict."""
    acts, seat, side = rule_actions.of(rules), int(state["turn"]), int(state["turn"]) & 1
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
            result["given"] = given_cards if rules.exchange_seen == "open" else []
    if after_calls and rules.kitty and seat == declarer:
        for name, field in (("kitty", "kitty"), ("laid_away", "laid")):
            result[name] = [CARD_NAMES[kind] for kind in state[field] if kind >= 0]
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


def limit_listing(monkeypatch):
    """Keep an agent's limits on listing the caller's hands in advice; listing all takes longer."""
    monkeypatch.setattr(WorldSampler, "list_all_hands", lambda self: None)
