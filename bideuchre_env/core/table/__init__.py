"""Tables: rows with a player for each seat, and the loop that advances them to a question.

[records.py](records.py) has the arrays, [loop.py](loop.py) the kernels without players,
[answers.py](answers.py) the check of the actions of agents that are called from Python.
"""
