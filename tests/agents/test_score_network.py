"""The score network: its arithmetic, the games that have one, and calls at known scores."""

from __future__ import annotations

import numpy as np
import pytest
from support.kernels import callable_from_python
from support.positions import BARRIE, CINCINNATI, SIMPLIFIED, Position
from support.weighed_calls import expert_at, weighed

from bideuchre_env import match
from bideuchre_env.agents.data import sealed
from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.agents.expert.auction import CALLS
from bideuchre_env.agents.expert.call_network import load_network
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
    fitted_name,
    rule_table,
    win_table,
)
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import new_rows

weigh_score, score_correction = map(callable_from_python, (weigh_score, score_correction))

QUICK = (0,) * 13  # cards of the rule player
FITTED = ("barrie_v0", "club_v0", "double_deck_v0", "simplified_v0")
TABLE_ALONE = "barrie_v0"


def drawn_network(seed, size=0.3):
    """A network of random numbers."""
    rng, network = np.random.default_rng(seed), new_score_network()
    for part in SCORE_NETWORK.names:
        network[part] = rng.normal(0, size, network[part].shape)
    return network


def expert_by(rules, network=None, **options):
    """An expert with this score network, or without one."""
    agent = ExpertAgent(rules, wanted=QUICK, **options)
    network = new_score_network() if network is None else network
    agent.learned = agent.learned._replace(score=sealed(network))
    return agent


# --- the network -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_score_network_is_its_matrix_products(seed):
    """A rectified layer and a linear path past it, as a chance to win."""
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


def test_the_output_of_the_network_is_added_to_the_worth_of_calls():
    """To every call but a pass that passes the hand out."""
    network = new_score_network()
    network["base"] = 0.25 / SCALE
    for calls, passed_out in (("", False), ("pass, pass, pass", True)):
        position = Position(BARRIE, {1: "JS JS JC AS KS AH AD QS"})
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
def test_inputs_are_the_win_table_at_the_scores_after_the_hand(rules):
    """Of each contract, ours and theirs."""
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
def test_for_points_the_score_network_is_not_used(name):
    rules, rng = RULES[name], np.random.default_rng(4)
    agents = [expert_by(rules, n, goal="points") for n in (None, drawn_network(1, 3.0))]
    for score in ((0, 0), (20, -3)):
        for _ in range(3):
            position = Position(rules, {}, dealer=int(rng.integers(4)), score=score)
            one, other = (weighed(position, agent)["worth"] for agent in agents)
            assert np.array_equal(one, other)


# --- which network a game has -----------------------------------------------------------------


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_variant_has_its_own_network_and_table(name):
    """Also with another limit of hands."""
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
def test_a_game_that_was_not_fitted_has_no_network(rules):
    """With the win table of the rule player's hands."""
    assert fitted_name(rules) is None
    assert len(load_score_network(rules)) == 0
    assert np.array_equal(win_table(rules), rule_table(rules))


def test_networks_are_read_only():
    for network in (load_score_network(BARRIE), load_network(BARRIE)):
        with pytest.raises(ValueError, match="read-only"):
            network["base"] = 1.0


# --- strength, and calls at known scores --------------------------------------------------------


@pytest.mark.parametrize("variant", ["simplified_v0", "double_deck_v0"])
def test_the_score_network_wins_games(variant):
    """Against the win table of the rule player's hands, with the cards of the rule player."""
    rules = RULES[variant]
    plain = expert_by(rules)
    plain.learned = plain.learned._replace(wins=sealed(rule_table(rules)))
    result = match.play(variant, ExpertAgent(rules, wanted=QUICK), plain, games=3000, seed=3)
    assert result.games.win_rate.low > 0.5


ALONE = {bid.name for bid in SIMPLIFIED.lone}


def test_in_the_last_hand_a_side_far_behind_goes_alone_and_others_do_not():
    hand = {0: "JS JS JC AS KS QS AH KH"}
    behind = expert_at(SIMPLIFIED, hand, score=(10, 30), played=3).do("pass, pass, pass")
    assert behind.choice().split()[1] in ALONE
    ahead = expert_at(SIMPLIFIED, hand, score=(45, 20), played=3).do("pass, pass, pass")
    assert ahead.choice() == "pass" or ahead.choice().split()[1] not in ALONE
    level = expert_at(SIMPLIFIED, hand, score=(30, 30), played=3).do("pass, pass, pass")
    assert level.choice().split()[1] not in ALONE
