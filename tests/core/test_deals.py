"""Deals: every card equally likely in every seat, independent of other seeds and of the play."""

import numpy as np
import pytest
from support.chi_square import assert_fits
from support.kernels import callable_from_python
from support.playthroughs import VARIANTS, Chooser, finish, plies, start

import bideuchre_env
from bideuchre_env.core.phases.deal import bounded, mix, next_word, seed_stream, shuffle, split_seed
from bideuchre_env.core.rows import deal_rows, seed_rows, start_rows
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import hand_names
from bideuchre_env.runtime.jit import entry_kernel

mix, seed_stream = map(callable_from_python, (mix, seed_stream))

DEALS = 200_000
SINGLE, DOUBLE = bideuchre_env.six_card_v0.rules, bideuchre_env.double_deck_v0.rules


def dealt(rules, seed, n, hands=1):
    """States (n,) of games with seeds from `seed` on after `hands` deals, and the first dealers."""
    rows, tables = new_states(n), compile_tables(rules)
    seed_rows(rows, *split_seed(seed))
    start_rows(rows, tables, np.full(n, -1))
    dealers = rows["dealer"].copy()
    for _ in range(hands):
        rows["phase"] = DEAL
        deal_rows(rows, tables)
    return rows, dealers


def holders(rows):
    """The seat that holds each card of a single deck, (n, 24)."""
    return (rows["hands"][:, :, None] >> np.arange(24) & 1).argmax(1)


@entry_kernel
def tally(rows, at, copies, single, both, pair):
    """Count the places of the cards of all rows; `at` and `copies` (48,) are working memory.

    `single` (96,) sums the copies by seat * 24 + kind, `both` (96,) the pairs in one hand, `pair`
    (96, 96) the products of copies.
    """
    for i in range(len(rows)):
        n = 0
        for seat in range(4):
            hand = int(rows[i].hands[seat])
            for kind in range(24):
                held = (hand >> kind & 1) + (hand >> (kind + 24) & 1)
                if held > 0:
                    at[n] = seat * 24 + kind
                    copies[n] = held
                    n += 1
        for j in range(n):
            single[at[j]] += copies[j]
            both[at[j]] += copies[j] == 2
            for k in range(n):
                pair[at[j], at[k]] += copies[j] * copies[k]


@pytest.fixture(scope="module")
def tallies():
    """For each of two decks, the sums `single`, `both` and `pair` of `tally` over all deals."""
    result = {}
    for rules, seed in ((SINGLE, 1000), (DOUBLE, 2**77)):
        counts = [np.zeros(shape, np.int64) for shape in (96, 96, (96, 96))]
        room = np.zeros(48, np.int64), np.zeros(48, np.int64)
        for first in range(0, DEALS, DEALS // 20):
            tally(dealt(rules, seed + first, DEALS // 20)[0], *room, *counts)
        result[rules] = counts
    return result


@pytest.mark.slow
def test_every_card_goes_to_every_seat(tallies):
    """Single deck: each card's seat is multinomial (3 df); all of them together, 23 x 3 df.

    In a table of cards by seats every seat gets the same number of cards too; for such a table
    (N - 1) / N of the statistic has (N - 1) x 3 degrees of freedom.
    """
    single = tallies[SINGLE][0].reshape(4, 24)
    for kind in range(24):
        assert_fits(single[:, kind], np.full(4, DEALS / 4))
    assert_fits(single, np.full((4, 24), DEALS / 4), df=69, scale=23 / 24)


def test_every_pair_of_cards_goes_to_every_pair_of_seats(tallies):
    """Single deck: for each two cards the pair of their seats is multinomial with 16 cells."""
    pair = tallies[SINGLE][2].reshape(4, 24, 4, 24)
    expected = np.full((4, 4), DEALS / 4 * 6 / 23)
    np.fill_diagonal(expected, DEALS / 4 * 5 / 23)
    for first in range(24):
        for second in range(first):
            assert_fits(pair[:, first, :, second], expected)


def test_both_copies_go_to_every_pair_of_seats(tallies):
    """Double deck: the seats of the two copies of a kind are multinomial with ten cells."""
    _, both, pair = tallies[DOUBLE]
    both, pair = both.reshape(4, 24), pair.reshape(4, 24, 4, 24)
    for kind in range(24):
        together = both[:, kind]
        apart = [pair[a, kind, b, kind] for a in range(4) for b in range(a)]
        expected = [DEALS / 4 * 11 / 47] * 4 + [DEALS / 4 * 12 / 47 * 2] * 6
        assert_fits([*together, *apart], expected)


@pytest.mark.slow
def test_the_first_dealer_is_any_seat():
    """The first dealer is uniform over seats (3 df), and independent of a card's holder (9 df)."""
    rows, dealers = dealt(SINGLE, 31, 160_000)
    assert_fits(np.bincount(dealers, minlength=4), np.full(4, 40_000))
    held = holders(rows)
    for kind in range(24):
        assert_fits(np.bincount(held[:, kind] * 4 + dealers, minlength=16), np.full(16, 10_000))


def test_a_named_dealer_does_not_change_the_cards():
    env = bideuchre_env.cincinnati_v0.raw_env()
    env.reset(seed=1)
    hands = env.get_state()["hands"].tolist()
    for dealer in range(4):
        env.reset(seed=1, options={"dealer": dealer})
        assert env.get_state()["hands"].tolist() == hands


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2, 2**32, 2**64, 2**127], ids=hex)
def test_deals_of_neighbouring_seeds_are_independent(step):
    n = 20_000
    left, right = new_states(n), new_states(n)
    tables, dealers = compile_tables(SINGLE), np.full(n, -1)
    for i in range(n):
        # apart from both in a pair, no seed is used twice: every pair is independent
        seed_rows(left[i : i + 1], *split_seed(2 * step * i % 2**128 + 7 * i))
        seed_rows(right[i : i + 1], *split_seed((2 * step * i + step) % 2**128 + 7 * i))
    for rows in (left, right):
        start_rows(rows, tables, dealers)
        deal_rows(rows, tables)
    pairs = np.bincount(left["dealer"] * 4 + right["dealer"], minlength=16)
    assert_fits(pairs, np.full(16, n / 16))
    held = [holders(rows) for rows in (left, right)]
    for kind in range(24):
        together = np.bincount(held[0][:, kind] * 4 + held[1][:, kind], minlength=16)
        assert_fits(together, np.full(16, n / 16))


@pytest.mark.slow
def test_successive_deals_are_independent():
    n = 100_000
    first, second = (dealt(SINGLE, 99, n, hands)[0] for hands in (1, 2))
    held = [holders(rows) for rows in (first, second)]
    for kind in range(24):
        for other in (kind, (kind + 1) % 24):
            together = np.bincount(held[0][:, kind] * 4 + held[1][:, other], minlength=16)
            assert_fits(together, np.full(16, n / 16))


def test_a_hundred_thousand_seeds_give_different_deals():
    rows, _ = dealt(SINGLE, 0, 100_000)
    assert len(np.unique(rows["hands"], axis=0)) == 100_000


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 2, 2**127 + 2**64 - 1, 2**128 - 5])
def test_row_is_dealt_as_the_environment_of_its_seed(seed):
    rows, dealers = dealt(DOUBLE, seed, 5)
    for i in range(5):
        env = bideuchre_env.double_deck_v0.raw_env()
        env.reset(seed=(seed + i) % 2**128)
        hand = env.record.hands[0]
        assert hand["dealer"] == dealers[i]
        assert hand["deal"] == [hand_names(cards) for cards in rows["hands"][i]]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_deal_depends_on_seed_and_number_alone(name):
    games = []
    for choices in range(6):
        env = start(name, 42, max_hands=12, win_rule="any", target=10**6)
        games.append([hand["deal"] for hand in finish(env, Chooser(choices)).record.hands])
    assert len(games[0]) == 12
    assert all(game == games[0] for game in games)


def test_reading_draws_nothing_from_the_stream():
    plain, busy = start("barrie_v0", 5, max_hands=3), start("barrie_v0", 5, max_hands=3)
    finish(plain, Chooser(1))
    rng = np.random.default_rng(0)
    for env, _ in plies(busy, Chooser(1)):
        env.observe("player_1")
        env.state()
        env.clone()
        finish(env.resample_hidden(0, rng), Chooser(2))
    assert busy.record == plain.record


@entry_kernel
def draws(rows, words, n, shuffled, values, single):
    """Draw numbers below n from streams set to `words`, or with `shuffled` four cards, base n."""
    s = rows[0]
    for i in range(len(words)):
        s.rng[0] = np.uint64(0)
        s.rng[1] = words[i]
        next_word(s)
        x, y = s.rng[0], s.rng[1]
        s.rng[0] = np.uint64(0)
        s.rng[1] = words[i]
        if shuffled:
            for card in range(n):
                s.plays[card] = card
            shuffle(s, n, n - 4)
            values[i] = 0
            for back in range(4):
                values[i] = values[i] * n + int(s.plays[n - 1 - back])
        else:
            values[i] = bounded(s, n)
        single[i] = s.rng[0] == x and s.rng[1] == y


def first_words(low, high):
    """Second words of states (0, word) whose next output has upper 32 bits in range(low, high)."""
    word = np.arange(low, high, dtype=np.uint64) << np.uint64(32) | np.uint64(1)  # a state is not 0
    return word >> np.uint64(17) | word << np.uint64(47)


@pytest.mark.parametrize("n", [3 << 29, 2**31 - 1, 10**6 + 3, 999_983, 2**20 + 1])
def test_bounded_draws_have_no_bias(n):
    """Each number below n comes from equally many of the 2**32 words; other words are redrawn."""
    rows, rng = new_states(1), np.random.default_rng(n)
    for value in [0, 1, n // 2, n - 1, *rng.integers(0, n, 30).tolist()]:
        words = first_words(-(-value * 2**32 // n), -(-(value + 1) * 2**32 // n))
        values, single = np.zeros(len(words), np.int64), np.zeros(len(words), bool)
        draws(rows, words, n, False, values, single)
        assert (values[single] == value).all()
        assert single.sum() == 2**32 // n


@pytest.mark.parametrize("n", [24, 48, 32, 20])
def test_shuffles_have_no_bias(n):
    """Each ordered choice of four of n cards comes from equally many of the 2**32 words."""
    rows, rng = new_states(1), np.random.default_rng(n)
    span = n * (n - 1) * (n - 2) * (n - 3)
    outcomes = set()
    for value in [0, 1, span - 1, *rng.integers(0, span, 40).tolist()]:
        words = first_words(-(-value * 2**32 // span), -(-(value + 1) * 2**32 // span))
        values, single = np.zeros(len(words), np.int64), np.zeros(len(words), bool)
        draws(rows, words, n, True, values, single)
        drawn = set(values[single].tolist())
        assert len(drawn) == 1
        outcomes |= drawn
        assert single.sum() == 2**32 // span
    assert len(outcomes) >= 40  # different words, different cards


def test_seeding_is_one_to_one_and_mixes():
    """Distinct seeds give distinct streams; one seed bit flips about half of the stream's bits."""
    row, states = new_states(1), []
    for bit in [None, *range(128)]:
        seed_stream(row[0], *split_seed(0 if bit is None else 1 << bit))
        states.append(int(row["rng"][0, 0]) << 64 | int(row["rng"][0, 1]))
    assert len(set(states)) == 129
    flipped = [(state ^ states[0]).bit_count() for state in states[1:]]
    # each is binomial (128, 1/2), sd 5.7: six of them either way is beyond 1e-8
    assert all(64 - 36 < bits < 64 + 36 for bits in flipped)
    assert mix(np.uint64(1)) != mix(np.uint64(2))
