"""Search agents: they try actions in sampled deals, with the expert and the solver."""
