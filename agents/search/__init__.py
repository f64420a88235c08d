"""Search agents `pimc` and `inference`: they try actions in sampled deals of the hidden cards.

`agent.py` has the agents, `candidates.py` the actions to try and their values, `playouts.py` the
play of a deal to its end, and `sampler.py` the choice of deals (worlds) and their weights.
"""
