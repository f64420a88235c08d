"""The expert's auction: its network, what the network is shown, its file and its calls."""

from __future__ import annotations

import zipfile
from functools import partial
from importlib import resources

import numpy as np
import pytest
from support.agent_games import random_rules
from support.kernels import callable_from_python
from support.positions import BARRIE, CINCINNATI, CLUB, Position

from bideuchre_env import match
from bideuchre_env.agents.expert.agent import NO_SEARCH, ExpertAgent, weigh_hand
from bideuchre_env.agents.expert.auction import CALLS, weigh_calls
from bideuchre_env.agents.expert.call_features import CALL, N_INPUTS, need_of
from bideuchre_env.agents.expert.call_network import (
    FILE,
    NETWORK,
    SCALE,
    fitted_network,
    load_network,
    network_points,
    new_network,
    provenance,
    weigh_table,
)
from bideuchre_env.agents.expert.strains import find_best
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.agents.rule.bidding import expected_tricks, lone_chance
from bideuchre_env.agents.rule.weights import load_weights
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.suits import SUIT_MAPS
from bideuchre_env.learning.view import read_view
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import CARD_NAMES, NO_TRUMP, SUITS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

find_best, weigh_table, network_points = map(
    callable_from_python, (find_best, weigh_table, network_points)
)

DOUBLE_DECK = RULES["double_deck_v0"]
SPADES = SUITS.index("S")
QUICK = (0,) * 13  # cards played by the rules alone
expert_at = partial(Position, agent="expert")


def drawn_network(seed):
    """A network of random numbers."""
    rng, network = np.random.default_rng(seed), new_rows(NETWORK, 1)
    for part in NETWORK.names:
        network[part] = rng.normal(0, 0.3, network[part].shape)
    return network


def random_hand(rules, rng):
    """The names of a hand."""
    deck = np.repeat(np.array(CARD_NAMES[: rules.kinds]), rules.copies)
    return [str(card) for card in rng.permutation(deck)[: rules.tricks]]


@entry_kernel
def weigh_row(rows, masks, work):
    """Weigh every legal call of the first row; False without a table."""
    t, view, calls = work.tables[0], work.views[0], work.calls[0]
    read_view(row_of(rows, 0), t, work.offsets[0], view)
    found = weigh_hand(view, t, work.learned, work.scratch[0], calls)
    if found:
        weigh_calls(view, t, work.learned, call_bits(row_of(masks, 0), t), calls)
    return found


@entry_kernel
def tricks_by_rule(rows, work, strain):
    """The tricks the rule player expects of the first row's hand in a strain before any call."""
    t, view = work.tables[0], work.views[0]
    read_view(row_of(rows, 0), t, work.offsets[0], view)
    return expected_tricks(view, t, work.learned.weights[0], strain, work.scratch[0])


@entry_kernel
def alone_by_rule(rows, work, strain, exchange):
    """The chance it sees to make a lone bid."""
    t, view = work.tables[0], work.views[0]
    read_view(row_of(rows, 0), t, work.offsets[0], view)
    return lone_chance(view, t, work.learned.weights[0], strain, exchange, work.scratch[0])


@entry_kernel
def need_place(tables, need):
    """Which of the inputs says what a bid needs, from 1 on."""
    return need_of(tables[0], need)


def weighed(position):
    """The `CALLS` record after every legal call was weighed by the agent of a position."""
    work, (row, mask) = position.agent.workspace(), position.look()
    assert weigh_row(row[np.newaxis], mask[np.newaxis], work)
    return work.calls[0]


# --- the network -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_kernels_say_what_plain_matrix_products_say(seed):
    """Two rectified layers and a straight way past them, in points."""
    network, rng = drawn_network(seed), np.random.default_rng(seed)
    n, calls = network[0], new_rows(CALLS, 1)
    x = rng.normal(0, 1, N_INPUTS) * (rng.random(N_INPUTS) < 0.5)
    calls["inputs"] = x
    weigh_table(n, calls[0])
    for _ in range(2):  # another call at the same table
        x[CALL:] = rng.normal(0, 1, N_INPUTS - CALL)
        calls["inputs"] = x
        one = np.maximum(x @ network["first"][0] + network["first_base"][0], 0)
        two = np.maximum(one @ network["second"][0] + network["second_base"][0], 0)
        said = two @ network["last"][0] + x @ network["straight"][0] + network["base"][0]
        assert network_points(n, calls[0]) == pytest.approx(SCALE * said, rel=1e-4, abs=1e-3)


def test_a_network_of_zeros_adds_nothing():
    """Then a bid is worth the chance to win by its contract: no more, no less."""
    position = expert_at(BARRIE, {1: "JS JS JC AS KS AH AD QS"})
    position.agent = ExpertAgent(BARRIE, network=new_network())
    b = weighed(position)
    assert network_points(new_network()[0], b) == 0.0
    assert b["means"] == pytest.approx(b["table_mean"], abs=1e-6)


@pytest.mark.parametrize("rules", [CINCINNATI, BARRIE, CLUB])
def test_renaming_the_suits_changes_no_worth(rules):
    """The network is shown no suit by name: a pass or bid is worth what it was, strain for strain.

    (A lone bid that cannot be made may be weighed in any of the strains that are alike.)
    """
    rng = np.random.default_rng(8)
    for _ in range(12):
        hand = random_hand(rules, rng)
        worth = []
        for suits in (SUIT_MAPS[0], SUIT_MAPS[int(rng.integers(1, 8))]):
            names = [card[0] + SUITS[suits[SUITS.index(card[1])]] for card in hand]
            b = weighed(expert_at(rules, {1: " ".join(names)}))
            partnered = 1 + sum(not bid.alone for bid in rules.ladder)  # and a pass
            worth.append((np.sort(b["means"]), b["worth"][:partnered].max(axis=1)))
        assert worth[0][0] == pytest.approx(worth[1][0], abs=1e-6)
        assert worth[0][1] == pytest.approx(worth[1][1], abs=1e-4)


# --- a hand of a large deck ----------------------------------------------------------------------


def untaught(seed):
    """A network that shifts nothing and adds nothing, but passes for fitted."""
    network = new_network()
    network["first"][0] = np.random.default_rng(seed).normal(0, 1, network["first"][0].shape)
    return network


@pytest.mark.parametrize("seed", range(4))
def test_a_large_deck_has_the_rule_players_counts_for_a_table(seed):
    """The mean of its tricks is theirs, about which they lie by a bell curve."""
    rng = np.random.default_rng(seed)
    position = expert_at(DOUBLE_DECK, {1: " ".join(random_hand(DOUBLE_DECK, rng))})
    position.agent = ExpertAgent(DOUBLE_DECK, network=untaught(seed))
    calls = weighed(position)
    work, row = position.agent.workspace(), position.look()[0]
    for strain in range(5):
        mean = tricks_by_rule(row[np.newaxis], work, strain)
        assert calls["table_mean"][strain] == pytest.approx(mean, abs=1e-9)
        spread = load_weights(24, 2)["deviation"][0, 0, int(strain == NO_TRUMP)]
        curve = np.exp(-0.5 * ((np.arange(13) - mean) / spread) ** 2)
        assert calls["chances"][strain, :13] == pytest.approx(curve / curve.sum(), abs=1e-9)
    assert (calls["lone"] == 0.0).all()


def test_what_was_learned_of_a_large_deck_shifts_its_tricks():
    """By a trick more, at the end of a bid's chances, too."""
    position = expert_at(DOUBLE_DECK, {1: "JS JC AS KS QS TS AH KH AD KD QC 9C"})
    means = []
    for shift in (0.0, 1.0):
        network = untaught(0)
        network["shifts"][0, :, 1] = shift  # of the constant
        position.agent = ExpertAgent(DOUBLE_DECK, network=network)
        means.append(weighed(position)["means"].copy())
    assert means[1] - means[0] == pytest.approx(np.ones(5), abs=0.1)


def test_a_large_deck_with_lone_bids_has_the_rule_players_chances_alone():
    """Taught by whoever prepares such a game: for each exchange its ladder has, in every strain."""
    lone = (Bid("call-2", value=20, exchange=2), Bid("moon", value=30))
    rules = DOUBLE_DECK.replace(lone=lone)
    position = expert_at(rules, {1: "JS JS JC JC AS AS KS KS QS QS TS TS"})
    position.agent = ExpertAgent(rules, network=untaught(0))
    calls, row = weighed(position), position.look()[0]
    for exchange in range(4):
        for strain in range(5):
            has = exchange in (0, 2)
            chance = alone_by_rule(row[np.newaxis], position.agent.workspace(), strain, exchange)
            assert calls["lone"][exchange, strain] == (chance if has else 0.0)
    assert calls["lone"][0].argmax() == SPADES
    assert calls["lone"][0].max() > 0.9


@pytest.mark.parametrize(("rules", "inputs"), [(DOUBLE_DECK, 8), (BARRIE, 8), (CINCINNATI, 3)])
def test_every_bid_has_an_input_of_its_tricks(rules, inputs):
    """Of twelve tricks some share one, in order; up to eight each has its own."""
    needs = [bid.tricks for bid in rules.ladder if not bid.alone]
    places = [need_place(compile_tables(rules), need) for need in needs]
    assert places == sorted(places)
    assert len(set(places)) == inputs
    assert rules.tricks > 8 or places == needs
    assert 1 <= min(places) <= max(places) <= 8


# --- the file ----------------------------------------------------------------------------------


def test_the_file_says_how_it_was_made():
    """Every variant, by the script in experiments, from a seed."""
    assert sorted(provenance()) == sorted(RULES)
    for told in provenance().values():
        assert told["script"] == "experiments/fitting/fit_call_network.py"
        assert set(told) == {"script", "hands", "rounds", "search", "seed"}


def test_the_file_is_small_whole_and_holds_no_pickles():
    """A few hundred kilobytes of finite numbers, every network trained."""
    path = resources.files("bideuchre_env.agents.data").joinpath(FILE)
    with path.open("rb") as file, zipfile.ZipFile(file) as members:
        assert sum(member.compress_size for member in members.infolist()) < 400_000
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)
    for name in provenance():
        for part in NETWORK.names:
            network = fitted_network(name)[part]
            assert np.isfinite(network).all()
            assert np.any(network != 0), (name, part)


@pytest.mark.parametrize("name", RULES)
def test_every_game_is_bid_by_its_own_numbers(name):
    """And a game that differs in what bidding hardly feels by those of the nearest."""
    own = fitted_network(name)
    assert np.array_equal(load_network(RULES[name]), own)
    assert np.array_equal(load_network(RULES[name].replace(max_hands=77)), own)


@pytest.mark.parametrize(
    "rules",
    [
        RULES["double_deck_v0"].replace(lone=(Bid("moon", value=24),)),
        Rules(ranks="J", copies=2, partnered=(1, 8), lone=(Bid("moon", value=500),), target=900),
        Rules(ranks="10", partnered=(1, 5), target=20),
    ],
)
def test_an_unlike_game_is_bid_by_its_contracts(rules):
    """Another deck, or lone bids of other values: nothing that was learned is stretched to it."""
    assert np.array_equal(load_network(rules), new_network())


def test_a_large_deck_where_nothing_was_fitted_is_bid_as_the_rule_player_bids():
    """Its counts alone, without what is learned of calls, are what the rule player goes by."""
    rules = RULES["double_deck_v0"].replace(lone=(Bid("moon", value=24),))
    plain = ExpertAgent(rules, wanted=NO_SEARCH)
    rows = match.play(rules, plain, "rule", boards=100, seed=1).board_rows
    assert (rows["points"].sum(axis=1) == 0).all()


def test_a_small_deck_is_bid_by_its_table():
    """Nothing was fitted there; the rule player, whose calls it had, bids alone far too often."""
    rules = BARRIE.replace(copies=1, ranks="10", partnered=(2, 5))
    assert np.array_equal(load_network(rules), new_network())
    assert match.play(rules, "expert", "rule", boards=400, seed=1).points_per_hand.low > 1.0


def test_where_nothing_was_fitted_and_nobody_bids_alone_calls_are_the_rule_players():
    """By the table alone they are worse."""
    rules = RULES["six_card_v0"].replace(ranks="10", partnered=(2, 5))
    for network, alike in ((None, True), (load_network(RULES["six_card_v0"]), False)):
        plain = ExpertAgent(rules, wanted=NO_SEARCH, network=network)
        rows = match.play(rules, plain, "rule", boards=100, seed=1).board_rows
        assert (rows["points"].sum(axis=1) == 0).all() == alike


def test_the_numbers_cannot_be_written_to():
    """They are shared by all agents of a game."""
    with pytest.raises(ValueError, match="read-only"):
        load_network(BARRIE)["base"] = 1.0


# --- strength ----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
def test_the_network_is_worth_its_numbers(variant):
    """Ahead of the same bidding without it, by the cards as the rules play them.

    (Of the double deck that is the rule player's.)
    """
    rules = RULES[variant]
    sides = [ExpertAgent(rules, network=n, wanted=QUICK) for n in (None, new_network())]
    assert match.play(variant, *sides, boards=4000, seed=3).boards.points_per_hand.low > 0.1


def test_calls_do_not_depend_on_the_rows_beside_them():
    """One row or many: sums of the row before leave nothing behind."""
    rng, seen = np.random.default_rng(3), []
    for _ in range(40):
        position = expert_at(BARRIE, {1: " ".join(random_hand(BARRIE, rng))})
        seen.append(position.look())
    rows, masks = (np.stack([pair[i] for pair in seen]) for i in range(2))
    together = position.agent.act_rows(rows, masks)
    alone = [position.agent.act(row, mask) for row, mask in zip(rows, masks, strict=True)]
    assert together.tolist() == alone
    assert len(set(alone)) > 5


def test_legal_calls_in_custom_auctions():
    """Whatever the ladder, the action is one of the legal ones."""
    rng = np.random.default_rng(12)
    for _ in range(25):
        rules = random_rules(rng)
        position = expert_at(rules, {1: " ".join(random_hand(rules, rng))})
        assert position.choice() in position.legal()


# --- calls any good player would make ------------------------------------------------------------


def test_the_dealer_takes_the_win_that_is_sure():
    """No lone hand for 12 and more where a trick, as good as certain, wins the game anyway."""
    hand = {0: "JS JC AS KS KS QH KD AD"}
    position = expert_at(BARRIE, hand, score=(51, 30)).do("pass, pass, pass")
    assert position.choice() == "bid 1 S"


@pytest.mark.parametrize("ours", [47, 48, 49, 50])
def test_the_last_to_speak_takes_the_low_bid_that_wins(ours):
    """A bid worth no more than its best end: seven tricks are as good as certain, and win the game.

    The network's points of a call for two cards, added without that bound, make more of it.
    """
    position = expert_at(BARRIE, {0: "JS JC JC AS AS KS QS AH"}, score=(ours, 49))
    assert position.do("pass, pass, pass").choice() == "bid 1 S"


@pytest.mark.parametrize("ours", [30, 47, 50])
def test_the_last_bid_is_worth_no_more_than_its_best_end(ours):
    """All the points in the world bring no more than a won game; of an earlier bid they might."""
    network = new_network()
    network["base"] = 1000.0 / SCALE  # points
    for dealer, passes in ((0, "pass, pass, pass"), (3, "")):
        position = expert_at(
            BARRIE, {0: "JS JC JC AS AS KS QS AH"}, dealer=dealer, score=(ours, 49)
        )
        position.agent = ExpertAgent(BARRIE, network=network)
        if passes:
            position.do(passes)
        bids = weighed(position)["worth"][1 : 1 + len(BARRIE.ladder)]
        bids = bids[bids > -1.0]  # those in reach
        assert len(bids) >= 2
        assert (bids < 1.2).all() if passes else (bids > 5.0).all()


def test_the_last_bid_is_lifted_only_where_it_wins_at_once():
    """However few points it brings: a lost cause is worth less than nothing, a sure win a win."""
    network = new_network()
    network["base"] = -1000.0 / SCALE  # points
    for ours, least, most in ((30, -99.0, -1.0), (51, 0.9, 1.0)):
        position = expert_at(BARRIE, {0: "JS JC JC AS AS KS QS AH"}, score=(ours, 30))
        position.agent = ExpertAgent(BARRIE, network=network)
        low = weighed(position.do("pass, pass, pass"))["worth"][1].max()
        assert least < low <= most


@pytest.mark.parametrize("tricks", [(7.0, 7.9, 5.0, 7.5, 4.0), (7.9, 7.0, 5.0, 7.5, 7.95)])
def test_of_strains_as_good_alone_the_one_with_more_tricks_is_best(tricks):
    """Equal chances of all the tricks: the mean of tricks with partner decides, at every exchange.

    A better chance comes before any number of tricks.
    """
    b = new_rows(CALLS, 1)
    b["means"] = tricks
    b["lone"][0, 0] = (1.0, 1.0, 0.2, 1.0, 0.9)
    b["lone"][0, 1] = (0.0, 0.0, 0.0, 0.0, 0.0)
    b["lone"][0, 2] = (0.5, 0.4, 0.6, 0.6, 0.6)
    b["lone"][0, 3] = (0.1, 0.1, 0.1, 0.2, 0.1)
    find_best(b[0])
    most = int(np.argmax(tricks))
    assert b["best_lone"][0].tolist() == [
        int(np.argmax(tricks[:2])),
        most,
        int(np.argmax(tricks[2:])) + 2,
        3,
    ]
    assert b["ranked"][0].tolist() == np.argsort(-np.array(tricks)).tolist()


def test_a_hand_for_all_the_tricks_is_not_left_to_be_outbid():
    """At 48 of 52 four tricks would win, but no low bid stands: the moon is made 98 times in 100.

    Played out over 1,500 deals the low bids never became the contract, and the call for a card was
    outbid in one of five, though by itself it looks safer than the moon.
    """
    for hand in ("JS JS JC AS KS AH AD QS", "JS JS JC JC AS KS QS AH"):
        assert expert_at(BARRIE, {1: hand}, score=(40, 48)).choice() == "bid moon S"


def test_eight_sure_tricks_are_a_moon():
    """Every trump that matters and nothing else: the most there is, from any seat.

    (In clubs, all bowers too, it is made 98 times in 100: in the table as surely as in spades.)
    """
    for calls in ("", "pass", "bid 5 H, pass"):
        seat = 1 + len([call for call in calls.split(",") if call])
        position = expert_at(BARRIE, {seat: "JS JS JC JC AS AS KS KS"})
        choice = (position.do(calls) if calls else position).choice()
        assert choice in ("bid moon S", "bid moon C")
