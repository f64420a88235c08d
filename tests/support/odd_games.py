"""Sound calls of what plays and measures: rules, environments, agents, matches, the solver."""

from __future__ import annotations

import numpy as np
from support.odd_values import (
    GAME,
    RULES_OF_IT,
    new_ending,
    new_env,
    new_solo,
    new_solo_vec,
    new_test,
    new_vec,
)

import bideuchre_env
from bideuchre_env import (
    Layout,
    Pool,
    SoloEnv,
    SoloVectorEnv,
    Variant,
    agents,
    analysis,
    match,
    ratings,
    rollout,
    selfplay,
    sequential,
    solver,
    tournament,
)

VIEW = {"episode": "hand", "reward": "points", "observation": "dict", "render_mode": None}
SOLO = {**VIEW, "opponents": "random", "partner": "random", "seat": 0, "illegal_reward": -1.0}
SHARED = {"threads": 1, "copy": True, "device": "cpu", "autoreset_mode": "SameStep"}
VEC = {"episode": "hand", "reward": "points", "observation": "dict", "threads": 1, "copy": True}
VEC |= {"device": "cpu"}
POOL = {"one": "random", "two": "cautious", "weights": [1, 2]}
DEALS = {"dealers": [0, 1], "scores": None, "rows": [0, 1]}
TABLES = {"rules": RULES_OF_IT, "dealer": 0, "threads": 1, "memory": None}
MATCH = {"variant": "cincinnati_v0", "a": "random", "b": "cautious"}
NUMBERS = {"boards": 2, "games": 0, "sprt": None, "seed": 0, "workers": 1, "progress": None}


def method(make, name):
    return lambda **values: getattr(make(), name)(**values)


def positional(function):
    return lambda **values: function(*values.values())


def game_calls(sound):
    """A function and sound values of its parameters, by name."""
    variant = {"name": "cincinnati_v0", "rules": RULES_OF_IT}
    deal = {"rules": RULES_OF_IT, "deal": sound.deal, "dealer": 0, "memory": None}
    position = {"position": sound.game, "rules": None, "ply": 12, "hand": 1, "memory": None}
    return {
        "make": (bideuchre_env.make, {"game": "barrie_v0", "name": None, "target": 20}),
        "Variant": (Variant, variant),
        "Rules": (bideuchre_env.Rules, {**GAME.rules.to_dict()}),
        "Rules.replace": (GAME.rules.replace, {**GAME.rules.to_dict()}),
        "Rules.from_toml": (bideuchre_env.Rules.from_toml, {"source": GAME.rules.to_toml()}),
        "Rules.options_from": (GAME.rules.options_from, {"base": GAME.rules}),
        "env": (GAME.env, {**VIEW, "view": 0}),
        "raw_env": (GAME.raw_env, {**VIEW, "view": 0}),
        "vec": (GAME.vec, {**VEC, "num_envs": 4}),
        "solo": (GAME.solo, {**SOLO, "view": 0}),
        "solo_vec": (GAME.solo_vec, {**SOLO, "view": 0, "num_envs": 4, **SHARED}),
        "BidEuchreEnv": (bideuchre_env.BidEuchreEnv, variant),
        "BidEuchreVec": (bideuchre_env.BidEuchreVec, {**variant, "num_envs": 4}),
        "SoloEnv": (SoloEnv, variant),
        "SoloVectorEnv": (SoloVectorEnv, {**variant, "num_envs": 4}),
        "Pool": (lambda one, two, weights: Pool(one, two, weights=weights), POOL),
        "Pool in an environment": (
            lambda one, two: GAME.solo(opponents=Pool(one, two), partner="random"),
            {"one": "random", "two": ("random", "cautious")},
        ),
        "raw_env.reset": (method(new_env, "reset"), {"seed": 1, "options": {}}),
        "raw_env.reset options": (
            lambda **values: new_env().reset(options=values),
            {"dealer": 0, "deal": sound.deal, "score": (1, 2)},
        ),
        "raw_env.step": (method(new_env, "step"), {"action": 0}),
        "raw_env.observe": (method(new_env, "observe"), {"agent": "player_0"}),
        "raw_env.observation_space": (method(new_env, "observation_space"), {"agent": "player_0"}),
        "raw_env.action_space": (method(new_env, "action_space"), {"agent": "player_0"}),
        "raw_env.last": (method(new_env, "last"), {"observe": True}),
        "raw_env.resample_hidden": (
            method(new_env, "resample_hidden"),
            {"seat": 0, "rng": sound.rng},
        ),
        "vec.reset": (
            method(new_vec, "reset"),
            {"seed": 1, "mask": np.ones(4, bool), "options": {}},
        ),
        "vec.reset options": (
            lambda **values: new_vec().reset(options=values),
            {"dealer": 0, "deal": sound.deal, "score": (1, 2)},
        ),
        "vec.set_deal": (method(new_vec, "set_deal"), DEALS | {"deals": [sound.deal] * 2}),
        "vec.step": (method(new_vec, "step"), {"actions": sound.masks.argmax(axis=1)}),
        "vec.observe": (method(new_vec, "observe"), {"seats": 0}),
        "vec.set_state": (method(new_vec, "set_state"), {"states": sound.states, "rows": None}),
        "solo.reset": (method(new_solo, "reset"), {"seed": 1, "options": {}}),
        "solo.reset options": (
            lambda **values: new_solo().reset(options=values),
            {"dealer": 0, "deal": sound.deal, "score": (1, 2), "opponents": "random", "seat": 0},
        ),
        "solo.step": (method(new_solo, "step"), {"action": 0}),
        "solo_vec.reset": (method(new_solo_vec, "reset"), {"seed": 1, "options": {}}),
        "solo_vec.reset options": (
            lambda **values: new_solo_vec().reset(options=values),
            {
                "dealer": 0,
                "deal": sound.deal,
                "opponents": "random",
                "reset_mask": np.ones(4, bool),
            },
        ),
        "solo_vec.step": (method(new_solo_vec, "step"), {"actions": np.zeros(4, np.int64)}),
        "Layout": (Layout, {"rules": RULES_OF_IT}),
        "layout.decode": (Layout(RULES_OF_IT).decode, {"observation": sound.observations[0]}),
        "layout.scaled": (Layout(RULES_OF_IT).scaled, {"observations": sound.observations}),
        "agents.make": (
            agents.make,
            {"name": "random", "rules": RULES_OF_IT, "seed": 1, "goal": "points"},
        ),
        "agents.make options": (
            lambda **values: agents.make("pimc", RULES_OF_IT, **values),
            {"worlds": 4, "solved": 2},
        ),
        "agents.make weights": (
            lambda **values: agents.make("net", RULES_OF_IT, **values),
            {"weights": None},
        ),
        "agents.agent_of": (
            agents.agent_of,
            {"source": "random", "rules": RULES_OF_IT, "seed": 1, "goal": "points"},
        ),
        "agents.parse": (agents.parse, {"name": "pimc:worlds=4"}),
        "agents.register": (
            lambda name, factory: agents.register(name, factory),
            {"name": "odd one", "factory": lambda rules: sound.policy},
        ),
        "agents.RowAgent": (agents.RowAgent, {"rules": RULES_OF_IT}),
        "agent.act_rows": (
            positional(sound.policy.act_rows),
            {"observations": sound.observations, "action_masks": sound.masks},
        ),
        "agent.act": (
            positional(sound.policy.act),
            {"observation": sound.observations[0], "action_mask": sound.masks[0]},
        ),
        "agents.advise": (
            agents.advise,
            {
                "source": new_ending(),
                "agent": "rule",
                "rules": None,
                "worlds": 4,
                "milliseconds": None,
                "seed": 0,
                "also": (),
            },
        ),
        "analysis.review": (
            analysis.review,
            {
                "record": sound.game,
                "agent": "rule",
                "worlds": 4,
                "seed": 0,
                "hands": [1],
                "progress": None,
            },
        ),
        "match.play": (match.play, {**MATCH, **NUMBERS, "at_once": None}),
        "selfplay.play": (
            selfplay.play,
            {**MATCH, "boards": 2, "seed": 0, "out": None, "overwrite": False, "progress": None},
        ),
        "tournament.play": (
            tournament.play,
            {
                **NUMBERS,
                "variants": ["cincinnati_v0"],
                "agents": ["random", "cautious"],
                "out": None,
            },
        ),
        "rollout": (
            rollout.rollout,
            {
                "game": "cincinnati_v0",
                "policy": "random",
                "hands": 10,
                "seed": 0,
                "observe": False,
                "threads": 1,
                "device": "cpu",
                "tables": 2,
            },
        ),
        "ratings": (
            ratings.ratings,
            {
                "meetings": [ratings.Meeting("a", "b", np.arange(4), np.array([1.0, 0, 1, 0.5]))],
                "anchor": None,
                "seed": 0,
                "resamples": 20,
            },
        ),
        "ratings.Meeting": (
            lambda **values: ratings.ratings([ratings.Meeting(**values)], resamples=20),
            {"a": "a", "b": "b", "boards": np.arange(4), "results": np.array([1.0, 0, 1, 0.5])},
        ),
        "sequential.Bounds": (
            sequential.Bounds,
            {"low": 0.0, "high": 0.1, "alpha": 0.05, "beta": 0.05},
        ),
        "sequential.SequentialTest": (
            sequential.SequentialTest,
            {"bounds": sequential.Bounds(0.0, 0.1), "spread": 0.5},
        ),
        "SequentialTest.add": (new_test().add, {"points": 0.5}),
        "SequentialTest.extend": (new_test().extend, {"points": [0.5]}),
        "solver.solve": (solver.solve, position),
        "solver.solve_moves": (solver.solve_moves, position),
        "solver.can_make": (solver.can_make, {**position, "tricks": 3}),
        "solver.analyse": (
            solver.analyse,
            {"record": sound.game, "threads": 1, "memory": None},
        ),
        "solver.par": (solver.par, deal),
        "solver.table": (solver.table, deal),
        "solver.tables_of": (solver.tables_of, TABLES | {"deals": [sound.deal]}),
        "solver.solve_batch": (
            solver.solve_batch,
            {
                **TABLES,
                "deals": [sound.deal],
                "strain": "H",
                "declarer": 0,
                "alone": False,
                "moves": False,
            },
        ),
        "solver.best_exchange": (
            solver.best_exchange,
            {**deal, "declarer": 0, "strain": "H", "cards": 1},
        ),
    }
