"""Choosers, agents and comparisons for tests of the single-agent environments."""

import numpy as np

from bideuchre_env.agents.base import RowAgent


def chosen_action(mask, observation, turn=0, careless=0):
    """A legal action as a function of the observation: mostly low bids, and any card.

    If `careless` is not 0, about one in `careless` actions is any action of the game, legal or
    not. Without a legal action the result is 0.
    """
    word = (int(observation.astype(np.int64) @ np.arange(1, len(observation) + 1)) + 7 * turn) * 31
    if careless and word % careless == 0:
        return word // careless % len(mask)
    legal = np.flatnonzero(mask)
    if not len(legal):
        return 0
    if legal[0] == 0 and len(legal) > 1:
        legal = legal[: 1 + word % 6] if word % 5 else legal
    return int(legal[word // 7 % len(legal)])


class Spy(RowAgent):
    """Chooses by its observation; records the seats that it plays if seat `dealt_by` deals."""

    name = "spy"
    dealt_by = 0

    def __init__(self, rules, *, seed=None):
        super().__init__(rules)
        self.seats = set()
        self.dealer = self.layout.slices["dealer"]

    def choose(self, observations, action_masks):
        relative = observations[:, self.dealer].argmax(axis=1)
        self.seats |= {int(self.dealt_by - r) % 4 for r in relative}
        pairs = zip(action_masks, observations, strict=True)
        return np.array([chosen_action(mask, seen) for mask, seen in pairs], np.int64)


class Bad(Spy):
    """Returns legal actions `after` times, then `answer(n)`; it also overwrites the masks."""

    name = "bad"

    def __init__(self, rules, answer, after):
        super().__init__(rules)
        self.answer, self.left = answer, after

    def act_rows(self, observations, action_masks):
        self.left -= 1
        if self.left >= 0:
            return super().act_rows(observations, action_masks)
        action_masks[:] = 1  # the environment checks against its own masks
        return self.answer(len(observations))


def broken(m):
    """Raise `RuntimeError`, as an `answer` of `Bad`."""
    raise RuntimeError("the agent broke down")


def assert_same(a, b, where="result"):
    """Fail unless two results of an environment are equal in value, type, shape and dtype."""
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, (list, tuple)) or (isinstance(a, np.ndarray) and a.dtype == object):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{where}[{i}]")
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, err_msg=where, strict=True)
    else:
        assert a == b, where


def walk(env, steps, seed):
    """Step a `SoloEnv` and return its results, with a reset after each episode."""
    results = [env.reset(seed=seed)]
    for turn in range(steps):
        obs = results[-1][0]
        action = chosen_action(obs["action_mask"], obs["observation"], turn)
        results.append(env.step(action))
        if results[-1][2] or results[-1][3]:
            results.append(env.reset())
    return results


def first(observation, mask):
    """The first legal action, as a function instead of an agent."""
    return int(mask.argmax())


def last(observation, mask):
    return np.flatnonzero(mask)[-1]


def actions_for(obs, turn, careless=0):
    """An action for every row by `chosen_action`, with `turn` + the row's number as its turn."""
    pairs = zip(obs["action_mask"], obs["observation"], strict=True)
    return np.array([chosen_action(m, o, turn + i, careless) for i, (m, o) in enumerate(pairs)])


def walk_rows(vec, steps, seed, careless=0, **options):
    """Reset a vector environment, step it, and return the list of the results."""
    out = [vec.reset(seed=seed, options=options)]
    for turn in range(steps):
        out.append(vec.step(actions_for(out[-1][0], turn, careless)))
    return out


def unchanged(env):
    """Return the state that a refused call must not change."""
    rows = env._rows
    players = tuple((id(each), id(each.agent)) for each in rows.assignment.players.values())
    seeds = env.np_random_seed, list(rows._entropy), rows._changes
    return rows.states.tobytes(), rows.seating.tobytes(), repr(env), seeds, players


def without_names(result):
    """Return a result without the names of players."""
    if isinstance(result, dict):
        places = {"left", "partner", "right"}
        return {key: without_names(result[key]) for key in result if key.lstrip("_") not in places}
    return [without_names(each) for each in result] if isinstance(result, (list, tuple)) else result
