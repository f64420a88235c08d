"""The expert: calls weighed by tables and a network, the last tricks by search.

It builds on the rule player.
"""
