"""54 stored hands of ten tables of the wider family, made by a third, plain engine.

Each has every action with its seat and the number of legal actions, and the tricks and points. The
law tests (`tests/law/test_wider_family.py`) show the same rules one by one.
"""

import json
from pathlib import Path

import pytest

import bideuchre_env
from bideuchre_env import Rules

STORED = json.loads(Path(__file__).with_name("golden").joinpath("wider_family.json").read_text())
HANDS = [pytest.param(hand, id=f"{hand['preset']}-{hand['seed']}") for hand in STORED["hands"]]


@pytest.mark.parametrize("hand", HANDS)
def test_stored_hands_are_played_again(hand):
    rules = Rules(**STORED["presets"][hand["preset"]])
    env = bideuchre_env.make(rules).raw_env()
    env.reset(seed=1, options={"dealer": hand["dealer"], "deal": hand["deal"]})
    for name, seat, n_legal in zip(hand["actions"], hand["seats"], hand["n_legal"], strict=True):
        assert env.agent_selection == f"player_{seat}"
        mask = env.action_masks()
        assert mask.sum() == n_legal
        action = env.action_names.index(name)
        assert mask[action]
        env.step(action)
    result = env.record.to_dict()["hands"][0]
    keys = ("actions", "declarer", "contract", "tricks", "points")
    assert {key: result[key] for key in keys} == {key: hand[key] for key in keys}
