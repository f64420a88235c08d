"""Decisions on disk, for offline learning and imitation, as columns: .npz, .parquet, Minari.

datasets.export(["games.jsonl"], "games.parquet")     # every decision of game records
with datasets.VecRecorder(vec, "games.npz") as recorded:
    obs, info = recorded.reset(seed=7)                # and step(actions), as `vec` itself

It imports `envs` and the folders before it. In the repository, `datasets/README.md` has the
columns.
"""

from bideuchre_env.datasets.games import Exported, export
from bideuchre_env.datasets.recorder import VecRecorder

__all__ = ["Exported", "VecRecorder", "export"]
