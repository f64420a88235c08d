"""The parts of `train_ppo.py`: PPO for the cards, a regression for the auction."""
