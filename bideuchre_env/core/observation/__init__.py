"""The observation of a seat, and the redealing of the cards it cannot see.

`layout` declares the blocks of an observation and reads them into words; `encode` writes them,
`decode` reads them into a state row. `resample` redeals the hidden cards.
"""
