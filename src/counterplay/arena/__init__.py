"""Matches: deals, referees, results and online play."""
