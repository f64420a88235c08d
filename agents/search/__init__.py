"""Search agents: they try actions in sampled deals.

They build on the expert and the solver.
"""
