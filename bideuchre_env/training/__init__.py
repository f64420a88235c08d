"""Training of agents: the calls of `expert` (`calls`), the card play of `net` (`cards`).

`prepare` runs both for custom rules and saves the weights on this machine.
"""
