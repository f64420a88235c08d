"""The rules of a game: cards, bids, `Rules`, the declared variants, and the names of actions.

The package needs no compiler; outside itself it imports only `errors`, `_checks`, `_columns`,
`_deprecation`, `_files` and `_inputs`. In the repository, `rules/README.md` lists the variants and the options, with a
page for each variant.
"""
