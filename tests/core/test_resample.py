"""Redealing what a seat cannot know: every deal that its information allows, all alike.

The deals allowed are counted by brute force in plain Python, cards told apart: two copies of a
kind are two cards, so a deal of kinds weighs as many deals of cards as it stands for.
"""

from collections import Counter
from itertools import combinations
from math import prod

import numpy as np
import pytest
from oracles.reference import deck, suit_of
from support.chi_square import assert_fits
from support.playthroughs import (
    Chooser,
    act,
    finish,
    plies,
    start,
)

import bideuchre_env
from bideuchre_env import Bid, Rules
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import CARD_NAMES, hand_names

TINY = Rules(
    ranks="J",
    partnered=(1, 4),
    lone=(Bid("call-2", 12, exchange=2), Bid("call-1", 18, exchange=1), Bid("moon", 24)),
    target=32,
)
TINY_ROLES = ("declarer", "left", "partner", "right")


def names(kinds):
    """Names of the kinds that are there, -1 standing for none."""
    return [CARD_NAMES[kind] for kind in kinds if kind >= 0]


def outcome(row):
    """A redeal as a thing to count: the hands, and the two piles of an exchange."""
    hands = tuple(tuple(sorted(hand_names(int(hand)))) for hand in row["hands"])
    return (*hands, tuple(sorted(names(row["given"]))), tuple(sorted(names(row["passed"]))))


def splits(cards, sizes):
    """Every way to split a list of cards (told apart) into piles of these sizes."""
    if not sizes:
        yield []
        return
    for chosen in combinations(range(len(cards)), sizes[0]):
        rest = [card for i, card in enumerate(cards) if i not in chosen]
        for piles in splits(rest, sizes[1:]):
            yield [[cards[i] for i in chosen], *piles]


def all_deals(env, seat):
    """Every outcome a seat's information allows, with its weight, from the rules alone."""
    row = env._states[0]
    strain = ("C", "D", "H", "S", "NT")[row["strain"]] if row["strain"] >= 0 else "NT"
    declarer, phase = int(row["declarer"]), int(row["phase"])
    partner = (declarer + 2) % 4
    played = [names(row["plays"][who * 12 : who * 12 + 12]) for who in range(4)]
    given, passed = names(row["given"]), names(row["passed"])
    taken = phase >= 4  # the declarer has the partner's cards
    hands = [hand_names(int(hand)) for hand in row["hands"]]

    known = Counter(hands[seat]) + sum(map(Counter, played), Counter())
    sure = []  # what the declarer is known to hold
    if given and seat == declarer:
        known += Counter(given)
    if passed and seat == partner:
        sure = list((Counter(passed) - Counter(played[declarer])).elements()) if taken else []
        known += Counter(sure) if taken else Counter(passed)
    unknown = list((Counter(deck(env.rules.ranks, env.rules.copies)) - known).elements())

    others = [who for who in range(4) if who != seat]
    sizes = [len(hands[who]) - (len(sure) if who == declarer else 0) for who in others]
    hides_given = bool(given) and seat != declarer
    hides_passed = bool(passed) and not taken and seat != partner
    sizes += [len(given)] * hides_given + [len(passed)] * hides_passed
    voids = [[s for i, s in enumerate("CDHS") if row["voids"][who] >> i & 1] for who in others]
    guesses = bool(passed) and taken and (seat - declarer) % 2 == 1

    weights: Counter = Counter()
    for piles in splits(unknown, sizes):
        if any(
            suit_of(card, strain) in void
            for pile, void in zip(piles[:3], voids, strict=True)
            for card in pile
        ):
            continue
        found = [sorted(hands[seat])] * 4
        for who, pile in zip(others, piles[:3], strict=True):
            found[who] = sorted(pile + sure if who == declarer else pile)
        kept = [sorted(piles[3]) if hides_given else sorted(given), sorted(passed)]
        if hides_passed:
            kept[1] = sorted(piles[-1])
        if not guesses:
            weights[tuple(map(tuple, (*found, *kept)))] += 1
            continue
        for chosen in combinations(sorted(found[declarer] + played[declarer]), len(passed)):
            weights[tuple(map(tuple, (*found, kept[0], sorted(chosen))))] += 1
    return weights


def samples(env, seat, n, seed):
    """n redeals for a seat, as counted outcomes."""
    tables, redeals = compile_tables(env.rules), new_redeal()
    found: Counter = Counter()
    rows = env._states.copy()
    for i in range(n):
        rows[:] = env._states
        resample_row(rows, tables, seat, redeals, *split_seed(seed + i))
        found[
            tuple(rows["hands"][0].tolist()),
            tuple(sorted(rows["given"][0].tolist())),
            tuple(sorted(rows["passed"][0].tolist())),
        ] += 1
    in_words: Counter = Counter()
    for (hands, given, passed), count in found.items():
        in_words[outcome({"hands": hands, "given": given, "passed": passed})] += count
    return in_words


def assert_uniform(env, seat, seed, most=40_000):
    """Check redeals of a position against all that are possible; what those are, with weights.

    Outcomes are put together, in their order, until each cell expects at least twenty.
    """
    weights = all_deals(env, seat)
    total, n = sum(weights.values()), min(most, 40 * len(weights) + 400)
    found = samples(env, seat, n, seed)
    assert outcome(env._states[0]) in weights  # the truth is among them
    assert set(found) <= set(weights)
    cells, expected, observed = [], 0.0, 0
    for deal in sorted(weights):
        expected += n * weights[deal] / total
        observed += found[deal]
        if expected >= 20:
            cells.append((observed, expected))
            expected, observed = 0.0, 0
    if cells and expected:
        cells[-1] = (cells[-1][0] + observed, cells[-1][1] + expected)
    if len(cells) > 1:
        assert_fits(*zip(*cells, strict=True))
    return weights


def cost(env, seat):
    """How many splits of cards the count goes through, at most."""
    row = env._states[0]
    sizes = [len(hand_names(int(row["hands"][who]))) for who in range(4) if who != seat]
    sizes += [len(names(row["given"])), len(names(row["passed"])) * (row["phase"] == 3)]
    return prod(range(1, sum(sizes) + 1)) / prod(prod(range(1, size + 1)) for size in sizes)


ENDINGS = {  # with the number of splits to count at most, in the usual and in the slow run
    "single deck": (Rules(ranks="9", lone=(Bid("moon", 12),), target=32), 900, 2_600),
    "double deck": (Rules(ranks="J", copies=2, partnered=(1, 8), target=52), 900, 2_600),
    "big double deck": (Rules(copies=2, partnered=(1, 12), target=52), 900, 2_600),
    "exchange": (TINY, 1_300, 4_000),
    "double deck exchange": (
        Rules(ranks="J", copies=2, partnered=None, lone=TINY.lone, target=52),
        1_800,
        9_000,
    ),
}


USUAL = [(kind, 20 if "exchange" in kind else 8) for kind in ENDINGS]
SLOW = [pytest.param(kind, 32, marks=pytest.mark.slow) for kind in ENDINGS]


@pytest.mark.parametrize(("kind", "positions"), USUAL + SLOW)
def test_endings_are_redealt_uniformly(kind, positions):
    """End positions small enough to count, for every seat, most of them with voids known."""
    rules, *limits = ENDINGS[kind]
    limit = limits[positions == 32]
    checked, with_voids, roles, uneven = 0, 0, set(), 0
    for seed in range(400):
        if checked >= positions:
            break
        env = start(rules, seed, episode="hand")
        for _ in plies(env, Chooser(seed)):
            row = env._states[0]
            seat = (int(row["declarer"]) + checked) % 4
            if row["phase"] != 4 or cost(env, seat) > limit or row["voids"].sum() == 0:
                continue
            checked += 1
            voids = [v for who, v in enumerate(row["voids"]) if who != seat]
            with_voids += any(voids)
            if row["given"][0] >= 0:
                roles.add(TINY_ROLES[(seat - int(row["declarer"])) % 4])
            weights = assert_uniform(env, seat, seed * 10**6, most=8_000)
            uneven += len(set(weights.values())) > 1
            break
    assert checked == positions
    assert with_voids >= positions // 2
    if "exchange" in kind:
        assert roles == set(TINY_ROLES)
    if "double" in kind:
        assert uneven  # kinds that stand for different numbers of cards were among them


def at_phase(phase, level, picks):
    """A tiny game in a phase of the exchange, after some picks of its half."""
    for seed in range(10_000):
        env = start(TINY, seed)
        for _ in plies(env, Chooser(seed)):
            row = env._states[0]
            if (row["phase"], row["picks"]) == (phase, picks) and row["level"] == level:
                return env
    raise AssertionError("no such position")


def exchanges(phase, level, picks, roles):
    """A phase, a level of the ladder (4 call-2, 5 call-1), picks made, a seat from the declarer."""
    slow = [pytest.param(phase, level, picks, role, marks=pytest.mark.slow) for role in range(4)]
    return [(phase, level, picks, role) if role in roles else slow[role] for role in range(4)]


BEFORE_THE_PLAY = exchanges(2, 5, 0, (2,)) + exchanges(2, 4, 1, ())
BEFORE_THE_PLAY += exchanges(3, 5, 0, ()) + exchanges(3, 4, 1, (0,))


@pytest.mark.parametrize(("phase", "level", "picks", "role"), BEFORE_THE_PLAY)
def test_exchanges_are_redealt_uniformly(phase, level, picks, role):
    """In the middle of an exchange, for the declarer, the partner and both defenders."""
    env = at_phase(phase, level, picks)
    seat = (int(env._states[0]["declarer"]) + role) % 4
    assert len(assert_uniform(env, seat, 17, most=20_000)) >= 12


def test_auctions_are_redealt_uniformly():
    """Before anything is known but one's own hand: 12! / 4!^3 deals."""
    env = start(TINY, 5)
    weights = assert_uniform(env, 2, 23, most=20_000)
    assert len(weights) == 34_650
    assert set(weights.values()) == {1}


def test_a_finished_hand_is_redealt_uniformly():
    """After the last trick a defender still does not know who held and passed what.

    Declarer and partner of this deck of sixteen do, having seen all the rest.
    """
    for seed in range(10_000):
        env = start(TINY, seed, episode="hand")
        finish(env, Chooser(seed))
        if env._states[0]["given"][1] >= 0:
            break
    for seat in range(4):
        defends = (seat - int(env._states[0]["declarer"])) % 2 == 1
        assert (len(assert_uniform(env, seat, 29)) > 1) == defends


def test_partner_knows_where_a_passed_pair_is():
    """The partner passed both aces of hearts and the declarer led one: it still holds the other."""
    rules = ENDINGS["double deck exchange"][0]
    rest = sorted(set(deck("J", 2)) - {"AH"}) * 2
    hands = [rest[:8], rest[8:16], ["AH", "AH", *rest[16:22]], rest[22:]]
    env = start(rules, 0)
    env.reset(options={"deal": hands, "dealer": 3})
    given = hands[0][:2]
    for name in ("bid call-2 NT", "pass", "pass", "pass", *given, "AH", "AH", "AH"):
        act(env, name)
    rng, elsewhere = np.random.default_rng(1), 0
    for _ in range(100):
        twin = env.resample_hidden(2, rng)
        assert "AH" in hand_names(int(twin._states["hands"][0, 0]))
        twin = env.resample_hidden(1, rng)  # a defender knows of no such thing
        elsewhere += "AH" not in hand_names(int(twin._states["hands"][0, 0]))
    assert elsewhere


def test_a_card_like_one_passed_and_played_is_redealt_to_every_place():
    """The partner passed one ace of hearts and the declarer led one: either may be left."""
    rules = ENDINGS["double deck exchange"][0]
    rest = sorted(set(deck("J", 2)) - {"AH"}) * 2
    hands = [["AH", *rest[:7]], rest[7:15], ["AH", *rest[15:22]], rest[22:]]
    env = start(rules, 0)
    env.reset(options={"deal": hands, "dealer": 3})
    for name in ("bid call-1 NT", "pass", "pass", "pass", rest[0], "AH", "AH"):
        act(env, name)
    rng, places = np.random.default_rng(1), Counter()
    for _ in range(300):
        row = env.resample_hidden(2, rng)._states[0]
        places.update(who for who in range(4) if "AH" in hand_names(int(row["hands"][who])))
        places["given"] += "AH" in names(row["given"])
    assert places.total() == 300
    assert set(places) == {0, 1, 3, "given"}
    cards = {0: 7, 1: 8, 3: 8, "given": 1}  # as many as are hidden in each place
    assert_fits([places[place] for place in cards], [300 * n / 24 for n in cards.values()])


def test_the_record_of_a_redealt_game_has_no_seed():
    env = bideuchre_env.cincinnati_v0.raw_env()
    env.reset(seed=3)
    assert env.record.seed == 3
    assert env.resample_hidden(0, np.random.default_rng(0)).record.seed is None
