"""What a seat sees, and the redealing of what it cannot see.

`layout` declares the blocks of an observation, `encode` writes them, `words` reads them back;
`resample` redeals the hidden cards.
"""
