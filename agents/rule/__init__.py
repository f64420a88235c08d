"""The rule player, agent `rule`: maxims of good players, as kernels over observation rows.

`bidding.py` has the auction, `card_play.py` the cards, `certain.py` tricks that cannot be lost.
"""
