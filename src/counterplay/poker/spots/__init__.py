"""Spots: positions of hold'em after the flop, with a range of holdings for each player, as games.

`game.py` has the game, `ranges.py` and `betting.py` read what a user writes, `cards.py` lists
boards and holdings, `kernels.py` traverses the public tree, `engine.py` solves and `evaluation.py`
measures by it.
"""
