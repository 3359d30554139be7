"""Matches of any two-player game.

Read `play` (`play_match`, and how a match is split into blocks), `kernels` (whole blocks in one
call, and their tallies), `result` (the mean and its error), `luck_adjustment` (AIVAT on trees).
"""
