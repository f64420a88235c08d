"""pgx on JAX's CPU backend: a batch of games a step."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

# before JAX is loaded: one thread, as one core is all there is
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import pgx
from common import Program, Task, timed
from pgx.bridge_bidding import BridgeBidding
from pgx.experimental import act_randomly, auto_reset

GAMES = ("bridge_bidding", "kuhn_poker", "leduc_holdem", "tic_tac_toe")
ROWS, MIXED, TABLE_DEALS = 4_096, 20, 1_000
DRAWN, ALONE = "vec, 4,096 rows, actions drawn", "vec, 4,096 rows, step alone"


def main() -> None:
    """Measure the card games and the simplest one."""
    program = Program()
    for name in GAMES:
        title = f"{name}, {ROWS:,} rows"
        program.add(title, DRAWN, lambda name=name: drawn(name))
        program.add(f"{title}, step alone", ALONE, lambda name=name: step_alone(name))
    program.serve("pgx", "jax", "numpy")


def make(name: str) -> Any:
    """A game; bridge gets a small table of random deals, as its own has to be downloaded."""
    if name != "bridge_bidding":
        return pgx.make(name)
    numbers = np.random.default_rng(0)
    owners = np.repeat(np.arange(4), 13)
    keys = np.array([numbers.permutation(owners) for _ in range(TABLE_DEALS)]).reshape(-1, 4, 13)
    words = (keys * 4 ** np.arange(12, -1, -1)).sum(2)  # a suit's owners in base four
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, np.stack([words, np.zeros_like(words)]).astype(np.int32))
        return BridgeBidding(str(path))


def drawn(name: str) -> Task:
    """One call draws uniform legal actions and steps every game; finished ones start anew."""
    advance, state = restarting(make(name))
    key = jax.random.PRNGKey(1)

    def run() -> int:
        nonlocal state, key
        state, _, key = advance(state, key)
        jax.block_until_ready(state)
        return ROWS

    return timed(run)


def step_alone(name: str) -> Task:
    """One call carries out given actions in games of all stages; none is dealt anew."""
    env = make(name)
    advance, state = restarting(env)
    key = jax.random.PRNGKey(1)
    for _ in range(MIXED):
        before = state
        state, actions, key = advance(state, key)
    step = jax.jit(jax.vmap(env.step))

    def run() -> int:
        jax.block_until_ready(step(before, actions))
        return ROWS

    return timed(run)


def restarting(env: Any) -> tuple[Any, Any]:
    """A compiled random step that restarts finished games, and the rows to begin with."""
    step = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def advance(state: Any, key: Any) -> Any:
        key, draw, restart = jax.random.split(key, 3)
        actions = act_randomly(draw, state.legal_action_mask)
        return step(state, actions, jax.random.split(restart, ROWS)), actions, key

    return advance, jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), ROWS))


if __name__ == "__main__":
    main()
