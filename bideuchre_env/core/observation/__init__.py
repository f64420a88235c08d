"""The observation of a seat, and the redealing of the cards it cannot see.

`layout` declares the blocks of an observation and decodes them, `encode` writes them, `resample`
redeals the hidden cards.
"""
