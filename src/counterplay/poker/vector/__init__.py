"""Vector-form traversal of the public tree: one pass with a number for every private holding.

One traversal by seats, for games of one to four streets: `public_tree.py` (the betting),
`chance.py`, `board.py`, `suit_permutations.py` (boards), `learner_tables.py` (tables, rows of
holdings), `showdown.py` (showdowns and folds), `street.py` (what happens at the nodes of a street),
`traversal.py` (seats, order of boards). Its uses: values and best responses (`flop_values.py`,
`flop_sums.py`, `evaluation.py`), CFR-BR (`adversary.py`, `cfr_br.py`).
Public chance sampling of one board after the other, with the same streets: `public_values.py`,
`public_traversal.py`, `public_sampling.py`. On a CUDA device one source of kernels
(`cuda_source.py`), from what nodes do (`cuda_nodes.py`), showdowns and folds (`cuda_columns.py`,
`cuda_showdowns.py`), holdings and boards (`cuda_boards.py`), and three orders of boards: batches
(`dealt_boards.py`, `public_sampling_cuda.py`), a flop (`flop_boards.py`, `cuda_traversal.py`),
and a sampled turn with its rivers (`cfr_br_boards.py`, `cfr_br_street.py`, `cfr_br_cuda.py`).
"""
