"""Matches of any two-player game: how they are cut into blocks, played, counted and judged."""
