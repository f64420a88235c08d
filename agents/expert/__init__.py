"""The expert: tables and a network weigh its calls, and a search plays the last tricks.

`agent` has `ExpertAgent`, `decision` its kernel, which also plays `net`. `strains`, `auction` and
the networks value calls; `endgame` solves sampled deals.
`hand_worth` reports the table of hands to users.
"""
