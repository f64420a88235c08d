"""The environments: PettingZoo, self-play vectors, Gymnasium, and their registration.

`aec` is one game for PettingZoo, `vector` many games whose four seats the caller plays, `solo` one
learner for Gymnasium, at one table or at many. Autoreset: `vector` starts a finished row anew in
the same step (`core/rows.py`), `solo/vector_env.py` as its `autoreset_mode` says, the single
environments wait for `reset`. It imports `agents` and the folders before them.
"""
