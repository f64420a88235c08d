"""The rules of a game: cards, bids, `Rules`, the declared variants, and the names of actions.

The package needs no compiler and imports only `errors`, `_checks` and `_columns`. In the
repository, `rules/README.md` lists the variants and the options, with a page for each variant.
"""
