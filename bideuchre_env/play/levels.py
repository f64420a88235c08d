"""Levels of play, and names of the players at the table."""

from __future__ import annotations

LEVELS = {"easy": "beginner", "normal": "rule", "hard": "expert", "master": "inference"}
"""The agent of a level, weakest first. It plays all seats without people, with any rules."""
NAMES = ("Ada", "Ben", "Cleo", "Dan")
"""Names of the agents at the table, by seat."""
