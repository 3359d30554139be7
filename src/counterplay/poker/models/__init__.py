"""Opponent models learnt from hand histories.

Reading order: `observe.py` (decisions of a player, EM over hidden cards), the package `c45`
(decision trees), `model.py` (tree and frequency models), `quality.py` (predictions of held-out
hands); for adaptive players `predict.py` (models compared hand by hand) and `pooled.py` (a model
from few hands, shrunk to a known strategy).
"""
