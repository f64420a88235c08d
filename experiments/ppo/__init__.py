"""The parts of `train_ppo.py`: hands played, nets, the learner, and what is kept of a run."""
