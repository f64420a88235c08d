"""The expert: ahead of the rule player, and its parts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.agent_games import per_hand, play_on, start
from support.kernels import callable_from_python
from support.positions import BARRIE, CINCINNATI, SIX_CARD, Position
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


# --- determinism -------------------------------------------------------------------------------


def test_a_decision_does_not_depend_on_the_ones_before_it():
    """The deals it looks at are drawn from the observation alone."""
    seen, rules = [], RULES["club_v0"]
    sides = (agents.make("expert", rules), agents.make("rule", rules))

    def watch(rows, masks, actions):
        seen.extend(zip(rows.copy(), masks.copy(), actions, strict=True))

    play_on(rules, start(rules, 6), sides, watch=watch)
    fresh = agents.make("expert", rules)
    for row, mask, _ in seen[::-1]:
        assert sides[0].act(row, mask) == fresh.act(row, mask)
    assert len({int(action) for _, _, action in seen}) > 10


# --- strength ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "floor"), [("cincinnati_v0", 0.2), ("barrie_v0", 0.2)])
def test_the_expert_is_ahead_of_the_rule_player(variant, floor):
    """On duplicate boards; `experiments/README.md` has the figures of a long match."""
    mean, half = per_hand(RULES[variant], "expert", "rule", 1000)
    assert mean - half > floor


# --- the auction -------------------------------------------------------------------------------


def test_a_hand_without_tricks_passes():
    """Nothing to bid on, nobody forced."""
    assert expert_at(CINCINNATI, {1: "9C TC QD 9D TH 9S"}).choice() == "pass"
    assert expert_at(BARRIE, {1: "KC QC QD KD QH KH KS QS"}).choice() in ("pass", "bid 1 NT")


def test_the_named_strain_is_the_hands_best():
    """After the auction the strain with the bowers is named."""
    position = expert_at(CINCINNATI, {1: "JH JD AH KH QS 9C"})
    assert position.do("bid 5, pass, pass, pass").choice() == "trump H"


# --- the end of a hand -------------------------------------------------------------------------


def test_the_last_two_tricks_are_worked_out():
    """With two tricks left and every other trump out: the boss first, the loser last."""
    hands = {
        1: "KH TH AS AC AD KD",
        2: "QS QC QD KS JH 9H",
        3: "JS TC TD TS QH AH",
        0: "9S 9C 9D KC JC JD",
    }
    position = expert_at(SIX_CARD, hands).do("bid 5 H, pass, pass, pass")
    position.do("AS QS JS 9S AC QC TC 9C AD QD TD 9D KD KS TS KC")
    assert position.choice() == "KH"


def seen_by_rule(rules, tables):
    """Observations and masks of every decision of one hand at so many tables of rule players."""
    seen = []

    def watch(rows, masks, actions):
        seen.extend(zip(rows.copy(), masks.copy(), strict=True))

    play_on(rules, start(rules, tables, seed=3), (agents.make("rule", rules),) * 2, watch=watch)
    return (np.stack(part) for part in zip(*seen, strict=True))


def test_a_card_must_gain_more_than_its_error():
    """Many standard errors keep the rules' card; with none the search counts more often."""
    rules = RULES["cincinnati_v0"]
    rows, masks = seen_by_rule(rules, 60)
    quiet = agents.make("expert", rules, wanted=(0,) * 13).act_rows(rows, masks)
    changed = [
        (agents.make("expert", rules, standard_errors=errors).act_rows(rows, masks) != quiet).sum()
        for errors in (100, 2, 0)
    ]
    assert changed[0] <= changed[1] < changed[2]
    assert changed[0] < changed[2] / 4


def test_the_error_of_a_gain_is_that_of_a_mean():
    """The sample's deviation by the root of the deals; one deal says nothing of it."""
    gains = np.random.default_rng(5).normal(1.0, 3.0, 40)
    x = new_rows(SAMPLED_DEAL, 1)[0]
    for n in (2, 6, 40):
        x["sums"][3], x["squares"][3] = gains[:n].sum(), (gains[:n] ** 2).sum()
        assert error_of(x, 3, n) == pytest.approx(gains[:n].std(ddof=1) / np.sqrt(n))
    assert error_of(x, 3, 1) == np.inf


def test_without_standard_errors_one_deal_is_enough():
    """What nothing is known of the error does not count where no error counts."""
    rules = RULES["cincinnati_v0"]
    rows, masks = seen_by_rule(rules, 20)
    one = (0, 0, *(1,) * 11)
    quiet, bold, careful = (
        agents.make("expert", rules, wanted=wanted, standard_errors=errors).act_rows(rows, masks)
        for wanted, errors in (((0,) * 13, 0), (one, 0), (one, 0.5))
    )
    assert np.array_equal(quiet, careful)
    assert (quiet != bold).any()


def plain_search(x, hands, turn, table, led, left, out):
    """Tricks of seats 0 and 2 by best play of all, by trying everything."""
    if len(table) == (4 if out < 0 else 3):
        best = table[0]
        for seat, place in table[1:]:
            if wins_over(x, place, best[1]):
                best = (seat, place)
        won = int(best[0] % 2 == 0)
        return won + (plain_search(x, hands, best[0], [], -1, left - 1, out) if left > 1 else 0)
    follow = [place for place in hands[turn] if x["suit"][place] == led]
    found = []
    for place in follow or hands[turn]:
        rest = {**hands, turn: [other for other in hands[turn] if other != place]}
        after = (turn + 1) % 4
        after = (after + 1) % 4 if after == out else after
        suit = int(x["suit"][place]) if led < 0 else led
        found.append(plain_search(x, rest, after, [*table, (turn, place)], suit, left, out))
    return max(found) if turn % 2 == 0 else min(found)


@pytest.mark.parametrize("copies", [1, 2])
def test_the_search_finds_what_trying_everything_finds(copies):
    """Up to three tricks, one and two copies, trumps or none, everybody in or one out."""
    rng = np.random.default_rng(copies)
    for case in range(400):
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
        found = search(x, turn, 0, -1, -1, -1, left)
        assert found == plain_search(x, hands, turn, [], -1, left, out)


# --- the chance to win -------------------------------------------------------------------------


@pytest.mark.parametrize("variant", RULES)
def test_the_chance_to_win_is_fair_and_grows_with_the_score(variant):
    """Level scores are worth a half; every point more is worth as much or more."""
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
    """What every number of tricks of our contract at this level is worth."""
    v, t = views[0], tables[0]
    read_view(row_of(rows, 0), t, offsets[0], v)
    read_time(v)
    for won in range(len(ends)):
        ours, theirs, done = played_points(t, level, won, True)
        ends[won] = chance_to_win(v, t, wins, ours, theirs, True, done)


@pytest.mark.parametrize("theirs", [-40, 0, 31])
@pytest.mark.parametrize("ours", range(22, 32))
def test_no_end_is_worth_more_than_a_won_game(ours, theirs):
    """Not yet won, even far ahead, is worth less than won; won by more is worth no more."""
    position, level = Position(CINCINNATI, {}, score=(theirs, ours)), 2  # seat 1, a bid of 5
    wins, ends = win_table(CINCINNATI), np.zeros(7)
    rows, layout = position.look()[0][np.newaxis], position.layout
    fill_ends(rows, position.tables, layout.offsets, wins, new_rows(VIEW, 1), level, ends)
    won = ours + np.arange(7) >= CINCINNATI.target
    won[: CINCINNATI.ladder[level].tricks] = False  # set
    assert (ends[won] == 1.0).all()
    assert (ends[~won] < 1.0).all()
    assert (np.diff(ends[5:]) >= 0.0).all()


def test_the_chance_to_win_of_a_game_of_one_hand():
    """With no hand to come the higher side has won; with equal scores it is a draw."""
    table = win_table(Rules(win_rule="rounds", rounds=1))
    middle = table.shape[1] // 2
    assert table[0, middle - 1 : middle + 2, 0].tolist() == [0.0, 0.5, 1.0]


def test_a_target_beyond_the_observation_has_no_table():
    """What an observation cannot tell is left to the curve."""
    assert win_table(Rules(target=MOST_TARGET + 1)).shape == (0, 0, 0)


def test_the_same_hand_is_bid_by_the_score():
    """Some hand is called otherwise when the others are about to win: the score is looked at."""
    rng, changed = np.random.default_rng(2), 0
    names = [f"{rank}{suit}" for rank, suit in itertools.product("AKQJT9", "CDHS")]
    for _ in range(30):
        hand = {1: " ".join(rng.permutation(names)[:6])}
        calls = {expert_at(CINCINNATI, hand, score=s).choice() for s in ((0, 0), (28, 5), (0, 31))}
        changed += len(calls) > 1
    assert changed > 0


@pytest.mark.parametrize(
    ("options", "told"),
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
def test_options_that_make_no_sense_are_refused(options, told):
    with pytest.raises(OptionError, match=told):
        agents.make("expert", RULES["cincinnati_v0"], **options)
