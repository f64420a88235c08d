"""The view of a seat: the same from the state and from its observation, without hidden cards."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import strategies as st
from oracles.reference import deck, suit_of
from support.playthroughs import EACH, Chooser, plies, start
from support.strategies import in_two_sizes, rules, seeds

from bideuchre_env import Bid, Rules
from bideuchre_env.core.observation.decode import decode
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import PLAY, new_states
from bideuchre_env.core.step import legal, legal_bits, read_mask
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import VIEW, see
from bideuchre_env.rules.cards import CARD_NAMES, SUITS
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

EXCHANGES = (Bid("call-2", 12, exchange=2), Bid("call-1", 18, exchange=1), Bid("moon", 24))
GAMES = {
    "exchange in a single deck": Rules(lone=EXCHANGES, target=32),
    "exchange in two copies": Rules(ranks="10", copies=2, lone=EXCHANGES, target=52),
    "only lone bids": Rules(partnered=None, lone=(Bid("solo", 9, exchange=3),), target=32),
    "strain named after the auction, rounds": Rules(
        strain_named="after_auction", win_rule="rounds", rounds=1, lone=EXCHANGES
    ),
    "strain in the bid, rounds": Rules(
        strain_named="in_bid", win_rule="rounds", rounds=1, copies=2, partnered=(3, 12)
    ),
    "eldest hand leads, single deck": Rules(opening_lead="eldest", lone=EXCHANGES[2:], target=32),
}
ALL_GAMES = pytest.mark.parametrize("game", [*EACH, *GAMES])
NOT_SEEN = ("for_points", "turning")


@entry_kernel
def see_twice(states, tables, offsets, seat, observations, known, views):
    """Write the seat's view of row 0, and that of its decoded observation; encode it again."""
    s, t, o = states[0], tables[0], offsets[0]
    encode(s, t, o, seat, row_of(observations, 0))
    see(s, t, seat, views[0])
    decode(row_of(observations, 0), t, o, known[0])
    see(known[0], t, 0, views[1])
    encode(known[0], t, o, 0, row_of(observations, 1))


@entry_kernel
def see_row(states, tables, seat, views):
    """Write the seat's view of row 0."""
    see(states[0], tables[0], seat, views[0])


@entry_kernel
def mask_of_bits(states, tables, mask):
    """Write the mask of row 0; return its legal bits, and those read from the mask."""
    s, t = states[0], tables[0]
    legal(s, t, row_of(mask, 0))
    return legal_bits(s, t), read_mask(t, s.phase, row_of(mask, 0))


def positions(game, seed, limit=150):
    """Environments at the positions of a game of random play; of a variant if `game` is a name."""
    env = start(GAMES.get(game, game) if isinstance(game, str) else game, seed)
    for _ in plies(env, Chooser(seed), limit):
        yield env


def check_decoding(env, seen):
    """Compare the views of all seats; count the seats to act by the fields that are set."""
    layout, tables = layout_of(env.rules), compile_tables(env.rules)
    observations, known = np.zeros((2, layout.size), np.int8), new_states(1)
    views = new_rows(VIEW, 2)
    for seat in range(4):
        see_twice(env._states, tables, layout.offsets, seat, observations, known, views)
        for name in VIEW.names:
            assert np.array_equal(views[name][0], views[name][1]), name
        assert np.array_equal(observations[0], observations[1])
        if seat == env._states["turn"][0]:
            for name in ("given", "received", "thrown", "abandoned", "held_pair"):
                seen[name] += bool(views[name][0] > 0)


@ALL_GAMES
def test_the_view_of_a_row_equals_that_of_its_observation(game):
    seen = Counter()
    for seed in range(6):
        for env in positions(game, seed):
            check_decoding(env, seen)
    copies = env.rules.copies
    assert seen["thrown"] or not env.rules.partnered
    assert bool(seen["held_pair"]) == (copies == 2)
    if any(bid.exchange for bid in env.rules.lone):
        assert seen["given"]
        assert seen["received"]
    assert bool(seen["abandoned"]) == (copies == 1 and env.rules.plays_alone)


@in_two_sizes(15, game=rules(), seed=seeds(), choices=st.integers(0, 2**32))
def test_the_view_of_any_rules_equals_that_of_the_observation(game, seed, choices):
    env = start(game, seed)
    for _ in plies(env, Chooser(choices), 100):
        check_decoding(env, Counter())


@ALL_GAMES
def test_no_field_depends_on_hidden_cards(game):
    redeals, moved = new_redeal(), 0
    for env in positions(game, 3):
        tables, views = compile_tables(env.rules), new_rows(VIEW, 1)
        for seat in range(4):
            see_row(env._states, tables, seat, views)
            before, rows = views.copy(), env._states.copy()
            resample_row(rows, tables, seat, redeals, *split_seed(seat))
            moved += not np.array_equal(rows["hands"], env._states["hands"])
            see_row(rows, tables, seat, views)
            for name in set(VIEW.names) - set(NOT_SEEN):
                assert np.array_equal(views[name], before[name]), name
    assert moved > 50


def cards_of(once, twice):
    """The cards of two sets of kinds, those there are and those there are twice, sorted."""
    kinds = [kind for bits in (once, twice) for kind in range(24) if int(bits) >> kind & 1]
    return sorted(CARD_NAMES[kind] for kind in kinds)


def suits_of(bits):
    """The letters of a set of suits."""
    return {SUITS[suit] for suit in range(4) if int(bits) >> suit & 1}


def side_suits(words, seat, tricks):
    """The suits of a seat's cards in `tricks`: all, and those of its cards that did not follow."""
    every, others = set(), set()
    for trick in tricks:
        led = suit_of(trick["cards"][0], words["strain"])
        order = [(trick["leader"] + turn) % 4 for turn in range(4)]
        order = [each for each in order if each != words["sitting_out"]]
        for each, card in zip(order, trick["cards"], strict=False):
            if each == seat:
                suit = suit_of(card, words["strain"])
                every.add(suit)
                others |= {suit} - {led}
    return every, others


@ALL_GAMES
def test_the_view_has_the_cards_of_the_decoded_words(game):
    for env in positions(game, 8):
        seat, tables, view = (
            int(env._states["turn"][0]),
            compile_tables(env.rules),
            new_rows(VIEW, 1),
        )
        see_row(env._states, tables, seat, view)
        view, words = view[0], env.observation_layout.decode(env.last()[0]["observation"])
        assert cards_of(view["held"], view["held_pair"]) == words["hand"]
        left = Counter(deck(env.rules.ranks, env.rules.copies))
        left -= Counter([*words["hand"], *words["discarded"]])
        left -= Counter(card for cards in words["played"] for card in cards if card)
        assert cards_of(view["unseen"], view["unseen_pair"]) == sorted(left.elements())
        assert view["n_unseen"] == left.total()
        assert cards_of(view["received"], 0) == sorted(set(words["passed"]))
        if view["phase"] != PLAY:
            continue
        assert [suits_of(bits) for bits in view["void"]] == [set(suits) for suits in words["voids"]]
        begun = words["tricks"]
        thrown = side_suits(words, 2, begun)[1] - {words["strain"]}
        leads = words["led"] is None
        trumps = words["strain"] not in ("NT", "LOW")
        assert suits_of(view["thrown"]) == (thrown if leads and trumps else set())
        alone = words["sitting_out"] is not None and words["declarer"] % 2 and not leads
        played = side_suits(words, words["declarer"], begun)[0] - {words["led"]}
        expected = played if alone and env.rules.copies == 1 else set()
        assert suits_of(view["abandoned"]) == expected


@ALL_GAMES
def test_the_legal_bits_of_a_mask_are_those_of_the_row(game):
    for env in positions(game, 5):
        tables = compile_tables(env.rules)
        mask = np.zeros((1, int(tables["n_actions"][0])), np.int8)
        bits, read = mask_of_bits(env._states, tables, mask)
        assert bits == read
