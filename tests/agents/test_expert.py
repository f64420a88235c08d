"""The expert agent: strength, options, its endgame search, and the chance to win a game."""

import numpy as np
import pytest
from support.agent_games import decisions, per_hand
from support.kernels import callable_from_python
from support.positions import CINCINNATI

from bideuchre_env import agents
from bideuchre_env.agents.expert.endgame import search, wins_over
from bideuchre_env.agents.expert.sampled_deals import SAMPLED_DEAL
from bideuchre_env.agents.expert.win_table import MOST_TARGET, win_table
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import new_rows

search, wins_over = map(callable_from_python, (search, wins_over))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
def test_the_expert_beats_the_rule_player(variant):
    mean, half = per_hand(RULES[variant], "expert", "rule", 1000)
    assert mean - half > 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"network": np.zeros(3)}, "network: expected one record"),
        ({"wanted": (1,)}, r"wanted=\(1,\): expected 13 whole numbers"),
        ({"wanted": (-1,) * 13}, "expected 13 whole numbers from 0"),
        ({"margin": "x"}, "margin='x': expected a number from 0 to 100"),
        ({"margin": float("nan")}, "margin=nan: expected a number from 0 to 100"),
        ({"standard_errors": -1}, "standard_errors=-1: expected a number from 0 to 100"),
        ({"lean": 10**9}, "lean=1000000000: expected a whole number from 0 to 100"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        agents.make("expert", CINCINNATI, **options)


def test_a_card_of_the_search_must_gain_more_than_its_error():
    """Requiring more standard errors replaces the rule player's card less often."""
    rows, masks, _ = map(np.stack, zip(*decisions(CINCINNATI, 60, seed=3), strict=True))

    def choices(**options):
        return agents.make("expert", CINCINNATI, **options).act_rows(rows, masks)

    quiet = choices(wanted=(0,) * 13)
    changed = [(choices(standard_errors=errors) != quiet).sum() for errors in (100, 2, 0)]
    assert changed[0] <= changed[1] < changed[2]
    assert changed[0] < changed[2] / 4
    one_deal = (0, 0, *(1,) * 11)  # the error of one deal is not known
    assert np.array_equal(quiet, choices(wanted=one_deal, standard_errors=0.5))
    assert (quiet != choices(wanted=one_deal, standard_errors=0)).any()


def plain_search(x, hands, turn, table, led, left, out):
    """Tricks of seats 0 and 2 with optimal play of all seats, by brute force."""
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
    """The endgames have up to three tricks, with and without trumps, and three or four seats."""
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


def test_the_chance_to_win_after_the_last_hand_is_the_result():
    table = win_table(Rules(win_rule="rounds", rounds=1))
    middle = table.shape[1] // 2
    assert table[0, middle - 1 : middle + 2, 0].tolist() == [0.0, 0.5, 1.0]
    # beyond the observation's range there is no table
    assert win_table(Rules(target=MOST_TARGET + 1)).shape == (0, 0, 0)
