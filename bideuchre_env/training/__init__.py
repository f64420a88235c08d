"""Training of agents: the calls of `expert`, the cards of `net`, and both for custom rules."""
