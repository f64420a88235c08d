"""Every public function, with each parameter in turn set to odd values."""

import inspect
import itertools
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env import (
    GameRecord,
    Layout,
    agents,
    analysis,
    datasets,
    match,
    ratings,
    records_io,
    solver,
    tournament,
)
from bideuchre_env.agents import registry
from bideuchre_env.envs import options as env_options
from bideuchre_env.errors import BidEuchreError
from bideuchre_env.evaluation.rollout import count_hands
from bideuchre_env.learning import features, fitting, network, returns, sampling
from bideuchre_env.play.session import Session
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.slow

GAME = bideuchre_env.cincinnati_v0


class _NoArray:
    """An object that fails if it is converted to an array or measured by `len`."""

    def __array__(self, *args, **keywords):
        raise RuntimeError("no array")

    def __len__(self):
        raise RuntimeError("no length")


NESTED: list = []
for _ in range(50):
    NESTED = [NESTED]
ODD = [None, np.array(0), object(), type, [], {}, "", "x" * 5000, -1, 0, 5, 2**70, 1.5, 1j, True]
ODD += [float("nan"), float("inf"), b"abc", "a\0b", "\ud800", lambda *args, **keywords: None]
ODD += [NESTED, np.zeros(3), np.zeros((0, 4)), np.array([object(), None]), np.array(["a", "b"])]
ODD += [np.ma.masked_array([1, 2, 3], [0, 1, 0]), np.int64(-5), _NoArray(), {1, 2}]
ODD += [(1, "a", None), [None] * 4, ["zzz"] * 4, {1: 2}, range(3), Path("nowhere/x")]
ODD += [RULES["barrie_v0"]]


def new(make, *arguments, **options):
    """Return an environment that has been reset."""
    env = make(*arguments, **options)
    env.reset(seed=1)
    return env


new_env, new_vec = partial(new, GAME.raw_env), partial(new, GAME.vec, 4)
new_solo = partial(new, GAME.solo, opponents="random")
new_solo_vec = partial(new, GAME.solo_vec, 4, opponents="random")


def new_ending():
    """An environment in the fifth trick of a hand, where advice takes little time."""
    env = new_env()
    while env._states[0]["trick"] < 4:
        env.step(int(env.action_masks().argmax()))
    return env


def method(make, name):
    """Return a function with the parameters of a method, which calls it on a new `make()`."""

    def call(**values):
        return getattr(make(), name)(**values)

    call.__signature__ = inspect.signature(getattr(make(), name))
    return call


def reset_with(make):
    """Return a function that resets a new environment with its keywords as reset options."""
    return lambda **values: make().reset(options=values)


def positional(function):
    """Return a function that takes keywords and passes them to `function` by position."""

    def call(**values):
        return function(*values.values())

    call.__signature__ = inspect.signature(function)
    return call


def defaults_of(options):
    return {field.name: field.default for field in fields(options)}


def usable_values(folder):
    """Valid arguments by parameter name; files are written into `folder`."""
    file = folder / "games.jsonl"
    match(GAME.replace(max_hands=2), "random", "random", games=1, seed=1, records=file)
    game = next(records_io.read(file))
    vec = GAME.vec(4)
    seen, _ = vec.reset(seed=1)
    auction = features.features_of(GAME.rules, "auction")
    packed = auction.pack(seen["observation"], seen["action_mask"])
    zeros, ones = np.zeros(4, np.int64), np.ones(4, np.float32)
    net = network.new_network(auction.size, (8, 8), auction.outputs, np.random.default_rng(0))
    deal = game.hands[0]["deal"]
    usable = {"rules": GAME.rules, "variant": "cincinnati_v0", "game": GAME, "strain": "H"}
    usable |= {"deal": deal, "deals": [deal], "dealer": 0, "declarer": 0, "seat": 0}
    usable |= {"score": (1, 2), "seed": 1, "rng": np.random.default_rng(0), "part": "auction"}
    usable |= {"action": 0, "actions": zeros, "choices": zeros.copy(), "symmetries": zeros}
    usable |= {"agent": "rule", "a": "random", "b": "cautious", "worlds": 4, "boards": 2}
    usable |= {"resamples": 20, "threads": 1, "num_envs": 4, "ply": 12, "path": file}
    usable |= {"record": game, "records": [game], "position": game, "states": vec.get_state()}
    for name in ("observation", "action_mask"):
        usable |= {name: seen[name][0].copy(), f"{name}s": seen[name].copy()}
    usable |= {"masks": seen["action_mask"].copy(), "logits": np.zeros((4, 3), np.float32)}
    usable |= {"policy": agents.make("cautious", GAME.rules), "log_probs": ones.copy()}
    usable |= {"features": auction, "network": net, "packed": packed.inputs}
    examples = fitting.Examples(packed.inputs, zeros, zeros - 1, ones)
    return usable | {"examples": examples}


def calls(folder):
    """Pairs of a public function and valid arguments by name, completed by `complete`."""
    usable, numbers = usable_values(folder), itertools.count()
    game, auction = usable["record"], usable["features"]
    file, network_ = usable["path"], usable["network"]

    def path(suffix):
        return folder / f"{next(numbers)}{suffix}"

    def recorder():
        made = datasets.VecRecorder(new_vec(), path(".npz"))
        made.reset(seed=1)
        return made

    def session():
        return Session(GAME, (0,), ["random"] * 4, seed=1)

    def fit_examples(**values):
        return fitting.fit(network_, auction, fitting.Examples(**values), usable["rng"])

    rules, mask4 = GAME.rules.to_dict(), np.ones(4, bool)
    view, vec_options = defaults_of(env_options.ViewOptions), defaults_of(env_options.VecOptions)
    solo = defaults_of(env_options.SoloOptions) | {"opponents": "random", "partner": "random"}
    solo_vec = defaults_of(env_options.SoloVecOptions) | solo
    export = {"episode": "hand", "gamma": 1.0, "forced": True, "player": None}
    result = {"boards": np.arange(4), "results": np.array([1.0, 0, 1, 0.5])}
    beginning = {"dealer": 0, "deal": usable["deal"]}
    rewards = {"seats": np.zeros((2, 4), np.int8), "rewards": np.zeros((2, 4, 4), np.float32)}
    rewards |= {"ended": np.zeros((2, 4), bool), "values": np.zeros((2, 4), np.float32)}
    rewards |= {"bootstrap": np.zeros((4, 4), np.float32)}
    table = [(GAME.env, view), (GAME.raw_env, view), (GAME.vec, vec_options)]
    table += [(GAME.solo, solo), (GAME.solo_vec, solo_vec)]
    layout = Layout(GAME.rules)
    without = (Layout, layout.decode, layout.scaled)
    without += (agents.RowAgent, solver.analyse, solver.par, solver.table, solver.tables_of)
    without += (solver.makeable, solver.solve_batch, auction.pack, auction.unpack, network.evaluate)
    without += (method(new_env, "step"), method(new_env, "resample_hidden"))
    without += (method(new_vec, "step"),)
    without += (method(new_solo, "step"), method(new_solo_vec, "step"))
    without += (method(recorder, "reset"), method(recorder, "step"))
    without += tuple(positional(getattr(usable["policy"], name)) for name in ("act_rows", "act"))
    table += [(function, {}) for function in without]
    table += [
        (bideuchre_env.make, {"game": "barrie_v0", "target": 20}),
        (match, {"records": folder / "match.jsonl", "overwrite": True}),
        (bideuchre_env.Rules, rules),
        (GAME.rules.replace, rules),
        (method(new_env, "reset"), {"options": {}}),
        (reset_with(new_env), beginning | {"score": (1, 2)}),
        (method(new_env, "observe"), {"agent": "player_0"}),
        (method(new_vec, "reset"), {"mask": mask4, "options": {}}),
        (reset_with(new_vec), beginning | {"score": (1, 2)}),
        (method(new_vec, "set_deal"), {"rows": [1], "dealers": [0]}),
        (method(new_vec, "observe"), {"seats": 0}),
        (method(new_vec, "set_state"), {"rows": None}),
        (method(new_solo, "reset"), {"options": {}}),
        (reset_with(new_solo), beginning | {"score": (1, 2), "opponents": "random", "seat": 0}),
        (method(new_solo_vec, "reset"), {"options": {}}),
        (reset_with(new_solo_vec), beginning | {"opponents": "random", "reset_mask": mask4}),
        (agents.make, {"name": "random", "goal": "points"}),
        (lambda **v: agents.make("pimc", GAME.rules, **v), {"worlds": 4, "solved": 2}),
        (lambda **v: agents.make("net", GAME.rules, **v), {"weights": None}),
        (agents.agent_of, {"source": "random", "goal": "points"}),
        (agents.parse, {"name": "pimc:worlds=4"}),
        (agents.register, {"name": "odd one", "factory": lambda rules: usable["policy"]}),
        (agents.advise, {"source": new_ending(), "rules": None}),
        (analysis.review, {"hands": [1]}),
        (tournament, {"variants": ["cincinnati_v0"], "agents": ["random", "cautious"]}),
        (count_hands, {"game": "cincinnati_v0", "policy": "random", "hands": 10, "tables": 2}),
        (ratings.ratings, {"meetings": [ratings.Meeting("a", "b", **result)]}),
        (lambda **v: ratings.ratings([ratings.Meeting("a", "b", **v)], resamples=20), result),
        (solver.solve, {"rules": None, "hand": 1}),
        (solver.solve_moves, {"rules": None, "hand": 1}),
        (solver.can_make, {"rules": None, "hand": 1, "tricks": 3}),
        (solver.best_exchange, {"cards": 1}),
        (lambda **v: GameRecord(**v).verify(), vars(game)),
        (GameRecord.from_dict, {"data": game.to_dict()}),
        (lambda **v: GameRecord.from_dict(v), game.to_dict()),
        (GameRecord.loads, {"line": game.dumps()}),
        (GameRecord.from_rows, {"rows": usable["states"][:1], "agents": ["random"] * 4}),
        (lambda path: list(records_io.read(path)), {}),
        (lambda path, numbers: list(records_io.scan(path, numbers)), {"numbers": {1}}),
        (records_io.write, {"path": folder / "written.jsonl", "overwrite": True}),
        (lambda record: records_io.RecordWriter(path(".jsonl")).write(record), {}),
        (datasets.export, export | {"records": file, "out": folder / "e.npz", "overwrite": True}),
        (datasets.VecRecorder, {"vec": new_vec(), "path": folder / "v.npz", "overwrite": True}),
        (lambda **v: network.checked(network.Network(**v), auction), network_._asdict()),
        (network.forward, {"inputs": auction.unpack(usable["packed"])}),
        (fitting.fit, {"batch": 2}),
        (fit_examples, usable["examples"]._asdict()),
        (sampling.sample, {"legal": np.ones((4, 3), np.int8), "words": 1}),
        (sampling.greedy, {"legal": np.ones((4, 3), np.int8)}),
        (returns.lambda_returns, rewards),
        (
            lambda **v: Session(**v).close(),
            {"game": GAME, "people": (0,), "agents": ["random"] * 4, "seed": 1, "path": None},
        ),
        (method(session, "act"), {"name": "pass"}),
    ]
    return [(function, complete(function, values, usable)) for function, values in table]


def complete(function, values, usable):
    """Return `values` with the missing parameters of a function, from `usable` or its defaults."""
    added = {}
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or name[0] == "_":
            continue
        if name in usable and name not in values:
            added[name] = usable[name]
        elif parameter.default is not parameter.empty:
            added[name] = parameter.default
    return added | values


PARTS = 8
"""The functions are split into this many tests, which processes can share."""
CALLBACKS = ("progress", "propose", "report", "finished")


@pytest.fixture(scope="module")
def all_calls(tmp_path_factory):
    return calls(tmp_path_factory.mktemp("usable"))


class UnreadInput:
    """Standard input that fails when it is used."""

    def __getattr__(self, name):
        raise AssertionError(f"sys.stdin.{name}")


@pytest.mark.parametrize("part", range(PARTS))
def test_odd_values_are_accepted_or_raise_package_errors(all_calls, part, tmp_path, monkeypatch):
    """Unrelated exceptions, for example of numpy, do not reach the caller."""
    monkeypatch.setattr(registry, "registered", {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", UnreadInput())
    unrelated = []
    for function, values in all_calls[part::PARTS]:
        function(**values)
        for parameter, value in itertools.product(values, ODD):
            if parameter in CALLBACKS and callable(value):
                continue  # an error of the caller's own function reaches the caller
            try:
                function(**values | {parameter: value})
            except BidEuchreError:
                pass
            except Exception as error:
                where = f"{getattr(function, '__qualname__', function)}({', '.join(values)})"
                unrelated.append(f"{where}: {parameter}: {type(error).__name__}: {error}")
    assert not unrelated, "\n".join(unrelated)


def test_every_public_function_is_called(all_calls):
    called = {function for function, _ in all_calls}
    for package in (agents, analysis, datasets, solver):
        for name in package.__all__:
            function = getattr(package, name)
            if inspect.isfunction(function) and name != "names":
                assert function in called, name
