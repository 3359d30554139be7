"""Robust responses to a model of the opponent. A response is a transform of the game and a solver
of the transformed game; nothing here traverses a tree.

Read `algorithms` (names, and the trust p), `solver` (the restricted game), `compute` and `result`
(a response, seat by seat), `respond` (the entry points), then `frontier` (responses over p), `safe`
(repeated games with a bounded loss) and `adaptive` (a player that learns its opponent).
"""
