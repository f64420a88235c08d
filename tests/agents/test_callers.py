"""Beliefs about callers: agents or people; the field of outside bidders."""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.agent_games import decisions, searcher
from support.commands import load_scripts
from support.outside_bidders import STYLES, Cautious, Chain, Over, Sound
from support.sessions import begin, play, waits

from bideuchre_env import agents, match
from bideuchre_env.agents.advice import Advisor, advising
from bideuchre_env.agents.advice.advising import hidden_hands
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.expert.decision import weigh_hand
from bideuchre_env.agents.search.agent import CALLERS
from bideuchre_env.agents.search.callers import best_chances, dealt_logs
from bideuchre_env.agents.search.candidates import begin as open_position
from bideuchre_env.agents.search.chains import weigh_draws
from bideuchre_env.agents.search.people import people_chance, strain_share
from bideuchre_env.core.state import AUCTION, new_states, rows_of
from bideuchre_env.errors import OptionError
from bideuchre_env.records.files import read_played
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel

pytestmark = pytest.mark.search

KITTY = RULES["barrie_v0"].replace(kitty=4, partnered=(1, 7))
GAMES = RULES | {"kitty": KITTY}
VARIED = ("cincinnati_v0", "barrie_v0", "pepper_v0", "indiana_v0", "partners_best_v0", "kitty")


@entry_kernel
def chances(space, legal, out):
    """Write the chance of each call by a person with the hand of the open position to `out`.

    Return whether the hand has values; the last entry is the sum of the strains' shares.
    """
    expert, model = space.expert, space.choice_models[0]
    t, calls, total = expert.tables[0], expert.calls[0], 0.0
    if not weigh_hand(expert.views[0], t, expert.learned, expert.scratch[0], calls):
        return False
    for action in range(t.trump_offset):
        if legal >> (1 + t.call_levels[action]) & 1:
            out[action] = people_chance(t, legal, action, calls, model)
    for strain in range(t.n_strains):
        total += strain_share(t, -1, strain, calls, model.taste, model.doubt)
    out[-1] = total
    return True


@pytest.mark.parametrize("game", VARIED)
def test_a_person_makes_one_of_the_legal_calls(game):
    agent, rules, checked = searcher("inference", GAMES[game]), GAMES[game], 0
    acts, every = actions.of(rules), (1 << len(rules.strains)) - 1
    for row, mask, state in decisions(rules, 4, seed=3, hands=2):
        if state["phase"] != AUCTION or not (mask[: acts.trump_offset] > 0).any():
            continue
        open_position(agent.space, row[np.newaxis], mask[np.newaxis], 0)
        t, out = agent.space.expert.tables[0], np.zeros(acts.trump_offset + 1)
        levels = t["call_levels"][: acts.trump_offset]
        legal = int(np.bitwise_or.reduce(1 << (1 + levels[mask[: acts.trump_offset] > 0])))
        assert chances(agent.space, legal, out)
        assert out.min() >= 0.0
        assert out[-1] == pytest.approx(1.0)
        barred = any(t["strain_bits"][level] != every for level in range(int(t["n_levels"])))
        if legal & 1 or not barred:
            assert out[:-1].sum() == pytest.approx(1.0)
        checked += 1
    assert checked > 12


@pytest.mark.parametrize("game", VARIED)
def test_likelihood_of_calls_is_a_mixture_by_seat(game):
    """The dealt hand of a seat is weighed as if the seat were an agent, or a person.

    The chance that it is a person differs by seat.
    """
    rules, n, compared = GAMES[game], 30, 0
    agent = searcher("inference", rules)
    agent.space.choice_models["reads_cards"] = 0
    for row, mask, state in decisions(rules, 3, seed=5, hands=2, every=2):
        if state["phase"] != AUCTION or state["calls_made"] == 0 or mask.sum() < 2:
            continue
        logs, chance = [], np.array([0.1, 0.3, 0.5, 0.8])
        for people in (0.0, 1.0, chance):
            agent.space.choice_models["people"] = people
            agent.open(row[np.newaxis], mask[np.newaxis], 0)
            weigh_draws(agent.space, np.empty(n), 0, n)
            logs.append(agent.space.stored["logs"][:n, 1:].copy())
        by_agents, by_people, by_both = logs
        mixed = np.logaddexp(np.log(1 - chance[1:]) + by_agents, np.log(chance[1:]) + by_people)
        exact = by_both > -15.0  # below, weighing may stop early
        assert by_both[exact] == pytest.approx(mixed[exact], abs=1e-9)
        compared += int((by_agents != by_people).sum())
    assert compared > 100


@pytest.mark.parametrize("part", ["spread", "taste", "own", "lowest", "daring", "doubt"])
def test_a_changed_parameter_of_people_changes_the_likelihoods_of_one_searcher(part):
    """Cached likelihoods are those of the present parameters."""
    agent, changed = searcher("inference", RULES["barrie_v0"]), False
    agent.expect_people()
    models, usual = agent.space.choice_models, agent.space.choice_models[part].copy()
    for row, mask, state in decisions(RULES["barrie_v0"], 3, seed=5, hands=2):
        if state["phase"] != AUCTION or state["calls_made"] == 0 or mask.sum() < 2:
            continue
        logs = []
        for value in (usual, 0.5 * usual):
            models[part] = value
            agent.open(row[np.newaxis], mask[np.newaxis], 0)
            weigh_draws(agent.space, np.empty(30), 0, 30)
            logs.append(agent.space.stored["logs"][:30, 1:].copy())
        changed |= (logs[0] != logs[1]).any()
    assert changed


def test_option_callers():
    rules, default = RULES["cincinnati_v0"], searcher("inference", RULES["cincinnati_v0"])
    for callers, people in CALLERS.items():
        agent = agents.make(f"pimc:callers={callers}", rules, seed=1)
        agent.expect_people()
        assert (agent.space.choice_models["people"] == people).all()
    assert (default.space.choice_models["people"] == 0.0).all()
    default.expect_people()
    assert (default.space.choice_models["people"] == CALLERS["people"]).all()
    with pytest.raises(OptionError, match=r"callers='dogs': expected agents, people or None"):
        agents.make("inference:callers=dogs", rules)


@pytest.mark.parametrize(
    ("name", "callers"),
    [("inference", "people"), ("inference:goal=points", "people"), ("rule", "people"),
     ("inference:callers=agents", "agents"), ("pimc:callers=agents", "agents"),
     ("player:calls=inference:callers=agents,cards=rule", "agents"),
     ("player:calls=rule,cards=pimc", "people")],
)  # fmt: skip
def test_advice_believes_in_people_unless_the_option_is_set(name, callers):
    advisor = Advisor(RULES["cincinnati_v0"], name)
    assert (advisor.people == CALLERS[callers]).all()
    row = known_position(RULES["cincinnati_v0"], ["JS", "AS", "KS", "QH", "TH", "9C"], calls=["4"])
    advisor.of_row(row)
    assert (advisor.searcher.space.choice_models["people"] == CALLERS[callers]).all()


def believed(agent):
    return agent.space.choice_models["people"][0].tolist()


def test_agents_at_a_table_with_people_believe_in_people_at_their_seats():
    """Beliefs are by relative seat: those of seat 3 begin with seat 3."""
    agents = ("player:calls=inference,cards=rule", ["inference:callers=agents", "pimc"])
    session = begin(people=(0,), agents=agents)
    own = session._players._agents
    assert believed(own[1]) == [0.0] * 4
    assert believed(own[2].parts[0]) == [0.0, 0.0, 0.9, 0.0]
    assert believed(own[3]) == [0.0, 0.9, 0.0, 0.0]
    session = play(begin(people=(0, 2)), stop=waits)
    session.advice("pimc")
    advisor = session._players._advisers["pimc"]
    assert advisor.people.tolist() == [0.9, 0.0, 0.9, 0.0]
    expected = np.roll(advisor.people, -session.seat).tolist()
    assert believed(advisor.searcher) == believed(advisor.agent) == expected


def test_hints_forget_an_undone_hand(monkeypatch):
    """A hand that is played again is learned once, and another way to play it replaces it."""

    def learned(session):
        play(session, stop=lambda game: game.hand == 2 and game.waits_for_person)
        session.advice()
        return session._players._advisers["inference"].people.tolist()

    def back(session):
        while session.hand > 1 or session.row["calls_made"] > 3:
            session.undo()
        return session

    monkeypatch.setattr(advising, "LEAST_DOUBT", 1e-9)  # so that different evidence shows
    session = begin("barrie_v0", agents=("rule", ["rule", "rule"]))
    play(session, stop=waits)
    session.act(0, "pass")
    passed = learned(session)
    back(session).act(0, session.legal()[-1])
    other = learned(session)
    assert other != passed
    back(session).act(0, "pass")
    assert learned(session) == passed
    assert passed[0] != 0.9
    assert passed[1:] == [0.0] * 3


def test_advice_learns_from_finished_hands_who_calls_like_people(tmp_path):
    """After six hands of a game Chain is taken for a person (0.8 in the mean), expert not (0.2)."""
    rules, file, learned = RULES["barrie_v0"], tmp_path / "games.jsonl", {"Chain": [], "expert": []}
    match("barrie_v0", Chain, "expert", boards=0, games=10, seed=2, records=file)
    for record, hands in read_played(file):
        advisor, sure = Advisor(rules), Advisor(rules, "inference:callers=agents")
        for hand in hands[:6]:
            for each in (advisor, sure):
                each.learn(rows_of([hand.dealt]), hand.actions)
        assert (sure.people == 0.0).all()
        for name, people in zip(record.agents, advisor.people, strict=True):
            learned[name].append(people)
    assert np.mean(learned["Chain"]) > 0.6 > 0.4 > np.mean(learned["expert"])


def test_after_an_exchange_advice_learns_only_from_hands_that_were_seen(tmp_path):
    """Chances of declarer and partner then change equally: by the calls of the opponents."""
    file, differ, exchanged = tmp_path / "games.jsonl", 0, 0
    match("club_v0", Over, "rash", boards=0, games=4, seed=2, records=file)
    advisor = Advisor(RULES["club_v0"])
    for _, hands in read_played(file):
        for hand in hands:
            ended = hand.ended[0]
            if ended["level"] < 0:
                continue
            advisor.people[:], declarer = CALLERS["people"], int(ended["declarer"])
            advisor.learn(rows_of([hand.dealt]), hand.actions)
            equal = advisor.people[declarer] == advisor.people[declarer ^ 2]
            if ended["given"][0] >= 0:
                assert equal
                exchanged += 1
            else:
                differ += not equal
    assert exchanged
    assert differ


@pytest.mark.parametrize(
    ("game", "level", "hidden"),
    [("barrie_v0", 3, []), ("barrie_v0", 8, [1, 3]), ("barrie_v0", 10, []),
     ("kitty", 3, [1]), ("kitty", 9, [1, 3]), ("cincinnati_v0", 6, [])],
)  # fmt: skip
def test_hands_that_the_others_cannot_deduce_after_the_play(game, level, hidden):
    """After an exchange or a kitty; partner's hand also if it sits out and not all is dealt."""
    state = new_states(1)
    state["declarer"], state["level"] = 1, level
    assert np.flatnonzero(hidden_hands(state[0], GAMES[game])).tolist() == hidden


def test_unlikely_calls_are_reported_as_unexplained():
    """No seat bids a moon in spades without a bower, an ace or a king of spades."""
    rules, own = RULES["barrie_v0"], ["JS", "JS", "JC", "AS", "AS", "KS", "KS", "JC"]
    row = known_position(rules, own, calls=["moon S", "pass"], dealer=3, seat=2)
    advice = Advisor(rules).of_row(row)
    assert advice.unexplained == (0,)
    assert json.loads(json.dumps(advice.to_dict()))["unexplained"] == [0]
    assert advice.headline.endswith("seat 0 are unlikely with every hand in the deals tried.")
    row = known_position(rules, own, calls=["3 H", "pass"], dealer=3, seat=2)
    assert Advisor(rules).of_row(row).unexplained == ()


def test_several_calls_of_a_seat_count_by_their_geometric_mean():
    rules = RULES["barrie_v0"].replace(auction="until_passes")
    agent, several = searcher("inference", rules), 0
    for row, mask, state in decisions(rules, 4, seed=3, hands=2):
        if state["phase"] != AUCTION:
            continue
        agent.open(row[np.newaxis], mask[np.newaxis], 0)
        space, chances, logs = agent.space, np.ones(4), np.zeros(4)
        hands = np.roll(state["hands"], -int(state["turn"]))
        best_chances(space, hands[np.newaxis], chances)
        dealt_logs(space, hands, logs)
        calls = np.log(chances[1:]) != 0.0
        ratio = logs[1:][calls] / np.log(chances[1:][calls])
        assert ratio == pytest.approx(np.round(ratio))
        several += int((ratio > 1.5).sum())
    assert several


def test_calls_are_unexplained_if_they_are_so_in_all_trials():
    rules = RULES["cincinnati_v0"]
    advisor = Advisor(rules, worlds=4)
    row = known_position(rules, ["JS", "AS", "KS", "QH", "TH", "9C"], calls=["4"])
    trial = advisor.try_row(row)
    trials = [replace(trial, unexplained=seats) for seats in ((2, 3), (3,))]
    assert advisor.advice(trials).unexplained == (3,)


def test_lowest_raise_of_partners_suit_is_tried():
    rules = RULES["barrie_v0"]
    own = ["JD", "JD", "AD", "KD", "AC", "AC", "QH", "QS"]
    row = known_position(rules, own, calls=["3 S", "4 C"], dealer=3, seat=2)
    assert "bid 5 S" in {option.name for option in Advisor(rules, worlds=20).of_row(row).options}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("game", VARIED)
def test_outside_bidders_play_all_games(game, style):
    match(GAMES[game], style, "random", boards=6, seed=1)


def test_outside_bidders_differ():
    """Cautious makes more of its contracts than Sound, and Sound more than Over."""
    made = []
    for style in (Cautious, Sound, Over):
        result = match("barrie_v0", style, "cautious", boards=60, seed=1).to_dict()
        contracts = result["contracts"][style.__name__]
        made.append(contracts["made"] / contracts["bid"])
    assert made == sorted(made, reverse=True)


@pytest.mark.slow
def test_belief_in_people_is_worth_more_than_in_agents_against_outside_bidders():
    """Their true hands are likelier than uniform deals, by 0.9 and 1.3 nats.

    Among agents they are less likely, by 2.0 and 2.6 nats. With 20 positions the standard error is
    about 0.5 for agents, 0.3 for people.
    """
    rules = RULES["barrie_v0"]
    with load_scripts("experiments", "callers") as [study]:
        players = [agents.agent_of(style, rules, seed=0) for style in STYLES]
        args = study.Args(positions=20)
        rows = {(row["stage"], row["callers"]): row for row in study.nats(rules, players, args)}
    for stage in study.STAGES:
        assert rows[stage, "people"]["nats"]["mean"] > 0.0
        assert rows[stage, "agents"]["nats"]["mean"] < -0.5
