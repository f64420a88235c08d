"""Games of one agent in all four seats, but for one decision that is put in its way."""

from __future__ import annotations

import numpy as np

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables


def hand_with(variant, change=None, *, seed=0, deal=None, dealer=0, agent="expert", score=(0, 0)):
    """The record of one hand, and (ply, action's name) of the decision that was changed, or None.

    `change(row, names)` is asked before every decision, until it gives the name of an action to be
    done in place of another one of the agent's.
    """
    env = bideuchre_env.make(variant).raw_env(episode="hand")
    options = {"dealer": dealer, "score": list(score)} | ({} if deal is None else {"deal": deal})
    env.reset(seed=seed, options=options)
    player = agents.make(agent, env.rules, seed=1 + seed)
    changed, ply = None, 0
    while env.agents and not any(env.terminations.values()):
        seen = env.observe(env.agent_selection)
        chosen = player.act(seen["observation"], seen["action_mask"])
        if changed is None and change is not None:
            mask = np.flatnonzero(seen["action_mask"]).tolist()
            name = change(env.get_state()[0], [env.action_names[action] for action in mask])
            if name is not None and name != env.action_names[chosen]:
                chosen, changed = env.action_names.index(name), (ply, name)
        env.step(int(chosen))
        ply += 1
    return env.record, changed


def first_hand(variant, change, start=0, **options):
    """The first hand from this seed on that has such a decision, and the ply and name of that."""
    for seed in range(start, start + 100):
        record, changed = hand_with(variant, change, seed=seed, dealer=seed % 4, **options)
        if changed:
            return record, *changed
    raise AssertionError("no such hand")


def power(row, rules, name):
    """How a card ranks in the trick on the table, and among trumps where none is led; 0: it cannot
    win.
    """
    led = row["led"] if row["led"] >= 0 else row["strain"]
    kind = bideuchre_env.rules.cards.parse_card(name)
    return int(compile_tables(rules)[0]["power"][row["strain"], led, kind])


def in_play(row):
    """Whether a card is to be played to a trick that others have led."""
    return row["phase"] == Phase.PLAY and row["led"] >= 0
