"""Invalid arguments of every environment raise an error that names the value; nothing changes."""

import copy
import math

import numpy as np
import pytest
from support.playthroughs import (
    VARIANTS,
    Chooser,
    finish,
    legal_names,
    plies,
    row_bytes,
    same,
    snapshot,
    start,
)

import bideuchre_env
from bideuchre_env import GameRecord, agents, errors
from bideuchre_env._checks import brief
from bideuchre_env.rules.cards import STRAIN_WORDS, hand_names

HUGE = 10**5000  # more digits than Python converts to text
GAME = bideuchre_env.cincinnati_v0
FACES = {
    "raw_env": GAME.raw_env,
    "env": GAME.env,
    "vec": lambda: GAME.vec(3),
    "solo": GAME.solo,
    "solo_vec": lambda: GAME.solo_vec(3),
}


def label(value):
    """A short test id for values that pytest cannot name itself."""
    return ascii(brief(value)).strip("'\"")[:40]


def assert_refused(env, error, match, call, *arguments, **keywords):
    """Fail unless the call raises exactly this error and leaves the environment unchanged."""
    before = snapshot(env)
    with pytest.raises(errors.BidEuchreError, match=match) as caught:
        call(*arguments, **keywords)
    assert type(caught.value) is error
    assert len(str(caught.value)) < 3000
    assert same(snapshot(env), before)


def positions(name):
    """Yield a copy of a game at its first decision in each phase."""
    env, phases = start(name, 12, max_hands=40), set()
    for _ in plies(env, Chooser(12)):
        phase = int(env._states[0]["phase"])
        if phase not in phases:
            phases.add(phase)
            yield env.clone()


NOT_NUMBERS = [True, np.bool_(True), 1.0, math.nan, math.inf, b"1", None, [1], (1,), {}, {3}, 1j]
NOT_NUMBERS += [np.array([1]), np.array([[1, 2]]), np.array(1.0), np.array(True), np.zeros(0, int)]
NOT_NUMBERS += [np.ma.array(1, mask=True), np.ma.array(1), np.ma.masked, object()]
NOT_NUMBERS += [np.array(None, object), np.datetime64("2026-01-01")]


@pytest.mark.parametrize("name", VARIANTS)
def test_an_action_that_is_no_number_in_range_is_refused(name):
    for env in positions(name):
        n = len(env.action_names)
        for action in NOT_NUMBERS:
            kind = type(action).__name__
            match = rf"(?s){env.agent_selection}: action .* is {kind}: expected a whole number"
            assert_refused(env, errors.OutOfBoundsError, match, env.step, action)
        for action in (-1, n, -n, 2**31, -(2**31), 2**63, HUGE, np.int64(-1), np.uint64(2**63)):
            match = f"{env.agent_selection}: action .* is out of range: 0 to {n - 1}"
            assert_refused(env, errors.OutOfBoundsError, match, env.step, action)


@pytest.mark.parametrize("name", VARIANTS)
def test_illegal_actions_are_refused_with_the_legal_ones(name):
    for env in positions(name):
        legal = legal_names(env)
        listed = "legal: " + ", ".join(map(repr, legal))
        before = row_bytes(env)
        for number, action in enumerate(env.action_names):
            if action not in legal:
                with pytest.raises(errors.IllegalActionError) as caught:
                    env.step(number)
                row, seat = env._states[0], int(env.agent_selection[-1])
                led = row["led"] >= 0 and action in hand_names(int(row["hands"][seat]))
                why = f", because {STRAIN_WORDS[row['led']]} were led" if led else ""
                expected = f"seat {seat} may not choose {action!r}{why}; {listed}"
                assert str(caught.value) == expected
                assert row_bytes(env) == before


def test_an_illegal_card_is_refused_with_the_suit_led():
    env = bideuchre_env.cincinnati_v0.raw_env()
    deal = ["AS KS QS TS 9S AH", "JS AC KC QC TC 9C", "JC KH QH JH TH 9H", "AD KD QD JD TD 9D"]
    env.reset(options={"dealer": 3, "deal": [hand.split() for hand in deal]})
    for action in ("bid 3", "pass", "pass", "pass", "trump D", "AS"):
        env.step(env.action_names.index(action))
    for action, why in (("AC", ", because spades were led"), ("KS", "")):
        words = f"seat 1 may not choose '{action}'{why}; legal: 'JS'"
        with pytest.raises(errors.IllegalActionError, match=f"^{words}$"):
            env.step(env.action_names.index(action))


@pytest.mark.parametrize("face", FACES)
def test_first_reset_refuses_unusable_options(face):
    env = FACES[face]()
    with pytest.raises(errors.OptionError, match=r"options='x': expected a mapping as .*, or None"):
        env.reset(options="x")
    env.reset(seed=1, options={})


def test_no_step_before_a_reset_or_after_the_end():
    env = bideuchre_env.club_v0.raw_env(max_hands=1)
    with pytest.raises(errors.IllegalActionError, match=r"no game in progress: call reset\(\)"):
        env.step(0)
    env.reset(seed=0)
    finish(env, Chooser(0))
    with pytest.raises(ValueError, match="None"):
        env.step(0)  # PettingZoo's own words for an agent that is done
    for _ in range(4):
        env.step(None)
    with pytest.raises(errors.IllegalActionError, match=r"no game in progress: call reset\(\)"):
        env.step(None)


@pytest.mark.parametrize("agent", ["player_4", "north", 0, None, ["player_0"]])
def test_observing_an_unknown_agent_is_refused(agent):
    env = start("club_v0", 1)
    assert_refused(
        env, errors.OptionError, "agent=.*: expected one of player_0", env.observe, agent
    )


def bad_resets():
    """Invalid arguments of `reset`, each with the class and a part of the message of its error."""
    names = [rank + suit for rank in "9TJQKA" for suit in "CDHS"]
    good = [names[seat * 6 : seat * 6 + 6] for seat in range(4)]

    def changed(seat, place, card):
        deal = copy.deepcopy(good)
        deal[seat][place] = card
        return deal

    deals = [
        *((deal, "four lists of card names, by seat") for deal in (good[:3], [*good, []], "9C", 7)),
        ([*good[:3], " ".join(good[3])], "seat 3: .*: expected a list"),
        ([*good[:3], good[3][:5]], "seat 3: 5 cards: expected 6"),
        ([good[0] + good[3][:1], *good[1:3], good[3][1:]], "seat 0: 7 cards"),
        (changed(2, 3, "AS"), ". times: expected . in this deck"),
    ]
    cards = ("1C", "9X", "C9", "", "100C", "joker", None, 9, ["9C"], "9C9C", "♣", HUGE)
    deals += [(changed(1, 5, card), "seat 1: .* is no card") for card in cards]
    scores = [[1], [1, 2, 3], 5, "12", [1.0, 2.0], [True, False], [None, None], {0: 1, 1: 2}]
    scores += [[10**15 + 1, 0], [0, -(10**15) - 1], [HUGE, 0], np.zeros((2, 2), int), np.array(0)]
    dealers = (-1, 4, HUGE, True, 1.0, "1", [1], math.nan, np.array([1]))
    seeds = (-1, 2**128, HUGE, -HUGE, True, 1.0, "1", [1], np.array([1, 2]))
    mappings = (5, 0, "dealer", "", [1], [], ("dealer", 0), True, {1}, ...)
    for deal, match in deals:
        yield {"options": {"deal": deal}}, errors.DealError, match
    for dealer in dealers:
        match = "dealer .*: expected a seat from 0 to 3"
        yield {"options": {"dealer": dealer}}, errors.DealError, match
    for score in scores:
        match = r"(?s)score .*: expected two whole numbers of at most"
        yield {"options": {"score": score}}, errors.DealError, match
    for seed in seeds:
        yield {"seed": seed}, errors.OptionError, r"seed=.*from 0 to 2\*\*128 - 1"
    for options in mappings:
        match = r"options=.*: expected a mapping as .*, or None"
        yield {"options": options}, errors.OptionError, match
    yield {"seed": 5, "options": {"dealer": 2, "score": [1]}}, errors.DealError, "score"


@pytest.mark.parametrize(("call", "error", "match"), list(bad_resets()), ids=label)
def test_unusable_resets_are_refused(call, error, match):
    env = start("cincinnati_v0", 1)
    assert_refused(env, error, match, env.reset, **call)


@pytest.mark.parametrize("seat", [-1, 4, True, 1.0, "1", math.nan])
def test_redeals_for_no_seat_are_refused(seat):
    env, rng = start("six_card_v0", 1), np.random.default_rng(0)
    match = "seat .*: expected a seat from 0 to 3"
    assert_refused(env, errors.DealError, match, env.resample_hidden, seat, rng)


def test_nothing_but_reset_works_before_the_first_reset():
    env, solo = GAME.raw_env(render_mode="ansi"), GAME.solo(render_mode="ansi")
    vec, rows, one = GAME.vec(2), GAME.solo_vec(2, render_mode="ansi"), np.array([True, False])
    reads = [env.last, env.state, env.get_state, env.render, env.agent_iter]
    reads += [lambda: env.observe("player_0")]
    reads += [lambda: env.resample_hidden(0, np.random.default_rng(1))]
    reads += [vec.sample, vec.state, vec.get_state, lambda: vec.observe(0)]
    reads += [lambda: vec.reset(mask=one), lambda: vec.set_deal([[["AH"]] * 4] * 2)]
    reads += [solo.action_masks, solo.render, lambda: solo.seat]
    reads += [rows.action_masks, rows.render, lambda: rows.seats]
    reads += [lambda: rows.reset(options={"reset_mask": one})]
    for read in reads:
        with pytest.raises(errors.OptionError, match=r"first reset|reset\(\) first"):
            read()
    for step in (lambda: vec.step([0, 0]), lambda: solo.step(0), lambda: rows.step([0, 0])):
        with pytest.raises(errors.IllegalActionError, match="reset"):
            step()
    rows.reset(seed=[None, 3])
    assert len(rows.render()) == 2
    assert rows.reset()[1]["seat"].tolist() == rows.seats.tolist()


def test_a_clone_does_not_print(capsys):
    env = start("cincinnati_v0", 1, render_mode="human")
    twin = env.clone()
    twin.step("pass")
    assert capsys.readouterr().out == ""
    env.step("pass")
    assert "score" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["\x1b[31mred", "two\nlines", "x" * 81, "", "\ud800", 5])
def test_unprintable_names_of_agents_are_refused(name):
    data = start("cincinnati_v0", 1).record.to_dict() | {"agents": ["rule", name, "rule", "rule"]}
    with pytest.raises(errors.RecordError, match="printable"):
        GameRecord.from_dict(data)
    with pytest.raises(errors.OptionError, match="printable"):
        agents.register(name, lambda rules, seed=None: None)
    agent = agents.make("random", GAME.rules, seed=1)
    agent.name = name
    with pytest.raises(errors.OptionError, match="printable"):
        bideuchre_env.match("cincinnati_v0", agent, "random", boards=1)


LEGAL = [1, 1, 1]  # the first bid, which the eldest hand may always make
MASKED = np.ma.array(LEGAL, mask=[False, True, False])
REFUSED = [MASKED, np.ma.array(LEGAL), np.array(LEGAL, object), np.array([True] * 3), [1, True, 1]]
REFUSED += [np.array(LEGAL, float), np.array([(1,)] * 3, [("action", int)]), [1, 1], {1, 2, 3}]
ACCEPTED = [LEGAL, tuple(LEGAL), np.array(LEGAL, ">i4"), np.array(LEGAL, ">u8")]
ACCEPTED += [np.array(LEGAL, np.uint8), np.array([1, 0, 1, 0, 1, 0])[::2], np.array(LEGAL)[::-1]]
ACCEPTED += [np.broadcast_to(np.int16(1), 3)]


@pytest.mark.parametrize("face", ["vec", "solo_vec"])
def test_actions_of_rows_are_whole_numbers_of_any_layout(face):
    env = FACES[face]()
    env.reset(seed=1)
    before = env._rows.states.tobytes()
    for actions in REFUSED:
        with pytest.raises(errors.IllegalActionError, match=r"^actions"):
            env.step(actions)
        assert env._rows.states.tobytes() == before
    env.step(np.array(LEGAL))
    expected = env._rows.states.tobytes()
    for actions in ACCEPTED:
        env.reset(seed=1)
        env.step(actions)
        assert env._rows.states.tobytes() == expected
