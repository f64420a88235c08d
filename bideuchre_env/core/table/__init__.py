"""Tables: rows with a player for each seat, advanced to a question.

[loop.py](loop.py) has their records and kernels, [answers.py](answers.py) the check of the actions
of agents that are called from Python.
"""
