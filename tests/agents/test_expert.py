"""The expert agent: strength, options, its endgame search, and the chance to win a game."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.agent_games import per_hand, play_on, start
from support.kernels import callable_from_python
from support.positions import CINCINNATI, SIX_CARD, Position
from support.weighed_calls import expert_at

from bideuchre_env import agents
from bideuchre_env.agents.expert.endgame import error_of, search, wins_over
from bideuchre_env.agents.expert.sampled_deals import SAMPLED_DEAL
from bideuchre_env.agents.expert.win_table import MOST_TARGET, chance_to_win, win_table
from bideuchre_env.agents.rule.win_curve import read_time
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.view import VIEW, read_view
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

error_of, search, wins_over = map(callable_from_python, (error_of, search, wins_over))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_the_expert_is_ahead_of_the_rule_player(variant):
    mean, half = per_hand(RULES[variant], "expert", "rule", 1000)
    assert mean - half > 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"network": np.zeros(3)}, "network: one record"),
        ({"wanted": (1,)}, r"wanted=\(1,\): 13 whole numbers"),
        ({"wanted": (-1,) * 13}, "13 whole numbers from 0"),
        ({"margin": "x"}, "margin='x': from 0 to 100"),
        ({"margin": float("nan")}, "margin=nan: from 0 to 100"),
        ({"standard_errors": -1}, "standard_errors=-1: from 0 to 100"),
        ({"lean": 10**9}, "lean=1000000000: a whole number from 0 to 100"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        agents.make("expert", CINCINNATI, **options)


# --- the endgame search --------------------------------------------------------------------------


def test_with_two_tricks_left_the_higher_trump_is_led():
    """TricksterBots #267: every other trump is out."""
    hands = {1: "KH TH AS AC AD KD", 2: "QS QC QD KS JH 9H", 3: "JS TC TD TS QH AH"}
    position = expert_at(SIX_CARD, {**hands, 0: "9S 9C 9D KC JC JD"})
    position.do("bid 5 H, pass, pass, pass, AS QS JS 9S AC QC TC 9C AD QD TD 9D KD KS TS KC")
    assert position.choice() == "KH"
    position.agent = agents.make("rule", SIX_CARD)
    assert position.choice() == "KH"


def decisions_of_rule(rules, tables):
    """Observations and masks of every decision of one hand at so many tables of rule players."""
    seen = []

    def watch(rows, masks, actions):
        seen.extend(zip(rows.copy(), masks.copy(), strict=True))

    play_on(rules, start(rules, tables, seed=3), (agents.make("rule", rules),) * 2, watch=watch)
    return (np.stack(part) for part in zip(*seen, strict=True))


def test_a_card_of_the_search_must_gain_more_than_its_error():
    """With more standard errors the rule player's card is replaced less often."""
    rows, masks = decisions_of_rule(CINCINNATI, 60)

    def choices(**options):
        return agents.make("expert", CINCINNATI, **options).act_rows(rows, masks)

    quiet = choices(wanted=(0,) * 13)
    changed = [(choices(standard_errors=errors) != quiet).sum() for errors in (100, 2, 0)]
    assert changed[0] <= changed[1] < changed[2]
    assert changed[0] < changed[2] / 4
    one_deal = (0, 0, *(1,) * 11)  # the error of one deal is not known
    assert np.array_equal(quiet, choices(wanted=one_deal, standard_errors=0.5))
    assert (quiet != choices(wanted=one_deal, standard_errors=0)).any()


def test_the_error_of_a_gain_is_the_standard_error_of_the_mean():
    gains = np.random.default_rng(5).normal(1.0, 3.0, 40)
    x = new_rows(SAMPLED_DEAL, 1)[0]
    for n in (2, 6, 40):
        x["sums"][3], x["squares"][3] = gains[:n].sum(), (gains[:n] ** 2).sum()
        assert error_of(x, 3, n) == pytest.approx(gains[:n].std(ddof=1) / np.sqrt(n))
    assert error_of(x, 3, 1) == np.inf


def plain_search(x, hands, turn, table, led, left, out):
    """Tricks of seats 0 and 2 by best play of all, by brute force."""
    if len(table) == (4 if out < 0 else 3):
        best = table[0]
        for seat, place in table[1:]:
            if wins_over(x, place, best[1]):
                best = (seat, place)
        won = int(best[0] % 2 == 0)
        return won + (plain_search(x, hands, best[0], [], -1, left - 1, out) if left > 1 else 0)
    follow = [place for place in hands[turn] if x["suit"][place] == led]
    results = []
    for place in follow or hands[turn]:
        rest = {**hands, turn: [other for other in hands[turn] if other != place]}
        after = (turn + 1) % 4
        after = (after + 1) % 4 if after == out else after
        suit = int(x["suit"][place]) if led < 0 else led
        results.append(plain_search(x, rest, after, [*table, (turn, place)], suit, left, out))
    return max(results) if turn % 2 == 0 else min(results)


@pytest.mark.parametrize("copies", [1, 2])
def test_the_search_gives_the_tricks_of_brute_force(copies):
    """Up to three tricks, with and without trumps, with four seats or three."""
    rng = np.random.default_rng(copies)
    for case in range(300):
        x, left = new_rows(SAMPLED_DEAL, 1)[0], int(rng.integers(1, 4))
        deck = [(s, r) for s in range(4) for r in range(5) for _ in range(copies)]
        x["suit"][: len(deck)] = [card[0] for card in deck]
        x["rank"][: len(deck)] = [card[1] for card in deck]
        bits = [sum(1 << i for i, card in enumerate(deck) if card[0] == s) for s in range(4)]
        x["suit_bits"] = bits
        x["trumps"] = bits[case % 4] if case % 3 else 0
        x["out"] = out = int(rng.integers(0, 4)) if case % 5 == 0 else -1
        x["players"] = 4 if out < 0 else 3
        dealt = rng.permutation(len(deck))
        seats = [seat for seat in range(4) if seat != out]
        hands = {seat: [int(c) for c in dealt[seat * left : (seat + 1) * left]] for seat in seats}
        x["hands"][:] = 0
        for seat in seats:
            x["hands"][seat] = sum(1 << place for place in hands[seat])
        turn = int(rng.choice(seats))
        tricks = search(x, turn, 0, -1, -1, -1, left)
        assert tricks == plain_search(x, hands, turn, [], -1, left, out)


# --- the chance to win -------------------------------------------------------------------------


@pytest.mark.parametrize("variant", RULES)
def test_the_chance_to_win_is_symmetric_and_grows_with_the_score(variant):
    table = win_table(RULES[variant])
    if RULES[variant].win_rule == "rounds":
        middle = table.shape[1] // 2
        assert np.allclose(table[:, middle, 0], 0.5, atol=0.02)
        assert (np.diff(table[:, :, 0], axis=1) >= -1e-9).all()
        return
    assert np.allclose(table[0] + table[0].T, 1.0)
    assert (np.diff(table[0], axis=0) <= 0.03).all()  # rows: points to go of our side
    assert table[0, 0, -1] > 0.9 > table[0, 5, 5] > 0.4


@entry_kernel
def fill_ends(rows, tables, offsets, wins, views, level, ends):
    """Write the worth of every number of tricks of our contract at this level."""
    v, t = views[0], tables[0]
    read_view(row_of(rows, 0), t, offsets[0], v)
    read_time(v)
    for won in range(len(ends)):
        ours, theirs, done = played_points(t, level, won, True)
        ends[won] = chance_to_win(v, t, wins, ours, theirs, True, done)


@pytest.mark.parametrize("theirs", [-40, 0, 31])
@pytest.mark.parametrize("ours", [22, 26, 27, 28, 31])
def test_no_result_of_a_hand_is_worth_more_than_a_won_game(ours, theirs):
    position, level = Position(CINCINNATI, {}, score=(theirs, ours)), 2  # seat 1, a bid of 5
    wins, ends = win_table(CINCINNATI), np.zeros(7)
    rows, layout = position.look()[0][np.newaxis], position.layout
    fill_ends(rows, position.tables, layout.offsets, wins, new_rows(VIEW, 1), level, ends)
    won = ours + np.arange(7) >= CINCINNATI.target
    won[: CINCINNATI.ladder[level].tricks] = False  # set
    assert (ends[won] == 1.0).all()
    assert (ends[~won] < 1.0).all()
    assert (np.diff(ends[5:]) >= 0.0).all()


def test_the_chance_to_win_after_the_last_hand_is_the_result():
    table = win_table(Rules(win_rule="rounds", rounds=1))
    middle = table.shape[1] // 2
    assert table[0, middle - 1 : middle + 2, 0].tolist() == [0.0, 0.5, 1.0]
    # beyond the observation's range there is no table
    assert win_table(Rules(target=MOST_TARGET + 1)).shape == (0, 0, 0)


def test_calls_depend_on_the_score():
    rng, changed = np.random.default_rng(2), 0
    names = [f"{rank}{suit}" for rank, suit in itertools.product("AKQJT9", "CDHS")]
    for _ in range(30):
        hand = {1: " ".join(rng.permutation(names)[:6])}
        calls = {expert_at(CINCINNATI, hand, score=s).choice() for s in ((0, 0), (28, 5), (0, 31))}
        changed += len(calls) > 1
    assert changed > 0
