"""Agents with options by name: `pimc:worlds=20,solved=4`, wherever a name is taken."""

from __future__ import annotations

import json
import typing
from pathlib import Path
from typing import NamedTuple

import pytest

import bideuchre_env
from bideuchre_env import agents, match, records_io, selfplay
from bideuchre_env.agents import registry
from bideuchre_env.agents.random_agents import RandomAgent
from bideuchre_env.cli import main as cli
from bideuchre_env.envs.solo.players import Player
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.boards import LONE_BID, SET

RULES = bideuchre_env.cincinnati_v0.rules
EVERY_OPTION = "inference:worlds=200,played_out=200,considered=15,solved=3,milliseconds=12.5"


@pytest.fixture(autouse=True)
def _no_agents_but_the_packages_own(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})


@pytest.mark.parametrize(
    ("name", "own", "options"),
    [
        ("rule", "rule", {}),
        ("pimc:worlds=20,solved=4", "pimc", {"worlds": 20, "solved": 4}),
        ("inference:milliseconds=5", "inference", {"milliseconds": 5}),
        (
            "expert:standard_errors=1.0,margin=-0.25",
            "expert",
            {"standard_errors": 1.0, "margin": -0.25},
        ),
    ],
)
def test_a_name_is_an_agent_and_its_options(name, own, options):
    """Whole numbers stay whole, decimals do not become so."""
    found = agents.parse(name)
    assert found == (own, options)
    assert [type(each) for each in found[1].values()] == [type(each) for each in options.values()]


def test_what_the_name_says_is_what_the_agent_does_and_is_called():
    agent = agents.make("pimc:worlds=7,solved=4", RULES, seed=3)
    assert (agent.worlds, int(agent.space.plans["solved"][0])) == (7, 4)
    assert agent.played_out == agents.make("pimc", RULES).played_out
    assert agent.name == "pimc:worlds=7,solved=4"
    assert agents.make("pimc", RULES, worlds=7).name == agents.make("pimc", RULES).name == "pimc"
    assert agents.make("inference:milliseconds=0.5", RULES).milliseconds == 0.5
    own_seed = agents.make("pimc", RULES, seed=3)
    assert (agent.space.low, agent.space.high) == (own_seed.space.low, own_seed.space.high)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nobody:worlds=3", "no agent 'nobody': the agents are random, cautious"),
        (":worlds=3", "no agent '': the agents are random, cautious"),
        ("pimc,worlds=3", "no agent 'pimc,worlds=3': the agents are random, cautious"),
        ("pimc:", "'pimc:': '' is no option: name:option=value,option=value"),
        ("pimc:worlds=3,", "'' is no option: name:option=value,option=value"),
        ("pimc:worlds", "'worlds' is no option: name:option=value"),
        ("pimc:worlds=", "'worlds=' is no option: name:option=value"),
        ("pimc:=3", "'=3' is no option: name:option=value"),
        ("pimc:worlds=3,worlds=4", "the option 'worlds' twice"),
        ("pimc:worlds=many", "'worlds=many' gives no number"),
        ("pimc:worlds=3=4", "'worlds=3=4' gives no number"),
        ("pimc:worlds= 3", "'worlds= 3' gives no number"),
        ("pimc:worlds=1e2", "'worlds=1e2' gives no number"),
        ("pimc:worlds=1_0", "'worlds=1_0' gives no number"),
        ("pimc:worlds=\u0663", "gives no number"),
        ("pimc:milliseconds=nan", "'milliseconds=nan' gives no number"),
        ("pimc:milliseconds=None", "'milliseconds=None' gives no number"),
        ("pimc:depth=3", "depth=3: no option of 'pimc' .*: it takes worlds, played_out, "),
        ("pimc:clock=3", "clock=3: no option of 'pimc' to give in its name: it takes worlds, "),
        (
            "pimc:seed=3",
            "seed=3: no option of 'pimc' .* solved, milliseconds, net_cards, goal$",
        ),
        ("pimc:rules=3", "rules=3: no option of 'pimc'"),
        (
            "expert:network=3",
            "network=3: no option of 'expert' .*: it takes margin, standard_errors, lean, goal$",
        ),
        (
            "expert:wanted=3",
            "wanted=3: no option of 'expert' .*: it takes margin, standard_errors, lean, goal$",
        ),
        ("random:weights=3", "weights=3: no option of 'random' .*: it takes none$"),
        ("rule:weights=3", "weights=3: no option of 'rule' .*: it takes boldness$"),
        ("random:seed=3", "seed=3: no option of 'random' .*: it takes none$"),
        ("pimc:worlds=0", "worlds=0: a whole number from 1 to 10000"),
        ("pimc:worlds=2.5", "worlds=2.5: a whole number from 1 to 10000"),
        ("pimc:worlds=2.0", "worlds=2.0: a whole number from 1 to 10000"),
        ("pimc:worlds=3\n", "'pimc:worlds=3.n': an agent's name is of printable characters"),
    ],
)
def test_what_is_no_name_with_options_is_refused(name, told):
    """The error says what was given and what may be."""
    with pytest.raises(OptionError, match=told):
        agents.make(name, RULES)


def test_options_stand_in_the_name_or_are_keywords():
    """Also where they are not the same."""
    for option in ("worlds", "solved"):
        with pytest.raises(OptionError, match=f"'pimc:worlds=3' and {option} besides"):
            agents.make("pimc:worlds=3", RULES, **{option: 3})


class Typed(RandomAgent):
    """An agent of somebody's own, with options of every kind."""

    name = "typed"

    def __init__(
        self,
        rules,
        *,
        seed=None,
        whole: int = 1,
        decimal: float = 0.5,
        maybe: typing.Optional[int] = None,  # noqa: UP045
        plain=3,
        unset=None,
        flag: bool = False,
        text: str = "",
        several: tuple[int, ...] = (),
        switch=True,
    ):
        super().__init__(rules, seed=seed)
        self.given = (whole, decimal, maybe, plain, unset)
        self.switched = (flag, switch)


def test_registered_agents_take_numbers_and_words_by_name():
    """By the types of their keyword-only parameters, or else by the defaults."""
    agents.register("typed", Typed)
    agent = agents.make("typed:whole=2,decimal=1.5,maybe=3,plain=4,unset=5", RULES)
    assert agent.given == (2, 1.5, 3, 4, 5)
    assert agent.name == "typed:whole=2,decimal=1.5,maybe=3,plain=4,unset=5"
    taken = "whole, decimal, maybe, plain, unset, flag, text, switch"
    with pytest.raises(OptionError, match=f"several=1: no option of 'typed' .*: it takes {taken}$"):
        agents.make("typed:several=1", RULES)
    assert agents.make("typed", RULES, flag=True, text="a", several=(1,)).name == "typed"


@pytest.mark.parametrize(
    ("written", "found"),
    [("flag=true", (True, True)), ("switch=False", (False, False)), ("flag=TRUE", (True, True))],
)
def test_a_switch_is_true_or_false(written, found):
    """Whichever way they are capitalised; an option is one by its type or its default."""
    agents.register("typed", Typed)
    assert agents.make(f"typed:{written}", RULES).switched == found
    for other in ("1", "0", "yes", "no", "2.5"):
        with pytest.raises(OptionError, match=f"flag={other}.: true or false is expected$"):
            agents.make(f"typed:flag={other}", RULES)


def test_of_several_types_those_count_that_can_be_written():
    def factory(
        rules,
        *,
        file: str | Path | dict[str, int | str] | None = None,
        table: dict[str, int | str] | None = None,
    ):
        return RandomAgent(rules)

    agents.register("mine", factory)
    assert agents.make("mine:file=a", RULES).name == "mine:file=a"
    with pytest.raises(OptionError, match=r"table=3: no option of 'mine' .*: it takes file$"):
        agents.make("mine:table=3", RULES)


def test_a_factory_of_any_options_takes_any_but_the_seed():
    found = []

    def factory(rules, *, seed=None, **options):
        found.append(options)
        return RandomAgent(rules, seed=seed)

    agents.register("mine", factory)
    assert agents.make("mine:depth=3,rate=0.1", RULES, seed=1).name == "mine:depth=3,rate=0.1"
    assert found == [{"depth": 3, "rate": 0.1}]
    for option in ("seed", "rules"):
        with pytest.raises(OptionError, match=f"{option}=3: no option of 'mine'"):
            agents.make(f"mine:{option}=3", RULES, seed=1)


def test_an_agent_that_cannot_be_renamed_is_called_by_its_options_too():
    class Frozen(NamedTuple):
        name: str = "frozen"

        def act_rows(self, observations, masks):
            return masks.argmax(axis=1)

    agents.register("frozen", lambda rules, *, seed=None, depth=1: Frozen())
    assert agents.make("frozen", RULES, depth=2).name == "frozen"
    assert agents.make("frozen:depth=2", RULES).name == "frozen:depth=2"


@pytest.mark.parametrize("name", ["mine:", "my,own", "a=b", ":", "rule:x=1"])
def test_no_agent_is_registered_by_what_separates_options(name):
    with pytest.raises(OptionError, match="none of them : , or ="):
        agents.register(name, RandomAgent)


def test_a_match_in_processes_plays_the_same_boards_and_names_the_agents_in_full():
    pair = ("pimc:worlds=2,played_out=4,solved=2", "expert:standard_errors=1.0")
    one, two = (match.play("six_card_v0", *pair, boards=12, seed=5, workers=k) for k in (1, 2))
    assert one.board_rows.tobytes() == two.board_rows.tobytes()
    for result in (one, two):
        assert result.agents == result.keys == pair
        assert list(result.to_dict()["contracts"]) == list(pair)
        assert str(result).startswith(f"{pair[0]} against {pair[1]}, six_card_v0")
    plain = match.play("six_card_v0", "pimc", "expert", boards=12, seed=5)
    assert plain.board_rows.tobytes() != one.board_rows.tobytes()


def test_other_options_make_another_player_and_the_same_ones_the_same():
    """Only an agent against itself is marked, and ties every board."""
    other = match.play("cincinnati_v0", "expert:margin=0", "expert:margin=100", boards=200)
    assert other.keys == ("expert:margin=0", "expert:margin=100")
    assert 0 < other.boards.ties < 200
    same = match.play("cincinnati_v0", "expert:lean=0", "expert:lean=0", boards=20)
    assert same.keys == ("expert:lean=0", "expert:lean=0#2")
    assert same.boards.ties == 20


@pytest.mark.parametrize("command", ["match pimc:depth=2 rule", "selfplay --agents rule pimc:a"])
def test_a_wrong_option_is_one_line_before_anything_is_written(
    command, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(command.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "option" in err
    assert list(tmp_path.iterdir()) == []


def test_self_play_keeps_the_names_in_records_and_out_of_file_names(capsys, tmp_path, monkeypatch):
    """Records say who played in full; the file's name has no character a system refuses."""
    monkeypatch.chdir(tmp_path)
    given = ["selfplay", "--agents", "expert:lean=0", "rule", "--boards", "4", "--json"]
    assert cli.main(given) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["agents"] == list(told["contracts"]) == ["expert:lean=0", "rule"]
    path = Path(told["records"])
    assert path.name == "selfplay-cincinnati_v0-expert_lean=0-rule-seed0.jsonl"
    for record in records_io.read(path):
        assert set(record.agents) == {"expert:lean=0", "rule"}


def test_a_name_with_every_option_fits_into_records_and_file_names(tmp_path):
    """A record may hold any name that `make` takes, and two of them are no file's name too long."""
    rule = agents.make("rule", RULES)
    rule.name = agents.make(EVERY_OPTION, RULES).name
    out = tmp_path / f"{records_io.file_stem('selfplay', 'double_deck_v0', *[rule.name] * 2)}.jsonl"
    assert len(out.name) < 200
    selfplay.play("cincinnati_v0", rule, "random", boards=1, out=out)
    assert all(EVERY_OPTION in record.agents for record in records_io.read(out))


@pytest.mark.parametrize(
    "name", ["pimc:worlds=2", "a/b", "c:\\d", "what?", "*", 'a"b', "<|>", "\xe9"]
)
def test_file_names_hold_what_every_system_takes(name):
    stem = records_io.file_stem("selfplay", name, "seed0")
    assert stem.startswith("selfplay-")
    assert stem.endswith("-seed0")
    assert stem.isascii()
    assert not set('<>:"/\\|?*') & set(stem)


def test_a_learner_plays_against_agents_with_options():
    player = Player("opponents", "expert:lean=0", RULES)
    assert player.name == "expert:lean=0"
    with pytest.raises(OptionError, match="no option of 'random'"):
        Player("opponents", "random:x=1", RULES)


def test_a_bolder_player_is_set_more_often():
    """Rash and timid bidders are the rule player but for their calls, and both lose to it."""
    timid, rule, rash = "rule:boldness=-1", "rule", "rule:boldness=1"
    alone = {
        name: match.play(RULES, name, name, boards=400, seed=4).board_rows["contracts"]
        for name in (timid, rule, rash)
    }
    done = {name: contracts.sum(axis=(0, 1)) for name, contracts in alone.items()}
    assert done[timid][SET] < 0.5 * done[rule][SET] < 0.25 * done[rash][SET]
    assert done[timid][LONE_BID] < done[rule][LONE_BID] < done[rash][LONE_BID]
    for name in (timid, rash):
        assert match.play(RULES, rule, name, boards=1000, seed=4).points_per_hand.low > 0
    same = match.play(RULES, rule, "rule:boldness=0", boards=200, seed=4)
    assert (same.board_rows["points"].sum(axis=1) == 0).all()


@pytest.mark.parametrize("boldness", [13, -12.5, float("nan"), "1", True, None])
def test_a_boldness_out_of_range_is_refused(boldness):
    with pytest.raises(OptionError, match=r"boldness=.*: tricks from -12 to 12"):
        agents.make("rule", RULES, boldness=boldness)
