"""Bad input of every kind: a precise error that says what is wrong, and nothing changed."""

import copy
import math
import subprocess
import sys

import numpy as np
import pytest
from support.playthroughs import (
    VARIANTS,
    Chooser,
    finish,
    legal_names,
    plies,
    same,
    snapshot,
    start,
)

import bideuchre_env
from bideuchre_env import GameRecord, agents, errors, selfplay
from bideuchre_env._checks import shown
from bideuchre_env.records.render import table_text

HUGE = 10**5000  # more digits than Python writes
NOT_NUMBERS = [True, np.bool_(True), 1.0, math.nan, b"1", None, [1], (1,), {}, object(), 1j]
NOT_NUMBERS += [np.array([1]), np.array([[1, 2]]), np.array(1.0), np.array(True)]
NO_SCORES = [[1], [1, 2, 3], 5, "12", [1.0, 2.0], [True, False], [None, None], {0: 1, 1: 2}]
NO_SCORES += [[10**15 + 1, 0], [0, -(10**15) - 1], [HUGE, 0], np.zeros((2, 2), int), np.array(0)]


def label(value):
    """A short name for a case, for values that pytest cannot name itself."""
    return ascii(shown(value)).strip("'\"")[:40]


def refuses(env, error, match, call):
    """Check that `call` raises exactly this error with these words, and changes nothing."""
    before = snapshot(env)
    with pytest.raises(errors.BidEuchreError, match=match) as caught:
        call()
    assert type(caught.value) is error
    assert len(str(caught.value)) < 3000
    assert same(snapshot(env), before)


def positions(name):
    """A game of a variant at its start, in each phase it comes to, and at its end."""
    env, seen = start(name, 12, max_hands=40), set()
    for _ in plies(env, Chooser(12)):
        phase = int(env._states[0]["phase"])
        if phase not in seen:
            seen.add(phase)
            yield env.clone()


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_no_action_number(name):
    """A bool, float, string, array, None: the error names the seat, the value and its type."""
    for env in positions(name):
        for given in NOT_NUMBERS:
            match = rf"{env.agent_selection}: action .* is {type(given).__name__}; a whole number"
            refuses(env, errors.OutOfBoundsError, match, lambda e=env, g=given: e.step(g))


@pytest.mark.parametrize("name", VARIANTS)
def test_an_action_out_of_range(name):
    """Negative, one too many, of any size: the range is in the error."""
    for env in positions(name):
        n = len(env.action_names)
        for given in (-1, n, n + 1, -n, 2**31, -(2**31), 2**63, 2**64 + 1, HUGE, np.int64(-1)):
            match = f"{env.agent_selection}: action .* is out of range: 0 to {n - 1}"
            refuses(env, errors.OutOfBoundsError, match, lambda e=env, g=given: e.step(g))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_illegal_action_is_refused_by_name(name):
    """The error names the seat, the action and every legal one."""
    for env in positions(name):
        legal = legal_names(env)
        listed = "legal: " + ", ".join(map(repr, legal))
        for number, action in enumerate(env.action_names):
            if action not in legal:
                with pytest.raises(errors.IllegalActionError) as caught:
                    env.clone().step(number)
                said = str(caught.value)
                assert said == f"{env.agent_selection} may not choose {action!r}; {listed}"
        illegal = next(i for i, a in enumerate(env.action_names) if a not in legal)
        refuses(env, errors.IllegalActionError, "may not", lambda e=env, i=illegal: e.step(i))


@pytest.mark.parametrize("whole", [3, np.int8(3), np.uint8(3), np.int64(3), np.array(3)])
def test_every_kind_of_whole_number_is_taken(whole):
    """The other way round: what is an integer to Python is an action."""
    env = start("barrie_v0", 1)
    plain = env.clone()
    env.step(whole)
    plain.step(3)
    assert same(snapshot(env), snapshot(plain))


def test_no_step_before_a_reset_or_after_the_end():
    """There is no game to act in, and the error says what to do."""
    env = bideuchre_env.club_v0.raw_env(max_hands=1)
    with pytest.raises(errors.IllegalActionError, match=r"no game is going on: reset\(\)"):
        env.step(0)
    env.reset(seed=0)
    finish(env, Chooser(0))
    with pytest.raises(ValueError, match="None"):
        env.step(0)  # PettingZoo's own words for an agent that is done
    for _ in range(4):
        env.step(None)
    with pytest.raises(errors.IllegalActionError, match=r"no game is going on: reset\(\)"):
        env.step(None)


def test_observing_nobody():
    """An agent that does not sit at the table."""
    env = start("club_v0", 1)
    for agent in ("player_4", "north", 0, None, ["player_0"]):
        refuses(
            env, errors.OptionError, "agent .*: one of player_0", lambda a=agent: env.observe(a)
        )


def broken_deals():
    """Deals that are not the Cincinnati deck dealt out equally, each with words of its error."""
    names = [rank + suit for rank in "9TJQKA" for suit in "CDHS"]
    good = [names[seat * 6 : seat * 6 + 6] for seat in range(4)]

    def changed(seat, place, card):
        deal = copy.deepcopy(good)
        deal[seat][place] = card
        return deal

    yield good[:3], "four lists of card names, by seat"
    yield [*good, []], "four lists of card names, by seat"
    yield "9C", "four lists of card names, by seat"
    yield {0: good[0]}, "four lists of card names, by seat"
    yield 7, "four lists of card names, by seat"
    yield [*good[:3], None], "seat 3: None is no list"
    yield [*good[:3], " ".join(good[3])], "seat 3: .* is no list"
    yield [*good[:3], good[3][:5]], "seat 3: 5 cards, and a hand of this deck has 6"
    yield [good[0] + good[3][:1], *good[1:3], good[3][1:]], "seat 0: 7 cards"
    yield changed(0, 0, "9D"), "9. is dealt . times"
    yield changed(2, 3, "AS"), "is dealt . times"
    for card in ("1C", "9X", "C9", "", "100C", "joker", None, 9, ["9C"], "9C9C", "♣", HUGE):
        yield changed(1, 5, card), "seat 1: .* is no card"


@pytest.mark.parametrize(("deal", "match"), list(broken_deals()), ids=label)
def test_a_deal_that_cannot_be(deal, match):
    """Missing, doubled or foreign cards, wrong counts, wrong types."""
    env = start("cincinnati_v0", 1)
    refuses(env, errors.DealError, match, lambda: env.reset(options={"deal": deal}))


@pytest.mark.parametrize(
    "dealer", [-1, 4, HUGE, True, 1.0, "1", [1], math.nan, np.array([1])], ids=label
)
def test_a_dealer_who_is_no_seat(dealer):
    """Nothing but a whole number from 0 to 3, or None."""
    env = start("six_card_v0", 1)
    match = "dealer .*: a seat from 0 to 3"
    refuses(env, errors.DealError, match, lambda: env.reset(options={"dealer": dealer}))
    match = "seat .*: a seat from 0 to 3"
    rng = np.random.default_rng(0)
    refuses(env, errors.DealError, match, lambda: env.resample_hidden(dealer, rng))


@pytest.mark.parametrize("score", NO_SCORES, ids=label)
def test_a_score_that_is_none(score):
    """Two whole numbers within 10**15."""
    env = start("six_card_v0", 1)
    match = r"(?s)score .*: two whole numbers of at most"
    refuses(env, errors.DealError, match, lambda: env.reset(options={"score": score}))


@pytest.mark.parametrize(
    "seed", [-1, 2**128, HUGE, -HUGE, True, 1.0, "1", [1], np.array([1, 2])], ids=label
)
def test_a_seed_that_is_none(seed):
    """A whole number from 0 to 2**128 - 1."""
    env = start("six_card_v0", 1)
    match = r"seed=.*from 0 to 2\*\*128 - 1"
    refuses(env, errors.OptionError, match, lambda: env.reset(seed=seed))


def test_an_error_in_one_option_spoils_all():
    """A good seed and a good dealer beside a bad score change nothing."""
    env = start("six_card_v0", 1)
    options = {"dealer": 2, "score": [1]}
    refuses(env, errors.DealError, "score", lambda: env.reset(seed=5, options=options))


def test_a_failed_replay_leaves_the_record_alone():
    """`verify` reads only: a record that fails is as it was, and fails again the same."""
    record = finish(start("club_v0", 3, max_hands=2), Chooser(3)).record
    record.hands[1]["tricks"] = [9, 9]
    before = copy.deepcopy(record)
    for _ in range(2):
        with pytest.raises(errors.RecordError, match="hand 2: tricks"):
            record.verify()
    assert record == before


def a_game(variant="cincinnati_v0", **options):
    env = bideuchre_env.variants[variant].raw_env(**options)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize(
    "look",
    [
        lambda env: env.observe("player_0"),
        lambda env: env.last(),
        lambda env: env.state(),
        lambda env: env.get_state(),
        lambda env: env.render(),
        lambda env: env.resample_hidden(0, np.random.default_rng(1)),
        lambda env: env.agent_iter(),
    ],
)
def test_nothing_to_see_before_the_first_deal(look):
    env = bideuchre_env.cincinnati_v0.raw_env(render_mode="ansi")
    with pytest.raises(errors.OptionError, match="reset\\(\\) deals a game"):
        look(env)


def test_a_clone_does_not_print(capsys):
    env = a_game(render_mode="human")
    twin = env.clone()
    twin.step(int(twin.infos[twin.agent_selection]["action_mask"].argmax()))
    assert capsys.readouterr().out == ""
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    assert "score" in capsys.readouterr().out


def test_the_table_is_text_in_a_notebook(monkeypatch):
    """rich would hand it to the notebook's display and leave an empty string."""
    shell = type("ZMQInteractiveShell", (), {})
    monkeypatch.setattr("builtins.get_ipython", lambda: shell(), raising=False)
    env = a_game()
    assert "dealer" in table_text(env._states[0], env.rules)


@pytest.mark.parametrize("name", ["\x1b[31mred", "two\nlines", "x" * 81, "", "\ud800", 5])
def test_names_that_would_spoil_a_screen(name):
    data = a_game().record.to_dict() | {"agents": ["rule", name, "rule", "rule"]}
    with pytest.raises(errors.RecordError, match="printable"):
        GameRecord.from_dict(data)
    with pytest.raises(errors.OptionError, match="printable"):
        agents.register(name, lambda rules, seed=None: None)
    agent = agents.make("random", bideuchre_env.cincinnati_v0.rules, seed=1)
    agent.name = name
    with pytest.raises(errors.OptionError, match="printable"):
        selfplay.play("cincinnati_v0", agent, "random", boards=1)


def test_an_agent_of_other_rules_is_refused():
    other = agents.make("rule", bideuchre_env.cincinnati_v0.rules.replace(target=500))
    with pytest.raises(errors.OptionError, match="other rules"):
        selfplay.play("cincinnati_v0", other, "random", boards=1)


def test_check_goes_on_where_the_screen_has_few_letters(tmp_path):
    """An error quotes what it found in letters any screen has, and the next line is checked."""
    record = a_game().record.to_dict()
    bad = record | {"hands": [record["hands"][0] | {"actions": ["♥"]}]}
    lines = [
        GameRecord(**{k: v for k, v in r.items() if k != "format"}).dumps() for r in (bad, record)
    ]
    file = tmp_path / "games.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code = "import sys; from bideuchre_env.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", str(file)],
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert "\\u2665" in done.stdout
    assert "1 game" in done.stdout


def test_an_option_of_the_environment_is_no_rule():
    with pytest.raises(errors.OptionError, match=r"give it to \.env\(\)"):
        bideuchre_env.make("barrie_v0", episode="hand")


def test_whole_numbers_of_numpy_are_whole_numbers():
    rules = bideuchre_env.cincinnati_v0.rules.replace(target=np.int64(40))
    assert rules == bideuchre_env.cincinnati_v0.rules.replace(target=40)
    assert type(rules.target) is int
    with pytest.raises(errors.RulesError, match="target"):
        rules.replace(target=np.array([1, 2]))


@pytest.mark.parametrize(
    "wrong", [{"start": ("a", 1)}, {"start": (10**30, 2)}, {"start": (1.5, 2)}, {"hands": 5}]
)
def test_replaying_checks_what_it_replays(wrong):
    record = a_game().record
    for name, value in wrong.items():
        setattr(record, name, value)
    with pytest.raises(errors.RecordError):
        list(record.replay())
