"""Limit Texas Hold'em on top of the core: cards, betting, abstractions, opponents and their models.

Read `cards/`, `betting/`, `abstraction/`, `holdem/`, then `vector/` (the public tree), `bots/`,
`models/`, `match/`, `adaptive/` and `acpc/`.
"""
