"""Dominated cards: of two cards of a suit, the higher is kept, or in an exchange is passed."""

from itertools import combinations

import numpy as np
import pytest
from oracles.reference import deck, height, suit_of, winner_of
from support.agent_games import (
    BARRIE,
    LEARNED,
    SEARCH,
    Position,
    apply_rows,
    live_rows,
    look,
    searcher,
    shipped,
    start,
)
from support.playthroughs import SIX

from bideuchre_env import agents, solver
from bideuchre_env.agents.advice import advise_row
from bideuchre_env.agents.rule.discards import undominated
from bideuchre_env.core.state import GIVING, PASSING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import STRAINS, hand_bits, hand_names, parse_card
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel

pytestmark = pytest.mark.search

GAMES = {name: RULES[name] for name in SIX if any(bid.exchange for bid in RULES[name].lone)}
THREE = BARRIE.replace(ranks="9", copies=1, partnered=(1, 6), lone=(Bid("call-3", 12, 3),))
AFTER = BARRIE.replace(lone=(Bid("call-2", 12, 2),), strain_named="after_auction")
CUSTOM = {"three cards of a single deck": THREE, "strain named after the auction": AFTER}


@entry_kernel
def kept(tables, views, phase, strain, kinds):
    """Return `undominated` as bits, in a phase and strain."""
    views[0].phase = phase
    views[0].strain = strain
    return undominated(views[0], tables[0], kinds)


def better(one, other, strain):
    """Whether a card is higher than another of the same suit."""
    same = suit_of(one, strain) == suit_of(other, strain)
    return same and height(one, strain) > height(other, strain)


def is_dominated(card, hand, phase, strain):
    if phase == PASSING:
        return any(better(other, card, strain) for other in hand)
    return any(better(card, other, strain) for other in hand)


def exchanges(rules, n, seed):
    """State rows of n hands for each lone bid with an exchange, in random strains, at its start."""
    tables, acts, rng = compile_tables(rules), actions.of(rules), np.random.default_rng(seed)
    for bid in rules.lone:
        if not bid.exchange:
            continue
        states = start(rules, n, seed=seed)
        while len(live := live_rows(states)) and (states["phase"][live] < GIVING).any():
            choices = np.zeros(len(live), np.int64)
            for j, strain in enumerate(rng.integers(0, len(rules.strains), len(live))):
                name, calls = f"trump {STRAINS[strain]}", states["calls_made"][live[j]]
                if calls == 0:
                    in_bid = rules.strain_named == "in_bid"
                    level = rules.ladder.index(bid)
                    name = f"bid {acts.contract(level, strain if in_bid else -1)}"
                choices[j] = acts.names.index("pass" if 0 < calls < 4 else name)
            apply_rows(states, tables, live, choices)
        yield states


def picks(rules, agent, n, seed):
    """The agent's picks in `exchanges` as (phase, strain, names of the hand, name of the card)."""
    tables, names = compile_tables(rules), actions.of(rules).names
    for states in exchanges(rules, n, seed):
        while (states["phase"] < PLAY).any():
            live = np.flatnonzero(states["phase"] < PLAY)
            choices = agent.act_rows(*look(rules, states, live))
            for row, choice in zip(states[live], choices, strict=True):
                hand = hand_names(int(row["hands"][row["turn"]]))
                yield int(row["phase"]), STRAINS[int(row["strain"])], hand, names[choice]
            apply_rows(states, tables, live, choices)


@pytest.mark.parametrize(
    ("name", "game", "n"),
    [
        *((name, game, 150) for name in ("rule", "expert") for game in (*GAMES, *CUSTOM)),
        *((name, game, 150) for name in LEARNED for game in GAMES if game in shipped(name)),
        *((name, game, 3) for name in SEARCH for game in ("club_v0", *CUSTOM)),
    ],
)
def test_no_agent_gives_up_or_passes_a_dominated_card(name, game, n):
    rules = GAMES.get(game) or CUSTOM[game]
    agent = searcher(name, rules, played_out=2) if name in SEARCH else agents.make(name, rules)
    phases = set()
    for phase, strain, hand, card in picks(rules, agent, n, seed=3):
        assert not is_dominated(card, hand, phase, strain), (phase, strain, hand, card)
        phases.add(phase)
    assert phases == {GIVING, PASSING}


def wasted_cards(rules, agent, n, seed):
    """The losing cards that an agent plays in n hands though it has a lower one of the suit.

    Also the number of tricks to which it played one of two losing cards of a suit.
    """
    names, states = actions.of(rules).names, start(rules, n, seed=seed)
    tables, tricks, wasted, choices_made = compile_tables(rules), [[] for _ in range(n)], [], 0
    while len(live := live_rows(states)):
        choices = agent.act_rows(*look(rules, states, live))
        for g, choice in zip(live, choices.tolist(), strict=True):
            row, trick = states[g], tricks[g]
            if row["phase"] != PLAY:
                continue
            if row["led"] < 0:
                trick.clear()
            strain, seat, card = STRAINS[int(row["strain"])], int(row["turn"]), names[choice]
            trick.append((seat, card))
            if len(trick) > 1 and winner_of(trick, strain) != seat:
                hand = hand_names(int(row["hands"][seat]))
                suit = [held for held in hand if suit_of(held, strain) == suit_of(card, strain)]
                loses = [held for held in suit if loses_to(trick, seat, held, strain)]
                choices_made += len(set(loses)) > 1
                if any(better(card, held, strain) for held in loses):
                    wasted.append((list(trick), hand))
        apply_rows(states, tables, live, choices)
    return wasted, choices_made


def loses_to(trick, seat, card, strain):
    """Whether `card` instead of the last card of a trick, by `seat`, does not win so far."""
    return winner_of([*trick[:-1], (seat, card)], strain) != seat


@pytest.mark.parametrize("game", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
@pytest.mark.parametrize("name", ["expert", *LEARNED])
def test_no_agent_wastes_the_higher_of_two_losing_cards(name, game):
    rules = RULES[game]
    wasted, choices_made = wasted_cards(rules, agents.make(name, rules), 150, seed=6)
    assert wasted == []
    assert choices_made > 500


@pytest.mark.parametrize("name", SEARCH)
def test_no_search_wastes_the_higher_of_two_losing_cards(name):
    rules = RULES["barrie_v0"]
    agent = searcher(name, rules, worlds=4, played_out=2)
    wasted, choices_made = wasted_cards(rules, agent, 5, seed=6)
    assert wasted == []
    assert choices_made > 10


def test_the_right_bower_is_passed_rather_than_the_left():
    """Agent `net` passed the left bower, JH; advice and the search do not even try it."""
    rules = RULES["club_v0"]
    position = Position(rules, {2: "KS JH JD AC KC QC QC JC"}, dealer=3, agent="net")
    position.do("bid call-1 D, pass, pass, pass")
    position.do(hand_names(int(position.states["hands"][0][0]))[-1])
    assert position.choice() == "JD"
    advice = advise_row(position.states, rules, worlds=8)
    assert {option.name for option in advice.options} == {"JD", "AC", "KS"}
    assert advice.legal == 7  # the mask has all kinds held
    of_taken = advise_row(position.states, rules, worlds=8, also=[position.names.index("JH")])
    assert "JH" in {option.name for option in of_taken.options}


@pytest.mark.parametrize("game", [*GAMES, "three cards of a single deck"])
def test_every_undominated_choice_of_cards_can_be_made_one_by_one(game):
    """A choice of cards is dominated if a card left in hand would be better in its place."""
    rules, rng = GAMES.get(game) or CUSTOM[game], np.random.default_rng(2)
    tables, view, cards = compile_tables(rules), new_view(), deck(rules.ranks, rules.copies)
    for turn in range(40):
        strain, phase, n = turn % 5, (GIVING, PASSING)[turn % 2], 1 + turn % 3
        hand = [cards[i] for i in rng.permutation(len(cards))[: rules.tricks]]
        reached, expected = {()}, set()
        for _ in range(n):
            longer = set()
            for chosen in reached:
                left = list(hand)
                for card in chosen:
                    left.remove(card)
                kinds = hand_bits([parse_card(card) for card in left]) & (1 << rules.kinds) - 1
                bits = kept(tables, view, phase, strain, kinds)
                next_cards = {card for card in left if bits >> parse_card(card) & 1}
                longer |= {tuple(sorted((*chosen, card))) for card in next_cards}
            reached = longer
        for chosen in combinations(hand, n):
            left = list(hand)
            for card in chosen:
                left.remove(card)
            if not any(is_dominated(card, left, phase, STRAINS[strain]) for card in chosen):
                expected.add(tuple(sorted(chosen)))
        assert reached == expected, (hand, STRAINS[strain], phase)
    view["phase"] = PLAY
    assert kept(tables, view, PLAY, 0, 0b1011) == 0b1011


@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
@pytest.mark.parametrize("strain", ["D", "NT"])
def test_a_lone_declarer_takes_no_fewer_tricks_with_the_higher_card(name, strain):
    """Two deals differ in one card, swapped with a higher one of partner, who sits out."""
    rules, rng, deals = RULES[name], np.random.default_rng(5), []
    cards = deck(rules.ranks, rules.copies)
    while len(deals) < 2 * 400:
        order = rng.permutation(len(cards))
        hands = [[cards[i] for i in order[seat::4]] for seat in range(4)]
        pairs = [(a, b) for a in hands[0] for b in hands[2] if better(b, a, strain)]
        if not pairs:
            continue
        low, high = pairs[rng.integers(len(pairs))]
        deals.append([list(hand) for hand in hands])
        hands[0][hands[0].index(low)], hands[2][hands[2].index(high)] = high, low
        deals.append(hands)
    dealer = 3 if rules.opening_lead == "eldest" else None  # the declarer leads
    tricks = solver.solve_batch(
        deals, rules, strain=strain, declarer=0, alone=True, dealer=dealer, threads=1
    )
    lower, higher = tricks[::2], tricks[1::2]
    assert (higher >= lower).all()
    assert (higher > lower).sum() > 40
