"""Advice: the agent's choice, figures that a slow count confirms, nothing hidden, true words."""

import json
import re
from math import sqrt

import numpy as np
import pytest
from support.agent_games import decisions, look, met, shipped, start

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env._intervals import Interval
from bideuchre_env.agents.advice import Advisor, advise, advise_row
from bideuchre_env.agents.advice.figures import Counted, effective, error, interval, share
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.advice.words import holding
from bideuchre_env.agents.expert.agent import NO_SEARCH
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import AUCTION, DEAL, GIVING, NAMING, PLAY, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import hand_bits, hand_kinds, parse_card
from bideuchre_env.rules.variants import RULES

ASKED = {
    "rule": "rule",
    "expert": "expert",
    "net": "net",
    "pimc": "pimc:worlds=8,played_out=12",
    "inference": "inference:worlds=8,played_out=12",
}


@pytest.mark.parametrize("name", ASKED)
def test_advice_agrees_with_the_agent_it_is_asked_of(name):
    """In real games of every variant, all phases; and the best comes first, and loses nothing."""
    for variant in shipped(name) if name == "net" else RULES:
        rules = RULES[variant]
        advisor = Advisor(rules, ASKED[name], 4 if name in ("rule", "expert", "net") else None)
        agent = agents.make(ASKED[name], rules, seed=0)
        if name == "inference":
            agent.sampler.list_all_hands()  # as advice does, which is the same search
        for row, mask, state in met(rules, 6, seed=21):
            advice = advisor.of_row(state)
            assert advice.choice.action == agent.act(row, mask), (variant, str(advice))
            assert advice.best is advice.options[0]
            assert (advice.best.loss, advice.best.error) == (0.0, 0.0)
            assert advice.agent == agent.name
            assert advice.seat == state["turn"]
            assert all(mask[option.action] for option in advice.options)
            assert all(option.behind.mean > -1e-12 for option in advice.options)


def test_inference_decides_in_the_deals_that_are_counted():
    """Asked as it is, with its 200 deals: one search gives both, and the worth is its own."""
    rules = RULES["cincinnati_v0"]
    advisor, agent = Advisor(rules), agents.make("inference", rules, seed=0)
    for row, mask, state in met(rules, 4, seed=2):
        advice = advisor.of_row(state)
        assert advice.choice.action == agent.act(row, mask)
        ours, theirs = advisor.searcher.space.plans[0], agent.space.plans[0]
        if theirs["n"] > 1:  # else it has searched nothing
            assert ours["sums"].tobytes() == theirs["sums"].tobytes()
            assert ours["total"] == theirs["total"] >= advice.worlds
    assert advisor.agent is advisor.searcher
    assert advise_row(state, rules, worlds=20).worlds <= 20


def played_out(rules, state, action, n, seed):
    """Points ours minus theirs, tricks, whether it went well, of n deals played out in Python.

    Each hand is drawn alike among those that fit. Of a call the expert plays all seats, of a card
    the net does, both without a search.
    """
    tables, seat, calling = compile_tables(rules), int(state["turn"]), state["phase"] < GIVING
    player = (
        agents.make("expert", rules, wanted=NO_SEARCH) if calling else agents.make("net", rules)
    )
    states = new_states(n)
    states[:] = state
    for i in range(n):
        resample_row(states[i : i + 1], tables, seat, new_redeal(), *split_seed(seed + i))
    apply_rows(states, tables, np.arange(n), np.full(n, action, np.int64))
    while len(live := np.flatnonzero(np.asarray(states["phase"]) < DEAL)):
        apply_rows(states, tables, live, player.act_rows(*look(rules, states, live)))
    side, won = seat & 1, np.asarray(states["tricks_won"])
    points = np.asarray(states["points"]).astype(float)
    declarer, level = np.asarray(states["declarer"]), np.asarray(states["level"])
    need = np.asarray(tables["need"][0])[level]
    made = won[np.arange(n), declarer & 1] >= need
    good = np.where(declarer & 1 == side, made, ~made) * (level >= 0)
    bids = 0 < action < actions.of(rules).trump_offset
    among = declarer == seat if bids else level >= 0
    return points[:, side] - points[:, 1 - side], won[:, side], good[among]


@pytest.mark.parametrize("variant", RULES)
def test_figures_are_those_of_a_slow_count(variant):
    """Points, tricks, and what is made, with all deals alike, nothing solved, in each phase."""
    rules, n = RULES[variant], 300
    advisor = Advisor(rules, f"inference:solved=0,considered=0,worlds={n},played_out=150")
    checked = 0
    for _, _, state in met(rules, 2, seed=31):
        advice = advisor.of_row(state)
        for option in advice.options[:2]:
            points, tricks, good = played_out(rules, state, option.action, n, seed=1000)
            error = sqrt((points.std() ** 2 / n) + (option.points.half / 1.96) ** 2)
            assert abs(points.mean() - option.points.mean) <= 4.5 * error + 1e-9
            if option.made is not None and len(good) >= 30 and option.made.half < 0.15:
                error = sqrt(0.25 / len(good) + (option.made.half / 1.96) ** 2)
                assert abs(good.mean() - option.made.mean) <= 4.5 * error
            if state["phase"] != AUCTION:
                error = tricks.std() * sqrt(2 / n)
                assert abs(tricks.mean() - option.tricks) <= 4.5 * error + 1e-9
            checked += 1
    assert checked >= 6


def test_the_last_cards_are_certain():
    """With one trick left and every card seen, all figures are the end of the hand itself."""
    rules = RULES["cincinnati_v0"]
    tables = compile_tables(rules)
    last = [d for d in decisions(rules, 6, seed=3) if d[2]["trick"] == 5 and d[2]["led"] >= 0]
    ends = 0
    for _, mask, state in last:
        states = new_states(1)
        states[0] = state
        if (state["hands"] > 0).sum() > 1:
            continue
        apply_rows(states, tables, np.arange(1), np.flatnonzero(mask))
        side, points = int(state["turn"]) & 1, states["points"][0]
        best = advise_row(state, rules, worlds=5).best
        assert best.points.mean == points[side] - points[1 - side]
        assert best.tricks == states["tricks_won"][0][side]
        ends += 1
    assert ends > 3


@pytest.mark.parametrize("variant", RULES)
def test_hidden_cards_change_no_advice(variant):
    """Nor the deals to come: not a figure, not a word."""
    rules = RULES[variant]
    advisor, moved = Advisor(rules, worlds=6), 0
    for number, (_, _, state) in enumerate(met(rules, 4, seed=9)):
        twin = new_states(1)
        twin[0] = state
        tables = compile_tables(rules)
        resample_row(twin, tables, int(state["turn"]), new_redeal(), *split_seed(number))
        moved += not np.array_equal(twin[0]["hands"], state["hands"])
        assert advisor.of_row(state) == advisor.of_row(twin[0])
    assert moved > 3


def test_every_source_gives_the_same_advice():
    """An environment, wrapped or not; its observation, as a dict or alone; its row."""
    env = bideuchre_env.barrie_v0()
    env.reset(seed=5)
    for _ in range(3):
        env.step(int(env.last()[0]["action_mask"].nonzero()[0][0]))
    seen = env.last()[0]
    told = advise(env, worlds=10)
    assert told == advise(env.unwrapped, worlds=10) == agents.advise(env, worlds=10)
    assert told == advise_row(env.unwrapped.get_state(), env.unwrapped.rules, worlds=10)
    alone = advise(seen, rules=env.unwrapped.rules, worlds=10)
    assert alone == advise(seen["observation"], rules=env.unwrapped.rules, worlds=10)
    assert (told.seat, alone.seat) == (int(env.agent_selection[-1]), 0)
    assert told.options == alone.options
    assert told.worlds <= 10


def test_an_action_asked_about_is_among_the_options():
    """Whatever it is; but it has to be legal."""
    rules = RULES["barrie_v0"]
    advisor = Advisor(rules, worlds=6)
    for _, mask, state in met(rules, 4, seed=4):
        action = int(np.flatnonzero(mask)[-1])
        assert advisor.of_row(state, [action]).option(action).name
        with pytest.raises(IllegalActionError, match="no legal action"):
            advisor.of_row(state, [int(np.flatnonzero(mask == 0)[0])])
    with pytest.raises(KeyError):
        advisor.of_row(state).option(-1)


def test_calls_that_come_to_mind_are_among_the_options():
    """A pass, and a bid where one may be made."""
    for variant, rules in RULES.items():
        advisor, acts = Advisor(rules, "rule", worlds=4), actions.of(rules)
        for _, mask, state in met(rules, 5, seed=6):
            if state["phase"] == AUCTION:
                tried = {option.action for option in advisor.of_row(state).options}
                assert (0 in tried) == bool(mask[0]), variant
                assert any(0 < action < acts.trump_offset for action in tried) == mask[1:].any()
            if state["phase"] in (NAMING, PLAY):
                tried = {option.action for option in advisor.of_row(state).options}
                assert tried == set(np.flatnonzero(mask))


def test_what_is_wrong_is_said_in_one_line():
    rules = RULES["cincinnati_v0"]
    row, mask, state = decisions(rules, 1, seed=1)[0]
    over = start(rules, 1)
    over["phase"] = DEAL
    wrong = np.ones_like(mask)
    ended = bideuchre_env.cincinnati_v0.raw_env(episode="hand")
    ended.reset(seed=1)
    while (legal := ended.observe(ended.agent_selection)["action_mask"]).any():
        ended.step(int(legal.argmax()))
    cases = [
        (lambda: advise("no table"), "an AEC environment, or an observation"),
        (lambda: advise(row), "ndarray with rules=None: "),
        (lambda: advise(row[:-1], rules=rules), "and shape"),
        (lambda: advise(row.astype(float), rules=rules), "not float64"),
        (lambda: advise({"observation": row, "action_mask": wrong}, rules=rules), "action_mask"),
        (lambda: advise(np.zeros_like(row), rules=rules), "no game of these rules gives it"),
        (lambda: advise(bideuchre_env.barrie_v0(), rules=rules), "has its own"),
        (lambda: advise_row(7, rules), "one row of STATE"),
        (lambda: advise_row(over, rules), "no position of this game"),
        (lambda: advise(ended), "the hand is over: nobody is to act"),
        (lambda: advise_row(start(rules, 2), rules), "one row of STATE"),
        (lambda: advise_row(state, rules, "nobody"), "no agent 'nobody'"),
        (lambda: advise_row(state, rules, worlds=0), "worlds=0"),
        (lambda: advise_row(state, rules, milliseconds=-1), "milliseconds=-1"),
        (lambda: advise_row(state, rules, seed=-1), "seed=-1"),
    ]
    for ask, words in cases:
        with pytest.raises(OptionError) as caught:
            ask()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    class Cheat:
        def act(self, observation, action_mask):
            return int(action_mask.argmin())

    with pytest.raises(IllegalActionError, match="which is not legal"):
        advise_row(state, rules, Cheat())


def test_an_agent_of_ones_own_and_a_limit_of_time():
    rules = RULES["cincinnati_v0"]
    _, mask, state = met(rules, 1, seed=1)[-1]

    def last(observation, action_mask):
        return int(action_mask.nonzero()[0][-1])

    told = advise_row(state, rules, last, milliseconds=5)
    assert told.choice.action == np.flatnonzero(mask)[-1]
    assert told.agent == "last"
    assert told.worlds >= 1


def test_intervals_go_by_the_effective_number_of_deals():
    """A deal that counts four times is no four deals; of one alone nothing is known."""
    values, even, heavy = np.array([1.0, 3.0, 1.0, 3.0]), np.ones(4), np.array([9.0, 1.0, 1.0, 1.0])
    assert effective(even) == 4
    assert effective(heavy) == pytest.approx(144 / 84)
    assert effective(np.zeros(4)) == 0
    assert interval(values, heavy).half > 2 * interval(values, even).half
    assert interval(values, even).mean == 2
    assert effective(even, 2.0) == 2  # worlds of chains: two tell as much as one
    assert interval(values, even, 2.0).half > 2 * interval(values, even).half
    assert share(np.array([1, 0, 1, 0]), even, 2.0).half > share(np.array([1, 0, 1, 0]), even).half
    alone = interval(values, np.array([0.0, 5.0, 0.0, 0.0]))
    assert (alone.mean, alone.low, alone.half) == (3.0, None, np.inf)
    assert share(np.array([1, 0, 1, 0]), heavy).mean == pytest.approx(10 / 12)
    assert share(np.array([1, 0, 1, 0]), np.zeros(4)) is None


def test_where_all_deals_are_tried_figures_are_exact():
    """`alike` is 0 then: intervals have no width, even of one deal, and counts are of deals."""
    values, heavy = np.array([1.0, 0.0, 1.0]), np.array([9.0, 1.0, 1.0])
    assert interval(values, heavy, 0.0) == Interval(10 / 11, 10 / 11, 10 / 11)
    assert share(values, heavy, 0.0) == Interval(10 / 11, 10 / 11, 10 / 11)
    assert error(values, np.array([1.0, 0.0, 0.0]), 0.0) == 0.0
    assert share(values, np.zeros(3), 0.0) is None
    assert Counted([1], np.zeros((3, 1)), heavy, np.zeros((3, 4)), 0.0).effective == 3
    rules, exact = RULES["cincinnati_v0"], 0
    for _, mask, state in decisions(rules, 4, seed=8):
        if state["phase"] != PLAY or state["trick"] < 3 or mask.sum() < 2:
            continue
        told = advise_row(state, rules)
        halves = [option.points.half for option in told.options]
        exact += told.worlds > 1 and max(halves) == 0.0
        assert told.effective <= told.worlds
    assert exact > 2


def test_advice_prints_and_can_be_kept():
    """Three options in 80 columns with why; and as plain JSON."""
    rules = RULES["double_deck_v0"]
    for _, _, state in met(rules, 3, seed=8):
        told = advise_row(state, rules, worlds=5)
        lines = str(told).splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[lines.index("") + 2].startswith(f"{told.best.name}  ")
        assert any(line.startswith(f"{told.choice.name}  ") for line in lines)
        kept = json.loads(json.dumps(told.to_dict(), allow_nan=False))
        assert [each["action"] for each in kept["options"]] == [o.name for o in told.options]
        assert kept["why"] == told.why


# --- why -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "cards", "strain", "words"),
    [
        ("cincinnati_v0", "JH JD AH KH QS 9C", 2,
         "right and left bower with the ace in four hearts, no diamonds"),
        ("cincinnati_v0", "JD AH KH QS 9C AC", 2, "the left bower with the ace in three hearts, "
         "an ace outside, no diamonds"),
        ("cincinnati_v0", "KH 9H QS 9C AC AS", 2, "two hearts to the king, two aces outside, "
         "no diamonds"),
        ("cincinnati_v0", "JH QS 9C AC AS TD", 2, "the right bower alone, two aces outside"),
        ("cincinnati_v0", "9H QS 9C AC AS TD", 2, "only 9H in hearts, two aces outside"),
        ("cincinnati_v0", "QS 9C AC AS TD 9D", 2, "no heart, two aces outside"),
        ("cincinnati_v0", "QS KC AC AS TD 9D", 4, "two aces and a king at no trump"),
        ("barrie_v0", "JS JS JC AS AS KS AH QD", 3,
         "two right bowers and a left bower with two aces in six spades, an ace outside, no clubs"),
    ],
)  # fmt: skip
def test_a_holding_in_words(variant, cards, strain, words):
    kinds = hand_kinds(hand_bits(map(parse_card, cards.split())))
    assert holding(kinds, strain, compile_tables(RULES[variant])[0]) == words


CERTAIN = re.compile(
    r"wins the trick|nothing still out beats it|left, and wins[;:.]|wins: no|take every trick left"
)


@pytest.mark.parametrize("variant", RULES)
def test_sentences_are_true(variant):
    """One sentence each; a trick said to be won is, whatever the others hold and play."""
    rules = RULES[variant]
    tables, rng = compile_tables(rules), np.random.default_rng(1)
    advisor, certain = Advisor(rules, "rule", worlds=4), 0
    found = [d for d in decisions(rules, 6, seed=14) if d[1].sum() > 1]
    for _, mask, state in found[:: max(1, len(found) // 60)]:
        told = advisor.of_row(state)
        assert re.fullmatch(r"[A-Z0-9][^\n]*[a-zA-Z0-9]\)?\.", told.why), told.why
        assert told.why.count("(") == told.why.count(")")
        assert "  " not in told.why
        if state["phase"] != PLAY or not CERTAIN.search(told.why.split(";")[0] + ";"):
            continue
        certain += 1
        [named] = [each for each in told.options if told.why.startswith(each.name)]
        for number in range(12):
            states = new_states(1)
            states[0] = state
            resample_row(states, tables, int(state["turn"]), new_redeal(), *split_seed(number))
            apply_rows(states, tables, np.arange(1), np.array([named.action]))
            while states["trick"][0] == state["trick"] and states["phase"][0] == PLAY:
                legal = np.flatnonzero(look(rules, states, np.arange(1))[1][0])
                apply_rows(states, tables, np.arange(1), rng.choice(legal, 1))
            side = int(state["turn"]) & 1
            won = states["tricks_won"][0][side] - state["tricks_won"][side]
            assert won == 1, (told.why, number)
        assert mask[named.action]
    assert certain > 3


def test_the_only_legal_action_is_called_that():
    rules = RULES["cincinnati_v0"]
    forced = [d for d in decisions(rules, 2, seed=5) if d[1].sum() == 1]
    told = advise_row(forced[0][2], rules, worlds=4)
    assert told.why == "The only legal card."
    assert len(told.options) == 1


class LeadsTheJack:
    """Leads the jack of hearts."""

    def act(self, observation, action_mask):
        return actions.of(RULES["double_deck_v0"]).index["JH"]


def test_more_trumps_than_there_are_words_for():
    """Thirteen of a double deck's fourteen trumps are not seen when one is led."""
    rules = RULES["double_deck_v0"]
    hand = ["JH", "AS", "AS", "KS", "KS", "QS", "QS", "TS", "TS", "9S", "9S", "AC"]
    row = known_position(rules, hand, calls=["1 H", "pass", "pass", "pass"], dealer=3)
    advice = advise_row(row, rules, LeadsTheJack(), worlds=4)
    assert advice.choice.name == "JH"
    assert "13 trumps are not seen yet" in advice.why


def test_an_agent_that_is_given_whole_does_not_lend_its_deals():
    """The seed of the advice fixes the deals, whatever the agent's own is."""
    rules = RULES["cincinnati_v0"]
    row = known_position(rules, ["JH", "JD", "AH", "KH", "QS", "9C"], calls=["pass"])
    mine = agents.make("inference", rules, seed=3)
    one, two = (advise_row(row, rules, mine, seed=seed) for seed in (1, 2))
    assert one.options[0].action == two.options[0].action
    assert {o.points.mean for o in one.options} != {o.points.mean for o in two.options}
