"""Limit Texas Hold'em as a game.

Read `game.py` (rules, names, and the form for sampling kernels), `table.py` (players as tables),
`holdings.py` (all holdings on a board), `grid.py` (pictures of starting hands), then
`bucket_pairs.py` (values in a Markov chain over pairs of buckets, for luck adjustment).
"""
