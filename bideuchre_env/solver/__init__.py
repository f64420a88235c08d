"""Double-dummy solver: exact results of the card play when all seats see all four hands.

solver.solve(env)                       # tricks the side to act still takes
solver.solve_moves(env)                 # the same after each legal card
solver.can_make(env)                    # will the contract be made?
solver.table(deal, rules)               # tricks by declarer and strain, with partner and alone
solver.best_exchange(deal, rules, declarer=0, strain="H", cards=2)
solver.par(deal, rules, dealer=0)       # best calls by all
solver.makeable(deal, rules, dealer=0)  # par, and the contracts that make
solver.solve_batch(deals, rules, strain="H", declarer=0, threads=2)
solver.analyse(record)                  # tricks given away by each card played

The package imports only `records`, `core`, `rules`, `runtime` and the modules of the top folder. In
the repository, `solver/README.md` explains the search.
"""

from bideuchre_env.solver.analysis import PlayedCard, analyse
from bideuchre_env.solver.deal_table import DealTable, Exchange, best_exchange, table, tables_of
from bideuchre_env.solver.par import Makeable, Par, makeable, par
from bideuchre_env.solver.solve import can_make, solve, solve_batch, solve_moves

__all__ = [
    "DealTable",
    "Exchange",
    "Makeable",
    "Par",
    "PlayedCard",
    "analyse",
    "best_exchange",
    "can_make",
    "makeable",
    "par",
    "solve",
    "solve_batch",
    "solve_moves",
    "table",
    "tables_of",
]
