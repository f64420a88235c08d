"""What the score makes of a call: the network's arithmetic, its file, and calls at known scores."""

from __future__ import annotations

import zipfile
from importlib import resources

import numpy as np
import pytest
from support.kernels import callable_from_python
from support.positions import BARRIE, CINCINNATI, SIMPLIFIED, Position
from support.weighed_calls import expert_at

from bideuchre_env import match
from bideuchre_env.agents.data import sealed
from bideuchre_env.agents.expert.agent import ExpertAgent, weigh_hand
from bideuchre_env.agents.expert.auction import CALLS, weigh_calls
from bideuchre_env.agents.expert.score_network import (
    CALL_TOLD,
    HIDDEN,
    LIFT,
    N_SCORE,
    N_TABLE_TOLD,
    SCALE,
    SCORE_NETWORK,
    fitted_score_network,
    load_score_network,
    new_score_network,
    score_correction,
    weigh_score,
)
from bideuchre_env.agents.expert.win_table import (
    ALMOST,
    FILE,
    fitted_name,
    provenance,
    rule_table,
    win_table,
)
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.learning.view import read_view
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

weigh_score, score_correction = map(callable_from_python, (weigh_score, score_correction))

QUICK = (0,) * 13  # cards played by the rules alone
FITTED = ("barrie_v0", "club_v0", "double_deck_v0", "simplified_v0")
TABLE_ALONE = "barrie_v0"


def drawn_network(seed, size=0.3):
    """A network of random numbers."""
    rng, network = np.random.default_rng(seed), new_score_network()
    for part in SCORE_NETWORK.names:
        network[part] = rng.normal(0, size, network[part].shape)
    return network


def expert_by(rules, network=None, **options):
    """An expert by this network of scores, or by none."""
    agent = ExpertAgent(rules, wanted=QUICK, **options)
    network = new_score_network() if network is None else network
    agent.learned = agent.learned._replace(score=sealed(network))
    return agent


@entry_kernel
def weigh_first(rows, masks, work):
    """Weigh every legal call of the first row."""
    t, view, calls = work.tables[0], work.views[0], work.calls[0]
    read_view(row_of(rows, 0), t, work.offsets[0], view)
    if weigh_hand(view, t, work.learned, work.scratch[0], calls):
        weigh_calls(view, t, work.learned, call_bits(view, row_of(masks, 0), t), calls)


def weighed(position, agent):
    """The `CALLS` record after every legal call was weighed by the agent."""
    work, (row, mask) = agent.workspace(), position.look()
    weigh_first(row[np.newaxis], mask[np.newaxis], work)
    return work.calls[0]


# --- the network -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_kernels_say_what_plain_matrix_products_say(seed):
    """A layer of rectified sums and a straight way past it, as a chance to win."""
    network, rng = drawn_network(seed), np.random.default_rng(seed)
    n, calls = network[0], new_rows(CALLS, 1)
    x = rng.normal(0, 1, N_SCORE)
    for turn in range(3):  # other calls at the same table
        x[CALL_TOLD:] = rng.normal(0, 1, N_SCORE - CALL_TOLD)
        calls["score_inputs"] = x
        if turn == 0:
            weigh_score(n, calls[0])
        hidden = np.maximum(x @ network["first"][0] + network["first_base"][0], 0)
        said = hidden @ network["last"][0] + x @ network["straight"][0] + network["base"][0]
        assert hidden.shape == (HIDDEN,)
        assert score_correction(n, calls[0]) == pytest.approx(SCALE * said, rel=1e-4, abs=1e-4)


def test_a_network_adds_what_it_says_to_what_the_formula_promises():
    """Of every call but a pass after which nobody has bid, where nothing happens."""
    network = new_score_network()
    network["base"] = 0.25 / SCALE
    for calls, passed_out in (("", False), ("pass, pass, pass", True)):
        position = Position(BARRIE, {1: "JS JS JC AS KS AH AD QS"})
        if calls:
            position.do(calls)
        plain, more = (
            weighed(position, expert_by(BARRIE, n))["worth"][: 1 + len(BARRIE.ladder)].copy()
            for n in (None, network)
        )
        found = plain > -1.0
        gain = np.where(found, more - plain, 0.0)
        assert gain[0, 0] == pytest.approx(0.0 if passed_out else 0.25, abs=1e-6)
        if not passed_out:  # the last to speak is bounded by what the bid may come to
            assert gain[1:][found[1:]] == pytest.approx(0.25, abs=1e-6)


@pytest.mark.parametrize("rules", [SIMPLIFIED, BARRIE, CINCINNATI])
def test_the_ends_of_a_hand_are_read_from_the_table_of_scores(rules):
    """What every trick made with partner, first of our bid and then of theirs, does to the game."""
    for score, played in (((4, 10), 1), ((20, 12), 2)):
        position = Position(rules, {}, score=score, played=played)
        agent = expert_by(rules)
        calls, wins, n = weighed(position, agent), agent.learned.wins, rules.tricks
        ours, theirs = score[1], score[0]  # seat 1 is to speak

        def chance(more, others, wins=wins, ours=ours, theirs=theirs, played=played):
            if rules.win_rule == "rounds":
                lead = wins.shape[1] // 2 + ours + more - theirs - others
                return wins[4 - played - (more + others > 0), lead, 0]
            return wins[0, rules.target - 1 - ours - more, rules.target - 1 - theirs - others]

        now = chance(0, 0)
        told = calls["score_inputs"][N_TABLE_TOLD:]
        assert calls["now"] == pytest.approx(now, abs=0.003)  # a point is worth a little in itself
        for short in range(3):
            won = n - short * (n // 4)
            for at, (us, them) in ((short, (won, n - won)), (8 + short, (n - won, won))):
                assert told[at] == pytest.approx(LIFT * (chance(us, them) - calls["now"]), abs=1e-4)


@pytest.mark.parametrize("name", FITTED)
def test_for_points_no_network_of_scores_is_asked(name):
    """Whatever it says, every call is worth the same."""
    rules, rng = RULES[name], np.random.default_rng(4)
    agents = [expert_by(rules, n, goal="points") for n in (None, drawn_network(1, 3.0))]
    for score in ((0, 0), (20, -3)):
        for _ in range(3):
            position = Position(rules, {}, dealer=int(rng.integers(4)), score=score)
            one, other = (weighed(position, agent)["worth"] for agent in agents)
            assert np.array_equal(one, other)


# --- the file ----------------------------------------------------------------------------------


def test_the_file_says_how_it_was_made():
    assert sorted(provenance()) == sorted(FITTED)
    for told in provenance().values():
        assert told["script"] == "experiments/fitting/fit_score_network.py"
        assert set(told) == {"script", "played", "hands", "rounds", "seed"}


def test_the_file_is_small_whole_and_holds_no_pickles():
    path = resources.files("bideuchre_env.agents.data").joinpath(FILE)
    with path.open("rb") as file, zipfile.ZipFile(file) as members:
        assert sum(member.compress_size for member in members.infolist()) < 200_000
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)
    for name in FITTED:
        for part in SCORE_NETWORK.names:
            network = fitted_score_network(name)[part]
            assert np.isfinite(network).all()
            assert np.any(network != 0) == (name != TABLE_ALONE), (name, part)


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_game_goes_by_its_own_numbers(name):
    """Of chances; a game that only is cut off elsewhere by the same."""
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
    [
        RULES["six_card_v0"],
        BARRIE.replace(target=50),
        CINCINNATI,
        SIMPLIFIED.replace(rounds=2),
    ],
)
def test_another_game_stands_by_the_formula(rules):
    """And by the hands of the rule player."""
    assert fitted_name(rules) is None
    assert len(load_score_network(rules)) == 0
    assert np.array_equal(win_table(rules), rule_table(rules))


def test_the_numbers_cannot_be_written_to():
    """They are shared by all agents of a game."""
    with pytest.raises(ValueError, match="read-only"):
        load_score_network(BARRIE)["base"] = 1.0


# --- strength, and calls at known scores --------------------------------------------------------


@pytest.mark.parametrize("variant", ["simplified_v0", "barrie_v0", "double_deck_v0"])
def test_the_score_is_worth_its_numbers(variant):
    """More games than the formula by the hands of the rule player, cards by the rules alone."""
    rules = RULES[variant]
    plain = expert_by(rules)
    plain.learned = plain.learned._replace(wins=sealed(rule_table(rules)))
    result = match.play(variant, ExpertAgent(rules, wanted=QUICK), plain, games=3000, seed=3)
    assert result.games.win_rate.low > 0.5


ALONE = {bid.name for bid in SIMPLIFIED.lone}


def test_far_behind_in_the_last_hand_only_a_lone_bid_wins():
    """20 points behind, eight tricks with partner are not enough; a good hand is played alone."""
    hand = {0: "JS JS JC AS KS QS AH KH"}
    behind = expert_at(SIMPLIFIED, hand, score=(10, 30), played=3).do("pass, pass, pass")
    assert behind.choice().split()[1] in ALONE
    level = expert_at(SIMPLIFIED, hand, score=(30, 30), played=3).do("pass, pass, pass")
    assert level.choice().split()[1] not in ALONE


@pytest.mark.parametrize("hand", ["JS JS JC AS KS QS AH KH", "JS JC AS KS QS AH AH KD"])
def test_far_ahead_in_the_last_hand_nobody_plays_alone(hand):
    """25 points ahead, any safe bid keeps the others from theirs."""
    position = expert_at(SIMPLIFIED, {0: hand}, score=(45, 20), played=3).do("pass, pass, pass")
    choice = position.choice()
    assert choice == "pass" or choice.split()[1] not in ALONE
