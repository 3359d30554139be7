"""Limit Texas Hold'em as a game.

Read `game.py` (rules and names), `form.py` (the form for sampling kernels), `table.py` (players as
tables), `grid.py` (pictures of starting hands), then `bucket_pairs.py` and `matchups.py` (values in
a Markov chain over pairs of buckets, for luck adjustment).
"""
