"""Cards, decks and deals; hand ranks; boards up to suit permutations; hand strength.

Read `cards.py`, `evaluator.py`, `canonical.py`, `decks.py`, `deal.py`, `strength.py`, `tables.py`.
"""
