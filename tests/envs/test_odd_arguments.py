"""Arguments of odd kinds, on every face alike: refused whole, with what was given and allowed."""

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env import BidEuchreEnv, BidEuchreVec, SoloEnv, SoloVectorEnv, agents
from bideuchre_env._checks import whole_numbers
from bideuchre_env.errors import IllegalActionError, OptionError, OutOfBoundsError

GAME = bideuchre_env.cincinnati_v0
FACES = {
    "raw": GAME.raw_env,
    "aec": GAME.env,
    "vec": lambda: GAME.vec(3),
    "solo": GAME.solo,
    "solo_vec": lambda: GAME.solo_vec(3),
}
CLASSES = {
    BidEuchreEnv: (),
    BidEuchreVec: (3,),
    SoloEnv: (),
    SoloVectorEnv: (3,),
}


def rows_of(env):
    """The state rows of an environment of any face, as bytes."""
    raw = env.unwrapped if hasattr(env, "unwrapped") else env
    if isinstance(raw, BidEuchreVec):
        return raw._rows.states.tobytes()
    states = raw._states if hasattr(raw, "_states") else raw._rows.states
    return states.tobytes()


@pytest.mark.parametrize(
    "options", [5, 0, "dealer", "", [1], [], ("dealer", 0), True, {1}, object()]
)
@pytest.mark.parametrize("face", FACES)
def test_options_of_a_reset_are_a_mapping(face, options):
    env = FACES[face]()
    for _ in range(2):  # before the first game, and in one
        before = rows_of(env)
        with pytest.raises(OptionError, match=r"options=.*: a mapping as .*, or None"):
            env.reset(options=options)
        assert rows_of(env) == before
        env.reset(seed=1, options=None)
        env.reset(seed=1, options={})


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_unknown_keywords_are_named(kind):
    """No name of ours that a caller never wrote, and what may have been meant."""
    for given, close in (("epissode", "'episode'"), ("rewards", "'reward'"), ("colour", None)):
        with pytest.raises(OptionError, match="the options are: episode, reward") as caught:
            kind(GAME.rules, "farm_v0", *CLASSES[kind], **{given: 1})
        assert f"unexpected keyword argument '{given}' of farm_v0" in str(caught.value)
        assert ("did you mean" in str(caught.value)) == (close is not None)
        assert close is None or f"(did you mean {close}?)" in str(caught.value)
    with pytest.raises(
        OptionError, match=r"unexpected keyword argument 'targget' .*did you mean 'target'\?"
    ):
        GAME.vec(3, targget=5)


class Masked(np.ma.MaskedArray):
    """Somebody's own kind of masked array."""


LEGAL = [1, 1, 1]  # the first bid, which the eldest hand may always make
REFUSED = {
    "masked": np.ma.array(LEGAL, mask=[False, True, False]),
    "masked, nothing hidden": np.ma.array(LEGAL),
    "masked, of its own kind": np.array(LEGAL).view(Masked),
    "objects": np.array(LEGAL, object),
    "bools": np.array([True] * 3),
    "a bool among numbers": [1, True, 1],
    "floats": np.array(LEGAL, float),
    "complex": np.array(LEGAL, complex),
    "words": ["1", "1", "1"],
    "times": np.array(LEGAL, "m8[s]"),
    "a record": np.array([(1,), (1,), (1,)], [("action", int)]),
    "no dimension": np.array(1),
    "a number": 1,
    "a column": np.array(LEGAL).reshape(3, 1),
    "a matrix": np.array([LEGAL]),
    "too few": [1, 1],
    "ragged": [[1], [1, 2], 3],
    "a set": {1, 2, 3},
    "a generator": (1 for _ in range(3)),
    "nothing": None,
}
TAKEN = {
    "a list": LEGAL,
    "a tuple": tuple(LEGAL),
    "of the other byte order": np.array(LEGAL, ">i4"),
    "unsigned, of the other byte order": np.array(LEGAL, ">u8"),
    "of one byte": np.array(LEGAL, np.uint8),
    "with gaps": np.array([1, 0, 1, 0, 1, 0])[::2],
    "backwards": np.array(LEGAL)[::-1],
    "read-only": np.broadcast_to(np.int16(1), 3),
}


@pytest.mark.parametrize("face", ["vec", "solo_vec"])
def test_actions_of_odd_kinds(face):
    env = FACES[face]()
    env.reset(seed=1)
    before = rows_of(env)
    for what, actions in REFUSED.items():
        with pytest.raises(IllegalActionError, match=r"^actions"):
            env.step(actions)
        assert rows_of(env) == before, what
    for what, actions in TAKEN.items():
        env.reset(seed=1)
        env.step(actions)
        after = rows_of(env)
        env.reset(seed=1)
        env.step(np.array(LEGAL))
        assert rows_of(env) == after, what


def test_numbers_of_any_byte_order_are_read_alike():
    """Those that no int64 holds stay out of range, whatever the order of their bytes."""
    for order in "<>":
        numbers = np.array([3, 2**63, 2**64 - 1], f"{order}u8")
        assert whole_numbers("actions", numbers, 3, limit=40).tolist() == [3, 40, 40]
        numbers = np.array([3, -1, -(2**63)], f"{order}i8")
        assert whole_numbers("actions", numbers, 3, limit=40).tolist() == [3, -1, -(2**63)]


@pytest.mark.parametrize("face", ["raw", "aec", "solo"])
@pytest.mark.parametrize("action", [np.ma.array(1, mask=True), np.ma.array(1), np.ma.masked])
def test_a_masked_action_is_none(face, action):
    env = FACES[face]()
    env.reset(seed=1)
    before = rows_of(env)
    with pytest.raises(OutOfBoundsError, match=r"Masked.*; a whole number from 0 to"):
        env.step(action)
    assert rows_of(env) == before


def test_masked_rows_seats_masks_and_states_are_refused():
    vec = GAME.vec(3)
    vec.reset(seed=1)
    hidden = {"mask": [False, True, False]}
    states = vec.get_state()
    for call in (
        lambda: vec.reset(mask=np.ma.array([True] * 3, **hidden)),
        lambda: vec.observe(np.ma.array(LEGAL, **hidden)),
        lambda: vec.set_state(states, np.ma.array([0, 1, 2], **hidden)),
        lambda: vec.set_state(np.ma.array(states)),
    ):
        with pytest.raises(OptionError, match=r"[Mm]asked"):
            call()
    solo = GAME.solo_vec(3)
    solo.reset(seed=1)
    with pytest.raises(OptionError, match="reset_mask"):
        solo.reset(options={"reset_mask": np.ma.array([True] * 3, **hidden)})


def test_masked_answers_of_an_agent_are_refused():
    class Coy(agents.make("random", GAME.rules).__class__):
        def act_rows(self, observations, masks):
            return np.ma.array(super().act_rows(observations, masks), mask=True)

    env = GAME.solo(opponents=Coy(GAME.rules), seat=0)
    with pytest.raises(IllegalActionError, match="act_rows: a masked array"):
        env.reset(seed=1, options={"dealer": 0})
