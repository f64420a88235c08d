"""Unknown keywords and reset options are refused; names of actions and cards in any spelling."""

from dataclasses import fields
from typing import get_args

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.vector import AutoresetMode

import bideuchre_env
from bideuchre_env import Rules, errors
from bideuchre_env.agents.expert.hand_worth import parse_hand
from bideuchre_env.datasets.columns import DatasetKeywords, DatasetOptions, RecorderKeywords
from bideuchre_env.envs import options
from bideuchre_env.errors import OptionError, RulesError, UnknownOptionError, UnknownRuleError
from bideuchre_env.rules import actions
from bideuchre_env.rules.options import GameKeywords
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.devices import DEVICES

game = bideuchre_env.cincinnati_v0
ID = game.gymnasium_id
FACES = {
    "env": game.env,
    "raw_env": game.raw_env,
    "parallel_env": game.parallel_env,
    "solo": game.solo,
    "vec": lambda **options: game.vec(2, **options),
    "solo_vec": lambda **options: game.solo_vec(2, **options),
    "gymnasium.make": lambda **options: gymnasium.make(ID, **options),
    "gymnasium.make_vec": lambda **options: gymnasium.make_vec(ID, num_envs=2, **options),
    "gymnasium.make_vec sync": lambda **options: gymnasium.make_vec(
        ID, num_envs=2, vectorization_mode="sync", **options
    ),
}
if hasattr(pettingzoo, "register"):
    FACES["pettingzoo.make"] = lambda **options: pettingzoo.make(
        "aec", "bideuchre/cincinnati-v0", **options
    )
every_face = pytest.mark.parametrize("face", FACES)


@every_face
def test_unknown_keyword_is_type_error_and_option_error(face):
    """TorchRL expects this message. An invalid value of a known option is no `TypeError`."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'") as caught:
        FACES[face](frameskip=1)
    assert isinstance(caught.value, OptionError)
    assert "of cincinnati_v0; the options are: episode, reward, observation" in str(caught.value)
    with pytest.raises(UnknownOptionError, match=r"'epissode' .*\(did you mean 'episode'\?\)"):
        FACES[face](epissode="hand")
    with pytest.raises(OptionError, match="episode='round': expected one of") as caught:
        FACES[face](episode="round")
    assert not isinstance(caught.value, TypeError)


KEYWORDS = (
    (options.EpisodeKeywords, [options.EpisodeOptions]),
    (options.ViewKeywords, [options.ViewOptions]),
    (options.VecKeywords, [options.VecOptions]),
    (options.SoloKeywords, [options.SoloOptions]),
    (options.SoloVecKeywords, [options.SoloVecOptions]),
    (GameKeywords, [Rules]),
    (options.EnvGameKeywords, [Rules, options.ViewOptions]),
    (options.VecGameKeywords, [Rules, options.VecOptions]),
    (options.SoloGameKeywords, [Rules, options.SoloOptions]),
    (options.SoloVecGameKeywords, [Rules, options.SoloVecOptions]),
    (DatasetKeywords, [DatasetOptions]),
)
WITHOUT = (
    (options.HostVecKeywords, options.VecKeywords, {"device"}),
    (options.HostSoloVecKeywords, options.SoloVecKeywords, {"device"}),
    (options.HostVecGameKeywords, options.VecGameKeywords, {"device"}),
    (options.HostSoloVecGameKeywords, options.SoloVecGameKeywords, {"device"}),
    (RecorderKeywords, DatasetKeywords, {"episode", "reward", "observation"}),
)


def test_typed_keywords_are_the_fields_of_the_options():
    for keywords, classes in KEYWORDS:
        names = {field.name for each in classes for field in fields(each)}
        assert keywords.__optional_keys__ == names
        assert not keywords.__required_keys__
    for keywords, complete, missing in WITHOUT:
        assert keywords.__optional_keys__ == complete.__optional_keys__ - missing
        assert not keywords.__required_keys__
    assert get_args(options.Device) == DEVICES
    assert set(get_args(options.AutoresetName)) == {mode.value for mode in AutoresetMode}


@every_face
def test_unknown_reset_options_are_refused(face):
    env = FACES[face]()
    env.reset(seed=1, options={"score": (3, 4)})
    with pytest.raises(OptionError, match=r"'scroe' of reset \(did you mean 'score'\?\)"):
        env.reset(options={"scroe": (3, 4)})
    with pytest.raises(OptionError, match="unknown option 'x', 7, None of reset"):
        env.reset(options={"x": 1, None: 2, 7: 3, "dealer": 0})


CHANGES = [lambda **options: bideuchre_env.make("cincinnati_v0", **options)]
CHANGES += [lambda **options: bideuchre_env.make(game.rules, **options), game.replace]
CHANGES += [game.rules.replace]


@pytest.mark.parametrize("change", CHANGES)
def test_unknown_rule_is_type_error_and_rules_error(change):
    """An invalid value of a known rule is no `TypeError`."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'") as caught:
        change(frameskip=1)
    assert isinstance(caught.value, RulesError)
    assert "; the options are: ranks, " in str(caught.value)
    with pytest.raises(UnknownRuleError, match=r"'trget' \(did you mean 'target'\?\)"):
        change(trget=1)
    with pytest.raises(RulesError) as caught:
        change(target=-1)
    assert not isinstance(caught.value, TypeError)


CINCINNATI, BARRIE = bideuchre_env.cincinnati_v0, bideuchre_env.barrie_v0
SPELLED = {
    "cincinnati_v0": {
        "pass": ("PASS", " Pass ", "p a s s"),
        "bid 4": ("BID  4", "bid4", "\tbid 4\n"),
        "trump H": ("TRUMP ♥", "trump♡", "trump hearts", "trump ♥️"),
        "trump NT": ("trump no trump", "Trump No-Trump", "trump NoTrumps"),
        "TH": ("10h", "10♥", "T♥", " 10 ♥ ", "t H"),
    },
    "barrie_v0": {
        "bid 4 H": ("bid 4♥", "BID 4 HEARTS", "bid4h"),
        "bid 8 NT": ("bid 8 no trump", "bid 8NT"),
        "bid call-2 S": ("Bid Call-2 ♠", "bid call-2 spades"),
    },
}


@pytest.mark.parametrize("variant", SPELLED)
def test_action_names_are_read_in_any_spelling(variant):
    acts = actions.of(RULES[variant])
    for name, spellings in SPELLED[variant].items():
        for text in (name, *spellings, np.str_(name)):
            assert acts.parse(text) == acts.index[name], text
    for name in acts.names:
        for text in (name.upper(), name.lower(), f"  {name} ", name.replace(" ", "")):
            assert acts.parse(text) == acts.index[name]


def begun(make):
    """A new environment after a reset in which seat 3 deals."""
    env = make()
    env.reset(seed=3, options={"dealer": 3})
    return env


@pytest.mark.parametrize("make", [BARRIE.raw_env, BARRIE.env], ids=["raw", "wrapped"])
def test_step_accepts_a_name(make):
    typed, numbered = begun(make), begun(make)
    for name in ("bid 4 ♥", "Bid 5 hearts", "pass", " PASS "):
        typed.step(name)
        numbered.step(actions.of(BARRIE.rules).parse(name))
    assert typed.unwrapped.record == numbered.unwrapped.record
    assert typed.unwrapped.record.hands[0]["contract"] == "5 H"
    card = typed.unwrapped.action_names[int(typed.last()[0]["action_mask"].argmax())]
    typed.step(f"{card[0].lower()}{dict(zip('CDHS', '♣♦♥♠', strict=True))[card[1]]}")
    assert typed.unwrapped.record.hands[0]["actions"][-1] == card


def test_refused_names_are_reported_with_the_legal_ones():
    env = begun(BARRIE.raw_env)
    env.step("bid 4 H")
    before = env.get_state()
    legal = r"legal: 'pass', 'bid 5 C', 'bid 5 D'"
    for name, error, match in (
        ("bid 4 S", errors.IllegalActionError, "^seat 1 may not choose 'bid 4 S'; " + legal),
        ("jh", errors.IllegalActionError, "^seat 1 may not choose 'JH'; " + legal),
        ("bidd 5 C", errors.OutOfBoundsError, r"\(did you mean 'bid 5 C'\?\); " + legal),
        ("", errors.OutOfBoundsError, "^player_1: '' is no action of this game; " + legal),
        ("\x1b[31m", errors.OutOfBoundsError, r"^player_1: '\\x1b\[31m' is no action"),
    ):
        with pytest.raises(error, match=match) as caught:
            env.step(name)
        assert type(caught.value) is error
        assert (env.get_state() == before).all()


def test_solo_steps_by_name():
    envs = [BARRIE.solo(seat=0, opponents="rule") for _ in range(2)]
    for env in envs:
        env.reset(seed=3, options={"dealer": 3})
    results = [envs[0].step("Bid 8 ♥"), envs[1].step(envs[1].action_names.index("bid 8 H"))]
    np.testing.assert_array_equal(results[0][0]["observation"], results[1][0]["observation"])
    with pytest.raises(errors.OutOfBoundsError, match=r"^'bid 8 X' is no action .*; legal: '"):
        envs[0].step("bid 8 X")
    *_, terminated, _, info = envs[0].step("bid 8 S")  # the auction is over
    assert (terminated, info["illegal"]) == (True, True)


def test_deals_are_read_in_any_spelling():
    plain = begun(CINCINNATI.raw_env)
    deal = plain.record.hands[0]["deal"]
    signs, ten = dict(zip("CDHS", "♣♦♥♠", strict=True)), {"T": "10"}
    spelled = [[ten.get(c[0], c[0].lower()) + signs[c[1]] for c in hand] for hand in deal]
    options = {"dealer": 3, "deal": spelled}
    for make in (CINCINNATI.raw_env, CINCINNATI.env):
        env = make()
        env.reset(seed=1, options=options)
        assert env.unwrapped.record.hands == plain.record.hands
    vec = CINCINNATI.vec(2)
    vec.reset(seed=1, options=options)
    np.testing.assert_array_equal(vec.get_state()["hands"], plain.get_state()["hands"].repeat(2, 0))
    with pytest.raises(errors.DealError, match="deal, seat 0: 'J♥♥' is no card: a rank of"):
        plain.reset(options={"deal": [["J♥♥"], *deal[1:]]})
    hand = parse_hand(["JH", "TH", "AS", "KD", "9C", "QC"], CINCINNATI.rules)
    assert parse_hand("jh 10♥, A♠ k♦ 9c QC", CINCINNATI.rules) == hand
