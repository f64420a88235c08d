"""The observation of a seat, and the redealing of the cards it cannot see.

`layout` declares the blocks of an observation; `encode` writes them, `decode` reads them into a
state row, `words` into words. `resample` redeals the hidden cards.
"""
