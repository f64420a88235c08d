"""How speed is measured, and the tasks that are measured.

It imports `evaluation` and the rooms before it.
"""
