"""PettingZoo's AEC environment, bare and wrapped."""
