"""Measure pgx on JAX: batches of games on one core; with `cuda ROWS ...` on a GPU, wall time."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# before JAX is imported: one CPU thread for the one core; no preallocation, the GPU is shared
os.environ["JAX_PLATFORMS"] = "cuda" if sys.argv[2:3] == ["cuda"] else "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import jax
import numpy as np
import pgx
from common import Program, Task, timed
from pgx.bridge_bidding import BridgeBidding
from pgx.experimental import act_randomly, auto_reset

ON_GPU = os.environ["JAX_PLATFORMS"] == "cuda"
GAMES = ("bridge_bidding", "kuhn_poker", "leduc_holdem", "tic_tac_toe")
GPU_GAMES = ("bridge_bidding", "kuhn_poker", "leduc_holdem", "connect_four")
ROWS, MIXED, TABLE_DEALS = 4_096, 20, 1_000
DRAWN, ALONE = "vec, 4,096 rows, actions drawn", "vec, 4,096 rows, step alone"


def main() -> None:
    """Serve the tasks of the card games, and of tic-tac-toe (CPU) or connect four (GPU)."""
    program = Program()
    if ON_GPU:
        for rows in map(int, sys.argv[3:]):
            for name in GPU_GAMES:
                title, like = f"{name}, {rows:,} games", f"{rows:,} games"
                program.add(title, like, lambda n=name, r=rows: drawn(n, r, time.perf_counter))
    else:
        for name in GAMES:
            title = f"{name}, {ROWS:,} rows"
            program.add(title, DRAWN, lambda name=name: drawn(name))
            program.add(f"{title}, step alone", ALONE, lambda name=name: step_alone(name))
    program.serve("pgx", "jax", "numpy")


def make(name: str) -> Any:
    """Return a game; bridge gets a small table of random deals, because its own is a download."""
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


def drawn(name: str, rows: int = ROWS, clock: Callable[[], float] = time.process_time) -> Task:
    """Return a task: one call steps all `rows` games by uniform legal actions, drawn in the call.

    Finished games restart in the same step.
    """
    advance, state = restarting(make(name), rows)
    key = jax.random.PRNGKey(1)

    def run() -> int:
        nonlocal state, key
        state, _, key = advance(state, key)
        jax.block_until_ready(state)
        return rows

    return timed(run, clock)


def step_alone(name: str) -> Task:
    """Return a task: each call applies the same actions to the same games, without restarts.

    The games have been played for `MIXED` - 1 random steps, so they are at different stages.
    """
    env = make(name)
    advance, state = restarting(env, ROWS)
    key = jax.random.PRNGKey(1)
    for _ in range(MIXED):
        before = state
        state, actions, key = advance(state, key)
    step = jax.jit(jax.vmap(env.step))

    def run() -> int:
        jax.block_until_ready(step(before, actions))
        return ROWS

    return timed(run)


def restarting(env: Any, rows: int) -> tuple[Any, Any]:
    """Return a compiled function that steps all games at random, and the initial states.

    The function maps (state, key) to (state, actions, key), and restarts finished games.
    """
    step = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def advance(state: Any, key: Any) -> Any:
        key, draw, restart = jax.random.split(key, 3)
        actions = act_randomly(draw, state.legal_action_mask)
        return step(state, actions, jax.random.split(restart, rows)), actions, key

    return advance, jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), rows))


if __name__ == "__main__":
    main()
