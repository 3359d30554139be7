"""Cards: numbers and decks, strength of seven cards, canonical boards, deals, hand strength.

Read `cards.py`, `evaluator.py`, `canonical.py`, `decks.py`, `deal.py`, `strength.py`.
"""
