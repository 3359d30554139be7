"""Adapting safely: evidence, off-policy estimates, a bandit over a portfolio, and the player."""
