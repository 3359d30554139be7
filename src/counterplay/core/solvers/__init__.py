"""Solvers, which compute equilibria of games and of restricted games.

`base`, `algorithms`                 `Problem` and `Solver`; every solver by name
`run`, `limits`, `folder`            `solve` and `resume`; run folders
`measures`                           exploitability, lower bounds by play, the value of a game
`cfr`, `cfr_kernels`                 full-width CFR and its variants, on processors and on a device
`egt`, `prox`, `lp`                  the excessive gap technique; the sequence-form linear program
`sampling`                           the base class of solvers that sample
`hash_tables`                        tables that grow as information sets are discovered
`mccfr`, `history`                   outcome sampling
`external`, `chance`, `mcts`         external sampling, chance sampling, UCT

A new algorithm is a file that sets `SOLVER`, and its test.
"""
