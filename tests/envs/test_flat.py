"""`observation="flat"`: the same observation as one float32 vector, on every face."""

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.utils.wrappers import OrderEnforcingWrapper
from support.playthroughs import VARIANTS, Chooser, finish, over, plies, snapshot
from support.solo_helpers import Spy, assert_same
from support.wrapper_twin import NoMaskLeft

import bideuchre_env
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.errors import IllegalActionError, OptionError

every_variant = pytest.mark.parametrize("name", VARIANTS)
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
cincinnati = bideuchre_env.cincinnati_v0


def scaled(layout, observations):
    """Each entry over the larger of its bounds, in numpy alone."""
    most = np.maximum(np.abs(layout.low.astype(np.float32)), layout.high)
    return observations / most


def last_legal(masks):
    """The last legal action of every row: it bids high, and so hands are played."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


@every_variant
def test_scaled(name):
    """Float32 in [-1, 1], 0 where it was 0, 1 at the bound; of any number of dimensions."""
    layout = layout_of(bideuchre_env.variants[name].rules)
    for bound in (layout.low, layout.high):
        flat = layout.scaled(bound)
        assert flat.dtype == np.float32
        np.testing.assert_allclose(flat, scaled(layout, bound), rtol=2e-7)
        np.testing.assert_array_equal(flat, bound * layout.scale)
        assert (np.abs(flat) <= 1).all()
        assert (flat[bound == 0] == 0).all()
    grid = np.stack([[layout.low, layout.high]] * 3)
    np.testing.assert_array_equal(layout.scaled(grid)[2, 1], layout.scaled(layout.high))
    assert layout.scale.dtype == np.float32
    assert layout.scale.shape == (layout.size,)
    assert not layout.scale.flags.writeable
    assert layout.scaled(grid[:0]).shape == (0, 2, layout.size)
    for wrong in (layout.low.astype(int), layout.low[1:], np.int8(1), "no"):
        with pytest.raises(OptionError, match=f"int8 \\(..., {layout.size}\\) is expected"):
            layout.scaled(wrong)


@every_variant
def test_aec_shows_the_same(name):
    """Seat by seat through a game what "dict" shows; the mask is in the infos, of every agent."""
    variant = bideuchre_env.variants[name]
    plain, flat = (variant.raw_env(observation=word, max_hands=4) for word in ("dict", "flat"))
    for env in (plain, flat):
        env.reset(seed=6)
    for _, action in plies(plain, Chooser(3)):
        for agent in plain.possible_agents:
            expected, seen = plain.observe(agent), flat.observe(agent)
            assert flat.observation_space(agent).contains(seen)
            assert_same(seen, expected["observation"] * plain.observation_layout.scale)
            assert_same(flat.infos[agent], {"action_mask": expected["action_mask"]})
        assert_same(flat.last()[0], flat.observe(flat.agent_selection))
        np.testing.assert_array_equal(plain.state(), flat.state())
        flat.step(action)
    assert over(flat)
    assert all(not info["action_mask"].any() for info in flat.infos.values())
    assert flat.observation_spaces["player_0"] == gymnasium.spaces.Box(
        -1, 1, (plain.observation_layout.size,), np.float32
    )


@every_variant
def test_pettingzoos_tests(name):
    """`api_test`, without a warning, `seed_test` and `parallel_api_test`."""
    variant = bideuchre_env.variants[name]
    for env in (variant(observation="flat"), variant.raw_env(observation="flat", episode="hand")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            api_test(env, num_cycles=150)
    seed_test(lambda: variant(observation="flat"), num_cycles=150)
    parallel_api_test(variant.parallel_env(observation="flat"), num_cycles=50)


@pytest.mark.parametrize("illegal", [False, True])
def test_pettingzoos_wrappers_find_the_mask(illegal):
    """`TerminateIllegalWrapper` takes it from the infos, those of agents that are done, too."""
    raw = cincinnati.raw_env(observation="flat", max_hands=2)
    env = OrderEnforcingWrapper(NoMaskLeft(raw, illegal_reward=-1))
    ours = cincinnati.env(observation="flat", max_hands=2)
    env.reset(seed=2)
    ours.reset(seed=2)
    chooser = Chooser(1)
    for turn, agent in enumerate(env.agent_iter()):
        seen, reward, terminated, truncated, info = env.last()
        assert_same(list(ours.last()), [seen, reward, terminated, truncated, info])
        action = None if terminated or truncated else chooser(env)
        if illegal and turn == 9:
            action = int(info["action_mask"].argmin())
        assert ours.agent_selection == agent
        env.step(action)
        ours.step(action)
    assert not ours.agents
    assert turn > 30 or illegal


def test_copies_of_a_table():
    """Clones, copies, pickles and redealt clones stay flat, and keep masks to themselves."""
    env = cincinnati.raw_env(observation="flat")
    env.reset(seed=4)
    for _ in plies(env, Chooser(2), 9):
        pass
    twins = [env.clone(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for twin in twins:
        assert_same(snapshot(twin), snapshot(env))
        twin.infos[twin.agent_selection]["action_mask"][:] = 1
    other = env.resample_hidden(
        env.possible_agents.index(env.agent_selection), np.random.default_rng(1)
    )
    assert_same(other.last(), env.last())
    last = [snapshot(finish(twin, Chooser(8))) for twin in (env, other.clone())]
    assert last[0]["seen"]["player_0"].dtype == last[1]["seen"]["player_0"].dtype == np.float32


@pytest.mark.parametrize("copied", [False, True])
@every_variant
def test_vec_shows_the_same(name, copied):
    """Rows as "dict" shows them, from reset, step, `observe`, `set_state` and `set_deal`."""
    variant = bideuchre_env.variants[name]
    plain = variant.vec(7, episode="hand")
    flat = variant.vec(7, episode="hand", observation="flat", copy=copied, threads=2)
    scale = plain.observation_layout.scale

    def check(expected, told):
        (seen, info), (mine, its) = expected, told
        assert_same(mine, seen["observation"] * scale)
        assert flat.observation_space.contains(mine)
        assert_same({**its, "action_mask": its["action_mask"].copy()}, info)
        assert_same(its["action_mask"], seen["action_mask"])
        assert_same(flat.action_masks(), seen["action_mask"].astype(bool))

    check(plain.reset(seed=5), flat.reset(seed=5))
    for _ in range(40):
        actions = plain.sample().copy()
        np.testing.assert_array_equal(flat.sample(), actions)
        a, b = plain.step(actions), flat.step(actions)
        check((a[0], a[4]), (b[0], b[4]))
        assert_same(list(a[1:4]), list(b[1:4]))
    np.testing.assert_array_equal(flat.observe(2), plain.observe(2) * scale)
    assert flat.observe([0, 1, 2, 3, 0, 1, 2]).dtype == np.float32
    kept = plain.get_state()
    for vec in (plain, flat):
        vec.reset(seed=9)
    check(plain.set_state(kept), flat.set_state(kept))
    assert flat.single_observation_space.contains(flat.observe(0)[3])
    twin = pickle.loads(pickle.dumps(flat))
    actions = flat.sample().copy()
    assert_same(list(twin.step(actions)), list(copy.deepcopy(flat).step(actions)))


def test_vec_set_deal_and_memory():
    """A given deal; the array is kept from step to step unless copies are asked for."""
    from bideuchre_env.rules.cards import CARD_NAMES

    deal = [list(CARD_NAMES[i::4]) for i in range(4)]
    kept, copied = (cincinnati.vec(3, observation="flat", copy=c) for c in (False, True))
    for vec, shared in ((kept, True), (copied, False)):
        vec.reset(seed=1)
        seen, info = vec.set_deal([deal], rows=[1], dealers=[0])
        hand = vec.observation_layout.slices["hand"]
        assert info["seat"][1] == 1
        assert [CARD_NAMES[k] for k in np.flatnonzero(seen[1, hand])] == deal[1]
        after = vec.step(vec.sample())[0]
        assert np.shares_memory(seen, after) == shared
        after[:] = 7
        assert (vec.step(vec.sample())[0] <= 1).all()


def test_masks_of_one_table_are_bool():
    """`action_masks()` of the agent to act, bare and wrapped; none once nobody is to act."""
    for word in ("dict", "flat"):
        for env in (cincinnati.env(observation=word), cincinnati.raw_env(observation=word)):
            with pytest.raises(OptionError, match="nothing has been dealt"):
                env.action_masks()
            env.reset(seed=1)
            masks = env.action_masks()
            assert masks.dtype == bool
            np.testing.assert_array_equal(masks, env.last()[4]["action_mask"])
            masks[:] = True  # its own
            assert not env.action_masks().all()
            env.unwrapped._forfeit(-1)
            assert not env.action_masks().any()


def test_masks_of_many_tables_are_bool():
    """`vec.action_masks()`: a new array, whatever else is rewritten by the next step."""
    for copied in (False, True):
        vec = cincinnati.vec(4, copy=copied)
        with pytest.raises(OptionError, match="nothing has been dealt"):
            vec.action_masks()
        seen, info = vec.reset(seed=1)
        masks = vec.action_masks()
        assert masks.dtype == bool
        np.testing.assert_array_equal(masks, seen["action_mask"])
        np.testing.assert_array_equal(masks, info["action_mask"])
        assert info["_action_mask"].all()
        assert info["_seat"].all()
        kept = masks.copy()
        vec.step(vec.sample())
        assert (vec.action_masks() != kept).any()
        np.testing.assert_array_equal(masks, kept)
        masks[:] = True
        with pytest.raises(IllegalActionError, match="row 0"):  # it is no way into the game
            vec.step(np.full(4, masks.shape[1] - 1))


@every_variant
def test_solo_shows_the_same(name):
    """What "dict" shows, in order; Gymnasium's `check_env` without a warning."""
    variant = bideuchre_env.variants[name]
    options = {"opponents": "cautious", "episode": "hand"}
    plain, flat = (variant.solo(**options, observation=word) for word in ("dict", "flat"))
    scale = plain.observation_layout.scale
    (seen, info), (mine, its) = plain.reset(seed=3), flat.reset(seed=3)
    for _ in range(30):
        assert_same(mine, seen["observation"] * scale)
        assert mine in flat.observation_space
        assert_same(its, info)
        assert_same(flat.action_masks(), seen["action_mask"].astype(bool))
        action = int(last_legal(seen["action_mask"][np.newaxis])[0])
        (seen, *ends, info), (mine, *same, its) = plain.step(action), flat.step(action)
        assert ends == same
        if ends[1] or ends[2]:
            assert_same(mine, seen["observation"] * scale)
            (seen, info), (mine, its) = plain.reset(), flat.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = gymnasium.make(variant.gymnasium_id, observation="flat").unwrapped
        check_env(made, skip_render_check=True)  # that is test_gymnasium.py's
    twin = pickle.loads(pickle.dumps(flat))
    action = int(flat.action_masks().argmax())
    assert_same(list(twin.step(action)), list(flat.step(action)))


@every_mode
@pytest.mark.parametrize("opponents", ["cautious", Spy])
def test_solo_vec_is_gymnasiums_sync_vector_env(mode, opponents):
    """Bit for bit, `final_obs` and infos included; players are shown what they always were."""
    options = {"opponents": opponents, "episode": "hand", "observation": "flat"}
    vecs = [
        cincinnati.solo_vec(5, autoreset_mode=mode, **options),
        cincinnati.solo_vec(5, autoreset_mode=mode, copy=False, threads=2, **options),
        gymnasium.vector.SyncVectorEnv(
            [lambda: cincinnati.solo(**options)] * 5, autoreset_mode=mode
        ),
    ]
    vec = vecs[0]
    assert vec.observation_space == vecs[2].observation_space
    assert vec.single_observation_space == vecs[2].single_observation_space
    told, ended = [each.reset(seed=8) for each in vecs], 0
    for _ in range(30):
        for other in told[1:]:
            assert_same(list(told[0]), list(other))
        assert vec.observation_space.contains(told[0][0])
        masks, chosen = vec.action_masks(), told[0][-1]["_action_mask"]
        np.testing.assert_array_equal(masks[chosen], told[0][-1]["action_mask"][chosen])
        told = [each.step(last_legal(masks)) for each in vecs]
        over = told[0][2] | told[0][3]
        ended += over.sum()
        if mode == AutoresetMode.SAME_STEP and over.any():
            final = told[0][4]["final_obs"]
            assert all((seen is not None) == done for seen, done in zip(final, over, strict=True))
            assert all(seen in vec.single_observation_space for seen in final[over])
        if mode == AutoresetMode.DISABLED and over.any():
            told = [each.reset(options={"reset_mask": over.copy()}) for each in vecs]
    assert ended
    twin = pickle.loads(pickle.dumps(vec))
    actions = last_legal(vec.action_masks())
    assert_same(list(twin.step(actions)), list(vec.step(actions)))


@pytest.mark.parametrize("face", ["solo", "solo_vec"])
def test_a_function_is_handed_what_the_learner_sees(face):
    """So that a snapshot of the learner plays; agents of all other kinds are shown int8."""
    seen = {word: [] for word in ("dict", "flat")}
    spies = {}
    for word, list_of in seen.items():

        def learner(observation, mask, list_of=list_of):
            assert mask.dtype == np.int8
            list_of.append(observation.copy())
            observation[:] = 0  # its own
            return int(mask.argmax())

        spies[word] = Spy(cincinnati.rules)
        spies[word].choose = watched(spies[word].choose)
        counts = [2] if face == "solo_vec" else []
        env = getattr(cincinnati, face)(
            *counts, opponents=learner, partner=spies[word], observation=word, seat=0
        )
        env.reset(seed=3)
        for _ in range(6):
            masks = env.action_masks()
            env.step(masks.argmax(axis=-1))
    assert len(seen["flat"]) == len(seen["dict"]) > 5
    layout = layout_of(cincinnati.rules)
    for plain, flat in zip(seen["dict"], seen["flat"], strict=True):
        assert plain.dtype == np.int8
        assert_same(flat, layout.scaled(plain))
    assert spies["flat"].batches == spies["dict"].batches != []


def watched(choose):
    """Fails where what is asked about is not int8."""

    def int8_alone(observations, masks):
        assert observations.dtype == np.int8
        return choose(observations, masks)

    return int8_alone


def test_another_word_is_refused():
    """Named, with the words there are; on every face, and by `make`, whose it is not."""
    for face in (cincinnati, cincinnati.raw_env, cincinnati.solo):
        with pytest.raises(OptionError, match="observation='Flat': one of 'dict', 'flat'"):
            face(observation="Flat")
    for face in (cincinnati.vec, cincinnati.solo_vec):
        with pytest.raises(OptionError, match="observation=None: one of 'dict', 'flat'"):
            face(3, observation=None)
    with pytest.raises(OptionError, match="'observation' is no rule of the game: give it to"):
        bideuchre_env.make("barrie_v0", observation="flat")
