"""Matches: known results, figures of the boards, and worker processes that change nothing."""

import multiprocessing
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from support.commands import python
from support.custom_agents import Blunders, First
from support.playthroughs import DIFFERENT

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.agents import registry
from bideuchre_env.errors import AgentError, OptionError, WorkerError
from bideuchre_env.evaluation import executors
from bideuchre_env.evaluation.statistics.sequential import H1, UNDECIDED, Bounds
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.rules import Rules


def same(one, other):
    return one.tobytes() == other.tobytes() and len(one) == len(other)


@pytest.mark.parametrize("variant", DIFFERENT)
def test_identical_agents_tie_every_board(variant):
    rules = bideuchre_env.variants[variant].rules
    rule = agents.make("rule", rules)
    pairs = [("random", "random"), (Blunders(rule, 0.03, seed=1), Blunders(rule, 0.03, seed=1))]
    for a, b in pairs:
        result = match(variant, a, b, boards=80, games=4, seed=3)
        for scores, boards in ((result.boards, 80), (result.games, 2)):
            assert (scores.boards, scores.ties) == (boards, boards)
            assert scores.points_per_hand.mean == 0.0
            assert scores.board_sd == 0.0
            assert scores.variance_reduction is None
            assert scores.contracts[0] == scores.contracts[1]
        assert result.games.a_won == result.games.b_won
        assert "#2" in str(result)
        assert str(result).count("every deal ties: both sides are the same agent") == 2


@pytest.mark.slow
def test_boards_do_not_depend_on_the_number_of_workers():
    length = {"boards": 100, "games": 10, "at_once": 4}
    options = {"seed": 4, **length}
    sides = ("rule", "timid"), "cautious"
    one, two = (match("club_v0", *sides, workers=k, **options) for k in (1, 2))
    assert same(one.board_rows, two.board_rows)
    assert same(one.game_rows, two.game_rows)
    assert one.decisions == two.decisions
    assert min(two.ms_per_decision) > 0


@pytest.mark.slow
def test_a_sequential_test_ends_at_the_same_board_for_any_number_of_workers():
    options = {"boards": 4000, "sprt": Bounds(5, 6)}
    one, two = (match("barrie_v0", "rule", "cautious", workers=k, **options) for k in (1, 2))
    assert one.test.verdict == two.test.verdict == H1 != UNDECIDED
    assert same(one.board_rows, two.board_rows)
    assert len(one.board_rows) == one.test.boards == one.to_dict()["sprt"]["boards"] < 4000
    assert not one.interrupted
    assert "H1 accepted: at least +6" in str(one)


CUSTOM = Rules(ranks="J", copies=2, partnered=(1, 8), lone=(Bid("solo", value=30),), target=99)


@pytest.mark.parametrize("game", ["cincinnati_v0", CUSTOM])
@pytest.mark.parametrize("length", ["boards", "games"])
def test_figures_follow_from_the_boards(game, length):
    result = match(game, "rule", "cautious", seed=2, **{length: 120})
    rows = result.board_rows if length == "boards" else result.game_rows
    scores = result.boards if length == "boards" else result.games
    assert rows["board"].tolist() == list(range(120 if length == "boards" else 60))
    points, hands = rows["points"].astype(float), rows["hands"].astype(float)
    mean = points.sum() / hands.sum()
    assert scores.points_per_hand.mean == pytest.approx(mean)
    assert scores.ties == sum(first == -second for first, second in rows["points"].tolist())
    per_board = (points - mean * hands).sum(axis=1) / hands.sum(axis=1).mean()
    assert scores.board_sd == pytest.approx(np.sqrt((per_board**2).sum() / (len(rows) - 1)))
    single = ((points - mean * hands) ** 2).mean()  # variance of a table
    paired = ((points - mean * hands).sum(axis=1) ** 2).mean()  # variance of a board
    assert scores.variance_reduction == pytest.approx(2 * single / paired)
    if length == "boards":
        assert (rows["hands"] == 1).all()
        assert (rows["game_ends"] == 0).all()
    else:
        ends = np.bincount(rows["game_ends"].ravel(), minlength=5).tolist()
        assert ends == [0, scores.a_won, scores.b_won, scores.drawn, scores.truncated]
        assert scores.win_rate.mean == scores.a_won / 120


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_the_finished_boards(workers, default_ctrl_c):
    pressed = []

    def press(kind, done, total, decisions):
        assert (kind, total) == ("boards", 100_000)  # games come later
        if done > 300 and not pressed:
            pressed.append(done)
            signal.raise_signal(signal.SIGINT)

    options = {"boards": 100_000, "games": 50, "progress": press}
    result = match("cincinnati_v0", "rule", "cautious", workers=workers, **options)
    assert result.interrupted
    assert 300 < result.boards.boards < 100_000
    assert result.boards.points_per_hand.low > 2
    assert result.games.boards == 0
    assert "Interrupted" in str(result)
    block = match("cincinnati_v0", "rule", "cautious", boards=4096).board_rows
    finished = result.board_rows[result.board_rows["board"] < 4096]
    assert len(finished) > 40
    assert same(finished, block[finished["board"]])


@pytest.mark.slow
def test_a_worker_that_dies_is_an_error():
    def kill(kind, done, total, decisions):
        for process in multiprocessing.active_children():
            if done and process.name == "bideuchre-1":
                process.kill()

    with pytest.raises(WorkerError, match="process 1 of 2 ended with code"):
        match("barrie_v0", "rule", "random", boards=10**6, workers=2, at_once=1, progress=kill)
    assert not multiprocessing.active_children()


def test_a_registered_agent_that_cannot_be_pickled_plays_in_one_process(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})
    agents.register("mine", lambda rules, *, seed=None: agents.make("random", rules, seed=seed))
    assert match("barrie_v0", "mine", "random", boards=5).boards.boards == 5
    with pytest.raises(OptionError, match="'mine', which is registered here, cannot be sent"):
        match("barrie_v0", "mine", "random", boards=500, workers=2)


def slow_agent(at_once):
    """An agent with the attribute `at_once`, by which a match sets how many boards run at once."""
    agent = First()
    agent.at_once = at_once
    return agent


BAD_ARGUMENTS = [({"boards": 0}, "boards=N"), ({"boards": 2.5}, "whole number")]
BAD_ARGUMENTS += [({"boards": 10**8}, "10,000,000"), ({"games": True}, "whole number")]
BAD_ARGUMENTS += [({"seed": -1}, "seed"), ({"workers": 0}, "workers")]
BAD_ARGUMENTS += [({"workers": 2, "a": lambda rules: First()}, "cannot be sent")]
BAD_ARGUMENTS += [({"at_once": 0}, "at_once")]
BAD_ARGUMENTS += [({"a": slow_agent("many")}, "agent 'first' has at_once=")]
BAD_ARGUMENTS += [({"a": "nobody"}, "nobody"), ({"sprt": (0, 1)}, "Bounds")]
BAD_ARGUMENTS += [({"boards": 0, "games": 5, "sprt": Bounds(0, 1)}, "boards")]
BAD_ARGUMENTS += [({"variant": "poker"}, "poker")]


@pytest.mark.parametrize(("options", "message"), BAD_ARGUMENTS)
def test_unusable_arguments_are_refused(options, message):
    arguments = {"variant": "barrie_v0", "a": "random", "b": "random", "boards": 5} | options
    with pytest.raises(OptionError, match=message):
        match(**arguments)


def test_boards_at_once_are_those_that_the_agent_asks_for():
    assert match("barrie_v0", slow_agent(3), "random", boards=5).at_once == 3


def test_truncated_games_are_counted():
    rules = bideuchre_env.cincinnati_v0.rules.replace(max_hands=4)
    games = match(rules, "rule", "random", games=6).games
    assert games.truncated > 0
    assert games.games == 6


def test_odd_games_are_rounded_up_and_one_board_has_no_interval():
    result = match("simplified_v0", "cautious", "random", boards=1, games=5)
    assert (result.games.games, result.games.boards) == (6, 3)
    data = result.to_dict()
    assert (data["mode"], data["boards"], data["pairs"]["boards"]) == ("boards", 1, 3)
    assert data["points_per_hand"]["low"] is None
    assert data["board_sd"] is data["variance_reduction"] is None
    assert "1 board of two tables" in str(result)
    assert "tied" not in str(result).replace("tied boards       0 (0 %)", "")
    assert "every deal" not in str(result) + result._repr_html_()
    assert "5 asked for: games are played in pairs" in str(result)


posix = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
SCRIPT = """
from bideuchre_env import match
print("once")
print(match("barrie_v0", "loud", "cautious", boards=20, at_once=2, workers=2))
"""
LOUD = """
import multiprocessing
from bideuchre_env import agents

class Loud:
    name = "loud"
    def __init__(self, rules, *, seed=None):
        self.rule = agents.make("rule", rules)
    def act_rows(self, observations, masks):
        if multiprocessing.parent_process() is not None:
            print("a word")
        return self.rule.act_rows(observations, masks)

agents.register("loud", Loud)
"""
ENDLESS = """
import signal
from bideuchre_env import match
signal.signal(signal.SIGINT, signal.default_int_handler)
match("barrie_v0", "rule", "cautious", boards=10**7, workers=2,
           progress=lambda kind, done, total, decisions: print(done, flush=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("from_file", [True, False])
def test_workers_do_not_run_the_script_again_or_print_to_its_output(from_file, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(LOUD)
    (tmp_path / "script.py").write_text(SCRIPT)
    arguments, text = (["script.py"], None) if from_file else (["-"], SCRIPT)
    done = python(*arguments, text=text, where=tmp_path, PYTHONPATH=str(tmp_path))
    one = match("barrie_v0", "rule", "cautious", boards=20, at_once=2)
    first, *report = done.stdout.replace("loud", "rule").splitlines()
    assert first == "once"
    assert report[:-1] == str(one).splitlines()[:-1]  # the last line has times
    assert "a word" in done.stderr


@pytest.mark.slow
@posix
def test_workers_end_when_their_parent_is_killed():
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", ENDLESS], **options) as process:
        while (line := process.stdout.readline()) in ("0\n", ""):
            assert process.poll() is None, process.stderr.read()
        assert int(line) > 0
        process.kill()
        _, errors = process.communicate(timeout=600)
    assert "Traceback" not in errors


def test_an_agent_that_exits_is_an_error():
    def leave(observation, mask):
        raise SystemExit(3)

    with pytest.raises(AgentError, match=r"leave.*SystemExit: 3"):
        match("barrie_v0", leave, "random", boards=2)


def test_a_daemonic_process_cannot_start_workers(monkeypatch):
    daemon = SimpleNamespace(daemon=True)
    monkeypatch.setattr(executors.multiprocessing, "current_process", lambda: daemon)
    with pytest.raises(OptionError, match="workers: expected 1"):
        match("barrie_v0", "rule", "random", boards=5, workers=2)


def test_each_partner_decides_in_its_own_seats():
    """Seat 0 deals board 0. An agent recognizes its seat by the distance of the dealer."""
    game = bideuchre_env.make("six_card_v0")
    dealer = bideuchre_env.Layout(game.rules)["dealer"]
    seats = {"first": set(), "second": set(), "other": set()}

    def recorder(name):
        def act(observation, mask):
            seats[name].add(-int(np.flatnonzero(observation[dealer])[0]) % 4)
            return int(np.flatnonzero(mask)[0])

        return act

    partners = recorder("first"), recorder("second")
    result = match(game, partners, recorder("other"), boards=1)
    assert result.agents == ("act + act", "act")
    assert seats == {"first": {0, 1}, "second": {2, 3}, "other": {0, 1, 2, 3}}


def test_an_agent_as_its_own_partner_plays_as_alone():
    alone, partners = (
        match("six_card_v0", side, "cautious", boards=60, games=4, seed=2)
        for side in ("rule", ("rule", "rule"))
    )
    assert same(alone.board_rows, partners.board_rows)
    assert same(alone.game_rows, partners.game_rows)
    assert alone.decisions == partners.decisions


def test_partners_are_two_agents():
    for side in ((), ("rule",), ("rule", "rule", "rule")):
        with pytest.raises(OptionError, match="expected two agents, as partners"):
            match("six_card_v0", side, "rule", boards=2)
    with pytest.raises(OptionError, match="no agent 'nobody'"):
        match("six_card_v0", ("rule", "nobody"), "rule", boards=2)


def test_duplicate_deals_that_cost_precision_are_said_to_multiply_the_variance():
    result = match("six_card_v0", "random", "rule", boards=30, seed=5)
    less = result.boards.variance_reduction
    assert less < 1
    assert f"multiply the variance by {1 / less:.2f} here" in str(result)
