"""Old names work for one minor version, with a warning that names the new one."""

import re
import warnings
from functools import partial

import gymnasium
import pettingzoo
import pytest

import bideuchre_env
from bideuchre_env import GameRecord, Rules, _deprecation, agents
from bideuchre_env._deprecation import RENAMED
from bideuchre_env.envs import registration
from bideuchre_env.errors import OptionError

OLD = {"ohio_v0": ("cincinnati_v0", "9.9"), "heuristic": ("rule", "9.9")}
VARIANT = "ohio_v0 is now cincinnati_v0; the old name works until bideuchre_env 9.9"
AGENT = "heuristic is now rule; the old name works until bideuchre_env 9.9"
cincinnati = bideuchre_env.cincinnati_v0


@pytest.fixture
def renamed(monkeypatch):
    """A variant and an agent have old names, and the environments are registered again."""
    for name, change in OLD.items():
        monkeypatch.setitem(RENAMED, name, change)
    registration.register()
    yield
    del gymnasium.registry["bideuchre/Ohio-v0"]
    getattr(pettingzoo, "aec_registry", {}).pop("bideuchre/ohio-v0", None)


def version(text):
    return tuple(map(int, text.split(".")[:2]))


def test_an_entry_names_a_present_name_and_a_later_version():
    """An entry is removed in its version, at most one minor version after the present one."""
    present = {*bideuchre_env.__all__, *agents.names()}
    major, minor = version(bideuchre_env.__version__)
    for old, (new, until) in RENAMED.items():
        assert old not in present
        assert new in present
        assert version(until) == (major, minor + 1), f"{old}: remove its entry"


def test_an_old_variant_works_wherever_a_variant_is_named(renamed, tmp_path):
    file = tmp_path / "farm.toml"
    file.write_text('base = "ohio_v0"\ntarget = 9\n', encoding="utf-8")
    env = cincinnati.raw_env()
    env.reset(seed=1)
    line = env.record.dumps().replace("cincinnati_v0", "ohio_v0")
    uses = (
        (lambda: bideuchre_env.ohio_v0, cincinnati),
        (lambda: bideuchre_env.make("ohio_v0"), cincinnati),
        (lambda: bideuchre_env.make("Ohio"), cincinnati),
        (lambda: bideuchre_env.make("ohio_v0", target=9).rules, cincinnati.rules.replace(target=9)),
        (lambda: Rules.from_toml(file), cincinnati.rules.replace(target=9)),
        (lambda: GameRecord.loads(line).rules, cincinnati.rules),
    )
    for use, expected in uses:
        with pytest.warns(DeprecationWarning, match=re.escape(VARIANT)) as seen:
            assert use() == expected
        assert {warning.filename for warning in seen} == {__file__}


MAKERS = [partial(make, "bideuchre/Ohio-v0") for make in (gymnasium.make, gymnasium.make_vec)]
if hasattr(pettingzoo, "register"):
    MAKERS.append(partial(pettingzoo.make, "aec", "bideuchre/ohio-v0"))


@pytest.mark.parametrize("make", MAKERS)
def test_an_old_id_of_a_registry_works(renamed, make):
    with pytest.warns(DeprecationWarning, match=re.escape(VARIANT)):
        env = make()
    assert env.unwrapped.metadata["name"] == "cincinnati_v0"


def test_an_old_agent_works_wherever_an_agent_is_named(renamed):
    with pytest.warns(DeprecationWarning, match=re.escape(AGENT)) as seen:
        agent = agents.make("heuristic", cincinnati.rules)
    assert agent.name == "rule"
    assert {warning.filename for warning in seen} == {__file__}
    with pytest.warns(DeprecationWarning, match=re.escape(AGENT)):
        env = cincinnati.solo(opponents="heuristic")
    with pytest.warns(DeprecationWarning, match=re.escape(AGENT)):
        env.reset(seed=1)  # makes the agents again
    with pytest.warns(DeprecationWarning, match=re.escape(AGENT)):
        assert agents.parse("heuristic:x=1") == ("rule", {"x": 1})


def test_an_old_name_warns_only_where_its_present_name_works(renamed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AttributeError, match="has no attribute 'heuristic'"):
            _ = bideuchre_env.heuristic
        with pytest.raises(OptionError, match="'heuristic' is no variant"):
            bideuchre_env.make("heuristic")
        with pytest.raises(OptionError, match="'' is no variant"):
            bideuchre_env.make("")
        with pytest.raises(OptionError, match="no agent 'ohio_v0'"):
            agents.make("ohio_v0", cincinnati.rules)


def test_a_custom_agent_or_game_may_have_an_old_name(renamed, monkeypatch):
    monkeypatch.setitem(agents.registry.registered, "heuristic", agents.make)
    game = bideuchre_env.make(cincinnati.rules.replace(target=9), name="ohio_v0")
    env = game.raw_env()
    env.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert agents.parse("heuristic") == ("heuristic", {})
        assert GameRecord.loads(env.record.dumps()).rules == game.rules


def test_present_names_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in bideuchre_env.__all__:
            assert _deprecation.present_name(name, bideuchre_env.__all__) == name
            getattr(bideuchre_env, name)
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = bideuchre_env.nonsense
