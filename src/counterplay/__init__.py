"""Equilibria and robust counter-strategies in imperfect-information games, by sampling and exactly."""
