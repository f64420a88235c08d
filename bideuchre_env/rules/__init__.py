"""The rules of a game: cards, bids, `Rules`, the declared variants, and the names of actions.

Nothing here needs a compiler: it imports `errors` and `_checks` alone. In the repository,
`rules/README.md` lists the variants and the options, with a page for each variant.
"""
