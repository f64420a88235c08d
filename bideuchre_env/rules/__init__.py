"""The rules of a game: cards, bids, `Rules`, the declared variants, and the names of actions.

It needs no compiler and imports only `errors` and `_checks`. In the repository,
`rules/README.md` lists the variants and the options, with a page for each variant.
"""
