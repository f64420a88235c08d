"""The observation of a seat, and the redealing of the cards it cannot see.

`layout` declares the blocks of an observation, `encode` writes them, `words` reads them back;
`resample` redeals the hidden cards.
"""
