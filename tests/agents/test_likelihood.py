"""Worlds: rebuilt from an observation, redealt, and their likelihood given the actions."""

import random

import numpy as np
import pytest
from oracles.replayed_likelihood import replayed_log
from support.agent_games import decisions, live_rows, lone_decisions, look, searcher, start
from support.playthroughs import DIFFERENT
from support.strategies import random_rules

from bideuchre_env import agents
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.likelihood import log_likelihood, weigh_worlds
from bideuchre_env.agents.search.sampler import NEGLIGIBLE
from bideuchre_env.agents.search.worlds import rebuild
from bideuchre_env.core import one_row
from bideuchre_env.core.observation.decode import decode
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows
from bideuchre_env.core.state import PASSING, PLAY, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.rules.cards import KIND_BITS, hand_bits, parse_card
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import line_of
from bideuchre_env.runtime.jit import entry_kernel

pytestmark = pytest.mark.search


GAMES = RULES | {"kitty": RULES["barrie_v0"].replace(kitty=4, partnered=(1, 7))}


@pytest.mark.parametrize(
    ("name", "game", "bid"),
    [("inference", "cincinnati_v0", None), ("pimc", "double_deck_v0", None),
     ("inference", "simplified_v0", None), ("pimc", "barrie_v0", "call-2"),
     ("inference", "barrie_v0", "moon"), ("inference", "kitty", None),
     ("inference", "kitty", "call-2"), ("pimc", "kitty", "moon")],
)  # fmt: skip
def test_likelihoods_equal_a_replay_of_the_hand(name, game, bid):
    rules, replays, compared = GAMES[game], new_states(1), 0
    agent = searcher(name, rules)
    if bid is None:
        cases = decisions(rules, 3, seed=6, hands=2, every=3)
    else:
        cases = lone_decisions(rules, bid, 5, seed=6)
    for row, mask, state in cases:
        if mask.sum() < 2 or state["calls_made"] == 0:
            continue
        space = agent.space
        begin(space, row[np.newaxis], mask[np.newaxis], 0)
        weigh_worlds(space, np.empty(1), 0, 1, NEGLIGIBLE)
        replays[0] = space.replays[0]
        for number in range(12):
            resample_row(space.worlds, space.expert.tables, 0, space.redeals, *split_seed(number))
            quick = log_likelihood(space, -1e18)
            assert quick == pytest.approx(replayed_log(space, replays), rel=1e-9, abs=1e-9)
            compared += quick < -0.1
    assert compared > 60


@pytest.mark.parametrize(
    ("discards", "passed", "n_giving", "n_passing"),
    [
        ("QD KD", "JD AS", 0, 0),  # the expert's own cards
        ("KD QD", "AS JD", 0, 0),  # in reverse order
        ("QD KH", "JD AC", 1, 1),  # KD and AS are preferred
        ("KD KH", "AC QH", 1, 4),  # QD; JD, AS, the other AC and AD
        ("AS KH", "JD QH", 2, 3),  # QD and KD; AS, AC and AD
    ],
)
def test_each_kind_preferred_makes_an_exchange_less_likely(discards, passed, n_giving, n_passing):
    """The penalty is 1 for a kind that the expert prefers to discard, and 0.1 to pass."""
    rules, agent = RULES["barrie_v0"], searcher("inference", RULES["barrie_v0"])
    own = ["QS", "QS", "KS", "KS", "QC", "QC", "KC", "KC"]
    calls = ["call-2 H", "pass", "pass", "pass"]
    row = known_position(rules, own, calls=calls, played=["JH"])
    seen, mask = (each[0] for each in look(rules, row, np.zeros(1, np.int64)))
    agent.act(seen, mask)
    model = agent.space.choice_models
    model["giving"], model["passing"], model["reads_cards"] = -1.0, -0.1, 0
    expected = -n_giving - 0.1 * n_passing
    change = exchange_logs(agent, discards, passed) - exchange_logs(agent, "QD KD", "JD AS")
    assert change == pytest.approx(expected)


def exchange_logs(agent, discards, passed):
    """The log-likelihood if the declarer, who has led JH, gave up `discards` and got `passed`."""
    world, seat = agent.space.worlds, int(agent.space.worlds["declarer"][0])
    declarer = ["JH", "JD", "AH", "KH", "AS", "QD", "KD", *passed.split()]  # and JH, played
    partner = ["JD", "AC", "AC", "AS", "QH", "KD", "QD", "AD"]
    for name in discards.split():
        declarer.remove(name)
    for name in passed.split():
        partner.remove(name)
    world["hands"][0, seat] = hand_bits(map(parse_card, declarer))
    world["hands"][0, seat ^ 2] = hand_bits(map(parse_card, partner))
    world["given"][0, :2] = [parse_card(name) for name in discards.split()]
    world["passed"][0, :2] = [parse_card(name) for name in passed.split()]
    agent.space.hand_caches["keys"] = 0
    return log_likelihood(agent.space, -1e18)


@pytest.mark.parametrize("variant", ["cincinnati_v0", "simplified_v0", "barrie_v0"])
def test_the_cache_of_calls_changes_no_decision(variant):
    rules = RULES[variant]
    cached, fresh = (searcher("inference", rules, worlds=20, played_out=20) for _ in range(2))
    compared = shared = 0
    for row, mask, state in decisions(rules, 3, seed=8, hands=3, every=3):
        if mask.sum() < 2 or state["calls_made"] == 0:
            continue
        fresh.space.call_caches["keys"] = 0
        before = np.count_nonzero(cached.space.call_caches["keys"])
        assert cached.act(row, mask) == fresh.act(row, mask)
        assert np.array_equal(cached.space.plans["sums"], fresh.space.plans["sums"])
        filled = np.count_nonzero(fresh.space.call_caches["keys"])
        shared += np.count_nonzero(cached.space.call_caches["keys"]) - before < filled
        compared += 1
    assert compared > 25
    assert shared > 10  # entries of earlier decisions were reused


AUCTION_FACTS = ("dealer", "declarer", "level", "strain", "calls", "call_strains", "calls_made")
PLAY_FACTS = ("trick", "led", "winning", "winning_power", "tricks_won", "voids", "leaders", "plays")
KNOWN = ("phase", "turn", "sitting_out", "picks", *AUCTION_FACTS, *PLAY_FACTS)
SEATS = {"turn", "dealer", "declarer", "sitting_out", "winning", "leaders"}
BY_SEAT = {"calls", "call_strains", "voids"}


def rotated(row, seat):
    """A dict of the fields of a state row that `seat` knows, rotated so that `seat` is 0."""
    facts = {}
    for name in KNOWN:
        value = np.array(row[name])
        if name in SEATS:
            value = np.where(value >= 0, (value - seat) & 3, value)
        elif name in BY_SEAT:
            value = np.roll(value, -seat)
        elif name == "plays":
            value = np.roll(value.reshape(4, -1), -seat, axis=0).reshape(-1)
        elif name == "tricks_won":
            value = np.roll(value, -(seat & 1))
        facts[name] = value
    return facts


@entry_kernel
def rebuild_row(observation, tables, offsets, scripts, worlds, again):
    """Decode and `rebuild` in the first record of each array; `observation` is int8 (D,)."""
    row, t, o = line_of(observation), tables[0], offsets[0]
    decode(row, t, o, scripts[0])
    return rebuild(row, t, o, scripts[0], worlds[0], line_of(again))


class Rebuilder:
    """Rebuilds a position from the observation of the seat to act, redeals and observes it."""

    def __init__(self, rules):
        self.rules, self.tables, self.layout = rules, compile_tables(rules), layout_of(rules)
        self.scripts, self.worlds = new_states(1), new_states(1)
        self.again = np.zeros(self.layout.size, np.int8)
        self.scratch = new_redeal()

    def __call__(self, observation):
        return rebuild_row(
            observation, self.tables, self.layout.offsets, self.scripts, self.worlds, self.again
        )  # fmt: skip

    def redeal(self, seed):
        resample_row(self.worlds, self.tables, 0, self.scratch, *split_seed(seed))

    def seen(self):
        one_row.observe_row(self.worlds, self.tables, self.layout.offsets, 0, self.again)
        return self.again


def check(rebuild, observation, row):
    """Compare the rebuilt position of one decision with the true one, and its redeals."""
    seat, world = int(row["turn"]), rebuild.worlds[0]
    assert rebuild(observation)
    truth, built = rotated(row, seat), rotated(world, 0)
    for name in KNOWN:
        assert np.array_equal(truth[name], built[name]), name
    assert int(world["hands"][0]) == int(row["hands"][seat])
    for rel in range(4):
        sizes = [int(x).bit_count() for x in (world["hands"][rel], row["hands"][(seat + rel) & 3])]
        assert sizes[0] == sizes[1]
    if row["declarer"] == seat and row["phase"] == PLAY:
        for name in ("given", "passed"):
            assert sorted(world[name]) == sorted(row[name])
    elif row["phase"] == PASSING:
        assert sorted(world["passed"]) == sorted(row["passed"])
    for seed in range(3):
        rebuild.redeal(seed)
        assert np.array_equal(rebuild.seen(), observation)
        checked_states(rebuild.worlds, 1, rebuild.tables)
        if row["phase"] == PLAY:
            for rel in range(4):
                for suit in range(4):
                    if world["voids"][rel] >> suit & 1:
                        suit_bits = int(rebuild.tables["suit_bits"][0][int(row["strain"])][suit])
                        assert int(world["hands"][rel]) & KIND_BITS & suit_bits == 0


def check_games(rules, tables_, hands, seed):
    """Check every decision of `hands` hands at each of `tables_` tables; return their number."""
    rebuild, tables, checked = Rebuilder(rules), compile_tables(rules), 0
    players = [agents.make(name, rules, seed=seed) for name in ("cautious", "random", "rule")]
    states = start(rules, tables_, seed=seed)
    for hand in range(hands):
        player = players[hand % 3]
        while len(live := live_rows(states)):
            rows, masks = look(rules, states, live)
            for j, g in enumerate(live):
                check(rebuild, rows[j], states[g])
                checked += 1
            apply_rows(states, tables, live, player.act_rows(rows, masks))
        deal_rows(states, tables)
    return checked


@pytest.mark.parametrize("variant", DIFFERENT)
def test_a_rebuilt_position_has_all_facts_that_the_seat_knows(variant):
    assert check_games(RULES[variant], 4, 6, seed=3) > 300


def test_positions_of_custom_games_are_rebuilt():
    rng = random.Random(21)
    games = [random_rules(rng).replace(max_hands=12) for _ in range(20)]
    assert sum(check_games(rules, 2, 3, seed=game) for game, rules in enumerate(games)) > 500


def test_impossible_observations_are_refused():
    """Random bytes are refused; a single changed entry may give a valid observation."""
    rng = np.random.default_rng(4)
    for variant in ("cincinnati_v0", "barrie_v0"):
        rules = RULES[variant]
        rebuild, states = Rebuilder(rules), start(rules, 4, seed=8)
        player, tables = agents.make("random", rules, seed=2), compile_tables(rules)
        refused = 0
        for _ in range(16):
            live = live_rows(states)
            rows, masks = look(rules, states, live)
            for row in rows:
                for _ in range(20):
                    changed = row.copy()
                    changed[rng.integers(len(row))] = rng.integers(-128, 128)
                    if not rebuild(changed):
                        refused += 1
                    else:
                        assert np.array_equal(rebuild.seen(), changed)
                noise = rng.integers(-128, 128, len(row), dtype=np.int8)
                assert not rebuild(noise)
            apply_rows(states, tables, live, player.act_rows(rows, masks))
        assert refused > 500
