"""Coverage of intervals, errors of the sequential test, and ratings, by simulation."""

import math

import numpy as np
import pytest
from support.custom_agents import Blunders, First

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.boards import BOARD
from bideuchre_env.evaluation.statistics.intervals import t_quantile, wilson
from bideuchre_env.evaluation.statistics.ratings import Meeting, ratings
from bideuchre_env.evaluation.statistics.scores import Scores
from bideuchre_env.evaluation.statistics.sequential import (
    FIRST_TEST,
    H0,
    H1,
    UNDECIDED,
    Bounds,
    SequentialTest,
    best_likelihood,
)

pytestmark = pytest.mark.slow

POPULATION = 6000


@pytest.fixture(scope="module")
def populations():
    """(points of 6,000 boards, tricks of a hand) by name, for agents of different similarity."""
    rule = agents.make("rule", bideuchre_env.barrie_v0.rules)
    played = {
        "far apart": ("barrie_v0", "rule", "cautious"),
        "close": ("barrie_v0", rule, Blunders(rule, 0.05)),  # seven boards of ten tied
        "nearly equal": ("barrie_v0", rule, Blunders(rule, 0.01)),  # more than nine
        "plain": ("cincinnati_v0", First(), Blunders(First(), 0.1)),
    }
    return {
        name: (
            match(*who, boards=POPULATION, seed=1, at_once=1000).board_rows["points"],
            bideuchre_env.variants[who[0]].rules.tricks,
        )
        for name, who in played.items()
    }


def interval_of(points, tricks):
    """Interval of a match over n boards of one hand; `points` (n, 2), `tricks` the tie margin."""
    rows = np.zeros(len(points), BOARD)
    rows["points"], rows["hands"] = points, 1
    return Scores.of_boards(rows, tie_margin=tricks).points_per_hand


def covered(rng, points, n, trials, tricks=None):
    """The share of `trials` intervals of n random boards of a population that have its mean."""
    points, of_a_match = points
    true, hits = points.mean(), 0
    for _ in range(trials):
        drawn = points[rng.integers(0, len(points), n)]
        interval = interval_of(drawn, of_a_match if tricks is None else tricks)
        hits += interval.low <= true <= interval.high
    return hits / trials


@pytest.mark.parametrize("name", ["far apart", "plain", "close"])
@pytest.mark.parametrize("boards", [20, 50, 1000])
def test_intervals_cover_the_mean_95_times_in_100(populations, name, boards):
    share = covered(np.random.default_rng(boards), populations[name], boards, 2000)
    assert 0.93 <= share <= 0.97 + 0.02 * (boards < 50)


@pytest.mark.parametrize("name", ["far apart", "plain", "close", "nearly equal"])
@pytest.mark.parametrize("boards", [3, 10, 30])
def test_intervals_of_few_boards_are_not_too_narrow(populations, name, boards):
    assert covered(np.random.default_rng(boards), populations[name], boards, 1500) >= 0.925


def test_intervals_of_few_tied_boards_need_the_tie_margin(populations):
    points = populations["nearly equal"]
    assert covered(np.random.default_rng(1), points, 20, 1500, tricks=0.0) < 0.7


def test_the_tie_margin_fades_with_the_boards_and_is_0_without_ties(populations):
    points = populations["close"][0][:5000]
    plain, widened = interval_of(points, 0.0), interval_of(points, 8.0)
    assert plain.half < widened.half < 1.01 * plain.half
    untied = points[points.sum(axis=1) != 0][:50]
    assert interval_of(untied, 0.0) == interval_of(untied, 8.0)


def test_t_quantiles_and_wilson_intervals_equal_published_values():
    for degrees, quantile in ((1, 12.7062), (4, 2.7764), (5, 2.5706), (10, 2.2281), (60, 2.0003)):
        assert t_quantile(degrees) == pytest.approx(quantile, abs=1e-3)
    share = wilson(8, 10)
    assert (share.low, share.high) == pytest.approx((0.49016, 0.94331), abs=1e-5)
    assert wilson(0, 0) is None
    for trials in range(1, 50):  # rounding never puts a bound on the wrong side of the share
        assert wilson(0, trials).low == 0.0
        assert wilson(trials, trials).high == 1.0


@pytest.mark.parametrize("name", ["far apart", "plain", "close"])
@pytest.mark.parametrize(
    ("gap", "trials"), [(1.0, 100), (3.0, 300), pytest.param(0.25, 400, marks=pytest.mark.long)]
)
def test_the_sequential_test_errs_in_5_percent_at_most(populations, name, gap, trials):
    """The pair "close" may err in 8 %: there one side wins nearly all boards that are not tied."""
    rng = np.random.default_rng(5)
    points, tricks = populations[name]
    points = points.mean(axis=1)
    points = (points - points.mean()).round(3)
    lengths = []
    for true, wrong in ((0.0, H1), (gap, H0)):
        errors = 0
        for _ in range(trials):
            test = SequentialTest(Bounds(0.0, gap), tricks)
            while test.verdict == UNDECIDED:
                test.extend((rng.choice(points, 200) + true).tolist())
            errors += test.verdict == wrong
            lengths.append(test.boards)
        allowed = 0.08 if name == "close" else 0.05
        assert errors / trials <= allowed + 2 * math.sqrt(allowed * (1 - allowed) / trials)
    # a match of fixed length with these error rates takes 4 (1.645 sd / gap)^2 boards
    fixed = 4 * (1.645 * points.std() / gap) ** 2
    assert FIRST_TEST <= np.mean(lengths) < max(0.75 * fixed, 3 * FIRST_TEST)


def test_enough_tied_boards_accept_h0():
    test = SequentialTest(Bounds(0, 0.1), 6)
    test.extend([0.0] * 100)
    assert test.verdict == UNDECIDED
    test.extend([0.0] * 2000)
    assert test.verdict == H0
    assert test.boards < 1000
    before = test.boards, test.llr
    assert test.add(100.0) == H0
    assert (test.boards, test.llr) == before


def test_the_likelihood_ratio_of_many_boards_is_that_of_a_normal_distribution():
    points = np.random.default_rng(4).normal(0.11, 3, 20_000).round(2)
    test = SequentialTest(Bounds(0, 0.1), 6)
    for value in points[: FIRST_TEST - 1].tolist():
        test.add(value)
    scores, counts = np.unique(points, return_counts=True)
    ratio = best_likelihood(scores, counts, 0.1) - best_likelihood(scores, counts, 0.0)
    normal = len(points) * 0.1 * (points.mean() - 0.05) / points.var()
    assert ratio == pytest.approx(normal, rel=0.01)
    assert (test.verdict, test.llr) == (UNDECIDED, 0.0)  # before the first test
    assert test.bounds.accept_high == pytest.approx(math.log(19))
    assert test.bounds.accept_low == pytest.approx(-math.log(19))


@pytest.mark.parametrize(
    "bounds",
    [(1, 0), (0, 0), (0, math.nan), (-math.inf, 0), ("0", 1), (0, 1, 0.0), (0, 1, 0.05, 0.6)],
)
def test_unusable_bounds_are_refused(bounds):
    with pytest.raises(OptionError):
        Bounds(*bounds)
    with pytest.raises(OptionError, match="spread"):
        SequentialTest(Bounds(0, 1), 0.0)


def meeting(rng, a, b, gap, boards):
    """Random results of boards between two agents; a's rating is `gap` points above b's."""
    chance = 1 / (1 + 10 ** (-gap / 400))
    results = np.where(rng.random(boards) < chance, 1, -1)
    return Meeting(a, b, np.arange(boards), results)


def test_rating_intervals_cover_the_true_ratings_95_times_in_100():
    rng, true = np.random.default_rng(3), {"low": 0, "mid": 150, "high": 400}
    hits, trials = dict.fromkeys(true, 0), 300
    for trial in range(trials):
        met = [
            meeting(rng, a, b, true[a] - true[b], 200)
            for a, b in (("mid", "low"), ("high", "low"), ("high", "mid"))
        ]
        for name, rating in ratings(met, anchor="low", seed=trial, resamples=250).items():
            hits[name] += rating.low <= true[name] <= rating.high
    assert hits["low"] == trials
    for name in ("mid", "high"):
        assert 0.91 <= hits[name] / trials <= 0.98


def test_ratings_of_two_agents_follow_from_their_odds():
    met = Meeting("b", "a", np.arange(1000), np.repeat([5, 0, -2], [700, 100, 200]))
    rated = ratings([met], anchor="a")
    assert list(rated) == ["b", "a"]
    odds = (750 + 0.5) / (250 + 0.5)
    assert rated["b"].mean == pytest.approx(400 * math.log10(odds))
    assert rated["b"].low < rated["b"].mean < rated["b"].high
    assert (rated["a"].low, rated["a"].mean, rated["a"].high) == (0, 0, 0)
    turned = ratings([met], anchor="b")
    assert turned["a"].mean == pytest.approx(-rated["b"].mean)
    assert ratings([met], anchor="a") == rated  # same seed, same interval


def test_an_agent_that_loses_every_board_has_a_finite_rating():
    boards = np.arange(5000)
    total = Meeting("rule", "random", boards, np.ones(5000))
    rated = ratings([total], anchor="random")["rule"]
    assert rated.mean == pytest.approx(400 * math.log10(5000.5 / 0.5))
    assert rated.low < rated.mean - 100
    assert rated.high > rated.mean + 300


def test_a_board_is_resampled_together_in_all_its_matches():
    rng = np.random.default_rng(8)
    one = meeting(rng, "b", "a", 200, 2000)
    two = Meeting("c", "a", one.boards, one.results)
    rated = ratings([one, two], anchor="a")
    assert rated["b"].mean == rated["c"].mean
    assert abs(rated["b"].low - rated["c"].low) < 3
    apart = ratings([one, two], anchor="b")["c"]
    assert apart.high - apart.low < 0.5 * (rated["b"].high - rated["b"].low)


def test_only_agents_that_matches_connect_to_the_anchor_are_rated():
    rng = np.random.default_rng(9)
    met = [meeting(rng, "b", "a", 0, 50), meeting(rng, "d", "c", 0, 50)]
    assert set(ratings(met, anchor="a")) == {"a", "b"}
    none = Meeting("x", "y", np.arange(0), np.zeros(0))
    assert list(ratings([none])) == ["x"]
    with pytest.raises(OptionError, match="anchor"):
        ratings(met, anchor="z")
    with pytest.raises(OptionError, match="anchor"):
        ratings([])
    with pytest.raises(OptionError, match="two agents"):
        ratings([Meeting("a", "a", np.arange(3), np.zeros(3))])


def test_a_meeting_has_a_finite_result_for_every_board():
    boards = np.arange(3)
    for wrong in (
        ("a", "b", boards, np.zeros(2)),
        ("a", "b", boards, np.array([0, 1, math.nan])),
        ("a", "b", boards - 1, np.zeros(3)),
        ("a", "b", boards, np.zeros((3, 1))),
        ("a", None, boards, np.zeros(3)),
    ):
        with pytest.raises(OptionError, match=r"per board|finite|from 0 to|numbers|name of"):
            Meeting(*wrong)
