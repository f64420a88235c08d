"""Self-play and rollouts: figures follow from records, counts from environments; seeds, threads."""

import json
import os
import signal
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.custom_agents import First, ObservationPolicy
from support.kernels import compile_only
from support.playthroughs import EACH

import bideuchre_env
from bideuchre_env import agents, match, records_io
from bideuchre_env.agents.random_agents import RandomAgent
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.evaluation import rollout as module
from bideuchre_env.evaluation.rollout import TABLES_AT_ONCE, count_hands
from bideuchre_env.evaluation.statistics.intervals import Moments, t_quantile
from bideuchre_env.evaluation.statistics.scores import CONTRACT_WORDS
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES


@pytest.mark.parametrize("variant", EACH)
@pytest.mark.parametrize("mode", ["boards", "games"])
def test_every_figure_follows_from_the_records(variant, mode, tmp_path):
    out = tmp_path / "games.jsonl"
    result = match(variant, "cautious", "random", seed=16, records=out, at_once=9, **{mode: 40})
    records = list(records_io.read(out))
    boards = 40 if mode == "boards" else 20
    assert len(records) == 2 * boards
    assert result.scores == (result.boards if mode == "boards" else result.games)
    assert result.scores.boards == boards
    points, hands = [0] * boards, [0] * boards
    contracts = {name: dict.fromkeys(CONTRACT_WORDS, 0) for name in result.keys}
    games = {"a": 0, "b": 0, "drawn": 0, "truncated": 0}
    for number, record in enumerate(records):
        board, table = divmod(number, 2)
        assert record.seed == 16 * 10**9 + board
        names = ["cautious", "random"] if table == 0 else ["random", "cautious"]
        assert record.agents == names * 2
        lone = {bid.name for bid in record.rules.lone if bid.alone}
        for hand in record.hands:
            hands[board] += 1
            points[board] += hand["points"][table] - hand["points"][1 - table]
            if hand["declarer"] is None:
                continue
            count = contracts[record.agents[hand["declarer"]]]
            made = hand["points"][hand["declarer"] % 2] > 0
            alone = hand["contract"].rsplit(" ", 1)[0] in lone
            count["bid"] += 1
            count["made" if made else "set"] += 1
            count["lone_bid"] += alone
            count["lone_made"] += alone and made
        if mode == "games":
            key = record.outcome if record.winner is None else "ab"[record.winner ^ table]
            games[key] += 1
    assert sum(hands) == result.scores.hands
    assert result.to_dict()["contracts"] == contracts
    assert (result.games.a_won, result.games.b_won) == (games["a"], games["b"])
    assert (result.games.drawn, result.games.truncated) == (games["drawn"], games["truncated"])
    assert result.points_per_hand.mean == pytest.approx(sum(points) / sum(hands))
    assert result.scores.ties == 0  # they would widen the interval
    residuals = np.array(points) - result.points_per_hand.mean * np.array(hands)
    error = np.sqrt((residuals**2).sum() * boards / (boards - 1)) / sum(hands)
    assert result.points_per_hand.half == pytest.approx(t_quantile(boards - 1) * error)
    assert sum(result.decisions) == sum(len(h["actions"]) for r in records for h in r.hands)


@pytest.mark.parametrize("length", [{"boards": 50}, {"games": 25}])
def test_the_file_does_not_depend_on_at_once(length, tmp_path):
    files, player = [], ObservationPolicy(1)
    for at_once in (1, 7, 1000):
        out = tmp_path / f"{at_once}.jsonl"
        match("club_v0", "rule", player, seed=2, records=out, at_once=at_once, **length)
        files.append(out.read_bytes())
    assert files[0] == files[1] == files[2] != b""


def test_the_file_depends_on_the_seed_and_deals_differ_between_seeds(tmp_path):
    paths = [tmp_path / f"{i}.jsonl" for i in range(3)]
    for path, seed in zip(paths, (4, 4, 5), strict=True):
        match("six_card_v0", "random", "cautious", boards=20, seed=seed, records=path)
    one, again, other = (path.read_bytes() for path in paths)
    assert one == again
    deals = [{json.dumps(r.hands[0]["deal"]) for r in records_io.read(p)} for p in paths]
    assert len(deals[0]) == 20  # both tables of a board have the same deal
    assert not deals[0] & deals[2]
    assert one != other


@pytest.mark.parametrize("variant", EACH)
def test_boards_are_dealt_as_an_environment_with_the_records_seed(variant, tmp_path):
    out = tmp_path / "games.jsonl"
    match(variant, "rule", "random", games=4, seed=8, records=out)
    env = bideuchre_env.variants[variant].raw_env()
    for record in records_io.read(out):
        env.reset(seed=record.seed)
        dealt = env.record.hands[0]
        for part in ("dealer", "deal"):
            assert dealt[part] == record.hands[0][part]


def test_single_hands_are_dealt_by_each_seat_in_turn(tmp_path):
    out = tmp_path / "hands.jsonl"
    match("cincinnati_v0", "rule", "random", boards=8, records=out)
    dealers = [record.hands[0]["dealer"] for record in records_io.read(out)]
    assert dealers == [0, 0, 1, 1, 2, 2, 3, 3] * 2


LONE = (Bid("trade-3", value=7, exchange=3), Bid("all alone", value=123456))
CUSTOM = Rules(ranks="10", copies=2, partnered=None, lone=LONE, target=500, max_hands=6)
CUSTOM = CUSTOM.replace(strain_named="after_auction")


@pytest.mark.parametrize("game", [*EACH, "custom"])
@pytest.mark.parametrize("mode", ["boards", "games"])
def test_the_kernel_writes_records_as_game_record_does(game, mode, tmp_path):
    rules = RULES.get(game, CUSTOM)
    out = tmp_path / "games.jsonl"
    quoted = First()
    quoted.name = 'say "seed": 0, é'
    match(rules, quoted, "random", seed=10**12, records=out, **{mode: 30})
    for line in out.read_text(encoding="utf-8").splitlines():
        assert bideuchre_env.GameRecord.loads(line).dumps() == line


def bad(answer):
    """A random agent; in calls with several rows, `answer(actions, masks)` replaces its actions."""
    random = RandomAgent(bideuchre_env.barrie_v0.rules, seed=0)

    def act_rows(observations, masks):
        good = random.act_rows(observations, masks.copy())
        return good if len(good) < 3 else answer(good, masks)

    return SimpleNamespace(name="bad", act_rows=act_rows)


def _one_illegal(good, masks):
    """Make the choice in row 1 illegal."""
    good[1] = int((masks[1] == 0).argmax())
    return good


def _own_mask(good, masks):
    """Set all masks to 1, and choose action 0 in row 0, which the true mask forbids."""
    masks[:] = 1  # the choice is checked against another mask
    good[0] = 0
    return good


BAD_ANSWERS = [(_one_illegal, r"agent 'bad', row 1 \(board \d+, table [12]\): seat [0-3] may not")]
BAD_ANSWERS += [(_own_mask, "row 0"), (lambda good, masks: good - 1000, "may not choose")]
BAD_ANSWERS += [(lambda good, masks: good + 2**40, "may not choose")]
BAD_ANSWERS += [(lambda good, masks: good * 1.0, "float64")]
BAD_ANSWERS += [(lambda good, masks: good[:-1], "shape")]
BAD_ANSWERS += [(lambda good, masks: good.reshape(-1, 1), "shape")]
BAD_ANSWERS += [(lambda good, masks: None, "object")]
BAD_ANSWERS += [(lambda good, masks: [True] * len(good), "bool")]


@pytest.mark.parametrize(("answer", "message"), BAD_ANSWERS)
def test_an_illegal_choice_names_the_agent_and_the_row(answer, message):
    with pytest.raises(IllegalActionError, match=message):
        match("barrie_v0", bad(answer), "random", boards=50)


BAD_ARGUMENTS = [({"boards": 0}, "boards=N"), ({"games": -1}, "games=-1")]
BAD_ARGUMENTS += [({"boards": True}, "whole number"), ({"seed": -1}, "seed")]
BAD_ARGUMENTS += [({"seed": 2**127}, "seed"), ({"boards": 10**9 + 1}, "boards")]
BAD_ARGUMENTS += [({"at_once": 0}, "at_once"), ({"a": "nobody"}, "nobody")]
BAD_ARGUMENTS += [({"a": object()}, "act_rows"), ({"variant": "poker"}, "poker")]


@pytest.mark.parametrize(("options", "message"), BAD_ARGUMENTS)
def test_unusable_arguments_are_refused(options, message):
    arguments = {"variant": "barrie_v0", "a": "random", "b": "random", "boards": 2} | options
    with pytest.raises(OptionError, match=message):
        match(**arguments)


@pytest.mark.parametrize("boards", [5, 40])
def test_intervals_of_games_of_random_length_cover_the_mean_95_times_in_100(boards):
    rng = np.random.default_rng(0)
    trials = 4000
    hands = rng.integers(10, 40, (trials, boards)).astype(float)
    points = rng.normal(0.7 * hands, 4 * np.sqrt(hands))
    covered = 0
    for p, h in zip(points, hands, strict=True):
        sums = (p.sum(), h.sum(), p @ p, p @ h, h @ h)
        interval = Moments(boards, *map(float, sums)).interval()
        covered += interval.low <= 0.7 <= interval.high
    assert 0.93 < covered / trials < 0.965


def counts(result):
    """The result of a rollout with its time set to 0, for comparisons."""
    return replace(result, seconds=0.0)


@pytest.mark.parametrize("variant", EACH)
def test_counts_equal_environments(variant):
    played = count_hands(variant, "rule", hands=5, seed=30)
    rules = bideuchre_env.variants[variant].rules
    player = agents.make("rule", rules)
    points, decisions, contracts, made, lone = np.zeros(2, np.int64), 0, 0, 0, 0
    for table in range(5):
        env = bideuchre_env.variants[variant].raw_env(episode="hand")
        env.reset(seed=30 + table)
        for _ in env.agent_iter():
            obs, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(player.act(obs["observation"], obs["action_mask"]))
            decisions += 1
        hand = env.record.hands[0]
        points += hand["points"]
        if hand["declarer"] is not None:
            name = hand["contract"].rpartition(" ")[0]
            bid = next(bid for bid in rules.ladder if bid.name == name)
            need = rules.tricks if bid.tricks is None else bid.tricks
            contracts += 1
            made += hand["tricks"][hand["declarer"] & 1] >= need
            lone += bid.alone
    assert (played.hands, played.decisions) == (5, decisions)
    assert played.points == tuple(points)
    assert (played.contracts, played.made, played.lone) == (contracts, made, lone)
    assert played.passed_out == 5 - contracts


@pytest.mark.parametrize("variant", EACH)
def test_threads_and_observing_leave_the_counts_unchanged(variant):
    hands = 3 * TABLES_AT_ONCE + 5
    played = count_hands(variant, hands=hands, seed=1)
    assert played.hands == hands == played.contracts + played.passed_out
    assert played.lone_made <= min(played.made, played.lone) <= played.contracts
    assert 8 * hands < played.decisions < 70 * hands
    assert played.rate > 0
    assert counts(played) == counts(
        count_hands(variant, hands=hands, seed=1, observe=True, threads=2)
    )
    assert counts(played) != counts(count_hands(variant, hands=hands, seed=2))
    ruled = count_hands(variant, "rule", hands=600, seed=1)
    assert counts(ruled) == counts(count_hands(variant, "rule", hands=600, seed=1, threads=3))


@pytest.mark.parametrize("policy", module.POLICIES)
@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"tables": 3}, {"tables": 100}])
def test_the_number_of_hands_in_a_call_of_a_kernel_leaves_the_counts_unchanged(
    policy, options, monkeypatch
):
    usual = count_hands("six_card_v0", policy, hands=1001, seed=1, **options)
    for hands in (1, 7, 300):
        monkeypatch.setattr(module, "HANDS_AT_ONCE", hands)
        assert counts(count_hands("six_card_v0", policy, hands=1001, seed=1, **options)) == counts(
            usual
        )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("policy", "hands"), [("random", 10**7), ("rule", 10**6)])
def test_ctrl_c_ends_a_rollout_within_a_second(policy, hands, threads, default_ctrl_c):
    """It ended after its last hand, here after more than ten seconds."""
    count_hands("six_card_v0", policy, hands=10, threads=threads)  # compiles
    pressed = []

    def press():
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        count_hands("six_card_v0", policy, hands=hands, threads=threads)
    assert time.process_time() - pressed[0] < 1
    timer.join()


def test_points_of_both_sides_differ_by_less_than_four_standard_errors():
    played = count_hands("cincinnati_v0", hands=200_000, seed=9)
    # a hand's difference stays within 66 points (a lone bid of the highest value and its tricks)
    assert abs(played.points[0] - played.points[1]) < 4 * 66 * np.sqrt(played.hands)


def test_rules_and_variants_are_accepted_and_wrong_options_refused():
    rules = bideuchre_env.cincinnati_v0.rules.replace(copies=2)
    assert count_hands(rules, hands=10, seed=1).hands == 10
    assert count_hands(bideuchre_env.barrie_v0, hands=3, seed=1).hands == 3
    for options, word in (
        ({"policy": "greedy"}, "policy='greedy': expected one of 'random', 'rule'"),
        ({"hands": 0}, "hands=0"),
        ({"hands": True}, "hands=True"),
        ({"threads": -1}, "threads=-1"),
        ({"seed": -1}, "seed=-1"),
    ):
        with pytest.raises(OptionError, match=word):
            count_hands("cincinnati_v0", **options)
    with pytest.raises(OptionError, match="no variant"):
        count_hands("bridge", hands=3)


def test_the_number_of_tables_at_once_is_that_of_the_option():
    usual = count_hands("club_v0", hands=9, seed=4)
    assert counts(usual) == counts(count_hands("club_v0", hands=9, seed=4, tables=9))
    assert counts(usual) != counts(count_hands("club_v0", hands=9, seed=4, tables=2))
    for tables in (0, -1, 2.0, True, "9", 1 << 40):
        with pytest.raises(OptionError, match=r"tables=.*: expected a whole .* 1 to 4194304"):
            count_hands("club_v0", hands=9, tables=tables)
    with pytest.raises(OptionError, match="device='gpu': expected one of 'cpu', 'cuda'"):
        count_hands("club_v0", hands=9, device="gpu")


@pytest.mark.long
def test_every_kernel_compiles_for_the_gpu(monkeypatch):
    with compile_only(monkeypatch, stack=8):
        for policy in module.POLICIES:
            count_hands("double_deck_v0", policy, hands=10, device="cuda")
