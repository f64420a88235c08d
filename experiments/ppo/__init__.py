"""Modules of `train_ppo.py`, which trains agent `ppo`.

`rollout` plays batches of hands, `workers` does so in other processes, `learner` trains the
`networks` on a batch, `run` repeats both with checkpoints, and `logging` measures the networks.
"""
