"""Certain tricks, certain lone hands, and dominated calls."""

import re
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from oracles.reference import suit_of
from support.agent_games import (
    BARRIE,
    CINCINNATI,
    LEARNED,
    SEARCH,
    Position,
    decisions,
    settled,
    shipped,
    wins_the_rest,
)
from support.playthroughs import SIX
from support.winning_cards import beats, bits_of, in_order, random_cards

from bideuchre_env import agents
from bideuchre_env.agents.rule.certain import certain_strain, certain_winners, unseen_of
from bideuchre_env.core.state import AUCTION, PLAY, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view, see
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import STRAINS, hand_kinds, parse_card
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel

pytestmark = pytest.mark.search


@entry_kernel
def winners_of(tables, strain, held, pair, unseen, unseen_pair):
    """Return `certain_winners` as bits; `pair` are the kinds of `held` that are held twice."""
    return certain_winners(tables[0], strain, held, pair, unseen, unseen_pair)


@entry_kernel
def winners_seen(states, tables, views):
    """The certain winners of the seat on lead in row 0, as bits of kinds."""
    t, view = tables[0], views[0]
    see(states[0], t, states[0].turn, view)
    unseen, pair = unseen_of(view, t, 0b1110)
    return certain_winners(t, view.strain, view.held, view.held_pair, unseen, pair)


def first_beaten(leads, hand, strain):
    """The lowest index of a lead, played in order, that this hand can beat, or `len(leads)`."""
    if not leads:
        return 0
    follow = [card for card in hand if suit_of(card, strain) == suit_of(leads[0], strain)]
    least = len(leads)
    for card in set(follow or hand):
        if beats(card, leads[0], strain):
            return 0
        rest = list(hand)
        rest.remove(card)
        least = min(least, 1 + first_beaten(leads[1:], rest, strain))
    return least


def tricks_of(leads, unseen, strain):
    """The number of leads that win in a row against any hand of as many cards from `unseen`."""
    hands = set(combinations(sorted(unseen), min(len(leads), len(unseen))))
    return min((first_beaten(leads, hand, strain) for hand in hands), default=len(leads))


def certain(rules, strain, hand, unseen):
    """The names of the certain winners, by the kernel."""
    bits = (*bits_of(hand), *bits_of(unseen))
    kinds = winners_of(compile_tables(rules), STRAINS.index(strain), *bits)
    return [card for card in hand if kinds >> parse_card(card) & 1]


@pytest.mark.parametrize("variant", SIX)
def test_certain_winners_equal_brute_force(variant):
    """Brute force plays every hand of another seat in every legal way against every lead order."""
    rules, rng, some, every = RULES[variant], np.random.default_rng(1), 0, 0
    for turn in range(200):
        n, strain = 1 + turn % 3, STRAINS[turn % 5]
        hand, unseen = random_cards(rng, rules, n, strain)
        winners = in_order(certain(rules, strain, hand, unseen), strain)
        bound = len(winners)
        assert tricks_of(winners, unseen, strain) == bound, (hand, unseen, strain)
        most = max(tricks_of(leads, unseen, strain) for leads in permutations(hand))
        assert most == bound, (hand, unseen, strain)
        some, every = some + (0 < bound < n), every + (bound == n > 1)
    assert some > 10
    assert every > 10


@cache
def claims(variant):
    """Rows of random games in which the seat on lead has a choice and wins all tricks left."""
    rules = RULES[variant]
    tables, view, rows, states = compile_tables(rules), new_view(), [], new_states(1)
    for _, mask, row in decisions(rules, 150, seed=11):
        if row["phase"] == PLAY and row["led"] < 0 and mask.sum() > 1:
            states[0] = row
            winners = winners_seen(states, tables, view)
            if all(winners >> kind & 1 for kind in hand_kinds(int(row["hands"][row["turn"]]))):
                rows.append(row)
    return rows


@pytest.mark.parametrize(
    ("name", "variant", "rows", "deals"),
    [
        *((name, variant, 60, 40) for name in ("rule", "expert") for variant in SIX),
        *((name, variant, 60, 40) for name in LEARNED for variant in shipped(name)),
        *((name, "barrie_v0", 6, 4) for name in SEARCH),
    ],
)
def test_agents_take_all_tricks_where_they_are_certain(name, variant, rows, deals):
    rules, positions = RULES[variant], claims(variant)
    agent = agents.make(name, rules, **({"worlds": 2} if name in SEARCH else {}))
    assert len(positions) > 20
    for row in positions[:rows]:
        assert wins_the_rest(rules, agent, row, deals), row


@entry_kernel
def strain_of(states, tables, views):
    """`certain_strain` of the seat to act in row 0, an index or -1."""
    see(states[0], tables[0], states[0].turn, views[0])
    return certain_strain(views[0], tables[0], True)


TWICE = [
    ("JD JD JH JH AD AD KD KD", "D"),
    ("JC JC JS JS AC AC KC KC", "C"),
    ("AD AD AH AH AS AC KD KD", "NT"),
    ("AC AC KC KC AS AS KS KS", "NT"),
    ("JS JS JC JC AS AS AH AD", "S"),
    ("JH JH JD JD AH AH KH QH", "H"),
]
WORTH_LESS = BARRIE.replace(lone=(Bid("solo", value=2),))
ONCE = [("JH JD AH KH QH TH", "H"), ("AS KS QS JS AC AD", "NT"), ("JC JS AC KC AH AS", "C")]


def sure_hands(variant):
    """Hands that certainly take every trick alone, in one strain only."""
    return ONCE if RULES[variant].copies == 1 else TWICE


def bid_made(rules, agent, hand, story="", seat=1):
    """The agent's bid and strain, such as "bid moon H", with `hand` in `seat` after `story`."""
    position = Position(rules, {seat: hand})
    position.agent = agent
    if story:
        position.do(story)
    call = position.choice()
    if rules.strain_named == "in_bid":
        return call
    while position.states["phase"][0] == AUCTION:
        own = position.states["turn"][0] == seat
        position.do(call if own else "pass")
    return f"{call} {position.choice().removeprefix('trump ')}"


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        (name, variant)
        for name in ("rule", "expert", *LEARNED, *SEARCH)
        for variant in (shipped(name) if name in LEARNED else SIX)
        if RULES[variant].lone and RULES[variant].tricks <= 8  # the length of the hands
    ],
)
def test_a_certain_hand_is_bid_as_the_highest_lone_bid_in_its_strain(name, variant):
    rules = RULES[variant]
    options = {"worlds": 2, "played_out": 2} if name in SEARCH else {}
    agent = agents.make(name, rules, **options)
    bid = rules.lone[-1 if rules.moon_ladder == "jump" else 0].name  # the highest legal one
    for hand, strain in sure_hands(variant):
        assert bid_made(rules, agent, hand) == f"bid {bid} {strain}", hand


@pytest.mark.parametrize(
    ("rules", "hand", "story", "seat", "pattern"),
    [
        (CINCINNATI, ONCE[0][0], "bid moon", 2, "bid double moon H"),
        (RULES["simplified_v0"], TWICE[0][0], "bid moon S, pass, pass", 0, "bid moon D"),
        (WORTH_LESS, TWICE[0][0], "", 1, "(?!bid solo).*"),
    ],
    ids=["one step higher", "as high by the dealer", "not if it pays less"],
)
def test_a_certain_hand_is_bid_as_the_call_that_pays_most(rules, hand, story, seat, pattern):
    call = bid_made(rules, agents.make("rule", rules), hand, story, seat)
    assert re.fullmatch(pattern, call), call


@pytest.mark.parametrize("variant", SIX)
def test_the_last_to_call_makes_no_partnered_bid_above_the_lowest(variant):
    rules, last = RULES[variant], 0
    t = compile_tables(rules)[0]
    per_bid = int(t["strains_per_bid"])
    for observation, mask, row in decisions(rules, 40, seed=9):
        if row["phase"] != AUCTION:
            continue
        legal = [level for level in range(len(rules.ladder)) if mask[1 + level * per_bid]]
        partnered = [level for level in legal if not t["alone"][level]]
        dropped = partnered[1:] if row["calls_made"] == 3 else []
        reduced = settled(rules, observation[None], mask[None])[1][0]
        bids = [1 + level * per_bid + strain for level in dropped for strain in range(per_bid)]
        assert np.flatnonzero(mask != reduced).tolist() == bids
        last += bool(dropped)
    assert last > 5


def test_a_hand_that_does_not_lead_is_certain_only_if_it_beats_every_lead():
    """In Cincinnati the eldest hand leads: six trumps beat every lead, a side ace may be ruffed."""
    tables, view = compile_tables(CINCINNATI), new_view()
    for hand, strain in (("JH JD AH KH QH TH", "H"), ("JH JD AH KH QH AS", None)):
        position = Position(CINCINNATI, {2: hand}).do("pass")
        result = strain_of(position.states, tables, view)
        assert result == (-1 if strain is None else STRAINS.index(strain))
        if strain is not None:
            assert bid_made(CINCINNATI, position.agent, hand, "pass", 2) == "bid moon H"
    hands = {1: "9H 9D TD QD KD AC", 2: "JH JD AH KH QH TH"}
    for lead in hands[1].split():
        position = Position(CINCINNATI, hands).do("pass, bid moon, pass, pass, trump H")
        position.do(lead)
        assert wins_the_rest(CINCINNATI, position.agent, position.states[0])
