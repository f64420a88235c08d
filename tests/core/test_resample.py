"""Redeals of hidden cards are uniform over the deals that a seat's information allows.

Possible deals are counted by brute force in plain Python. Two copies of a kind are distinct cards,
so the weight of a deal of kinds is the number of deals of cards that it represents.
"""

from collections import Counter
from itertools import combinations
from math import prod

import numpy as np
import pytest
from oracles.reference import deck, suit_of
from support.chi_square import assert_fits
from support.playthroughs import Chooser, act, finish, plies, start

import bideuchre_env
from bideuchre_env import Bid, Rules
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import CARD_NAMES, hand_names

LONE = (Bid("call-2", 12, exchange=2), Bid("call-1", 18, exchange=1), Bid("moon", 24))
TINY = Rules(ranks="J", partnered=(1, 4), lone=LONE, target=32)
DOUBLE = Rules(ranks="J", copies=2, partnered=None, lone=LONE, target=52)
OPEN = TINY.replace(exchange_seen="open")
KITTY = Rules(ranks="9", kitty=4, partnered=(1, 5), target=32)
KITTY_EXCHANGE = Rules(copies=2, ranks="J", kitty=4, partnered=None, lone=LONE[:1], target=52)
PILES = ("given", "passed", "laid", "kitty")
TINY_ROLES = ("declarer", "left", "partner", "right")


def names(kinds):
    """Names of the kinds; -1 means none."""
    return [CARD_NAMES[kind] for kind in kinds if kind >= 0]


def outcome(row):
    """A redeal as a hashable key: the four hands, the cards given up, and the cards passed.

    With a kitty, also the cards laid away, and those taken up.
    """
    hands = tuple(tuple(sorted(hand_names(int(hand)))) for hand in row["hands"])
    piles = [tuple(sorted(names(row[name]))) for name in PILES]
    return (*hands, *(piles if piles[-1] else piles[:2]))


def splits(cards, sizes):
    """Every way to split a list of distinct cards into piles of these sizes."""
    if not sizes:
        yield []
        return
    for chosen in combinations(range(len(cards)), sizes[0]):
        rest = [card for i, card in enumerate(cards) if i not in chosen]
        for piles in splits(rest, sizes[1:]):
            yield [[cards[i] for i in chosen], *piles]


def deals_without_voids(row, others, cards, sizes):
    """Deals of `cards` to piles of these `sizes`, the first for the seats `others`.

    No seat gets a card of a suit that it has failed to follow.
    """
    strain = ("C", "D", "H", "S", "NT", "LOW")[row["strain"]] if row["strain"] >= 0 else "NT"
    voids = [[s for i, s in enumerate("CDHS") if row["voids"][who] >> i & 1] for who in others]
    for piles in splits(cards, sizes):
        if not any(
            suit_of(card, strain) in void
            for pile, void in zip(piles, voids, strict=False)
            for card in pile
        ):
            yield piles


def all_deals(env, seat):
    """The weight of every outcome that a seat's information allows, by brute force."""
    row = env._states[0]
    if env.rules.kitty:
        return kitty_deals(env, seat)
    declarer, phase = int(row["declarer"]), int(row["phase"])
    partner = (declarer + 2) % 4
    played = [names(row["plays"][who * 12 : who * 12 + 12]) for who in range(4)]
    given_cards, passed = names(row["given"]), names(row["passed"])
    exchanged = phase >= 4  # the declarer has the partner's cards
    if env.rules.exchange_seen == "open" and given_cards and phase >= 3:
        return open_deals(env, seat)
    hands = [hand_names(int(hand)) for hand in row["hands"]]

    seen = Counter(hands[seat]) + sum(map(Counter, played), Counter())
    sure = []  # cards that the declarer is seen to hold
    if given_cards and seat == declarer:
        seen += Counter(given_cards)
    if passed and seat == partner:
        sure = list((Counter(passed) - Counter(played[declarer])).elements()) if exchanged else []
        seen += Counter(sure) if exchanged else Counter(passed)
    unknown = list((Counter(deck(env.rules.ranks, env.rules.copies)) - seen).elements())

    others = [who for who in range(4) if who != seat]
    sizes = [len(hands[who]) - (len(sure) if who == declarer else 0) for who in others]
    hides_given = bool(given_cards) and seat != declarer
    hides_passed = bool(passed) and not exchanged and seat != partner
    sizes += [len(given_cards)] * hides_given + [len(passed)] * hides_passed
    guesses = bool(passed) and exchanged and (seat - declarer) % 2 == 1

    weights: Counter = Counter()
    for piles in deals_without_voids(row, others, unknown, sizes):
        hands_now = [sorted(hands[seat])] * 4
        for who, pile in zip(others, piles[:3], strict=True):
            hands_now[who] = sorted(pile + sure if who == declarer else pile)
        piles_now = [sorted(piles[3]) if hides_given else sorted(given_cards), sorted(passed)]
        if hides_passed:
            piles_now[1] = sorted(piles[-1])
        if not guesses:
            weights[tuple(map(tuple, (*hands_now, *piles_now)))] += 1
            continue
        for chosen in combinations(sorted(hands_now[declarer] + played[declarer]), len(passed)):
            weights[tuple(map(tuple, (*hands_now, piles_now[0], sorted(chosen))))] += 1
    return weights


def kitty_deals(env, seat):
    """The weights of `all_deals` in the play of a game with a kitty and without an exchange.

    The declarer knows the kitty and the cards laid away. For another seat any cards are as likely
    to be laid away, and any four that the declarer had then are as likely to be the kitty.
    """
    row = env._states[0]
    declarer = int(row["declarer"])
    played = [names(row["plays"][who * 12 : who * 12 + 12]) for who in range(4)]
    hands = [hand_names(int(hand)) for hand in row["hands"]]
    laid, kitty = names(row["laid"]), names(row["kitty"])
    seen = Counter(hands[seat]) + sum(map(Counter, played), Counter())
    seen += Counter(laid) if seat == declarer else Counter()
    unknown = list((Counter(deck(env.rules.ranks, env.rules.copies)) - seen).elements())
    others = [who for who in range(4) if who != seat]
    sizes = [len(hands[who]) for who in others] + [len(laid)] * (seat != declarer)
    weights: Counter = Counter()
    for piles in deals_without_voids(row, others, unknown, sizes):
        now = [sorted(hands[seat])] * 4
        for who, pile in zip(others, piles[:3], strict=True):
            now[who] = sorted(pile)
        away, choices = sorted(laid), [kitty]
        if seat != declarer:
            away = sorted(piles[3])
            choices = combinations(sorted(now[declarer] + played[declarer] + away), len(kitty))
        for chosen in choices:
            weights[tuple(map(tuple, (*now, (), (), away, sorted(chosen))))] += 1
    return weights


def open_deals(env, seat):
    """The weights of `all_deals` after the cards given in an open exchange have been taken up.

    Every way to deal the cards and to choose those given and passed is as likely as any other.
    """
    row = env._states[0]
    declarer, phase = int(row["declarer"]), int(row["phase"])
    partner = (declarer + 2) % 4
    played = [names(row["plays"][who * 12 : who * 12 + 12]) for who in range(4)]
    given, passed = names(row["given"]), names(row["passed"])
    hands = [hand_names(int(hand)) for hand in row["hands"]]
    weights: Counter = Counter()

    def add(dealt, given, passed):
        weights[tuple(map(tuple, (*map(sorted, dealt), sorted(given), sorted(passed))))] += 1

    known = [[], [], [], []]  # cards of other seats
    if seat == declarer:
        left = Counter(given) - Counter(passed if phase >= 4 else [])
        known[partner] = list(left.elements())
    elif seat == partner and phase >= 4:
        known[declarer] = list((Counter(passed) - Counter(played[declarer])).elements())
    seen = Counter(hands[seat]) + sum(map(Counter, played), Counter())
    seen += sum(map(Counter, known), Counter())
    picked = len(passed) if phase == 3 else 0
    if seat == partner and phase == 3:
        seen += Counter(passed)
    unknown = list((Counter(deck(env.rules.ranks, env.rules.copies)) - seen).elements())
    others = [who for who in range(4) if who != seat]
    in_union = picked if seat != partner else 0
    sizes = [
        len(hands[who]) - len(known[who]) + (in_union if who == partner else 0) for who in others
    ]
    for piles in deals_without_voids(row, others, unknown, sizes):
        dealt = [list(hands[seat])] * 4
        for who, pile in zip(others, piles, strict=True):
            dealt[who] = pile + known[who]
        defends = (seat - declarer) % 2 == 1
        passings = [passed]
        if phase >= 4 and defends:
            passings = list(combinations(dealt[declarer] + played[declarer], len(passed)))
        elif in_union:
            passings = list(combinations(range(len(dealt[partner])), picked))
        for choice in passings:
            now = [list(hand) for hand in dealt]
            cards = list(choice)
            if in_union:
                cards = [dealt[partner][i] for i in choice]
                now[partner] = [c for i, c in enumerate(dealt[partner]) if i not in choice]
            if not defends:
                add(now, given, cards)
                continue
            for gave in combinations(now[partner] + cards, len(given)):
                add(now, gave, cards)
    return weights


def samples(env, seat, n, seed):
    """The number of times that each outcome occurs in n redeals for a seat."""
    tables, redeals = compile_tables(env.rules), new_redeal()
    by_bits: Counter = Counter()
    rows = env._states.copy()
    for i in range(n):
        rows[:] = env._states
        resample_row(rows, tables, seat, redeals, *split_seed(seed + i))
        exchanged = (tuple(sorted(rows[name][0].tolist())) for name in PILES)
        by_bits[(tuple(rows["hands"][0].tolist()), *exchanged)] += 1
    in_words: Counter = Counter()
    for key, count in by_bits.items():
        in_words[outcome(dict(zip(("hands", *PILES), key, strict=True)))] += count
    return in_words


def assert_uniform(env, seat, seed, most=40_000):
    """Check redeals against the weights of all possible deals, in cells of 20 or more expected."""
    weights = all_deals(env, seat)
    total, n = sum(weights.values()), min(most, 40 * len(weights) + 400)
    counts = samples(env, seat, n, seed)
    assert outcome(env._states[0]) in weights  # the true deal is possible
    assert set(counts) <= set(weights)
    cells, expected, observed = [], 0.0, 0
    for deal in sorted(weights):
        expected += n * weights[deal] / total
        observed += counts[deal]
        if expected >= 20:
            cells.append((observed, expected))
            expected, observed = 0.0, 0
    if cells and expected:
        cells[-1] = (cells[-1][0] + observed, cells[-1][1] + expected)
    if len(cells) > 1:
        assert_fits(*zip(*cells, strict=True))
    return weights


def cost(env, seat):
    """An upper bound of the number of splits that `all_deals` enumerates."""
    row = env._states[0]
    sizes = [len(hand_names(int(row["hands"][who]))) for who in range(4) if who != seat]
    sizes += [len(names(row["given"])), len(names(row["passed"])) * (row["phase"] == 3)]
    sizes += [len(names(row["laid"])) * (seat != row["declarer"])]
    return prod(range(1, sum(sizes) + 1)) / prod(prod(range(1, size + 1)) for size in sizes)


ENDINGS = {  # rules, and the limits of `cost` in the usual and in the long tests
    "single deck": (Rules(ranks="9", lone=(Bid("moon", 12),), target=32), 900, 2_600),
    "double deck": (Rules(ranks="J", copies=2, partnered=(1, 8), target=52), 900, 2_600),
    "big double deck": (Rules(copies=2, partnered=(1, 12), target=52), 900, 2_600),
    "exchange": (TINY, 1_300, 4_000),
    "open exchange": (OPEN, 1_300, 4_000),
    "double deck exchange": (DOUBLE, 1_800, 9_000),
    "kitty": (KITTY, 250, 900),
}


USUAL = [(kind, 20 if "exchange" in kind else 8) for kind in ENDINGS]
LONG = [pytest.param(kind, 32, marks=pytest.mark.long) for kind in ENDINGS]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "positions"), USUAL + LONG)
def test_endings_are_redealt_uniformly(kind, positions):
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
        assert uneven  # some outcomes represent more deals of cards than others


def at_phase(phase, level, picks, rules=TINY):
    """A game of `rules` after `picks` picks of a phase; level 4 is call-2, level 5 call-1."""
    for seed in range(10_000):
        env = start(rules, seed)
        for _ in plies(env, Chooser(seed)):
            row = env._states[0]
            if (row["phase"], row["picks"]) == (phase, picks) and row["level"] == level:
                return env
    raise AssertionError("no such position")


def exchanges(phase, level, picks, roles):
    """The cases of the four roles (0: declarer) of `at_phase`; roles not in `roles` are long."""
    long = [pytest.param(phase, level, picks, role, marks=pytest.mark.long) for role in range(4)]
    return [(phase, level, picks, role) if role in roles else long[role] for role in range(4)]


BEFORE_THE_PLAY = exchanges(2, 5, 0, (2,)) + exchanges(2, 4, 1, ())
BEFORE_THE_PLAY += exchanges(3, 5, 0, ()) + exchanges(3, 4, 1, (0,))


@pytest.mark.slow
@pytest.mark.parametrize(("phase", "level", "picks", "role"), BEFORE_THE_PLAY)
def test_exchanges_are_redealt_uniformly(phase, level, picks, role):
    env = at_phase(phase, level, picks)
    seat = (int(env._states[0]["declarer"]) + role) % 4
    assert len(assert_uniform(env, seat, 17, most=20_000)) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("role", range(4), ids=TINY_ROLES)
@pytest.mark.parametrize("picks", [0, 1])
def test_open_exchanges_are_redealt_uniformly(picks, role):
    """The declarer knows that partner holds the cards given, or has passed them back."""
    env = at_phase(3, 4, picks, OPEN)
    seat = (int(env._states[0]["declarer"]) + role) % 4
    assert len(assert_uniform(env, seat, 17, most=20_000)) >= 12


@pytest.mark.slow
def test_auctions_are_redealt_uniformly():
    """In the auction a seat knows only its own hand: 12! / 4!^3 deals are possible."""
    env = start(TINY, 5)
    weights = assert_uniform(env, 2, 23, most=20_000)
    assert len(weights) == 34_650
    assert set(weights.values()) == {1}


def test_a_finished_hand_is_redealt_uniformly():
    """Only defenders do not know the passed cards: the deck has 16 cards."""
    for seed in range(10_000):
        env = start(TINY, seed, episode="hand")
        finish(env, Chooser(seed))
        if env._states[0]["given"][1] >= 0:
            break
    for seat in range(4):
        defends = (seat - int(env._states[0]["declarer"])) % 2 == 1
        assert (len(assert_uniform(env, seat, 29)) > 1) == defends


KITTY_POSITIONS = [  # rules, phase, picks, level: the auction, laying away, giving, passing, play
    (KITTY, 0, 0, -1),
    (KITTY, 2, 2, 2),
    (KITTY, 4, 0, 2),
    (KITTY_EXCHANGE, 2, 3, 0),
    (KITTY_EXCHANGE, 3, 1, 0),
    (KITTY_EXCHANGE, 4, 2, 0),
]


@pytest.mark.parametrize("role", range(4), ids=TINY_ROLES)
@pytest.mark.parametrize(("rules", "phase", "picks", "level"), KITTY_POSITIONS)
def test_a_hidden_card_may_be_in_every_place_of_a_game_with_a_kitty(
    rules, phase, picks, level, role
):
    """Its places are as likely as they have room; the kitty has four of the declarer's cards."""
    env = at_phase(phase, level, picks, rules)
    row, n = env._states[0], 600
    declarer = max(int(row["declarer"]), 0)
    seat, partner = (declarer + role) % 4, (declarer + 2) % 4
    taken, phase = row["phase"] >= 2, int(row["phase"])
    room = {who: len(hand_names(int(row["hands"][who]))) for who in range(4) if who != seat}
    if seat != declarer or not taken:
        room["down"] = len(names(row["laid"])) if taken else 4
    if seat != declarer:
        room["given"] = len(names(row["given"]))
    if seat != partner and phase == 3:
        room["passed"] = len(names(row["passed"]))
    if seat == partner and phase == 4 and len(names(row["passed"])):
        room[declarer] -= len(names(row["passed"]))  # it knows these
    total = sum(room.values())
    tables, redeals, rows = compile_tables(rules), new_redeal(), env._states.copy()
    places, kitty, known = Counter(), 0, Counter(hand_names(int(row["hands"][seat])))
    if seat == declarer and taken:
        known += Counter(names(row["laid"])) + Counter(names(row["given"]))
    if seat == partner:
        known += Counter(names(row["passed"]))
    copies = Counter(deck(rules.ranks, rules.copies)) - known
    card = max(sorted(copies), key=copies.__getitem__)
    for i in range(n):
        rows[:] = env._states
        resample_row(rows, tables, seat, redeals, *split_seed(i))
        now = rows[0]
        for who in range(4):
            if who != seat:
                held = hand_names(int(now["hands"][who])).count(card)
                if seat == partner and who == declarer and phase == 4:
                    held -= names(row["passed"]).count(card)
                places[who] += held
        places["down"] += names(now["laid"] if taken else now["kitty"]).count(card)
        places["given"] += names(now["given"]).count(card) * (seat != declarer)
        places["passed"] += names(now["passed"]).count(card) * (phase == 3 and seat != partner)
        kitty += names(now["kitty"]).count(card)
        assert sorted(now["kitty"]) == now["kitty"].tolist()
    expected = {place: n * copies[card] * size / total for place, size in room.items() if size}
    assert {place for place, times in places.items() if times} == set(expected)
    assert_fits([places[place] for place in expected], list(expected.values()))
    if taken and seat == declarer:
        assert names(now["kitty"]) == names(row["kitty"])
    elif taken:  # four of the cards that the declarer had then
        assert 0 < kitty < n * copies[card]


def test_partner_knows_where_a_passed_pair_is():
    """The partner passed both aces of hearts. The declarer led one, so it holds the other."""
    rest = sorted(set(deck("J", 2)) - {"AH"}) * 2
    hands = [rest[:8], rest[8:16], ["AH", "AH", *rest[16:22]], rest[22:]]
    env = start(DOUBLE, 0)
    env.reset(options={"deal": hands, "dealer": 3})
    discards = hands[0][:2]
    for name in ("bid call-2 NT", "pass", "pass", "pass", *discards, "AH", "AH", "AH"):
        act(env, name)
    rng, elsewhere = np.random.default_rng(1), 0
    for _ in range(100):
        twin = env.resample_hidden(2, rng)
        assert "AH" in hand_names(int(twin._states["hands"][0, 0]))
        twin = env.resample_hidden(1, rng)  # a defender does not know the passed cards
        elsewhere += "AH" not in hand_names(int(twin._states["hands"][0, 0]))
    assert elsewhere


def test_a_card_like_one_passed_and_played_is_redealt_to_every_place():
    """The partner passed one of two aces of hearts. The declarer led one: either may be left."""
    rest = sorted(set(deck("J", 2)) - {"AH"}) * 2
    hands = [["AH", *rest[:7]], rest[7:15], ["AH", *rest[15:22]], rest[22:]]
    env = start(DOUBLE, 0)
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
    cards = {0: 7, 1: 8, 3: 8, "given": 1}  # the number of hidden cards in each place
    assert_fits([places[place] for place in cards], [300 * n / 24 for n in cards.values()])


def test_the_record_of_a_redealt_game_has_no_seed():
    env = bideuchre_env.cincinnati_v0.raw_env()
    env.reset(seed=3)
    assert env.record.seed == 3
    assert env.resample_hidden(0, np.random.default_rng(0)).record.seed is None
