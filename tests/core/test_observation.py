"""Observations contain exactly the information of a seat, within bounds, and entries have names."""

import numpy as np
import pytest
from hypothesis import strategies as st
from oracles.reference import ReferenceGame, winner_of
from support.playthroughs import VARIANTS, Chooser, finish, plies, start
from support.strategies import in_two_sizes, rules, seeds

import bideuchre_env
from bideuchre_env import Bid, Rules, errors, make
from bideuchre_env.core.observation.layout import CLIP, SEATS, layout_of
from bideuchre_env.core.one_row import observe_row
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import CARD_NAMES, hand_kinds

CHOICES = st.integers(0, 2**32)


def clipped(value):
    return min(max(value, -127), 127)


def expected_view(reference, seat, game):
    """The reference's view of a seat in the format of `layout.decode`, with clipped numbers."""
    view = reference.view(seat)
    view["tricks"] = [
        {
            "leader": (trick[0][0] - seat) % 4,
            "cards": [card for _, card in trick],
            "winner": (winner_of(trick, reference.strain) - seat) % 4,
        }
        for trick in [*reference.past_tricks, reference.trick]
        if trick
    ]
    if reference.trick:
        view["tricks"][-1]["winner"] = None
    view["score"] = [clipped(points) for points in view["score"]]
    view["hands_left"] = clipped(view["hands_left"])
    aimed = game.win_rule != "rounds"
    view["to_go"] = [clipped(points) for points in view["to_go"]] if aimed else None
    view["target"] = clipped(view["target"]) if aimed else None
    return view


@in_two_sizes(20, game=rules(), seed=seeds(), choices=CHOICES)
def test_decoded_observation_equals_the_view_of_the_reference(game, seed, choices):
    env = start(game, seed)
    reference = ReferenceGame(game.to_dict(), env.record.hands[0]["dealer"])
    hands = 0
    for _, action in plies(env, Chooser(choices), 150):
        assert env.state_space.contains(env.state())
        if len(env.record.hands) > hands:
            hands += 1
            reference.deal(env.record.hands[-1]["deal"])
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            words = env.observation_layout.decode(seen["observation"])
            assert words == expected_view(reference, seat, game)
        reference.play(env.action_names[action])


@in_two_sizes(20, game=rules(), seed=seeds(), choices=CHOICES)
def test_the_state_contains_the_four_hands(game, seed, choices):
    env = start(game, seed)
    layout = env.observation_layout
    private, held = layout.private_size, layout.slices["hand"]
    assert layout.state_size == env.state_space.shape[0] == layout.size + 3 * private
    for _ in plies(env, Chooser(choices), 80):
        state = env.state()
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)["observation"]
            own = state[seat * private : (seat + 1) * private]
            assert (own == seen[:private]).all()
            cards = own[held]
            kinds = np.repeat(np.arange(game.kinds), cards).tolist()
            assert kinds == hand_kinds(env._states["hands"][0, seat])
        public = env.observe("player_0")["observation"][private:]
        assert (state[4 * private :] == public).all()


def hidden_fields(rules, row, seat):
    """Yield the names of the piles of kitty and exchange that are hidden from a seat."""
    declarer, phase = int(row["declarer"]), int(row["phase"])
    taken_up = rules.exchange_seen == "open" and phase >= 3 and seat == (declarer + 2) % 4
    if seat != declarer or phase < 2:
        yield "kitty"
    if seat != declarer:
        yield "laid"
    if seat != declarer and not taken_up:
        yield "given"
    if seat != (declarer + 2) % 4 and (phase == 3 or seat != declarer):
        yield "passed"


@in_two_sizes(25, game=rules(), seed=seeds(), choices=CHOICES)
def test_hidden_numbers_change_no_observation(game, seed, choices):
    env, rng = start(game, seed), np.random.default_rng(choices)
    layout, tables = layout_of(game), compile_tables(game)
    for _ in plies(env, Chooser(choices), 100):
        for seat in range(4):
            rows, out = env._states.copy(), np.zeros(layout.size, np.int8)
            rows["rng"] = rng.integers(0, 2**64, (1, 2), np.uint64)
            for other in range(4):
                if other != seat:
                    rows["hands"][0, other] = rng.integers(0, 2**48)
            for name in hidden_fields(game, env._states[0], seat):
                there = rows[name][0] >= 0  # the number of cards is public
                rows[name][0, there] = rng.integers(0, game.kinds, there.sum())
            observe_row(rows, tables, layout.offsets, seat, out)
            assert (out == env.observe(f"player_{seat}")["observation"]).all()


@in_two_sizes(30, game=rules(), seed=seeds())
def test_blocks_partition_the_vector(game, seed):
    layout = layout_of(game)
    space = make(game).raw_env().observation_space("player_0")["observation"]
    assert (space.low == layout.low).all()
    assert (space.high == layout.high).all()
    at = 0
    for block in layout.blocks:
        assert layout.slices[block.name] == slice(at, at + block.size)
        assert block.size == np.prod(block.shape)
        assert -128 <= block.low < block.high <= 127
        assert (layout.low[layout.slices[block.name]] == block.low).all()
        assert (layout.high[layout.slices[block.name]] == block.high).all()
        offset = int(layout.offsets[0][block.name])
        private = block.name in ("hand", "kitty", "laid_away", "discarded", "passed")
        assert offset + (0 if private else layout.private_size) == at
        at += block.size
    assert at == layout.size == len(layout.low) == len(layout.high)
    absent = set(layout.offsets.dtype.names) - {"private", "entries"} - set(layout.slices)
    assert all(int(layout.offsets[0][name]) == -1 for name in absent)


@pytest.mark.parametrize("score", [[10**15, -(10**15)], [-(10**15), 10**15], [128, -129]])
@pytest.mark.parametrize("win_rule", ["any", "made_bid", "made_or_set", "rounds"])
def test_numbers_beyond_int8_are_clipped(score, win_rule):
    aims = {"rounds": 10**14} if win_rule == "rounds" else {"target": 10**15}
    game = Rules(lone=(Bid("moon", 10**6),), win_rule=win_rule, max_hands=10**15, **aims)
    env = make(game).raw_env()
    env.reset(seed=1, options={"score": score})
    for _ in plies(env, Chooser(3), 60):
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            words = env.observation_layout.decode(seen["observation"])
            total = env.record.hands[-1]["score"]
            ours, theirs = total[seat % 2], total[1 - seat % 2]
            assert words["score"] == [clipped(ours), clipped(theirs)]
            assert words["hands_left"] == CLIP
            if win_rule != "rounds":
                assert words["target"] == CLIP
                assert words["to_go"] == [clipped(10**15 - ours), clipped(10**15 - theirs)]
    assert abs(env.record.hands[-1]["score"][0]) > 120


def hands_left_after(env, choose):
    """`hands_left` of the last observation of an episode, the same for all seats."""
    finish(env, choose)
    seen = [env.observe(agent)["observation"] for agent in env.possible_agents]
    [left] = {env.observation_layout.decode(each)["hands_left"] for each in seen}
    return left


def test_the_last_observation_counts_its_own_hand_under_rounds():
    """The hand that has just ended still counts as left, unless all have passed."""
    first = Chooser(3)
    for rounds in (1, 2):
        assert hands_left_after(start("simplified_v0", 3, rounds=rounds), first) == 1
        options = {"rounds": rounds, "episode": "hand"}
        assert hands_left_after(start("simplified_v0", 3, **options), first) == 4 * rounds
        assert hands_left_after(start("simplified_v0", 3, **options), lambda env: 0) == 4 * rounds
    few = start("simplified_v0", 3, rounds=1, max_hands=4)
    for _ in range(8):
        few.step("pass")  # two of the four deals are not played
    seen = few.observe(few.agent_selection)["observation"]
    assert few.observation_layout.decode(seen)["hands_left"] == 2


@pytest.mark.parametrize("name", VARIANTS)
def test_after_the_end_no_seat_is_to_act(name):
    env = finish(start(name, 2, max_hands=2, win_rule="any", target=10**6), Chooser(2))
    for agent in env.possible_agents:
        words = env.observation_layout.decode(env.observe(agent)["observation"])
        assert (words["phase"], words["to_act"], words["hands_left"]) == ("over", None, 1)
        assert sum(words["tricks_won"]) in (0, env.rules.tricks)


def test_decoding_another_shape_is_refused():
    layout = layout_of(bideuchre_env.barrie_v0.rules)
    for wrong in (np.zeros(layout.size + 1), np.zeros((1, layout.size)), [], 5):
        with pytest.raises(errors.OptionError, match="an observation of shape"):
            layout.decode(wrong)


@in_two_sizes(20, game=rules(), seed=seeds())
def test_any_observation_within_the_bounds_is_decoded(game, seed):
    """Impossible ones, too; arrays of any integer type, order and writability."""
    layout, rng = layout_of(game), np.random.default_rng(seed)
    for _ in range(20):
        chosen = rng.random(layout.size) < rng.choice([0.02, 0.5, 1])
        values = np.where(chosen, rng.integers(layout.low, layout.high, endpoint=True), 0)
        words = layout.decode(values)
        assert len(words["tricks"]) <= game.tricks
        strided = np.repeat(values.astype(np.int8), 2)[::2]
        strided.flags.writeable = False
        assert layout.decode(strided) == words
        at = rng.integers(layout.size)
        for wrong in (layout.low[at] - 1, int(layout.high[at]) + 1, int(values[at]) + 256):
            with pytest.raises(OptionError, match=r"expected whole numbers within layout\.low"):
                layout.decode(np.where(np.arange(layout.size) == at, wrong, values))


every_variant = pytest.mark.parametrize("name", VARIANTS)


@every_variant
def test_every_entry_has_a_name(name):
    layout = layout_of(bideuchre_env.variants[name].rules)
    assert len(layout.names) == len(set(layout.names)) == layout.size
    for block in layout.blocks:
        names = layout.names[layout[block.name]]
        assert names == block.entries
        assert all(each == block.name or each.startswith(block.name + " ") for each in names)
        assert np.prod(block.shape) == len(names)
    assert all(each == " ".join(each.split()) and len(each) < 40 for each in layout.names)
    assert layout.cards == CARD_NAMES[: layout.rules.kinds]
    assert layout.names[layout["hand"]] == tuple(f"hand {card}" for card in layout.cards)


@every_variant
def test_nonzero_entries_have_the_names_of_the_decoded_words(name):
    env = bideuchre_env.variants[name].raw_env()
    env.reset(seed=21)
    layout = env.observation_layout
    names, cards_named = np.array(layout.names), 0
    for _ in plies(env, Chooser(4), 150):
        seen = env.last()[0]["observation"]
        words = layout.decode(seen)
        nonzero = set(names[seen != 0])
        assert {f"hand {c}" for c in words["hand"]} == {n for n in nonzero if n[:5] == "hand "}
        for block in ("to_act", "dealer", "declarer", "winning", "phase", "strain", "led"):
            at = {n.split()[1] for n in nonzero if n.startswith(block + " ")}
            word = words[block]
            assert at == (set() if word is None else {SEATS[word] if word in range(4) else word})
        for seat, call, tricks in zip(SEATS, words["calls"], words["played"], strict=True):
            calls = [n for n in nonzero if n.startswith(f"calls {seat} ")]
            said = [n.removeprefix(f"calls {seat} ") for n in calls]
            assert bool(said) == (call is not None)
            assert not said or any(call.startswith(word) for word in said)
            assert len(said) <= 1 or env.rules.auction != "once"
            cards = sorted(n.split()[-1] for n in nonzero if n.startswith(f"played {seat} "))
            assert cards == sorted(card for card in tricks if card is not None)
            cards_named += len(cards)
    assert cards_named


def test_unknown_block_is_refused():
    layout = layout_of(bideuchre_env.cincinnati_v0.rules)
    assert layout["hand"] == layout.slices["hand"] == slice(0, 24)
    assert "hand" in layout
    for wrong in ("hands", "passed", None):
        assert wrong not in layout
        with pytest.raises(OptionError, match=r"no block .*: hand, phase, to_act"):
            layout[wrong]
    assert "passed" in layout_of(bideuchre_env.barrie_v0.rules)
