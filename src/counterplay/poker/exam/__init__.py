"""Exams: a player of one's own against the shipped players.

Read `holdem` (`exam`: the matches, stopped when the answer is clear), `candidate` (the player that
is examined: its time and its illegal actions), `result` and `report` (the page).
"""
