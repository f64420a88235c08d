"""The expert agent: strength, options, endgame search, chance to win, and its auction."""

import numpy as np
import pytest
from support.agent_games import BARRIE, CINCINNATI, CLUB, SIMPLIFIED, Position, decisions, per_hand
from support.expert_ending import by_every_line, ending_values
from support.kernels import callable_from_python
from support.solver_positions import random_endings

from bideuchre_env import agents, match
from bideuchre_env.agents.data import package_part, sealed
from bideuchre_env.agents.expert import score_network
from bideuchre_env.agents.expert.agent import NO_SEARCH, ExpertAgent
from bideuchre_env.agents.expert.auction import CALLS, NOT_WEIGHED, natural_call
from bideuchre_env.agents.expert.call_features import CALL, N_INPUTS
from bideuchre_env.agents.expert.call_network import (
    SCALE,
    checked_calls,
    checked_network,
    load_network,
    network_points,
    new_network,
    weigh_table,
)
from bideuchre_env.agents.expert.score_network import (
    N_SCORE,
    load_score_network,
    new_score_network,
    score_correction,
    weigh_score,
)
from bideuchre_env.agents.expert.win_table import (
    ALMOST,
    MOST_TARGET,
    fitted_part,
    rule_table,
    win_table,
)
from bideuchre_env.agents.rule.bidding import call_action
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.network import (
    Network,
    arrays_of,
    forward,
    sealed_network,
    zero_network,
)
from bideuchre_env.learning.suits import SUIT_MAPS
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import CARD_NAMES, SUITS, parse_card
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import new_rows

pytestmark = pytest.mark.search

natural_call, call_action = map(callable_from_python, (natural_call, call_action))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_the_expert_beats_the_rule_player(variant):
    mean, half = per_hand(RULES[variant], "expert", "rule", 1000)
    assert mean - half > 0.2


def test_a_card_of_the_search_must_gain_more_than_its_error():
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


def test_the_search_gives_the_tricks_of_every_line():
    equivalent = 0
    for ending in random_endings(400, 3, most=3):
        known = ending.hands, ending.table, ending.seat, ending.strain, ending.absent
        values = ending_values(ending.row[0], compile_tables(ending.rules), ending.hands)
        for card, tricks in by_every_line(*known).items():
            assert values[card][0] == values[values[card][1]][0] == tricks
            equivalent += values[card][1] != card
    assert equivalent > 20


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


weigh_table, network_points = map(callable_from_python, (weigh_table, network_points))
weigh_score, score_correction = map(callable_from_python, (weigh_score, score_correction))

QUICK = (0,) * 13  # cards of the rule player
LARGE = RULES["double_deck_v0"].replace(lone=(Bid("moon", value=24),))
UNFITTED = LARGE.replace(ranks="10", partnered=(1, 10))
NO_LONE_BIDS = RULES["six_card_v0"].replace(ranks="10", partnered=(2, 5))


def same_network(one, other):
    """Whether two call networks have the same weights."""
    arrays = zip((*one.layers, one.shifts), (*other.layers, other.shifts), strict=True)
    return all(np.array_equal(a, b) for a, b in arrays)


def fitted_network(name):
    """The call network in the file of a variant."""
    return checked_calls(RULES[name], package_part(name, "expert"))


def expert_at(rules, hands, **options):
    return Position(rules, hands, agent="expert", **options)


def drawn(rng, network):
    """A network of these widths with random weights; ReLU stays ReLU."""
    weights = (rng.normal(0, 0.3, part.shape).astype(np.float32) for part in network[:7])
    return Network(*weights, network.slope)


@pytest.mark.parametrize("seed", range(5))
def test_the_call_network_is_its_matrix_products(seed):
    """The network has two ReLU layers and a linear skip connection; the output is in points."""
    rng, calls = np.random.default_rng(seed), new_rows(CALLS, 1)
    n = checked_network(new_network()._replace(layers=drawn(rng, new_network().layers))).layers
    x = rng.normal(0, 1, N_INPUTS) * (rng.random(N_INPUTS) < 0.5)
    calls["inputs"] = x
    weigh_table(n, calls[0])
    for _ in range(2):  # another call at the same table
        x[CALL:] = rng.normal(0, 1, N_INPUTS - CALL)
        calls["inputs"] = x
        one = np.maximum(x @ n.first + n.first_bias, 0)
        two = np.maximum(one @ n.second + n.second_bias, 0)
        [expected] = two @ n.last + x @ n.skip + n.last_bias
        assert network_points(n, calls[0]) == pytest.approx(SCALE * expected, rel=1e-4, abs=1e-3)
        assert forward(n, x[np.newaxis].astype(np.float32)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_score_network_is_its_matrix_products(seed):
    """It has one ReLU layer and a linear skip connection; the output is a chance to win."""
    rng, calls = np.random.default_rng(seed), new_rows(CALLS, 1)
    n = sealed_network(drawn(rng, new_score_network()), N_SCORE, 1)
    x = rng.normal(0, 1, N_SCORE).astype(np.float32)
    calls["score_inputs"] = x
    weigh_score(n, calls[0])
    [expected] = np.maximum(x @ n.first + n.first_bias, 0) @ n.last + x @ n.skip + n.last_bias
    correction = score_correction(n, calls[0])
    assert correction == pytest.approx(score_network.SCALE * expected, rel=1e-4, abs=1e-3)
    assert forward(n, x[np.newaxis]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("rules", [CINCINNATI, BARRIE, CLUB])
def test_renaming_the_suits_changes_no_call(rules):
    rng = np.random.default_rng(8)
    deck = np.repeat(np.array(CARD_NAMES[: rules.kinds]), rules.copies)
    for _ in range(40):
        hand = rng.permutation(deck)[: rules.tricks]
        suits = SUIT_MAPS[int(rng.integers(1, 8))]
        renamed = [card[0] + SUITS[suits[SUITS.index(card[1])]] for card in hand]
        calls = (expert_at(rules, {1: " ".join(cards)}).choice() for cards in (hand, renamed))
        one, other = (call.split()[:2] for call in calls)  # without the strain of the bid
        assert one == other


SINGLE_DECK = BARRIE.replace(ranks="9", copies=1, partnered=(1, 6))


@pytest.mark.parametrize(
    ("rules", "variant"),
    [
        (BARRIE.replace(lone=(Bid("moon", value=500),), target=900), "barrie_v0"),
        (SIMPLIFIED.replace(target=50, rounds=None, win_rule="any"), "simplified_v0"),
        (SINGLE_DECK, "six_card_v0"),
        (SINGLE_DECK.replace(ranks="10", partnered=(1, 5)), "barrie_v0"),
        (SINGLE_DECK.replace(ranks="10", partnered=(2, 5)), "club_v0"),
        (CINCINNATI.replace(ranks="10", partnered=(2, 4)), "cincinnati_v0"),
        (LARGE, "double_deck_v0"),
        (BARRIE.replace(strain_named="after_auction"), "barrie_v0"),
        (CINCINNATI.replace(copies=2, partnered=(6, 11)), None),  # bidding too unlike
        (BARRIE.replace(ranks="10", copies=1, partnered=(1, 5), lone=(Bid("moon", 8),)), None),
    ],
)
def test_a_custom_game_has_the_network_of_the_most_similar_variant(rules, variant):
    expected = new_network() if variant is None else fitted_network(variant)
    assert same_network(load_network(rules), expected)


def test_a_strong_hand_opens_high_in_a_custom_game():
    """Without a call network each call was valued as if it ended the auction: 1 NT was opened."""
    assert expert_at(SINGLE_DECK, {1: "AS KS AH KH 9D 9C"}).choice() == "bid 4 NT"


@pytest.mark.parametrize("rules", [UNFITTED, NO_LONE_BIDS], ids=["large", "small"])
def test_without_network_and_table_the_expert_bids_like_rule(rules):
    assert same_network(load_network(rules), new_network())
    plain = ExpertAgent(rules, wanted=NO_SEARCH)
    rows = match(rules, plain, "rule", boards=100, seed=1).board_rows
    assert (rows["points"].sum(axis=1) == 0).all()


@pytest.mark.parametrize("number", [np.nan, np.inf, -1e9])
@pytest.mark.parametrize("part", [*Network._fields, "shifts"])
def test_networks_with_numbers_that_are_not_finite_are_refused(part, number):
    """Kernels would compute array indices from such numbers."""
    network = new_network()
    wrong = (network if part == "shifts" else network.layers)._asdict()[part].copy()
    wrong[..., -1:] = number
    if part == "shifts":
        network = network._replace(shifts=wrong)
    else:
        network = network._replace(layers=network.layers._replace(**{part: wrong}))
    with pytest.raises(OptionError, match=f"{part}: expected finite weights below"):
        ExpertAgent(BARRIE, network=network)


def test_a_network_of_other_widths_is_refused():
    """The record `CALLS` has room for its own widths only."""
    network = new_network()
    other = zero_network(N_INPUTS, 1, (8, 4))
    for wrong, message in (
        (network._replace(layers=other), "first: expected a shape of"),
        (network._replace(shifts=network.shifts[:1]), "shifts: expected"),
        (network.layers, "network: expected"),
    ):
        with pytest.raises(OptionError, match=message):
            ExpertAgent(BARRIE, network=wrong)


@pytest.mark.parametrize(
    "rules",
    [*(RULES[name] for name in ("cincinnati_v0", "barrie_v0", "double_deck_v0")), SINGLE_DECK],
    ids=["cincinnati", "barrie", "double deck", "barrie with a single deck"],
)
def test_the_call_network_wins_points(rules):
    sides = [ExpertAgent(rules, network=n, wanted=QUICK) for n in (None, new_network())]
    assert match(rules, *sides, boards=4000, seed=3).boards.points_per_hand.low > 0.1


SURE_HAND, ALL_TRICKS = "JS JC JC AS AS KS QS AH", "JS JS JC JC AS KS QS AH"


@pytest.mark.parametrize(
    ("rules", "hand", "score", "story", "calls"),
    [
        (BARRIE, "JS JC AS KS KS QH KD AD", (51, 30), "pass, pass, pass", ["bid 1 S"]),
        (BARRIE, SURE_HAND, (47, 49), "pass, pass, pass", ["bid 1 S"]),
        (BARRIE, SURE_HAND, (50, 49), "pass, pass, pass", ["bid 1 S"]),
        (BARRIE, "JS JS JC AS QS AH AD KC", (0, 0), "pass, pass, pass", ["bid call-1 S"]),
        (BARRIE, "JS JS JC AS QS AH AD KC", (51, 40), "pass, pass, pass", ["bid 1 S"]),
        (CINCINNATI, "JS JC AS KS AH AD", (0, 0), "pass, pass, pass", ["bid moon"]),
        (CINCINNATI, "JS JC AS KS AH AD", (29, 29), "pass, pass, pass", ["bid 3"]),
        (BARRIE, "JS JS JC AS KS AH AD QS", (48, 40), "", ["bid moon S"]),
        (BARRIE, ALL_TRICKS, (48, 40), "", ["bid moon S"]),
        (BARRIE, "JS JS JC JC AS AS KS KS", (0, 0), "bid 5 H, pass", ["bid moon S", "bid moon C"]),
    ],
)
def test_last_to_call_bids_low_to_win_and_the_first_bids_a_moon(rules, hand, score, story, calls):
    """A low bid by the first caller would be outbid. Scores are (own side, opponents)."""
    seat = (1 + len(story.split(", ")) * bool(story)) % 4
    position = expert_at(rules, {seat: hand}, score=score if seat % 2 == 0 else score[::-1])
    assert position.do(story).choice() in calls


UNFITTED_VARIANTS = ("cincinnati_v0", "partners_best_v0", "indiana_v0")
FITTED = RULES.keys() - UNFITTED_VARIANTS


@pytest.mark.parametrize("name", RULES)
def test_every_variant_has_its_own_networks_and_table(name):
    rules = RULES[name]
    for same in (rules, rules.replace(max_hands=rules.max_hands + 1)):
        assert same_network(load_network(same), fitted_network(name))
        part = fitted_part(same)
        assert (part and part.metadata["variant"]) == (name if name in FITTED else None)
        if name in FITTED:
            stored = arrays_of(load_score_network(same), "network")
            assert {*stored, "wins"} == {*part.arrays}
            assert all(np.array_equal(stored[each], part.arrays[each]) for each in stored)
        table = win_table(same)
        assert table.dtype == np.float64
        assert ((table >= 0.0) & (table <= 1.0)).all()
    if name in FITTED and rules.win_rule != "rounds":
        assert table.max() <= ALMOST  # not won yet


@pytest.mark.parametrize(
    "rules",
    [
        *(RULES[name] for name in UNFITTED_VARIANTS),
        BARRIE.replace(target=50),
        SIMPLIFIED.replace(rounds=2),
    ],
)
def test_a_game_that_was_not_fitted_has_no_network(rules):
    assert fitted_part(rules) is None
    assert load_score_network(rules).shape == (0, 0, 0, 0)
    assert np.array_equal(win_table(rules), rule_table(rules))


def test_networks_are_read_only():
    calls = load_network(BARRIE)
    for array in (*load_score_network(BARRIE), *calls.layers, calls.shifts):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0


def test_the_score_network_wins_games():
    expert, plain = (ExpertAgent(SIMPLIFIED, wanted=QUICK) for _ in range(2))
    nothing, wins = new_score_network(), sealed(rule_table(SIMPLIFIED))
    plain.learned = plain.learned._replace(score=nothing, wins=wins)
    result = match("simplified_v0", expert, plain, games=3000, seed=3)
    assert result.games.win_rate.low > 0.5


@pytest.mark.parametrize("hand", ["QC KD JD AH QH JH AS QS", "KC QC KD JD KH QH JH AS"])
def test_among_bids_of_about_the_same_worth_the_longest_suit_is_bid(hand):
    """Four hearts are bid rather than three diamonds with the same bowers."""
    assert expert_at(BARRIE, {1: hand}).choice() == "bid 4 H"


@pytest.mark.parametrize(
    ("worth", "call"),
    [
        ({"bid 4 D": 0.5, "bid 4 H": 0.5 - 0.19 * 0.02}, "bid 4 H"),  # a fifth of a point
        ({"bid 4 D": 0.5, "bid 4 H": 0.5 - 0.21 * 0.02}, "bid 4 D"),
        ({"bid 4 D": 0.5, "bid 5 H": 0.5}, "bid 4 D"),  # lengths are compared at one level only
        ({"bid 4 S": 0.5, "bid 4 H": 0.5 - 0.39 * 0.02}, "bid 4 H"),  # two cards longer
        (
            {"bid 4 S": 0.5, "bid 4 D": 0.5 - 0.19 * 0.02, "bid 4 H": 0.5 - 0.39 * 0.02},
            "bid 4 H",  # each is compared with the best
        ),
        ({"bid 4 NT": 0.5, "bid 4 H": 0.5}, "bid 4 H"),  # equal: suits come first
        ({"bid 4 NT": 0.5001, "bid 4 H": 0.5}, "bid 4 NT"),
        ({"bid moon D": 0.5, "bid 4 H": 0.5 - 0.19 * 0.02}, "bid 4 H"),
        ({"bid moon D": 0.5, "bid 4 H": 0.5 - 0.21 * 0.02}, "bid moon D"),
        ({"bid moon D": 0.5, "pass": 0.499}, "pass"),
        ({"pass": 0.5, "bid 4 H": 0.4999}, "pass"),
    ],
)
def test_a_call_that_people_would_not_expect_must_be_better(worth, call):
    view, calls, t = new_view(), new_rows(CALLS, 1), compile_tables(BARRIE)
    names = actions.of(BARRIE).names
    for card in ("QC", "JD", "KD", "QD", "AH", "KH", "QH", "AS"):  # four hearts, three diamonds
        view["held"] |= 1 << parse_card(card)
    calls["slope"], calls["ranked"], calls["worth"] = 0.02, np.arange(6), NOT_WEIGHED
    for name, value in worth.items():
        action = names.index(name)
        level, strain = t["call_levels"][0][action], t["call_strains"][0][action]
        calls["worth"][0, 1 + level, max(strain, 0)] = value
    chosen = natural_call(view[0], t[0], calls[0])
    assert call_action(t[0], (chosen >> 3) - 1, chosen & 7) == names.index(call)
