"""The adaptive player of hold'em: a portfolio and a tracker of the opponent, or a response that is
learnt from nothing.

Read `player.py`, then `tracker.py`, `bandit.py`, `response.py`, `portfolio.py`.
"""
