"""An unknown keyword is refused as a function's own would be, for trainers that try some."""

from dataclasses import fields
from typing import get_args

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.vector import AutoresetMode

import bideuchre_env
from bideuchre_env import Rules
from bideuchre_env.envs import options
from bideuchre_env.errors import OptionError, RulesError, UnknownOptionError, UnknownRuleError
from bideuchre_env.rules.options import GameKeywords
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


@pytest.mark.parametrize("face", FACES)
def test_an_unknown_keyword_is_a_type_error_too(face):
    """In the words that TorchRL looks for, and still an `OptionError` that says what there is."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'") as caught:
        FACES[face](frameskip=1)
    assert isinstance(caught.value, OptionError)
    assert "of cincinnati_v0; the options are: episode, reward, observation" in str(caught.value)
    with pytest.raises(UnknownOptionError, match=r"'epissode' .*\(did you mean 'episode'\?\)"):
        FACES[face](epissode="hand")


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
)


@pytest.mark.parametrize(("keywords", "classes"), KEYWORDS)
def test_type_checkers_see_every_option(keywords, classes):
    """The keys of the typed keywords are the fields of the options that they stand for."""
    names = {field.name for each in classes for field in fields(each)}
    assert keywords.__optional_keys__ == names
    assert not keywords.__required_keys__


def test_both_vector_environments_hand_out_copies_by_default():
    assert game.vec(2).copy is game.solo_vec(2).copy is True


def test_type_checkers_see_every_device_and_autoreset_mode():
    """These values are those that other modules check."""
    assert get_args(options.Device) == DEVICES
    assert set(get_args(options.AutoresetName)) == {mode.value for mode in AutoresetMode}


RESETS = {
    "env": lambda: game.env().reset,
    "raw_env": lambda: game.raw_env().reset,
    "parallel_env": lambda: game.parallel_env().reset,
    "vec": lambda: game.vec(2).reset,
    "solo": lambda: game.solo().reset,
    "solo_vec": lambda: game.solo_vec(2).reset,
    "gymnasium.make": lambda: gymnasium.make(ID).reset,
    "gymnasium.make_vec": lambda: gymnasium.make_vec(ID, num_envs=2).reset,
    "gymnasium.make_vec sync": lambda: (
        gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync").reset
    ),
}


@pytest.mark.parametrize("name", RESETS)
def test_an_unknown_reset_option_is_refused(name):
    """With the option that was probably meant; keys that are no names are refused, too."""
    reset = RESETS[name]()
    reset(seed=1, options={"score": (3, 4)})
    with pytest.raises(OptionError, match=r"'scroe' of reset \(did you mean 'score'\?\)"):
        reset(options={"scroe": (3, 4)})
    with pytest.raises(OptionError, match="unknown option 'x', 7, None of reset"):
        reset(options={"x": 1, None: 2, 7: 3, "dealer": 0})
    with pytest.raises(OptionError, match="score"):
        reset(options={"score": np.array(0)})


@pytest.mark.parametrize(
    "change",
    [
        lambda **options: bideuchre_env.make("cincinnati_v0", **options),
        lambda **options: bideuchre_env.make(game.rules, **options),
        game.replace,
        game.rules.replace,
    ],
)
def test_an_unknown_rule_is_a_type_error_too(change):
    """Where the keywords are those of the rules alone; one with a bad value is none."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'") as caught:
        change(frameskip=1)
    assert isinstance(caught.value, RulesError)
    assert "; the options are: ranks, " in str(caught.value)
    with pytest.raises(UnknownRuleError, match=r"'trget' \(did you mean 'target'\?\)"):
        change(trget=1)
    with pytest.raises(RulesError) as caught:
        change(target=-1)
    assert not isinstance(caught.value, TypeError)


@pytest.mark.parametrize("face", FACES)
def test_an_unusable_value_is_not_one(face):
    """Only what there is not is a `TypeError`."""
    with pytest.raises(OptionError, match="episode='round': one of") as caught:
        FACES[face](episode="round")
    assert not isinstance(caught.value, TypeError)


@pytest.mark.parametrize("name", ["reward", "observation", "render_mode", "view"])
@pytest.mark.parametrize("value", ["odd", True, 4, ["all"]])
def test_a_word_that_there_is_not(name, value):
    with pytest.raises(OptionError, match=rf"{name}=.*: one of .*'"):
        game.raw_env(**{name: value})
