"""The expert's auction: its call and score networks, and its calls at known scores."""

import numpy as np
import pytest
from support.kernels import callable_from_python
from support.positions import BARRIE, CINCINNATI, CLUB, SIMPLIFIED, Position

from bideuchre_env import match
from bideuchre_env.agents.data import sealed
from bideuchre_env.agents.expert.agent import NO_SEARCH, ExpertAgent
from bideuchre_env.agents.expert.auction import CALLS
from bideuchre_env.agents.expert.call_features import CALL, N_INPUTS
from bideuchre_env.agents.expert.call_network import (
    NETWORK,
    SCALE,
    fitted_network,
    load_network,
    network_points,
    new_network,
    weigh_table,
)
from bideuchre_env.agents.expert.score_network import (
    fitted_score_network,
    load_score_network,
    new_score_network,
)
from bideuchre_env.agents.expert.win_table import ALMOST, fitted_name, rule_table, win_table
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.suits import SUIT_MAPS
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import CARD_NAMES, SUITS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import new_rows

weigh_table, network_points = map(callable_from_python, (weigh_table, network_points))

QUICK = (0,) * 13  # cards of the rule player
UNFITTED = RULES["double_deck_v0"].replace(lone=(Bid("moon", value=24),))
NO_LONE_BIDS = RULES["six_card_v0"].replace(ranks="10", partnered=(2, 5))


def expert_at(rules, hands, **options):
    return Position(rules, hands, agent="expert", **options)


@pytest.mark.parametrize("seed", range(5))
def test_the_call_network_is_its_matrix_products(seed):
    """The network has two ReLU layers and a linear skip connection; the output is in points."""
    rng, network, calls = np.random.default_rng(seed), new_rows(NETWORK, 1), new_rows(CALLS, 1)
    for part in NETWORK.names:
        network[part] = rng.normal(0, 0.3, network[part].shape)
    n = network[0]
    x = rng.normal(0, 1, N_INPUTS) * (rng.random(N_INPUTS) < 0.5)
    calls["inputs"] = x
    weigh_table(n, calls[0])
    for _ in range(2):  # another call at the same table
        x[CALL:] = rng.normal(0, 1, N_INPUTS - CALL)
        calls["inputs"] = x
        one = np.maximum(x @ network["first"][0] + network["first_base"][0], 0)
        two = np.maximum(one @ network["second"][0] + network["second_base"][0], 0)
        expected = two @ network["last"][0] + x @ network["straight"][0] + network["base"][0]
        assert network_points(n, calls[0]) == pytest.approx(SCALE * expected, rel=1e-4, abs=1e-3)


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


@pytest.mark.parametrize("name", RULES)
def test_every_variant_has_its_own_network(name):
    """Rules that differ only in `max_hands` have the same network."""
    own = fitted_network(name)
    assert np.array_equal(load_network(RULES[name]), own)
    assert np.array_equal(load_network(RULES[name].replace(max_hands=77)), own)


@pytest.mark.parametrize(
    "rules",
    [
        UNFITTED,
        Rules(ranks="J", copies=2, partnered=(1, 8), lone=(Bid("moon", value=500),), target=900),
        Rules(ranks="10", partnered=(1, 5), target=20),
    ],
)
def test_a_game_unlike_the_variants_has_no_network(rules):
    """A game with another deck, or with lone bids of other values, has a network of zeros."""
    assert np.array_equal(load_network(rules), new_network())


@pytest.mark.parametrize("rules", [UNFITTED, NO_LONE_BIDS], ids=["large", "small"])
def test_without_network_and_table_the_expert_bids_like_rule(rules):
    plain = ExpertAgent(rules, wanted=NO_SEARCH)
    rows = match.play(rules, plain, "rule", boards=100, seed=1).board_rows
    assert (rows["points"].sum(axis=1) == 0).all()


@pytest.mark.parametrize("number", [np.nan, np.inf, -1e9])
@pytest.mark.parametrize("part", NETWORK.names)
def test_networks_with_numbers_that_are_not_finite_are_refused(part, number):
    """Kernels would compute array indices from such numbers."""
    network = new_network()
    network["first"] = 1.0
    network[part][..., -1:] = number
    with pytest.raises(OptionError, match=f"network: {part} has a number that is not finite"):
        ExpertAgent(BARRIE, network=network)


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
def test_the_call_network_wins_points(variant):
    """The expert beats an expert without the network; both play the rule player's cards."""
    rules = RULES[variant]
    sides = [ExpertAgent(rules, network=n, wanted=QUICK) for n in (None, new_network())]
    assert match.play(variant, *sides, boards=4000, seed=3).boards.points_per_hand.low > 0.1


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
def test_the_last_to_call_bids_low_where_that_wins_and_the_first_bids_a_moon(
    rules, hand, score, story, calls
):
    """A low bid by the first caller would be outbid. Scores are (own side, opponents)."""
    seat = (1 + len(story.split(", ")) * bool(story)) % 4
    position = expert_at(rules, {seat: hand}, score=score if seat % 2 == 0 else score[::-1])
    assert position.do(story).choice() in calls


FITTED = ("barrie_v0", "club_v0", "double_deck_v0", "simplified_v0")


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_variant_has_its_own_network_and_table(name):
    """Rules that differ only in `max_hands` have the same network and table."""
    rules = RULES[name]
    for same in (rules, rules.replace(max_hands=rules.max_hands + 1)):
        assert fitted_name(same) == name
        assert np.array_equal(load_score_network(same), fitted_score_network(name))
        table = win_table(same)
        assert table.dtype == np.float64
        assert ((table >= 0.0) & (table <= 1.0)).all()
    if rules.win_rule != "rounds":
        assert table.max() <= ALMOST  # not won yet


@pytest.mark.parametrize(
    "rules",
    [RULES["six_card_v0"], BARRIE.replace(target=50), CINCINNATI, SIMPLIFIED.replace(rounds=2)],
)
def test_a_game_that_was_not_fitted_has_no_network(rules):
    """A game that was not fitted uses the win table from the rule player's hands."""
    assert fitted_name(rules) is None
    assert len(load_score_network(rules)) == 0
    assert np.array_equal(win_table(rules), rule_table(rules))


def test_networks_are_read_only():
    for network in (load_score_network(BARRIE), load_network(BARRIE)):
        with pytest.raises(ValueError, match="read-only"):
            network["base"] = 1.0


def test_the_score_network_wins_games():
    """The expert beats an expert without the score network and with the rule player's win table."""
    expert, plain = (ExpertAgent(SIMPLIFIED, wanted=QUICK) for _ in range(2))
    nothing, wins = sealed(new_score_network()), sealed(rule_table(SIMPLIFIED))
    plain.learned = plain.learned._replace(score=nothing, wins=wins)
    result = match.play("simplified_v0", expert, plain, games=3000, seed=3)
    assert result.games.win_rate.low > 0.5
