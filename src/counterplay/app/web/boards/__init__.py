"""Boards of the small games: what a player sees of a history, in the words of the game.

A board knows the whole history and tells only what the player knows: at his turn it says the same
for every history of his information set, which a test checks for every game.
"""
