"""Vector-form traversal of the public tree: one pass with a number for every private holding.

Shared: `board.py`, `public_tree.py`, `showdown.py`. Public chance sampling: `public_workspace.py`,
`public_values.py`, `public_traversal.py`, `public_sampling.py`. Exact values:
`suit_permutations.py`, `flop_boards.py`, `exact_traversal.py`, `flop_values.py`, `flop_sums.py`,
`evaluation.py`. On a CUDA device: `holding_classes.py`, `cuda_columns.py`, `cuda_source.py`,
`cuda_traversal.py`, `public_sampling_cuda.py`. CFR-BR, for games of one to four streets:
`chance.py`, `learner_tables.py`, `street.py`, `traversal.py`, `cfr_br.py`; on a CUDA device
`cfr_br_boards.py`, `cfr_br_kernels.py`, `cfr_br_source.py`, `cfr_br_cuda.py`.
"""
