"""Unknown keywords raise `TypeError`, as for any function; unknown reset options are refused."""

import ast
from dataclasses import fields
from pathlib import Path
from typing import get_args

import gymnasium
import pettingzoo
import pytest
from gymnasium.vector import AutoresetMode

import bideuchre_env
from bideuchre_env import Rules
from bideuchre_env.datasets.columns import DatasetKeywords, DatasetOptions, RecorderKeywords
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
OPEN = {  # options of agents, and of functions of other libraries
    "agents.making.make",
    "adapters.common.with_fixed",
    "adapters.rllib.masked_module",
    "adapters.rllib.for_all_seats",
    "adapters.sb3.VecEnv.env_method",
    "adapters.tianshou.ObservationCritic.forward",
    "adapters.tianshou.SeatCollector.__init__",
    "adapters.tianshou.VecEnv.render",
    "adapters.tianshou.VecEnv.reset",
    "envs.solo.vector_env.SoloVectorEnv.close_extras",
    "evaluation.pictures.annotate",
    "evaluation.pictures.new_figure",
}
ROOT = Path(__file__).resolve().parents[2]
PUBLIC = (
    *("adapters", "agents", "analysis", "datasets", "envs", "evaluation", "records", "rules"),
    "solver",
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


def untyped_keywords(body, prefix):
    """Yield the full names of public functions and methods with keywords `**name: Any`."""
    for node in body:
        name = getattr(node, "name", "_")
        if isinstance(node, ast.ClassDef) and not name.startswith("_"):
            yield from untyped_keywords(node.body, f"{prefix}{name}.")
        if isinstance(node, ast.FunctionDef) and (name == "__init__" or not name.startswith("_")):
            keywords = node.args.kwarg
            if keywords is not None and ast.unparse(keywords.annotation) == "Any":
                yield prefix + name


def test_keywords_of_public_functions_are_typed():
    """The functions in `OPEN` are the only exceptions."""
    untyped = set()
    for folder in PUBLIC:
        top = ROOT if folder == "agents" else ROOT / "bideuchre_env"
        for path in (top / folder).rglob("*.py"):
            prefix = ".".join(path.relative_to(top).with_suffix("").parts)
            untyped |= {*untyped_keywords(ast.parse(path.read_text("utf-8")).body, f"{prefix}.")}
    assert untyped == OPEN


@every_face
def test_unknown_reset_options_are_refused(face):
    env = FACES[face]()
    env.reset(seed=1, options={"score": (3, 4)})
    with pytest.raises(OptionError, match=r"'scroe' of reset \(did you mean 'score'\?\)"):
        env.reset(options={"scroe": (3, 4)})
    with pytest.raises(OptionError, match="unknown option 'x', 7, None of reset"):
        env.reset(options={"x": 1, None: 2, 7: 3, "dealer": 0})


@pytest.mark.parametrize(
    "change",
    [
        lambda **options: bideuchre_env.make("cincinnati_v0", **options),
        lambda **options: bideuchre_env.make(game.rules, **options),
        game.replace,
        game.rules.replace,
    ],
)
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
