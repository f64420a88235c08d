"""`observation="flat"` and "features": float32 vectors of the same game, in every environment."""

import pickle

import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.vector import SyncVectorEnv
from support.playthroughs import EACH, Chooser, plies
from support.solo_helpers import assert_same

import bideuchre_env
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.learning.encoder import encoder_of

every_variant = pytest.mark.parametrize("name", EACH)
every_form = pytest.mark.parametrize("form", ["flat", "features"])
cincinnati = bideuchre_env.cincinnati_v0


class Twin:
    """Converts int8 observations, masks and actions, by the public encoder or `scaled`."""

    def __init__(self, rules, form):
        self.layout, self.encoder = layout_of(rules), encoder_of(rules)
        self.renames = form == "features"
        self.size = self.encoder.size if self.renames else self.layout.size

    def rows(self, observations, masks):
        """The vectors, the masks, and infos of their renaming."""
        if not self.renames:
            return self.layout.scaled(observations), masks, {}
        inputs, legal, symmetries = self.encoder.encode(observations, masks)
        return inputs, legal, {"symmetry": symmetries}

    def one(self, observation, mask):
        """The vector, the mask, and the info of the renaming of one decision."""
        seen, masks, info = self.rows(observation[None], mask[None])
        return seen[0], masks[0], {name: int(value[0]) for name, value in info.items()}

    def action(self, number, info):
        """The number of an action of the game, after renaming."""
        if not self.renames:
            return number
        return int(self.encoder.renamed(np.array([number]), np.array([info["symmetry"]]))[0])


def last_legal(masks):
    """The last legal action of every row: high bids, so that hands are played."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


@every_variant
def test_scaled_observations_lie_between_minus_1_and_1(name):
    layout = layout_of(bideuchre_env.variants[name].rules)
    most = np.maximum(np.abs(layout.low.astype(np.float32)), layout.high)
    for bound in (layout.low, layout.high):
        flat = layout.scaled(bound)
        assert flat.dtype == np.float32
        np.testing.assert_allclose(flat, bound / most, rtol=2e-7)
    both = np.stack([layout.low, layout.high])
    np.testing.assert_array_equal(layout.scaled(both)[1], layout.scaled(layout.high))
    for wrong in (layout.low.astype(int), layout.low[1:], np.int8(1), "no"):
        with pytest.raises(OptionError, match=f"expected int8 \\(..., {layout.size}\\)"):
            layout.scaled(wrong)


@every_form
@every_variant
def test_aec_observations_and_masks_are_those_of_the_game(name, form):
    variant = bideuchre_env.variants[name]
    plain, env = (variant.raw_env(observation=word, max_hands=4) for word in ("dict", form))
    twin = Twin(env.rules, form)
    for each in (plain, env):
        each.reset(seed=6)
    for _, action in plies(plain, Chooser(3)):
        for agent in plain.possible_agents:
            expected, seen = plain.observe(agent), env.observe(agent)
            vector, mask, info = twin.one(expected["observation"], expected["action_mask"])
            assert env.observation_space(agent).contains(seen)
            assert_same(seen, vector)
            if agent != plain.agent_selection:
                info = {}  # only for the agent to act
            assert_same(env.infos[agent], {"action_mask": mask, **info})
        agent = env.agent_selection
        assert_same(env.last()[0], env.observe(agent))
        assert_same(env.action_masks(), env.infos[agent]["action_mask"] == 1)
        np.testing.assert_array_equal(plain.state(), env.state())
        env = (env.clone, lambda each=env: pickle.loads(pickle.dumps(each)), lambda each=env: each)[
            action % 3
        ]()
        env.step(twin.action(action, env.infos[agent]))
    assert all(not info["action_mask"].any() for info in env.infos.values())
    assert env.observation_spaces["player_0"] == Box(-1, 1, (twin.size,), np.float32)


@pytest.mark.parametrize("copied", [False, True])
@every_form
@every_variant
def test_vec_observations_and_actions_are_those_of_the_game(name, form, copied):
    variant = bideuchre_env.variants[name]
    plain = variant.vec(300, episode="hand")
    vec = variant.vec(300, episode="hand", observation=form, copy=copied, threads=2)
    twin = Twin(variant.rules, form)

    def check(expected, actual):
        (seen, info), (vectors, infos) = expected, actual
        rows, masks, extra = twin.rows(seen["observation"], seen["action_mask"])
        assert_same(vectors, rows)
        assert vec.observation_space.contains(vectors)
        extra |= {f"_{name}": np.ones(300, bool) for name in extra}
        assert_same(infos, {**info, "action_mask": masks, **extra})
        np.testing.assert_array_equal(vec.action_masks(), masks == 1)
        return infos

    info = check(plain.reset(seed=5), vec.reset(seed=5))
    for step in range(40):
        actions, renamed = plain.sample(), vec.sample().copy()
        if twin.renames:
            back = twin.encoder.actions(renamed, info["symmetry"])
            np.testing.assert_array_equal(back, actions)
            if not copied:
                info["symmetry"][:] = 1 << 40  # the game must not use the caller's array
        else:
            np.testing.assert_array_equal(renamed, actions)
        if step == 20:
            vec = pickle.loads(pickle.dumps(vec))
        a, b = plain.step(actions), vec.step(renamed)
        info = check((a[0], a[4]), (b[0], b[4]))
        assert_same(list(a[1:4]), list(b[1:4]))
    seen = plain.observe(2)
    nobody = np.zeros((300, vec.single_action_space.n), np.int8)
    np.testing.assert_array_equal(vec.observe(2), twin.rows(seen, nobody)[0])
    states = plain.get_state()
    for each in (plain, vec):
        each.reset(seed=9)
    check(plain.set_state(states), vec.set_state(states))
    vec.close()


@every_form
def test_functions_get_the_learners_form(form):
    """A function gets the learner's form, so that a copy of the learner can be an opponent."""
    twin, seen = Twin(cincinnati.rules, form), {"dict": [], form: []}
    games, names = [], []
    for word, decisions in seen.items():

        def learner(observation, mask, word=word, decisions=decisions):
            assert mask.dtype == np.int8
            decisions.append((observation.copy(), mask.copy()))
            if word != "dict":  # the twin's first legal action of the game, renamed
                return legal_first(*seen["dict"][len(decisions) - 1])
            return int(mask.argmax())

        def legal_first(observation, mask):
            return twin.action(int(mask.argmax()), twin.one(observation, mask)[2])

        env = cincinnati.solo(opponents=learner, partner="rule", observation=word, seat=0)
        env.reset(seed=3)
        for turn in range(6):
            if word == "dict":
                names.append(env.action_names[env.action_masks().argmax()])
            env.step(names[turn])
        games.append(env.unwrapped._rows.states.copy())
    assert len(seen[form]) == len(seen["dict"]) > 5
    for plain, other in zip(seen["dict"], seen[form], strict=True):
        assert_same(other, twin.one(*plain)[:2])
    np.testing.assert_array_equal(*games)


@pytest.mark.parametrize("form", ["dict", "flat", "features"])
def test_action_masks_are_bool_copies(form):
    env = cincinnati.env(observation=form)
    vec = cincinnati.vec(4, observation=form, copy=False)
    for each in (env, vec):
        with pytest.raises(OptionError, match="nothing has been dealt"):
            each.action_masks()
        info = (each.reset(seed=1) or env.last())[-1]
        masks = each.action_masks()
        assert masks.dtype == bool
        np.testing.assert_array_equal(masks, info["action_mask"])
        masks[:] = True
        assert not each.action_masks().all()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@every_form
def test_solo_vec_equals_separate_environments(form, mode):
    options = {"opponents": "cautious", "episode": "hand"}
    plain, vec = (
        cincinnati.solo_vec(5, **options, observation=o, autoreset_mode=mode)
        for o in ("dict", form)
    )
    single = [lambda: cincinnati.solo(**options, observation=form)] * 5
    sync = SyncVectorEnv(single, autoreset_mode=vec.autoreset_mode)
    twin, finals = Twin(cincinnati.rules, form), 0
    (seen, _), (vectors, infos) = plain.reset(seed=8), vec.reset(seed=8)
    assert_same((vectors, infos), sync.reset(seed=8))
    for _ in range(20):
        rows, masks, extra = twin.rows(seen["observation"], seen["action_mask"])
        assert_same(vectors, rows)
        np.testing.assert_array_equal(vec.action_masks(), masks == 1)
        assert vec.observation_space.contains(vectors)
        actions = last_legal(plain.action_masks())
        renamed = actions
        if twin.renames:
            renamed = twin.encoder.renamed(actions, extra["symmetry"])
        seen, *ends, infos = plain.step(actions)
        vectors, *own_ends, own_infos = result = vec.step(renamed)
        assert_same(result, sync.step(renamed))
        assert_same(ends, own_ends)
        last_seen = (each.get("final_obs", ()) for each in (infos, own_infos))
        for one, other in zip(*last_seen, strict=True):
            assert one is other is None or (twin.one(*one.values())[0] == other).all()
            finals += one is not None
        if mode == "Disabled" and (over := ends[1] | ends[2]).any():
            for each in (plain, vec, sync):
                start = each.reset(options={"reset_mask": over.copy()})
                seen, vectors = (start[0], vectors) if each is plain else (seen, start[0])
    assert finals > 5 or mode != "SameStep"


@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
def test_names_of_actions_keep_the_suit_and_illegal_numbers_raise(name):
    variant = bideuchre_env.variants[name]
    env = variant.raw_env(observation="features")
    env.reset(seed=2)
    symmetry, mask = env.infos[env.agent_selection]["symmetry"], env.action_masks()
    illegal = int(np.flatnonzero(~mask)[-1])
    shown = env.action_names[env.features.actions(np.array([illegal]), np.array([symmetry]))[0]]
    vec = variant.vec(3, observation="features")
    vec.reset(seed=2)
    numbers = vec.action_masks().argmax(axis=1)
    with pytest.raises(IllegalActionError, match=f"row 0: .*{shown}"):
        vec.step(np.array([illegal, *numbers[1:]]))
    for wrong in (-1, len(mask), 1 << 40):
        with pytest.raises(IllegalActionError, match=f"row 1: .*{wrong}"):
            vec.step(np.array([numbers[0], wrong, numbers[2]]))
    with pytest.raises(IllegalActionError, match=shown):
        env.step(illegal)
    for wrong in (-1, np.int64(len(mask)), 0.5, "bid 99"):
        with pytest.raises(IllegalActionError):
            env.step(wrong)
    plain = variant.raw_env()
    plain.reset(seed=2)
    chosen = plain.action_names[int(np.flatnonzero(plain.action_masks())[-1])]
    for each in (env, plain):
        each.step(chosen)
    assert env.record == plain.record


def plain_view(vec):
    """Observations and masks of the rows, in the form "dict", from a copy of their states."""
    seen, _ = bideuchre_env.make(vec.rules).vec(vec.num_envs).set_state(vec.get_state())
    return seen["observation"], seen["action_mask"]


@pytest.mark.parametrize("form", ["dict", "features"])
@every_variant
def test_vec_plays_forced_decisions_itself(name, form):
    """With `skip_forced`, a row plays as one whose forced actions are chosen by the caller."""
    variant = bideuchre_env.variants[name]
    vec = variant.vec(50, observation=form, skip_forced=True)
    plain = variant.vec(50)
    vec.reset(seed=4)
    plain.reset(seed=4)
    paid, ends, skipped = np.zeros((50, 4)), 0, 0
    for _ in range(150):
        assert_same(vec.get_state(), plain.get_state())
        masks = plain.action_masks()
        assert (masks.sum(axis=1) > 1).all()
        actions = np.array([np.flatnonzero(mask)[-1] for mask in masks])
        renamed = actions
        if form == "features":
            symmetries = vec.features.encode(*plain_view(plain)).symmetries
            renamed = vec.features.renamed(actions, symmetries)
        _, rewards, terminated, truncated, _ = vec.step(renamed)
        paid[:] = 0
        over = np.zeros(50, bool)
        waiting = np.ones(50, bool)  # rows of the plain environment that lag behind
        while waiting.any():
            states = plain.get_state()
            _, one, *flags, _ = plain.step(np.where(waiting, actions, plain.sample()))
            again = plain.get_state()
            again[~waiting] = states[~waiting]
            paid[waiting] += one[waiting]
            over[waiting] |= (flags[0] | flags[1])[waiting]
            plain.set_state(again)
            masks = plain.action_masks()
            waiting &= masks.sum(axis=1) == 1
            actions = masks.argmax(axis=1)
            skipped += int(waiting.sum())
        np.testing.assert_array_equal(rewards, paid)
        np.testing.assert_array_equal(over, terminated | truncated)
        ends += int(over.sum())
    assert skipped > 500
    assert ends > 0 or name != "cincinnati_v0"


def test_a_learner_is_asked_only_when_it_has_a_choice():
    options = {"opponents": "rule", "partner": "cautious", "episode": "hand"}
    plain = cincinnati.solo(**options)
    env = cincinnati.solo(skip_forced=True, **options)
    vec = cincinnati.solo_vec(1, skip_forced=True, autoreset_mode="Disabled", **options)
    asked = 0
    for seed in range(20):
        (_, info), _ = plain.reset(seed=seed), env.reset(seed=seed)
        vec.reset(seed=seed)
        over, total = False, 0.0
        while not over:
            choices = np.flatnonzero(info["action_mask"])
            _, reward, over, _, info = plain.step(choices[-1])
            total += reward
            if len(choices) == 1:
                continue
            asked += 1
            assert env.action_masks().sum() > 1
            _, own, ended, _, _ = env.step(choices[-1])
            rewards = vec.step(choices[-1:])[1]
            assert own == rewards[0]
            if ended:
                break
        while not over:
            _, reward, over, _, info = plain.step(int(info["action_mask"].argmax()))
            total += reward
        assert own == total
    assert asked > 50


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@every_variant
def test_every_episode_of_a_learner_has_a_decision(name, mode):
    """A learner whose only call is a pass may sit out the whole hand: it is asked for this call."""
    options = {"episode": "hand", "skip_forced": True, "autoreset_mode": mode}
    vec = bideuchre_env.variants[name].solo_vec(64, observation="features", **options)
    asked, over = 0, np.zeros(64, bool)
    vec.reset(seed=3)
    for _ in range(40):
        running = ~over
        masks = vec.action_masks()
        np.testing.assert_array_equal(masks.any(axis=1), running)
        asked += int((masks.sum(axis=1) == 1).sum())
        _, _, terminated, truncated, _ = vec.step(masks.argmax(axis=1))
        over = (terminated | truncated) & (mode != "SameStep")
        if mode == "Disabled" and over.any():
            vec.reset(options={"reset_mask": over})
            over[:] = False
    assert asked > 0 or name not in ("barrie_v0", "club_v0", "simplified_v0")


def test_after_an_interrupted_step_masks_and_actions_are_of_the_current_rows(monkeypatch):
    vec = cincinnati.vec(50, episode="hand", observation="features")
    vec.reset(seed=4)
    monkeypatch.setattr(type(vec), "_results", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        vec.step(vec.sample())
    monkeypatch.undo()
    encoded = vec.features.encode(*plain_view(vec))
    np.testing.assert_array_equal(vec.action_masks(), encoded.legal == 1)
    actions = vec.features.actions(vec.sample(), encoded.symmetries)
    assert plain_view(vec)[1][np.arange(50), actions].all()
