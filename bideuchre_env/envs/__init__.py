"""The environments: PettingZoo, self-play vectors, Gymnasium, and their registration.

`aec` is one game for PettingZoo. `vector` has many games, in which the caller acts for all seats.
`solo` has one learner for Gymnasium, at one table or at many. Autoreset: `vector` restarts a
finished row in the same step (`core/rows.py`), `solo/vector_env.py` follows its `autoreset_mode`,
single environments wait for `reset`. The package may import `agents` and all that `agents` may.
"""
