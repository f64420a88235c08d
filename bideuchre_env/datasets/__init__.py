"""Datasets of decisions for offline learning and imitation, in columns: .npz, .parquet, Minari.

datasets.export(["games.jsonl"], "games.parquet")     # all decisions of game records
with datasets.VecRecorder(vec, "games.npz") as recorded:
    obs, info = recorded.reset(seed=7)                # and step(actions), as with `vec`

The package may import `envs` and all packages that `envs` may import. In the repository,
`datasets/README.md` has the columns.
"""

from bideuchre_env.datasets.games import Exported, export
from bideuchre_env.datasets.recorder import VecRecorder

__all__ = ["Exported", "VecRecorder", "export"]
