"""The rules of a game: cards, bids, `Rules`, the declared variants, and the names of actions.

The package needs no compiler; outside itself it imports only modules at the top of the package. In
the repository, `rules/README.md` lists the variants and the options, with a page for each variant.
"""
